"""Better in each sentence, and worse in all."""

from fractions import Fraction

from tutor.check.exercise import WRITE, Exercise
from tutor.evaluation.alignment import error_rates
from tutor.evaluation.scoring import alignment_error_rate

RIGHT = "lower in each sentence, higher in all"


def _is_links(links):
    return isinstance(links, set | frozenset) and all(
        isinstance(link, tuple) and len(link) == 2 for link in links
    )


def _rate(predicted, sure):
    """Of lists of sets, whose links count together."""
    hits = sum(len(p & s) for p, s in zip(predicted, sure, strict=True))
    return 1 - Fraction(2 * hits, sum(map(len, predicted)) + sum(map(len, sure)))


def _judge(answer):
    """What the three lists of an answer show, in words."""
    lists = answer()
    if not isinstance(lists, list | tuple) or len(lists) != 3:
        return "not three lists"
    if any(not isinstance(sets, list | tuple) for sets in lists):
        return "not three lists"
    if len({len(sets) for sets in lists}) > 1:
        return "lists of different lengths"
    if not all(_is_links(links) for sets in lists for links in sets):
        return "not sets of tuples"
    of_a, of_b, sure = ([set(links) for links in sets] for sets in lists)
    if len(sure) < 2:
        return "fewer than two sentences"
    if not all(sure):
        return "a sentence without a true link"
    gaps = [_rate([a], [s]) - _rate([b], [s]) for a, b, s in zip(of_a, of_b, sure, strict=True)]
    in_all = _rate(of_a, sure) - _rate(of_b, sure)
    if all(gap > 0 for gap in gaps) and in_all < 0:
        return "higher in each sentence, lower in all"
    if any(gap > 0 for gap in gaps):
        return "higher in a sentence"
    if any(gap == 0 for gap in gaps):
        return "equal in a sentence"
    if in_all == 0:
        return "lower in each sentence, equal in all"
    return RIGHT if in_all > 0 else "lower in each sentence, lower in all"


EASY, HARD = {(i, i) for i in range(4)}, {(0, 0)}
ALMOST, MANY = EASY - {(0, 0)}, {(0, j) for j in range(10)}  # three of the four; one hit of ten


def _as(*lists):
    return lambda: lists


better_in_each = Exercise(
    name="better_in_each",
    chapter="09",
    section="All heads, many sentences",
    kind=WRITE,
    title="Better in each sentence, worse in all",
    goal="See what a rate over many sentences weighs, by building a surprise.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
The chapter counts the links of all sentences **together** and makes one rate of them. Two readers
of maps, A and B, may give any number of links to a sentence. A has a lower error rate than B in
*every* sentence. Is its rate lower for all sentences together?

Not always. **Build an example**, as small as you like: two sentences or more, the links that A and
B predict, and the true ones. In each sentence alone the rate of A is lower (not equal), and counted
together it is higher. A sentence has at least one true link, which is the same for both readers;
what they predict may be an empty set. A link is a tuple of two ints, (English, French). Begin on
paper.""",
    hints=(
        "The rate is 1 less twice the hits, divided by predicted and true links. Together, the "
        "numbers above and below the line are added up. Which sentence then weighs much?",
        "The true links are those of both readers. But how many links it *predicts* a reader may "
        "choose. Take an easy sentence and a hard one: where should A predict many?",
        "Easy: four true links; A finds all four, B three of them. Hard: one true link; B predicts "
        "one that is wrong, and A predicts many, of which one is right.",
    ),
    stub='''\
def better_in_each():
    """Two readers: A has the lower rate in each of N sentences, B in all of them together.

    Returns three lists of N sets of tuples: links that A predicts, that B predicts, true ones
    """
    raise NotImplementedError
''',
    solution='''\
def better_in_each():
    """Two readers: A has the lower rate in each of N sentences, B in all of them together.

    Returns three lists of N sets of tuples: links that A predicts, that B predicts, true ones
    """
    easy, hard = {(0, 0), (1, 1), (2, 2), (3, 3)}, {(0, 0)}
    of_a = [easy, {(0, j) for j in range(10)}]  # 0 and 1 - 2/11; together 1 - 10/19
    of_b = [easy - {(0, 0)}, {(1, 1)}]  # 1 - 6/7 and 1; together 1 - 6/9
    return of_a, of_b, [easy, hard]
''',
    because="Every link that a reader predicts adds weight to its sentence. With one link for each "
    "French word all readers weigh alike, and this cannot happen.",
    reference=_as([EASY, MANY], [ALMOST, {(1, 1)}], [EASY, HARD]),
    call=_judge,
    forbidden=(alignment_error_rate, error_rates),
    mistakes=(
        (
            "The readers are exchanged: your B is better in each sentence and worse in all. A's "
            "links come first.",
            _as([ALMOST, {(1, 1)}], [EASY, MANY], [EASY, HARD]),
        ),
        (
            "A is better in each sentence, and in all of them together, too. Together, a sentence "
            "weighs as much as it has predicted and true links: see where A predicts many.",
            _as([EASY, HARD], [ALMOST, {(1, 1)}], [EASY, HARD]),
        ),
        (
            "Nearly: A is better in each sentence, but together the two rates are equal. Move the "
            "weights a little further.",
            _as([HARD, {(0, j) for j in range(5)}], [HARD | {(1, 1)}, set()], [HARD, HARD]),
        ),
        (
            "There is a sentence in which A's rate is higher than B's. Compute both, sentence by "
            "sentence: predicted links that are wrong make a rate higher.",
            _as([EASY, {(1, 1)}], [ALMOST, HARD], [EASY, HARD]),
        ),
        (
            "There is a sentence in which both rates are equal. A's must be lower in each.",
            _as([EASY, MANY], [EASY, {(1, 1)}], [EASY, HARD]),
        ),
        (
            "With one sentence, that one and all together are the same. Take two or more.",
            _as([EASY], [ALMOST], [EASY]),
        ),
        (
            "A sentence has no true link; each has at least one.",
            _as([EASY, MANY], [ALMOST, {(1, 1)}], [EASY, set()]),
        ),
        (
            "The three lists need one set for each sentence, so they have one length.",
            _as([EASY, MANY], [ALMOST], [EASY, HARD]),
        ),
        (
            "Return three lists: A's links, B's links and the true ones, each with a set for every "
            "sentence.",
            _as([EASY, MANY], [ALMOST, {(1, 1)}]),
        ),
        (
            "The links of each sentence are a set of tuples of two: {(0, 0), (1, 1)}. An empty "
            "one is `set()`.",
            _as([[[0, 0]], [[0, 0]]], [[[0, 0]], [[0, 0]]], [[[0, 0]], [[0, 0]]]),
        ),
    ),
    wrong={
        """\
def better_in_each():
    easy, hard = {(0, 0), (1, 1), (2, 2), (3, 3)}, {(0, 0)}
    return [easy - {(0, 0)}, {(1, 1)}], [easy, {(0, j) for j in range(10)}], [easy, hard]
""": "readers are exchanged",
        """\
def better_in_each():
    long, short = {(i, i) for i in range(10)}, {(0, 0)}
    return [long - {(0, 0)}, short], [long - {(0, 0), (1, 1)}, {(1, 0)}], [long, short]
""": "in all of them together, too",
        """\
def better_in_each():
    long, short = {(i, i) for i in range(10)}, {(0, 0)}
    return [{(0, 0)}, short], [long, {(1, 0)}], [long, short]
""": "A's rate is higher than B's",
        """\
def better_in_each():
    one = {(0, 0)}
    return [one, one | {(1, 1)}], [one, set()], [one, one]
""": "both rates are equal",
        """\
def better_in_each():
    one = {(0, 0)}
    return [one, {(0, j) for j in range(5)}], [{(0, 0), (1, 1)}, set()], [one, one]
""": "together the two rates are equal",
        """\
def better_in_each():
    return [{(0, 0), (1, 1)}], [{(0, 0)}], [{(0, 0), (1, 1)}]
""": "With one sentence",
        """\
def better_in_each():
    return [{(0, 0)}, set()], [{(1, 0)}, {(1, 1)}], [{(0, 0)}, set()]
""": "no true link",
        """\
def better_in_each():
    return [{(0, 0)}, {(0, 0)}], [{(1, 0)}], [{(0, 0)}, {(0, 0)}]
""": "one length",
        """\
def better_in_each():
    return [{(0, 0)}, {(0, 0)}], [{(1, 0)}, {(1, 0)}]
""": "Return three lists",
        """\
def better_in_each():
    return [[(0, 0)], [(0, 0)]], [[(1, 0)], [(1, 0)]], [[(0, 0)], [(0, 0)]]
""": "a set of tuples of two",
        """\
def better_in_each():
    return {(0, 0)}, {(1, 1)}, {(0, 0)}
""": "Return three lists",
        """\
def better_in_each():
    return [{(0)}, {(0)}], [{(1)}, {(1)}], [{(0)}, {(0)}]
""": "a set of tuples of two",
    },
    right=(
        """\
def better_in_each():
    one = {(0, 0)}
    return [one, {(0, j) for j in range(20)}], [{(0, 0), (1, 1)}, set()], [one, one]
""",
        """\
def better_in_each():
    true = {(i, i) for i in range(10)}
    found = lambda hits, false: {(i, i) for i in range(hits)} | {(i, 20) for i in range(false)}
    return (
        (found(10, 0), found(8, 12)),  # 0 and 1 - 16/30
        (found(9, 0), found(3, 0)),  # 1 - 18/19 and 1 - 6/13
        (true, true),
    )
""",
        """\
def better_in_each():
    for n in range(2, 50):
        A = [{(0, 0)}, {(0, j) for j in range(n)}, {(0, 0)}]
        B = [{(0, 0), (1, 0)}, {(2, 2)}, {(0, 0), (1, 1)}]
        S = [{(0, 0)}] * 3
        rate = lambda P: 1 - 2 * sum(len(p & s) for p, s in zip(P, S)) / (
            sum(map(len, P)) + sum(map(len, S)))
        if rate(A) > rate(B):
            return A, B, S
""",
    ),
)
