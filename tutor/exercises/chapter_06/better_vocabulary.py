"""Which vocabulary is best?"""

import math
from itertools import product

from tutor.check.exercise import PREDICT, Exercise

# Size -> ids of a French sentence with its mark, and loss on `val` in nats an id, after 150 steps.
# Each is one run: generate_pairs("train", 6000, seed=0); Tokenizer.train with that size; a model
# with d_model=64, num_heads=4, d_ff=128, num_layers=2, norm_first; AdamW, rate 0.004 with betas
# (0.9, 0.98), warmup_cosine of 600 steps; 32 random pairs a step; torch.manual_seed(0),
# random.Random(0). `val`: 500 pairs. After 600 steps, greedy: 0, 2, 12, 36 right of 200.
MEASURED = {300: (36.50, 2.309), 600: (21.05, 2.816), 1200: (16.10, 3.006), 2400: (11.62, 3.123)}

_SIZES = {
    300: "Of these models the one with 300 ids is worst. It has the lowest loss an id, but it pays "
    "it 36 times a sentence.",
    600: "Another model pays less for a sentence than the one with 600 ids.",
    1200: "Another model pays less for a sentence than the one with 1,200 ids.",
    2400: "",
}
_NUMBERS = {
    "That number is the loss of an id. Asked for is that of a sentence.": lambda ids, loss: loss,
    "": lambda ids, loss: ids * loss,
    "Nats are asked for; those are bits.": lambda ids, loss: ids * loss / math.log(2),
    "You divide by the number of ids. A sentence costs the sum over them.": (
        lambda ids, loss: loss / ids
    ),
    "That number is the length, not the loss.": lambda ids, loss: ids,
    "Do not take the exponential: asked for is the loss.": lambda ids, loss: math.exp(loss),
}


def _guesses():
    for (size, (ids, loss)), (words, number) in product(MEASURED.items(), _NUMBERS.items()):
        message = " ".join(filter(None, (_SIZES[size], words)))
        if message:
            yield message, [size, number(ids, loss)]
            yield message, [size, round(number(ids, loss), 1)]


better_vocabulary = Exercise(
    name="better_vocabulary",
    chapter="06",
    section="How large a vocabulary?",
    kind=PREDICT,
    title="Which vocabulary is best?",
    goal="Compare models that cut text into different pieces.",
    difficulty=3,
    importance=4,
    minutes=5,
    text="""\
Four runs of one small translator, on the same 6,000 captions, for the same 150 steps. Only the size
of the vocabulary differs. Measured on the same 500 new captions, in French:

| size of the vocabulary | ids of a sentence, with its mark | loss of an id, in nats |
|---|---|---|
| 300 | 36.50 | 2.309 |
| 600 | 21.05 | 2.816 |
| 1,200 | 16.10 | 3.006 |
| 2,400 | 11.62 | 3.123 |

A colleague chooses 300: *it has the lowest loss*. But an id of the first row is little more than
one letter, and one of the last row about four. Which model gives the French *sentences* the highest
probability?

**Predict** a list of two: the size of its vocabulary, and its loss of a mean sentence in nats,
to one decimal.""",
    hints=(
        "What has to be the same for all four, so that numbers can be compared: the id, or the "
        "sentence?",
        "The probabilities of its ids multiply to that of the sentence, so their losses add up. "
        "How many ids does a mean sentence have?",
        "Multiply the last two columns in each row. The smallest product wins.",
    ),
    stub="better_vocabulary = None  # a list of two, such as [1000, 123.4]",
    solution="better_vocabulary = [2400, 11.62 * 3.123]  # the products: 84.3, 59.3, 48.4, 36.3",
    because=(
        "36.3 nats a sentence; the colleague's 300 costs 84.3. After 600 steps the four write 0, "
        "2, 12 and 36 of 200 sentences right, in the order of the table."
    ),
    reference=[2400, 11.62 * 3.123],
    tolerance=3e-3,
    mistakes=(
        *_guesses(),
        ("First the size of the vocabulary, then the loss.", [11.62 * 3.123, 2400]),
        ("That is right so far. Give the number to one decimal.", [2400, 36]),
    ),
    wrong={
        "better_vocabulary = [300, 2.309]": "lowest loss an id",
        "better_vocabulary = [300, 2.3]": "lowest loss an id",
        "better_vocabulary = [2400, 3.1]": "Asked for is that of a sentence",
        "better_vocabulary = [300, 36.5 * 2.309]": "36 times a sentence",
        "better_vocabulary = [2400, 3.123]": "Asked for is that of a sentence",
        "better_vocabulary = [2400, 52.4]": "those are bits",
        "better_vocabulary = [2400, 3.123 / 11.62]": "divide by the number of ids",
        "better_vocabulary = [1200, 48.4]": "than the one with 1,200",
        "better_vocabulary = [600, 2.816]": "one with 600 ids. That number is the loss of an id",
        "better_vocabulary = 2400": "a list is wanted",
        "better_vocabulary = [2400, 36]": "to one decimal",
        "better_vocabulary = [36.3, 2400]": "First the size",
        "better_vocabulary = [2400, 11.62]": "is the length",
        "better_vocabulary = [300, math.exp(2.309)]": "exponential",
    },
    right=(
        "better_vocabulary = (2400, 36.3)",
        """\
rows = {300: (36.50, 2.309), 600: (21.05, 2.816), 1200: (16.10, 3.006), 2400: (11.62, 3.123)}
better_vocabulary = min((a * b, size) for size, (a, b) in rows.items())[::-1]
""",
    ),
)
