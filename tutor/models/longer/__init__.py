"""A small model that looks numbers up, in texts longer than those of its training (21, 21b).

A text is a list of pairs, a name and its number. The numbers are drawn anew for each text, and stay
within it: a name that comes back brings its number along. So a number is known if its name came
before, and the loss counts known numbers alone. How it was measured stands in
`course/making/longer.py`, what came out in `results.json`.
"""

import json
import math
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR

from tutor.attention import causal_mask
from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.models.language.in_context import KEYS, VALUES
from tutor.modern import window_mask
from tutor.smaller import RoundedCache
from tutor.text.tokenizer import BOS
from tutor.training import Recipe, make_optimizers, warmup_cosine

OWNERS = KEYS[:8]  # ids of the names
SHORT, LONG = 32, 256  # tokens of a text in training, and beyond it
FACTOR = LONG / SHORT
SIZES = dict(
    vocab_size=36, d_model=64, num_layers=2, num_heads=4, d_ff=128, max_len=LONG, dropout=0.0,
    positions="rope",
)  # fmt: skip
TRAIN_STEPS, TRAIN_ROWS, MORE_STEPS, MORE_ROWS = 300, 64, 50, 4
BASE, D_K = 10_000.0, SIZES["d_model"] // SIZES["num_heads"]
TRAINED = dict(factor=FACTOR, original_max_position_embeddings=SHORT)
SCALINGS = {  # settings of a LanguageModelConfig
    "as trained": {},
    "linear": dict(rope_scaling=dict(rope_type="linear", factor=FACTOR)),
    "NTK-aware": dict(rope_base=BASE * FACTOR ** (D_K / (D_K - 2))),
    "YaRN": dict(rope_scaling=dict(
        rope_type="yarn", beta_fast=32, beta_slow=1, truncate=False,
        attention_factor=0.1 * math.log(FACTOR) + 1, **TRAINED,
    )),
    "Llama 3": dict(rope_scaling=dict(
        rope_type="llama3", low_freq_factor=1.0, high_freq_factor=4.0, **TRAINED
    )),
}  # fmt: skip
DISTANCES = (8, 16, 32, 64, 128, 240)  # tokens between the two mentions
BITS = (8, 6, 5, 4, 3, 2)


def load(name):
    """The numbers in `name`.json: "results"."""
    return json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))


def texts(size, length, seed, distance=None):
    """`size` texts: ids (size, length + 1), with [BOS] in front, and names (size, length / 2).

    distance: between the two mentions of the last name, which nothing else mentions; even.
    """
    generator = torch.Generator().manual_seed(seed)
    facts = torch.randint(len(VALUES), (size, len(OWNERS)), generator=generator)
    rare = len(OWNERS) - 1 if distance else None
    names = torch.randint(rare or len(OWNERS), (size, length // 2), generator=generator)
    if distance:
        names[:, [-1 - distance // 2, -1]] = rare
    numbers = facts.gather(1, names)
    ids = torch.stack([names + OWNERS[0], numbers + VALUES[0]], dim=2).flatten(1)  # (size, length)
    return F.pad(ids, (1, 0), value=BOS), names


def known(names, within=None):
    """Which numbers can be known: their name, in names (N, n), came before. (N, n) bool.

    within: up to so many tokens before; None means anywhere.
    """
    same = (names[:, :, None] == names[:, None]).tril(-1)  # (N, n, n)
    return (same if within is None else same.triu(-(within // 2))).any(-1)


def losses(model, ids, cache=None):
    """Nats of each number of the texts ids (N, T + 1): (N, T / 2)."""
    Z = model(ids[:, :-1], cache=cache)[:, 1::2]  # (N, T / 2, vocab_size)
    return F.cross_entropy(Z.mT, ids[:, 2::2], reduction="none")


def train_at(model, length, steps, rows, lr, seed):
    """Train `model` on texts of so many tokens, in place; returns it in eval mode."""
    recipe = Recipe(steps=steps, lr=lr, lr_rest=0.8 * lr)
    optimizers = make_optimizers(model, recipe)
    factor = partial(warmup_cosine, steps=steps, warmup=steps // 10)
    schedules = [LambdaLR(optimizer, factor) for optimizer in optimizers]
    ids, names = texts(steps * rows, length, seed)
    for some, their in zip(ids.split(rows), names.split(rows), strict=True):
        model.zero_grad()
        losses(model, some)[known(their)].mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for each in (*optimizers, *schedules):
            each.step()
    return model.eval()


def train_short(seed):
    """A LanguageModel that was trained on texts of SHORT tokens."""
    torch.manual_seed(seed)
    model = LanguageModel(LanguageModelConfig(**SIZES))
    return train_at(model, SHORT, TRAIN_STEPS, TRAIN_ROWS, 0.005, seed)


def train_longer(model, seed):
    """`model` after MORE_STEPS further steps on texts of LONG tokens."""
    return train_at(model, LONG, MORE_STEPS, MORE_ROWS, 0.0025, 1000 + seed)


def changed(model, **settings):
    """The same weights in a LanguageModel with other settings, such as those in SCALINGS."""
    new = LanguageModel(replace(model.config, **settings))
    new.load_state_dict(model.state_dict())
    return new.eval()


@contextmanager
def sinks(number):
    """Within it, a window leaves the first `number` tokens of a text in sight."""

    def with_sinks(T, window, device=None):
        mask = window_mask(T, window, device)  # (T, T)
        mask[:, :number] = causal_mask(T, device)[:, :number]
        return mask

    with patch("tutor.language_model.window_mask", with_sinks):
        yield


@torch.no_grad()
def by_place(model, parts=8, within=None, size=64, speeds=None):
    """Mean nats of a known number in each of `parts` equal stretches of texts of LONG tokens.

    speeds: (d_k / 2,), at which the same weights turn queries and keys; None means its own.
    """
    if speeds is not None:
        with patch("tutor.modern.scaled_speeds", lambda *_: speeds):
            return by_place(changed(model, **SCALINGS["linear"]), parts, within, size)
    ids, names = texts(size, LONG, seed=9999)
    nats, there = losses(model, ids), known(names, within)  # (N, LONG / 2) each
    pairs = zip(nats.tensor_split(parts, 1), there.tensor_split(parts, 1), strict=True)
    return [some[which].mean().item() for some, which in pairs]


@torch.no_grad()
def recall(model, distance, size=64):
    """The share of numbers that are right at such a distance from their only other mention."""
    ids, _ = texts(size, distance + 18, 9998, distance)
    return (model(ids[:, :-1])[:, -1].argmax(-1) == ids[:, -1]).float().mean().item()


@torch.no_grad()
def lost(model, bits):
    """Nats that a known number costs more if keys and values are kept in so many bits."""
    ids, names = texts(200, SHORT, seed=9997)
    more = losses(model, ids, RoundedCache(model, bits)) - losses(model, ids)  # (N, SHORT / 2)
    return more[known(names)].mean().item()
