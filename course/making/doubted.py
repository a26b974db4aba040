"""When to doubt a translator: `python -m course.making.doubted FOLDER`.

Writes into the config.json of a model folder the strangeness that two of a hundred captions of the
validation split exceed (`tutor.translator.Translator.strangeness`).
"""

import json
import sys
from pathlib import Path

from tutor.text.multi30k import load_multi30k
from tutor.training.checkpoint import CONFIG, write_json
from tutor.translator import Translator

DOUBTED = 0.02  # of the captions


def main(folder):
    captions, _ = load_multi30k("val")
    strange = sorted(each.strangeness for each in Translator.load(folder).translations(captions))
    above = round(strange[round((1 - DOUBTED) * len(strange))], 2)
    path = Path(folder, CONFIG)
    config = json.loads(path.read_text(encoding="utf-8"))
    write_json(path, config | {"doubted_above": above})
    print(f"{folder} is doubted above {above}")


if __name__ == "__main__":
    main(sys.argv[1])
