"""Four stacks without names."""

from itertools import permutations

from tutor.check.exercise import PREDICT, Exercise
from tutor.exercises.chapter_04.shared import Like

# The stacks of "What depth does to the gradient", forwards only: 384 sub-layers, d_model 64, four
# sentences of 16 words, the mean of the seeds 0 to 7. The learner sees the first 96.
_NAMES = ("norm alone", "residual alone", "pre-norm", "post-norm")
_SIZE = 15.1  # of pre-norm after 384 sub-layers, measured
_CLOSE = 1 / 6


def _names(answer):
    return list(answer)[:4]


def _five(answer):
    return isinstance(answer, list | tuple) and len(answer) == 5


def _all_named(answer):
    return _five(answer) and tuple(_names(answer)) in permutations(_NAMES)


def _lost(answer):
    """The first of the names, in this order, that stands at a wrong letter."""
    if _all_named(answer):
        for name in ("residual alone", "pre-norm", "post-norm"):
            if _names(answer).index(name) != _NAMES.index(name):
                return name
    return None


def _size(answer):
    """The fifth item, if the four names are right and it is a number that is wrong."""
    named = _all_named(answer) and _lost(answer) is None
    if not named or isinstance(answer[4], bool) or not isinstance(answer[4], int | float):
        return None
    return None if abs(answer[4] / _SIZE - 1) < _CLOSE else answer[4]


def _between(low, high):
    return Like(lambda answer: _size(answer) is not None and low <= _size(answer) < high)


which_stack = Exercise(
    name="which_stack",
    chapter="04",
    section="What depth does to the gradient",
    kind=PREDICT,
    title="Four stacks without names",
    goal="Recognise the order of norm and residual from the sizes that it leaves behind.",
    difficulty=4,
    importance=3,
    minutes=10,
    text="""\
Four of the section's stacks, fresh and untrained, have lost their names. For each, two things were
measured after some of the sub-layers, as the mean of eight random starts. `size` is the root of the
mean of the squares of the numbers in $X$. `moved` is how far the next sub-layer moves $X$: the
length of the difference, as a share of the length of $X$.

1. Which stack is which? Take the names "post-norm", "pre-norm", "norm alone" ($\\text{LN}(f(X))$)
   and "residual alone".
2. How large will `size` be in the pre-norm stack after 384 sub-layers? Read from the numbers by
   which law it grows. It was measured; an answer counts if it is off by less than a sixth.

**Predict** a list of five: the names of A, B, C and D, then the size.""",
    hints=(
        "Which stacks have a norm behind the last step, so that `size` must be 1? Two of them. Of "
        "these, one keeps what X was. Two vectors of length 1 that have nothing to do with each "
        "other: how far apart are they?",
        "The square root of 2 is 1.41. `size` times `moved` is the size of the piece that the next "
        "sub-layer adds: compare these pieces in C. Then compare the **squares** of its sizes.",
        "Pieces that point in unrelated directions add up by their squares: four times as many "
        "sub-layers make the square four times as large, and the size itself?",
    ),
    setup="""\
measured = {  # after sub-layer:  0    12    24    48    96
    "A": {"size": (1.0, 1.0, 1.0, 1.0, 1.0), "moved": (1.41, 1.37, 1.42, 1.40, 1.41)},
    "B": {"size": (1.0, 9.5, 180, 6.6e4, 5.8e9), "moved": (0.38, 1.01, 1.02, 1.02, 1.01)},
    "C": {"size": (1.0, 2.3, 3.3, 4.8, 7.1), "moved": (0.38, 0.33, 0.26, 0.20, 0.14)},
    "D": {"size": (1.0, 1.0, 1.0, 1.0, 1.0), "moved": (0.39, 0.71, 0.77, 0.75, 0.73)},
}
""",
    stub='which_stack = None  # ["...", "...", "...", "...", size]',
    solution="""\
# A: moved by 1.4, the root of 2, so nothing is kept. B: explodes. D: keeps X, size 1.
# C: four times as many sub-layers, each adding its piece: twice the size.
which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", 2 * 7.1]
""",
    because="Measured: 15.1. In pre-norm each further sub-layer moves X by less, so the late "
    "layers of a deep stack do little.",
    reference=[*_NAMES, _SIZE],
    tolerance=_CLOSE,
    mistakes=(
        (
            "Give five items: the four names in the order A, B, C, D, then the size.",
            Like(lambda answer: not _five(answer)),
        ),
        (
            "Use each of the four names once, as they are written in the task, before the size.",
            Like(lambda answer: _five(answer) and not _all_named(answer)),
        ),
        (
            'Not "residual alone" yet: without any norm each sub-layer adds a share of what is '
            "there already. What grows in proportion to itself explodes.",
            Like(lambda answer: _lost(answer) == "residual alone"),
        ),
        (
            'Not "pre-norm" yet: its residual path is never normalised, but what is added to it '
            "was computed from a normalised X, so the pieces do not grow. Its size grows slowly.",
            Like(lambda answer: _lost(answer) == "pre-norm"),
        ),
        (
            'You have exchanged "post-norm" and "norm alone". One of them keeps X and adds to it, '
            "the other puts a new vector in its place, so it moves further.",
            Like(lambda answer: _lost(answer) == "post-norm"),
        ),
        (
            "The names are right. Your size assumes that X grows in proportion to the number of "
            "sub-layers; compare 24, 48 and 96: twice as many do not make it twice as large.",
            _between(24, 33),
        ),
        (
            "The names are right. Your size goes on in a straight line, as from 48 to 96. Compare "
            "the steps from 12 to 24, to 48 and to 96: growth slows down.",
            _between(17, 24),
        ),
        (
            "The names are right. Your size gains the same at each doubling of the number of "
            "sub-layers. Compare 12, 24, 48 and 96: each doubling gains more than the one before.",
            _between(10.8, 13),
        ),
        (
            "The names are right. Your size is about that after 192 sub-layers; 384 are four times "
            "96.",
            _between(9.8, 10.8),
        ),
        (
            "The names are right. Your size assumes that growth ends, or nearly. Late sub-layers "
            "move X by less, because X is larger; the piece that they add is no smaller.",
            _between(0, 9.8),
        ),
        (
            "The names are right. Your size is that of exponential growth: there the ratio would "
            "stay the same for each 12 sub-layers. Here it falls.",
            _between(33, float("inf")),
        ),
        (
            "The names are right. A size is no negative number.",
            Like(lambda answer: _size(answer) is not None and _size(answer) < 0),
        ),
        (
            "The names are right. The fifth item must be a number.",
            Like(
                lambda answer: (
                    _all_named(answer)
                    and _lost(answer) is None
                    and (isinstance(answer[4], bool) or not isinstance(answer[4], int | float))
                )
            ),
        ),
    ),
    wrong={
        'which_stack = ["post-norm", "residual alone", "pre-norm", "norm alone", 11]': "exchanged",
        'which_stack = ["norm alone", "pre-norm", "residual alone", "post-norm", 11]': "residual "
        "alone",
        'which_stack = ["pre-norm", "residual alone", "post-norm", "norm alone", 5]': "never "
        "normalised",
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", 4 * 7.1]': "in "
        "proportion",
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", 7.1 + 6 * 2.3]': (
            "straight line"
        ),
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", 7.1]': "ends",
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", 7.1**4 / 3]': (
            "exponential"
        ),
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", 11.7]': "at each "
        "doubling",
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", -14]': "negative",
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", 7.1 * 2**0.5]': (
            "after 192"
        ),
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm"]': "length 4",
        'which_stack = ["A", "B", "C", "D", 11]': "each of the four names",
        'which_stack = ["norm alone", "norm alone", "pre-norm", "post-norm", 11]': "once",
    },
    right=(
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", 14]',
        'which_stack = ("Norm alone", "Residual alone", "Pre-norm", "Post-norm", 7.1 * 4**0.5)',
        'which_stack = ["norm alone", "residual alone", "pre-norm", "post-norm", 7.1 * 1.47**2]',
    ),
)
