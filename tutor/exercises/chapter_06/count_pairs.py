"""Which neighbours meet most often?"""

from collections import Counter
from itertools import combinations, pairwise

from tutor.check.exercise import WRITE, Exercise


def _count(pairs_of, add=lambda count: count):
    """Count the pairs that `pairs_of(pieces)` finds, each with `add(count)`."""

    def count_pairs(words):
        pairs = Counter()
        for pieces, count in words.items():
            for pair in pairs_of(pieces):
                pairs[pair] += add(count)
        return pairs

    return count_pairs


def _overwritten(words):
    return {pair: count for pieces, count in words.items() for pair in pairwise(pieces)}


def _across_words(words):
    pieces = [piece for word, count in words.items() for piece in count * word]
    return Counter(pairwise(pieces))


def _plainly(answer, words):
    """A Counter is a dict; pairs that are there zero times are no difference."""
    found = answer(words)
    return {pair: n for pair, n in found.items() if n} if isinstance(found, dict) else found


def _cases_of_words():
    yield ({("a", "b"): 1},)
    yield ({("a", "b"): 3},)
    yield ({("a", "b", "c"): 2, ("c", "a", "b"): 1},)
    yield ({("a", "b", "a", "b"): 2},)
    yield ({("a", "a", "a"): 4, ("b",): 5},)
    yield ({("r", "i", "d", "ing"): 6, ("r", "i", "d", "e"): 3, ("s", "ing"): 2},)
    yield ({},)


count_pairs = Exercise(
    name="count_pairs",
    chapter="06",
    section="Byte-pair encoding by hand",
    kind=WRITE,
    title="Which neighbours meet most often?",
    goal="Count the pairs of neighbours in words, as often as each word occurs.",
    difficulty=2,
    importance=4,
    minutes=6,
    text="""\
Each word is a tuple of pieces, with the number of times that it occurs. Count how often each piece
stands directly before each other piece, in all occurrences of all words together.""",
    hints=(
        "Two loops: one over the words with their counts, and inside it one over the pairs of "
        "neighbours.",
        "`zip(pieces, pieces[1:])` goes through the neighbours of a tuple.",
        "A missing key of a `Counter` counts as 0: `pairs[pair] += count`.",
    ),
    setup="from collections import Counter\n",
    stub='''\
def count_pairs(words):
    """words: {tuple of pieces: how often it occurs}. Returns {(left, right): how often}."""
    ...  # about five lines, beginning with pairs = Counter()
''',
    solution="""\
def count_pairs(words):
    pairs = Counter()
    for pieces, count in words.items():
        for pair in zip(pieces, pieces[1:]):
            pairs[pair] += count
    return pairs
""",
    because="Every place counts, as often as its word occurs.",
    reference=_count(pairwise),
    call=_plainly,
    cases=_cases_of_words,
    mistakes=(
        (
            "A pair counts as often as its word occurs: add `count`, not 1.",
            _count(pairwise, add=lambda count: 1),
        ),
        (
            "A word can hold a pair twice, as *a b a b* does. Every place counts.",
            _count(lambda pieces: {*pairwise(pieces)}),
        ),
        (
            "Several words hold the same pair: add to its count, do not replace it.",
            _overwritten,
        ),
        (
            "You count every two pieces of a word; only neighbours are meant.",
            _count(lambda pieces: combinations(pieces, 2)),
        ),
        (
            "You go in steps of two and miss every second pair: *a b c* holds *a b* and *b c*.",
            _count(lambda pieces: zip(pieces[::2], pieces[1::2], strict=False)),
        ),
        (
            "Your pairs reach across the border of a word. Count within each word.",
            _across_words,
        ),
        (
            "The last piece of a word has no right neighbour; you pair it with the first.",
            _count(lambda pieces: zip(pieces, pieces[1:] + pieces[:1], strict=True)),
        ),
        (
            "The keys are glued together. Keep two pieces: *a* with *bc* is not *ab* with *c*.",
            _count(lambda pieces: [a + b for a, b in pairwise(pieces)]),
        ),
        (
            "Left and right have changed places.",
            _count(lambda pieces: [(b, a) for a, b in pairwise(pieces)]),
        ),
        (
            "Only the first word is counted: see that no `return` stands in the loop.",
            lambda words: _count(pairwise)(dict([*words.items()][:1])),
        ),
        (
            "Those are single pieces; count pairs of neighbours.",
            _count(lambda pieces: pieces),
        ),
    ),
    wrong={
        """\
def count_pairs(words):
    pairs = Counter()
    for pieces in words:
        pairs.update(zip(pieces, pieces[1:]))
    return pairs
""": "not 1",
        """\
def count_pairs(words):
    pairs = Counter()
    for pieces, count in words.items():
        for pair in set(zip(pieces, pieces[1:])):
            pairs[pair] += count
    return pairs
""": "Every place counts",
        """\
def count_pairs(words):
    pairs = {}
    for pieces, count in words.items():
        for i in range(len(pieces) - 1):
            pairs[pieces[i], pieces[i + 1]] = count
    return pairs
""": "do not replace",
        """\
def count_pairs(words):
    pairs = Counter()
    for pieces, count in words.items():
        for i, a in enumerate(pieces):
            for b in pieces[i + 1:]:
                pairs[a, b] += count
    return pairs
""": "only neighbours",
        """\
def count_pairs(words):
    pairs = Counter()
    for pieces, count in words.items():
        for i in range(0, len(pieces) - 1, 2):
            pairs[pieces[i], pieces[i + 1]] += count
    return pairs
""": "steps of two",
        """\
def count_pairs(words):
    pairs = Counter()
    for pieces, count in words.items():
        for a, b in zip(pieces, pieces[1:]):
            pairs[a + b] += count
    return pairs
""": "glued together",
        """\
def count_pairs(words):
    pairs = {}
    for pieces, count in words.items():
        for pair in zip(pieces, pieces[1:]):
            pairs[pair] += count
    return pairs
""": "KeyError",
        """\
def count_pairs(words):
    pairs = Counter()
    for pieces, count in words.items():
        for pair in zip(pieces, pieces[1:]):
            pairs[pair] += count
        return pairs
    return pairs
""": "no `return` stands in the loop",
    },
    right=(
        """\
def count_pairs(words):
    pairs = {}
    for pieces, count in words.items():
        for i in range(len(pieces) - 1):
            pair = (pieces[i], pieces[i + 1])
            pairs[pair] = pairs.get(pair, 0) + count
    return pairs
""",
        """\
def count_pairs(words):
    return Counter(
        pair for pieces, count in words.items() for pair in count * list(zip(pieces, pieces[1:]))
    )
""",
        """\
def count_pairs(words):
    pairs = Counter()
    for pieces, count in words.items():
        left = pieces[0]
        for right in pieces[1:]:
            pairs[left, right] += count
            left = right
    return pairs
""",
    ),
)
