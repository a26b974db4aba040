"""Five programs, known by their weights."""

import itertools
import math
from unittest.mock import ANY  # equals everything

from tutor.check.exercise import PREDICT, Exercise

_SCORES, _HIDDEN, _ROOT = (1.0, 0.0, 3.0, 2.0, 2.0), (0, 0, 0, 1, 1), 3  # d_k = 9


def _softmax(scores):
    total = sum(math.exp(e) for e in scores)
    return [math.exp(e) / total for e in scores]


def _weights(scale=_ROOT, before=True, after=True, added=0.0):
    """The row of weights of a program, to three decimals."""
    pairs = [(e / scale, h) for e, h in zip(_SCORES, _HIDDEN, strict=True)]
    A = _softmax([-math.inf if before and h else e + added * h for e, h in pairs])
    return [round(a * (1 - after * h), 3) + 0.0 for a, (_, h) in zip(A, pairs, strict=True)]


ROWS = {
    "P": _weights(before=False),  # hides after the softmax
    "Q": _weights(scale=1),  # forgets the scaling
    "R": _weights(before=False, after=False, added=1.0),  # adds the mask
    "S": _weights(),  # is right
    "T": _weights(before=False, after=False),  # forgets the mask
}
_RIGHT = "STPRQ"


def _reason_against(letters):
    """Why the programs cannot be these rows."""
    right, without_mask, after, _, unscaled = letters
    if {right, after, unscaled} != {"P", "Q", "S"}:
        return (
            "Look at the hidden keys first. In three of the programs their weights are exactly 0; "
            "without the mask, and with a mask that is added as a number, they are not."
        )
    if after != "P":
        return (
            "Add up each row. What is set to 0 after the softmax is missing in the sum; before it, "
            "the other keys share the whole."
        )
    if without_mask != "T":
        return (
            "Of the two rows in which hidden keys have weight, you exchanged the owners: a mask "
            "that is added makes hidden scores larger by 1, so they get more."
        )
    return (
        "You exchanged the right program and the one without the division. Larger differences of "
        "scores make a sharper row."
    )


def _mistakes():
    for letters in itertools.permutations("PQRST"):
        if "".join(letters) != _RIGHT:
            yield _reason_against(letters), [*letters, ANY]
    for said, number in {
        "3 is the root of $d_k$: the scores were divided by it.": 3,
        "You squared $d_k$: the quotient of the differences is its root.": 81,
        "The logarithm of a quotient of two weights is the difference of their scores. Compare it "
        "in the row with the division and in the row without.": ANY,
    }.items():
        yield f"The letters are right, the width is not. {said}", [*_RIGHT, number]
    yield "Each of the five letters belongs to one program.", [*[ANY] * 5, ANY]


which_program = Exercise(
    name="which_program",
    chapter="02",
    section="Words that may not be seen",
    kind=PREDICT,
    title="Five programs, known by their weights",
    goal="Read from a row of weights what a program did to the scores.",
    difficulty=3,
    importance=5,
    minutes=10,
    text="""\
The same query met the same five keys in five programs. The last two keys are padding. The cell
below shows the five rows of weights, in no order. The programs, by number:

0. is right: it divides by $\\sqrt{d_k}$ and hides before the softmax;
1. forgets the mask;
2. hides after the softmax: it sets the weights of hidden keys to 0;
3. divides, and then adds the mask to the scores, as a number: 1 for hidden and 0 for the others;
4. forgets the division, and is right otherwise.

Which row comes from which program, and how wide is a query? Give a list: the letters of the
programs 0 to 4, then $d_k$, a whole number. No program needs to be run.""",
    hints=(
        "Where do hidden keys have weight? And which rows do not sum to 1?",
        "Two rows sum to 1 and hide both keys. Larger differences of scores make a sharper row.",
        "$\\ln(A_2 / A_1)$ is the difference of the scores of key 2 and key 1. Compute it in the "
        "row with the division and in the row without. Their quotient is $\\sqrt{d_k}$.",
    ),
    setup="rows = {  # letter: weights of keys 0 to 4; keys 3 and 4 are padding\n"
    + "".join(f'    "{letter}": {row},\n' for letter, row in ROWS.items())
    + "}\n",
    stub='which_program = None  # such as ["P", "Q", "R", "S", "T", 64]',
    solution='which_program = ["S", "T", "P", "R", "Q", 9]',
    because="ln(0.844 / 0.042) is 3 times ln(0.532 / 0.196), and 3 is the root of 9.",
    reference=[*_RIGHT, 9],
    mistakes=tuple(_mistakes()),
    wrong={
        'which_program = ["S", "R", "P", "T", "Q", 9]': "makes hidden scores larger by 1",
        'which_program = ["Q", "T", "P", "R", "S", 9]': "sharper row",
        'which_program = ["P", "T", "S", "R", "Q", 9]': "Add up each row",
        'which_program = ["T", "S", "P", "R", "Q", 64]': "Look at the hidden keys first",
        'which_program = ["S", "T", "P", "R", "Q", 3]': "3 is the root",
        'which_program = ["S", "T", "P", "R", "Q", 5]': "the width is not",
        'which_program = ["S", "T", "P", "R", "Q", 81]': "You squared",
        'which_program = ["S", "T", "P", "R", "Q"]': "length 5; 6 is wanted",
        'which_program = ["S", "T", "P", "R", "Q", "9"]': "is a text; a number is wanted",
    },
    right=(
        """\
def spread(row):
    return math.log(row[2] / row[1])

which_program = [*"STPRQ", round((spread(rows["Q"]) / spread(rows["S"])) ** 2)]
""",
        'which_program = ("s", "t", "p", "r", "q", 9.0)',
    ),
)
