"""What a second training buys and what it costs (chapter 22), on captions of one shape.

The captions say how something is ("The door is white."), one word a token, drawn by the built-in
grammar, which also judges what a model writes. `results.json` was made by
`python -m course.making.rewarded`.
"""

import copy
import json
import math
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import torch
from torch.nn.functional import pad as fill

from tutor.decoding import chooser
from tutor.language_model import LanguageModel, LanguageModelConfig, write_on
from tutor.text.grammar import Caption, join_words
from tutor.text.tokenizer import BOS, SPECIAL, UNK
from tutor.text.truth import generate_english, log_probability, ways, written_words
from tutor.training import Recipe, language_loss, train
from tutor.training.rewarded import (
    add_lora,
    as_batch,
    imitate,
    log_probabilities,
    prefer,
    reinforce,
)

FOLDER = Path(__file__).parent
SEEDS = range(10)
STUDENT_OF_TEN = 2.262  # the factor of a 95 % interval of ten seeds
RANKS = {"GRPO": (1, 4, 16), "DPO": (4,)}  # of LoRA, beside all weights
WRITE_BE = Caption.write_be  # the method of the grammar that writes this shape
AT_MOST = 16  # words that a model may write
CAPTIONS_DRAWN = 500  # to be measured
WORDS_COUNTED = 500  # among which different ones count


def load():
    """The measured numbers: {"runs": {arm: {name: one number a seed}}, ...}."""
    return json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))


def mean_and_interval(numbers):
    """Mean of a list of ten numbers, and half its 95 % interval."""
    x = torch.tensor(numbers).double()  # (seeds,)
    return x.mean().item(), STUDENT_OF_TEN * x.std().item() / math.sqrt(len(x))


def table(arms):
    """What was measured, as text: a row an arm, the mean of ten seeds, and intervals of two."""
    rows = [f"{'':15} right of 100   divergence   nats above   length"]
    for arm in arms:
        m = {what: mean_and_interval(numbers) for what, numbers in load()["runs"][arm].items()}
        right, half = (100 * x for x in m["right"])
        nats, off = m["nats"]
        rows.append(
            f"{arm:15} {right:6.0f} ± {half:<3.0f} {m['kl'][0]:12.1f} {nats:8.1f} ± {off:.1f} "
            f"{m['length'][0]:8.1f}"
        )
    return "\n".join(rows)


@cache
def captions():
    """20,000 captions that the model learns from: a list of str."""
    return generate_english(20_000, 0, WRITE_BE)


@cache
def vocabulary():
    """Word -> id."""
    words = sorted({word for caption in captions() for word in written_words(caption)})
    return {word: number for number, word in enumerate(words, start=len(SPECIAL))}


def encode(caption):
    return [vocabulary().get(word, UNK) for word in written_words(caption)]


def decode(row):
    """The text of a list of ids, without special tokens."""
    names = list(vocabulary())
    return join_words([names[i - len(SPECIAL)] for i in row]) if row else ""


@cache
def is_right(text):
    """Whether the grammar can write this text, in this shape."""
    return bool(text) and any(ways(text, WRITE_BE))


def judge(rows):
    """1.0 for each row of ids that is a caption of the grammar, else 0.0."""
    return [float(is_right(decode(row))) for row in rows]


def _neighbours(text):
    return set(pairwise(["^", *written_words(text), "$"]))


@cache
def _seen():
    return set().union(*map(_neighbours, captions()))


def cheap_judge(rows):
    """1.0 for each row of ids whose every two neighbouring words stood so in some caption."""
    return [float(_neighbours(decode(row)) <= _seen()) for row in rows]


def first_training(seed):
    """A small language model after 500 steps on the captions."""
    torch.manual_seed(seed)
    sizes = dict(d_model=64, num_heads=4, d_ff=256, num_layers=1, max_len=AT_MOST + 2, dropout=0.0)
    model = LanguageModel(LanguageModelConfig(len(SPECIAL) + len(vocabulary()), **sizes))
    recipe = Recipe(steps=500, max_tokens=512, smoothing=0.0, seed=seed)
    train(model, [([], encode(caption)) for caption in captions()], recipe, loss_of=language_loss)
    return model


def draw(model, N, seed):
    """N texts that the model writes: lists of ids."""
    generator = torch.Generator().manual_seed(seed)
    return write_on(model, torch.full((N, 1), BOS), chooser(generator=generator), AT_MOST)


def pairs(base, seed):
    """What DPO compares: right and wrong texts among 1,500 of the model, ids (N, T) and (M, T)."""
    rows = draw(base, 1500, seed)
    sides = [as_batch([row for row, r in zip(rows, judge(rows), strict=True) if r == side])
             for side in (1.0, 0.0)]  # fmt: skip
    T = max(ids.shape[1] for ids in sides)
    return [fill(ids, (0, T - ids.shape[1])) for ids in sides]


def captions_of_one_kind():
    """Demonstrations of one kind: the captions of four words and a full stop."""
    return [caption for caption in captions() if len(written_words(caption)) == 5]


def second_training(arm, base, seed, rank=None, reward_of=judge, look=None):
    """A copy of the model `base` after one of the ARMS, with LoRA of this rank, or all weights."""
    model, generator = copy.deepcopy(base), torch.Generator().manual_seed(1000 + seed)
    lr = 1e-3
    if rank is not None:
        torch.manual_seed(seed)
        model, lr = add_lora(model, rank, scale=rank**-0.5), 5e-3
    return ARMS[arm](model, base, seed, lr=lr, generator=generator, reward_of=reward_of, look=look)


def _more(model, base, seed, lr, generator, chosen=captions, **_):
    return imitate(model, as_batch(list(map(encode, chosen()))), lr, 80, generator)


def _dpo(model, base, seed, lr, generator, **_):
    return prefer(model, *pairs(base, 2000 + seed), lr, 60, 0.5, generator)


def _grpo(model, base, seed, lr, generator, reward_of, look, beta=0.1):
    return reinforce(model, reward_of, lr, 40, beta, generator, longest=AT_MOST, look=look)


ARMS = {
    "more captions": _more,
    "short captions": partial(_more, chosen=captions_of_one_kind),
    "DPO": _dpo,
    "GRPO": _grpo,
    "GRPO, beta 0": partial(_grpo, beta=0.0),
}


@torch.no_grad()
def measure(model, base, seed):
    """What a model writes and knows: a dict of numbers.

    right: share of drawn texts; kl: KL(model, base) in nats a caption; words: different ones among
    the first 500 words of right texts; nats: above the grammar's entropy, on new captions; length:
    words a text; texts: different ones, of 500.
    """
    rows = draw(model, CAPTIONS_DRAWN, 3000 + seed)
    ids, right = as_batch(rows), judge(rows)
    kl = (log_probabilities(model, ids) - log_probabilities(base, ids)).sum(dim=1).mean()
    words = [i for row, r in zip(rows, right, strict=True) if r for i in row][:WORDS_COUNTED]
    test, truth = new_captions()
    return {
        "right": sum(right) / len(rows),
        "kl": kl.item(),
        "words": len(set(words)),
        "nats": -log_probabilities(model, test).sum(dim=1).mean().item() - truth,
        "length": sum(map(len, rows)) / len(rows),
        "texts": len(set(map(tuple, rows))),
    }


@cache
def new_captions():
    """500 captions that were not trained on, as ids (N, T), and what the grammar needs for one."""
    test = generate_english(500, 1, WRITE_BE)
    nats = -math.fsum(log_probability(caption, WRITE_BE) for caption in test) / len(test)
    return as_batch(list(map(encode, test))), nats


def divergence_of_best(before, after):
    """The least KL, in nats, that lifts the share of right texts from `before` to `after`.

    All right texts are raised by one factor, and all wrong ones lowered by another: so do the best
    policy for a reward of 1 or 0, and drawing n texts and handing on a right one.
    """
    parts = ((after, before), (1 - after, 1 - before))
    return sum(new * math.log(new / old) for new, old in parts if new)
