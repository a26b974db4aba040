"""Several heads, one after the other."""

import torch

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import WRITE, Exercise


def _loop(
    X_Q,
    X_KV,
    W_Q,
    W_K,
    W_V,
    mask=None,
    inputs=lambda X_Q, X_KV: (X_Q, X_KV, X_KV),
    weights=compute_attention_matrix,
    join=lambda Y: torch.cat(Y, dim=-1),
):
    """The loop, with a step that may be wrong.

    inputs: (X_Q, X_KV) -> what queries, keys and values are made from. weights: (Q, K, mask) -> A.
    join: the results of the heads -> one result.
    """
    X_q, X_k, X_v = inputs(X_Q, X_KV)
    return join(
        [weights(X_q @ Q, X_k @ K, mask) @ (X_v @ V) for Q, K, V in zip(W_Q, W_K, W_V, strict=True)]
    )


def _without_values(mix):
    """The loop, with what `mix` makes of X_KV and the weights in place of weights times values."""

    def heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
        Y = [
            mix(X_KV, compute_attention_matrix(X_Q @ Q, X_KV @ K, mask))
            for Q, K in zip(W_Q, W_K, strict=True)
        ]
        return torch.cat(Y, dim=-1)

    return heads


def _cases_of_loops():
    X_Q, X_KV = torch.tensor([[[1.0, 2.0], [0.0, 1.0]]]), torch.tensor([[[1.0, 0.0], [2.0, 1.0]]])
    by_hand = (
        [[[1.0], [0.0]], [[0.0], [1.0]]],
        [[[0.0], [1.0]], [[1.0], [0.0]]],
        [[[1.0], [2.0]], [[3.0], [1.0]]],
    )
    for hidden in (None, torch.tensor([[[False, True], [False, False]]])):
        yield X_Q, X_KV, *map(torch.tensor, by_hand), hidden
    for N, T, S, d_model, h, d_k, d_v in [
        (1, 2, 3, 4, 1, 3, 2),
        (2, 3, 5, 4, 3, 2, 1),
        (2, 4, 3, 7, 3, 2, 5),
    ]:
        mask = torch.rand(N, T, S) < 0.4
        mask[..., 0] = False
        for hidden in (None, mask):
            yield (
                torch.randn(N, T, d_model),
                torch.randn(N, S, d_model),
                *torch.randn(2, h, d_model, d_k),
                torch.randn(h, d_model, d_v),
                hidden,
            )


loop_over_heads = Exercise(
    name="loop_over_heads",
    chapter="03",
    section="Two heads, side by side",
    kind=WRITE,
    title="One head after the other",
    goal="Write several heads as a loop over the attention of chapter 02.",
    difficulty=2,
    importance=5,
    minutes=5,
    text="""\
Let every head attend with matrices of its own, and put the results side by side.""",
    hints=(
        "What chapter 02 does once happens here `len(W_Q)` times; head m has `W_Q[m]`, `W_K[m]` "
        "and `W_V[m]`.",
        "`compute_attention_matrix(X_Q @ W_Q[m], X_KV @ W_K[m], mask)` are the weights of head m. "
        "Collect what they make of its values in a list.",
        "`torch.cat(Y, dim=-1)` puts the tensors of a list side by side.",
    ),
    stub='''\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    """The results of h heads, side by side: (N, T, h * d_v). W_Q[m] belongs to head m."""
    ...  # about five lines, with compute_attention_matrix(Q, K, mask) and torch.cat
''',
    solution='''\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    """The results of h heads, side by side: (N, T, h * d_v). W_Q[m] belongs to head m."""
    Y = []
    for m in range(len(W_Q)):
        A = compute_attention_matrix(X_Q @ W_Q[m], X_KV @ W_K[m], mask)  # (N, T, S)
        Y.append(A @ (X_KV @ W_V[m]))  # (N, T, d_v)
    return torch.cat(Y, dim=-1)  # (N, T, h * d_v)
''',
    reference=_loop,
    cases=_cases_of_loops,
    setup="from tutor.attention import compute_attention_matrix\n",
    gradient=True,
    mistakes=(
        (
            "You hand back the last head's result alone. Collect the results of all heads, then "
            "put them side by side.",
            lambda *a: _loop(*a, join=lambda Y: Y[-1]),
        ),
        (
            "You hand back the first head's result alone: the `return` stands within the loop.",
            lambda *a: _loop(*a, join=lambda Y: Y[0]),
        ),
        (
            "The heads are added up, and each should keep columns of its own: `dim=-1` in "
            "`torch.cat`.",
            lambda *a: _loop(*a, join=sum),
        ),
        (
            "The heads are averaged, and each should keep columns of its own: `dim=-1` in "
            "`torch.cat`.",
            lambda *a: _loop(*a, join=lambda Y: torch.stack(Y).mean(dim=0)),
        ),
        (
            "`torch.stack` makes a new dimension of the heads; `torch.cat(Y, dim=-1)` puts them "
            "side by side.",
            lambda *a: _loop(*a, join=torch.stack),
        ),
        (
            "`torch.stack` makes a new dimension of the heads; `torch.cat(Y, dim=-1)` puts them "
            "side by side.",
            lambda *a: _loop(*a, join=lambda Y: torch.stack(Y, dim=1)),
        ),
        (
            "A list of heads is not a tensor yet: `torch.cat(Y, dim=-1)` puts them side by side.",
            lambda *a: _loop(*a, join=list),
        ),
        (
            "The heads stand one below the other; side by side is `dim=-1`.",
            lambda *a: _loop(*a, join=lambda Y: torch.cat(Y, dim=-2)),
        ),
        (
            "The heads stand one below the other; side by side is `dim=-1`.",
            lambda *a: _loop(*a, join=torch.cat),
        ),
        (
            "The values are missing: the weights of head m must be multiplied by `X_KV @ W_V[m]`.",
            _without_values(lambda X_KV, A: A),
        ),
        (
            "The values are not projected: head m hands over `X_KV @ W_V[m]`.",
            _without_values(lambda X_KV, A: A @ X_KV),
        ),
        (
            "Without a loop, `@` takes the heads for the batch. Let each head have its own turn.",
            lambda X_Q, X_KV, W_Q, W_K, W_V, mask=None: (
                compute_attention_matrix(X_Q @ W_Q, X_KV @ W_K, mask) @ (X_KV @ W_V)
            ),
        ),
        (
            "The mask is not used: hand it on to `compute_attention_matrix`.",
            lambda *a: _loop(*a[:5]),
        ),
        (
            "The two inputs are exchanged: X_Q makes the queries, X_KV keys and values.",
            lambda *a: _loop(*a, inputs=lambda X_Q, X_KV: (X_KV, X_Q, X_Q)),
        ),
        (
            "Your keys and values come from X_Q; they are made of X_KV, the words that are asked.",
            lambda *a: _loop(*a, inputs=lambda X_Q, X_KV: (X_Q, X_Q, X_Q)),
        ),
        (
            "Your values come from X_Q; like the keys they are made of X_KV.",
            lambda *a: _loop(*a, inputs=lambda X_Q, X_KV: (X_Q, X_KV, X_Q)),
        ),
        (
            "Your keys come from X_Q; like the values they are made of X_KV.",
            lambda *a: _loop(*a, inputs=lambda X_Q, X_KV: (X_Q, X_Q, X_KV)),
        ),
        (
            "Your scores are not divided by the square root of d_k; "
            "`compute_attention_matrix` does it.",
            lambda *a: _loop(
                *a,
                weights=lambda Q, K, mask: compute_attention_matrix(
                    Q * Q.shape[-1] ** 0.5, K, mask
                ),
            ),
        ),
        (
            "Every head uses the matrices of head 0: write `W_Q[m]`, `W_K[m]`, `W_V[m]`.",
            lambda X_Q, X_KV, W_Q, W_K, W_V, mask=None: _loop(
                X_Q, X_KV, *(W[:1].expand_as(W) for W in (W_Q, W_K, W_V)), mask
            ),
        ),
    ),
    wrong={
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    for m in range(len(W_Q)):
        A = compute_attention_matrix(X_Q @ W_Q[m], X_KV @ W_K[m], mask)
        Y = A @ (X_KV @ W_V[m])
    return Y
""": "last head's result alone",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = []
    for m in range(len(W_Q)):
        A = compute_attention_matrix(X_Q @ W_Q[m], X_KV @ W_K[m], mask)
        Y.append(A @ (X_KV @ W_V[m]))
        return torch.cat(Y, dim=-1)
""": "within the loop",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = 0
    for m in range(len(W_Q)):
        Y = Y + compute_attention_matrix(X_Q @ W_Q[m], X_KV @ W_K[m], mask) @ (X_KV @ W_V[m])
    return Y
""": "added up",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = []
    for q, k, v in zip(W_Q, W_K, W_V):
        Y.append(compute_attention_matrix(X_Q @ q, X_KV @ k, mask) @ (X_KV @ v))
    return torch.stack(Y, dim=1)
""": "new dimension",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = []
    for q, k, v in zip(W_Q, W_K, W_V):
        Y.append(compute_attention_matrix(X_Q @ q, X_KV @ k, mask) @ (X_KV @ v))
    return torch.cat(Y, dim=1)
""": "one below the other",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = []
    for q, k, v in zip(W_Q, W_K, W_V):
        Y.append(compute_attention_matrix(X_Q @ q, X_KV @ k) @ (X_KV @ v))
    return torch.cat(Y, dim=-1)
""": "mask is not used",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = []
    for q, k, v in zip(W_Q, W_K, W_V):
        E = (X_Q @ q) @ (X_KV @ k).mT
        if mask is not None:
            E = E.masked_fill(mask, -math.inf)
        Y.append(E.softmax(-1) @ (X_KV @ v))
    return torch.cat(Y, dim=-1)
""": "not divided",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = []
    for m in range(len(W_Q)):
        A = compute_attention_matrix(X_Q @ W_Q[0], X_KV @ W_K[0], mask)
        Y.append(A @ (X_KV @ W_V[0]))
    return torch.cat(Y, dim=-1)
""": "matrices of head 0",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = []
    for q, k, v in zip(W_Q, W_K, W_V):
        Y.append(compute_attention_matrix(X_Q @ q, X_Q @ k, mask) @ (X_Q @ v))
    return torch.cat(Y, dim=-1)
""": "keys and values come from X_Q",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = []
    for m in range(len(W_Q)):
        Y.append(compute_attention_matrix(X_Q @ W_Q[m], X_KV @ W_K[m], mask))
    return torch.cat(Y, dim=-1)
""": "values are missing",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = []
    for m in range(len(W_Q)):
        A = compute_attention_matrix(X_Q @ W_Q[m], X_KV @ W_K[m], mask)
        Y.append(A @ X_KV)
    return torch.cat(Y, dim=-1)
""": "values are not projected",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    A = compute_attention_matrix(X_Q @ W_Q, X_KV @ W_K, mask)
    return A @ (X_KV @ W_V)
""": "without a loop",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    return [compute_attention_matrix(X_Q @ q, X_KV @ k, mask) @ (X_KV @ v)
            for q, k, v in zip(W_Q, W_K, W_V)]
""": "not a tensor yet",
    },
    right=(
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    return torch.cat([compute_attention_matrix(X_Q @ q, X_KV @ k, mask) @ (X_KV @ v)
                      for q, k, v in zip(W_Q, W_K, W_V)], dim=-1)
""",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    Y = torch.tensor([])
    for m in range(len(W_Q)):
        Q, K, V = X_Q @ W_Q[m], X_KV @ W_K[m], X_KV @ W_V[m]
        seen = None if mask is None else ~mask
        Y = torch.cat([Y, F.scaled_dot_product_attention(Q, K, V, seen)], dim=-1)
    return Y
""",
        """\
def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, mask=None):
    h = len(W_Q)
    Q, K, V = X_Q[:, None] @ W_Q, X_KV[:, None] @ W_K, X_KV[:, None] @ W_V
    A = compute_attention_matrix(Q, K, None if mask is None else mask[:, None])
    return torch.cat((A @ V).unbind(1), dim=-1)
""",
    ),
)
