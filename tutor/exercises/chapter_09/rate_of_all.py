"""One error rate for many sentences."""

import torch

from tutor.check.exercise import WRITE, Exercise
from tutor.evaluation.alignment import error_rates
from tutor.evaluation.scoring import alignment_error_rate


def _rate_of_all(predicted, sure):
    predicted, sure = (
        {(n, *link) for n, links in enumerate(side) for link in links} for side in (predicted, sure)
    )
    return alignment_error_rate(predicted, sure)


def _counts(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure, strict=True))
    return hits, sum(map(len, predicted)), sum(map(len, sure))


def _from_counts(rate, without=1.0):
    """A rate from the numbers of hits, of predicted and of true links."""

    def of_all(predicted, sure):
        hits, guesses, truths = _counts(predicted, sure)
        return rate(hits, guesses, truths) if guesses else without

    return of_all


def _of_predicted(predicted, sure):
    hits, guesses, _ = _counts(predicted, sure)
    return 1 - hits / guesses


def _by_harmony(predicted, sure):
    hits, guesses, truths = _counts(predicted, sure)
    precision, recall = hits / guesses, hits / truths
    return 1 - 2 * precision * recall / (precision + recall)


def _mean_rate(predicted, sure):
    rates = [1 - 2 * len(p & s) / (len(p) + len(s)) for p, s in zip(predicted, sure, strict=True)]
    return sum(rates) / len(rates)


def _joined(predicted, sure):
    return _mean_rate([set().union(*predicted)], [set().union(*sure)])


def _cases_of_links():
    yield [{(0, 0), (1, 1)}], [{(0, 0), (1, 1), (2, 1)}]
    yield [{(0, 0), (1, 1), (2, 2)}], [{(0, 0), (1, 2), (2, 1)}]
    yield [{(0, 0)}], [{(0, 0)}]
    yield [set()], [{(0, 0), (1, 1)}]
    yield [{(0, 0), (1, 1)}, {(0, 1)}], [{(0, 0)}, {(0, 1), (1, 0), (1, 1)}]
    four = {(i, i) for i in range(4)}
    yield [{(0, 0)}, four, set()], [{(0, 1)}, {(0, 0), (1, 1)}, {(0, 0)}]
    for _ in range(2):
        yield tuple(
            [set(map(tuple, torch.randint(4, (size, 2)).tolist())) for size in sizes]
            for sizes in ((4, 6, 5), (6, 4, 9))
        )


rate_of_all = Exercise(
    name="rate_of_all",
    chapter="09",
    section="All heads, many sentences",
    kind=WRITE,
    title="One error rate for many sentences",
    goal="Count links over a whole test set and turn the counts into a rate.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
Write the alignment error rate of a test set. A sentence has a set of predicted links and a set of
true ones; a link is a tuple (English, French). As in the chapter, the links of all sentences count
**together**: the rate is not the mean over the sentences. A set may be empty, but there is always
at least one true link.""",
    hints=(
        "Three sums over the sentences are needed: of hits, of predicted and of true links.",
        "`p & s` is the set of what two sets share, and `len` counts it. Link (0, 0) of one "
        "sentence is not link (0, 0) of another, so count sentence by sentence.",
        "`zip(predicted, sure)` yields the two sets of each sentence. With the three sums, the "
        "rate is `1 - 2 * hits / (guesses + truths)`.",
    ),
    stub='''\
def rate_of_all(predicted, sure):
    """Alignment error rate of N sentences.

    predicted: list of N sets of tuples (English, French), the links that a head gives
    sure: list of N sets of such tuples, the true links
    Returns a float, 0 (all right) to 1 (all wrong)
    """
    raise NotImplementedError
''',
    solution='''\
def rate_of_all(predicted, sure):
    """Alignment error rate of N sentences.

    predicted: list of N sets of tuples (English, French), the links that a head gives
    sure: list of N sets of such tuples, the true links
    Returns a float, 0 (all right) to 1 (all wrong)
    """
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    guesses = sum(len(p) for p in predicted)
    truths = sum(len(s) for s in sure)
    return 1 - 2 * hits / (guesses + truths)
''',
    because="Counted together, a long sentence weighs more than a short one.",
    reference=_rate_of_all,
    cases=_cases_of_links,
    forbidden=(alignment_error_rate, error_rates),
    mistakes=(
        (
            "Your rate is the mean of the sentences' rates, in which a short sentence counts as "
            "much as a long one. Add up the links of all sentences first.",
            _mean_rate,
        ),
        (
            "You join the links of all sentences in one set, where (0, 0) of two sentences is one "
            "link. Count sentence by sentence, or put the number of the sentence into each link.",
            _joined,
        ),
        (
            "That is the agreement, which is 1 when all is right. The error rate is 1 minus it.",
            lambda predicted, sure: 1 - _rate_of_all(predicted, sure),
        ),
        (
            "The 2 above the line is missing: even a perfect head would have a rate of 1/2.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / (guesses + truths)),
        ),
        (
            "You divide by the predicted links alone, so that links which were not found cost "
            "nothing.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / guesses),
        ),
        (
            "You divide by the predicted links alone: links which were not found cost nothing, "
            "and without any predicted link you divide by 0.",
            _of_predicted,
        ),
        (
            "You divide by the predicted links alone, so that links which were not found cost "
            "nothing, and a head without any link is perfect.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / guesses, without=0.0),
        ),
        (
            "You go by way of precision and recall, and without any hit you divide by 0. The "
            "chapter's formula needs neither.",
            _by_harmony,
        ),
        (
            "You take the mean of precision and recall. Put the counts into the chapter's formula.",
            _from_counts(lambda hits, guesses, truths: 1 - (hits / guesses + hits / truths) / 2),
        ),
        (
            "You divide by the true links alone, so that a bluffer who links each word with each "
            "gets a rate of 0.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / truths),
        ),
        (
            "You divide by the links that are in at least one of the sets; below the line stands "
            "the sum of both sizes.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / (guesses + truths - hits)),
        ),
        (
            "Your rate is that of the last sentence alone: each turn of the loop begins anew.",
            lambda predicted, sure: _mean_rate(predicted[-1:], sure[-1:]),
        ),
        (
            "Your rate is that of the first sentence alone: the `return` stands inside the loop.",
            lambda predicted, sure: _mean_rate(predicted[:1], sure[:1]),
        ),
        (
            "Your rate is in percent; it goes from 0 to 1.",
            lambda predicted, sure: 100 * _rate_of_all(predicted, sure),
        ),
    ),
    wrong={
        """\
def rate_of_all(predicted, sure):
    total = 0
    for p, s in zip(predicted, sure):
        total += 1 - 2 * len(p.intersection(s)) / (len(p) + len(s))
    return total / len(sure)
""": "mean of the sentences",
        """\
def rate_of_all(predicted, sure):
    A = {link for links in predicted for link in links}
    S = {link for links in sure for link in links}
    return 1 - 2 * len(A & S) / (len(A) + len(S))
""": "in one set",
        """\
def rate_of_all(predicted, sure):
    hits = sum(link in s for p, s in zip(predicted, sure) for link in p)
    return 2 * hits / sum(len(p) + len(s) for p, s in zip(predicted, sure))
""": "1 minus it",
        """\
def rate_of_all(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    both = sum(len(p) + len(s) for p, s in zip(predicted, sure))
    return (both - hits) / both
""": "2 above the line",
        """\
def rate_of_all(predicted, sure):
    wrong = sum(len(p - s) for p, s in zip(predicted, sure))
    return wrong / max(1, sum(map(len, predicted))) if any(predicted) else 1.0
""": "predicted links alone",
        """\
def rate_of_all(predicted, sure):
    missed = sum(len(s - p) for p, s in zip(predicted, sure))
    return missed / sum(len(s) for s in sure)
""": "true links alone",
        """\
def rate_of_all(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    return 1 - hits / sum(len(p | s) for p, s in zip(predicted, sure))
""": "at least one of the sets",
        """\
def rate_of_all(predicted, sure):
    for p, s in zip(predicted, sure):
        hits = len(p & s)
        size = len(p) + len(s)
    return 1 - 2 * hits / size
""": "last sentence alone",
        """\
def rate_of_all(predicted, sure):
    for p, s in zip(predicted, sure):
        return 1 - 2 * len(p & s) / (len(p) + len(s))
""": "inside the loop",
        """\
def rate_of_all(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    size = sum(map(len, predicted)) + sum(map(len, sure))
    return round(100 * (1 - 2 * hits / size), 2)
""": "in percent",
        """\
def rate_of_all(predicted, sure):
    return 1 - 2 * len(predicted & sure) / (len(predicted) + len(sure))
""": "TypeError: unsupported operand",
        """\
def rate_of_all(predicted, sure):
    from tutor.evaluation.scoring import alignment_error_rate
    A = {(n, *link) for n, links in enumerate(predicted) for link in links}
    S = {(n, *link) for n, links in enumerate(sure) for link in links}
    return alignment_error_rate(A, S)
""": "calls `alignment_error_rate`",
        """\
def rate_of_all(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    return 1 - hits / sum(len(p) for p in predicted)
""": "you divide by 0",
        """\
def rate_of_all(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    guesses = sum(map(len, predicted))
    return 1 - hits / guesses if guesses else 0
""": "without any link is perfect",
        """\
def rate_of_all(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    P, R = hits / sum(map(len, predicted)), hits / sum(map(len, sure))
    return 1 - 2 * P * R / (P + R)
""": "precision and recall, and without",
    },
    right=(
        """\
def rate_of_all(predicted, sure):
    A = {(n, *link) for n, links in enumerate(predicted) for link in links}
    S = {(n, *link) for n, links in enumerate(sure) for link in links}
    return 1 - 2 * len(A & S) / (len(A) + len(S))
""",
        """\
def rate_of_all(predicted, sure):
    alone = total = 0
    for p, s in zip(predicted, sure):
        alone += len(p ^ s)
        total += len(p) + len(s)
    return alone / total
""",
        """\
def rate_of_all(predicted, sure):
    hits = torch.tensor([len(p & s) for p, s in zip(predicted, sure)]).sum()
    sizes = torch.tensor([len(p) + len(s) for p, s in zip(predicted, sure)]).sum()
    return 1 - 2 * hits / sizes
""",
    ),
)
