"""What several commands need: a voice, sentences, a translator."""

import sys
from pathlib import Path

from tqdm import tqdm

from tutor.devices import device
from tutor.ensemble import Ensemble
from tutor.models import PRETRAINED, load_pretrained
from tutor.text import multi30k
from tutor.text.grammar import generate_pairs
from tutor.text.normalize import normalize
from tutor.training import processes
from tutor.training.checkpoint import CARD
from tutor.translator import Translator

EN_FR = "en-fr"  # the pair where none is asked for
CHUNK = 256  # lines that are read before any is written


def say(message):
    """One line on standard error, from the first process of several."""
    if not processes.is_first():
        return
    tqdm.write(f"tutor: {message}", file=sys.stderr)


def need_output():
    """Raise ValueError where what a command prints would be lost."""
    if sys.stdout is None:
        raise ValueError("Standard output is closed: send it somewhere, to a file with > FILE.")


def need_input():
    """Raise ValueError where there is nothing to read."""
    if sys.stdin is None:
        raise ValueError("Standard input is closed: give it the sentences, as the --help shows.")


def load_pairs(corpus, split, pair, size):
    """(sources, targets) of a corpus; `size` is for the built-in one, which has no end."""
    if corpus == "multi30k":
        return multi30k.load_multi30k(split, pair)
    if pair != EN_FR:
        raise ValueError(f"The built-in corpus has no {pair}: add --corpus multi30k.")
    pairs = generate_pairs(split, size)
    return [pair.english for pair in pairs], [pair.french for pair in pairs]


def read_lines(stream, name="the input"):
    """The lines of a binary stream as str, without their ends."""
    for count, line in enumerate(stream, 1):
        try:
            text = line.decode("utf-8-sig" if count == 1 else "utf-8")  # Windows may send a BOM
        except UnicodeDecodeError:
            raise ValueError(f"Line {count} of {name} is not UTF-8: convert it.") from None
        yield text.rstrip("\r\n")


def settle_pair(args):
    """The options of a translator: --pair by default, and ValueError for a --data of one file."""
    args.pair = args.pair or EN_FR
    if args.data and len(args.data) != 2:
        raise ValueError("--data takes two files of sentence pairs: --data SOURCE TARGET.")


def read_pairs(source, target):
    """(sources, targets) of two text files, whose equal lines belong together.

    Sources are normalized (`tutor.text.normalize`), targets stay as they are. Raises ValueError for
    files of unequal length, and for a blank line.
    """
    sides = []
    for path in (source, target):
        with open(path, "rb") as file:
            lines = list(read_lines(file, path))
        if not lines:
            raise ValueError(f"{path} is empty: write one sentence a line into it.")
        for count, line in enumerate(lines, 1):
            if not normalize(line):
                raise ValueError(
                    f"Line {count} of {path} is blank: each line must be a sentence, so take the "
                    "pair out of both files."
                )
        sides.append(lines)
    if len(sides[0]) != len(sides[1]):
        raise ValueError(
            f"{source} has {len(sides[0])} lines but {target} has {len(sides[1])}: each line of "
            "the one must be the translation of the same line of the other."
        )
    return list(map(normalize, sides[0])), sides[1]


def load_translator(folder):
    translator = load_pretrained() if folder is None else Translator.load(folder)
    translator.model.to(device())
    return translator


def load_together(folders):
    """The Translator of one model folder or of several together; None: the model that ships."""
    translators = [load_translator(folder) for folder in folders or [None]]
    tokenizer, *others = [each.tokenizer for each in translators]
    if any(other.model.to_str() != tokenizer.model.to_str() for other in others):
        raise ValueError(
            "These models have different tokenizers, so their scores cannot be averaged: train "
            "them on the same corpus and pair."
        )
    if not others:
        return translators[0]
    together = Ensemble([each.model for each in translators])
    sentences = all(each.sentences for each in translators)
    return Translator(together, tokenizer, sentences, words=translators[0].words)


def load_card(folder):
    """The text of a model folder's card, None if it has none."""
    path = Path(folder or PRETRAINED, CARD)
    return path.read_text(encoding="utf-8") if path.is_file() else None
