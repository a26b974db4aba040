"""What chapters 18 and 19 show and is too long to compute on their pages.

`truth.json`: for 60 captions, the nats that the grammar itself needs for each word.
`translation.json`: translating as a language model, against the encoder-decoder.
`in_context.json`: a task given by examples, with the models of seed 0 beside it.
`samples.json`: how right and how varied captions are that are drawn by several rules.
`python -m course.making.language truth` makes the first again, and so on, in minutes each.
"""

import json
import math
from pathlib import Path

from tutor.text.truth import generate_english, next_words, written_words

LANGUAGE_FOLDER = Path(__file__).parent
CAPTIONS, SEED = 60, 2  # seed 0 is trained on, seed 1 is tested with


def load(name):
    """The results of `name`, one of the four above, as they were saved."""
    return json.loads((LANGUAGE_FOLDER / f"{name}.json").read_text("utf-8"))


def true_nats(text):
    """For each word of a caption, the full stop included: -log of its true probability."""
    _, begun = next_words(written_words(text))
    before = [1.0, *begun]
    return [abs(round(math.log(a / b), 4)) for a, b in zip(before, begun, strict=False)]


def truth():
    return [[text, true_nats(text)] for text in generate_english(CAPTIONS, SEED)]
