"""Which of two models is better?"""

import torch
import torch.nn.functional as F

from tutor import evaluation
from tutor.check.exercise import WRITE, Exercise

# chrF of the translations of two of the small models (seeds 0 and 2; greedy) of 1,000 captions
# of the test split, rounded. Shown are the captions that not both translate without a fault.
SHOWN = """\
# chrF of two models (the small ones of seeds 0 and 2) on the same 1,000 captions, rounded.
# Both have 100 on 962 of them. The other 38, caption by caption:
FIRST = [90, 100, 100, 87, 100, 100, 100, 69, 100, 89, 100, 100, 94, 91, 100, 100, 89, 90, 100,
         100, 90, 98, 80, 97, 91, 100, 94, 93, 95, 65, 73, 92, 100, 100, 100, 100, 100, 100]
SECOND = [90, 84, 92, 100, 96, 93, 83, 55, 74, 100, 87, 95, 94, 92, 90, 96, 93, 100, 86,
          84, 80, 100, 80, 100, 91, 95, 100, 93, 92, 51, 100, 92, 86, 73, 96, 87, 88, 86]
first, second = (torch.tensor(scores + 962 * [100.0]) for scores in (FIRST, SECOND))
drawn = torch.randint(1000, (1000, 1000), generator=torch.Generator().manual_seed(0))
"""

ENDS = (0.025, 0.975)
NEITHER = "neither"


def _decision(low, high):
    return "second" if low > 0 else "first" if high < 0 else "neither"


def _interval(spread, ends=ENDS):
    return spread.double().quantile(torch.tensor(ends, dtype=torch.float64)).tolist()


def _which_is_better(first, second, drawn):
    low, high = _interval((second - first)[drawn].double().mean(1))
    return low, high, _decision(low, high)


def _by(interval):
    """The answer from an interval of the differences, which a function of its own makes."""

    def answer(first, second, drawn):
        low, high = interval((second - first).double(), drawn)
        return float(low), float(high), _decision(low, high)

    return answer


def _deciding(decide):
    """The right interval with another decision."""

    def answer(first, second, drawn):
        low, high, _ = _which_is_better(first, second, drawn)
        return low, high, decide(first, second, low, high)

    return answer


def _around(half):
    """An interval of the mean and a half width on either side."""
    return _by(lambda d, drawn: (d.mean() - half(d, drawn), d.mean() + half(d, drawn)))


def _by_overlap(first, second, drawn):
    """Two intervals, one a model, and a decision from whether they overlap."""
    (a, b), (c, d) = (_interval(x[drawn].mean(1)) for x in (first, second))
    return "second" if c > b else "first" if d < a else "neither"


def _drawn_apart(first, second, drawn):
    """Each model on captions of its own."""
    spread = second[drawn.flip(0)].double().mean(1) - first[drawn].double().mean(1)
    low, high = _interval(spread)
    return low, high, _decision(low, high)


def _of_one(index):
    def answer(*given):
        low, high = _interval(given[index][given[2]].mean(1))
        return low, high, _decision(low, high)

    return answer


def _sorted(take):
    """Two of the sorted means."""

    def interval(d, drawn):
        means = d[drawn].mean(1).sort().values
        return means[take(0.025, len(means))], means[take(0.975, len(means))]

    return _by(interval)


def _of_ends(low_of_first, low_of_second):
    """Quantiles of the two models' means, subtracted."""

    def answer(first, second, drawn):
        a, b = (_interval(x[drawn].double().mean(1)) for x in (first, second))
        low, high = (b[i] - a[j] for i, j in (low_of_first, low_of_second))
        return low, high, _decision(low, high)

    return answer


def _by_wins(first, second, low, high):
    wins = (second - first).sign().sum()
    return "second" if wins > 0 else "first" if wins < 0 else NEITHER


def _by_draws(first, second, drawn):
    low, high, _ = _which_is_better(first, second, drawn)
    wins = (second - first)[drawn].double().mean(1).sign().sum()
    return low, high, "second" if wins > 0 else "first" if wins < 0 else NEITHER


def _percent(first, second, drawn):
    return (second - first)[drawn].mean(1).quantile(2.5)


def _cases_of_scores():
    for N, shift, noise in [(4, 3.0, 1.0), (5, -3.0, 1.0), (30, 0.2, 5.0), (30, -0.2, 5.0)]:
        easy, d = 50 + 15 * torch.randn(N), torch.randn(N)  # an easy caption is easy for both
        yield easy, easy + shift + noise * (d - d.mean()) / d.std(), torch.randint(N, (200, N))
    for change in (0.0, 6.0, -6.0):  # one model twice; and one caption alone differs
        scores = 10.0 * torch.arange(4)
        changed = scores + change * F.one_hot(torch.tensor(2), 4)
        yield scores, changed, torch.randint(4, (200, 4))
    shown = {"torch": torch}
    exec(SHOWN, shown)
    yield shown["first"], shown["second"], shown["drawn"]


which_is_better = Exercise(
    name="which_is_better",
    chapter="08",
    section="What do beams gain?",
    kind=WRITE,
    title="Which of two models is better?",
    goal="Decide by a paired bootstrap whether a difference is more than chance.",
    difficulty=3,
    importance=5,
    minutes=11,
    text="""\
The next cell holds real scores of two models on the same 1,000 captions. The second has a mean that
is 0.19 lower. Would it be lower on another thousand? Write the **paired bootstrap** that decides.

Each row of `drawn` names $N$ captions, drawn with repetition. On each row's captions take the mean
score of the second model less that of the first. That makes one difference a row, and 95 % of them
lie between their quantiles 0.025 and 0.975 (as `torch.quantile` computes them). Return these two,
and a decision: `"second"` if the interval lies above 0, `"first"` if it lies below 0, else
`"neither"` (also where an end is exactly 0).

Then run it on the scores of the cell, and compare: how many captions decide?""",
    hints=(
        "Both models are scored on the *same* drawn captions. So the difference can be taken "
        "first, caption by caption: one tensor (N,).",
        "`difference[drawn]` has the shape (draws, N). Over which dimension is the mean taken?",
        "`spread = (second - first)[drawn].mean(dim=1)`, then `spread.quantile(0.025)` and "
        "`spread.quantile(0.975)`; the decision looks at both ends.",
    ),
    setup=SHOWN,
    stub='''\
def which_is_better(first, second, drawn):
    """A 95 % interval of the mean of second less first, and a decision.

    first, second: float tensors (N,), scores of two models on the same N captions, high is good
    drawn: int tensor (draws, N), captions drawn with repetition
    Returns low, high (floats) and "first", "second" or "neither"
    """
    raise NotImplementedError
''',
    solution='''\
def which_is_better(first, second, drawn):
    """A 95 % interval of the mean of second less first, and a decision.

    first, second: float tensors (N,), scores of two models on the same N captions, high is good
    drawn: int tensor (draws, N), captions drawn with repetition
    Returns low, high (floats) and "first", "second" or "neither"
    """
    spread = (second - first)[drawn].mean(dim=1)  # (draws,)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
''',
    because="Here 32 captions of 1,000 decide for the first; drawn apart, one could not tell.",
    reference=_which_is_better,
    cases=_cases_of_scores,
    forbidden=(evaluation.gains,),
    tolerance=1e-3,
    mistakes=(
        (
            "The sign is turned over: take the second less the first.",
            lambda first, second, drawn: (
                lambda low, high, _: (-high, -low, _decision(-high, -low))
            )(*_which_is_better(first, second, drawn)),
        ),
        (
            "The interval is right. But the names are exchanged: above 0 the second model has the "
            "higher scores.",
            _deciding(lambda a, b, low, high: _decision(-high, -low)),
        ),
        (
            "The interval is right. But you decide by the mean: if the interval contains 0, the "
            'answer is "neither".',
            _deciding(lambda a, b, low, high: "second" if b.mean() > a.mean() else "first"),
        ),
        (
            'The interval is right. But you decide by one of its ends: "first" needs an interval '
            "that lies below 0 with both.",
            _deciding(lambda a, b, low, high: "second" if low > 0 else "first"),
        ),
        (
            'The interval is right. But you decide by one of its ends: "second" needs an '
            "interval that lies above 0 with both.",
            _deciding(lambda a, b, low, high: "first" if high < 0 else "second"),
        ),
        *(
            (
                "The interval is right. But where an end of it is exactly 0, nothing is decided: "
                'the answer is "neither".',
                _deciding(decide),
            )
            for decide in (
                lambda a, b, low, high: "second" if low >= 0 else "first" if high <= 0 else NEITHER,
                lambda a, b, low, high: "first" if high <= 0 else "second" if low >= 0 else NEITHER,
                lambda a, b, low, high: "second" if low >= 0 else "first" if high < 0 else NEITHER,
                lambda a, b, low, high: "second" if low > 0 else "first" if high <= 0 else NEITHER,
                lambda a, b, low, high: (
                    NEITHER if low < 0 < high else "second" if high > 0 else "first"
                ),
                lambda a, b, low, high: (
                    NEITHER if low < 0 < high else "first" if low < 0 else "second"
                ),
                lambda a, b, low, high: (
                    NEITHER if low * high < 0 else "second" if low > 0 else "first"
                ),
            )
        ),
        (
            "The interval is right. But it can also lie below 0, and then the first is better.",
            _deciding(lambda a, b, low, high: "second" if low > 0 else "neither"),
        ),
        (
            "The interval is right. But it can also lie above 0, and then the second is better.",
            _deciding(lambda a, b, low, high: "first" if high < 0 else "neither"),
        ),
        (
            "The interval of the difference is right, but you decide by whether two other "
            "intervals overlap. Ask whether the one of the difference contains 0.",
            lambda first, second, drawn: (
                *_which_is_better(first, second, drawn)[:2],
                _by_overlap(first, second, drawn),
            ),
        ),
        (
            "You draw captions for each model apart, and pay for how hard they are. Both models "
            "are scored on the same captions: the same row of `drawn`.",
            _drawn_apart,
        ),
        (
            "You take quantiles of the captions' differences. Asked for are those of the means, "
            "one mean for each row of `drawn`.",
            _by(lambda d, drawn: _interval(d)),
        ),
        (
            "You take quantiles of all drawn captions. Take the mean of each row first.",
            _by(lambda d, drawn: _interval(d[drawn].flatten())),
        ),
        (
            "Your mean runs over the draws and leaves one number a caption. Take the mean of each "
            "row, dimension 1.",
            _by(lambda d, drawn: _interval(d[drawn].mean(0))),
        ),
        (
            "You use the median of each row; the mean is asked for.",
            _by(lambda d, drawn: _interval(d[drawn].median(1).values)),
        ),
        (
            "You add up each row in place of taking its mean.",
            _by(lambda d, drawn: _interval(d[drawn].sum(1))),
        ),
        (
            "Your interval holds 90 %: you cut off 5 % at either end. Cut off 2.5 %.",
            _by(lambda d, drawn: _interval(d[drawn].mean(1), (0.05, 0.95))),
        ),
        (
            "Your upper end is the quantile 0.95; so that 2.5 % are cut off at either end, it is "
            "0.975.",
            _by(lambda d, drawn: _interval(d[drawn].mean(1), (0.025, 0.95))),
        ),
        (
            "Your interval goes from the smallest to the largest mean; it would grow with the "
            "number of draws. Take the quantiles.",
            _by(lambda d, drawn: _interval(d[drawn].mean(1), (0.0, 1.0))),
        ),
        (
            "The ends of your interval are exchanged, and so you decide by the wrong ones: the low "
            "one comes first.",
            lambda first, second, drawn: (lambda low, high, _: (high, low, _decision(high, low)))(
                *_which_is_better(first, second, drawn)
            ),
        ),
        *(
            (
                "You count on how many captions a model wins. By how much it wins matters too: "
                "take means of the differences.",
                _by(lambda d, drawn, wins=wins: _interval(wins(d)[drawn].mean(1))),
            )
            for wins in (lambda d: d.sign(), lambda d: (d > 0).double())
        ),
        (
            "The interval is right. But you decide by how many captions each model wins. Decide by "
            "the interval.",
            _deciding(_by_wins),
        ),
        (
            "The interval is right. But you decide by how many draws each model wins. Decide by "
            "whether the interval contains 0.",
            _by_draws,
        ),
        (
            "The ends of your interval are exchanged: the low one comes first.",
            lambda first, second, drawn: (lambda low, high, name: (high, low, name))(
                *_which_is_better(first, second, drawn)
            ),
        ),
        (
            "You use 1.96 standard errors from a formula. It comes near, but nothing is drawn: use "
            "`drawn`, which also works for BLEU, where there is no formula.",
            _around(lambda d, drawn: 1.96 * d.std() / len(d) ** 0.5),
        ),
        (
            "You use 1.96 standard deviations of the means. It comes near if their distribution "
            "is a bell, which nobody promised: take the quantiles.",
            _by(
                lambda d, drawn: [
                    d[drawn].mean(1).mean() + sign * 1.96 * d[drawn].mean(1).std()
                    for sign in (-1, 1)
                ]
            ),
        ),
        (
            "You use 1.96 standard deviations of the means. It comes near if their distribution "
            "is a bell, which nobody promised: take the quantiles.",
            _around(lambda d, drawn: 1.96 * d[drawn].mean(1).std()),
        ),
        *(
            (
                "You pick one of the sorted means. A quantile lies between two of them, as "
                "`torch.quantile` computes it.",
                _sorted(take),
            )
            for take in (
                lambda q, n: int(q * n),
                lambda q, n: min(round(q * n), n - 1),
                lambda q, n: int(q * n) - 1,
                lambda q, n: round(q * (n - 1)),
                lambda q, n: int(q * n) - (q > 0.5),
            )
        ),
        *(
            (
                "You subtract quantiles of the two models. Take the difference on each row's "
                "captions first, and its quantiles then.",
                _of_ends(*ends),
            )
            for ends in (((0, 0), (1, 1)), ((0, 1), (1, 0)))
        ),
        (
            "Quantiles are named by shares: 0.025, not 2.5.",
            _percent,
        ),
        (
            "You divide by the root of the number of draws: with more draws your interval would "
            "shrink to nothing. The means spread as much as they spread.",
            _around(lambda d, drawn: 1.96 * d[drawn].mean(1).std() / len(drawn) ** 0.5),
        ),
        (
            "You give the interval of the second model's mean. The difference is asked for.",
            _of_one(1),
        ),
        (
            "You give the interval of the first model's mean. The difference is asked for.",
            _of_one(0),
        ),
    ),
    wrong={
        """\
def which_is_better(first, second, drawn):
    spread = (first - second)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "sign is turned over",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    return low, high, "first" if low > 0 else "second" if high < 0 else "neither"
""": "names are exchanged",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    return low, high, "second" if second.mean() > first.mean() else "first"
""": "decide by the mean",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    if low > 0:
        return low, high, "second"
    return low, high, "first"
""": "by one of its ends",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    a = first[drawn].mean(1).quantile(torch.tensor([0.025, 0.975]))
    b = second[drawn].mean(1).quantile(torch.tensor([0.025, 0.975]))
    return low, high, "second" if b[0] > a[1] else "first" if a[0] > b[1] else "neither"
""": "two other intervals overlap",
        """\
def which_is_better(first, second, drawn):
    d = second - first
    low, high = d.quantile(0.025).item(), d.quantile(0.975).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "quantiles of the captions",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=0)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "runs over the draws",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.05).item(), spread.quantile(0.95).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "holds 90 %",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.min().item(), spread.max().item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "smallest to the largest",
        """\
def which_is_better(first, second, drawn):
    d = second - first
    half = 1.96 * d.std() / len(d) ** 0.5
    low, high = (d.mean() - half).item(), (d.mean() + half).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "from a formula",
        """\
def which_is_better(first, second, drawn):
    m = (second - first)[drawn].mean(dim=1)
    low, high = (m.mean() - 1.96 * m.std()).item(), (m.mean() + 1.96 * m.std()).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "standard deviations of the means",
        """\
def which_is_better(first, second, drawn):
    spread = second[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "second model's mean",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    return spread.quantile(0.025).item(), spread.quantile(0.975).item()
""": "of length 2; 3 is wanted",
        """\
def which_is_better(first, second, drawn):
    from tutor.evaluation import gains
    gains({"second": ["un chat"]}, ["un chat"], ["un chat"], draws=2)
""": "calls `gains`",
        """\
def which_is_better(first, second, drawn):
    m = sorted((second - first)[drawn].mean(1).tolist())
    low, high = m[int(0.025 * len(m))], m[int(0.975 * len(m))]
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "one of the sorted means",
        """\
def which_is_better(first, second, drawn):
    a, b = first[drawn].mean(1), second[drawn].mean(1)
    low = (b.quantile(0.025) - a.quantile(0.975)).item()
    high = (b.quantile(0.975) - a.quantile(0.025)).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "quantiles of the two models",
        """\
def which_is_better(first, second, drawn):
    m = (second - first)[drawn].mean(1)
    low, high = m.quantile(2.5).item(), m.quantile(97.5).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "named by shares",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    return low, high, "second" if low >= 0 else "first" if high <= 0 else "neither"
""": "is exactly 0",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    if low < 0 < high:
        return low, high, "neither"
    return low, high, "second" if high > 0 else "first"
""": "is exactly 0",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    return low, high, "second" if low > 0 else "first" if high <= 0 else "neither"
""": "is exactly 0",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    low, high = high, low
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "decide by the wrong ones",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    won, lost = (second > first).sum(), (second < first).sum()
    return low, high, "second" if won > lost else "first" if lost > won else "neither"
""": "how many captions each",
        """\
def which_is_better(first, second, drawn):
    spread = (second - first)[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    won, lost = (spread > 0).sum(), (spread < 0).sum()
    return low, high, "second" if won > lost else "first" if lost > won else "neither"
""": "how many draws each",
        """\
def which_is_better(first, second, drawn):
    spread = (second > first).float()[drawn].mean(dim=1)
    low, high = spread.quantile(0.025).item(), spread.quantile(0.975).item()
    return low, high, "second" if low > 0 else "first" if high < 0 else "neither"
""": "on how many captions a model wins",
    },
    right=(
        """\
def which_is_better(first, second, drawn):
    a, b = first.numpy(), second.numpy()
    import numpy as np
    spread = [b[row].mean() - a[row].mean() for row in drawn.numpy()]
    low, high = np.percentile(spread, [2.5, 97.5])
    if low <= 0 <= high:
        return low, high, "neither"
    return low, high, "second" if low > 0 else "first"
""",
        """\
def which_is_better(first, second, drawn):
    N = len(first)
    often = torch.zeros(len(drawn), N).scatter_add_(1, drawn, torch.ones(drawn.shape))
    spread = often @ (second - first) / N  # (draws,)
    low, high = spread.quantile(torch.tensor([0.025, 0.975])).tolist()
    return [low, high, {(True, False): "second", (False, True): "first"}.get(
        (low > 0, high < 0), "neither")]
""",
    ),
)
