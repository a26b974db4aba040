"""A task that is given by examples: look a key up among pairs seen once (chapter 19).

A row shows 8 pairs, a key and its value, and then asks for the 8 keys in another order, each
question followed by its answer. Keys and values are drawn anew in each row, so nothing about them
can be learned by heart. Source: Olsson et al. 2022, induction heads; Elhage et al. 2021.
"""

from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file
from torch.nn import functional as F

from tutor.evaluation import without_heads
from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.record import record_attention
from tutor.text.tokenizer import BOS
from tutor.training import Recipe, smoothed_cross_entropy, train

SHOWN_PAIRS = 8
KEYS, VALUES = range(4, 20), range(20, 36)  # ids behind the special tokens
NAMES = ["[PAD]", "[UNK]", "[BOS]", "[EOS]", *"abcdefghijklmnop", *map(str, range(16))]
IN_CONTEXT_SIZES = dict(
    vocab_size=36, d_model=64, num_heads=4, d_ff=128, max_len=4 * SHOWN_PAIRS + 1, dropout=0.0
)
IN_CONTEXT_STEPS, ROWS = 400, 64  # rows in a step
ASKED = slice(2 * SHOWN_PAIRS + 1, None, 2)  # where the questions stand, behind [BOS]
IN_CONTEXT_SEEDS, LAYERS = tuple(range(10)), (1, 2)
TESTED = 500


def rows(size, seed):
    """`size` rows of ids, (size, 4 * SHOWN_PAIRS), without [BOS]."""
    generator = torch.Generator().manual_seed(seed)
    keys = torch.rand(size, len(KEYS), generator=generator).argsort(1)  # all different
    keys = keys[:, :SHOWN_PAIRS]  # (size, SHOWN_PAIRS)
    values = torch.randint(len(VALUES), (size, SHOWN_PAIRS), generator=generator)
    shown = torch.stack([keys + KEYS[0], values + VALUES[0]], dim=2)  # (size, SHOWN_PAIRS, 2)
    order = torch.rand(size, SHOWN_PAIRS, generator=generator).argsort(1)
    asked = shown.gather(1, order[:, :, None].expand(-1, -1, 2))  # (size, SHOWN_PAIRS, 2)
    return torch.cat([shown.flatten(1), asked.flatten(1)], dim=1)


def read(ids):
    """What the model reads of rows (N, 4 * SHOWN_PAIRS): [BOS] first, the last answer not."""
    return F.pad(ids[:, :-1], (1, 0), value=BOS)


def answers_loss(model, batch, smoothing=0.0):
    """Nats an answer: no other token of a row can be known."""
    Y = model.read(batch.target_in)[:, ASKED].flatten(0, 1)  # (N * SHOWN_PAIRS, d_model)
    targets = batch.target_out[:, ASKED].flatten()
    return smoothed_cross_entropy(Y, model.embedding.weight, targets, smoothing)


def train_one(num_layers, seed, kind=LanguageModel):
    """A LanguageModel of so many layers, or another `kind` of one, trained from `seed`."""
    torch.manual_seed(seed)
    model = kind(LanguageModelConfig(**IN_CONTEXT_SIZES, num_layers=num_layers))
    pairs = [([], row) for row in rows(IN_CONTEXT_STEPS * ROWS, seed).tolist()]
    recipe = Recipe(IN_CONTEXT_STEPS, ROWS * IN_CONTEXT_SIZES["max_len"], smoothing=0.0, seed=seed)
    train(model, pairs, recipe, loss_of=answers_loss)
    return model


def accuracy(model, ids):
    """The share of right answers on rows (N, 4 * SHOWN_PAIRS)."""
    return answered(model, ids).mean().item()


@torch.no_grad()
def answered(model, ids):
    """Which answers on rows (N, 4 * SHOWN_PAIRS) are right: 1 or 0, (N, SHOWN_PAIRS)."""
    answers = model(read(ids))[:, ASKED].argmax(-1)  # (N, SHOWN_PAIRS)
    return (answers == ids[:, ASKED.start :: 2]).float()


class Shares(NamedTuple):
    """Mean attention of each head, (L, h): to the token before, to the answer."""

    before: torch.Tensor
    answer: torch.Tensor


@torch.no_grad()
def measure(model, ids):
    """What each head looks at in rows (N, 4 * SHOWN_PAIRS): see Shares.

    before: from the shown values to their keys; answer: from a question to the token behind the
    same key, further up.
    """
    seen = read(ids)
    with record_attention(model) as attention:
        model(seen)
    A = torch.stack(attention["decoder"])  # (L, N, h, T, T)
    values = torch.arange(2, 2 * SHOWN_PAIRS + 1, 2)
    before = A[..., values, values - 1].mean((1, 3))  # (L, h)
    # Each question by each pair that was shown: (N, SHOWN_PAIRS, SHOWN_PAIRS), (L, N, h, ...).
    same = seen[:, ASKED, None] == seen[:, None, 1 : 2 * SHOWN_PAIRS : 2]
    at_values = A[:, :, :, ASKED, 2 : 2 * SHOWN_PAIRS + 1 : 2]
    answer = (at_values * same[:, None]).sum(-1).mean((1, 3))  # (L, h)
    return Shares(before, answer)


def best(shares):
    """The (kind, layer, head) with the largest of shares (L, h)."""
    layer, head = divmod(shares.argmax().item(), shares.shape[1])
    return "decoder", layer, head


def switched_off(model, ids):
    """The accuracy without each head alone: a dict from (kind, layer, head)."""
    found = {}
    for layer in range(model.config.num_layers):
        for head in range(model.config.num_heads):
            with without_heads(model, [("decoder", layer, head)]):
                found["decoder", layer, head] = accuracy(model, ids)
    return found


def run(num_layers, seed):
    """Train and look: the model, and a dict of what came out.

    without_previous: the accuracy without those heads of layer 0 that give more than half of their
    weight to the token before; previous_alone: without all others of this layer.
    """
    model, ids = train_one(num_layers, seed), rows(TESTED, seed=99)
    found = {"layers": num_layers, "seed": seed, "accuracy": round(accuracy(model, ids), 3)}
    before, answer = measure(model, ids)
    found["heads"] = [
        {"layer": layer, "head": head, "without": round(without, 3),
         "before": round(before[layer, head].item(), 3),
         "answer": round(answer[layer, head].item(), 3)}
        for (_, layer, head), without in switched_off(model, ids).items()
    ]  # fmt: skip
    first = {("decoder", 0, head): share > 0.5 for head, share in enumerate(before[0])}
    for name, off in (("without_previous", True), ("previous_alone", False)):
        with without_heads(model, [head for head, looks in first.items() if looks == off]):
            found[name] = round(accuracy(model, ids), 3)
    return model, found


def load(num_layers):
    """The trained LanguageModel of so many layers, 1 or 2, from seed 0."""
    model = LanguageModel(LanguageModelConfig(**IN_CONTEXT_SIZES, num_layers=num_layers)).eval()
    weights = load_file(Path(__file__).parent / f"in_context_{num_layers}.safetensors")
    model.load_state_dict({name: W.float() for name, W in weights.items()})
    return model
