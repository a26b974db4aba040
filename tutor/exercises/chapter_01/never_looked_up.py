"""Words that training never met, read from lengths."""

import itertools
from unittest.mock import ANY  # equals everything

from tutor.check.exercise import PREDICT, Exercise

# Measured: seed 84; nn.Embedding(8, 4) and nn.Linear(4, 8, bias=False), 200 steps of
# AdamW(lr=0.003, weight_decay=1.0) on next words in five sentences without the two.
LENGTHS = {
    "a": (2.775, 2.105),
    "man": (2.763, 1.515),
    "is": (0.870, 1.006),
    "riding": (1.953, 0.969),
    "horse": (1.023, 1.267),
    "bicycle": (2.329, 2.099),
    "white": (1.772, 1.582),
    "black": (1.985, 1.089),
}
_FACTOR = 0.997**200
_SHORTEST = {"riding", "is"}
_FELL_MOST = {"man", "riding"}
_STEADY = {"is", "white", "bicycle", "horse"}


def _reason_against(pair):
    """Why two words cannot be those that were never looked up."""
    if pair == _SHORTEST:
        return (
            "Those two rows are the shortest, but rows begin at different lengths. Compare each "
            "row with its own start."
        )
    if pair == _FELL_MOST:
        return (
            "Those two rows lost most, as a difference. Decay takes a share of a row: a long row "
            "loses more than a short one. Compare quotients."
        )
    if pair <= _STEADY:
        return (
            "You look for rows that kept most of their length, or grew. Weight decay shortens "
            "every row; what holds a row up is a gradient, and a word that is never met has none."
        )
    if pair & {"man", "black"}:
        return (
            "One of the two is right. Nothing but decay acts on rows that are never looked up, so "
            "both must have kept the very same share of their length."
        )
    return (
        "Nothing but decay acts on rows that are never looked up, so both must have kept the very "
        "same share of their length. Yours have not."
    )


def _mistakes():
    for first, second in itertools.permutations(LENGTHS, 2):
        if (first, second) == ("black", "man"):
            yield "Those are the two. Name them in the order of the table.", [first, second, ANY]
        elif (first, second) != ("man", "black"):
            yield _reason_against({first, second}), [first, second, ANY]
    start, now = LENGTHS["man"]
    near = "You are near. Round once, at the end: two decimals must be right."
    for length in (0.82, 0.84):
        yield f"The words are right. The length is not. {near}", ["man", "black", length]
    for said, length in {
        "Decay takes a *share* of a row at each step, so it takes less and less. Multiply where "
        "you subtracted.": now - (start - now),
        "Decay goes on at every step, whether or not the word is met.": now,
        "That is the factor, and no length yet.": _FACTOR,
        "That is how much the row of *man* has lost so far.": start - now,
        "That is the length of the other one.": LENGTHS["black"][1] * _FACTOR,
        "The factor already counts 200 steps, and 200 follow, not 400.": now * _FACTOR**2,
        "Which share of its length did *man* keep in 200 steps? In the next 200 it keeps the same "
        "share of what is left.": ANY,
    }.items():
        yield f"The words are right. The length is not. {said}", ["man", "black", length]


never_looked_up = Exercise(
    name="never_looked_up",
    chapter="01",
    section="Which rows learn?",
    kind=PREDICT,
    title="Two words that training never met",
    goal="Tell from numbers which rows of a table never had a gradient.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A table began with random rows and was trained for 200 steps. The training sentences are lost. What
is left is the length of each row (the root of the sum of its squares) before and after; see the
cell below.

One thing is known: there was **weight decay**. At each step all numbers of the table are multiplied
by one factor, slightly below 1. Then every row that was looked up moves by its gradient. Exactly
two of the eight words were never looked up.

**Which two?** And training goes on with the same sentences for 200 steps more: **how long will the
row of the first of the two be then?** Give a list: the two words in the order of the table, and the
length, good to two decimals.""",
    hints=(
        "What happens in one step to a row that nobody asks for? And in 200 steps?",
        "Such a row keeps a share of its length, and the share does not depend on how long it was. "
        "Divide each length after by the length before.",
        "Two words have the same quotient, 0.548. The next 200 steps multiply by it again.",
    ),
    setup="lengths = {  # word: length before, length after 200 steps\n"
    + "".join(f'    "{word}": {pair},\n' for word, pair in LENGTHS.items())
    + "}\n",
    stub='never_looked_up = None  # such as ["a", "is", 1.23]',
    solution='never_looked_up = ["man", "black", 0.83]',
    because="1.515 / 2.763 and 1.089 / 1.985 are both 0.548, and 0.548 times 1.515 is 0.83.",
    reference=["man", "black", 1.515 * _FACTOR],
    tolerance=0.005,
    mistakes=tuple(_mistakes()),
    wrong={
        'never_looked_up = ["man", "black", 0.8]': "the same share of what is left",
        'never_looked_up = ["riding", "is", 0.5]': "are the shortest",
        'never_looked_up = ["man", "black", 1.25]': "lost so far",
        'never_looked_up = ["man", "riding", 0.83]': "lost most",
        'never_looked_up = ["white", "bicycle", 1.582]': "kept most of their length",
        'never_looked_up = ["is", "horse", 1.57]': "or grew",
        'never_looked_up = ["man", "black", 0.82]': "Round once, at the end",
        'never_looked_up = ["man", "a", 1.515 * 0.548]': "One of the two is right",
        'never_looked_up = ["a", "riding", 2.105]': "Yours have not",
        'never_looked_up = ["man", "black", 1.515 - (2.763 - 1.515)]': "where you subtracted",
        'never_looked_up = ["man", "black", 1.515]': "Decay goes on",
        'never_looked_up = ["man", "black", 0.548]': "no length yet",
        'never_looked_up = ["black", "man", 1.089 * 0.548]': "in the order of the table",
        'never_looked_up = ["man", "black", 1.089 * 0.548]': "of the other one",
        'never_looked_up = ["man", "black"]': "of length 2; 3 is wanted",
    },
    right=(
        """\
shares = {word: after / before for word, (before, after) in lengths.items()}
never_looked_up = ["man", "black", lengths["man"][1] * shares["man"]]
""",
        'never_looked_up = ("Man", "black ", torch.tensor(1.515**2 / 2.763))',
        'never_looked_up = ["man", "black", 1.515 * 0.997**200]',
    ),
)
