"""A mask with a prefix and a window."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _mask(lengths, T, width, prefix=None, window=None):
    """The mask, with a part that may be wrong.

    prefix: (t, s, lengths) -> what a word sees of the prefix. window: (t, s, width) -> of the rest.
    """
    t, s = torch.arange(T)[:, None], torch.arange(T)  # (T, 1), (T)
    lengths = lengths[:, None, None, None]  # (N, 1, 1, 1)
    seen = (prefix or _in_prefix)(t, s, lengths) | (window or _in_window)(t, s, width)
    return ~seen.expand(len(lengths), 1, T, T)


def _in_prefix(t, s, lengths):
    return s < lengths


def _in_window(t, s, width):
    return (s <= t) & (s > t - width)


def _nothing(t, s, number):
    return torch.zeros(len(t), len(t), dtype=torch.bool)


def _masks():
    """(words, mistake) pairs."""
    shown = "The prefix is right. In the window "
    yield (
        "The polarity is the other one: True must mean *may not be attended to*.",
        lambda *a: ~(_mask(*a)),
    )
    yield (
        shown + "a word sees one word too few: it sees itself and `width - 1` words before it.",
        lambda *a: _mask(*a, window=lambda t, s, w: (s <= t) & (s > t - w + 1)),
    )
    yield (
        shown + "a word sees one word too many: `width` counts the word itself.",
        lambda *a: _mask(*a, window=lambda t, s, w: (s <= t) & (s >= t - w)),
    )
    yield (
        shown + "a word does not see itself, only those before it.",
        lambda *a: _mask(*a, window=lambda t, s, w: (s < t) & (s > t - w)),
    )
    yield (
        shown + "a word does not see itself: it begins with the word before.",
        lambda *a: _mask(*a, window=lambda t, s, w: (s < t) & (s >= t - w)),
    )
    yield (
        shown + "a word also sees later words: hide what comes after it.",
        lambda *a: _mask(*a, window=lambda t, s, w: s > t - w),
    )
    yield (
        shown + "a word also sees later words: hide what comes after it.",
        lambda *a: _mask(*a, window=lambda t, s, w: (t - s).abs() < w),
    )
    yield (
        shown + "a word looks at those that follow it, and should look back: exchange t and s.",
        lambda *a: _mask(*a, window=lambda t, s, w: (s >= t) & (s < t + w)),
    )
    yield (
        shown + "the first words see nothing: a slice that begins below 0 is counted from the end.",
        lambda *a: _mask(*a, window=lambda t, s, w: (s <= t) & (s > t - w) & (t >= w - 1)),
    )
    yield from (
        (
            shown + "all words look at the newest words of the whole sentence. Each word t has a "
            "window of its own, which ends with t.",
            lambda *a, ends=ends: _mask(
                *a, window=lambda t, s, w: (s >= len(t) - w) & ((s <= t) | (ends < 1))
            ),
        )
        for ends in (0, 1)
    )
    yield (
        "The mask is turned round: row t is the word that looks, column s the one it looks at.",
        lambda *a: _mask(*a).mT,
    )
    yield (
        "There is no window: all earlier words are seen, however far away they are.",
        lambda *a: _mask(*a, window=lambda t, s, w: s <= t),
    )
    yield (
        "The window is missing: behind the prefix no word sees itself or its neighbors.",
        lambda *a: _mask(*a, window=_nothing),
    )
    yield (
        "The prefix is missing: all words see it, however far away it is.",
        lambda *a: _mask(*a, prefix=_nothing),
    )
    yield (
        "The window is right. The prefix is one word too long: its words are 0 to `length - 1`.",
        lambda *a: _mask(*a, prefix=lambda t, s, n: s <= n),
    )
    yield (
        "The window is right. The prefix is one word too short: its words are 0 to `length - 1`.",
        lambda *a: _mask(*a, prefix=lambda t, s, n: s < n - 1),
    )
    yield (
        "Only the words of the prefix see the prefix. The later words must see it too, however far "
        "away it is.",
        lambda *a: _mask(*a, prefix=lambda t, s, n: (s < n) & (t < n)),
    )
    yield (
        "Within the prefix your words see no later ones. Words of the prefix see each other in "
        "both directions.",
        lambda *a: _mask(*a, prefix=lambda t, s, n: (s < n) & (s <= t)),
    )
    yield (
        "The words of the prefix see everything, later words as well. A word sees the prefix and "
        "its window, and no more.",
        lambda *a: _mask(*a, prefix=lambda t, s, n: (s < n) | (t < n)),
    )
    yield (
        "In your mask the words of the prefix see everything, and the others do not see the "
        "prefix: rows (who looks) and columns (what is seen) are exchanged.",
        lambda *a: _mask(*a, prefix=lambda t, s, n: t < n),
    )
    yield (
        "All sentences have the prefix of the first one; each has a length of its own.",
        lambda lengths, T, w: _mask(lengths[:1].expand(len(lengths)), T, w),
    )
    yield (
        "All sentences have the longest prefix: `expand` copies nothing, so what is written into "
        "one sentence is in all of them. Use `repeat` or `clone`.",
        lambda lengths, T, w: _mask(lengths.amax().expand(len(lengths)), T, w),
    )
    yield (
        "Nothing is hidden: no word is both after the window and before it. Hidden is what is one "
        "*or* the other.",
        lambda *a: torch.zeros_like(_mask(*a)),
    )
    yield (
        "The prefix is hidden from everybody, and all words should see it.",
        lambda lengths, T, w: (
            _mask(lengths, T, w, prefix=_nothing) | ~_mask(lengths, T, w, window=_nothing)
        ),
    )
    yield (
        "No word sees itself, not even in the prefix; every word does.",
        lambda lengths, T, w: _mask(lengths, T, w) | torch.eye(T, dtype=torch.bool),
    )
    yield (
        "What must be either in the prefix or in the window must be in both here: `|` joins what "
        "is seen, `&` what is hidden.",
        lambda lengths, T, w: (
            ~(~_mask(lengths, T, w, window=_nothing) & ~_mask(lengths, T, w, prefix=_nothing))
        ),
    )
    yield (
        "The mask is right, but the dimension of the heads is missing: (N, 1, T, T).",
        lambda *a: _mask(*a)[:, 0],
    )
    yield (
        "The mask is right, but the dimension of the heads stands in front: (N, 1, T, T).",
        lambda *a: _mask(*a).transpose(0, 1),
    )
    yield (
        "The lengths must stand in a dimension of their own, in front: `lengths[:, None, None]`, "
        "or they are compared with the words.",
        _side_by_side,
    )


def _side_by_side(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return ~(_in_window(t, s, width) | (s < lengths))[None, None]


def _cases_of_prefixes():
    yield torch.tensor([2]), 5, 2
    yield torch.tensor([1, 3]), 6, 2
    yield torch.tensor([0, 4, 2]), 4, 1
    yield torch.tensor([3, 0]), 7, 3
    yield torch.tensor([2, 5, 0, 1]), 9, 4


prefix_mask = Exercise(
    name="prefix_mask",
    chapter="02",
    section="Words that may not be seen",
    kind=WRITE,
    title="A prompt and a window",
    goal="Say in one mask who sees whom, for sentences that differ.",
    difficulty=3,
    importance=4,
    minutes=12,
    text="""\
A model continues a prompt. Sentence n begins with `lengths[n]` words that are given, its
**prefix**; the rest is written word by word. To save work, a written word may not look at
everything that came before. The rule for every word t of a sentence:

- it sees the whole prefix of its sentence, also a later word of it;
- it sees a **window** of the `width` newest words: itself and the `width - 1` words before it;
- it sees nothing else.

Write the mask, `True` = may not be attended to, of shape (N, 1, T, T). A length may be 0, and
nothing is padded.""",
    hints=(
        "Draw the five rows of `lengths = [2]`, `T = 5`, `width = 2`. Row 4 sees the words "
        "0, 1, 3 and 4.",
        "`t = torch.arange(T)[:, None]` is the word that looks, `s = torch.arange(T)` the word "
        "that is looked at. Comparisons of the two have shape (T, T). Write what is *seen* first.",
        "In the window: `(s <= t) & (s > t - width)`. In the prefix: "
        "`s < lengths[:, None, None, None]`. Seen is one or the other, and the mask is the "
        "opposite.",
    ),
    stub='''\
def prefix_mask(lengths, T, width):
    """Hide all but the prefix and the newest `width` words.

    lengths: int tensor (N), words in the prefix of each sentence, 0 to T
    T: int, words of each sentence
    width: int, at least 1
    Returns: bool tensor (N, 1, T, T), True = may not be attended to
    """
    raise NotImplementedError
''',
    solution='''\
def prefix_mask(lengths, T, width):
    """Hide all but the prefix and the newest `width` words.

    lengths: int tensor (N), words in the prefix of each sentence, 0 to T
    T: int, words of each sentence
    width: int, at least 1
    Returns: bool tensor (N, 1, T, T), True = may not be attended to
    """
    t, s = torch.arange(T)[:, None], torch.arange(T)  # (T, 1), (T)
    window = (s <= t) & (s > t - width)  # (T, T)
    prefix = s < lengths[:, None, None, None]  # (N, 1, 1, T)
    return ~(window | prefix)  # (N, 1, T, T)
''',
    because="Each written word has at most `length + width` keys, however long the text grows.",
    reference=_mask,
    cases=_cases_of_prefixes,
    mistakes=tuple(_masks()),
    wrong={
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s > t - width)
    return window | (s < lengths[:, None, None, None])
""": "polarity",
        """\
def prefix_mask(lengths, T, width):
    visible = torch.ones(T, T, dtype=torch.bool).tril().triu(-width)
    prefix = torch.arange(T) < lengths[:, None, None, None]
    return ~(visible | prefix)
""": "one word too many",
        """\
def prefix_mask(lengths, T, width):
    mask = torch.ones(len(lengths), 1, T, T, dtype=torch.bool)
    for n, length in enumerate(lengths.tolist()):
        for t in range(T):
            mask[n, 0, t, :length] = False
            mask[n, 0, t, max(0, t - width + 1) : t] = False
    return mask
""": "does not see itself, only",
        """\
def prefix_mask(lengths, T, width):
    m = torch.ones(len(lengths), 1, T, T, dtype=torch.bool)
    for n, length in enumerate(lengths.tolist()):
        m[n, 0, :, :length] = False
        for t in range(T):
            m[n, 0, t, t - width + 1 : t + 1] = False
    return m
""": "a slice that begins below 0",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T), torch.arange(T)[:, None]
    window = (s <= t) & (s > t - width)
    return ~(window | (s < lengths[:, None, None, None]))
""": "turned round",
        """\
def prefix_mask(lengths, T, width):
    s = torch.arange(T)
    seen = (s >= T - width) | (s < lengths[:, None, None, None])
    return ~seen.expand(-1, 1, T, T)
""": "newest words of the whole sentence",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s >= T - width)
    return ~(window | (s < lengths[:, None, None, None]))
""": "newest words of the whole sentence",
        """\
def prefix_mask(lengths, T, width):
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    prefix = torch.arange(T) < lengths[:, None, None, None]
    return future & ~prefix
""": "no window",
        """\
def prefix_mask(lengths, T, width):
    ones = torch.ones(T, T, dtype=torch.bool)
    return (ones.triu(1) | ones.tril(-width)).expand(len(lengths), 1, T, T)
""": "prefix is missing",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s > t - width)
    return ~(window | (s <= lengths[:, None, None, None]))
""": "one word too long",
        """\
def prefix_mask(lengths, T, width):
    mask = torch.ones(len(lengths), 1, T, T, dtype=torch.bool)
    for n, length in enumerate(lengths.tolist()):
        mask[n, 0, :length, :length] = False
        for t in range(T):
            mask[n, 0, t, max(0, t - width + 1) : t + 1] = False
    return mask
""": "Only the words of the prefix see the prefix",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s > t - width)
    prefix = (s < lengths[:, None, None, None]) & (s <= t)
    return ~(window | prefix)
""": "in both directions",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s > t - width)
    prefix = t < lengths[:, None, None, None]
    return ~(window | prefix)
""": "exchanged",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s > t - width)
    return ~(window | (s < lengths[0])).expand(len(lengths), 1, T, T)
""": "prefix of the first one",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s > t - width)
    prefix = s < lengths[:, None, None, None]
    return ~window | ~prefix
""": "must be in both here",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s > t - width)
    return ~(window | (s < lengths[:, None, None]))
""": "dimension of the heads is missing",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s > t - width)
    return ~(window | (s < lengths))[None, None]
""": "a dimension of their own",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (s <= t) & (s > t - width)
    return (~(window | (s < lengths[:, None, None, None]))).float()
""": "torch.bool is wanted",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    window = (t - s).abs() < width
    return ~(window | (s < lengths[:, None, None, None]))
""": "also sees later words",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    mask = ((s > t) | (s <= t - width)).expand(len(lengths), 1, T, T)
    for n, length in enumerate(lengths.tolist()):
        mask[n, :, :, :length] = False
    return mask
""": "copies nothing",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    outside = (s > t) & (s <= t - width)
    return outside & (s >= lengths[:, None, None, None])
""": "Nothing is hidden",
        """\
def prefix_mask(lengths, T, width):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return (s > t) | (s <= t - width) | (s < lengths[:, None, None, None])
""": "hidden from everybody",
    },
    right=(
        """\
def prefix_mask(lengths, T, width):
    ones = torch.ones(T, T, dtype=torch.bool)
    outside = ones.triu(1) | ones.tril(-width)
    behind = torch.arange(T) >= lengths.unsqueeze(1)
    return outside & behind[:, None, None, :]
""",
        """\
def prefix_mask(lengths, T, width):
    mask = torch.empty(len(lengths), 1, T, T, dtype=torch.bool)
    for n in range(len(lengths)):
        for t in range(T):
            for s in range(T):
                mask[n, 0, t, s] = not (s < lengths[n] or t - width < s <= t)
    return mask
""",
        """\
def prefix_mask(lengths, T, width):
    import numpy as np

    t, s = np.ogrid[:T, :T]
    seen = (s <= t) & (t - s < width) | (s < lengths.numpy()[:, None, None, None])
    return torch.from_numpy(~seen)
""",
    ),
)
