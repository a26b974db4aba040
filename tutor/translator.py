"""Text in, text out: a model and its tokenizer together."""

import warnings
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch.nn import functional as F

from tutor.decoding import (
    ALPHA,
    Hypothesis,
    beam_search,
    greedy,
    length_penalty,
    most_probable,
    write,
)
from tutor.language_model import LanguageModel
from tutor.record import Recording, record_attention, shares_of_length, value_lengths
from tutor.text.batches import pad
from tutor.text.normalize import as_sentence, as_typed, mend_slips, normalize
from tutor.text.tokenizer import EOS
from tutor.training.checkpoint import (
    MANNER,
    check_sizes_agree,
    load_model,
    read_manner,
    save_model,
)

MAX_BATCH_SENTENCES = 256  # sentences that are translated at a time


class Translation(NamedTuple):
    """A translation, and how strange its source was to the model (`Translator.strangeness`).

    doubted: whether it was stranger than what the model was trained on, or did not end by itself.
    """

    text: str
    strangeness: float
    doubted: bool


class Translator:
    """A trained Transformer with the Tokenizer it was trained with.

    sentences: whether it was trained on written sentences, so that texts in capitals, in small
    letters or without a final stop are read as such, and translated in their own manner
    (`tutor.text.normalize.as_sentence`).
    words: words that it knows, the most frequent first; what is none of them, but one slip of the
    keys away from one, is read as that word (`tutor.text.normalize.mend_slips`).
    doubted_above: the strangeness above which a translation is doubted; None: none ever is.
    Raises ValueError if the tokenizer's size is not the model's vocab_size, TypeError for a
    LanguageModel.
    """

    def __init__(self, model, tokenizer, sentences=False, doubted_above=None, words=()):
        if isinstance(model, LanguageModel):
            raise TypeError(
                "A Translator needs an encoder and a decoder: a LanguageModel has none."
            )
        check_sizes_agree(model.config, tokenizer, "the tokenizer")
        self.model = model
        self.tokenizer = tokenizer
        self.sentences = sentences
        self.doubted_above = doubted_above
        self.words = {word: rank for rank, word in enumerate(words)}

    def translate(self, texts, beams=1, alpha=ALPHA, n_best=1):
        """Translate a list of str; returns a list of str in the same order.

        beams: 1 takes the most probable token at every step, more search for a better sentence
        (`tutor.decoding.beam_search`); alpha: strength of the length penalty. With n_best above 1,
        a text's translation is a list of at most so many (str, score), the best first.
        What `tutor.text.normalize` makes alike is translated alike, and what it leaves nothing of,
        a blank text, gives "". A text longer than the model's max_len is cut, and a translation
        that does not end by itself is cut at its limit, both with a warning.
        Raises TypeError for anything that is not a list of str.
        """
        texts = list(map(normalize, check_texts(texts)))
        ids = self.encode(texts)
        found = self._search(texts, ids, beams, alpha, n_best)
        written = [
            [(self.decode(text, h.ids), h.score) for h in each]
            for text, each in zip(texts, found, strict=True)
        ]
        return [best for [(best, _)] in written] if n_best == 1 else written

    def translations(self, texts, beams=1, alpha=ALPHA):
        """Translate as `translate` does, and say of each what to think of it: Translations."""
        texts = list(map(normalize, check_texts(texts)))
        ids = self.encode(texts)
        translations = []
        for text, source, [best] in zip(
            texts, ids, self._search(texts, ids, beams, alpha, n_best=1), strict=True
        ):
            length = len(best.ids) + best.finished  # [EOS] counts
            log_p = best.score * (length_penalty(length, alpha) if beams > 1 else 1)
            strange = self.strangeness(text, len(source), length, log_p)
            doubted = self.doubts(strange, best.finished)
            translations.append(Translation(self.decode(text, best.ids), strange, doubted))
        return translations

    def strangeness(self, text, read, written, log_p):
        """How far a text lies outside what the model was trained on (out of distribution).

        The mean surprisal of a token written, in nats, times the fertility of the tokenizer, tokens
        read for each word: one is large where the model does not know what to say, the other where
        it does not know the words. read, written: numbers of tokens, [EOS] included; log_p: the
        log-probability of all that were written.
        """
        words = len(normalize(text).split())
        return -log_p / written * read / words if words else 0.0

    def doubts(self, strangeness, finished=True):
        above = self.doubted_above
        return above is not None and (strangeness > above or not finished)

    def _search(self, texts, ids, beams, alpha, n_best):
        """Lists of Hypothesis, the best first, of normalized texts and their ids."""
        order = [i for i, text in enumerate(texts) if text]
        order.sort(key=lambda i: len(ids[i]))  # like lengths together: little padding
        found = [[Hypothesis([], 0.0, True)]] * len(texts)
        for start in range(0, len(order), MAX_BATCH_SENTENCES):
            batch = order[start : start + MAX_BATCH_SENTENCES]
            source_ids = pad([ids[i] for i in batch]).to(self.device)  # (N, S)
            if beams == n_best == 1:
                written = [[best] for best in greedy(self.model, source_ids)]
            else:
                written = beam_search(self.model, source_ids, beams, alpha, n_best)
            for i, hypotheses in zip(batch, written, strict=True):
                found[i] = hypotheses
        if cut := [i for i in order if not found[i][0].finished]:
            warnings.warn(
                f"{len(cut)} of {len(texts)} translations did not end by themselves and were cut; "
                f"the first is that of {texts[cut[0]][:30]!r}.",
                stacklevel=3,
            )
        return found

    def record(self, text):
        """Translate one str greedily, with all attention matrices: returns a Recording.

        Threads may share a model: they take turns (`tutor.record.record_attention`).
        """
        [text] = check_texts([text])
        if not normalize(text):
            raise ValueError("There is nothing to translate: give a text with a word in it.")
        source = self.encode_typed(text)
        rows = {"decoder": [], "cross": []}

        def choose(Z):
            for kind, steps in rows.items():
                steps.append(attention[kind][:])  # of each layer, (1, h, 1, t or S)
            return most_probable(Z, 1)

        with record_attention(self.model) as attention:
            [written] = write(self.model, torch.tensor([source], device=self.device), choose)
        T = len(rows["cross"])
        # Cloned, as `write` makes tensors of which no gradient may be taken.
        matrices = {"encoder": [A[0].clone() for A in attention["encoder"]]}  # (h, S, S) each
        for kind, steps in rows.items():
            matrices[kind] = [
                # The rows of the causal matrix grow; what a step could not see had no weight.
                torch.cat(
                    [F.pad(A[0], (0, T - A.shape[-1] if kind == "decoder" else 0)) for A in layer],
                    1,
                )
                for layer in zip(*steps, strict=True)
            ]
        with torch.no_grad():
            source_ids = torch.tensor([source], device=self.device)  # (1, S)
            lengths = value_lengths(self.model, self.model.encode(source_ids))[:, 0]  # (L, h, S)
        matrices["length"] = list(map(shares_of_length, matrices["cross"], lengths))
        target = written.ids + [EOS] * written.finished
        strange = self.strangeness(text, len(source), len(target), written.score)
        return Recording(
            text,
            self.decode(text, written.ids),
            self.tokenizer.readable(source),
            self.tokenizer.readable(target),
            matrices,
            self.doubts(strange),
        )

    @property
    def device(self):
        return next(self.model.parameters()).device

    def encode(self, texts):
        """Ids of each text as the model reads it, [EOS] at the end.

        Cut, with a warning, to what the model can read.
        """
        texts = list(map(normalize, texts))
        ids = self.tokenizer.encode([self.mended(self.as_written(text)) for text in texts])
        longest = self.model.config.max_len - 1  # EOS takes a place, too
        if cut := [i for i, each in enumerate(ids) if texts[i] and len(each) > longest]:
            warnings.warn(
                f"{len(cut)} of {len(texts)} texts have more than the {longest} tokens that this "
                f"model reads and were cut there; the first begins {texts[cut[0]][:30]!r}.",
                stacklevel=3,
            )
        return [each[:longest] + [EOS] for each in ids]

    def as_written(self, text):
        return as_sentence(text) if self.sentences else text

    def mended(self, text):
        return mend_slips(text, self.words) if self.words else text

    def encode_typed(self, text):
        """Ids of one text that a person typed: as `encode`, with a warning if a slip was mended."""
        if slip := self.slip(text):
            warnings.warn(slip, stacklevel=3)
        return self.encode([text])[0]

    def slip(self, text):
        """What to tell who typed `text` if a word is read as another one; else ""."""
        written = self.as_written(normalize(text))
        read = self.mended(written)
        return f"Read as: {read}" if read != written else ""

    def decode(self, text, ids):
        """The translation of `text` that these ids are, in the manner of `text`."""
        translation = self.tokenizer.decode(ids)
        return as_typed(normalize(text), translation) if self.sentences else translation

    def save(self, folder, card=None, dtype=torch.float32, training=None):
        """Write the model folder; see `tutor.training.checkpoint.save_model`."""
        save_model(
            folder, self.model, self.tokenizer, card, dtype, training,
            manner={name: getattr(self, name) for name in MANNER},
        )  # fmt: skip

    @classmethod
    def load(cls, folder):
        """Read a model folder; see `tutor.training.checkpoint.load_model`."""
        return cls(*load_model(folder), **read_manner(folder))


def check_texts(texts):
    """`texts` as a list, or TypeError."""
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
    return texts
