"""A test of an error rate with sure and possible links."""

import torch

from tutor.check.exercise import TEST, Exercise
from tutor.evaluation.scoring import alignment_error_rate


def _rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & (sure | possible))
    return 1 - hits / (len(predicted) + len(sure))


def _in_float32(predicted, sure, possible):
    hits = torch.tensor([(link in sure) + (link in sure or link in possible) for link in predicted])
    sizes = torch.tensor([len(predicted), len(sure)], dtype=torch.float32)
    return (1 - hits.float().sum() / sizes.sum()).item()


def _by_mistakes(predicted, sure, possible):
    """Counts what is wrong: sure links that are missed, links that are not even possible."""
    wrong = len(sure - predicted) + len(predicted - sure - possible)
    return wrong / (len(predicted) + len(sure))


test_possible = Exercise(
    name="test_possible",
    chapter="09",
    section="What is true?",
    kind=TEST,
    title="Test a rate with sure and possible links",
    goal="Choose links that tell apart rates which agree on the easy cases.",
    difficulty=3,
    importance=3,
    minutes=15,
    text="""\
Two people who link the same sentence disagree about some words. Och and Ney (2003) therefore have
two sorts of true links. A **sure** link has to be found. A **possible** link may be predicted
without harm, but need not be. With A predicted, S sure and P possible links,

$$\\text{AER} = 1 - \\frac{|A \\cap S| + |A \\cap P|}{|A| + |S|}.$$

Every sure link is possible too, whether P repeats it or not. There is at least one sure link; the
other two sets may be empty.

Write the test of a function that computes this rate. It is tried on three right functions, which
round differently, and on eight mutants. Choose the three sets so that each number of the formula
matters, and compute on paper what must come out.""",
    hints=(
        "If P is empty, or repeats S exactly, the rate is that of the chapter, and most mutants "
        "pass. Which sorts of predicted link are there?",
        "Predict one sure link, one possible link and one that is neither, and miss a sure one. "
        "Let all sizes be different. What is the rate if P repeats S, and if it does not? Both "
        "must be the same.",
        "A = {(0, 0), (1, 1), (2, 2)}, S = {(0, 0), (3, 3)} and P = {(1, 1)} give 1 - (1 + 2) / "
        "5. Look at an empty A, too, and at links (i, j) with two different numbers.",
    ),
    stub='''\
def test_possible(rate):
    """Raises AssertionError, or returns False, if rate is wrong.

    rate: a function of three sets, predicted, sure and possible, of links (English, French);
        it returns a number, 0 (right) to 1 (wrong), and rounds as it likes
    """
    raise NotImplementedError
''',
    solution='''\
def test_possible(rate):
    """Raises AssertionError if rate is wrong."""
    predicted, sure, possible = {(0, 0), (1, 2), (3, 1)}, {(0, 0), (3, 4)}, {(1, 2)}
    for P in (possible, possible | sure):  # whether P repeats S or not
        assert abs(rate(predicted, sure, P) - (1 - (1 + 2) / 5)) < 1e-5
    assert abs(rate(set(), sure, possible) - 1) < 1e-5
''',
    because="A link of each sort, and sizes that differ: every part of the formula is seen.",
    twins={
        "counts in sets": _rate,
        "goes through the links and divides in float32": _in_float32,
        "counts mistakes in place of hits": _by_mistakes,
    },
    mutants={
        "ignores possible links, as if they were wrong": lambda A, S, P: (
            1 - 2 * len(A & S) / (len(A) + len(S))
        ),
        "forgets that sure links are possible, where P does not repeat them": lambda A, S, P: (
            1 - (len(A & S) + len(A & P)) / (len(A) + len(S))
        ),
        "counts a sure link twice where P repeats it, and a possible one once": lambda A, S, P: (
            1 - (len(A & S) + len(A & S) + len(A & P)) / (len(A) + len(S))
        ),
        "asks for possible links as if they were sure": lambda A, S, P: (
            1 - 2 * len(A & (S | P)) / (len(A) + len(S | P))
        ),
        "divides by the predicted links alone: on your sets that comes to the same number": (
            lambda A, S, P: len(A - S - P) / len(A) if A else 1.0
        ),
        "looks at missed sure links alone: on your sets that comes to the same number": (
            lambda A, S, P: len(S - A) / len(S)
        ),
        "says 0 if nothing is predicted": lambda A, S, P: _rate(A, S, P) if A else 0.0,
        "reads possible links as (French, English)": lambda A, S, P: _rate(
            A, S, {(j, i) for i, j in P}
        ),
    },
    forbidden=(alignment_error_rate,),
    wrong={
        """\
def test_possible(rate):
    A, S = {(0, 0), (1, 2)}, {(0, 0), (2, 1), (3, 3)}
    assert abs(rate(A, S, set()) - (1 - 2 / 5)) < 1e-5
""": "ignores possible links",
        """\
def test_possible(rate):
    A, S, P = {(0, 0), (1, 2), (3, 1)}, {(0, 0), (3, 4)}, {(1, 2), (0, 0), (3, 4)}
    assert abs(rate(A, S, P) - 0.4) < 1e-5
    assert abs(rate(set(), S, P) - 1) < 1e-5
""": "P does not repeat them",
        """\
def test_possible(rate):
    A, S, P = {(0, 0), (1, 2), (3, 1)}, {(0, 0), (3, 4)}, {(1, 2)}
    assert abs(rate(A, S, P) - 0.4) < 1e-5
    assert abs(rate(set(), S, P) - 1) < 1e-5
""": "where P repeats it",
        """\
def test_possible(rate):
    A, S, P = {(0, 0), (1, 2), (3, 1)}, {(0, 0), (3, 4)}, {(1, 2)}
    assert abs(rate(A, S, P) - 0.4) < 1e-5 and abs(rate(A, S, P | S) - 0.4) < 1e-5
""": "says 0 if nothing is predicted",
        """\
def test_possible(rate):
    A, S, P = {(0, 0), (1, 1), (2, 2)}, {(0, 0), (3, 3)}, {(1, 1)}
    assert abs(rate(A, S, P) - 0.4) < 1e-5 and abs(rate(A, S, P | S) - 0.4) < 1e-5
    assert abs(rate(set(), S, P) - 1) < 1e-5
""": "reads possible links as (French, English)",
        """\
def test_possible(rate):
    A, S, P = {(0, 0), (1, 2), (3, 1)}, {(0, 0), (3, 4)}, {(1, 2)}
    assert rate(A, S, P) == 1 - 3 / 5 and rate(A, S, P | S) == 1 - 3 / 5
    assert rate(set(), S, P) == 1
""": "fails a right function",
        """\
def test_possible(rate):
    A, S, P = {(0, 0), (1, 2), (3, 1)}, {(0, 0), (3, 4)}, {(1, 2)}
    assert abs(rate(A, S, P) - (1 - 4 / 6)) < 1e-5
""": "fails what is right",
        """\
def test_possible(rate):
    S = {(0, 0), (1, 2)}
    assert abs(rate(S, S, set())) < 1e-5 and abs(rate(set(), S, S) - 1) < 1e-5
""": "wrong functions pass",
        """\
def test_possible(rate):
    A, S, P = {(0, 0), (1, 2), (3, 1)}, {(0, 0), (3, 4)}, {(1, 2)}
    return round(rate(A, S, P), 3)
""": "returns a float",
        """\
def test_possible(rate):
    for P in ({(1, 2)}, {(1, 2), (0, 0), (3, 4)}):
        assert abs(rate({(0, 0), (1, 2), (4, 4), (5, 5)}, {(0, 0), (3, 4)}, P) - 0.5) < 1e-5
    assert abs(rate(set(), {(0, 0)}, {(2, 1)}) - 1) < 1e-5
""": "on your sets that comes",
    },
    right=(
        """\
def test_possible(rate):
    A, S, P = {(0, 0), (1, 2), (3, 1)}, {(0, 0), (3, 4)}, {(1, 2)}
    assert round(rate(A, S, P), 4) == 0.4 and round(rate(A, S, P | S), 4) == 0.4
    assert round(rate(set(), S, P), 4) == 1
""",
        """\
def test_possible(rate):
    def wanted(A, S, P):
        P = P | S
        return 1 - (len(A & S) + len(A & P)) / (len(A) + len(S))

    links = [(i, j) for i in range(3) for j in range(3)]
    for _ in range(30):
        A, S, P = ({link for link in links if torch.rand(()) < 0.5} for _ in range(3))
        S = S | {(0, 2)}
        assert math.isclose(rate(A, S, P), wanted(A, S, P), abs_tol=1e-5)
    assert math.isclose(rate(set(), {(0, 2)}, set()), 1, abs_tol=1e-5)
""",
        """\
def test_possible(rate):
    near = lambda value, wanted: abs(float(value) - wanted) < 1e-4
    return (
        near(rate({(0, 1)}, {(2, 1)}, {(0, 1)}), 0.5)
        and near(rate({(0, 1)}, {(0, 1)}, set()), 0)
        and near(rate({(0, 1)}, {(0, 1)}, {(0, 1)}), 0)
        and near(rate({(0, 1), (1, 1)}, {(0, 1)}, set()), 1 / 3)
        and near(rate(set(), {(0, 1)}, set()), 1)
    )
""",
    ),
)
