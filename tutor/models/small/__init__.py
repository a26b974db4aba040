"""Translators of the built-in corpus that differ in their seed alone (chapters 11, 12).

`python -m course.making.small` trains all three again from nothing, in some minutes each on two
cores. The same machine gives the same models; another one gives others, about as good.
"""

from pathlib import Path

import torch

from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import Tokenizer
from tutor.training.loop import Recipe, train
from tutor.training.recipes import BUILTIN_PAIRS
from tutor.transformer import Transformer, TransformerConfig
from tutor.translator import Translator

SEEDS = (0, 1, 2)
FOLDER = Path(__file__).parent
SMALL_SIZES = dict(d_model=96, num_heads=4, d_ff=192, num_layers=2, norm_first=True, max_len=64)


def load_small(seed):
    """The Translator that was trained from `seed`, one of SEEDS."""
    return Translator.load(FOLDER / f"seed{seed}")


def untrained(tokenizer, seed):
    """A Transformer of the same sizes with its first, random weights, ready to translate."""
    torch.manual_seed(seed)
    return Transformer(TransformerConfig(len(tokenizer), **SMALL_SIZES)).eval()


def train_small(seed, steps=2000):
    """Train such a Translator from nothing."""
    corpus = generate_pairs("train", BUILTIN_PAIRS)
    sides = [pair.english for pair in corpus], [pair.french for pair in corpus]
    tokenizer = Tokenizer.train([*sides[0], *sides[1]], vocab_size=2000)
    model = untrained(tokenizer, seed)
    pairs = list(zip(*map(tokenizer.encode, sides), strict=True))
    train(model, pairs, Recipe(steps=steps, seed=seed))
    return Translator(model, tokenizer)
