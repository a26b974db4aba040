"""What the changes since 2017 are worth, measured on small language models (chapter 17).

`LADDER` makes one change after another; `PATIENT` rungs are trained once more, with a longer
warm-up, and the first and the last rung at one more rate (`EDGES`). How it was measured stands in
`course/making/since_2017.py`. `published.json` has the sizes of models that others published.
"""

import json
import math
from pathlib import Path

import torch

FOLDER = Path(__file__).parent
SEEDS = (0, 1, 2)
# Each rung keeps the changes of those before it. The widths d_ff keep the number of parameters.
LADDER = {
    "2017": {},
    "norm first": dict(norm_first=True),
    "RMSNorm": dict(norm="rms"),
    "no biases": dict(bias=False, d_ff=259),
    "SwiGLU": dict(feed_forward="swiglu", d_ff=172),
    "RoPE": dict(positions="rope"),
    "grouped queries": dict(num_kv_heads=2, d_ff=194),
    "QK-norm": dict(qk_norm=True),
}
PATIENT = ("2017", "norm first")
EDGES = {"2017": 0.005, "QK-norm": 0.06}  # one rate beyond the better one of RATES


def load(name):
    """The numbers in `name`.json: "results" or "published"."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def above_truth(name, lr, part="ladder"):
    """Nats a caption above the grammar's entropy, one for each seed.

    part: "ladder", "patient" or "edges".
    """
    results = load("results")
    return [nats - results["truth"] for nats in results[part][name][f"nats at {lr}"]]


def gain(before, after):
    """What `after` gained on `before`, the losses of each seed: (mean, low, high).

    Seeds share their batches, so the difference is taken seed by seed; low and high are the ends
    of its 95 % interval, by Student's t.
    """
    t = 4.303  # for three seeds
    d = torch.tensor(before) - torch.tensor(after)  # (seeds,)
    mean, half = d.mean().item(), t * d.std().item() / math.sqrt(len(SEEDS))
    return mean, mean - half, mean + half


def gains(lr):
    """What each rung gained on the one before it: {name: gain}, nats a caption."""
    names = list(LADDER)
    return {
        name: gain(above_truth(before, lr), above_truth(name, lr))
        for before, name in zip(names, names[1:], strict=False)
    }
