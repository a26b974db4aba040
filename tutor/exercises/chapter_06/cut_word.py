"""A word in pieces."""

import unicodedata

from tutor.check.exercise import WRITE, Exercise

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
    yield " aB ab\n", [("a", "b"), ("a", "B")]
    yield "\N{LATIN SMALL LETTER E WITH ACUTE}t", [("é", "t")]
    yield "e\N{COMBINING ACUTE ACCENT}t", [("é", "t"), ("e", "t")]  # looks like é, and is no é
    yield "été", [("é", "t"), ("t", "e")]  # each é is one letter


cut_word = Exercise(
    name="cut_word",
    chapter="06",
    section="A word that it never saw",
    kind=WRITE,
    title="A word in pieces",
    goal="Apply a learned list of merges to a word, in the right order and at every place.",
    difficulty=3,
    importance=4,
    minutes=10,
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
        "The chapter's function `merge_pair(pieces, pair)` is the inner loop. The outer one is: "
        "`for pair in merges: pieces = merge_pair(pieces, pair)`.",
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
        *(
            (
                "You change the word before you cut it (`lower`, `strip`, `normalize`). The pieces "
                "together must be the word, as it is.",
                lambda word, merges, tidy=tidy: _cut(tidy(word), merges),
            )
            for tidy in (
                str.lower,
                str.casefold,
                str.strip,
                lambda word: word.strip().lower(),
                *(
                    lambda word, form=form: unicodedata.normalize(form, word)
                    for form in ("NFC", "NFD")
                ),
            )
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
        """\
def cut_word(word, merges):
    pieces = list(word.lower())
    for a, b in merges:
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == a and pieces[i + 1] == b:
                pieces[i:i + 2] = [a + b]
            i += 1
    return pieces
""": "before you cut it",
        """\
def cut_word(word, merges):
    pieces = list(word.strip())
    for a, b in merges:
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == a and pieces[i + 1] == b:
                pieces[i:i + 2] = [a + b]
            i += 1
    return pieces
""": "before you cut it",
        """\
def cut_word(word, merges):
    pieces = list(__import__('unicodedata').normalize('NFC', word))
    for a, b in merges:
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == a and pieces[i + 1] == b:
                pieces[i:i + 2] = [a + b]
            i += 1
    return pieces
""": "before you cut it",
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
