"""What a reward buys and costs: `python -m course.making.rewarded` (chapters 22 and 22b).

It trains and measures what `results.json` does not have yet, seed by seed, and writes after each
seed; without the file all is made anew. All arms of a seed begin at one model, and all have about
as many steps as the others; see `tutor/models/rewarded`.
"""

import json
import platform
import time

import torch

from tutor.models.rewarded import (
    ARMS,
    FOLDER,
    RANKS,
    SEEDS,
    first_training,
    measure,
    second_training,
)


def runs_of(seed):
    """{name of a run: what `measure` finds}, the model before the second training first."""
    base = first_training(seed)
    found = {"before": measure(base, base, seed)}
    for arm in ARMS:
        for rank in (None, *RANKS.get(arm, ())):
            name = arm if rank is None else f"{arm}, rank {rank}"
            found[name] = measure(second_training(arm, base, seed, rank), base, seed)
    return found


def main():
    torch.set_num_threads(1)  # so that the same machine gives the same numbers
    path = FOLDER / "results.json"
    found = {
        "command": "python -m course.making.rewarded",
        "seeds": list(SEEDS),
        "machine": f"{platform.system()} {platform.machine()}, one thread",
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"),
        "cpu_seconds": 0,
        "runs": {},
    }
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
    done = len(next(iter(found["runs"].values()), {}).get("right", ()))
    for seed in SEEDS[done:]:
        start = time.process_time()
        for name, numbers in runs_of(seed).items():
            row = found["runs"].setdefault(name, {})
            for what, number in numbers.items():
                row.setdefault(what, []).append(round(number, 4))
        found["cpu_seconds"] += round(time.process_time() - start)
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(seed, {name: row["right"][-1] for name, row in found["runs"].items()}, flush=True)


if __name__ == "__main__":
    main()
