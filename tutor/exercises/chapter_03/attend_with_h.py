"""All heads at once."""

import math

import torch
import torch.nn.functional as F

from tutor.attention import (
    MultiHeadAttention,
    compute_attention_matrix,
    slice_vertically,
    unslice_vertically,
)
from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_03.shared import cut_by_number
from tutor.museum import EXHIBITS


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
    cut=cut_by_number,
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


def _fused(inputs):
    """The sliced product by PyTorch's function, for which keys and values have one length."""

    def heads(X_Q, X_KV, W_Q, W_K, W_V, W_O, h):
        each = zip(inputs(X_Q, X_KV), (W_Q, W_K, W_V), strict=True)
        Y = F.scaled_dot_product_attention(*(cut_by_number(X @ W, h) for X, W in each))
        return unslice_vertically(Y) @ W_O

    return heads


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
        raise Exception  # where it fails depends on how it is written
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
    section="The whole, in code",
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

You may use `slice_vertically` and `unslice_vertically`, or your own from the chapter.""",
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
                "Your queries and keys have changed places: X_Q makes the queries, X_KV the keys.",
                heads,
            )
            for heads in (
                lambda *a: _steps(*a, inputs=lambda X_Q, X_KV: (X_KV, X_Q, X_KV)),
                _fused(lambda X_Q, X_KV: (X_KV, X_Q, X_KV)),
            )
        ),
        (
            "Your values come from X_Q; like the keys they are made of X_KV.",
            _fused(lambda X_Q, X_KV: (X_Q, X_KV, X_Q)),
        ),
        (
            "Your keys come from X_Q; like the values they are made of X_KV.",
            _fused(lambda X_Q, X_KV: (X_Q, X_Q, X_KV)),
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
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_Q @ W_Q), split(X_Q @ W_K), split(X_KV @ W_V)
    Y = F.scaled_dot_product_attention(Q, K, V)
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "keys come from X_Q",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_Q @ W_Q), split(X_KV @ W_K), split(X_Q @ W_V)
    Y = F.scaled_dot_product_attention(Q, K, V)
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "values come from X_Q",
        """\
def attend_with_h(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads):
    split = lambda X: X.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    Q, K, V = split(X_KV @ W_Q), split(X_Q @ W_K), split(X_KV @ W_V)
    return F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(2) @ W_O
""": "queries and keys have changed places",
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
