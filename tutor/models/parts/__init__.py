"""What an encoder loses with a part of it, measured for ten seeds (chapter 05).

`CHANGES` are the encoders of that chapter, each told by what differs from the whole one: settings
of the page's own `learn`, which `python -m course.making.parts` runs from the text of the page.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent
SEEDS = tuple(range(10))
EVERY = 40  # steps; a curve has one share of right answers for so many
UPDATES = {"parts": 800, "sizes": 800, "depth": 600}  # steps of a training
WORDS, PLACES = (1, 6, 36), (2 / 3, 4, 24)  # lengths of a word and of its place
WHOLE = "the whole"
CHANGES = {
    "parts": {
        WHOLE: {},
        "no positions": dict(place=0),
        "one layer": dict(layers=1),
        "no residual": dict(without="residual"),
        "no norm": dict(without="norm"),
        "no feed-forward": dict(without="feed-forward"),
        "pre-norm": dict(norm_first=True),
    },
    "sizes": {
        f"{word:g}, {place:.2g}": dict(word=word, place=place)
        for word in WORDS
        for place in PLACES
        if (word, place) != (6, 4)  # that is the whole one
    }
    | {"3.43, 2.29": dict(word=3.43, place=2.29)},  # 3 to 2, and the sum as long as of 1 and 4
    "depth": {
        "post-norm": dict(layers=6),
        "post-norm, warm-up": dict(layers=6, warm_up=200),
        "post-norm, third rate": dict(layers=6, rate=1e-3),
        "pre-norm": dict(layers=6, norm_first=True),
        "no norm": dict(layers=6, without="norm"),
    },
}


def load(name):
    """What ships: "curves" or "looks", measured by `course/making/parts.py`.

    curves: {experiment: {name: one list of shares for each of SEEDS}}. looks: for each of SEEDS the
    shares of right answers of the whole encoder without each of the page's looks, in its order.
    """
    return json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))[name]
