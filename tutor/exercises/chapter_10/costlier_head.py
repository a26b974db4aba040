"""Is one head costlier than another?"""

import math

import torch

from tutor.check.exercise import WRITE, Exercise

Z = 1.96


def _difference(whole, without_a, without_b):
    """From the counts of the sentences on which the two disagree."""
    a_lost = (without_b & ~without_a).sum().item()  # right without b, wrong without a
    b_lost = (without_a & ~without_b).sum().item()
    N = len(whole)
    mean = (a_lost - b_lost) / N
    square = ((a_lost + b_lost) / N - mean**2) * N / (N - 1)
    return 100 * mean, 100 * Z * math.sqrt(square / N)


def _of(differences, width=None):
    """Mean and half width in percent, from one number a sentence."""
    d = differences.double()
    half = 100 * Z * d.std() / len(d) ** 0.5 if width is None else width(d)
    return 100 * d.mean().item(), float(half)


def _unpaired(whole, without_a, without_b):
    mean, _ = _of(without_b.double() - without_a.double())
    variance = sum((whole.double() - x.double()).var() / len(whole) for x in (without_a, without_b))
    return mean, 100 * Z * float(variance) ** 0.5


def _of_right_ones(whole, without_a, without_b):
    return _of(_d(whole, without_a, without_b)[whole])


def _by_formula(p_of):
    """The root of p (1 - p) / N, with shares p that a function names."""

    def answer(*given):
        mean, _ = _difference(*given)
        shares = [p.double().mean() for p in p_of(*given)]
        return mean, 100 * Z * float(sum(p * (1 - p) for p in shares) / len(given[0])) ** 0.5

    return answer


def _cases_of_counts():
    for N, p, q in [(8, 0.4, 0.2), (50, 0.3, 0.1), (500, 0.2, 0.15), (500, 0.03, 0.25)]:
        whole = torch.rand(N) > 0.2
        a, b = (torch.where(whole, torch.rand(N) > x, torch.rand(N) > 0.7) for x in (p, q))
        yield whole, a, b  # some sentences are right only without a head


def _d(whole, without_a, without_b):
    return without_b.double() - without_a.double()


costlier_head = Exercise(
    name="costlier_head",
    chapter="10",
    section="Two heads, three seeds",
    kind=WRITE,
    title="Is one head costlier than another?",
    goal="Compare two costs on the same sentences, with an interval.",
    difficulty=3,
    importance=4,
    minutes=7,
    text="""\
The intervals of two heads overlap. Does that mean that their costs may be equal? Not yet: both were
measured on the *same* sentences, and a hard sentence is hard for both. So look at the difference
sentence by sentence.

`whole`, `without_a` and `without_b` say which sentences are right with all heads, without head a,
and without head b. Return two numbers. The first is the cost of a less the cost of b, in sentences
lost of 100. The second is half the width of its interval: 1.96 times the standard deviation of the
differences (as `torch.std` computes it), divided by the root of $N$.""",
    hints=(
        "Write down both costs of one sentence and subtract. Which of the three tensors falls out?",
        "One number a sentence: 1 if it is right without b alone, -1 if it is right without a "
        "alone, otherwise 0. Booleans must become floats before they are subtracted.",
        "`d = 100 * (without_b.double() - without_a.double())`; return `d.mean().item()` and "
        "`1.96 * d.std().item() / len(d) ** 0.5`.",
    ),
    stub='''\
def costlier_head(whole, without_a, without_b):
    """By how much head a costs more than head b, with half the width of an interval.

    whole, without_a, without_b: boolean tensors (N), which sentences are right
    Returns two floats, in sentences of 100
    """
    raise NotImplementedError
''',
    solution='''\
def costlier_head(whole, without_a, without_b):
    """By how much head a costs more than head b, with half the width of an interval.

    whole, without_a, without_b: boolean tensors (N), which sentences are right
    Returns two floats, in sentences of 100
    """
    d = 100 * (without_b.double() - without_a.double())  # (N,); `whole` falls out
    return d.mean().item(), 1.96 * d.std().item() / len(d) ** 0.5
''',
    because="Pairing leaves out what both heads share, so its interval is often the narrower one.",
    reference=_difference,
    cases=_cases_of_counts,
    tolerance=1e-3,
    mistakes=(
        (
            "The sign is turned: without the costlier head fewer sentences are right.",
            lambda *given: (lambda m, h: (-m, h))(*_of(_d(*given))),
        ),
        (
            "Your interval treats the two costs as if they came from different sentences. Take the "
            "difference first, then its standard deviation.",
            _unpaired,
        ),
        (
            "The root of N is missing: a mean of N sentences varies less than one sentence.",
            lambda *given: _of(_d(*given), lambda d: 100 * Z * d.std()),
        ),
        (
            "You divide by N; the standard deviation of a mean shrinks with the root of N.",
            lambda *given: _of(_d(*given), lambda d: 100 * Z * d.std() / len(d)),
        ),
        (
            "You return the standard error; half the interval is 1.96 of them.",
            lambda *given: _of(_d(*given), lambda d: 100 * d.std() / len(d) ** 0.5),
        ),
        (
            "You take 2.77 standard errors, the chapter's factor for nine intervals that hold "
            "together. This is one interval: take 1.96.",
            lambda *given: _of(_d(*given), lambda d: 277 * d.std() / len(d) ** 0.5),
        ),
        (
            "Your numbers are shares, and 2.77 is the chapter's factor for nine intervals. Asked "
            "for are sentences of 100, and 1.96.",
            lambda *given: tuple(
                x / 100 for x in _of(_d(*given), lambda d: 277 * d.std() / len(d) ** 0.5)
            ),
        ),
        (
            "Your standard deviation divides by N, as NumPy's does. `torch.std` divides by N - 1.",
            lambda *given: _of(_d(*given), lambda d: 196 * d.std(correction=0) / len(d) ** 0.5),
        ),
        (
            "You return the ends of the interval. The mean comes first, and half the width second.",
            lambda *given: (lambda m, half: (m - half, m + half))(*_difference(*given)),
        ),
        (
            "You add up the two heads' intervals. Take the difference first, then its standard "
            "deviation.",
            lambda whole, a, b: (
                _difference(whole, a, b)[0],
                sum(_of(whole.double() - x.double())[1] for x in (a, b)),
            ),
        ),
        (
            "Booleans cannot be subtracted. Make floats of them first: `.double()`.",
            lambda whole, a, b: b - a,
        ),
        (
            "You return the whole width; half of it is asked for.",
            lambda *given: _of(_d(*given), lambda d: 200 * Z * d.std() / len(d) ** 0.5),
        ),
        (
            "Your numbers are shares; asked for are sentences of 100.",
            lambda *given: tuple(x / 100 for x in _difference(*given)),
        ),
        (
            "You count sentences that are lost, not those that are gained: some come out right "
            "only without the head.",
            lambda whole, a, b: _of((whole & ~a).double() - (whole & ~b).double()),
        ),
        (
            "You look at the sentences alone that are right with all heads. All sentences count: "
            "some come out right only without a head.",
            _of_right_ones,
        ),
        (
            "You take absolute values of the differences: then a head that rescues sentences "
            "counts like one that loses them.",
            lambda *given: _of(_d(*given).abs()),
        ),
        (
            "You take the absolute value. The sign says which head costs more: leave it.",
            lambda *given: (lambda mean, half: (abs(mean), half))(*_difference(*given)),
        ),
        *(
            (
                "You use the formula for a share, the root of p (1 - p) / N. A difference can be "
                "-1, 0 or 1: take its own standard deviation.",
                _by_formula(p_of),
            )
            for p_of in (
                lambda whole, a, b: [(a != b)],
                lambda whole, a, b: [(a.double() - b.double()).mean().abs()],
            )
        ),
        (
            "You use the formula for two shares of different sentences, and add up p (1 - p) / N. "
            "Both heads were measured on the same: take the standard deviation of the differences.",
            _by_formula(lambda whole, a, b: [a, b]),
        ),
        (
            "You use the formula for two shares of different sentences, and add up p (1 - p) / N. "
            "Both heads were measured on the same: take the standard deviation of the differences.",
            _by_formula(lambda whole, a, b: [whole & ~a, whole & ~b]),
        ),
        (
            "You return the cost of head a alone.",
            lambda whole, a, b: _of(whole.double() - a.double()),
        ),
        (
            "You took the variance; the interval needs its root, the standard deviation.",
            lambda *given: _of(_d(*given), lambda d: 100 * Z * d.var() / len(d) ** 0.5),
        ),
    ),
    wrong={
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (without_a.double() - without_b.double())
    return d.mean().item(), 1.96 * d.std().item() / len(d) ** 0.5
""": "sign is turned",
        """\
def costlier_head(whole, without_a, without_b):
    a = 100 * (whole.double() - without_a.double())
    b = 100 * (whole.double() - without_b.double())
    half = 1.96 * ((a.var() + b.var()) / len(a)).sqrt()
    return (a.mean() - b.mean()).item(), half.item()
""": "Take the difference first",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (without_b.double() - without_a.double())
    return d.mean().item(), 1.96 * d.std().item()
""": "root of N is missing",
        """\
def costlier_head(whole, without_a, without_b):
    d = without_b.double() - without_a.double()
    return d.mean().item(), 1.96 * d.std().item() / len(d) ** 0.5
""": "sentences of 100",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (whole.double() - without_a.double())
    return d.mean().item(), 1.96 * d.std().item() / len(d) ** 0.5
""": "head a alone",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * ((whole & ~without_a).double() - (whole & ~without_b).double())
    return d.mean().item(), 1.96 * d.std().item() / len(d) ** 0.5
""": "not those that are gained",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (without_b.double() - without_a.double())
    return d.mean().item(), 2.77 * d.std().item() / len(d) ** 0.5
""": "the chapter's factor for nine",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (without_b.double() - without_a.double())
    return d.mean().item(), 2 * 1.96 * d.std().item() / len(d) ** 0.5
""": "the whole width",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (without_b - without_a)
    return d.mean().item(), 1.96 * d.std().item() / len(d) ** 0.5
""": "Booleans cannot be subtracted",
        """\
def costlier_head(whole, without_a, without_b):
    import numpy as np
    d = 100 * (without_b.numpy().astype(float) - without_a.numpy().astype(float))
    return d.mean(), 1.96 * np.std(d) / len(d) ** 0.5
""": "divides by N, as NumPy's does",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (without_b.double() - without_a.double())
    half = 1.96 * d.std().item() / len(d) ** 0.5
    return d.mean().item() - half, d.mean().item() + half
""": "ends of the interval",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (without_b[whole].double() - without_a[whole].double())
    return d.mean().item(), 1.96 * d.std().item() / len(d) ** 0.5
""": "right with all heads",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (without_b.double() - without_a.double()).abs()
    return d.mean().item(), 1.96 * d.std().item() / len(d) ** 0.5
""": "absolute values of the differences",
        """\
def costlier_head(whole, without_a, without_b):
    d = 100 * (without_b.double() - without_a.double())
    return abs(d.mean().item()), 1.96 * d.std().item() / len(d) ** 0.5
""": "The sign says",
        """\
def costlier_head(whole, without_a, without_b):
    N = len(whole)
    p = (without_a != without_b).double().mean().item()
    d = without_b.double().mean().item() - without_a.double().mean().item()
    return 100 * d, 196 * (p * (1 - p) / N) ** 0.5
""": "formula for a share",
        """\
def costlier_head(whole, without_a, without_b):
    N = len(whole)
    a, b = without_a.double().mean().item(), without_b.double().mean().item()
    return 100 * (b - a), 196 * ((a * (1 - a) + b * (1 - b)) / N) ** 0.5
""": "formula for two shares",
    },
    right=(
        """\
def costlier_head(whole, without_a, without_b):
    a = 100 * (whole.float() - without_a.float())
    b = 100 * (whole.float() - without_b.float())
    return (a - b).mean().item(), 1.96 * (a - b).std().item() / math.sqrt(len(a))
""",
        """\
def costlier_head(whole, without_a, without_b):
    d = [100 * (int(b) - int(a)) for a, b in zip(without_a, without_b)]
    mean = sum(d) / len(d)
    spread = (sum((x - mean) ** 2 for x in d) / (len(d) - 1)) ** 0.5
    return mean, 1.96 * spread / len(d) ** 0.5
""",
    ),
)
