"""How long may the text get?"""

from tutor.check.exercise import WRITE, Exercise


def _longest(memory, windows, num_heads, d_k, sorts=2, width=2, tokens=min, within=int.__le__):
    """The largest T that fits; `tokens(T, window)` are those that a layer with a window keeps."""
    each = sorts * width * num_heads * d_k
    T = 0
    while within(each * sum(T + 1 if w is None else tokens(T + 1, w) for w in windows), memory):
        T += 1
    return T


def _windows_always_full(memory, windows, num_heads, d_k):
    each = 4 * num_heads * d_k
    rest = memory // each - sum(w for w in windows if w is not None)
    return rest // windows.count(None)


def _never_below_zero(memory, windows, num_heads, d_k):
    return max(0, _windows_always_full(memory, windows, num_heads, d_k))


def _tokens_of_all_layers(memory, windows, num_heads, d_k):
    return memory // (4 * num_heads * d_k)


def _cases_of_memories():
    yield from [
        (160, [None], 2, 5), (500, [None], 3, 4), (960, [None, None], 2, 4),
        (640, [2, None], 2, 4), (480, [None, 20, 20], 1, 5), (2000, [3, None, 10], 2, 4),
        (40_000, [64, 64, 64, None], 4, 8), (30_000, [None, 8, 500, None], 2, 8),
        (5, [None, 4], 1, 2), (9_999, [16, None, 16, None], 2, 3),
    ]  # fmt: skip


longest_text = Exercise(
    name="longest_text",
    chapter="13",
    section="What the forward pass keeps",
    kind=WRITE,
    title="How long may the text get?",
    goal="Turn the bytes of a cache into the longest text that fits.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
A model that writes keeps, in every layer, the keys and the values of the tokens so far: its cache
(chapter 08). To save memory, some layers look only a **window** back: such a layer keeps the last
$w$ tokens, or all of them while there are fewer than $w$.

`memory` bytes are free for the cache of one text. Each layer has $h$ heads, with $d_k$ numbers in a
key and as many in a value; a number is a float16. `windows` has an entry for each layer: its $w$,
or `None` if it looks back to the beginning. At least one layer does. Return the largest number of
tokens whose cache fits. (In all that is tried here, it is below 2,000.)""",
    hints=(
        "How many bytes does a layer keep for one token? A key and a value, each $h \\cdot d_k$ "
        "numbers of two bytes.",
        "With $T$ tokens, a layer with a window keeps `min(T, w)` of them. Write the bytes of $T$ "
        "tokens as a function first.",
        "Then count up: as long as the cache of `T + 1` tokens has at most `memory` bytes, T may "
        "grow.",
    ),
    stub='''\
def longest_text(memory, windows, num_heads, d_k):
    """How many tokens a text may have so that its keys and values fit into the memory.

    memory: int, in bytes. windows: a list with an int or None for each layer.
    Returns an int
    """
    raise NotImplementedError
''',
    solution='''\
def longest_text(memory, windows, num_heads, d_k):
    """How many tokens a text may have so that its keys and values fit into the memory.

    memory: int, in bytes. windows: a list with an int or None for each layer.
    Returns an int
    """
    def cache(T):
        kept = sum(T if w is None else min(T, w) for w in windows)
        return 2 * num_heads * d_k * 2 * kept  # K and V, two bytes a number

    T = 0
    while cache(T + 1) <= memory:
        T += 1
    return T
''',
    because="Once the windows are full, only the layers without one still grow.",
    reference=_longest,
    cases=_cases_of_memories,
    mistakes=(
        (
            "A factor 2 is missing. A token leaves a key and a value in every layer, and each of "
            "their numbers has two bytes.",
            lambda *given: _longest(*given, sorts=1),
        ),
        (
            "A float16 has two bytes, not four.",
            lambda *given: _longest(*given, width=4),
        ),
        (
            "You count numbers, and those of the keys alone. A token leaves a key and a value, and "
            "a float16 has two bytes.",
            lambda *given: _longest(*given, sorts=1, width=1),
        ),
        (
            "The windows have no effect here: a layer with a window keeps w tokens at most.",
            lambda *given: _longest(*given, tokens=lambda T, w: T),
        ),
        (
            "You take every window for full from the first token on. While the text is shorter, a "
            "layer keeps as many tokens as there are.",
            lambda *given: _longest(*given, tokens=lambda T, w: w),
        ),
        (
            "You take every window for full from the first token on. While the text is shorter, a "
            "layer keeps as many tokens as there are.",
            _windows_always_full,
        ),
        (
            "You take every window for full from the first token on. While the text is shorter, a "
            "layer keeps as many tokens as there are.",
            _never_below_zero,
        ),
        (
            "You count the layers without a window alone. The others keep some tokens, too.",
            lambda *given: _longest(*given, tokens=lambda T, w: 0),
        ),
        (
            "A layer keeps the smaller of T and w tokens; you take the larger.",
            lambda *given: _longest(*given, tokens=max),
        ),
        (
            "That is the first number of tokens that no longer fits: the last one that does is "
            "wanted.",
            lambda *given: _longest(*given) + 1,
        ),
        (
            "That is the first number of tokens whose cache fills the memory or does not fit: the "
            "last one that fits is wanted.",
            lambda *given: _longest(*given, within=int.__lt__) + 1,
        ),
        (
            "A number of tokens is whole. And a layer with a window keeps w tokens at most.",
            lambda memory, windows, num_heads, d_k: memory / (4 * num_heads * d_k * len(windows)),
        ),
        (
            "A cache that fills the memory to the last byte fits, too.",
            lambda *given: _longest(*given, within=int.__lt__),
        ),
        (
            "You forget how many layers there are: each keeps keys and values of its own.",
            _tokens_of_all_layers,
        ),
        (
            "The heads are missing: each has keys and values of its own.",
            lambda memory, windows, num_heads, d_k: _longest(memory, windows, 1, d_k),
        ),
        (
            "The width of the keys is missing: a key has d_k numbers.",
            lambda memory, windows, num_heads, d_k: _longest(memory, windows, num_heads, 1),
        ),
        (
            "`min` and `+` cannot compare a number with None: ask first whether a layer has a "
            "window.",
            lambda memory, windows, num_heads, d_k: sum(min(1, w) for w in windows),
        ),
    ),
    wrong={
        """\
def longest_text(memory, windows, num_heads, d_k):
    return memory // (2 * 2 * num_heads * d_k * len(windows))
""": "windows have no effect",
        """\
def longest_text(memory, windows, num_heads, d_k):
    T = 0
    while 2 * num_heads * d_k * sum(min(T + 1, w or T + 1) for w in windows) <= memory:
        T += 1
    return T
""": "A factor 2 is missing",
        """\
def longest_text(memory, windows, num_heads, d_k):
    T = 0
    while 8 * num_heads * d_k * sum(min(T + 1, w or T + 1) for w in windows) <= memory:
        T += 1
    return T
""": "two bytes, not four",
        """\
def longest_text(memory, windows, num_heads, d_k):
    tokens = memory // (4 * num_heads * d_k)
    short = [w for w in windows if w]
    return (tokens - sum(short)) // (len(windows) - len(short))
""": "full from the first token",
        """\
def longest_text(memory, windows, num_heads, d_k):
    T = 0
    while 4 * num_heads * d_k * sum(min(T, w or T) for w in windows) <= memory:
        T += 1
    return T
""": "no longer fits",
        """\
def longest_text(memory, windows, num_heads, d_k):
    T = 0
    while 4 * num_heads * d_k * sum(min(T + 1, w or T + 1) for w in windows) < memory:
        T += 1
    return T
""": "to the last byte",
        """\
def longest_text(memory, windows, num_heads, d_k):
    return memory // (4 * num_heads * d_k)
""": "how many layers",
        """\
def longest_text(memory, windows, num_heads, d_k):
    T = 0
    while 4 * d_k * sum(min(T + 1, w or T + 1) for w in windows) <= memory:
        T += 1
    return T
""": "heads are missing",
        """\
def longest_text(memory, windows, num_heads, d_k):
    return memory // (4 * num_heads * d_k * windows.count(None))
""": "others keep some tokens",
        """\
def longest_text(memory, windows, num_heads, d_k):
    T = 0
    while 4 * num_heads * d_k * sum(min(T + 1, w) for w in windows) <= memory:
        T += 1
    return T
""": "has a window",
    },
    right=(
        """\
def longest_text(memory, windows, num_heads, d_k):
    tokens, low, high = memory // (4 * num_heads * d_k), 0, memory
    while low < high:
        T = (low + high + 1) // 2
        kept = sum(T if w is None else min(T, w) for w in windows)
        low, high = (T, high) if kept <= tokens else (low, T - 1)
    return low
""",
        """\
def longest_text(memory, windows, num_heads, d_k):
    left, T = memory / (2 * 2 * num_heads * d_k), 0
    while True:
        growing = sum(1 for w in windows if w is None or T < w)
        if left < growing:
            return T
        left, T = left - growing, T + 1
""",
        """\
def longest_text(memory, windows, num_heads, d_k):
    free = memory // (4 * num_heads * d_k)
    best, short = 0, sorted(w for w in windows if w is not None)
    for full in range(len(short) + 1):  # so many windows are full
        best = max(best, (free - sum(short[:full])) // (len(windows) - full))
    return best
""",
    ),
)
