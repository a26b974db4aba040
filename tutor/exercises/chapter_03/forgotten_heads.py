"""A checkpoint that does not say how many heads it has."""

from unittest.mock import ANY  # equals everything

from tutor.check.exercise import PREDICT, Exercise

# Measured: MultiHeadAttention(16, 4, d_k=6, d_v=8) from seed 0, Adam(lr=0.01), 1,500 batches of 64
# rows of eight words and places; to report the word before and the third before. Evaluated on 1,000
# rows with the same matrices, cut into 1, 2, 4 and 8 heads.
_TOLD = (
    ("The losses belong to the *possible* numbers of heads, not to 1, 2, 3, 4.", (3, ANY, ANY)),
    (
        "The number of heads is right. The widths are those of all heads together: divide the "
        "columns by the number of heads.",
        (4, 24, 32),
    ),
    (
        "The number of heads is right. Its heads need not be d_model / h wide: read their widths "
        "from the columns of the matrices.",
        (4, 4, 4),
    ),
    (
        "The number of heads is right, and d_k. d_v has a matrix of its own, W_V.",
        (4, 6, 6),
    ),
    (
        "The number of heads is right, and d_v. d_k is read from W_Q or W_K.",
        (4, 8, 8),
    ),
    ("The number of heads is right. The two widths are exchanged: d_k first.", (4, 8, 6)),
    (
        "The number of heads is right. Widths are columns of W_Q and W_V; 16 is d_model.",
        (4, 16, 16),
    ),
    (
        "That is the largest possible number of heads. Look at the loss that belongs to it.",
        (8, ANY, ANY),
    ),
    *(
        (
            "That is a possible number of heads, but cut so, the matrices do their task badly: "
            "look at its loss.",
            (h, ANY, ANY),
        )
        for h in (1, 2)
    ),
    (
        "The number of heads is right, the widths are not: the columns of W_Q are h * d_k, those "
        "of W_V are h * d_v.",
        (4, ANY, ANY),
    ),
    ("That number of heads does not divide both 24 and 32.", (ANY, ANY, ANY)),
)

forgotten_heads = Exercise(
    name="forgotten_heads",
    chapter="03",
    section="The whole, in code",
    kind=PREDICT,
    title="The forgotten number of heads",
    goal="Know what the matrices of an attention say about its heads, and what they do not.",
    difficulty=2,
    importance=4,
    minutes=4,
    text="""\
A trained attention is found, four matrices packed by columns as in this chapter, and nobody wrote
down its number of heads. The cell below shows their shapes.

So somebody tried. Every number of heads that is *possible* with these shapes was put into
`MultiHeadAttention`, the smallest first, with the same matrices. Nothing raised an error. The loss
on the attention's own task was measured each time.

**Predict** the number of heads with which it was trained, $d_k$ and $d_v$: a list of three whole
numbers.""",
    hints=(
        "The columns of `W_Q` are $h\\,d_k$, those of `W_V` are $h\\,d_v$. Which numbers $h$ are "
        "possible?",
        "A possible number divides 24 and 32. There are four such numbers, as there are losses.",
        "They are 1, 2, 4 and 8. The third loss is nearly 0; divide the columns by its number.",
    ),
    setup="""\
shapes = {"W_Q": (16, 24), "W_K": (16, 24), "W_V": (16, 32), "W_O": (32, 16)}
losses = [1.34, 1.40, 0.00, 0.66]  # of every possible number of heads, the smallest first
""",
    stub="forgotten_heads = None  # [h, d_k, d_v]",
    solution="forgotten_heads = [4, 6, 8]",
    because="No matrix holds the number of heads: a wrong one runs, and is wrong without a word.",
    reference=[4, 6, 8],
    mistakes=tuple((said, list(guess)) for said, guess in _TOLD),
    wrong={
        "forgotten_heads = [3, 24 / 3, 32 / 3]": "not to 1, 2, 3, 4",
        "forgotten_heads = [4, 24, 32]": "all heads together",
        "forgotten_heads = [4, 16 // 4, 16 // 4]": "need not be d_model / h",
        "forgotten_heads = [4, 6, 6]": "a matrix of its own",
        "forgotten_heads = [4, 8, 6]": "exchanged",
        "forgotten_heads = [8, 3, 4]": "largest possible",
        "forgotten_heads = [2, 12, 16]": "look at its loss",
        "forgotten_heads = [6, 4, 5]": "does not divide both",
        "forgotten_heads = [4, 4, 8]": "the widths are not",
        "forgotten_heads = 4": "a list is wanted",
    },
    right=(
        """\
possible = [h for h in range(1, 25) if 24 % h == 32 % h == 0]
h = possible[losses.index(min(losses))]
forgotten_heads = [h, 24 // h, 32 // h]
""",
        "forgotten_heads = torch.tensor([4.0, 6.0, 8.0])",
    ),
)
