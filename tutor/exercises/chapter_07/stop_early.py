"""When to stop, and what to keep."""

import torch

from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_07.which_cause import RUNS


def _stop(better=lambda losses, i, best: losses[i] < losses[best], start=0, most=0, in_a_row=True):
    """A rule with another comparison, or a wait that is longer by `most` or begins elsewhere."""

    def stop(losses, patience):
        best, waited = 0, start
        for i in range(1, len(losses)):
            if better(losses, i, best):
                best, waited = i, waited if not in_a_row else start
            else:
                waited += 1
            if waited >= patience + most:
                return best, i
        return best, len(losses) - 1

    return stop


def _and(change):
    """The right answer, changed: `change(losses, best, last)`."""
    return lambda losses, patience: change(losses, *_stop()(losses, patience))


def _if_stopped(change):
    """The right answer, changed where the run stops early."""

    def stop(losses, patience):
        best, last = _stop()(losses, patience)
        return change(best, last) if last - best == patience else (best, last)

    return stop


def _stops_at_patience(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
        elif i == patience:
            return best, i
    return best, len(losses) - 1


def _lowest(losses):
    return min(range(len(losses)), key=losses.__getitem__)


def _compared_with_the_last(losses, patience):
    """Waits as long as each loss is no lower than the one before it; keeps the lowest so far."""
    waited = 0
    for i in range(1, len(losses)):
        waited = 0 if losses[i] < losses[i - 1] else waited + 1
        if waited >= patience:
            return _lowest(losses[: i + 1]), i
    return _lowest(losses), len(losses) - 1


def _begins_with(low):
    """Begins with a loss of its own, and with checkpoint 0."""

    def stop(losses, patience):
        best, lowest = 0, low
        for i, loss in enumerate(losses):
            if loss < lowest:
                best, lowest = i, loss
            elif i - best >= patience:
                return best, i
        return best, len(losses) - 1

    return stop


def _rises_in_a_row(losses, patience):
    """Waits as long as each loss is higher than the one before it; keeps the lowest so far."""
    waited = 0
    for i in range(1, len(losses)):
        waited = waited + 1 if losses[i] > losses[i - 1] else 0
        if waited >= patience:
            return _lowest(losses[: i + 1]), i
    return _lowest(losses), len(losses) - 1


def _later_of_equals(losses, patience):
    best, last = _stop()(losses, patience)
    return max(i for i in range(last + 1) if losses[i] == losses[best]), last


def _cases_of_losses():
    yield [2.0], 1
    yield [3.0, 2.0, 2.5], 1
    yield [30000.0, 20000.0, 10000.0], 1
    yield [1.0, 0.0, 0.5, 0.25, 0.25], 2
    yield [3.0, 2.0, 2.5, 2.6, 1.0], 2
    yield [3.0, 2.0, 2.5, 1.5, 1.7, 1.6], 2
    yield [5.0, 4.0, 4.0, 3.0, 3.0, 3.0, 2.0], 2
    yield [4.0, 5.0, 4.5, 6.0, 5.5, 3.0], 3
    yield [9.0, 8.0, 7.0, 6.0], 2
    yield [4.0, 3.0, 3.5, 2.0, 2.5, 2.2, 1.0, 1.5, 1.2, 1.1, 1.3], 4
    yield RUNS["D"][1], 3
    yield RUNS["C"][1], 2
    yield (2 + torch.rand(40)).round(decimals=1).tolist(), 5


stop_early = Exercise(
    name="stop_early",
    chapter="07",
    section="Is it good?",
    kind=WRITE,
    title="When to stop, and what to keep",
    goal="Choose a checkpoint by validation, while the training runs.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
A run is validated at one checkpoint after the other. Going on costs time, and from step 140 on run
D of *Four curves, four causes* only got worse. So: **stop as soon as `patience` checkpoints in a
row have not been better than the best one before them**. Better means a strictly lower loss. If
that never happens, the run ends with the last checkpoint.

Return two indices, counted from 0: that of the checkpoint to keep, which is the best one that was
seen, and that of the last one that was seen. What would have come after it, nobody knows.""",
    hints=(
        "Take `[3.0, 2.0, 2.5, 2.6, 1.0]` and a patience of 2. Which checkpoints are seen? Which "
        "is kept?",
        "Two numbers are enough: the index of the best so far, and the index at which you are. "
        "How long you have waited is their difference.",
        "`for i in range(len(losses))`: if `losses[i] < losses[best]`, then `best = i`; otherwise, "
        "if `i - best == patience`, return `best, i`.",
    ),
    stub='''\
def stop_early(losses, patience):
    """Which checkpoint to keep, and where the run stops.

    losses: list of floats, at least one: the validation loss of each checkpoint, in order; each
        is 0 or more, however large (of a whole sentence, or of a whole file)
    patience: int, at least 1
    Returns two ints: the index of the best checkpoint seen, and that of the last one seen
    """
    raise NotImplementedError
''',
    solution='''\
def stop_early(losses, patience):
    """Which checkpoint to keep, and where the run stops.

    losses: list of floats, at least one: the validation loss of each checkpoint, in order
    patience: int, at least 1
    Returns two ints: the index of the best checkpoint seen, and that of the last one seen
    """
    best = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
        elif i - best == patience:
            return best, i
    return best, len(losses) - 1
''',
    because=(
        "Run D, with a patience of 3, ends at step 200 and not at 600, and keeps step 140. The "
        "kept loss was chosen as the lowest, so report another: that on `test`."
    ),
    reference=_stop(),
    cases=_cases_of_losses,
    mistakes=(
        *(
            (
                "Your lowest loss begins with a number, and losses may all be above it. Begin with "
                "the first loss, or with `math.inf`.",
                _begins_with(low),
            )
            for low in (1.0, 5.0, 10.0)
        ),
        (
            "After a loss of 0 you take any loss as better: in Python `not 0.0` is true. Ask "
            "`is None`.",
            _stop(better=lambda losses, i, best: losses[i] < losses[best] or losses[best] == 0),
        ),
        (
            "While checkpoint 0 is the best, you take any other as better: in Python `not 0` is "
            "true. Ask `is None`.",
            _stop(better=lambda losses, i, best: losses[i] < losses[best] or best == 0),
        ),
        (
            "You look for the lowest loss of the whole list, and stop `patience` later. On the way "
            "there the run may have stopped already.",
            lambda losses, patience: (
                (best := _lowest(losses)),
                min(best + patience, len(losses) - 1),
            ),
        ),
        (
            "You count rises: each loss that is above the one before it. Count those that are not "
            "below the best so far.",
            _rises_in_a_row,
        ),
        (
            "You know the future: the checkpoint that you keep comes after the stop.",
            _and(lambda losses, best, last: (_lowest(losses), last)),
        ),
        (
            "You keep the last checkpoint. Keep the best one that was seen.",
            _and(lambda losses, best, last: (last, last)),
        ),
        (
            "The run never stops: all checkpoints are seen.",
            lambda losses, patience: (_lowest(losses), len(losses) - 1),
        ),
        (
            "A better checkpoint ends the wait: count those in a row, anew after each.",
            _stop(in_a_row=False),
        ),
        (
            "You compare each loss with the one before it. Compare it with the best so far.",
            _compared_with_the_last,
        ),
        (
            "You compare each loss with the one before it, and keep the last that was lower. "
            "Compare it with the best so far.",
            _stop(better=lambda losses, i, best: losses[i] < losses[i - 1]),
        ),
        (
            "An equal loss is not better: the wait goes on, and the earlier checkpoint is kept.",
            _stop(better=lambda losses, i, best: losses[i] <= losses[best]),
        ),
        (
            "Of two equal checkpoints you keep the later one; it is not better.",
            _later_of_equals,
        ),
        (
            "You stop one checkpoint too late: `patience` of them are enough.",
            _stop(most=1),
        ),
        (
            "You stop one checkpoint too soon: the best one itself does not count as waiting.",
            lambda losses, patience: _stop(most=-1)(losses, patience) if patience > 1 else (0, 0),
        ),
        (
            "You stop at the first loss that is not better, whatever the patience.",
            lambda losses, patience: _stop()(losses, 1),
        ),
        (
            "You return losses; asked for are indices.",
            _and(lambda losses, best, last: (losses[best], losses[last])),
        ),
        (
            "You return the loss of the checkpoint to keep; asked for is its index.",
            _and(lambda losses, best, last: (losses[best], last)),
        ),
        (
            "The two indices have changed places: first the one to keep.",
            _and(lambda losses, best, last: (last, best)),
        ),
        (
            "You count from 1; indices begin with 0.",
            _and(lambda losses, best, last: (best + 1, last + 1)),
        ),
        (
            "The second number is how many checkpoints were seen. Asked for is the index of the "
            "last one.",
            _and(lambda losses, best, last: (best, last + 1)),
        ),
        (
            "A run that does not stop early ends with its last checkpoint, at `len(losses) - 1`.",
            lambda losses, patience: (
                (best := _stop()(losses, patience)[0]),
                best + patience,
            ),
        ),
        (
            "A run that does not stop early needs a result, too: a `return` behind the loop.",
            lambda losses, patience: (
                None if (found := _stop()(losses, patience))[1] - found[0] < patience else found
            ),
        ),
        (
            "The second index is that of the last checkpoint seen, which is `patience` later.",
            _and(lambda losses, best, last: (best, best)),
        ),
        (
            "The second index is that of the last checkpoint seen, which is `patience` later.",
            _if_stopped(lambda best, last: (best, best)),
        ),
        (
            "The last checkpoint that is seen is the one at which you stop, not the one before it.",
            _if_stopped(lambda best, last: (best, last - 1)),
        ),
        (
            "A run that does not stop early ends with its last checkpoint, at `len(losses) - 1`.",
            lambda losses, patience: (
                (found := _stop()(losses, patience))[0],
                found[1] + (found[1] - found[0] < patience),
            ),
        ),
        (
            "No checkpoint is ever better for you. Compare with the best so far: not with 0, and "
            "not with `min(losses)`, which knows those that come later.",
            _stop(better=lambda losses, i, best: False),
        ),
        (
            "You stop at checkpoint `patience`, wherever the best one is. Count from the best one.",
            _stops_at_patience,
        ),
        (
            "You look for the highest loss. The lowest is the best.",
            _stop(better=lambda losses, i, best: losses[i] > losses[best]),
        ),
    ),
    wrong={
        """\
def stop_early(losses, patience):
    best, low, waited = 0, 10.0, 0
    for i, loss in enumerate(losses):
        if loss < low:
            best, low, waited = i, loss, 0
        elif i > 0:
            waited += 1
        if waited == patience:
            return best, i
    return best, len(losses) - 1
""": "Begin with the first loss",
        """\
def stop_early(losses, patience):
    best, low, waited = 0, 1000, 0
    for i, loss in enumerate(losses):
        waited += 1
        if loss < low:
            best, low, waited = i, loss, 0
        if i - best == patience:
            return best, i
    return best, len(losses) - 1
""": "Begin with the first loss",
        """\
def stop_early(losses, patience):
    low = None
    for i, loss in enumerate(losses):
        if not low or loss < low:
            low, best = loss, i
        elif i - best == patience:
            return best, i
    return best, len(losses) - 1
""": "After a loss of 0",
        """\
def stop_early(losses, patience):
    best = None
    for i in range(len(losses)):
        if not best or losses[i] < losses[best]:
            best = i
        elif i - best == patience:
            return best, i
    return best, len(losses) - 1
""": "While checkpoint 0 is the best",
        """\
def stop_early(losses, patience):
    best = int(torch.tensor(losses).argmin())
    return best, min(best + patience, len(losses) - 1)
""": "lowest loss of the whole list",
        """\
def stop_early(losses, patience):
    rises = 0
    for i in range(1, len(losses)):
        rises = rises + 1 if losses[i] > losses[i - 1] else 0
        if rises == patience:
            return losses.index(min(losses[: i + 1])), i
    return losses.index(min(losses)), len(losses) - 1
""": "You count rises",
        """\
def stop_early(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
        elif i - best == patience:
            return losses.index(min(losses)), i
    return best, len(losses) - 1
""": "You know the future",
        """\
def stop_early(losses, patience):
    return losses.index(min(losses)), len(losses) - 1
""": "never stops",
        """\
def stop_early(losses, patience):
    best, waited = 0, 0
    for i in range(1, len(losses)):
        if losses[i] < losses[best]:
            best = i
        else:
            waited += 1
            if waited == patience:
                return best, i
    return best, len(losses) - 1
""": "anew after each",
        """\
def stop_early(losses, patience):
    waited = 0
    for i in range(1, len(losses)):
        waited = waited + 1 if losses[i] >= losses[i - 1] else 0
        if waited == patience:
            return losses.index(min(losses[:i + 1])), i
    return losses.index(min(losses)), len(losses) - 1
""": "the one before it. Compare",
        """\
def stop_early(losses, patience):
    best, waited = 0, 0
    for i in range(1, len(losses)):
        if losses[i] < losses[i - 1]:
            best, waited = i, 0
        else:
            waited += 1
        if waited == patience:
            return best, i
    return best, len(losses) - 1
""": "keep the last that was lower",
        """\
def stop_early(losses, patience):
    best = 0
    for i, loss in enumerate(losses):
        if loss <= losses[best]:
            best = i
        elif i - best == patience:
            return best, i
    return best, len(losses) - 1
""": "An equal loss is not better",
        """\
def stop_early(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
        elif i - best > patience:
            return best, i
    return best, len(losses) - 1
""": "too late",
        """\
def stop_early(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
        if i - best + 1 == patience:
            return best, i
    return best, len(losses) - 1
""": "too soon",
        """\
def stop_early(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
        elif i - best == patience:
            return i, i
    return len(losses) - 1, len(losses) - 1
""": "You keep the last checkpoint",
        """\
def stop_early(losses, patience):
    best, low = 0, float("inf")
    for i, loss in enumerate(losses):
        if loss < low:
            best, low = i, loss
        elif i - best >= patience:
            break
    return low, i
""": "asked for is its index",
        """\
def stop_early(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
        elif i - best == patience:
            return best, i
""": "behind the loop",
        """\
def stop_early(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
        elif i - best == patience:
            break
    return best, best + patience
""": "ends with its last checkpoint",
        """\
def stop_early(losses, patience):
    for i in range(1, len(losses)):
        if losses[i] >= min(losses[:i]):
            return losses.index(min(losses[:i])), i
    return len(losses) - 1, len(losses) - 1
""": "whatever the patience",
        """\
def stop_early(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] > losses[best]:
            best = i
        elif i - best == patience:
            return best, i
    return best, len(losses) - 1
""": "the highest loss",
        """\
def stop_early(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] < min(losses):
            best = i
        elif i - best == patience:
            return best, i
    return best, len(losses) - 1
""": "No checkpoint is ever better",
        """\
def stop_early(losses, patience):
    best = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
        elif i - best == patience:
            return best, best
    return best, len(losses) - 1
""": "`patience` later",
    },
    right=(
        """\
def stop_early(losses, patience):
    best, low, waited = 0, math.inf, 0
    for i, loss in enumerate(losses):
        waited += 1
        if loss < low:
            best, low, waited = i, loss, 0
        if waited == patience:
            break
    return [best, i]
""",
        """\
def stop_early(losses, patience):
    losses = torch.tensor(losses, dtype=torch.float64)
    for end in range(patience, len(losses)):
        if losses[end - patience] == losses[: end + 1].min() and (
            losses[: end - patience + 1].argmin() == end - patience
        ):
            return end - patience, end
    return losses.argmin(), len(losses) - 1
""",
    ),
)
