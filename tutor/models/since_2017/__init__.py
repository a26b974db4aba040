"""What the changes since 2017 are worth, measured on small language models (chapters 20, 20b).

`LADDER` makes one change after another. How it was measured stands in
`course/making/since_2017.py`. `published.json` has the sizes of models that others published.
"""

import json
import math
from pathlib import Path

import torch

FOLDER = Path(__file__).parent
SEEDS = tuple(range(10))  # of muon.json, and of the rungs in MANY at the lower rate
FEW = SEEDS[:3]  # of all else
MANY = ("no biases", "SwiGLU", "RoPE", "grouped queries", "QK-norm")
STUDENT = {3: 4.303, 10: 2.262}  # number of seeds -> the factor of a 95 % interval
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


def load(name):
    """The numbers in `name`.json: "results" or "published"."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def error_of(make, target, seed):
    """The squared error at `target`, of two random numbers, of the layer make() after training."""
    torch.manual_seed(seed)
    layer = make()
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.02)
    for _ in range(200):
        X = 2 * torch.rand(256, 2) - 1  # (examples, 2), between -1 and 1
        loss = (layer(X)[:, 0] - target(X[:, 0], X[:, 1])).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def parameters(m):
    """A published model's matrices, and those that a token meets: two numbers of parameters.

    m: a row of `load("published")`. Norms, biases, routers and positions are left out; a token
    meets the table of the output, and of its experts the `active` and the `shared` ones.
    """
    L, d, h, d_k = m["num_layers"], m["d_model"], m["num_heads"], m["d_k"]
    if "latent" in m:  # queries and keys and values go through a narrow vector each
        c, d_v = m["latent"], m["d_v"]
        attention = m["latent_Q"] * (d + h * d_k) + d * (c + m["d_turned"])
        attention += c * h * (d_k - m["d_turned"] + d_v) + h * d_v * d
    else:
        attention = 2 * d * d_k * (h + m["num_kv_heads"])
    dense = (2 + m["gated"]) * d * m["d_ff"]
    every = met = dense * L
    if "experts" in m:
        expert, routed = 3 * d * m["d_expert"], L - m["dense_layers"]
        every = dense * m["dense_layers"] + routed * expert * (m["experts"] + m["shared"])
        met = dense * m["dense_layers"] + routed * expert * (m["active"] + m["shared"])
    table = m["vocab_size"] * d
    return L * attention + every + (2 - m["tied"]) * table, L * attention + met + table


def kept_numbers(m):
    """How many numbers a published model keeps of each token, in all layers, without a window."""
    if "latent" in m:
        return m["num_layers"] * (m["latent"] + m["d_turned"])
    return 2 * m["num_layers"] * m["num_kv_heads"] * m["d_k"]


def above_truth(name, lr):
    """Nats a caption above the grammar's entropy, one for each seed."""
    results = load("results")
    return [nats - results["truth"] for nats in results["ladder"][name][f"nats at {lr}"]]


def gain(before, after):
    """What `after` gained on `before`, the losses of each seed: (mean, low, high).

    Seeds share their batches, so the difference is taken seed by seed; low and high are the ends
    of its 95 % interval, by Student's t. With lists of different lengths the shorter one counts.
    """
    number = min(len(before), len(after))
    d = torch.tensor(before[:number]) - torch.tensor(after[:number])  # (seeds,)
    mean, half = d.mean().item(), STUDENT[number] * d.std().item() / math.sqrt(number)
    return mean, mean - half, mean + half


def gains(lr):
    """What each rung gained on the one before it: {name: gain}, nats a caption."""
    names = list(LADDER)
    return {
        name: gain(above_truth(before, lr), above_truth(name, lr))
        for before, name in zip(names, names[1:], strict=False)
    }
