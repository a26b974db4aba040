"""What several commands need: a voice, a device, sentences, a translator."""

import sys
from pathlib import Path

import torch
from tqdm import tqdm

from tutor.models import PRETRAINED, load_pretrained
from tutor.text import multi30k
from tutor.text.grammar import generate_pairs
from tutor.training import processes
from tutor.training.checkpoint import CARD
from tutor.translator import Translator

CHUNK = 256  # lines that are read before any is written


def say(message):
    """One line on standard error, from the first process of several."""
    if not processes.is_first():
        return
    tqdm.write(f"tutor: {message}", file=sys.stderr)


def load_pairs(corpus, split, pair, size):
    """(sources, targets) of a corpus; `size` is for the built-in one, which has no end."""
    if corpus == "multi30k":
        return multi30k.load_multi30k(split, pair)
    if pair != "en-fr":
        raise ValueError(f"The built-in corpus has no {pair}: add --corpus multi30k.")
    pairs = generate_pairs(split, size)
    return [pair.english for pair in pairs], [pair.french for pair in pairs]


def pick_device():
    return "cuda" if torch.cuda.is_available() else "cpu"


def load_translator(folder):
    translator = load_pretrained() if folder is None else Translator.load(folder)
    translator.model.to(pick_device())
    return translator


def load_card(folder):
    """The text of a model folder's card, None if it has none."""
    path = Path(folder or PRETRAINED, CARD)
    return path.read_text(encoding="utf-8") if path.is_file() else None
