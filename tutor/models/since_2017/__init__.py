"""What the changes since 2017 are worth, measured on small language models (chapter 16).

`python -m course.making.since_2017` trains what `results.json` does not have yet, and writes it
after each row. So its rows may come from several sittings; without the file, all are trained anew.
All models read the English of the built-in grammar, one word a token, with one budget of parameters
and steps. `LADDER` makes one change after another; `PATIENT` rungs are trained once more, with a
longer warm-up, and the first and the last rung at one more rate (`EDGES`). `KINDS` differ in
positions and window alone, are trained on short texts and tested on long ones, where "far" says how
much attention ALiBi still gives to keys further back than a text of the training was long.
`published.json` has the sizes of models that others published.
"""

import json
import math
import random
from pathlib import Path

import torch
import torch.nn.functional as F

from tutor.attention import PAD
from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.record import record_attention
from tutor.text.batches import pad
from tutor.text.tokenizer import BOS, EOS, SPECIAL
from tutor.training.optimizers import warmup_cosine

FOLDER = Path(__file__).parent
SEEDS = (0, 1, 2)
STEPS, BATCH = 500, 64
RATES = (0.01, 0.03)  # highest learning rates; every rung is trained with both
WARMUP, LONG_WARMUP = 50, 250  # steps in which the learning rate rises
SHORT, LONG = 32, 256  # tokens of a text in training and in the test of lengths
PAPER = dict(
    d_model=64, num_layers=2, num_heads=4, d_ff=256, dropout=0.0, max_len=LONG,
    positions="sinusoidal", norm_first=False,
)  # fmt: skip
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
KINDS = {
    "learned": dict(positions="learned"),
    "sinusoidal": dict(positions="sinusoidal"),
    "RoPE": dict(positions="rope"),
    "ALiBi": dict(positions="alibi"),
    "RoPE, window of 16": dict(positions="rope", window=16),
}


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


def cut(caption):
    """The words of a caption, the full stop apart."""
    return caption.removesuffix(".").replace(",", " ,").split() + ["."]


def number_words(captions):
    """Word -> id, one for each word of the captions (a list of str), after the special tokens."""
    words = sorted({word for caption in captions for word in cut(caption)})
    return {word: number for number, word in enumerate(words, start=len(SPECIAL))}


def rung(name):
    """The settings of LADDER[name], with those of all the rungs before it."""
    settings = dict(PAPER)
    for here, changes in LADDER.items():
        settings |= changes
        if here == name:
            return settings
    raise ValueError(f"There is no rung {name!r}: take one of {', '.join(LADDER)}.")


def losses(model, ids):
    """Nats of each next token of ids (N, T), 0 where it is padding: (N, T - 1)."""
    Z = model(ids[:, :-1])  # (N, T - 1, vocab_size)
    return F.cross_entropy(Z.transpose(1, 2), ids[:, 1:], ignore_index=PAD, reduction="none")


def train(settings, batches, seed, lr, warmup=WARMUP):
    """A LanguageModel after one step on each of `batches`, ids (N, T) each.

    The learning rate rises to lr in `warmup` steps and falls along a cosine.
    """
    torch.manual_seed(seed)
    model = LanguageModel(LanguageModelConfig(**settings))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True
    )
    for step, ids in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = lr * warmup_cosine(step, len(batches), warmup)
        optimizer.zero_grad()
        (losses(model, ids).sum() / (ids[:, 1:] != PAD).sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


def captions_in_batches(ids, seed):
    """STEPS batches of BATCH captions each, padded; ids: a list of lists of int."""
    rng = random.Random(seed)
    return [pad([[BOS, *rng.choice(ids), EOS] for _ in range(BATCH)]) for _ in range(STEPS)]


def texts(ids, number, length, seed):
    """`number` texts of `length` tokens, cut from captions in random order: (number, length)."""
    rng = random.Random(seed)
    stream = []
    while len(stream) < (number + 1) * length:
        stream += [*rng.choice(ids), EOS]
    return torch.tensor(stream[: number * length]).reshape(number, length)


@torch.no_grad()
def nats_per_caption(model, ids):
    """Mean over captions of -log p of all their words and the end; ids: a list of lists of int."""
    return losses(model, pad([[BOS, *caption, EOS] for caption in ids])).sum(dim=1).mean().item()


@torch.no_grad()
def nats_by_place(model, ids, parts=8):
    """Mean nats a token in each of `parts` equal stretches of the texts ids (N, T)."""
    per_place = losses(model, ids).mean(dim=0)  # (T - 1,)
    return [part.mean().item() for part in per_place.tensor_split(parts)]


@torch.no_grad()
def shares_of_far_keys(model, ids, distance):
    """How much attention goes to keys `distance` tokens back or more: one share a head, (h,).

    Mean over the layers, the texts ids (N, T), and the last `distance` queries of each text.
    """
    with record_attention(model) as attention:
        model(ids)
    A = torch.stack(attention["decoder"])  # (L, N, h, T, T)
    far = A.tril(diagonal=-distance)[..., -distance:, :].sum(dim=-1)  # (L, N, h, distance)
    return far.mean(dim=(0, 1, 3)).tolist()
