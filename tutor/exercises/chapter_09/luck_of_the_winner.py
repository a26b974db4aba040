"""How lucky the best of many heads was."""

import torch

from tutor.check.exercise import WRITE, Exercise

# Error rates in percent, rounded: the eight cross-attention heads of each of the small models
# (seeds 0, 1, 2) at the output step, on sentences 0-4, 5-9, ... 55-59 of the split "val".
SHOWN = """\
# Error rates in percent of 24 heads (the eight of each small model, at the output step).
# Each row is a split of its own: five validation sentences.
RATES = torch.tensor([
    30, 30, 27, 57, 23, 25, 18, 18, 23, 48, 50, 20, 27, 16, 14, 11, 39, 25, 27, 34, 43, 18, 20, 16,
    23, 21, 32, 39, 17, 16, 12, 14, 12, 38, 47, 25, 21, 10, 10, 16, 28, 28, 27, 34, 30, 16, 12,  8,
    30, 26, 26, 58, 26, 16, 20, 18, 26, 45, 54, 26, 28, 16, 14, 16, 45, 37, 26, 39, 39, 20, 16, 18,
    27, 24, 29, 57, 20, 18, 18, 16, 16, 49, 49, 24, 24,  8, 18, 24, 45, 31, 20, 41, 43, 18, 18,  8,
    26, 15, 28, 54, 13,  8, 18, 15, 15, 38, 41, 26, 18,  8, 15, 15, 33, 33, 26, 36, 38, 21, 13,  5,
    22, 35, 35, 63, 27, 20, 20, 24, 20, 45, 51, 27, 29, 18, 12, 18, 49, 33, 33, 37, 45, 20, 22,  8,
    30, 16, 27, 52, 14, 12, 21, 10, 16, 38, 45, 21, 19, 19, 14, 23, 38, 27, 21, 30, 38, 23, 10,  8,
    27, 23, 29, 46, 21, 10, 12, 13, 15, 35, 52, 33, 23,  8, 19, 15, 37, 27, 29, 31, 33, 15, 10, 12,
    25, 27, 27, 57, 23, 16, 18, 21, 20, 45, 46, 18, 27, 18,  9, 18, 38, 32, 25, 34, 38, 18, 12,  9,
    24, 26, 18, 56, 22, 18, 18, 18, 18, 48, 50, 26, 32, 16, 10, 18, 44, 36, 32, 34, 38, 18, 20,  8,
    23, 30, 28, 47, 21, 23, 21, 19, 17, 49, 45, 23, 26, 19, 19, 21, 38, 34, 28, 34, 49, 17, 15, 15,
    28, 22, 38, 48, 22, 15, 28, 20, 26, 48, 48, 26, 28, 18, 24, 22, 48, 38, 34, 42, 44, 30, 13, 17,
], dtype=torch.float32).reshape(12, 24)  # (splits, heads)
"""


def _others(rates, split):
    return torch.cat([rates[:split], rates[split + 1 :]])


def _luck(rates):
    honest = [_others(rates, i)[:, row.argmin()].mean() for i, row in enumerate(rates)]
    return rates.amin(1).mean().item(), torch.stack(honest).mean().item()


def _with_honest(honest_of):
    """The right first number; the second is a mean of a function of the table and a split."""

    def answer(rates):
        honest = [torch.as_tensor(honest_of(rates, i)) for i in range(len(rates))]
        return _luck(rates)[0], torch.stack(honest).mean().item()

    return answer


def _once_for_all(rates):
    best = rates.mean(0).argmin()
    return rates[:, best].mean().item(), rates[:, best].mean().item()


def _other_way(rates):
    """Choose on the others, and report on the one."""
    chosen = [_others(rates, i).mean(0).argmin() for i in range(len(rates))]
    own = torch.stack([rates[i, m] for i, m in enumerate(chosen)]).mean().item()
    there = torch.stack([_others(rates, i)[:, m].mean() for i, m in enumerate(chosen)])
    return there.mean().item(), own


def _halves(rates):
    """One half of the splits chooses, the other judges."""
    half = len(rates) // 2
    best = rates[:half].mean(0).argmin()
    return rates[:half, best].mean().item(), rates[half:, best].mean().item()


def _later_ones(rates):
    pairs = [(row.min(), rates[i + 1 :, row.argmin()].mean()) for i, row in enumerate(rates[:-1])]
    return tuple(torch.tensor(pairs).mean(0).tolist())


def _luckiest(rates):
    split, best = divmod(rates.argmin().item(), rates.shape[1])
    return rates.min().item(), _others(rates, split)[:, best].mean().item()


def _head_by_head(rates):
    """Each head chooses its best split, and is judged on its others."""
    own = rates.amin(0)
    return own.mean().item(), ((rates.sum(0) - own) / (len(rates) - 1)).mean().item()


def _by_the_first(rates):
    """Split 0 alone chooses; its winner is judged on all the splits in turn."""
    own = rates[:, rates[0].argmin()]
    return own.mean().item(), ((own.sum() - own) / (len(rates) - 1)).mean().item()


def _last_of_ties(rates):
    return _luck(rates.flip(1))


def _all_that_tie(rates):
    honest = [_others(rates, i)[:, row == row.min()].mean() for i, row in enumerate(rates)]
    return rates.amin(1).mean().item(), torch.stack(honest).mean().item()


def _cases_of_rates():
    yield torch.tensor([[10.0, 20.0, 30.0], [50.0, 40.0, 25.0]])
    yield torch.tensor([[10.0, 10.0], [30.0, 20.0], [20.0, 40.0]])
    for splits, heads in [(3, 4), (5, 2), (4, 24)]:
        yield torch.rand(splits, heads)
    shown = {"torch": torch}
    exec(SHOWN, shown)
    yield shown["RATES"]


luck_of_the_winner = Exercise(
    name="luck_of_the_winner",
    chapter="09",
    section="Choose on one split, report on another",
    kind=WRITE,
    title="The luck of the winner",
    goal="Measure how much too good the best of many looks where it was chosen.",
    difficulty=3,
    importance=5,
    minutes=13,
    text="""\
A paper reports the best of 24 heads, on the five sentences that chose it. How much of that is luck?
The next cell holds real rates: 24 heads on twelve small splits. Each split in turn plays the paper.
It chooses its winner, the head with its lowest rate (the first of them if several tie). Return two
numbers:

- *flattering*: the winner's rate on the split that chose it, as a mean over the splits;
- *honest*: the mean of that winner's rates on all the **other** splits, again as a mean over the
  splits.

Then look at `luck_of_the_winner(RATES)`: how many points are luck? And would it be more or less
with 25 sentences a split?""",
    hints=(
        "Do it for the first split on paper, with the small table [[10, 20, 30], [50, 40, 25]]: "
        "who wins, and what is its rate in the other row? Then the second.",
        "`rates.argmin(dim=1)` has the winner of each split. For split i, take the column of its "
        "winner, and leave out place i.",
        "For each i and its winner m: flattering gets `rates[i, m]`, honest gets "
        "`(rates[:, m].sum() - rates[i, m]) / (len(rates) - 1)`.",
    ),
    setup=SHOWN,
    stub='''\
def luck_of_the_winner(rates):
    """Mean rate of the winners where they were chosen, and on the other splits.

    rates: float tensor (splits, heads), error rates; at least two splits
    Returns two floats, flattering and honest
    """
    raise NotImplementedError
''',
    solution='''\
def luck_of_the_winner(rates):
    """Mean rate of the winners where they were chosen, and on the other splits.

    rates: float tensor (splits, heads), error rates; at least two splits
    Returns two floats, flattering and honest
    """
    flattering = honest = 0.0
    for i, m in enumerate(rates.argmin(dim=1).tolist()):
        flattering += rates[i, m].item() / len(rates)
        others = (rates[:, m].sum() - rates[i, m]) / (len(rates) - 1)
        honest += others.item() / len(rates)
    return flattering, honest
''',
    because="Here 9.6 against 13.8: four points are luck. With 25 sentences a split we measured "
    "12.1 against 13.7.",
    reference=_luck,
    cases=lambda: [(rates,) for rates in _cases_of_rates()],
    tolerance=1e-3,
    mistakes=(
        (
            "The two numbers are exchanged: flattering comes first.",
            lambda rates: _luck(rates)[::-1],
        ),
        (
            "Your honest mean contains the split that chose the winner. Leave its own split out.",
            _with_honest(lambda rates, i: rates[:, rates[i].argmin()].mean()),
        ),
        (
            "Your honest rate is that of the best head of the other splits: they have chosen "
            "again. The winner of this split is to be judged.",
            _with_honest(lambda rates, i: _others(rates, i).mean(0).min()),
        ),
        (
            "Your honest rate is a mean of other splits' own winners. The winner of this split is "
            "to be judged there.",
            _with_honest(lambda rates, i: _others(rates, i).amin(1).mean()),
        ),
        (
            "Your honest rate is a mean of all heads. Only the winner is to be judged.",
            _with_honest(lambda rates, i: _others(rates, i).mean()),
        ),
        (
            "You judge a winner on one other split alone, the next. Take the mean of all others.",
            _with_honest(lambda rates, i: rates[(i + 1) % len(rates), rates[i].argmin()]),
        ),
        (
            "You judge a winner on one other split alone. Take the mean of all others.",
            _with_honest(lambda rates, i: rates[i - 1, rates[i].argmin()]),
        ),
        (
            "You take each winner's worst rate on the other splits. The mean is asked for.",
            _with_honest(lambda rates, i: _others(rates, i)[:, rates[i].argmin()].max()),
        ),
        (
            "You take the median of the other splits. The mean is asked for.",
            _with_honest(lambda rates, i: _others(rates, i)[:, rates[i].argmin()].median()),
        ),
        (
            "You subtract the winner's own rate from a mean. Take it from the sum, and divide by "
            "the number of the other splits.",
            _with_honest(lambda rates, i: rates[:, rates[i].argmin()].mean() - rates[i].min()),
        ),
        (
            "Your honest rate is that of the best head of all splits together, which has been "
            "chosen on all of them. The winner of each split is to be judged.",
            _with_honest(lambda rates, i: rates.mean(0).min()),
        ),
        (
            "One half of your splits chooses and the other judges. Each split in turn chooses, and "
            "all the others judge.",
            _halves,
        ),
        (
            "A winner is judged by the splits behind its own alone. Those before it judge too.",
            _later_ones,
        ),
        (
            "You take the luckiest split alone. Each one has its turn.",
            _luckiest,
        ),
        (
            "You divide the sum over the other splits by the number of all splits. One was left "
            "out.",
            _with_honest(
                lambda rates, i: _others(rates, i)[:, rates[i].argmin()].sum() / len(rates)
            ),
        ),
        (
            "You choose one head for all splits. Each split chooses its own winner.",
            _once_for_all,
        ),
        (
            "You choose on the many splits and report on the one. That is honest too, but the "
            "luck of a small split is asked for: the one chooses, the others judge.",
            _other_way,
        ),
        (
            "You choose the head with the highest error rate. The lowest wins.",
            lambda rates: tuple(-x for x in _luck(-rates)),
        ),
        (
            "You go through the columns, so that heads choose a split. Splits are rows: each row "
            "chooses a column.",
            lambda rates: _luck(rates.T),
        ),
        (
            "`argmin(dim=0)` gives each head its best split. Each split chooses its best head: "
            "`dim=1`.",
            _head_by_head,
        ),
        (
            "The winner of the first split stands for all. Each split chooses a winner of its own.",
            _by_the_first,
        ),
        (
            "The first number is right. But you judge the winner of the first split alone.",
            lambda rates: (
                rates.amin(1).mean().item(),
                _others(rates, 0)[:, rates[0].argmin()].mean().item(),
            ),
        ),
        (
            "Where heads tie, you take the last. The first of them is asked for.",
            _last_of_ties,
        ),
        (
            "Where heads tie, you judge all of them. The first of them is asked for.",
            _all_that_tie,
        ),
        (
            "Only the first split has chosen. Each one has its turn.",
            lambda rates: (
                rates[0].min().item(),
                _others(rates, 0)[:, rates[0].argmin()].mean().item(),
            ),
        ),
        (
            "Only the last split counts: each turn of the loop begins anew.",
            lambda rates: (rates[-1].min().item(), rates[:-1, rates[-1].argmin()].mean().item()),
        ),
        (
            "You return sums over the splits. Divide by their number.",
            lambda rates: tuple(x * len(rates) for x in _luck(rates)),
        ),
        (
            "You return the luck itself as the second number. Return the honest rate.",
            lambda rates: (_luck(rates)[0], _luck(rates)[1] - _luck(rates)[0]),
        ),
    ),
    wrong={
        """\
def luck_of_the_winner(rates):
    best = rates.argmin(1)
    honest = [rates[torch.arange(len(rates)) != i, m].mean() for i, m in enumerate(best)]
    return torch.stack(honest).mean().item(), rates.min(1).values.mean().item()
""": "exchanged",
        """\
def luck_of_the_winner(rates):
    best = rates.argmin(dim=1)
    return rates.amin(1).mean().item(), rates[:, best].mean().item()
""": "Leave its own split out",
        """\
def luck_of_the_winner(rates):
    honest = [torch.cat([rates[:i], rates[i + 1:]]).mean(0).min() for i in range(len(rates))]
    return rates.amin(1).mean().item(), torch.stack(honest).mean().item()
""": "they have chosen again",
        """\
def luck_of_the_winner(rates):
    best = rates.argmin(dim=1)
    honest = rates.roll(-1, 0)[torch.arange(len(rates)), best]
    return rates.amin(1).mean().item(), honest.mean().item()
""": "on one other split alone",
        """\
def luck_of_the_winner(rates):
    best = rates.mean(0).argmin()
    return rates[:, best].mean().item(), rates[:, best].mean().item()
""": "one head for all splits",
        """\
def luck_of_the_winner(rates):
    own, there = [], []
    for i in range(len(rates)):
        rest = torch.cat([rates[:i], rates[i + 1:]])
        m = rest.mean(0).argmin()
        own.append(rates[i, m].item())
        there.append(rest[:, m].mean().item())
    return sum(there) / len(there), sum(own) / len(own)
""": "report on the one",
        """\
def luck_of_the_winner(rates):
    best = rates.argmax(1)
    honest = [rates[torch.arange(len(rates)) != i, m].mean() for i, m in enumerate(best)]
    return rates.amax(1).mean().item(), torch.stack(honest).mean().item()
""": "The lowest wins",
        """\
def luck_of_the_winner(rates):
    flattering = rates.min(dim=0).values.mean().item()
    honest = 0
    for m, i in enumerate(rates.argmin(dim=0).tolist()):
        honest += (rates[i].sum() - rates[i, m]).item() / (rates.shape[1] - 1)
    return flattering, honest / rates.shape[1]
""": "heads choose a split",
        """\
def luck_of_the_winner(rates):
    honest = 0
    for i, m in enumerate(rates.argmin(dim=1)):
        honest += (rates[:, m].sum() - rates[i, m]).item() / len(rates)
    return rates.amin(1).mean().item(), honest / len(rates)
""": "One was left out",
        """\
def luck_of_the_winner(rates):
    for i, m in enumerate(rates.argmin(dim=1)):
        rest = torch.cat([rates[:i], rates[i + 1:]])[:, m]
        return rates[i, m].item(), rest.mean().item()
""": "Only the first split",
        """\
def luck_of_the_winner(rates):
    for i, m in enumerate(rates.argmin(dim=1)):
        rest = torch.cat([rates[:i], rates[i + 1:]])[:, m]
    return rates[i, m].item(), rest.mean().item()
""": "Only the last split",
        """\
def luck_of_the_winner(rates):
    best = rates.argmin(1)
    honest = [rates[torch.arange(len(rates)) != i, m].mean() for i, m in enumerate(best)]
    return (torch.stack(honest).mean() - rates.min(1).values.mean()).item()
""": "a tuple is wanted",
        """\
def luck_of_the_winner(rates):
    flattering = honest = 0
    for i in range(len(rates)):
        m = rates[i].argmin()
        flattering += rates[i, m].item() / len(rates)
        honest += (rates[:, m].mean() - rates[i, m]).item() / len(rates)
    return flattering, honest
""": "from a mean",
        """\
def luck_of_the_winner(rates):
    return rates.amin(1).mean().item(), rates.mean(0).min().item()
""": "best head of all splits together",
        """\
def luck_of_the_winner(rates):
    half = len(rates) // 2
    m = rates[:half].mean(0).argmin()
    return rates[:half, m].mean().item(), rates[half:, m].mean().item()
""": "One half of your splits",
        """\
def luck_of_the_winner(rates):
    w = rates.argmin(dim=0)
    own = rates[w, torch.arange(rates.shape[1])]
    return own.mean().item(), ((rates.sum(0) - own) / (len(rates) - 1)).mean().item()
""": "`argmin(dim=0)`",
        """\
def luck_of_the_winner(rates):
    m, n = rates[0].argmin(), len(rates)
    honest = [(rates[:, m].sum() - rates[i, m]) / (n - 1) for i in range(n)]
    return rates[:, m].mean().item(), torch.stack(honest).mean().item()
""": "stands for all",
        """\
def luck_of_the_winner(rates):
    return rates.amin(1).mean().item(), rates[1:, rates[0].argmin()].mean().item()
""": "you judge the winner of the first",
        """\
def luck_of_the_winner(rates):
    n, honest = len(rates), 0.0
    for i, row in enumerate(rates):
        m = (row == row.min()).nonzero()[-1].item()
        honest += (rates[:, m].sum() - row[m]).item() / (n - 1) / n
    return rates.amin(1).mean().item(), honest
""": "you take the last",
        """\
def luck_of_the_winner(rates):
    n, honest = len(rates), 0.0
    for i, row in enumerate(rates):
        rest = rates[torch.arange(n) != i][:, row == row.min()]
        honest += rest.mean().item() / n
    return rates.amin(1).mean().item(), honest
""": "you judge all of them",
    },
    right=(
        """\
def luck_of_the_winner(rates):
    n = len(rates)
    chosen = rates[:, rates.argmin(1)]  # (splits, winners)
    own = chosen.diagonal()
    return own.mean().item(), ((chosen.sum(0) - own) / (n - 1)).mean().item()
""",
        """\
def luck_of_the_winner(rates):
    table, own, there = rates.tolist(), [], []
    for i, row in enumerate(table):
        m = row.index(min(row))
        own.append(row[m])
        there += [other[m] for k, other in enumerate(table) if k != i]
    return sum(own) / len(own), sum(there) / len(there)
""",
    ),
)
