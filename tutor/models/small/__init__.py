"""Translators of the built-in corpus that differ in their seed alone (chapters 11, 12).

Three small ones, trained from nothing (`load_small`), and the pretrained one, taught the words of
the corpus from three seeds (`load_taught`). Teaching moves the rows of the embedding table that the
corpus uses and nothing else, so a taught model is the pretrained one with these rows laid over it.
`python -m course.making.small` trains them again, in some minutes each on two cores. The same
machine gives the same models; another one gives others, about as good.
"""

import hashlib
from pathlib import Path

import torch
from safetensors.torch import save

from tutor import models
from tutor.models import load_pretrained
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import BOS, EOS, Tokenizer
from tutor.training.checkpoint import WEIGHTS, open_tensors
from tutor.training.loop import Recipe, train
from tutor.training.recipes import BUILTIN_PAIRS
from tutor.transformer import Transformer, TransformerConfig
from tutor.translator import Translator

SEEDS = (0, 1, 2)
TAUGHT_PAIRS = 8000
FOLDER = Path(__file__).parent
SMALL_SIZES = dict(d_model=96, num_heads=4, d_ff=192, num_layers=2, norm_first=True, max_len=64)


def load_small(seed):
    """The Translator that was trained from `seed`, one of SEEDS."""
    return Translator.load(FOLDER / f"seed{seed}")


def load_taught(seed):
    """The pretrained Translator, taught the words of the built-in corpus from `seed`, one of SEEDS.

    Raises ValueError where the pretrained model is not the one that was taught, and for a file
    that is damaged.
    """
    path = FOLDER / f"taught{seed}.safetensors"
    translator = load_pretrained()
    table = translator.model.embedding.weight  # (vocabulary, d_model)
    with open_tensors(path) as file:
        if (file.metadata() or {}).get("taught") != fingerprint():
            raise ValueError(
                f"{path} belongs to another pretrained model: run `python -m course.making.small`."
            )
        ids, rows = file.get_tensor("ids"), file.get_tensor("rows")  # (n,), (n, d_model)
    right = ids.dtype == torch.int64 and rows.shape == (ids.numel(), table.shape[1])
    right = right and ids.dim() == 1 and ids.numel() and 0 <= ids.min() <= ids.max() < len(table)
    if not right or not rows.isfinite().all():
        raise ValueError(f"{path} is damaged: run `python -m course.making.small`.")
    with torch.no_grad():
        table[ids] = rows.to(table.dtype)
    return translator


def save_taught(translator, ids, path):
    """Write the rows `ids` of the embedding table, in float16, with what they belong to."""
    rows = translator.model.embedding.weight.detach()[ids].half()  # (n, d_model)
    path.write_bytes(save({"ids": ids, "rows": rows}, metadata={"taught": fingerprint()}))


def fingerprint():
    """SHA-256 of the pretrained model's weights: a str of 64 hexadecimal digits."""
    return hashlib.sha256((models.PRETRAINED / WEIGHTS).read_bytes()).hexdigest()


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


def teach(seed, steps=1000):
    """Train the pretrained Translator's embeddings on some pairs of the built-in corpus.

    Returns the Translator and the ids whose rows were trained, (n,). The loss is that of
    translation; all other parameters stay as they are.
    """
    translator = load_pretrained()
    corpus = generate_pairs("train", TAUGHT_PAIRS, seed=seed)
    sides = [pair.english for pair in corpus], [pair.french for pair in corpus]
    pairs = list(zip(*map(translator.tokenizer.encode, sides), strict=True))
    ids = torch.tensor(sorted({BOS, EOS}.union(*(side for pair in pairs for side in pair))))
    table = translator.model.embedding.weight  # (vocabulary, d_model)
    trained = torch.zeros(len(table), 1).index_fill(0, ids, 1.0)
    translator.model.requires_grad_(False)
    table.requires_grad_(True)
    handle = table.register_hook(lambda gradient: gradient * trained)
    train(translator.model, pairs, Recipe(steps=steps, max_tokens=384, warmup=10, seed=seed))
    handle.remove()
    translator.model.requires_grad_(True)
    return translator, ids
