"""Exercises of chapter 03: cutting into heads, joining them, and all that runs between."""

import math

import torch

from tutor.attention import (
    MultiHeadAttention,
    compute_attention_matrix,
    slice_vertically,
    unslice_vertically,
)
from tutor.check.exercise import EXPLAIN, MEND, PREDICT, WRITE, Exercise
from tutor.museum import EXHIBITS

# ---- on paper

place_of_15 = Exercise(
    name="place_of_15",
    chapter="03",
    section="Cutting and joining, entry by entry",
    kind=PREDICT,
    title="Where does an entry go?",
    goal="Follow an entry through the cut, without running it.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
A matrix `P` has 2 rows and 8 columns, and its entries are 10 · row + column: the first row is 0, 1,
..., 7, the second 10, 11, ..., 17. It is cut with `slice_vertically(P, 2)`.

**Predict** where 15 stands: a list of three numbers, slice, row and column, all counted from 0.""",
    hints=(
        "A word keeps its row. Which row is 15 in?",
        "Slices of width 2: columns 0 and 1 make slice 0, columns 2 and 3 make slice 1.",
        "15 is in row 1 and column 5 of `P`. Divide 5 by the width: the quotient is the slice, the "
        "remainder the column within it.",
    ),
    stub="place_of_15 = None  # [slice, row, column]",
    solution="place_of_15 = [2, 1, 1]",
    because="Column 5 is 2 · 2 + 1: slice 2, column 1. The row stays.",
    reference=[2, 1, 1],
    mistakes=(
        (
            "That is what `P.view(4, 2, 2)` gives: it reads in the order of memory, so that a row "
            "is torn apart. The cut keeps every row.",
            [3, 0, 1],
        ),
        ("You named the row first. After the swap the slice comes first.", [1, 2, 1]),
        ("That would be two slices of width 4. The 2 is the width, not the number.", [1, 1, 1]),
        ("You counted from 1; the course counts from 0.", [3, 2, 2]),
        ("That is row 0 of its slice, but 15 is a number of the second word, row 1.", [2, 0, 1]),
        ("The slice is right; within it, columns are counted anew.", [2, 1, 5]),
        ("That is the place in `P`, before the cut, with a slice of 0 in front.", [0, 1, 5]),
        (
            "You numbered the slices as if there were two of them, and kept the column of `P`. A "
            "slice is 2 columns wide, and within it columns are counted anew.",
            [1, 1, 5],
        ),
    ),
    wrong={
        "place_of_15 = [3, 0, 1]": "order of memory",
        "s, r, c = 2, 1, 1\nplace_of_15 = [r, s, c]": "row first",
        "place_of_15 = [5 // 4, 1, 5 % 4]": "two slices of width 4",
        "place_of_15 = [2 + 1, 1 + 1, 1 + 1]": "counted from 1",
        "place_of_15 = [2, 1, 5]": "columns are counted anew",
        "place_of_15 = [15 // 10, 1, 5]": "as if there were two",
        "place_of_15 = [2, 1]": "of length 2; 3 is wanted",
    },
    right=(
        "place_of_15 = (5 // 2, 1, 5 % 2)",
        """\
P = 10 * torch.arange(2)[:, None] + torch.arange(8)
place_of_15 = (torch.stack(P.split(2, dim=1)) == 15).nonzero()[0]
""",
    ),
)

# ---- the cut


def _cut(X, num_heads):
    return slice_vertically(X, X.shape[-1] // num_heads)


def _cases_to_cut():
    yield 10 * torch.arange(2.0)[:, None] + torch.arange(6), 3
    for N, T, width, h in [((), 3, 1, 2), ((1,), 5, 4, 3), ((2,), 3, 5, 4), ((3, 2), 4, 5, 1)]:
        yield torch.randn(*N, T, h * width), h


cut_into_h = Exercise(
    name="cut_into_h",
    chapter="03",
    section="Cutting and joining, entry by entry",
    kind=WRITE,
    title="Cut by the number of heads",
    goal="Cut columns into heads so that a word's slices hold that word's numbers alone.",
    difficulty=2,
    importance=5,
    minutes=10,
    text="""\
The chapter cuts by the *width* of a head. Write the cut by the *number* of heads. Any number of
batch dimensions may stand in front; the number of heads divides the columns. Do not call
`slice_vertically`, which is told the width of a slice and not how many there are.""",
    hints=(
        "Two steps: cut within the rows, then swap. What is the shape in between?",
        "In between it is (..., T, h, width). `X.unflatten(-1, (h, width))` cuts the last "
        "dimension in two.",
        "The swap is the chapter's: `.transpose(-3, -2)`. In `unflatten`, one of the two sizes may "
        "be -1.",
    ),
    stub='''\
def cut_into_h(X, num_heads):
    """Cut the columns of X into heads.

    X: tensor (..., T, h * width)
    num_heads: int, h
    Returns a tensor (..., h, T, width)
    """
    raise NotImplementedError
''',
    solution='''\
def cut_into_h(X, num_heads):
    """Cut the columns of X into heads.

    X: tensor (..., T, h * width)
    num_heads: int, h
    Returns a tensor (..., h, T, width)
    """
    return X.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, T, width)
''',
    reference=_cut,
    cases=_cases_to_cut,
    forbidden=(slice_vertically,),
    mistakes=(
        (
            "`view` or `reshape` straight to (h, T, width) reads in the order of memory: a head's "
            "row holds numbers of several words. Cut within the rows, then swap.",
            lambda X, h: X.reshape(*X.shape[:-2], h, X.shape[-2], -1),
        ),
        (
            "The swap is missing: your result is (..., T, h, width), and the heads come before the "
            "words.",
            lambda X, h: X.unflatten(-1, (h, -1)),
        ),
        (
            "You cut by the width: slices of `num_heads` columns. It is the number of slices.",
            lambda X, h: X.unflatten(-1, (-1, h)).transpose(-3, -2),
        ),
        (
            "Your heads take every h-th column. A head owns columns that stand side by side.",
            lambda X, h: torch.stack([X[..., m::h] for m in range(h)], dim=-3),
        ),
        (
            "Your last two dimensions are exchanged: rows are words, (T, width).",
            lambda X, h: X.unflatten(-1, (h, -1)).transpose(-3, -2).transpose(-2, -1),
        ),
        (
            "The swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X, h: X.unflatten(-1, (h, -1)).transpose(1, 2),
        ),
        (
            "The swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X, h: X.unflatten(-1, (h, -1)).transpose(0, 1),
        ),
        (
            "A list of heads is not a tensor yet: stack them, the heads in front of the words.",
            lambda X, h: X.chunk(h, dim=-1),
        ),
        (
            "Your heads stand in front of the batch; the order is (..., h, T, width).",
            lambda X, h: torch.stack(X.chunk(h, dim=-1)),
        ),
    ),
    wrong={
        """\
def cut_into_h(X, num_heads):
    *N, T, columns = X.shape
    return X.view(*N, num_heads, T, columns // num_heads)
""": "order of memory",
        """\
def cut_into_h(X, num_heads):
    *N, T, columns = X.shape
    return X.view(*N, T, num_heads, columns // num_heads)
""": "swap is missing",
        """\
def cut_into_h(X, num_heads):
    return torch.stack(X.split(num_heads, dim=-1), dim=-3)
""": "number of slices",
        """\
def cut_into_h(X, num_heads):
    width = X.shape[-1] // num_heads
    cut = X.unflatten(-1, (width, num_heads))
    return torch.einsum("...twh->...htw", cut)
""": "every h-th column",
        """\
def cut_into_h(X, num_heads):
    width = X.shape[-1] // num_heads
    return X.mT.unflatten(-2, (num_heads, width))
""": "exchanged",
        """\
def cut_into_h(X, num_heads):
    N = X.size(0)
    return X.view(*X.shape[:-1], num_heads, -1).swapaxes(1, 2)
""": "from the front",
        """\
def cut_into_h(X, num_heads):
    width = X.shape[-1] // num_heads
    return [X[..., m * width : (m + 1) * width] for m in range(num_heads)]
""": "not a tensor yet",
        """\
def cut_into_h(X, num_heads):
    width = X.shape[-1] // num_heads
    return torch.stack([X[..., m * width : (m + 1) * width] for m in range(num_heads)])
""": "in front of the batch",
        """\
def cut_into_h(X, num_heads):
    from tutor import slice_vertically
    return slice_vertically(X, X.shape[-1] // num_heads)
""": "calls `slice_vertically`",
    },
    right=(
        """\
def cut_into_h(X, num_heads):
    return torch.stack(X.chunk(num_heads, dim=-1), dim=-3)
""",
        """\
def cut_into_h(X, num_heads):
    *N, T, columns = X.shape
    cut = X.reshape(*N, T, num_heads, columns // num_heads)
    return torch.einsum("...thw->...htw", cut)
""",
        """\
def cut_into_h(X, num_heads):
    *N, T, columns = X.shape
    width = columns // num_heads
    heads = torch.empty(*N, num_heads, T, width)
    for m in range(num_heads):
        for c in range(width):
            heads[..., m, :, c] = X[..., m * width + c]
    return heads
""",
    ),
)

# ---- the way back


def _cases_to_join():
    yield (torch.stack((10 * torch.arange(2.0)[:, None] + torch.arange(6)).split(2, dim=-1)),)
    for N, h, T, width in [((), 2, 3, 1), ((1,), 3, 5, 4), ((2,), 4, 3, 5), ((3, 2), 1, 4, 5)]:
        yield (torch.randn(*N, h, T, width),)


join_heads = Exercise(
    name="join_heads",
    chapter="03",
    section="What can go wrong",
    kind=MEND,
    title="Words that got mixed on the way back",
    goal="Join heads so that every word gets its own numbers back.",
    difficulty=2,
    importance=5,
    minutes=8,
    text="""\
This function joins the heads after attention. Its shapes are right in every model that it was put
into, and the model learns badly. **Find the mistake and mend it.**""",
    hints=(
        "Take two heads, two words and width 1, and write the entries in the order of memory.",
        "Cut a matrix with `slice_vertically`, then join it with this function. What should come "
        "back, and what does?",
        "Before the last two dimensions can become one, they must be the heads and the width. Swap "
        "words and heads first.",
    ),
    stub='''\
def join_heads(X):
    """Put the heads side by side again. It has a mistake: find it and mend it.

    X: tensor (..., h, T, width)
    Returns a tensor (..., T, h * width)
    """
    *N, h, T, width = X.shape
    return X.reshape(*N, T, h * width)  # (..., T, h * width)
''',
    solution='''\
def join_heads(X):
    """Put the heads side by side again.

    X: tensor (..., h, T, width)
    Returns a tensor (..., T, h * width)
    """
    *N, h, T, width = X.shape
    return X.transpose(-3, -2).reshape(*N, T, h * width)  # (..., T, h * width)
''',
    because="The way back takes both steps of the cut in reverse: swap, then flatten.",
    reference=unslice_vertically,
    cases=_cases_to_join,
    mistakes=(
        (
            "As it was: cut and join, and what comes back is not what went in. The first word "
            "holds numbers of other words.",
            EXHIBITS["join_the_heads"].wrong,
        ),
        (
            "The right words, but the columns of the heads alternate. A head's columns stand side "
            "by side.",
            lambda X: X.movedim(-3, -1).flatten(-2),
        ),
        (
            "The heads stand one below the other now: the result has h * T rows and should have T.",
            lambda X: X.flatten(-3, -2),
        ),
        (
            "The heads are added up, and each should keep columns of its own.",
            lambda X: X.sum(dim=-3),
        ),
        (
            "The heads are averaged, and each should keep columns of its own.",
            lambda X: X.mean(dim=-3),
        ),
        (
            "You swapped words and columns; heads and words must be swapped.",
            lambda X: X.transpose(-2, -1).reshape(*X.shape[:-3], X.shape[-2], -1),
        ),
        (
            "Your swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X: X.transpose(1, 2).reshape(*X.shape[:-3], X.shape[-2], -1),
        ),
        (
            "Swapped and right, but still cut: one dimension must be made of the last two.",
            lambda X: X.transpose(-3, -2),
        ),
    ),
    wrong={
        """\
def join_heads(X):
    return X.flatten(-3).unflatten(-1, (X.shape[-2], -1))
""": "as it was",
        """\
def join_heads(X):
    return torch.einsum("...htw->...twh", X).flatten(-2)
""": "alternate",
        """\
def join_heads(X):
    return torch.cat(list(X.unbind(-3)), dim=-2)
""": "one below the other",
        """\
def join_heads(X):
    return sum(X[..., m, :, :] for m in range(X.shape[-3]))
""": "added up",
        """\
def join_heads(X):
    *N, h, T, width = X.shape
    return X.mT.reshape(*N, T, h * width)
""": "words and columns",
        """\
def join_heads(X):
    *N, h, T, width = X.shape
    return X.swapaxes(1, 2).contiguous().view(*N, T, h * width)
""": "from the front",
        """\
def join_heads(X):
    return X.movedim(-3, -2)
""": "still cut",
        """\
def join_heads(X):
    *N, h, T, width = X.shape
    return X.transpose(-3, -2).view(*N, T, h * width)
""": "view size is not compatible",
    },
    right=(
        """\
def join_heads(X):
    return torch.cat(X.unbind(-3), dim=-1)
""",
        """\
def join_heads(X):
    *N, h, T, width = X.shape
    return torch.einsum("...htw->...thw", X).reshape(*N, T, h * width)
""",
        """\
def join_heads(X):
    *N, h, T, width = X.shape
    Y = X.new_empty(*N, T, h * width)
    for m in range(h):
        Y[..., m * width : (m + 1) * width] = X[..., m, :, :]
    return Y
""",
    ),
)

# ---- the scores of a head

_SCORES = EXHIBITS["scores_of_all_heads"]


def _scores_of_heads(Q, K, num_heads):
    return _SCORES.mended(Q, K, Q.shape[-1], num_heads)


def _cases_of_scores():
    for N, T, S, d_k, h in [((), 1, 3, 2, 1), ((), 1, 3, 1, 2), ((1,), 4, 2, 3, 5)]:
        yield torch.randn(*N, T, h * d_k), torch.randn(*N, S, h * d_k), h
    yield torch.randn(2, 5, 12), torch.randn(2, 7, 12), 3
    yield torch.zeros(2, 3, 8), torch.randn(2, 5, 8), 2


scores_per_head = Exercise(
    name="scores_per_head",
    chapter="03",
    section="What can go wrong",
    kind=MEND,
    title="Right with one head",
    goal="Tell the width of a head from the width of the model.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
A tutorial computes the scores of all heads so. With one head they are those of PyTorch; the more
heads, the more evenly a fresh model spreads its weights. **Find the mistake and mend it.**""",
    hints=(
        "Queries and keys of variance 1: which variance should a score have after the division?",
        "What is `Q.shape[-1]` in each of the three lines?",
        "A score is a sum of $d_k$ products, and $d_k$ is the width of one head.",
    ),
    stub='''\
def scores_per_head(Q, K, num_heads):
    """Scaled scores of every head. It has a mistake: find it and mend it.

    Q: float tensor (..., T, h * d_k)
    K: float tensor (..., S, h * d_k)
    num_heads: int, h
    Returns E: float tensor (..., h, T, S)
    """
    scale = math.sqrt(Q.shape[-1])
    Q = Q.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, T, d_k)
    K = K.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, S, d_k)
    return Q @ K.transpose(-2, -1) / scale  # (..., h, T, S)
''',
    solution='''\
def scores_per_head(Q, K, num_heads):
    """Scaled scores of every head.

    Q: float tensor (..., T, h * d_k)
    K: float tensor (..., S, h * d_k)
    num_heads: int, h
    Returns E: float tensor (..., h, T, S)
    """
    Q = Q.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, T, d_k)
    K = K.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, S, d_k)
    return Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., h, T, S)
''',
    because="Once Q is cut, its last dimension is d_k, the width of one head.",
    reference=_scores_of_heads,
    cases=_cases_of_scores,
    mistakes=(
        (
            "As it was: with one head the scores are right, and with h heads their variance is "
            "1 / h.",
            lambda Q, K, h: _SCORES.wrong(Q, K, Q.shape[-1], h),
        ),
        (
            "Now nothing is divided: the scores grow with the width of a head.",
            lambda Q, K, h: _SCORES.wrong(Q, K, 1, h),
        ),
        (
            "Now the scores are divided by d_k; it must be its square root.",
            lambda Q, K, h: _scores_of_heads(Q, K, h) / math.sqrt(Q.shape[-1] // h),
        ),
        (
            "Now the scores are divided by the square root of the number of heads.",
            lambda Q, K, h: _SCORES.wrong(Q, K, h, h),
        ),
        (
            "Now the scores are divided by the root of the width of the model, divided by h: that "
            "is sqrt(d_model) / h and not sqrt(d_model / h).",
            lambda Q, K, h: _SCORES.wrong(Q, K, Q.shape[-1] / h**2, h),
        ),
        (
            "Now the scores are divided by the square root of S, the number of keys.",
            lambda Q, K, h: _SCORES.wrong(Q, K, K.shape[-2], h),
        ),
        (
            "The heads are gone: all columns are in one set of scores.",
            lambda Q, K, h: Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1] // h),
        ),
    ),
    wrong={
        """\
def scores_per_head(Q, K, num_heads):
    d_model = Q.size(-1)
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return torch.einsum("...td,...sd->...ts", q, k) * d_model ** -0.5
""": "as it was",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT
""": "nothing is divided",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT / (Q.shape[-1] / num_heads)
""": "divided by d_k",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT / num_heads ** 0.5
""": "the number of heads",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT / (math.sqrt(Q.shape[-1]) / num_heads)
""": "and not sqrt(d_model / h)",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    E = q @ k.mT
    return E / math.sqrt(E.shape[-1])
""": "number of keys",
        """\
def scores_per_head(Q, K, num_heads):
    return Q @ K.mT / math.sqrt(Q.shape[-1] / num_heads)
""": "heads are gone",
    },
    right=(
        """\
def scores_per_head(Q, K, num_heads):
    d_k = Q.shape[-1] // num_heads
    heads = [Q[..., m * d_k : (m + 1) * d_k] @ K[..., m * d_k : (m + 1) * d_k].mT
             for m in range(num_heads)]
    return torch.stack(heads, dim=-3) / d_k ** 0.5
""",
        """\
def scores_per_head(Q, K, num_heads):
    Q, K = (X.unflatten(-1, (num_heads, -1)) for X in (Q, K))
    return torch.einsum("...thd,...shd->...hts", Q, K) / math.sqrt(Q.size(-1))
""",
    ),
)

# ---- the whole


def _heads(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    """The loop over heads, from the packed matrices."""
    packed = (W_Q, W_K, W_V)
    Y = [
        compute_attention_matrix(X_Q @ Q, X_KV @ K) @ (X_KV @ V)
        for Q, K, V in zip(*(W.chunk(num_heads, dim=1) for W in packed), strict=True)
    ]
    return torch.cat(Y, dim=-1) @ W_O


def _steps(
    *arguments,
    inputs=lambda X_Q, X_KV: (X_Q, X_KV, X_KV),
    scale=None,
    cut=_cut,
    cut_V=None,
    softmax=lambda E: E.softmax(-1),
    join=unslice_vertically,
):
    """The sliced product, with a step that may be wrong.

    inputs: (X_Q, X_KV) -> what queries, keys and values are made from. scale: what stands under
    the root in place of d_k.
    """
    *both, W_Q, W_K, W_V, W_O, h = arguments
    X_Q, X_K, X_V = inputs(*both)
    Q, K, V = cut(X_Q @ W_Q, h), cut(X_K @ W_K, h), (cut_V or cut)(X_V @ W_V, h)
    E = Q @ K.transpose(-2, -1) / math.sqrt(scale or Q.shape[-1])
    return join(softmax(E) @ V) @ W_O


def _torn(X, num_heads):
    return X.reshape(*X.shape[:-2], num_heads, X.shape[-2], -1)


def _turned(*which):
    """The sliced product, with some of the four matrices as nn.Linear keeps them."""

    def heads(X_Q, X_KV, *matrices):
        *matrices, h = matrices
        return _steps(X_Q, X_KV, *(W.T if i in which else W for i, W in enumerate(matrices)), h)

    return heads


def _if_all_are_square(*arguments):
    """What a `view` with the wrong width does: it fits only d_k = d_v = d_model / h."""
    if any(W.shape[0] != W.shape[1] for W in arguments[2:6]):
        raise RuntimeError
    return _heads(*arguments)


def _cases_of_heads():
    # T = S in the first, so that an exchange of the two inputs has the right shape
    for N, T, S, d_model, h, d_k, d_v in [
        (1, 2, 2, 3, 1, 2, 1),
        (1, 2, 2, 3, 2, 1, 2),
        (1, 3, 5, 4, 3, 2, 1),
        (2, 4, 3, 7, 3, 5, 2),
        (3, 1, 5, 6, 2, 3, 3),
    ]:
        X_Q, X_KV = torch.randn(N, T, d_model), torch.randn(N, S, d_model)
        W_Q, W_K = torch.randn(2, d_model, h * d_k)
        W_V, W_O = torch.randn(d_model, h * d_v), torch.randn(h * d_v, d_model)
        yield X_Q, X_KV, W_Q, W_K, W_V, W_O, h


attend_with_h = Exercise(
    name="attend_with_h",
    chapter="03",
    section="In code",
    kind=WRITE,
    title="All heads at once",
    goal="Write multi-head attention, from packed matrices to the result.",
    difficulty=4,
    importance=5,
    minutes=25,
    text="""\
Write the whole of multi-head attention as one function, without a mask. Heads may have $d_k \\neq
d_v$, and $h\\,d_k$ need not be $d_{model}$.

A worked example of the sizes, with named steps: $N = 2$ sentences, $T = 4$, $S = 3$, $d_{model} =
7$, and 3 heads with $d_k = 5$ and $d_v = 2$.

| step | shape |
|---|---|
| project the queries, `X_Q @ W_Q` | (2, 4, 15) |
| cut them into heads | (2, 3, 4, 5) |
| the same for keys | (2, 3, 3, 5) |
| and for values | (2, 3, 3, 2) |
| scores and weights | (2, 3, 4, 3) |
| results of the heads | (2, 3, 4, 2) |
| join | (2, 4, 6) |
| bring together with `W_O` | (2, 4, 7) |

You may use `slice_vertically` and `unslice_vertically`, or your own of the exercises before.""",
    hints=(
        "Project, cut, attend, join, bring together: five steps. Which input makes the keys?",
        "`slice_vertically(X_Q @ W_Q, d_k)` has shape (N, h, T, d_k), and the attention of chapter "
        "02 works on it as it is. By which width must the scores be divided?",
        "After the cut: `E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])`, the softmax over "
        "the last dimension, times `V`, joined, `@ W_O`.",
    ),
    stub='''\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    """Multi-head attention; the matrices of the heads are packed by columns.

    X_Q: float tensor (N, T, d_model), the words that ask
    X_KV: float tensor (N, S, d_model), the words that are asked
    W_Q, W_K: float tensors (d_model, h * d_k)
    W_V: float tensor (d_model, h * d_v)
    W_O: float tensor (h * d_v, d_model)
    num_heads: int, h
    Returns a float tensor (N, T, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    """Multi-head attention; the matrices of the heads are packed by columns.

    X_Q: float tensor (N, T, d_model), the words that ask
    X_KV: float tensor (N, S, d_model), the words that are asked
    W_Q, W_K: float tensors (d_model, h * d_k)
    W_V: float tensor (d_model, h * d_v)
    W_O: float tensor (h * d_v, d_model)
    num_heads: int, h
    Returns a float tensor (N, T, d_model)
    """
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    Q = slice_vertically(X_Q @ W_Q, d_k)  # (N, h, T, d_k)
    K = slice_vertically(X_KV @ W_K, d_k)  # (N, h, S, d_k)
    V = slice_vertically(X_KV @ W_V, d_v)  # (N, h, S, d_v)
    E = Q @ K.transpose(-2, -1) / math.sqrt(d_k)  # (N, h, T, S)
    Y = E.softmax(dim=-1) @ V  # (N, h, T, d_v)
    return unslice_vertically(Y) @ W_O  # (N, T, d_model)
''',
    reference=_heads,
    cases=_cases_of_heads,
    setup="from tutor.attention import slice_vertically, unslice_vertically\n",
    gradient=True,
    forbidden=(MultiHeadAttention.forward,),
    mistakes=(
        (
            "Your scores are divided by the square root of d_model; a head is d_k wide.",
            lambda *a: _steps(*a, scale=a[0].shape[-1]),
        ),
        (
            "Your scores are divided by the square root of h * d_k, all heads together; a head is "
            "d_k wide.",
            lambda *a: _steps(*a, scale=a[2].shape[-1]),
        ),
        (
            "Your scores are not divided by the square root of d_k.",
            lambda *a: _steps(*a, scale=1),
        ),
        (
            "Your scores are divided by d_k; it must be its square root.",
            lambda *a: _steps(*a, scale=(a[2].shape[-1] // a[-1]) ** 2),
        ),
        (
            "Your scores are multiplied by the square root of d_k; divide by it.",
            lambda *a: _steps(*a, scale=a[-1] / a[2].shape[-1]),
        ),
        (
            "You cut by the number of heads: `slice_vertically` is told the width of one.",
            lambda *a: _steps(*a, cut=slice_vertically),
        ),
        (
            "Your values are cut by d_k; they have a width of their own, d_v, which is the columns "
            "of W_V divided by h.",
            lambda *a: _steps(*a, cut_V=lambda V, h: slice_vertically(V, a[2].shape[-1] // h)),
        ),
        (
            "Your heads are d_model / h wide; take the widths from the matrices: W_Q has h * d_k "
            "columns, W_V has h * d_v.",
            lambda *a: _steps(*a, cut=lambda X, h: slice_vertically(X, a[0].shape[-1] // h)),
        ),
        (
            "Your widths fit where d_k = d_v = d_model / h, and fail elsewhere; take them from the "
            "matrices: W_Q has h * d_k columns, W_V has h * d_v.",
            _if_all_are_square,
        ),
        (
            "Your heads are never split: all columns go into one set of weights.",
            lambda *a: _heads(*a[:-1], 1),
        ),
        (
            "Your heads are never split: all columns go into one set of weights.",
            lambda *a: _steps(*a[:-1], 1, scale=a[2].shape[-1] // a[-1]),
        ),
        (
            "Your heads are cut in the order of memory (`view` without a swap), so each mixes "
            "several words.",
            lambda *a: _steps(*a, cut=_torn, join=EXHIBITS["join_the_heads"].wrong),
        ),
        (
            "Your heads are cut in the order of memory (`view` without a swap), so each mixes "
            "several words.",
            lambda *a: _steps(*a, cut=_torn),
        ),
        (
            "The heads are joined without the swap back, so a word gets pieces of its neighbours.",
            lambda *a: _steps(*a, join=EXHIBITS["join_the_heads"].wrong),
        ),
        (
            "The two inputs are exchanged: X_Q makes the queries, X_KV keys and values.",
            lambda X_Q, X_KV, *a: _heads(X_KV, X_Q, *a),
        ),
        (
            "Your keys and values come from X_Q; they are made of X_KV, the words that are asked.",
            lambda X_Q, X_KV, *a: _heads(X_Q, X_Q, *a),
        ),
        (
            "Your queries come from X_KV; they are made of X_Q, the words that ask.",
            lambda X_Q, X_KV, *a: _heads(X_KV, X_KV, *a),
        ),
        (
            "Your values come from X_Q; like the keys they are made of X_KV.",
            lambda *a: _steps(*a, inputs=lambda X_Q, X_KV: (X_Q, X_KV, X_Q)),
        ),
        (
            "Your keys come from X_Q; like the values they are made of X_KV.",
            lambda *a: _steps(*a, inputs=lambda X_Q, X_KV: (X_Q, X_Q, X_KV)),
        ),
        *(
            (
                "You transpose a matrix, as nn.Linear keeps it; here each product is X @ W.",
                _turned(*which),
            )
            for which in ((0, 1, 2, 3), (0, 1, 2), (3,))
        ),
        (
            "The softmax is missing: your values are weighted with raw scores.",
            lambda *a: _steps(*a, softmax=lambda E: E),
        ),
        (
            "W_O is missing: the joined heads must be brought back to d_model.",
            lambda X_Q, X_KV, Q, K, V, _, h: _heads(X_Q, X_KV, Q, K, V, torch.eye(V.shape[1]), h),
        ),
        (
            "Queries and keys of the heads are paired wrongly: W_Q and W_K are exchanged.",
            lambda X_Q, X_KV, Q, K, *a: _heads(X_Q, X_KV, K, Q, *a),
        ),
        (
            "Your softmax runs over the heads; each head has weights of its own, over the keys.",
            lambda *a: _steps(*a, softmax=lambda E: E.softmax(1)),
        ),
        (
            "Your softmax runs over the queries; each row of a head sums to 1, over the keys.",
            lambda *a: _steps(*a, softmax=lambda E: E.softmax(-2)),
        ),
    ),
    wrong={
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    heads = []
    for q, k, v in zip(*(W.chunk(num_heads, 1) for W in (W_Q, W_K, W_V))):
        E = (X_Q @ q) @ (X_KV @ k).mT / X_Q.shape[-1] ** 0.5
        heads.append(E.softmax(-1) @ (X_KV @ v))
    return torch.cat(heads, -1) @ W_O
""": "square root of d_model",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(
        split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V), scale=W_Q.shape[-1] ** -0.5)
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "all heads together",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    Y = F.scaled_dot_product_attention(X_Q @ W_Q, X_KV @ W_K, X_KV @ W_V)
    return Y @ W_O
""": "never split",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    d_k = W_Q.shape[1] // num_heads
    E = (X_Q @ W_Q) @ (X_KV @ W_K).mT / math.sqrt(d_k)
    return E.softmax(-1) @ (X_KV @ W_V) @ W_O
""": "never split",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    N, T, _ = X_Q.shape
    S = X_KV.shape[1]
    Q = (X_Q @ W_Q).view(N, num_heads, T, -1)
    K = (X_KV @ W_K).view(N, num_heads, S, -1)
    V = (X_KV @ W_V).view(N, num_heads, S, -1)
    return F.scaled_dot_product_attention(Q, K, V).reshape(N, T, -1) @ W_O
""": "order of memory",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V))
    return Y.reshape(X_Q.shape[0], X_Q.shape[1], -1) @ W_O
""": "swap back",
        """\
def attend_with_h(X_KV, X_Q, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V))
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "two inputs are exchanged",
        """\
def attend_with_h(X, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(*(split(X @ W) for W in (W_Q, W_K, W_V)))
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "come from X_Q",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V))
    return Y.transpose(1, 2).flatten(2)
""": "W_O is missing",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V)
    A = torch.softmax(Q @ K.mT / math.sqrt(Q.size(-1)), dim=1)
    return (A @ V).transpose(1, 2).flatten(2) @ W_O
""": "over the heads",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V)
    A = F.softmax(Q @ K.mT, dim=-1)
    return (A @ V).transpose(1, 2).flatten(2) @ W_O
""": "not divided",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V)
    A = F.softmax(Q @ K.mT / Q.shape[-1], dim=-1)
    return (A @ V).transpose(1, 2).flatten(2) @ W_O
""": "divided by d_k",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V)
    Y = F.scaled_dot_product_attention(Q, K, V, scale=Q.shape[-1] ** 0.5)
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "multiplied by the square root",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    from tutor import compute_attention_matrix
    Q, K, V = (slice_vertically(X, num_heads) for X in (X_Q @ W_Q, X_KV @ W_K, X_KV @ W_V))
    return unslice_vertically(compute_attention_matrix(Q, K) @ V) @ W_O
""": "cut by the number of heads",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    d_k = W_Q.shape[-1] // num_heads
    Q, K, V = (slice_vertically(X, d_k) for X in (X_Q @ W_Q, X_KV @ W_K, X_KV @ W_V))
    return unslice_vertically(F.scaled_dot_product_attention(Q, K, V)) @ W_O
""": "values are cut by d_k",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    width = X_Q.shape[-1] // num_heads
    Q, K, V = (slice_vertically(X, width) for X in (X_Q @ W_Q, X_KV @ W_K, X_KV @ W_V))
    A = torch.softmax(Q @ K.transpose(-2, -1) / math.sqrt(width), dim=-1)
    return unslice_vertically(A @ V) @ W_O
""": "d_model / h wide",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    N, T, d_model = X_Q.shape
    width = d_model // num_heads
    split = lambda X: X.view(N, -1, num_heads, width).transpose(1, 2)
    Y = F.scaled_dot_product_attention(split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V))
    return Y.transpose(1, 2).reshape(N, T, d_model) @ W_O
""": "and fail elsewhere",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(split(X_KV @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V))
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "queries come from X_KV",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_Q @ W_Q), split(X_KV @ W_K), split(X_Q @ W_V)
    A = (Q @ K.mT / math.sqrt(Q.size(-1))).softmax(-1)
    return (A @ V).transpose(1, 2).flatten(2) @ W_O
""": "values come from X_Q",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_Q @ W_Q), split(X_Q @ W_K), split(X_KV @ W_V)
    A = (Q @ K.mT / math.sqrt(Q.size(-1))).softmax(-1)
    return (A @ V).transpose(1, 2).flatten(2) @ W_O
""": "keys come from X_Q",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X, W: F.linear(X, W).unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(split(X_Q, W_Q), split(X_KV, W_K), split(X_KV, W_V))
    return F.linear(Y.transpose(1, 2).flatten(2), W_O)
""": "transpose a matrix",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X, W: F.linear(X, W).unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(split(X_Q, W_Q), split(X_KV, W_K), split(X_KV, W_V))
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "transpose a matrix",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V))
    return Y.transpose(1, 2).flatten(2) @ W_O.T
""": "transpose a matrix",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V)
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    return (E @ V).transpose(1, 2).flatten(2) @ W_O
""": "softmax is missing",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    from tutor import MultiHeadAttention
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    with torch.random.fork_rng():
        attention = MultiHeadAttention(len(W_Q), num_heads, d_k, d_v)
    for name, W in dict(W_Q=W_Q, W_K=W_K, W_V=W_V, W_O=W_O).items():
        del attention._parameters[name]
        setattr(attention, name, W)
    return attention(X_Q, X_KV)
""": "calls `MultiHeadAttention.forward`",
    },
    right=(
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Y = F.scaled_dot_product_attention(split(X_Q @ W_Q), split(X_KV @ W_K), split(X_KV @ W_V))
    return Y.transpose(1, 2).flatten(2) @ W_O
""",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    result = 0
    for q, k, v, o in zip(*(W.chunk(num_heads, 1) for W in (W_Q, W_K, W_V)), W_O.chunk(num_heads)):
        E = (X_Q @ q) @ (X_KV @ k).mT / q.shape[1] ** 0.5
        result = result + E.softmax(-1) @ (X_KV @ v) @ o
    return result
""",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    Wq, Wk, Wv = (W.unflatten(1, (num_heads, -1)) for W in (W_Q, W_K, W_V))
    Wo = W_O.unflatten(0, (num_heads, -1))
    Q = torch.einsum("ntd,dhk->nhtk", X_Q, Wq)
    K = torch.einsum("nsd,dhk->nhsk", X_KV, Wk)
    V = torch.einsum("nsd,dhv->nhsv", X_KV, Wv)
    A = (torch.einsum("nhtk,nhsk->nhts", Q, K) / math.sqrt(Q.size(-1))).softmax(-1)
    return torch.einsum("nhts,nhsv,hvd->ntd", A, V, Wo)
""",
        """\
from tutor import compute_attention_matrix
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    Q, K = slice_vertically(X_Q @ W_Q, d_k), slice_vertically(X_KV @ W_K, d_k)
    A = compute_attention_matrix(Q, K)
    return unslice_vertically(A @ slice_vertically(X_KV @ W_V, d_v)) @ W_O
""",
    ),
)


# ---- in words

what_a_mean_hides = Exercise(
    name="what_a_mean_hides",
    chapter="03",
    section="What can go wrong",
    kind=EXPLAIN,
    title="A heat map of no head",
    goal="Say what averaged attention weights do not show.",
    difficulty=3,
    importance=3,
    minutes=10,
    text="""\
A blog shows one heat map per layer, made with `nn.MultiheadAttention(...)(X, X, X)[1]` on a model
of eight heads, and writes: "each word attends a little to everything, so attention does not select
anything." **Explain** in three to five sentences what the map is, give an example of two heads
that makes it look so, and say how to ask PyTorch for what the author wanted.""",
    hints=(
        "Which shape does the second result have by default, and which dimension is not there?",
        "Take two heads, each of which looks at one word only, but not at the same one.",
        "The argument is named in the section: `average_attn_weights`.",
    ),
    stub='''\
what_a_mean_hides = """

"""
''',
    solution='''\
what_a_mean_hides = """
By default nn.MultiheadAttention returns weights of shape (N, T, S): the mean over the heads, which
no head has computed. If one head gives all its weight to the word before and another all to the
noun, their mean gives half to each, and eight sharp heads can look like an even spread. So the map
cannot tell sharp heads from flat ones. With average_attn_weights=False the shape is (N, h, T, S),
and each head can be looked at by itself.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "what_a_mean_hides = 'It is the mean.'": "at least 12 words",
        "what_a_mean_hides = ['It is the mean', 'of all the heads']": "as a text in quotes",
        "what_a_mean_hides = ''": "too short",
    },
    rubric="""\
- 1 point: the map is the mean over the heads, and no head has computed it.
- 1 point: an example in which sharp heads have a flat mean.
- 1 point: the conclusion does not follow; flat heads and sharp heads can have the same mean.
- 1 point: `average_attn_weights=False`, with the shape (N, h, T, S).""",
)

EXERCISES = (
    place_of_15,
    cut_into_h,
    join_heads,
    scores_per_head,
    attend_with_h,
    what_a_mean_hides,
)
