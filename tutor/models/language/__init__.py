"""What chapter 19 shows and is too long to compute on its page.

`translation.json`: translating as a language model, against the encoder-decoder.
`in_context.json`: a task given by examples, with the models of seed 0 beside it.
`python -m course.making.language translation` makes the first again, and so on, in minutes each.
"""

import json
from pathlib import Path

LANGUAGE_FOLDER = Path(__file__).parent


def load(name):
    """The results of `name`, one of the two above, as they were saved."""
    return json.loads((LANGUAGE_FOLDER / f"{name}.json").read_text("utf-8"))
