"""Text in, text out: a model and its tokenizer together."""

import warnings
from collections.abc import Iterable
from pathlib import Path

import torch

from tutor.checkpoint import check_sizes_agree, load_model, save_model
from tutor.decoding import greedy
from tutor.text.batches import pad
from tutor.text.tokenizer import EOS

BATCH = 64  # sentences that are translated at a time
PRETRAINED = Path(__file__).with_name("pretrained")


class Translator:
    """A trained Transformer with the Tokenizer it was trained with.

    Raises ValueError if the tokenizer's size is not the model's vocab_size.
    """

    def __init__(self, model, tokenizer):
        check_sizes_agree(model.config, tokenizer, "the tokenizer")
        self.model = model
        self.tokenizer = tokenizer

    def translate(self, texts):
        """Translate a list of str; returns a list of str in the same order.

        A blank text gives "". A text longer than the model's max_len is cut, with a warning.
        Raises TypeError for anything that is not a list of str.
        """
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise TypeError(
                f"translate takes a list of str, not a {type(texts).__name__}: write [text]."
            )
        texts = list(texts)
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(
                    f"translate takes a list of str, but one of them is a {type(text).__name__}."
                )
        ids = self.tokenizer.encode(texts)
        order = [i for i, text in enumerate(texts) if text.strip()]
        longest = self.model.config.max_len - 1  # EOS takes a place, too
        if cut := [i for i in order if len(ids[i]) > longest]:
            warnings.warn(
                f"{len(cut)} of {len(texts)} texts have more than the {longest} tokens that this "
                f"model reads and were cut there; the first begins {texts[cut[0]][:30]!r}.",
                stacklevel=2,
            )
        translations = [""] * len(texts)
        order.sort(key=lambda i: len(ids[i]))  # like lengths together: little padding
        device = next(self.model.parameters()).device
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            source_ids = pad([ids[i][:longest] + [EOS] for i in batch]).to(device)  # (N, S)
            for i, output in zip(batch, greedy(self.model, source_ids), strict=True):
                translations[i] = self.tokenizer.decode(output)
        return translations

    def save(self, folder, card=None, dtype=torch.float32, training=None):
        """Write the model folder; see `tutor.checkpoint.save_model`."""
        save_model(folder, self.model, self.tokenizer, card, dtype, training)

    @classmethod
    def load(cls, folder):
        """Read a model folder; see `tutor.checkpoint.load_model`."""
        return cls(*load_model(folder))


def load_pretrained():
    """The Translator that ships with the package. Raises FileNotFoundError where it does not."""
    if not PRETRAINED.is_dir():
        raise FileNotFoundError(
            "This copy of tutor ships without a trained model: train one with "
            '`python -m tutor train --out FOLDER` and use Translator.load("FOLDER").'
        )
    return Translator.load(PRETRAINED)
