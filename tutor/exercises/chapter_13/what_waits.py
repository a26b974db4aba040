"""What does a product wait for?"""

import time

import torch

from tutor.check.exercise import PREDICT, Exercise

SHAPES = {"A": (1, 4096), "B": (128, 4096), "C": (1, 16)}  # rows of X, and side of the square W


def measure(rounds=100):
    """Print the table of the exercise, and what one core of this processor can do at most."""
    torch.set_num_threads(1)
    long, square = torch.randn(32_000_000), torch.randn(768, 768)
    work = {"reads": lambda: long @ long, "multiplies": lambda: square @ square}
    for name, (rows, side) in SHAPES.items():
        X, W = torch.randn(rows, side), torch.randn(side, side)
        work[name] = lambda X=X, W=W: X @ W.T  # (rows, side)
    best = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):  # in turns, so that a busy moment meets all of them
        for name, function in work.items():
            times = 1000 if name == "C" else 1
            start = time.perf_counter()
            for _ in range(times):
                function()
            best[name] = min(best[name], (time.perf_counter() - start) / times)
    print(f"{long.nbytes / best.pop('reads') / 1e9:.1f}e9 bytes a second")
    print(f"{2 * 768**3 / best.pop('multiplies') / 1e9:.1f}e9 operations a second")
    for name, seconds in best.items():
        print(f"{name}: {1e6 * seconds:,.2f} microseconds")


def _answer(operations=2, width=4, shares=(0, 1), pick=max):
    """What each product waits for, and the share; or so with one of these things wrong."""
    answer = []
    for rows, side, seconds in [(1, 4096, 2.88e-3), (128, 4096, 60.3e-3), (1, 16, 2.02e-6)]:
        both = (
            operations * rows * side**2 / seconds / 93.9e9,
            width * (side**2 + 2 * rows * side) / seconds / 27.2e9,
        )
        number = pick(shares, key=lambda i: both[i])
        word = ("operations", "memory")[number] if both[number] >= 0.2 else "neither"
        answer.append((word, both[number]))
    return answer


def _with_words(answer):
    """These shares with the right words."""
    return [(word, share) for (word, _), (_, share) in zip(_answer(), answer, strict=True)]


what_waits = Exercise(
    name="what_waits",
    chapter="13",
    section="Operations and hours",
    kind=PREDICT,
    title="What does it wait for?",
    goal="Tell from a measured time whether a product waits for memory or for arithmetic.",
    difficulty=3,
    importance=5,
    minutes=10,
    text="""\
One core of a CPU did three products $XW$ in float32. It can read at most $27.2 \\cdot 10^9$ bytes a
second and do at most $93.9 \\cdot 10^9$ operations a second, both measured.

| product | $X$ | $W$ | time |
|---|---|---|---|
| A | (1, 4096) | (4096, 4096) | 2.88 ms |
| B | (128, 4096) | (4096, 4096) | 60.3 ms |
| C | (1, 16) | (16, 16) | 2.02 µs |

A is what a layer does to write one token, B what it does in a training. For each product work out
two shares. Its operations a second, as a share of the most that is possible; and its bytes a
second, as a share of the most that is possible. (Each number of $X$, $W$ and the result is moved
once.) The larger share says what it waits for: `"operations"`, `"memory"`, or, if both are below
0.2, `"neither"`. **Predict** for A, B and C a pair: that word, and the larger share, good to two
decimals.""",
    hints=(
        "A row times a matrix takes two operations a weight, and the matrix has to come from the "
        "memory, at four bytes a weight.",
        "A: $2 \\cdot 4096^2 = 3.36 \\cdot 10^7$ operations, $4 \\cdot 4096^2 = 6.7 \\cdot 10^7$ "
        "bytes, in 0.00288 seconds. Divide, and compare with the two limits.",
        "B does 128 times the operations of A, and moves hardly more bytes. C: 512 operations and "
        "$4 \\cdot (256 + 32)$ bytes in $2.02 \\cdot 10^{-6}$ seconds.",
    ),
    stub="""\
what_waits = [
    ("operations, memory or neither", None),  # A: one of these words, and a share
    ("operations, memory or neither", None),  # B
    ("operations, memory or neither", None),  # C
]
""",
    solution="""\
what_waits = [
    ("memory", 4 * (4096**2 + 2 * 4096) / 2.88e-3 / 27.2e9),
    ("operations", 2 * 128 * 4096**2 / 60.3e-3 / 93.9e9),
    ("neither", 4 * (16**2 + 2 * 16) / 2.02e-6 / 27.2e9),
]
""",
    because="So weights of one byte would help A and not B, and a faster processor would help "
    "neither A nor C: C waits for the call itself.",
    reference=_answer(),
    tolerance=0.012,
    mistakes=(
        (
            "You count one operation a weight. A weight is multiplied and added: two.",
            _answer(operations=1),
        ),
        (
            "You count numbers, not bytes: a float32 has four.",
            _answer(width=1),
        ),
        ("You count two bytes a number. A float32 has four.", _answer(width=2)),
        ("You count eight bytes a number. A float32 has four.", _answer(width=8)),
        (
            "You compare each product with the arithmetic alone. A moves many bytes for few "
            "operations: work out the other share, too.",
            _answer(shares=(0,)),
        ),
        (
            "You compare each product with the arithmetic alone. A moves many bytes for few "
            "operations: work out the other share, too.",
            [("operations", _answer(shares=(0,))[0][1]), *_answer(shares=(0,))[1:]],
        ),
        (
            "You compare each product with the memory alone. B uses each weight for 128 rows: work "
            "out the other share, too.",
            _answer(shares=(1,)),
        ),
        (
            "The words are right, and the shares are the smaller ones. What a product waits for is "
            "what it uses most.",
            _with_words(_answer(pick=min)),
        ),
        (
            "The words are right, but each share is that of the arithmetic. A waits for memory.",
            _with_words(_answer(shares=(0,))),
        ),
        (
            "Those are the smaller shares. What a product waits for is what it uses most.",
            _answer(pick=min),
        ),
        (
            "Those are percentages. Give shares, such as 0.5.",
            [(word, 100 * share) for word, share in _answer()],
        ),
        (
            "Those are percentages. Give shares, such as 0.5.",
            [(word, round(100.0 * share)) for word, share in _answer()],
        ),
        (
            "The shares are right, not all words. Ask of each share whether it is that of the "
            "bytes, and whether it reaches 0.2.",
            [("memory", share) for _, share in _answer()],
        ),
        (
            "You take all three to wait for memory. B uses each weight for 128 rows: work out both "
            "shares, and let the larger one say the word.",
            [("memory", share) for _, share in _answer(shares=(1,))[:2]] + [_answer()[2]],
        ),
        (
            "C's larger share is asked for, not what it has left.",
            [*_answer()[:2], ("neither", 1 - _answer()[2][1])],
        ),
        *(
            (
                "The shares are right. But C reaches no limit: with 2 per cent at most it "
                "waits for something else, the call.",
                [*_answer()[:2], (word, _answer()[2][1])],
            )
            for word in ("memory", "operations")
        ),
        (
            "The shares are right. A word names what a product waits for, which is what it uses "
            "most, not what it has left.",
            [
                ("operations", _answer()[0][1]),
                ("memory", _answer()[1][1]),
                _answer()[2],
            ],
        ),
    ),
    wrong={
        """\
what_waits = [("memory", 86), ("operations", 76), ("neither", 2)]
""": "percentages",
        """\
what_waits = [("memory", 0.86), ("memory", 0.04), ("neither", 0.02)]
""": "for memory",
        """\
what_waits = [
    ("operations", 2 * 4096**2 / 2.88e-3 / 93.9e9),
    ("operations", 2 * 128 * 4096**2 / 60.3e-3 / 93.9e9),
    ("neither", 512 / 2.02e-6 / 93.9e9),
]
""": "with the arithmetic alone",
        """\
what_waits = [("memory", 0.86), ("memory", 0.76), ("memory", 0.02)]
""": "The shares are right, not all words",
        """\
what_waits = [("memory", 0.86), ("operations", 0.38), ("neither", 0.02)]
""": "one operation a weight",
        """\
what_waits = [("memory", 0.21), ("operations", 0.76), ("neither", 0.005)]
""": "You count numbers, not bytes",
        """\
what_waits = [("neither", 0.12), ("operations", 0.76), ("neither", 0.003)]
""": "with the arithmetic alone",
        """\
what_waits = [("memory", 0.86), ("neither", 0.043), ("neither", 0.021)]
""": "with the memory alone",
        """\
what_waits = [("memory", 0.12), ("operations", 0.04), ("neither", 0.003)]
""": "smaller ones",
        """\
what_waits = [("memory", 85.6), ("operations", 75.9), ("neither", 2.1)]
""": "percentages",
        """\
what_waits = [("memory", 0.86), ("operations", 0.76), ("memory", 0.02)]
""": "reaches no limit",
        """\
what_waits = [("operations", 0.86), ("memory", 0.76), ("neither", 0.02)]
""": "not what it has left",
        """\
what_waits = ["memory", "operations", "neither"]
""": "wanted",
    },
    right=(
        """\
what_waits = [["memory", 0.85], ["operations", 0.76], ["neither", 0.02]]
""",
        """\
what_waits = []
for rows, side, seconds in [(1, 4096, 2.88e-3), (128, 4096, 60.3e-3), (1, 16, 2.02e-6)]:
    work = 2 * rows * side**2 / seconds / 93.9e9
    moved = 4 * (side**2 + 2 * rows * side) / seconds / 27.2e9
    word = "memory" if moved > work else "operations"
    what_waits.append((word if max(work, moved) > 0.2 else "neither", max(work, moved)))
""",
    ),
)

if __name__ == "__main__":
    measure()
