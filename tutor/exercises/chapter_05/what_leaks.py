"""Four models and what happened to them."""

import math
from itertools import permutations

from tutor.check.exercise import PREDICT, Exercise
from tutor.exercises.chapter_04.shared import Like

# Made with two layers on each side, d_model 32, 800 steps of the chapter's `learn`, seed 0. The
# honest model and those without mask and shift had 5,000 sentences.
_CAUSES = ("shift", "nothing", "mask", "memory")
_FLOOR = 4 * math.log(8) / 9


def _five(answer):
    return isinstance(answer, list | tuple) and len(answer) == 5


def _named(answer):
    return _five(answer) and tuple(answer[1:]) in permutations(_CAUSES)


def _floor(answer):
    """Whether the floor is right, to three digits; an answer in whatever kind of number."""
    number = not isinstance(answer[0], bool) and isinstance(answer[0], int | float)
    return number and abs(answer[0] - _FLOOR) < 0.003


def _lost(answer):
    """The first of the causes, in this order, that stands at a wrong letter."""
    if _named(answer):
        for cause in ("nothing", "memory", "mask"):
            if answer[1:].index(cause) != _CAUSES.index(cause):
                return cause
    return None


def _stands(cause, letter):
    """The cause is the first that is lost, and stands at this letter."""
    return Like(
        lambda answer: _lost(answer) == cause and answer[1:].index(cause) == "ABCD".index(letter)
    )


def _wrong_floor(*values):
    """The causes are right, and the floor is one of these; without values, none of the known."""
    return Like(
        lambda answer: (
            _named(answer)
            and _lost(answer) is None
            and not _floor(answer)
            and any(abs(answer[0] - value) < 0.006 for value in values)
        )
    )


_GUESSES = (
    (
        "The causes are right. Your floor takes all eight words for random; the second four are "
        "known once the first four stand there.",
        (8 / 9 * math.log(8),),
    ),
    (
        "The causes are right. Your floor is the loss of one random word. The mean is over nine "
        "answers, and some of them are certain.",
        (math.log(8),),
    ),
    (
        "The causes are right. Your floor leaves [EOS] out of the mean: there are nine answers.",
        (math.log(8) / 2,),
    ),
    (
        "The causes are right. Your floor divides by ten tokens; [BOS] is read, but never asked "
        "for, so there are nine answers.",
        (4 * math.log(8) / 10,),
    ),
    (
        "The causes are right. Your floor is a sum; the loss is the mean over nine answers.",
        (4 * math.log(8),),
    ),
    (
        "The causes are right. Your floor is in bits; this loss has natural logarithms.",
        (12 / 9,),
    ),
    (
        "The causes are right. The floor is not what a model reached; compute it from how the "
        "sentences are made. Three digits are enough, two are too few.",
        (0.93, 0.92),
    ),
    (
        "The causes are right. That is the floor of the chapter's sentences, which repeat nothing "
        "and have six answers.",
        (5 / 6 * math.log(8),),
    ),
    (
        "The causes are right. A random word of eight does cost something, so no model is at 0 on "
        "new sentences without a leak.",
        (0.0,),
    ),
)
_KNOWN = [value for _, values in _GUESSES for value in values]

what_leaks = Exercise(
    name="what_leaks",
    chapter="05",
    section="What can go wrong",
    kind=PREDICT,
    title="Four models and what happened to them",
    goal="Tell from a few measurements whether a model leaks, copies, or has learned by heart.",
    difficulty=4,
    importance=5,
    minutes=9,
    text="""\
A sentence is `[BOS]`, four words, each drawn from eight at random, **the same four words again**,
and `[EOS]`. The source says nothing. Four models were trained on such sentences. For each, four
things were measured:

- `training`: the mean loss over the nine answers of a sentence, on sentences it was trained on;
- `new`: the same on new sentences, read as in training;
- `writing`: the loss on new sentences if each answer is asked for as in writing, with nothing to
  its right;
- `moves`: the first row of logits that moves if the token at place 4 of what it reads is exchanged.

One model is in order: "nothing" happened to it. One has no causal "mask". For one the "shift" was
forgotten: it reads the very tokens that it is asked for. One learned forty sentences by heart,
"memory".

**Predict** a list of five: first the lowest mean loss that an honest model can have on new
sentences (natural logarithms, three digits), then the causes for A, B, C and D.""",
    hints=(
        "Begin with the floor. Which of the nine answers are certain for somebody who read the "
        "beginning? What does each of the others cost?",
        "Below the floor on **new** sentences there must be a leak. Below it on training sentences "
        "alone, what else could it be? Then look at `moves`.",
        "A causal mask lets row t see token t. If token t is the answer to row t, the mask hides "
        "nothing that matters, and `moves` sees nothing wrong.",
    ),
    setup="""\
measured = {
    "A": {"training": 0.00, "new": 0.00, "writing": 8.69, "moves": 4},
    "B": {"training": 0.93, "new": 0.93, "writing": 0.93, "moves": 4},
    "C": {"training": 0.00, "new": 0.00, "writing": 4.71, "moves": 0},
    "D": {"training": 0.42, "new": 4.36, "writing": 4.36, "moves": 4},
}
""",
    stub='what_leaks = None  # [floor, "...", "...", "...", "..."]',
    solution="""\
# Four answers cost ln 8 each, the four repeated words and [EOS] nothing.
floor = 4 * math.log(8) / 9
what_leaks = [floor, "shift", "nothing", "mask", "memory"]
""",
    because="Below the floor on new sentences is a leak. The test of moving rows finds a missing "
    "mask, but not a missing shift; the loss while writing finds both.",
    reference=[_FLOOR, *_CAUSES],
    tolerance=0.003,
    mistakes=(
        (
            "Use each of the four causes once, as they are written in the task, behind the floor.",
            Like(lambda answer: _five(answer) and not _named(answer)),
        ),
        *(
            (
                "A loss of 0 on new sentences is nothing to be glad of: half of the words are "
                "random, and nobody can know them. Look at `writing`.",
                _stands("nothing", letter),
            )
            for letter in "AC"
        ),
        (
            "D is far worse on new sentences than on those it was trained on. That happens to no "
            "model that is in order.",
            _stands("nothing", "D"),
        ),
        (
            "B is as good on new sentences as on old ones, so it has not learned any by heart.",
            _stands("memory", "B"),
        ),
        *(
            (
                "What is learned by heart helps on the sentences of the training alone. This model "
                "is at 0 on new ones as well.",
                _stands("memory", letter),
            )
            for letter in "AC"
        ),
        (
            'You have exchanged "mask" and "shift". Without a causal mask all rows see token 4, '
            "row 0 too. If only the shift is missing, no row before row 4 sees it.",
            Like(lambda answer: _lost(answer) == "mask"),
        ),
        *((message, _wrong_floor(*values)) for message, values in _GUESSES),
        (
            "The causes are right. The floor is not: four answers are a choice among eight words, "
            "five are certain. Take the mean of their costs.",
            Like(
                lambda answer: (
                    _named(answer)
                    and _lost(answer) is None
                    and not _floor(answer)
                    and all(not abs(answer[0] - value) < 0.006 for value in _KNOWN)
                )
            ),
        ),
    ),
    wrong={
        'what_leaks = [0.924, "nothing", "memory", "mask", "shift"]': "nothing to be glad of",
        'what_leaks = [0.924, "shift", "memory", "mask", "nothing"]': "no model that is in order",
        'what_leaks = [0.924, "mask", "nothing", "shift", "memory"]': "exchanged",
        'what_leaks = [0.924, "memory", "nothing", "mask", "shift"]': "at 0 on new ones",
        'what_leaks = [8 / 9 * math.log(8), "shift", "nothing", "mask", "memory"]': "second four",
        'what_leaks = [math.log(8), "shift", "nothing", "mask", "memory"]': "one random word",
        'what_leaks = [4 * math.log(8) / 8, "shift", "nothing", "mask", "memory"]': "leaves [EOS]",
        'what_leaks = [4 * math.log2(8) / 9, "shift", "nothing", "mask", "memory"]': "in bits",
        'what_leaks = [0.93, "shift", "nothing", "mask", "memory"]': "what a model reached",
        'what_leaks = [1.5, "shift", "nothing", "mask", "memory"]': "mean of their costs",
        'what_leaks = [0, "shift", "nothing", "mask", "memory"]': "without a leak",
        'what_leaks = [0.924, "shift", "none", "mask", "memory"]': "each of the four causes",
        'what_leaks = ["shift", "nothing", "mask", "memory"]': "length 4",
    },
    right=(
        'what_leaks = [0.924, "shift", "nothing", "mask", "memory"]',
        'what_leaks = (math.log(8**4) / 9, "Shift", "Nothing", "Mask", "Memory")',
        'what_leaks = [-4 / 9 * torch.tensor(1 / 8).log(), "shift", "nothing", "mask", "memory"]',
    ),
)
