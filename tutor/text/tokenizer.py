"""Text to ids and back: joint byte-pair encoding (chapter 07)."""

from pathlib import Path

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

from tutor.attention import PAD

UNK, BOS, EOS = PAD + 1, PAD + 2, PAD + 3
SPECIAL = ["[PAD]", "[UNK]", "[BOS]", "[EOS]"]

# A word takes the space before it along, and a French article its apostrophe: "l'", " homme".
PIECES = tokenizers.Regex(r" ?\p{L}+['’]?| ?\p{N}| ?[^\s\p{L}\p{N}]+|\s+")


class Tokenizer:
    """Byte-pair encoding of bytes: any Unicode text goes in and comes out the same.

    Made by `Tokenizer.train(texts, vocab_size)` or `Tokenizer.load(path)`. Ids 0 to 3 are padding,
    unknown, beginning and end of sentence; `encode` adds none of them.
    Source: Sennrich et al. 2016; on bytes: Radford et al. 2019, section 2.2.
    """

    def __init__(self, model):
        model.encode_special_tokens = True  # "[EOS]" typed by a reader is text like any other
        self.model = model

    def __len__(self):
        return self.model.get_vocab_size()

    @classmethod
    def train(cls, texts, vocab_size=4000):
        """Learn the merges from `texts`, an iterable of str, until there are `vocab_size` ids.

        At least 260 (4 + 256 bytes), and fewer than asked for if no pair is left to merge.
        """
        if isinstance(texts, str):
            raise TypeError("texts must be a list of texts, not one text: train([text]).")
        if vocab_size < len(SPECIAL) + 256:
            raise ValueError(f"vocab_size must be at least {len(SPECIAL) + 256}, not {vocab_size}.")
        model = tokenizers.Tokenizer(models.BPE())
        model.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(PIECES, behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ])  # fmt: skip
        model.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size, special_tokens=SPECIAL, show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )  # fmt: skip
        model.train_from_iterator((" " + text for text in texts), trainer)
        return cls(model)

    def encode(self, texts):
        """Ids of one text (list of int) or of a list of texts (list of lists).

        Raises TypeError for what is no text, and UnicodeEncodeError for half a surrogate pair.
        """
        one = isinstance(texts, str)
        texts = [texts] if one or texts is None else list(texts)
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(f"encode takes a text or a list of texts, not {str(texts)[:60]}.")
        "".join(texts).encode()  # the library's own error does not say what is wrong
        # A space in front, so that a word is the same token wherever it stands.
        texts = [" " + text for text in texts]
        ids = [e.ids for e in self.model.encode_batch(texts, add_special_tokens=False)]
        return ids[0] if one else ids

    def decode(self, ids):
        """The text of a list of ids, special ones left out. Raises ValueError for other ids."""
        ids = list(map(int, ids))
        if ids and not 0 <= min(ids) <= max(ids) < len(self):
            raise ValueError(
                f"ids must lie between 0 and {len(self) - 1}, not {min(ids)} to {max(ids)}."
            )
        return self.model.decode(ids, skip_special_tokens=True).removeprefix(" ")

    def tokens(self, text):
        """The pieces that `text` is cut into, readable: a leading space becomes an underscore."""
        return self.readable(self.encode(text))

    def readable(self, ids):
        """The piece of each id: a space becomes an underscore, special tokens by their names."""
        return [
            SPECIAL[i] if i < len(SPECIAL) else self.model.decode([i]).replace(" ", "_")
            for i in ids
        ]

    def save(self, path):
        """Write the tokenizer as JSON, the format of the `tokenizers` library."""
        # Not the library's own save, whose errors are no OSError.
        Path(path).write_text(self.model.to_str(), encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path):
        """Read what `save` wrote. Raises FileNotFoundError or ValueError with what to do."""
        if not Path(path).is_file():
            raise FileNotFoundError(f"There is no tokenizer at {path}.")
        try:
            model = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise ValueError(f"{path} is not a tokenizer file: {error}.") from None
        if [model.id_to_token(i) for i in range(len(SPECIAL))] != SPECIAL:
            raise ValueError(f"{path} is of another kind: its ids do not begin with {SPECIAL}.")
        return cls(model)
