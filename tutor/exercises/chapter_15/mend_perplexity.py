"""Three faults of an evaluation."""

from functools import partial
from itertools import product

import torch
import torch.nn.functional as F

from tutor.attention import PAD
from tutor.check.exercise import MEND, Exercise, edited

PADDING, WEIGHT, EXPONENT = (
    {"right": "", "counts": "Padding is counted as if it had to be predicted."},
    {
        "right": "",
        "batch": "A small batch counts as much as a large one: add up nats and tokens.",
        "row": "A short text counts as much as a long one: every token counts the same.",
        "texts": "A batch is weighted by its number of texts. Count its tokens.",
        "shape": "A batch is weighted by its shape, padding included. Count its tokens.",
    },
    {
        "right": "",
        "batch": "`exp` is taken of each batch. Take it once, of the mean of all.",
        "token": "`exp` is taken of each token. Take it once, of the mean of all.",
        "none": "`exp` is missing: these are the nats a token, not the perplexity.",
        "two": "These are powers of 2; the loss is in nats, so take `exp`.",
    },
)
_SYMPTOM = (
    "As it was: three faults are left. On two copies of one batch without padding it is right."
)


def _perplexity(padding="right", weight="right", exponent="right"):
    def answer(batches):
        means, weights = [], []
        for Z, targets in batches:
            costs = F.cross_entropy(Z.mT, targets, reduction="none")  # (N, T)
            counts = torch.ones_like(costs) if padding == "counts" else (targets != PAD).float()
            if exponent == "token":
                costs = costs.exp()
            if weight == "row":
                rows = (costs * counts).sum(1) / counts.sum(1)
                means += (rows.exp() if exponent == "batch" else rows).tolist()
                weights += [1.0] * len(rows)
                continue
            mean = (costs * counts).sum() / counts.sum().clamp(min=1)
            means.append((mean.exp() if exponent == "batch" else mean).item())
            sizes = {
                "batch": 1.0,
                "shape": targets.numel(),
                "texts": len(targets),
                "right": counts.sum().item(),
            }
            weights.append(sizes[weight])
        total = sum(m * w for m, w in zip(means, weights, strict=True)) / sum(weights)
        total = torch.tensor(total)
        return {"right": total.exp(), "two": total.exp2()}.get(exponent, total).item()

    return answer


def _left():
    """A message for each way to leave some of the faults, or to mend one of them badly."""
    for parts in product(PADDING, WEIGHT, EXPONENT):
        left = [
            words[part]
            for words, part in zip((PADDING, WEIGHT, EXPONENT), parts, strict=True)
            if words[part]
        ]
        if parts == ("counts", "batch", "batch"):
            yield _SYMPTOM, _perplexity(*parts)
        elif parts == ("counts", "shape", parts[2]):  # the same as by tokens, all of which count
            continue
        elif left:
            number = ("One fault is", "Two faults are", "Three faults are")[len(left) - 1]
            one = "" if len(left) == 1 else "One of them: "
            yield f"{number} left. {one}{left[0]}", _perplexity(*parts)


def _shifted(batches):
    return _perplexity()([(Z[:, :-1], targets[:, 1:]) for Z, targets in batches])


def _sum_of_all(batches):
    costs = [F.cross_entropy(Z.mT, y, ignore_index=PAD, reduction="sum") for Z, y in batches]
    return sum(costs).exp().item()


def _sum_over_rows(batches):
    costs = [F.cross_entropy(Z.mT, y, ignore_index=PAD, reduction="sum") for Z, y in batches]
    return (sum(costs) / sum(len(y) for _, y in batches)).exp().item()


def _divided_too_late(batches):
    tokens = sum((y != PAD).sum() for _, y in batches)
    return _sum_of_all(batches) / tokens.item()


def _means_times_shape(batches):
    costs = [y.numel() * F.cross_entropy(Z.mT, y, ignore_index=PAD) for Z, y in batches]
    return (sum(costs) / sum((y != PAD).sum() for _, y in batches)).exp().item()


def _sum_over_batches(batches):
    costs = [F.cross_entropy(Z.mT, y, ignore_index=PAD, reduction="sum") for Z, y in batches]
    return (sum(costs) / len(batches)).exp().item()


def _zeros_in_the_mean(batches):
    """Padding costs nothing, but it is counted."""
    costs = [F.cross_entropy(Z.mT, y, ignore_index=PAD, reduction="sum") for Z, y in batches]
    return (sum(costs) / sum(y.numel() for _, y in batches)).exp().item()


def _batch(*lengths, V=6, scale=1.0):
    """Logits and targets of texts of these lengths; the last rows of each are padding."""
    T = max(lengths)
    targets = torch.randint(4, V, (len(lengths), T))
    for row, length in zip(targets, lengths, strict=True):
        row[length:] = PAD
    return scale * torch.randn(len(lengths), T, V), targets


def _cases_of_batches():
    yield ([_batch(3, 1), _batch(2)],)  # with padding, so that the example shows every fault
    yield ([_batch(2), _batch(1)],)
    yield ([_batch(5, 2, 1, V=9), _batch(4, 4, V=9, scale=2.0), _batch(1, V=9, scale=3.0)],)


_STUB = '''\
def mend_perplexity(batches):
    """The perplexity of a model on a test set. It has three faults: find them and mend them.

    batches: list of (Z, targets) of different sizes: the logits of the model, float (N, T, V), and
        what came next, int (N, T), filled up with PAD
    Returns a number
    """
    total = 0.0
    for Z, targets in batches:
        loss = F.cross_entropy(Z.flatten(0, 1), targets.flatten())  # ()
        total += loss.exp()
    return total / len(batches)
'''
_SOLUTION = '''\
def mend_perplexity(batches):
    """The perplexity of a model on a test set.

    batches: list of (Z, targets) of different sizes: the logits of the model, float (N, T, V), and
        what came next, int (N, T), filled up with PAD
    Returns a number
    """
    nats, tokens = 0.0, 0
    for Z, targets in batches:
        nats += F.cross_entropy(
            Z.flatten(0, 1), targets.flatten(), ignore_index=PAD, reduction="sum"
        )  # ()
        tokens += (targets != PAD).sum()
    return (nats / tokens).exp()
'''


_edited = partial(edited, _SOLUTION)


mend_perplexity = Exercise(
    name="mend_perplexity",
    chapter="15",
    section="Training, with the floor in sight",
    kind=MEND,
    title="A perplexity that depends on the batches",
    goal="Compute a perplexity that is the same however the texts are batched.",
    difficulty=3,
    importance=5,
    minutes=8,
    text="""\
A colleague's perplexity changes when she sorts the test texts, or makes the batches larger. That
must not be: it belongs to a model and a test set, and every token of the set, `[EOS]` among them,
counts the same. **Find the three faults and mend them.** `targets` holds for each place what came
next, so nothing has to be shifted. Every batch holds at least one token.""",
    hints=(
        "Take two batches: one text of 100 tokens, and one text of 1 token. How much does the "
        "single token count? And what if its row is filled up to 100?",
        "Is the mean of $e^a$ and $e^b$ the same as $e$ to the mean of $a$ and $b$? Perplexity is "
        "$e$ to the mean nats a token of the whole set.",
        'Sum the nats with `reduction="sum"` and `ignore_index=PAD`, count the tokens that are '
        "not PAD, divide once, and take `exp` once.",
    ),
    setup="from tutor.attention import PAD\n",
    stub=_STUB,
    solution=_SOLUTION,
    because="Sums can be added over batches, means and exponentials cannot.",
    reference=_perplexity(),
    cases=_cases_of_batches,
    mistakes=(
        *_left(),
        (
            "Now row t is compared with the token after the next. `targets` is shifted already.",
            _shifted,
        ),
        (
            "This is e to the nats of the whole test set. Divide by its number of tokens first.",
            _sum_of_all,
        ),
        (
            "You divide by the number of texts: nats a text. A perplexity is that of a token.",
            _sum_over_rows,
        ),
        (
            "`exp` is taken of the sum of all nats, and divided by the tokens. Divide first.",
            _divided_too_late,
        ),
        (
            "`ignore_index` gives a mean over tokens that are no padding. You multiply it by the "
            "size of the whole rectangle.",
            _means_times_shape,
        ),
        (
            "You divide by the number of batches: nats a batch. A perplexity is that of a token.",
            _sum_over_batches,
        ),
        (
            "Padding costs nothing now, but it is still counted: divide by the tokens that are no "
            "padding.",
            _zeros_in_the_mean,
        ),
        (
            "The sign is wrong: this is the probability of a token, not one over it.",
            lambda batches: 1 / _perplexity()(batches),
        ),
    ),
    wrong={
        _STUB.replace("targets.flatten())", "targets.flatten(), ignore_index=PAD)"): (
            "Two faults are left. One of them: A small batch"
        ),
        _STUB.replace("loss.exp()", "loss").replace(
            "total / len(batches)", "(total / len(batches)).exp()"
        ): ("Two faults are left. One of them: Padding"),
        _STUB.replace("total +=", "total = total +"): "As it was",
        _edited((", ignore_index=PAD", ""), ("(targets != PAD).sum()", "targets.numel()")): (
            "One fault is left. Padding is counted"
        ),
        _edited(("(targets != PAD).sum()", "targets.numel()")): "still counted",
        _edited(("(nats / tokens).exp()", "nats / tokens")): "`exp` is missing",
        _edited(("(nats / tokens).exp()", "nats.exp()")): "the whole test set",
        _edited(("(nats / tokens).exp()", "2 ** (nats / tokens)")): "powers of 2",
        _edited(("(targets != PAD).sum()", "len(targets)")): "nats a text",
        _edited((', reduction="sum"', ""), ("(targets != PAD).sum()", "1")): "A small batch",
        _edited(
            ('reduction="sum"\n        )', 'reduction="mean"\n        ) * targets.numel()'),
            ("(targets != PAD).sum()", "targets.numel()"),
        ): "weighted by its shape",
        _edited(
            ("Z.flatten(0, 1)", "Z[:, :-1].flatten(0, 1)"),
            ("targets.flatten()", "targets[:, 1:].flatten()"),
            ("(targets != PAD).sum()", "(targets[:, 1:] != PAD).sum()"),
        ): "shifted already",
        _edited(("(nats / tokens).exp()", "nats.exp() / tokens")): "Divide first",
        _edited(
            ('reduction="sum"\n        )', 'reduction="mean"\n        ) * targets.numel()'),
        ): "whole rectangle",
        _edited(("nats / tokens", "nats / len(batches)")): "nats a batch",
        _edited(
            ('reduction="sum"\n        )', 'reduction="mean"\n        ) * len(targets)'),
            ("(targets != PAD).sum()", "len(targets)"),
        ): "by its number of texts",
        """\
def mend_perplexity(batches):
    losses = []
    for Z, targets in batches:
        for z, y in zip(Z, targets):
            losses.append(F.cross_entropy(z[y != PAD], y[y != PAD]))
    return torch.stack(losses).mean().exp()
""": "A short text counts",
        """\
def mend_perplexity(batches):
    total, tokens = 0.0, 0
    for Z, targets in batches:
        n = (targets != PAD).sum()
        loss = F.cross_entropy(Z.flatten(0, 1), targets.flatten(), ignore_index=PAD)
        total += loss.exp() * n
        tokens += n
    return total / tokens
""": "of each batch. Take it once",
        """\
def mend_perplexity(batches):
    Z = torch.cat([Z[targets != PAD] for Z, targets in batches])
    y = torch.cat([targets[targets != PAD] for _, targets in batches])
    return F.cross_entropy(Z, y, reduction="none").exp().mean()
""": "of each token",
    },
    right=(
        """\
def mend_perplexity(batches):
    Z = torch.cat([Z[targets != PAD] for Z, targets in batches])  # (tokens, V)
    y = torch.cat([targets[targets != PAD] for _, targets in batches])  # (tokens)
    return F.cross_entropy(Z, y).exp()
""",
        """\
def mend_perplexity(batches):
    nats = []
    for Z, targets in batches:
        log_p = Z.log_softmax(-1)
        for n in range(len(targets)):
            for t in range(targets.shape[1]):
                if targets[n, t] != PAD:
                    nats.append(-log_p[n, t, targets[n, t]].item())
    return math.exp(sum(nats) / len(nats))
""",
    ),
)
