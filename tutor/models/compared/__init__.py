"""How searches compare on human captions, counted for BLEU (chapter 10).

`counts.safetensors` holds no text, only the ten `bleu_counts` of each of the 1,000 captions of
Multi30k's test_2016_flickr, in their order, for each of SEARCHES. It was counted for the model that
its metadata name. `python -m course.making.compared` counts anew, in a minute, for the one that
ships.

`trainings.json` says how three small translators, trained by one recipe from three seeds, differ on
1,000 captions of the built-in grammar and on 9,000 others. With `trainings` the same command makes
it.
"""

import json
from pathlib import Path

from safetensors.torch import load_file

COUNTS = Path(__file__).parent / "counts.safetensors"
TRAININGS = COUNTS.with_name("trainings.json")
# A name, and what `Translator.translate` is told. 1.4 was chosen on other captions before.
SEARCHES = {
    "greedy": dict(beams=1),
    "2 beams": dict(beams=2, alpha=1.4),
    "5 beams": dict(beams=5, alpha=1.4),
    "5 beams, alpha 0": dict(beams=5, alpha=0.0),
}


def load_counts():
    """A dict from the name of a search to its counts, (1000, 10), doubles."""
    found = load_file(COUNTS)
    return {name: found[name].double() for name in SEARCHES}


def load_trainings():
    """BLEU of one seed less that of another: {pair: {captions: [value, low, high]}}, at 98.3 %."""
    return json.loads(TRAININGS.read_text())["gains"]
