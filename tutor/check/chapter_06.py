"""Exercises of chapter 06: pieces, bytes, batches."""

from collections import Counter

import torch

from tutor.check.exercise import EXPLAIN, MEND, PREDICT, WRITE, Exercise
from tutor.text.batches import make_batch, pad
from tutor.text.tokenizer import BOS, EOS, PAD, UNK

second_merge = Exercise(
    name="second_merge",
    chapter="06",
    section="Byte-pair encoding by hand",
    kind=PREDICT,
    title="Two merges on paper",
    goal="Count pairs and merge, twice, as byte-pair encoding does.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
Four words, and how often each occurs: *banana* 2, *band* 3, *ban* 1, *nab* 1.

**Predict** the first two merges, on paper: the piece that the first one makes and the count of its
pair, then the same of the second. That is a list of four, such as `["th", 7, "the", 5]`.""",
    hints=(
        "Write each word as letters with its count beside it, and count each pair of neighbours. "
        "How many pairs of neighbours does *banana* have?",
        "*a n* stands twice in *banana*, which occurs twice, three times in all *band* together, "
        "and once in *ban*.",
        "After the first merge the words are *b an an a*, *b an d*, *b an* and *n a b*. Count the "
        "pairs of these pieces anew.",
    ),
    stub='second_merge = None  # a list of four, such as ["th", 7, "the", 5]',
    solution='second_merge = ["an", 8, "ban", 6]',
    because="a n: 2·2 + 3 + 1 = 8. Then b an: 2 + 3 + 1 = 6, and an d, the next, only 3.",
    reference=["an", 8, "ban", 6],
    mistakes=(
        (
            "*banana* holds the pair *a n* twice. Every place counts, not every word once.",
            ["an", 6, "ban", 6],
        ),
        (
            "A pair counts as often as its word occurs: *band* adds 3, not 1.",
            ["an", 4, "ban", 3],
        ),
        (
            "The first merge is right. But *b a* does not exist after it: wherever an *a* stood "
            "behind a *b* and before an *n*, there is now the piece *an*.",
            ["an", 8, "ba", 6],
        ),
        (
            "The first merge is right. Then count anew: most of the *n a* of *banana* are gone, "
            "because their letters are in pieces now.",
            ["an", 8, "na", 5],
        ),
        (
            "That is the pair which comes first in the words. The one that occurs most often is "
            "merged first.",
            ["ba", 6, "ban", 6],
        ),
        (
            "The pieces are right. The second count is made anew too: count how often *b* stands "
            "before *an*.",
            ["an", 8, "ban", 8],
        ),
        (
            "*an* stands before *an* only in *banana*, and that occurs twice. Another pair occurs "
            "more often.",
            ["an", 8, "anan", 2],
        ),
        (
            "*an* before *d* occurs three times. Another pair occurs more often.",
            ["an", 8, "and", 3],
        ),
        ("*ban* counts too: *b* stands before *an* in banana, band and ban.", ["an", 8, "ban", 5]),
        ("The first count misses a word: *ban* holds *a n* too.", ["an", 7, "ban", 6]),
        (
            "Write a piece without a space in it: the pair *t h* becomes *th*.",
            ["a n", 8, "b an", 6],
        ),
    ),
    wrong={
        'second_merge = ["an", 2 + 3 + 1, "ban", 2 + 3 + 1]': "Every place counts",
        'second_merge = ("an", 4, "ban", 3)': "as often as its word occurs",
        'second_merge = ["an", 8, "ba", 2 + 3 + 1]': "does not exist after it",
        'second_merge = ["an", 8, "na", 2 * 2 + 1]': "count anew",
        'second_merge = ["ba", 6, "ban", 6]': "comes first in the words",
        'second_merge = ["an", 8, "and", 3]': "more often",
        'second_merge = ["an", 8]': "of length 2",
        'second_merge = ["an", "ban", 8, 6]': "a number is wanted",
        'second_merge = ["an", 8, "ban", 2 + 3]': "*ban* counts too",
        'second_merge = ["a n", 8, "b an", 6]': "without a space",
    },
    right=(
        'second_merge = ("an", 2 * 2 + 3 + 1, "ban", 2 + 3 + 1)',
        'second_merge = ["An", 8, "Ban", 6.0]',
    ),
)

_TEN = (
    ("i", "n"), ("in", "g"), ("r", "a"), ("ra", "in"), ("t", "rain"), ("train", "s"),
    ("s", "ing"), ("train", "ing"), ("sing", "s"), ("ra", "n"),
)  # fmt: skip


def _merge(pieces, pair):
    merged = []
    for piece in pieces:
        if merged and (merged[-1], piece) == pair:
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def _cut(word, merges):
    pieces = list(word)
    for pair in merges:
        pieces = _merge(pieces, pair)
    return pieces


def _merge_first_place(word, merges):
    pieces = list(word)
    for pair in merges:
        for t in range(len(pieces) - 1):
            if (pieces[t], pieces[t + 1]) == pair:
                pieces[t : t + 2] = ["".join(pair)]
                break
    return pieces


def _merge_leftmost(word, merges):
    pieces, t = list(word), 0
    while t < len(pieces) - 1:
        if (pieces[t], pieces[t + 1]) in merges:
            pieces[t : t + 2] = [pieces[t] + pieces[t + 1]]
            t = 0
        else:
            t += 1
    return pieces


def _longest_first(word, merges):
    vocabulary, pieces = {"".join(pair) for pair in merges} | set(word), []
    while word:
        n = max(n for n in range(1, len(word) + 1) if word[:n] in vocabulary)
        pieces.append(word[:n])
        word = word[n:]
    return pieces


def _merge_from_the_right(word, merges):
    return [p[::-1] for p in _cut(word[::-1], [(b[::-1], a[::-1]) for a, b in merges])][::-1]


def _replace_text(word, merges):
    text = " ".join(word)
    for pair in merges:
        text = "".join(pair).join(text.split(" ".join(pair)))
    return text.split()


def _compare_joined(word, merges):
    pieces = list(word)
    for pair in merges:
        merged = []
        for piece in pieces:
            if merged and merged[-1] + piece == "".join(pair):
                merged[-1] += piece
            else:
                merged.append(piece)
        pieces = merged
    return pieces


def _walk(word, merges, skip, end):
    """Merge with two common slips: how far to go after a merge, and how close to the end."""
    pieces = list(word)
    for pair in merges:
        merged, t = [], 0
        while t < len(pieces) - end:
            here = tuple(pieces[t : t + 2]) == pair
            merged.append("".join(pair) if here else pieces[t])
            t += skip if here else 1
        pieces = merged
    return pieces


def _keep_second(word, merges):
    return _walk(word, merges, skip=1, end=0)


def _lose_last(word, merges):
    return _walk(word, merges, skip=2, end=1)


def _cases_of_words():
    yield "ab", [("a", "b")]
    yield "aaa", [("a", "a")]
    yield "abab", [("a", "b")]
    yield "abc", [("b", "c"), ("a", "b")]
    yield "sab", [("s", "a"), ("a", "b")]
    yield "abc", [("a", "b"), ("b", "c"), ("a", "bc")]
    yield "aaaaa", [("a", "a"), ("aa", "aa")]
    yield "", [("a", "b")]
    yield "cab", []
    for word in ("straining", "sprains", "trainsing", "walking"):
        yield word, list(_TEN)


cut_word = Exercise(
    name="cut_word",
    chapter="06",
    section="A word that it never saw",
    kind=WRITE,
    title="A word in pieces",
    goal="Apply a learned list of merges to a word, in the right order and at every place.",
    difficulty=3,
    importance=4,
    minutes=15,
    text="""\
The list of merges is the tokenizer. Cut a word into letters, then apply the merges **in the order
in which they were learned**, each at every place, from left to right. A letter that a merge
has taken is used up: *a a a* with the merge *a a* becomes *aa a*.

The steps have names, but they are shuffled. Put them in order first:

- *glue*: if the last piece of the new list and the one that comes are the pair, make them one;
- *letters*: make a list of the word's letters;
- *append*: if they are not, the piece that comes stands at the end of the new list;
- *take a merge*: for each of them, begin with a new, empty list, and walk through the pieces.""",
    hints=(
        "The order is: letters, take a merge, glue, append. Two loops: the outer goes over the "
        "merges, the inner builds a new list, which becomes `pieces` when it is done.",
        "Compare with the pair as two pieces, `(merged[-1], piece) == pair`. Glued together, *a* + "
        "*bc* and *ab* + *c* would look the same.",
        "The chapter's function `merge(pieces, pair)` is the inner loop. The outer one is: "
        "`for pair in merges: pieces = merge(pieces, pair)`.",
    ),
    stub='''\
def cut_word(word, merges):
    """The pieces of a word.

    word: str, perhaps empty
    merges: list of pairs of str, in the order in which they were learned
    Returns pieces: list of str, which together are the word
    """
    raise NotImplementedError
''',
    solution='''\
def cut_word(word, merges):
    """The pieces of a word.

    word: str, perhaps empty
    merges: list of pairs of str, in the order in which they were learned
    Returns pieces: list of str, which together are the word
    """
    pieces = list(word)
    for pair in merges:
        merged = []
        for piece in pieces:
            if merged and (merged[-1], piece) == pair:
                merged[-1] += piece
            else:
                merged.append(piece)
        pieces = merged
    return pieces
''',
    reference=_cut,
    cases=_cases_of_words,
    mistakes=(
        (
            "Each merge is applied at the first place alone; it belongs at every place where the "
            "pair stands.",
            _merge_first_place,
        ),
        (
            "You apply the merges from the last to the first. The one that was learned first comes "
            "first.",
            lambda word, merges: _cut(word, merges[::-1]),
        ),
        (
            "You merge whatever fits, from the left. The order of the list decides: a merge that "
            "was learned early wins over one that stands further left.",
            _merge_leftmost,
        ),
        (
            "You take the longest piece that fits, from the left. That is how WordPiece cuts; BPE "
            "applies its merges in order.",
            _longest_first,
        ),
        (
            "You walk from right to left: *a a a* becomes *aa a*, not *a aa*.",
            _merge_from_the_right,
        ),
        (
            "You replace text, so that a merge also takes the end of one piece and the start of "
            "the next. Compare whole pieces.",
            _replace_text,
        ),
        (
            "You compare glued pieces, and *a* + *bc* looks like *ab* + *c*. Compare the two "
            "pieces with the pair.",
            _compare_joined,
        ),
        (
            "Nothing is merged: these are the letters.",
            lambda word, merges: list(word),
        ),
        (
            "Your loop forgets its last piece; look at what happens at the end of a word.",
            _lose_last,
        ),
        (
            "Only the first merge of the list is applied; see that no `return` stands in the loop.",
            lambda word, merges: _cut(word, merges[:1]) if merges else None,
        ),
        ("The pair is glued, but its second piece is still there: skip it.", _keep_second),
    ),
    wrong={
        """\
def cut_word(word, merges):
    pieces = list(word)
    for a, b in merges:
        for i in range(len(pieces) - 1):
            if pieces[i] == a and pieces[i + 1] == b:
                pieces = pieces[:i] + [a + b] + pieces[i + 2:]
                break
    return pieces
""": "first place alone",
        """\
def cut_word(word, merges):
    pieces = list(word)
    for a, b in reversed(merges):
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == a and pieces[i + 1] == b:
                pieces[i:i + 2] = [a + b]
            i += 1
    return pieces
""": "from the last to the first",
        """\
def cut_word(word, merges):
    pieces = list(word)
    changed = True
    while changed:
        changed = False
        for i in range(len(pieces) - 1):
            if (pieces[i], pieces[i + 1]) in set(merges):
                pieces[i:i + 2] = [pieces[i] + pieces[i + 1]]
                changed = True
                break
    return pieces
""": "stands further left",
        """\
def cut_word(word, merges):
    known = [a + b for a, b in merges]
    pieces = []
    start = 0
    while start < len(word):
        end = len(word)
        while end > start + 1 and word[start:end] not in known:
            end -= 1
        pieces.append(word[start:end])
        start = end
    return pieces
""": "WordPiece",
        """\
def cut_word(word, merges):
    pieces = list(word)
    for a, b in merges:
        for i in range(len(pieces) - 2, -1, -1):
            if pieces[i:i + 2] == [a, b]:
                pieces[i:i + 2] = [a + b]
    return pieces
""": "from right to left",
        """\
def cut_word(word, merges):
    word = " ".join(word)
    for a, b in merges:
        word = word.replace(a + " " + b, a + b)
    return word.split()
""": "replace text",
        """\
def cut_word(word, merges):
    pieces = list(word)
    for a, b in merges:
        i = 0
        while i + 1 < len(pieces):
            if pieces[i] + pieces[i + 1] == a + b:
                pieces[i:i + 2] = [a + b]
            i += 1
    return pieces
""": "glued pieces",
        """\
def cut_word(word, merges):
    pieces = tuple(word)
    for pair in merges:
        merged = []
        for piece in pieces:
            if merged and (merged[-1], piece) == pair:
                merged[-1] += piece
            else:
                merged.append(piece)
    return pieces
""": "Nothing is merged",
        """\
def cut_word(word, merges):
    pieces = list(word)
    for a, b in merges:
        for i in range(len(pieces)):
            if pieces[i] == a and pieces[i + 1] == b:
                pieces[i] = a + b
                pieces.pop(i + 1)
    return pieces
""": "IndexError",
        """\
def cut_word(word, merges):
    pieces = list(word)
    while merges:
        a, b = merges.pop(0)
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == a and pieces[i + 1] == b:
                pieces[i:i + 2] = [a + b]
            i += 1
    return pieces
""": "changes its argument `merges`",
        """\
def cut_word(word, merges):
    pieces = list(word)
    for pair in merges:
        merged = []
        for piece in pieces:
            if merged and (merged[-1], piece) == pair:
                merged[-1] += piece
            else:
                merged.append(piece)
        pieces = merged
    return " ".join(pieces)
""": "a list is wanted",
        """\
def cut_word(word, merges):
    pieces = list(word)
    for a, b in merges:
        new = []
        for i in range(len(pieces)):
            if i + 1 < len(pieces) and pieces[i] == a and pieces[i + 1] == b:
                new.append(a + b)
            else:
                new.append(pieces[i])
        pieces = new
    return pieces
""": "second piece is still there",
        """\
def cut_word(word, merges):
    pieces = list(word)
    for a, b in merges:
        new, i = [], 0
        while i < len(pieces) - 1:
            if pieces[i] == a and pieces[i + 1] == b:
                new.append(a + b)
                i += 2
            else:
                new.append(pieces[i])
                i += 1
        pieces = new
    return pieces
""": "forgets its last piece",
        """\
def cut_word(word, merges):
    pieces = tuple(word)
    for pair in merges:
        merged = []
        for piece in pieces:
            if merged and (merged[-1], piece) == pair:
                merged[-1] += piece
            else:
                merged.append(piece)
        pieces = merged
        return pieces
""": "no `return` stands in the loop",
    },
    right=(
        """\
def cut_word(word, merges):
    rank = {pair: i for i, pair in enumerate(merges)}
    pieces = tuple(word)
    while len(pieces) > 1:
        pairs = set(zip(pieces, pieces[1:]))
        best = min(pairs, key=lambda pair: rank.get(pair, len(rank)))
        if best not in rank:
            break
        merged, i = [], 0
        while i < len(pieces):
            if pieces[i:i + 2] == best:
                merged.append(best[0] + best[1])
                i += 2
            else:
                merged.append(pieces[i])
                i += 1
        pieces = tuple(merged)
    return pieces
""",
        """\
def cut_word(word, merges):
    pieces = [*word]
    for a, b in merges:
        t = 0
        while t + 1 < len(pieces):
            if pieces[t] == a and pieces[t + 1] == b:
                pieces[t:t + 2] = [a + b]
            t += 1
    return pieces
""",
        """\
def cut_word(word, merges):
    def merge(pieces, pair):
        if len(pieces) < 2:
            return pieces
        if pieces[:2] == pair:
            return (pieces[0] + pieces[1], *merge(pieces[2:], pair))
        return (pieces[0], *merge(pieces[1:], pair))

    pieces = tuple(word)
    for pair in merges:
        pieces = merge(pieces, tuple(pair))
    return list(pieces)
""",
    ),
)


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


def _cases_of_texts():
    yield "a", {"a": 260}
    yield "b", {"a": 260}
    yield "é", {"a": 260}
    yield "é", {"a": 260, "é": 261}
    yield "", {"a": 260}
    yield "🥐", {}
    yield "ça 🥐", {"a": 260, " ": 261, "c": 262}


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
            "Your bytes begin at id 0, where the special tokens are. Byte b has the id 4 + b.",
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


def _shift(sentences):
    batch = make_batch([([], ids) for ids in sentences])
    return batch.target_in, batch.target_out


def _framed(sentences):
    return pad([[BOS, *ids, EOS] for ids in sentences])


def _shifted(answer, sentences):
    """[EOS] in front of padding does no harm in target_in, so we do not look at it there."""
    result = answer(sentences)
    pair = isinstance(result, list | tuple) and len(result) == 2
    if pair and isinstance(result[0], torch.Tensor):
        target_in, target_out = result
        return target_in.masked_fill(target_in == EOS, PAD), target_out
    return result


def _pad_in_front(sentences):
    longest = max(map(len, sentences)) + 2
    ids = torch.tensor([[PAD] * (longest - len(s) - 2) + [BOS, *s, EOS] for s in sentences])
    return ids[:, :-1], ids[:, 1:]


def _pad_with_end(sentences):
    ids = _framed(sentences)
    ids = ids.masked_fill(ids == PAD, EOS)
    return ids[:, :-1], ids[:, 1:]


def _without_end(sentences):
    ids = pad([[BOS, *ids] for ids in sentences])
    return ids[:, :-1], ids[:, 1:]


shifted_batch = Exercise(
    name="shifted_batch",
    chapter="06",
    section="Batches: making sentences rectangular",
    kind=MEND,
    title="A loss of zero after a minute",
    goal="Shift the target by one, so that the model is asked for what it has not read.",
    difficulty=2,
    importance=5,
    minutes=10,
    text="""\
A colleague's translator reaches a loss near zero within a minute and then cannot write a word. This
function makes the decoder's input and its answers. **Find the mistake and mend it.**

`target_in` is each sentence behind `[BOS]`, `target_out` is each sentence before `[EOS]`. They have
the same width, that of the longest sentence and one mark. (If a shorter row of `target_in` still
has its `[EOS]` in front of the padding, no harm is done, and the check does not mind.)""",
    hints=(
        "Call it with `[[5, 6, 7]]` and write the two rows below each other. Which answer stands "
        "below `[BOS]`?",
        "Below each token of the input must stand the token that follows it: column $t$ of the "
        "answers is column $t + 1$ of the input.",
        "`ids[:, :-1]` is everything but the last column, `ids[:, 1:]` everything but the first. "
        "Or pad two lists: `[BOS] + ids` and `ids + [EOS]`.",
    ),
    setup="from tutor.text.tokenizer import BOS, EOS, PAD\n",
    stub='''\
def shifted_batch(sentences):
    """Input and answers of the decoder. It has a mistake: find it and mend it.

    sentences: list of N lists of ids, without special tokens
    Returns target_in, target_out: int tensors (N, T), padded with PAD
    """
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids, ids
''',
    solution='''\
def shifted_batch(sentences):
    """Input and answers of the decoder.

    sentences: list of N lists of ids, without special tokens
    Returns target_in, target_out: int tensors (N, T), padded with PAD
    """
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, :-1], ids[:, 1:]
''',
    because="Each place is asked for the token that follows; a copy of the input is no answer now.",
    reference=_shift,
    call=_shifted,
    cases=lambda: (
        ([[5]],),
        ([[]],),
        ([[5, 6, 7]],),
        ([[5, 6, 7], [8]],),
        ([[9], [], [4, 5, 6, 7, 8]],),
    ),
    forbidden=(make_batch,),
    mistakes=(
        (
            "As it was: a model that repeats what it reads has a loss of 0.",
            lambda sentences: (_framed(sentences), _framed(sentences)),
        ),
        (
            "The marks are right, and still nothing is shifted: both rows have the same token at "
            "each place.",
            lambda sentences: (pad([[BOS, *ids] for ids in sentences]),) * 2,
        ),
        (
            "The marks are right, and still nothing is shifted: both rows have the same token at "
            "each place.",
            lambda sentences: (pad([[*ids, EOS] for ids in sentences]),) * 2,
        ),
        (
            "The two are exchanged: the model reads what comes next and is asked for what was "
            "before.",
            lambda sentences: _shift(sentences)[::-1],
        ),
        (
            "Only the input lost a column, so the answers are one wider and still begin with "
            "[BOS]. Take the first column from them.",
            lambda sentences: (_framed(sentences)[:, :-1], _framed(sentences)),
        ),
        (
            "Only the answers lost a column; the input is one wider. Take its last column away.",
            lambda sentences: (_framed(sentences), _framed(sentences)[:, 1:]),
        ),
        (
            "You cut away sentences, not tokens: the first dimension is the batch. `[:, 1:]` cuts "
            "columns.",
            lambda sentences: (_framed(sentences)[:-1], _framed(sentences)[1:]),
        ),
        (
            "`roll` brings the first token back at the end: [BOS] is an answer now.",
            lambda sentences: (_framed(sentences), _framed(sentences).roll(-1, dims=1)),
        ),
        (
            "One column too many: in the last one nothing is asked but padding.",
            lambda sentences: (
                _framed(sentences),
                pad([[*ids, EOS, PAD] for ids in sentences]),
            ),
        ),
        (
            "The shift is by two: a token is skipped, and the model is never asked for it.",
            lambda sentences: (_framed(sentences)[:, :-2], _framed(sentences)[:, 2:]),
        ),
        (
            "[BOS] is missing, so the first word of a sentence is never asked for.",
            lambda sentences: (_framed(sentences)[:, 1:-1], _framed(sentences)[:, 2:]),
        ),
        (
            "[EOS] is missing from the answers: the model never learns to stop.",
            lambda sentences: (pad([[BOS, *ids[:-1]] for ids in sentences]), pad(sentences)),
        ),
        (
            "The marks are right, and still nothing is shifted: both rows have the same token at "
            "each place.",
            lambda sentences: (_framed(sentences)[:, :-1],) * 2,
        ),
        (
            "The marks are right, and still nothing is shifted: both rows have the same token at "
            "each place.",
            lambda sentences: (_framed(sentences)[:, 1:],) * 2,
        ),
        (
            "The two are exchanged: the model reads what comes next and is asked for what was "
            "before.",
            lambda sentences: (_framed(sentences)[:, 1:], _framed(sentences)[:, :-1]),
        ),
        (
            "[EOS] is missing from the answers: the model never learns to stop.",
            _without_end,
        ),
        (
            "[EOS] is missing from the answers: the model never learns to stop.",
            lambda sentences: (
                pad([[BOS, *ids] for ids in sentences]),
                pad([[*ids, PAD] for ids in sentences]),
            ),
        ),
        ("The padding stands in front. It belongs behind the sentence.", _pad_in_front),
        (
            "Short rows are filled up with [EOS], and the loss would count it. Fill up with [PAD].",
            _pad_with_end,
        ),
    ),
    wrong={
        """\
def shifted_batch(sentences):
    longest = max(len(ids) for ids in sentences) + 2
    target = torch.zeros(len(sentences), longest, dtype=torch.long)
    for n, ids in enumerate(sentences):
        row = torch.tensor([BOS, *ids, EOS])
        target[n, :len(row)] = row
    return target, target.clone()
""": "As it was",
        """\
def shifted_batch(sentences):
    longest = max(map(len, sentences)) + 1
    rows = [[BOS] + ids for ids in sentences]
    target = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
    target_in = target.clone()
    target_out = target.clone()
    return target_in, target_out
""": "nothing is shifted",
        """\
def shifted_batch(sentences):
    longest = max(map(len, sentences)) + 1
    target_in = [ids + [EOS] + [PAD] * (longest - len(ids) - 1) for ids in sentences]
    target_out = [[BOS] + ids + [PAD] * (longest - len(ids) - 1) for ids in sentences]
    return torch.tensor(target_in), torch.tensor(target_out)
""": "exchanged",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids.narrow(1, 0, longest - 1), ids
""": "Only the input lost a column",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:-1], ids[1:]
""": "cut away sentences",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids, torch.cat([ids[:, 1:], ids[:, :1]], dim=1)
""": "[BOS] is an answer now",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids, F.pad(ids[:, 1:], (0, 1), value=PAD)
""": "One column too many",
        """\
def shifted_batch(sentences):
    longest = max(map(len, sentences)) + 1
    rows = [ids + [EOS] + [PAD] * (longest - len(ids)) for ids in sentences]
    ids = torch.tensor(rows)
    return ids[:, :-2], ids[:, 1:-1]
""": "[BOS] is missing",
        """\
def shifted_batch(sentences):
    target_in = [[BOS] + ids for ids in sentences]
    target_out = [ids + [EOS] for ids in sentences]
    return torch.tensor(target_in), torch.tensor(target_out)
""": "ValueError",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, 1:], ids[:, :-1]
""": "exchanged",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, :-1], ids[:, :-1]
""": "nothing is shifted",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([[PAD] * (longest - len(row)) + row for row in framed])
    return ids[:, :-1], ids[:, 1:]
""": "stands in front",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [EOS] * (longest - len(row)) for row in framed])
    return ids[:, :-1], ids[:, 1:]
""": "filled up with [EOS]",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, :-1], ids[:, 1:]
""": "[EOS] is missing",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, :-1]
""": "a tuple is wanted",
    },
    right=(
        """\
def shifted_batch(sentences):
    longest = max(map(len, sentences)) + 1
    target_in = [[BOS] + ids + [PAD] * (longest - len(ids) - 1) for ids in sentences]
    target_out = [ids + [EOS] + [PAD] * (longest - len(ids) - 1) for ids in sentences]
    return torch.tensor(target_in), torch.tensor(target_out)
""",
        """\
def shifted_batch(sentences):
    T = max(len(ids) for ids in sentences) + 1
    target_in = torch.full((len(sentences), T), PAD)
    target_out = target_in.clone()
    for n, ids in enumerate(sentences):
        target_in[n, 0] = BOS
        for t, i in enumerate(ids):
            target_in[n, t + 1] = i
            target_out[n, t] = i
        target_out[n, len(ids)] = EOS
    return target_in, target_out
""",
        """\
def shifted_batch(sentences):
    rows = [torch.tensor([BOS, *ids, EOS]) for ids in sentences]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    return [ids[:, :-1], ids[:, 1:]]
""",
    ),
)


def _number_from(first):
    def number(sentences):
        counts = Counter(word for words in sentences for word in words)
        return {word: first + i for i, (word, _) in enumerate(counts.most_common())}

    return number


def _in_order_of(key):
    def number(sentences):
        counts = Counter(word for words in sentences for word in words)
        return {word: 4 + i for i, word in enumerate(sorted(counts, key=lambda w: key(counts, w)))}

    return number


number_words = Exercise(
    name="number_words",
    chapter="06",
    section="What can go wrong",
    kind=MEND,
    title="The model never ends a sentence",
    goal="Keep the ids of special tokens free of words.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
This vocabulary of words looks tidy: the most frequent word first. But a model that is trained with
it does not see the most frequent word at all, and never learns to write it. Batches are padded with
`PAD`, and the masks and the loss leave `PAD` out. **Find the mistake and mend it.** The four
special tokens need no entry in the result; what they need is room.""",
    hints=(
        "Which id does the most frequent word get? Which id does padding have?",
        "The ids 0 to 3 are `[PAD]`, `[UNK]`, `[BOS]` and `[EOS]`. Which is the first free one?",
        "`enumerate` can begin at another number; or add 4 to each.",
    ),
    setup="from collections import Counter\n",
    stub='''\
def number_words(sentences):
    """Ids for words, the most frequent first. It has a mistake: find it and mend it.

    sentences: list of lists of words
    Returns a dict from words to ids
    """
    counts = Counter(word for words in sentences for word in words)
    return {word: i for i, (word, _) in enumerate(counts.most_common())}
''',
    solution='''\
def number_words(sentences):
    """Ids for words, the most frequent first; 0 to 3 are special tokens.

    sentences: list of lists of words
    Returns a dict from words to ids
    """
    counts = Counter(word for words in sentences for word in words)
    return {word: 4 + i for i, (word, _) in enumerate(counts.most_common())}
''',
    because="0 to 3 are [PAD], [UNK], [BOS] and [EOS], so no word is hidden or stands for another.",
    reference=_number_from(4),
    cases=lambda: (
        ([["."]],),
        ([["chat", ".", "."]],),
        ([["."], ["chat", "noir", "."], [], ["chat", "."]],),
        ([["le", "chat", "regarde", "le", "chat"], ["le", "lit", "lit", "."] * 3],),
        ([],),
    ),
    mistakes=(
        (
            "As it was: masks and loss leave out the most frequent word.",
            _number_from(0),
        ),
        (
            "Padding has its id for itself now. But 1 is [UNK]: the most frequent word and all "
            "unknown words would share a row.",
            _number_from(1),
        ),
        (
            "Now the most frequent word has the id of [BOS], the mark that begins a target.",
            _number_from(2),
        ),
        (
            "Now the most frequent word has the id 3, and that is [EOS]: writing it ends the "
            "sentence. There are four special tokens.",
            _number_from(3),
        ),
        (
            "The first four ids are free, and so is the fifth: 4 is the first for a word.",
            _number_from(5),
        ),
        (
            "The ids are free, but the order is gone: the most frequent word comes first.",
            _in_order_of(lambda counts, word: list(counts).index(word)),
        ),
        (
            "The ids are free, but the order is turned round: the most frequent word comes first.",
            _in_order_of(lambda counts, word: counts[word]),
        ),
        (
            "The ids are free, but the words stand in alphabetical order; the most frequent comes "
            "first.",
            _in_order_of(lambda counts, word: word),
        ),
        (
            "The four most frequent words have lost their entry. They keep one, further down.",
            lambda sentences: {w: i for w, i in _number_from(0)(sentences).items() if i > 3},
        ),
        (
            "The ids are right, but the special tokens are words of your vocabulary: a reader who "
            "types [EOS] would give the command to stop. Leave them out.",
            lambda sentences: (
                {"[PAD]": 0, "[UNK]": 1, "[BOS]": 2, "[EOS]": 3} | _number_from(4)(sentences)
            ),
        ),
        (
            "Those are counts. Two words with one count would share an id; number the words in "
            "their order.",
            lambda sentences: {w: 4 + n for w, n in Counter(sum(sentences, [])).items()},
        ),
        (
            "The dictionary is turned round: it leads from ids to words. It must lead from words "
            "to ids.",
            lambda sentences: {i: w for w, i in _number_from(4)(sentences).items()},
        ),
    ),
    wrong={
        """\
def number_words(sentences):
    counts = Counter(sum(sentences, []))
    order = sorted(counts, key=counts.get, reverse=True)
    return dict(zip(order, range(len(order))))
""": "As it was",
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    return {word: i for i, (word, _) in enumerate(counts.most_common(), start=1)}
""": "1 is [UNK]",
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    return {word: i + 3 for i, (word, _) in enumerate(counts.most_common())}
""": "that is [EOS]",
        """\
def number_words(sentences):
    ids = {}
    for words in sentences:
        for word in words:
            if word not in ids:
                ids[word] = len(ids) + 4
    return ids
""": "the order is gone",
        """\
def number_words(sentences):
    words = sorted({word for words in sentences for word in words})
    return {word: i + 4 for i, word in enumerate(words)}
""": "alphabetical order",
        """\
def number_words(sentences):
    ids = {"[PAD]": 0, "[UNK]": 1, "[BOS]": 2, "[EOS]": 3}
    counts = Counter(word for words in sentences for word in words)
    for word, _ in counts.most_common():
        ids[word] = len(ids)
    return ids
""": "Leave them out",
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    ids = {}
    for i, (word, _) in enumerate(counts.most_common()):
        if i >= 4:
            ids[word] = i
    return ids
""": "lost their entry",
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    return [word for word, _ in counts.most_common()]
""": "a dict is wanted",
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    return {word: count + 4 for word, count in counts.most_common()}
""": "Those are counts",
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    return dict(enumerate((word for word, _ in counts.most_common()), start=4))
""": "turned round",
    },
    right=(
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    return {word: i for i, (word, _) in enumerate(counts.most_common(), start=4)}
""",
        """\
def number_words(sentences):
    counts = {}
    for words in sentences:
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    order = ["[PAD]", "[UNK]", "[BOS]", "[EOS]"] + sorted(counts, key=lambda w: -counts[w])
    return {word: order.index(word) for word in counts}
""",
    ),
)

only_the_tokenizer = Exercise(
    name="only_the_tokenizer",
    chapter="06",
    section="What can go wrong",
    kind=EXPLAIN,
    title="It is only the tokenizer",
    goal="Explain why a vocabulary is learned from the training text alone.",
    difficulty=3,
    importance=3,
    minutes=10,
    text="""\
A team learns its merges from all sentences, training and test together. *It is only the tokenizer*,
they say, *it never sees a translation*. They report a loss per token on the test set.

**Explain** in three to five sentences what the tokenizer has seen all the same. What does that do
to the table, and to the test sentences? Can their number be compared with an honest team's?""",
    hints=(
        "Three things belong in it: pieces, tokens of a test sentence, and the number per token.",
        "Which merges does a tokenizer learn that has read the test text, and an honest one not?",
        "Take a word that occurs only in the test set. Into how many tokens does each of the two "
        "cut it, and how would a new word of next week fare?",
    ),
    stub='''\
only_the_tokenizer = """

"""
''',
    solution='''\
only_the_tokenizer = """
Merges are counts of text, so the vocabulary holds pieces that occur in test sentences only. Their
rows of the table are never looked up in training; they are random numbers, or learn only to be
avoided. The test sentences are cut into fewer tokens than new text would be, so they look more like
the training text than they are. A loss per token divides by the number of tokens, which is another
one now. It flatters, and it cannot be compared with that of a team whose tokenizer is honest.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "only_the_tokenizer = 'It has seen the test set.'": "at least 12 words",
        "only_the_tokenizer = ['It has seen the test set.'] * 3": "as a text in quotes",
        "only_the_tokenizer = None": "as a text in quotes",
    },
    rubric="""\
- 1 point: the vocabulary holds pieces, or merges, that come from the test text.
- 1 point: rows of such pieces are not trained, since no training sentence looks them up.
- 1 point: test sentences are cut into fewer tokens than text that is really new.
- 1 point: a number per token depends on the number of tokens, so it cannot be compared with others
  (or: it flatters).""",
)

EXERCISES = (
    second_merge,
    cut_word,
    fall_back_to_bytes,
    shifted_batch,
    number_words,
    only_the_tokenizer,
)
