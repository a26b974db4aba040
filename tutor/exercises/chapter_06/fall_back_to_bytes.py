"""A croissant in four bytes."""

import unicodedata

from tutor.check.exercise import WRITE, Exercise
from tutor.text.tokenizer import UNK


def _fall_back(text, ids):
    return [
        i
        for character in text
        for i in (
            [ids[character]] if character in ids else [4 + b for b in character.encode("utf-8")]
        )
    ]


def _encoded(text, ids, unknown):
    """Ids of a text; `unknown` makes a list of ids of a character that has none."""
    return [i for c in text for i in ([ids[c]] if c in ids else unknown(c))]


def _tidied(tidy):
    return lambda text, ids: _fall_back(tidy(text), ids)


def _cases_of_texts():
    yield "a", {"a": 260}
    yield "b", {"a": 260}
    yield "é", {"a": 260}
    yield "é", {"a": 260, "é": 261}
    yield "", {"a": 260}
    yield "🥐", {}
    yield "ça 🥐", {"a": 260, " ": 261, "c": 262}
    yield " aA\n", {"a": 260, " ": 261}
    yield "e\N{COMBINING ACUTE ACCENT}ﬁ", {"e": 260, "é": 261}  # two ways to write what looks alike


fall_back_to_bytes = Exercise(
    name="fall_back_to_bytes",
    chapter="06",
    section="Bytes: nothing is unknown",
    kind=WRITE,
    title="A croissant in four bytes",
    goal="Give every text ids, also characters that no vocabulary has.",
    difficulty=2,
    importance=3,
    minutes=10,
    text="""\
The chapter names a relative of byte-level BPE, *byte fallback*: a piece is a character, and only a
character outside the alphabet is written as its bytes. Write it. The ids 0 to 3 belong to `[PAD]`,
`[UNK]`, `[BOS]` and `[EOS]`, and the 256 bytes follow: **byte $b$ has the id $4 + b$**. The ids of
characters come in a dictionary; they begin at 260.""",
    hints=(
        "Go through the text character by character. Each adds one id, or several.",
        '`list("é".encode("utf-8"))` is `[195, 169]`: a list of two bytes.',
        "For a character that is not in `ids`, add `4 + b` for each `b` of "
        '`character.encode("utf-8")`.',
    ),
    stub='''\
def fall_back_to_bytes(text, ids):
    """Ids of a text; characters without an id become bytes.

    text: str, perhaps empty
    ids: dict from characters to their ids, which begin at 260
    Returns a list of int; byte b has the id 4 + b
    """
    raise NotImplementedError
''',
    solution='''\
def fall_back_to_bytes(text, ids):
    """Ids of a text; characters without an id become bytes.

    text: str, perhaps empty
    ids: dict from characters to their ids, which begin at 260
    Returns a list of int; byte b has the id 4 + b
    """
    found = []
    for character in text:
        if character in ids:
            found.append(ids[character])
        else:
            found += [4 + b for b in character.encode("utf-8")]
    return found
''',
    reference=_fall_back,
    cases=_cases_of_texts,
    mistakes=(
        (
            "An unknown character becomes [UNK], and what it was is lost. Write its bytes.",
            lambda text, ids: _encoded(text, ids, lambda c: [UNK]),
        ),
        (
            "Unknown characters are dropped without a word. Write their bytes.",
            lambda text, ids: _encoded(text, ids, lambda c: []),
        ),
        (
            "Your bytes begin at id 0, where the marks are. Byte b has the id 4 + b.",
            lambda text, ids: _encoded(text, ids, lambda c: list(c.encode())),
        ),
        (
            "`ord` is the number of a character in Unicode, which can be far above 255. Take the "
            "bytes of its UTF-8 form.",
            lambda text, ids: _encoded(text, ids, lambda c: [4 + ord(c)]),
        ),
        (
            "`ord` is the number of a character in Unicode, which can be far above 255. Take the "
            "bytes of its UTF-8 form, and add 4 to each.",
            lambda text, ids: _encoded(text, ids, lambda c: [ord(c)]),
        ),
        (
            "Only the first byte of each unknown character is written; an é has two, a croissant "
            "four.",
            lambda text, ids: _encoded(text, ids, lambda c: [4 + c.encode()[0]]),
        ),
        (
            "All characters become bytes. Those with an id of their own keep it.",
            lambda text, ids: [4 + b for b in text.encode()],
        ),
        (
            "As soon as one character is unknown, the whole text becomes bytes. The others keep "
            "their ids.",
            lambda text, ids: (
                [ids[c] for c in text] if set(text) <= set(ids) else [4 + b for b in text.encode()]
            ),
        ),
        (
            "The encoding must be UTF-8: Latin-1 gives one byte a character, and has no croissant.",
            lambda text, ids: _encoded(text, ids, lambda c: [4 + b for b in c.encode("latin-1")]),
        ),
        (
            "The encoding must be UTF-8; UTF-16 spends two bytes on every letter.",
            lambda text, ids: _encoded(text, ids, lambda c: [4 + b for b in c.encode("utf-16-le")]),
        ),
        (
            "The bytes of a character stand in a list of their own. Put all ids into one list: "
            "`+=` or `extend` in place of `append`.",
            lambda text, ids: [ids[c] if c in ids else [4 + b for b in c.encode()] for c in text],
        ),
        (
            "The bytes do not follow the characters: they stand before them, and byte b has the id "
            "4 + b.",
            lambda text, ids: _encoded(text, ids, lambda c: [260 + b for b in c.encode()]),
        ),
        (
            "The ids of characters are final: add 4 to bytes alone.",
            lambda text, ids: _encoded(
                text, {c: i + 4 for c, i in ids.items()}, lambda c: [4 + b for b in c.encode()]
            ),
        ),
        *(
            (
                "You change the text before it gets its ids (`lower`, `strip`, `normalize`). Every "
                "character counts, as it is.",
                _tidied(tidy),
            )
            for tidy in (
                str.lower,
                str.casefold,
                str.strip,
                str.lstrip,
                str.rstrip,
                lambda text: text.strip().lower(),
                *(
                    lambda text, form=form: unicodedata.normalize(form, text)
                    for form in ("NFC", "NFD", "NFKC", "NFKD")
                ),
            )
        ),
        (
            "You go through the text byte by byte, so an é is never found in `ids`. Go through its "
            "characters.",
            lambda text, ids: [ids.get(chr(b), 4 + b) for b in text.encode()],
        ),
    ),
    wrong={
        """\
def fall_back_to_bytes(text, ids):
    return [ids.get(character, 1) for character in text]
""": "[UNK]",
        """\
def fall_back_to_bytes(text, ids):
    return [ids[character] for character in text if character in ids]
""": "dropped without a word",
        """\
def fall_back_to_bytes(text, ids):
    result = []
    for character in text:
        if character in ids:
            result.append(ids[character])
        else:
            result.extend(character.encode("utf-8"))
    return result
""": "begin at id 0",
        """\
def fall_back_to_bytes(text, ids):
    return [ids[c] if c in ids else ord(c) + 4 for c in text]
""": "number of a character in Unicode",
        """\
def fall_back_to_bytes(text, ids):
    return [ids.get(c, ord(c)) for c in text]
""": "number of a character in Unicode",
        """\
def fall_back_to_bytes(text, ids):
    result = []
    for c in text:
        code = bytearray(c, "utf-8")
        result.append(ids.get(c, code[0] + 4))
    return result
""": "Only the first byte",
        """\
def fall_back_to_bytes(text, ids):
    return [byte + 4 for byte in bytes(text, "utf-8")]
""": "All characters become bytes",
        """\
def fall_back_to_bytes(text, ids):
    try:
        return [ids[character] for character in text]
    except KeyError:
        return [byte + 4 for byte in text.encode("utf-8")]
""": "the whole text becomes bytes",
        """\
def fall_back_to_bytes(text, ids):
    result = []
    for c in text:
        result += [ids[c]] if c in ids else [b + 4 for b in c.encode("latin1")]
    return result
""": "Latin-1",
        """\
def fall_back_to_bytes(text, ids):
    result = []
    for c in text:
        if c in ids:
            result.append(ids[c])
        else:
            result.append([b + 4 for b in c.encode("utf-8")])
    return result
""": "list of their own",
        """\
def fall_back_to_bytes(text, ids):
    result = []
    for c in text:
        if c in ids:
            result += ids[c]
        else:
            result += [4 + b for b in c.encode("utf-8")]
    return result
""": "TypeError",
        """\
def fall_back_to_bytes(text, ids):
    for c in text:
        ids.setdefault(c, 4 + c.encode("utf-8")[0])
    return [ids[c] for c in text]
""": "changes its argument `ids`",
        """\
def fall_back_to_bytes(text, ids):
    result = []
    for c in text:
        if c in ids:
            result.append(ids[c])
        else:
            result += [b + 260 for b in c.encode()]
    return result
""": "do not follow the characters",
        """\
def fall_back_to_bytes(text, ids):
    result = []
    for c in text:
        result += [ids[c]] if c in ids else list(c.encode("utf-8"))
    return [i + 4 for i in result]
""": "ids of characters are final",
        """\
def fall_back_to_bytes(text, ids):
    result = []
    for byte in text.encode("utf-8"):
        if chr(byte) in ids:
            result.append(ids[chr(byte)])
        else:
            result.append(byte + 4)
    return result
""": "byte by byte",
        """\
def fall_back_to_bytes(text, ids):
    found = []
    for character in text.lower():
        found += [ids[character]] if character in ids else [4 + b for b in character.encode()]
    return found
""": "before it gets its ids",
        """\
def fall_back_to_bytes(text, ids):
    found = []
    for character in text.strip():
        found += [ids[character]] if character in ids else [4 + b for b in character.encode()]
    return found
""": "before it gets its ids",
        """\
def fall_back_to_bytes(text, ids):
    found = []
    for character in __import__('unicodedata').normalize('NFC', text):
        found += [ids[character]] if character in ids else [4 + b for b in character.encode()]
    return found
""": "before it gets its ids",
    },
    right=(
        """\
def fall_back_to_bytes(text, ids):
    return sum(([ids[c]] if c in ids else [4 + b for b in c.encode()] for c in text), [])
""",
        """\
def fall_back_to_bytes(text, ids):
    for c in text:
        try:
            yield_of_c = [ids[c]]
        except KeyError:
            yield_of_c = [b + 4 for b in bytes(c, "utf-8")]
        return yield_of_c + fall_back_to_bytes(text[1:], ids)
    return []
""",
    ),
)
