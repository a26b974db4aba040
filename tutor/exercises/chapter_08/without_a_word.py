"""A word that may not be written."""

import math
from itertools import product

from tutor.check.exercise import PREDICT, Exercise

RIGHT = [0.0, 0.12, 0.135]
# For each program: wrong answers, and what is said of them.
GUESSES = [
    {
        0.216: "The sentence that you give for A contains *cat*: both beams of its pool do, and "
        "nothing is left.",
        0.144: "The sentence that you give for A contains *cat*: both beams of its pool do, and "
        "nothing is left.",
        0.36: "What you give for A is *the cat*, and contains the word: follow A to its end.",
        0.08: "In A, *a dog* `[EOS]` is not among the best two of step 2: two children of "
        "*the cat* are better.",
        0.12: "In A, *a dog barks* is the third best of step 2, behind two children of *the cat*. "
        "It has no place.",
        0.135: "A never sees *the bird*: it is the third best of step 1, behind *the cat* and *a "
        "dog*.",
    },
    {
        0.135: "B never sees *the bird*: the place that *the cat* had stays empty in that step.",
        0.0: "B loses *the cat* alone. The other beam, *a dog*, goes on, and its children fill "
        "the pool again.",
        0.08: "In B, *a dog* `[EOS]` has ended, but its pool holds another sentence, which ends "
        "later and is better.",
        0.072: "What you give for B is *a cat sleeps*, and contains the word.",
        0.2: "What you give for B has not ended: go on behind *a dog*.",
        0.12 / 0.7: "In B you divide by what is left after the ban. What is thrown away changes "
        "no other probability here.",
    },
    {
        0.12: "C has two places in step 1, and *cat* takes none: *the bird* has the second. "
        "Follow it too.",
        0.3375: "In C you divide by what is left after the ban. What is thrown away changes no "
        "other probability here.",
        0.015: "What you give for C is *the bird sings*. Another end of *the bird* is better.",
        0.108: "In C a factor comes from another row of the table: look up what follows *the*, and "
        "what follows *a*.",
        0.15: "What you give for C has not ended: go on behind *the bird*.",
        0.2: "What you give for C has not ended: go on behind *a dog*, and behind *the bird*.",
        0.0: "C always has something left: *cat* never takes a place.",
    },
]
WHOLE = (
    ("B and C are exchanged.", [0.0, 0.135, 0.12]),
    ("The order is A, B, C.", [0.135, 0.12, 0.0]),
    (
        "Those are logarithms. Give the probabilities.",
        [-math.inf, math.log(0.12), math.log(0.135)],
    ),
    (
        "You give the last factors. A sentence's probability is the product of all its steps.",
        [0.0, 0.6, 0.9],
    ),
    ("Those have two decimals. Three are asked for.", [0.0, 0.12, 0.14]),
    ("Those are percentages. Give the probabilities.", [0.0, 12.0, 13.5]),
)


def _by_program():
    """Every list of guesses, with what is said of the first that is wrong."""
    for guess in product(*([right, *g] for right, g in zip(RIGHT, GUESSES, strict=True))):
        wrong = [i for i, value in enumerate(guess) if value != RIGHT[i]]
        if wrong and list(guess) not in [value for _, value in WHOLE]:
            yield GUESSES[wrong[0]][guess[wrong[0]]], list(guess)


without_a_word = Exercise(
    name="without_a_word",
    chapter="08",
    section="Beam search on paper",
    kind=PREDICT,
    title="A word that may not be written",
    goal="Say at which point of a step a ban has to work.",
    difficulty=3,
    importance=4,
    minutes=11,
    text="""\
A toy model looks at the last word alone:

| after | comes |
|---|---|
| `[BOS]` | the 0.6, a 0.4 |
| the | cat 0.6, bird 0.25, dog 0.15 |
| a | dog 0.5, cat 0.3, bird 0.2 |
| cat | sleeps 0.6, `[EOS]` 0.4 |
| dog | barks 0.6, `[EOS]` 0.4 |
| bird | `[EOS]` 0.9, sings 0.1 |
| sleeps, barks, sings | `[EOS]` 1 |

A customer does not want to read the word *cat*. Three programs search with two beams, ranked by the
sum of logarithms alone ($\\alpha = 0$), by the three rules of the chapter, until all beams of the
pool have ended:

- **A** searches as always, and at the end throws away what contains *cat*;
- **B** lets the best two proposals of each step stay, and then throws away those that contain
  *cat* (later steps may fill the pool again);
- **C** throws away proposals that contain *cat* before the best two are chosen.

What is thrown away changes no other probability. **Predict** the probability of the best sentence
that each program has left: a list of three numbers, for A, B and C, good to three decimals; 0 if
nothing is left.""",
    hints=(
        "Step 0 keeps *the* 0.6 and *a* 0.4 in all three. Write the six proposals of step 1 below "
        "each other, the largest first. From here on the three programs differ.",
        "The best two proposals of step 1 are *the cat* 0.36 and *a dog* 0.20. B goes on with one "
        "beam. The third proposal is *the bird* 0.15: which program goes on with it?",
        "In A, both places of step 2 go to children of *the cat*. B is left with the children of "
        "*a dog*. C compares these with 0.15 · 0.9.",
    ),
    stub="without_a_word = None  # a list of three numbers, such as [0.9, 0.5, 0.0]",
    solution="without_a_word = [0.0, 0.4 * 0.5 * 0.6, 0.6 * 0.25 * 0.9]",
    because="A ban must work before the choice; afterwards it costs places, up to the last one.",
    reference=RIGHT,
    tolerance=0.0006,
    mistakes=(*WHOLE, *_by_program()),
    wrong={
        "without_a_word = [0.6 * 0.6 * 0.6, 0.12, 0.135]": "contains *cat*",
        "without_a_word = [0.144, 0.12, 0.135]": "contains *cat*",
        "without_a_word = [0.12, 0.12, 0.135]": "third best of step 2",
        "without_a_word = [0.135, 0.12, 0.135]": "A never sees",
        "without_a_word = [0, 0.135, 0.135]": "B never sees",
        "without_a_word = [0, 0, 0.135]": "B loses *the cat* alone",
        "without_a_word = [0, 0.12, 0.12]": "C has two places",
        "without_a_word = [0, 0.135, 0.12]": "exchanged",
        "without_a_word = [0, 0.08, 0.135]": "which ends later",
        "without_a_word = [0, 0.072, 0.135]": "*a cat sleeps*",
        "without_a_word = [0, 0.12, 0.015]": "*the bird sings*",
        "without_a_word = [0, 0.12, 0.108]": "another row",
        "without_a_word = [0.08, 0.12, 0.135]": "not among the best two",
        "without_a_word = [0, 0.12, 0.6 * 0.25 / 0.4 * 0.9]": "In C you divide",
        "without_a_word = [0, 0.4 * 0.5 / 0.7 * 0.6, 0.3375]": "In B you divide",
        "without_a_word = [0, 0.2, 0.2]": "has not ended",
        "without_a_word = [-math.inf, math.log(0.12), math.log(0.135)]": "logarithms",
        "without_a_word = [0, 0.6, 0.9]": "last factors",
        "without_a_word = [0, 0.12, 0.14]": "Three are asked for",
        "without_a_word = [0.216, 0, 0.135]": "contains *cat*",
        "without_a_word = [0, 12, 13.5]": "percentages",
        "without_a_word = 0.135": "a list is wanted",
    },
    right=(
        "without_a_word = [0, 0.12, 0.135]",
        "without_a_word = torch.tensor([0.0, 0.12, 0.135])",
    ),
)
