"""How far predicted links are from the true ones."""

import torch

from tutor.check.exercise import WRITE, Exercise
from tutor.evaluation.alignment import error_rates
from tutor.evaluation.scoring import alignment_error_rate


def _from_counts(rate):
    return lambda predicted, true: rate(len(predicted & true), len(predicted), len(true))


_error_rate = _from_counts(lambda hits, guesses, truths: 1 - 2 * hits / (guesses + truths))


def _cases():
    true = {(0, 0), (1, 2), (2, 1)}
    yield {(0, 0), (1, 1)}, true
    yield {(0, 0), (1, 1), (2, 2), (1, 2)}, true
    yield true, true
    yield set(), true
    yield {(i, j) for i in range(3) for j in range(3)}, true
    for sizes in ((4, 6), (6, 4), (9, 9)):
        first, second = (set(map(tuple, torch.randint(4, (n, 2)).tolist())) for n in sizes)
        yield first, second


error_rate = Exercise(
    name="error_rate",
    chapter="09",
    section="What is true?",
    kind=WRITE,
    title="The alignment error rate",
    goal="Turn two sets of links into one number.",
    difficulty=1,
    importance=4,
    minutes=5,
    text="""\
Two sets of links: the predicted and the true ones. Return one minus twice the number of links that
are in both, divided by the sum of both sizes. There is always at least one true link.""",
    hints=(
        "Three sizes are needed: of both sets, and of what they share.",
        "`predicted & true` is the set of the links that are in both, and `len` counts it.",
        "`1 - 2 * len(predicted & true) / ...`: below the line stands the sum of both sizes.",
    ),
    stub='''\
def error_rate(predicted, true):
    """Two sets of links, each a tuple (English, French). Returns a number, 0 (right) to 1."""
    ...  # one line
''',
    solution="""\
def error_rate(predicted, true):
    return 1 - 2 * len(predicted & true) / (len(predicted) + len(true))
""",
    reference=_error_rate,
    cases=_cases,
    forbidden=(alignment_error_rate, error_rates),
    mistakes=(
        (
            "That is the agreement, which is 1 when all is right. The error rate is 1 minus it.",
            _from_counts(lambda hits, guesses, truths: 2 * hits / (guesses + truths)),
        ),
        (
            "The 2 above the line is missing: even perfect links would have a rate of 1/2.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / (guesses + truths)),
        ),
        (
            "You divide by the predicted links alone, so that a link which was not found costs "
            "nothing.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / guesses if guesses else 1.0),
        ),
        (
            "You divide by the predicted links alone: a link which was not found costs nothing, "
            "and without any predicted link you divide by 0.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / guesses),
        ),
        (
            "You divide by the true links alone, so that linking each word with each gets a rate "
            "of 0.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / truths),
        ),
        (
            "You divide by the links that are in at least one of the sets. Below the line stands "
            "the sum of both sizes.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / (guesses + truths - hits)),
        ),
        (
            "Your rate is in percent; it goes from 0 to 1.",
            _from_counts(lambda hits, guesses, truths: 100 - 200 * hits / (guesses + truths)),
        ),
    ),
    wrong={
        """\
def error_rate(predicted, true):
    return 2 * len(predicted & true) / (len(predicted) + len(true))
""": "1 minus it",
        """\
def error_rate(predicted, true):
    hits = sum(link in true for link in predicted)
    return 1 - hits / (len(predicted) + len(true))
""": "2 above the line",
        """\
def error_rate(predicted, true):
    return len(predicted - true) / len(predicted) if predicted else 1.0
""": "predicted links alone",
        """\
def error_rate(predicted, true):
    return len(true - predicted) / len(true)
""": "true links alone",
        """\
def error_rate(predicted, true):
    return 1 - len(predicted & true) / len(predicted | true)
""": "at least one",
        """\
def error_rate(predicted, true):
    return 100 * (1 - 2 * len(predicted & true) / (len(predicted) + len(true)))
""": "in percent",
        """\
def error_rate(predicted, true):
    from tutor.evaluation.scoring import alignment_error_rate
    return alignment_error_rate(predicted, true)
""": "calls `alignment_error_rate`",
        """\
def error_rate(predicted, true):
    return 1 - len(predicted & true) / len(predicted)
""": "you divide by 0",
    },
    right=(
        """\
def error_rate(predicted, true):
    return len(predicted ^ true) / (len(predicted) + len(true))
""",
        """\
def error_rate(predicted, true):
    hits = sum(link in true for link in predicted)
    return 1 - torch.tensor(2 * hits) / (len(predicted) + len(true))
""",
    ),
)
