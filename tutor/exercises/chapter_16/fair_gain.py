"""A gain at whose learning rate?"""

from unittest.mock import ANY

import torch

from tutor.check.exercise import WRITE, Exercise

# From tutor/models/since_2017: the first two rungs of its ladder.
NATS = """\
# Nats a caption of two models; a row is a learning rate (0.01, 0.03), a column a seed.
# With one seed, both read the same captions in the same order.
NATS = {
    "2017": torch.tensor([[22.57, 22.66, 22.42], [27.44, 27.02, 27.31]]),
    "norm first": torch.tensor([[22.70, 22.81, 22.66], [23.22, 23.77, 23.14]]),
}
"""


def _best(nats):
    return nats.mean(dim=1).argmin()


def _each_its_own(old, new):
    return old[_best(old)], new[_best(new)]


def _paired(d, t):
    return t * d.std() / len(d) ** 0.5


def _gain(chosen=_each_its_own, half=None, finish=lambda mean, half: (mean, half)):
    """The answer with another choice of rows, or another interval.

    chosen: from both tables to one number a seed of each; half: from these two and t.
    """
    half = half or (lambda a, b, t: _paired(a - b, t))

    def answer(old, new, t):
        a, b = chosen(old.double(), new.double())
        return tuple(float(x) for x in finish((a - b).mean(), half(a, b, t)))

    return answer


def _at(choose):
    """Both arms at one rate."""

    def chosen(old, new):
        row = choose(old, new)
        return old[row], new[row]

    return chosen


def _table(rates, seeds, best):
    """Losses whose means are lowest at the rate `best`; a hard seed is hard at every rate."""
    noise = torch.randn(rates, seeds)
    noise = noise - noise.mean(dim=1, keepdim=True)
    far = (torch.arange(rates) - best).abs()[:, None]
    tilt = 0.1 * torch.arange(rates)[:, None]  # no two means are equal
    return 20 + 0.7 * far + tilt + noise + torch.rand(1)


def _cases_of_tables():
    for rates, seeds, old, new, t in [
        (2, 2, 0, 1, 12.706), (3, 3, 2, 1, 4.303), (3, 4, 0, 2, 3.182), (4, 5, 3, 1, 2.776),
    ]:  # fmt: skip
        hard = 2 * torch.randn(seeds)
        yield _table(rates, seeds, old) + hard, _table(rates, seeds, new) + hard, t
    shown = {"torch": torch}
    exec(NATS, shown)
    yield shown["NATS"]["2017"], shown["NATS"]["norm first"], 4.303


_ONE_RATE = (
    "You compare both at one learning rate, and it suits one of them. Each table has a best row of "
    "its own."
)
_ONE_ROW = "You always take the same row. The best one is found by the means over the seeds."

fair_gain = Exercise(
    name="fair_gain",
    chapter="16",
    section="Measured, not told",
    kind=WRITE,
    title="A gain at whose learning rate?",
    goal="Compare two models so that neither is helped by its settings.",
    difficulty=3,
    importance=5,
    minutes=8,
    text="""\
The next cell holds real losses of this project, the first two rungs of the chapter's ladder. A
friend trained at 0.03 and reports: *norm first gains 3.9 nats.* Is the gain norm first's, or the
learning rate's?

Give each model the rate at which **its own** mean over the seeds is lowest. Then compare: one
difference a seed, old less new, since with one seed both read the same captions. Return the mean of
the differences, and half the width of its interval: `t` times their standard deviation (as
`torch.std` computes it), divided by the root of the number of seeds.

Then run it on the cell, with `t = 4.303`: what is left of the 3.9 nats?""",
    hints=(
        "`old.mean(dim=1)` is one number a rate. Which row of `old` is best, and which of `new`?",
        "The two best rows may be different ones. Subtract them, seed by seed.",
        "`d = old[old.mean(dim=1).argmin()] - new[new.mean(dim=1).argmin()]`; then `d.mean()` and "
        "`t * d.std() / len(d) ** 0.5`.",
    ),
    setup=NATS,
    stub='''\
def fair_gain(old, new, t):
    """How many nats the new model gains, each at its own best rate, with half an interval.

    old, new: float tensors (rates, seeds), nats, low is good; t: float, Student's factor
    Returns two floats
    """
    raise NotImplementedError
''',
    solution='''\
def fair_gain(old, new, t):
    """How many nats the new model gains, each at its own best rate, with half an interval.

    old, new: float tensors (rates, seeds), nats, low is good; t: float, Student's factor
    Returns two floats
    """
    a, b = (nats[nats.mean(dim=1).argmin()] for nats in (old, new))  # (seeds,) each
    d = a - b  # (seeds,)
    return d.mean().item(), t * d.std().item() / math.sqrt(len(d))
''',
    because="On the cell it is -0.17, give or take 0.15: with 50 steps of warm-up, nothing is "
    "left of the 3.9 nats. What norm first buys here is a wider choice of rates.",
    reference=_gain(),
    cases=_cases_of_tables,
    tolerance=2e-3,
    mistakes=(
        ("The sign is turned: old less new, so that a gain is positive.",
         _gain(finish=lambda mean, half: (-mean, half))),
        (_ONE_RATE, _gain(_at(lambda old, new: _best(new)))),
        (_ONE_RATE, _gain(_at(lambda old, new: _best(old)))),
        (_ONE_RATE, _gain(_at(lambda old, new: _best(old + new)))),
        (_ONE_RATE, _gain(_at(lambda old, new: (old - new).mean(dim=1).argmax()))),
        (_ONE_ROW, _gain(_at(lambda old, new: 0))),
        (_ONE_ROW, _gain(_at(lambda old, new: -1))),
        (_ONE_ROW, _gain(_at(lambda old, new: 1))),
        (
            "Every seed gets a best rate of its own. A model gets one rate, by its mean over the "
            "seeds, or luck is counted as skill.",
            _gain(lambda old, new: (old.amin(dim=0), new.amin(dim=0))),
        ),
        (
            "You take the rate with the luckiest single seed. The mean over the seeds decides.",
            _gain(lambda old, new: (old[old.amin(dim=1).argmin()], new[new.amin(dim=1).argmin()])),
        ),
        (
            "You take the rates with the highest means. Nats are losses: low is good.",
            _gain(lambda old, new: (old[old.mean(dim=1).argmax()], new[new.mean(dim=1).argmax()])),
        ),
        *(
            (
                "Your means go over the rates. A row is a rate: the mean over the seeds, dimension "
                "1, finds the best one.",
                _gain(chosen),
            )
            for chosen in (
                lambda old, new: (
                    old[:, old.mean(dim=0).argmin()], new[:, new.mean(dim=0).argmin()]
                ),
                lambda old, new: (old[old.mean(dim=0).argmin()], new[new.mean(dim=0).argmin()]),
            )
        ),
        (
            "You choose the rates by the median over the seeds; the mean is asked for.",
            _gain(lambda old, new: tuple(x[x.median(dim=1).values.argmin()] for x in (old, new))),
        ),
        (
            "You compare one lucky run with another. The mean over the seeds decides.",
            lambda old, new, t: ((old.min() - new.min()).item(), ANY),
        ),
        (
            "You subtract every seed from every seed. With one seed both read the same captions: "
            "one difference a seed.",
            _gain(half=lambda a, b, t: _paired((a[:, None] - b).flatten(), t)),
        ),
        (
            "You take the mean over all rates. Nobody would use the bad ones: choose the best.",
            _gain(lambda old, new: (old.mean(dim=0), new.mean(dim=0))),
        ),
        (
            "You treat the two models' seeds as unrelated. Take the differences first, then their "
            "standard deviation.",
            _gain(half=lambda a, b, t: t * ((a.var() + b.var()) / len(a)).sqrt()),
        ),
        (
            "You add up two intervals. Take the differences first, then their standard deviation.",
            _gain(half=lambda a, b, t: _paired(a, t) + _paired(b, t)),
        ),
        (
            "The root is missing: a mean over seeds varies less than one seed.",
            _gain(half=lambda a, b, t: t * (a - b).std()),
        ),
        (
            "You divide by the number of seeds; its root is wanted.",
            _gain(half=lambda a, b, t: t * (a - b).std() / len(a)),
        ),
        (
            "You divide by the root of n - 1. `torch.std` has taken care of that already.",
            _gain(half=lambda a, b, t: t * (a - b).std() / (len(a) - 1) ** 0.5),
        ),
        (
            "Your standard deviation divides by n, as NumPy's does. `torch.std` divides by n - 1.",
            _gain(half=lambda a, b, t: t * (a - b).std(correction=0) / len(a) ** 0.5),
        ),
        ("`t` is missing.", _gain(half=lambda a, b, t: _paired(a - b, 1))),
        (
            "1.96 is for many seeds. With few, the factor is `t`.",
            _gain(half=lambda a, b, t: _paired(a - b, 1.96)),
        ),
        (
            "You took the variance. The standard deviation is its root.",
            _gain(half=lambda a, b, t: t * (a - b).var() / len(a) ** 0.5),
        ),
        ("You return the whole width; half of it is asked for.",
         _gain(half=lambda a, b, t: 2 * _paired(a - b, t))),
        (
            "You return the ends of the interval. The mean comes first, half the width second.",
            _gain(finish=lambda mean, half: (mean - half, mean + half)),
        ),
        (
            "You take the absolute value. The sign says who gains.",
            _gain(finish=lambda mean, half: (abs(mean), half)),
        ),
    ),
    wrong={
        """\
def fair_gain(old, new, t):
    d = old[-1] - new[-1]
    return d.mean().item(), t * d.std().item() / len(d) ** 0.5
""": "always take the same row",
        """\
def fair_gain(old, new, t):
    best = new.mean(dim=1).argmin()
    d = old[best] - new[best]
    return d.mean().item(), t * d.std().item() / len(d) ** 0.5
""": "at one learning rate",
        """\
def fair_gain(old, new, t):
    best = (old - new).mean(1).argmax()
    d = old[best] - new[best]
    return d.mean().item(), t * d.std().item() / len(d) ** 0.5
""": "at one learning rate",
        """\
def fair_gain(old, new, t):
    d = old.min(dim=0).values - new.min(dim=0).values
    return d.mean().item(), t * d.std().item() / len(d) ** 0.5
""": "luck is counted",
        """\
def fair_gain(old, new, t):
    a, b = old[old.mean(dim=1).argmax()], new[new.mean(dim=1).argmax()]
    d = a - b
    return d.mean().item(), t * d.std().item() / len(d) ** 0.5
""": "low is good",
        """\
def fair_gain(old, new, t):
    a, b = old[old.mean(dim=1).argmin()], new[new.mean(dim=1).argmin()]
    d = b - a
    return d.mean().item(), t * d.std().item() / len(d) ** 0.5
""": "sign is turned",
        """\
def fair_gain(old, new, t):
    a, b = old[old.mean(dim=1).argmin()], new[new.mean(dim=1).argmin()]
    half = t * (a.var() / len(a) + b.var() / len(b)) ** 0.5
    return (a.mean() - b.mean()).item(), half.item()
""": "seeds as unrelated",
        """\
def fair_gain(old, new, t):
    a, b = old[old.mean(dim=1).argmin()], new[new.mean(dim=1).argmin()]
    return (a - b).mean().item(), t * (a - b).std().item()
""": "root is missing",
        """\
def fair_gain(old, new, t):
    a, b = old[old.mean(dim=1).argmin()], new[new.mean(dim=1).argmin()]
    d = (a - b).numpy()
    return float(d.mean()), t * float(d.std()) / len(d) ** 0.5
""": "NumPy's",
        """\
def fair_gain(old, new, t):
    d = (old - new).mean(dim=0)
    return d.mean().item(), t * d.std().item() / len(d) ** 0.5
""": "over all rates",
        """\
def fair_gain(old, new, t):
    a, b = old[old.mean(dim=1).argmin()], new[new.mean(dim=1).argmin()]
    d = a - b
    half = t * d.std().item() / len(d) ** 0.5
    return d.mean().item() - half, d.mean().item() + half
""": "ends of the interval",
        """\
def fair_gain(old, new, t):
    a, b = old[old.mean(dim=1).argmin()], new[new.mean(dim=1).argmin()]
    d = a - b
    return d.mean().item(), 1.96 * d.std().item() / len(d) ** 0.5
""": "the factor is `t`",
    },
    right=(
        """\
def fair_gain(old, new, t):
    old, new = old.tolist(), new.tolist()
    a, b = min(old, key=sum), min(new, key=sum)
    d = [x - y for x, y in zip(a, b)]
    mean = sum(d) / len(d)
    spread = (sum((x - mean) ** 2 for x in d) / (len(d) - 1)) ** 0.5
    return mean, t * spread / len(d) ** 0.5
""",
        """\
def fair_gain(old, new, t):
    a = old[old.sum(1).sort().indices[0]].double()
    b = new[new.sum(1).sort().indices[0]].double()
    return (a - b).mean(), t * torch.sqrt((a - b).var() / len(a))
""",
    ),
)  # fmt: skip
