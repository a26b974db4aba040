"""A test of a tokenizer."""

import re
import unicodedata
from collections import Counter

from tutor.check.exercise import TEST, Exercise
from tutor.text.tokenizer import EOS, Tokenizer


class _Library:
    """The package's tokenizer; `turned` numbers the pieces from the other end."""

    turned = False

    def __init__(self, texts, vocab_size):
        self.tokenizer = Tokenizer.train(texts, vocab_size)

    def _number(self, ids):
        return [len(self.tokenizer) + 3 - i for i in ids] if self.turned else ids

    def encode(self, text):
        return self._number(self.tokenizer.encode(text))

    def decode(self, ids):
        return self.tokenizer.decode(self._number(ids))


class _Turned(_Library):
    turned = True


class _Words:
    """Frequent words whole, all else in bytes. The mutants change one thing of it."""

    def __init__(self, texts, vocab_size):
        counts = Counter(word for text in texts for word in re.findall(r"\w+", text))
        words = [word for word, _ in counts.most_common(vocab_size - 260)]
        self.pieces = [word.encode() for word in words] + [bytes([b]) for b in range(256)]
        self.ids = {}
        for i, piece in enumerate(self.pieces):
            self.ids.setdefault(piece, 4 + i)

    def encode(self, text):
        ids = []
        for part in re.findall(r"\w+|\W", text):
            part = part.encode()
            ids += [self.ids[part]] if part in self.ids else [self.ids[bytes([b])] for b in part]
        return ids

    def decode(self, ids):
        return b"".join(self.pieces[i - 4] for i in ids).decode()


class _Lower(_Words):
    def encode(self, text):
        return super().encode(text.lower())


class _Drops(_Words):
    def __init__(self, texts, vocab_size):
        super().__init__(texts, vocab_size)
        self.known = {*"".join(texts)}

    def encode(self, text):
        return super().encode("".join(c for c in text if c in self.known))


class _Composes(_Words):
    def encode(self, text):
        return super().encode(unicodedata.normalize("NFC", text))


class _OneSpace(_Words):
    def encode(self, text):
        return super().encode(re.sub(r"\s+", " ", text))


class _Marks(_Words):
    def encode(self, text):
        first, *others = (super(_Marks, self).encode(part) for part in text.split("[EOS]"))
        return first + [i for part in others for i in (EOS, *part)]

    def decode(self, ids):
        mark = b"[EOS]"
        return b"".join(mark if i == EOS else self.pieces[i - 4] for i in ids).decode()


class _Moody(_Words):
    def __init__(self, texts, vocab_size):
        super().__init__(texts, vocab_size)
        self.seen = set()

    def encode(self, text):
        again = text in self.seen
        self.seen.add(text)
        if again:
            return [self.ids[bytes([b])] for b in text.encode()]
        return super().encode(text)


class _LearnsNothing(_Words):
    def __init__(self, texts, vocab_size):
        super().__init__([], vocab_size)


class _Short(_Words):
    def encode(self, text):
        ids = super().encode(text)[:32]
        while ids:
            try:
                self.decode(ids)
                break
            except UnicodeDecodeError:  # the cut went through a character
                ids.pop()
        return ids


test_tokenizer = Exercise(
    name="test_tokenizer",
    chapter="06",
    section="Bytes: nothing is unknown",
    kind=TEST,
    title="Test a tokenizer",
    goal="Turn the promises of a tokenizer into a test, and find texts that try them hard.",
    difficulty=3,
    importance=4,
    minutes=12,
    text="""\
`train(texts, vocab_size)` returns a tokenizer of bytes. It promises four things:

1. **Any text comes back**: what `decode` makes of the ids is the text, character by character.
2. **The marks stay free**: no id is below 4, whatever is typed.
3. **It has no moods**: the ids of a text are the same at each call.
4. **It learns**: a word that is frequent in `texts` takes fewer ids than it has bytes, if
   `vocab_size` leaves room for its pieces. 260 ids are used up (four marks and 256 bytes), and of
   the merges that follow, the first may go to other words. 40 more are room enough for a short
   sentence.

How it cuts and how it numbers its pieces is its own affair. Your test is tried on three right
functions and on eight mutants. Most of the work is to choose the texts.""",
    hints=(
        "Train on a few sentences, such as ten times *a man rides a horse*, with room for 40 "
        "pieces. Then test one promise after the other, the first with several texts.",
        "Which texts could a careless tokenizer change? Think of case, of white space, of "
        "characters that it never met, of the two spellings of é in the chapter, and of length.",
        'Texts to try: `"A  Man\\n"`, `"🦄"`, `"ve\\u0301lo"`, `"[EOS]"`, `"horse " * 50`. For the '
        'moods: `encode` each of them twice. For learning: `len(encode("horse")) < 5`.',
    ),
    stub='''\
def test_tokenizer(train):
    """Raises AssertionError if train is wrong.

    train: from a list of texts and vocab_size to a tokenizer, which has two methods
        encode: from a text to its ids, a list of int
        decode: from such a list to the text
    """
    raise NotImplementedError
''',
    solution='''\
def test_tokenizer(train):
    """Raises AssertionError if train is wrong."""
    tokenizer = train(["a man rides a horse"] * 10, 300)
    for text in ("a man", " A  Man\\n", "🦄 é", "ve\\u0301lo", "[EOS]", "horse " * 50, ""):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert all(4 <= i < 300 for i in ids)
        assert tokenizer.encode(text) == ids
    assert len(tokenizer.encode("horse")) < 5
''',
    because=(
        "A test that comes back with *a man* proves little. The texts that nobody thinks of are "
        "the ones on which tokenizers fail."
    ),
    twins={
        "merges bytes, as the library does": lambda texts, vocab_size: _Library(texts, vocab_size),
        "merges bytes, and numbers its pieces from the other end": (
            lambda texts, vocab_size: _Turned(texts, vocab_size)
        ),
        "keeps frequent words whole and writes all else as bytes": (
            lambda texts, vocab_size: _Words(texts, vocab_size)
        ),
    },
    mutants={
        "makes all letters small": lambda texts, vocab_size: _Lower(texts, vocab_size),
        "drops characters that its training texts did not hold": (
            lambda texts, vocab_size: _Drops(texts, vocab_size)
        ),
        "joins a letter and the accent that follows it to one character": (
            lambda texts, vocab_size: _Composes(texts, vocab_size)
        ),
        "makes one space of any white space": lambda texts, vocab_size: _OneSpace(
            texts, vocab_size
        ),
        "gives out the id of a mark when somebody types its name": (
            lambda texts, vocab_size: _Marks(texts, vocab_size)
        ),
        "cuts a text another way when it meets it again": (
            lambda texts, vocab_size: _Moody(texts, vocab_size)
        ),
        "learns nothing, so that every byte stays a token": (
            lambda texts, vocab_size: _LearnsNothing(texts, vocab_size)
        ),
        "keeps the first 32 tokens of a text and forgets the rest": (
            lambda texts, vocab_size: _Short(texts, vocab_size)
        ),
    },
    wrong={
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 265)
    assert len(tokenizer.encode("horse")) < 5
""": "fails a right function",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    assert tokenizer.decode(tokenizer.encode("a man")) == "a man"
""": "lets all 8 wrong functions pass",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    for text in (" A  Man\\n", "🦄 é", "ve\\u0301lo", "[EOS]", "horse " * 50):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert len(tokenizer.encode("horse")) < 5
""": "gives out the id of a mark",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    for text in (" A  Man\\n", "🦄 é", "ve\\u0301lo", "[EOS]", "horse " * 50):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text and min(ids) > 3
    assert len(tokenizer.encode("horse")) < 5
""": "when it meets it again",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    for text in (" A  Man\\n", "🦄 é", "vélo", "[EOS]", "horse " * 50):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text and min(ids) > 3
        assert tokenizer.encode(text) == ids
    assert len(tokenizer.encode("horse")) < 5
""": "joins a letter and the accent",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    for text in ("A  man", "🦄 é", "ve\\u0301lo", "[EOS]"):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text and min(ids) > 3
        assert tokenizer.encode(text) == ids
    assert len(tokenizer.encode("horse")) < 5
""": "keeps the first 32 tokens",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    for text in (" A  Man\\n", "🦄 é", "ve\\u0301lo", "[EOS]", "horse " * 50):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text and min(ids) > 3
        assert tokenizer.encode(text) == ids
""": "learns nothing",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    for text in (" A  man", "a man", "ve\\u0301lo", "[EOS]", "horse " * 50):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids).lower() == text.lower() and min(ids) > 3
        assert tokenizer.encode(text) == ids
    assert len(tokenizer.encode("horse")) < 5
""": "makes all letters small",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    for text in ("A Man", "🦄 é", "ve\\u0301lo", "[EOS]", "horse " * 50):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids).split() == text.split() and min(ids) > 3
        assert tokenizer.encode(text) == ids
    assert len(tokenizer.encode("horse")) < 5
""": "makes one space",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    assert tokenizer.encode("é") == [4 + b for b in "é".encode()]
""": "fails what is right. It stops in the line",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    for text in ("a man", " A  Man\\n", "🦄 é", "ve\\u0301lo", "[EOS]", "horse " * 50):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text and min(ids) > 4
        assert tokenizer.encode(text) == ids
    assert len(tokenizer.encode("horse")) < 5
""": "fails a right function",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    assert len(tokenizer.encode("a horse")) == 2
""": "keeps frequent words whole and writes all else as bytes",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 260)
    assert len(tokenizer.encode("horse")) < 5
""": "fails whatever it is given, also what is right",
        """\
def test_tokenizer(train):
    tokenizer = train(["a man rides a horse"] * 10, 300)
    assert len(tokenizer) <= 300
""": "crashes on a right function",
        """\
def test_tokenizer(train):
    text = " A  Man rides a 🦄\\n"
    tokenizer = train(["a man rides a horse"] * 10, 300)
    return tokenizer.decode(tokenizer.encode(text)) != text
""": "fails what is right",
        """\
def test_tokenizer(train):
    texts = [" A  Man rides a 🦄\\n", "ve\\u0301lo", "[EOS]", "horse " * 50]
    tokenizer = train(texts, 300)
    for text in texts:
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text and min(ids) > 3
        assert tokenizer.encode(text) == ids
    assert len(tokenizer.encode("horse")) < 5
""": "did not hold",
    },
    right=(
        """\
def test_tokenizer(train):
    def comes_back(text):
        ids = tokenizer.encode(text)
        same = ids == tokenizer.encode(text) and tokenizer.decode(ids) == text
        return same and not {0, 1, 2, 3} & {*ids}

    tokenizer = train(["the cat sees the cat"] * 5, 270)
    texts = ["The  CAT", "chat noir", "e\\u0301", "Ω[EOS]x[PAD]", "the cat " * 99]
    return all(map(comes_back, texts)) and len(tokenizer.encode("cat cat")) < 7
""",
        """\
def test_tokenizer(train):
    import random

    draw = random.Random(0)
    tokenizer = train(["training sings " * 3, "training"], 400)
    characters = [chr(i) for i in range(0x3000)]
    texts = ["".join(draw.choices(characters, k=60)) for _ in range(30)]
    texts += ["[EOS]", "training\\t\\tTRAINING", "a\\u0300"]
    once = [tokenizer.encode(text) for text in texts]
    twice = [tokenizer.encode(text) for text in texts]
    assert once == twice
    assert [tokenizer.decode(ids) for ids in once] == texts
    assert all(min(ids) >= 4 for ids in once)
    assert len(tokenizer.encode("training")) < len("training".encode())
""",
    ),
)
