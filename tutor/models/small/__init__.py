"""Translators of the built-in corpus that differ in their seed alone (chapters 09, 10).

Three small ones, trained from nothing (`load_small`), and the pretrained one, taught a little more
from three seeds (`load_taught`). `python -m tutor.models.small` trains them again, in some minutes
each on two cores. The same machine gives the same models; another one others, about as good.
"""

from pathlib import Path

import torch

from tutor.models import load_pretrained
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import Tokenizer
from tutor.training.loop import Recipe, train
from tutor.training.recipes import BUILTIN_PAIRS
from tutor.transformer import Transformer, TransformerConfig
from tutor.translator import Translator

SEEDS = (0, 1, 2)
TAUGHT_PAIRS = 8000
FOLDER = Path(__file__).parent
SIZES = dict(d_model=96, num_heads=4, d_ff=192, num_layers=2, norm_first=True, max_len=64)


def load_small(seed):
    """The Translator that was trained from `seed`, one of SEEDS."""
    return Translator.load(FOLDER / f"seed{seed}")


def load_taught(seed):
    """The pretrained Translator, taught the built-in corpus from `seed`, one of SEEDS."""
    return Translator.load(FOLDER / f"taught{seed}")


def untrained(tokenizer, seed):
    """A Transformer of the same sizes with its first, random weights, ready to translate."""
    torch.manual_seed(seed)
    return Transformer(TransformerConfig(len(tokenizer), **SIZES)).eval()


def train_small(seed, steps=2000):
    """Train such a Translator from nothing."""
    corpus = generate_pairs("train", BUILTIN_PAIRS)
    sides = [pair.english for pair in corpus], [pair.french for pair in corpus]
    tokenizer = Tokenizer.train([*sides[0], *sides[1]], vocab_size=2000)
    model = untrained(tokenizer, seed)
    pairs = list(zip(*map(tokenizer.encode, sides), strict=True))
    train(model, pairs, Recipe(steps=steps, seed=seed))
    return Translator(model, tokenizer)


def teach(seed, steps=400):
    """Train the pretrained Translator on some pairs of the built-in corpus: translations only."""
    translator = load_pretrained()
    corpus = generate_pairs("train", TAUGHT_PAIRS, seed=seed)
    sides = [pair.english for pair in corpus], [pair.french for pair in corpus]
    pairs = list(zip(*map(translator.tokenizer.encode, sides), strict=True))
    train(translator.model, pairs, Recipe(steps=steps, max_tokens=384, warmup=10, seed=seed))
    return translator
