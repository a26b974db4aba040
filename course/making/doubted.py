"""When to doubt a translator: `python -m course.making.doubted FOLDER`.

Writes into the config.json of a model folder the strangeness that two of a hundred captions of the
validation split exceed (`tutor.translator.Translator.strangeness`), and into a strangeness.json
beside the folder how strange these captions are, hundredth by hundredth, and 200 other texts
(tests/benchmarks/others.json).
"""

import datetime
import itertools
import json
import sys
from pathlib import Path

import numpy as np

from tutor.text.multi30k import load_multi30k
from tutor.training.checkpoint import CONFIG, write_json
from tutor.translator import Translator

DOUBTED = 0.02  # of the captions
OTHERS = Path(__file__).parents[2] / "tests" / "benchmarks" / "others.json"


def main(folder):
    captions, _ = load_multi30k("val")
    others = itertools.chain(*json.loads(OTHERS.read_text(encoding="utf-8")).values())
    translator, found = Translator.load(folder), {}
    for kind, texts in {"human captions": captions, "other texts": list(others)}.items():
        found[kind] = sorted(each.strangeness for each in translator.translations(texts))
    strange = found["human captions"]
    above = round(strange[round((1 - DOUBTED) * len(strange))], 2)
    hundredths = {kind: np.quantile(all_, np.arange(101) / 100) for kind, all_ in found.items()}
    about = {
        "command": f"python -m course.making.doubted {folder}",
        "date": datetime.date.today().isoformat(),
        "texts": {kind: len(all_) for kind, all_ in found.items()},
        "hundredths": {kind: [round(x, 3) for x in xs.tolist()] for kind, xs in hundredths.items()},
    }
    write_json(Path(folder).with_name("strangeness.json"), about)
    path = Path(folder, CONFIG)
    config = json.loads(path.read_text(encoding="utf-8"))
    write_json(path, config | {"doubted_above": above})
    print(f"{folder} is doubted above {above}")


if __name__ == "__main__":
    main(sys.argv[1])
