"""What an encoder loses with a part of it, measured for ten seeds (chapters 05 and 05b).

`CHANGES` are the encoders of these chapters, each told by what differs from the whole one: settings
of a training, which `python -m course.making.parts` runs from the texts of both pages.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent
SEEDS = tuple(range(10))
EVERY = 40  # steps; a curve has one share of right answers for so many
UPDATES = {"parts": 800, "sizes": 800, "depth": 600}  # steps of a training
WHOLE = "the whole"
CHANGES = {
    "parts": {
        WHOLE: {},
        "no positions": dict(place=0),
        "one layer": dict(layers=1),
        "no residual": dict(without="residual"),
        "no norm": dict(without="norm"),
        "no feed-forward": dict(without="feed-forward"),
    },
    "sizes": {  # lengths of a word and of its place, in the whole 6 and 4
        "no factor": dict(word=1),
        "ratio mended": dict(word=3.43, place=2.29),  # the sum is as long as of 1 and 4
        "a sixth as long": dict(word=1, place=2 / 3),
    },
    "depth": {
        "post-norm": dict(layers=6),
        "post-norm, third rate": dict(layers=6, rate=1e-3),
        "post-norm, warm-up": dict(layers=6, warm_up=200),
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
