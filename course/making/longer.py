"""How far a small model reads beyond its training: `python -m course.making.longer` (21, 21b).

It trains a model for each seed that `results.json` does not have yet, on texts of SHORT tokens, and
writes the file after each. Without the file, all are trained anew. Each scaling reads texts of LONG
tokens with the same weights, then once more after 50 further steps on such texts. The window is
measured on numbers whose name came at most KNOWN_WITHIN tokens before, so that it can know them.
"""

import json
import platform
import time
from pathlib import Path

import torch

from tutor.models import longer
from tutor.models.longer import (
    BITS,
    DISTANCES,
    FACTOR,
    LONG,
    MORE_STEPS,
    SCALINGS,
    SHORT,
    TRAIN_STEPS,
    by_place,
    changed,
    lost,
    recall,
    sinks,
)

FILE = Path(longer.__file__).parent / "results.json"
SEEDS = tuple(range(10))
NARROW, KNOWN_WITHIN, SINKS = 16, 12, (0, 1, 4)


def rounded(numbers):
    return [round(x, 4) for x in numbers]


def measure(seed):
    """All that is measured of one training, a dict of dicts."""
    model = longer.train_short(seed)
    found = {part: {} for part in ("by_place", "recall", "window", "bits")}
    for name, settings in SCALINGS.items():
        for steps in (0, MORE_STEPS):
            new = changed(model, **settings)
            if steps:
                longer.train_longer(new, seed)
            key = f"{name}, {steps} steps"
            found["by_place"][key] = rounded(by_place(new))
            found["recall"][key] = rounded(recall(new, distance) for distance in DISTANCES)
    for number in SINKS:
        with sinks(number):
            nats = by_place(changed(model, window=NARROW), within=KNOWN_WITHIN)
        found["window"][f"{number} sinks"] = rounded(nats)
    found["window"]["no window"] = rounded(by_place(model, within=KNOWN_WITHIN))
    found["bits"] = {bits: round(lost(model, bits), 6) for bits in BITS}
    return found


def main():
    results = {
        "command": "python -m course.making.longer",
        "trained": SHORT,
        "tested": LONG,
        "factor": FACTOR,
        "steps": TRAIN_STEPS,
        "window": NARROW,
        "within": KNOWN_WITHIN,
        "distances": DISTANCES,
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, {torch.get_num_threads()} thread(s)",
        "seeds": [],
        "runs": [],
    }
    if FILE.exists():
        known = longer.load("results")
        results |= {part: known[part] for part in ("seeds", "runs")}
    for seed in SEEDS[len(results["seeds"]) :]:
        results["runs"].append(measure(seed))
        results["seeds"].append(seed)
        FILE.write_text(json.dumps(results) + "\n", encoding="utf-8")
        print("seed", seed, results["runs"][-1]["by_place"], flush=True)


if __name__ == "__main__":
    main()
