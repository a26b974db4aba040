"""The model never ends a sentence."""

from collections import Counter

from tutor.check.exercise import MEND, Exercise


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


_SPECIAL = {"[PAD]": 0, "[UNK]": 1, "[BOS]": 2, "[EOS]": 3}


def _words_alone(answer, sentences):
    """An answer's ids without those of the marks, which may stand there."""
    ids = answer(sentences)
    if not isinstance(ids, dict):
        return ids
    return {word: i for word, i in ids.items() if (word, i) not in _SPECIAL.items()}


def _ties_have_ids(answer):
    """Whether words that occur equally often have the next ids, in whatever order."""
    ids = _words_alone(answer, [["le", "chat", "noir"], ["un", "chat", "le", "chien"]])
    common = {ids.pop("chat"), ids.pop("le")}
    return (
        common == {4, 5} and sorted(ids) == ["chien", "noir", "un"] and {*ids.values()} == {6, 7, 8}
    )


number_words = Exercise(
    name="number_words",
    chapter="06",
    section="A batch, drawn",
    kind=MEND,
    title="The model never ends a sentence",
    goal="Keep the ids of the marks free of words.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
This vocabulary of words looks tidy: the most frequent word first. But a model that is trained with
it does not see the most frequent word at all, and never learns to write it. Batches are padded with
`PAD`, and the masks and the loss leave `PAD` out. **Find the mistake and mend it.** The four
marks need no entry in the result; what they need is room.""",
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
    """Ids for words, the most frequent first; 0 to 3 are marks.

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
        ([["Chat", "chat", "chat"]],),
    ),
    call=_words_alone,
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
            "sentence. There are four marks.",
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
            "*Chat* and *chat* are two words, and you make them one: leave the words as they are.",
            lambda sentences: _number_from(4)([[w.lower() for w in words] for words in sentences]),
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
    properties=(
        (
            "Words that occur equally often need different ids, the next ones in any order: number "
            "the words, not their counts.",
            _ties_have_ids,
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
        """\
def number_words(sentences):
    counts = Counter(word.lower() for words in sentences for word in words)
    return {word: i for i, (word, _) in enumerate(counts.most_common(), start=4)}
""": "two words, and you make them one",
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    ranks = sorted(set(counts.values()), reverse=True)
    return {word: 4 + ranks.index(count) for word, count in counts.items()}
""": "occur equally often need different ids",
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    by_count = {count: word for word, count in counts.items()}
    return {by_count[count]: 4 + i for i, count in enumerate(sorted(by_count, reverse=True))}
""": "occur equally often need different ids",
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
        """\
def number_words(sentences):
    ids = {"[PAD]": 0, "[UNK]": 1, "[BOS]": 2, "[EOS]": 3}
    counts = Counter(word for words in sentences for word in words)
    for word, _ in counts.most_common():
        ids[word] = len(ids)
    return ids
""",
        """\
def number_words(sentences):
    counts = Counter(word for words in sentences for word in words)
    order = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: 4 + i for i, word in enumerate(order)}
""",
    ),
)
