"""Three names for three parts."""

import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_12.shared import cases_of_attention


def _attend(attention, X, order="QKV", scale=None, join=None, split=None, bias=True, out=True):
    """Self-attention from the parameters of the module, with room for slips."""
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias if bias else None)
    parts = dict(zip(order, Z.chunk(3, dim=-1), strict=True))
    heads = split or (lambda Y, h: Y.unflatten(-1, (h, -1)).transpose(1, 2))
    Q, K, V = (heads(parts[name], attention.num_heads) for name in "QKV")  # (N, h, T, d_k)
    Y = F.scaled_dot_product_attention(Q, K, V, scale=scale)
    Y = join(Y, X) if join else Y.transpose(1, 2).flatten(2)  # (N, T, d_model)
    return attention.out_proj(Y) if out else Y


def _head_by_head(attention, X):
    """The columns of the projection, taken as (h, 3, d_k) in place of (3, h, d_k)."""
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = Z.unflatten(-1, (attention.num_heads, 3, -1)).permute(3, 0, 2, 1, 4)
    return attention.out_proj(
        F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(2)
    )  # (N, T, d_model)


def _attention(attention, X):
    return attention(X, X, X, need_weights=False)[0]


queries_keys_values = Exercise(
    name="queries_keys_values",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="Three names for three parts",
    goal="Cut a packed projection in the right order.",
    difficulty=3,
    importance=4,
    minutes=6,
    text="""\
Somebody wanted a faster self-attention and rebuilt `nn.MultiheadAttention` from its own parameters.
All shapes are right, rows of weights sum to 1, and a model that is trained with it learns. But
weights that were trained with PyTorch's module give nonsense in it. **Find the mistake and mend
it.**""",
    hints=(
        "Compare with PyTorch's module, step by step. Which of the three parts of `in_proj_weight` "
        "comes first?",
        "The order is the same as in softmax(Q K^T) V, and as in the arguments of the module.",
        "One line unpacks the projection into three names. In which order?",
    ),
    stub='''\
def queries_keys_values(attention, X):
    """Self-attention by hand. It has a mistake: find it and mend it.

    attention: nn.MultiheadAttention with biases, batch-first, in eval mode
    X: float tensor (N, T, d_model)
    Returns float tensor (N, T, d_model)
    """
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)  # (N, T, 3 * d_model)
    K, Q, V = Z.chunk(3, dim=-1)  # (N, T, d_model) each
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))  # (N, h, T, d_k)
    Y = F.scaled_dot_product_attention(Q, K, V)  # (N, h, T, d_k)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))  # (N, T, d_model)
''',
    solution='''\
def queries_keys_values(attention, X):
    """Self-attention by hand.

    attention: nn.MultiheadAttention with biases, batch-first, in eval mode
    X: float tensor (N, T, d_model)
    Returns float tensor (N, T, d_model)
    """
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)  # (N, T, 3 * d_model)
    Q, K, V = Z.chunk(3, dim=-1)  # (N, T, d_model) each
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))  # (N, h, T, d_k)
    Y = F.scaled_dot_product_attention(Q, K, V)  # (N, h, T, d_k)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))  # (N, T, d_model)
''',
    because="A model that is trained so learns, since names are only names; loaded weights tell.",
    reference=_attention,
    cases=cases_of_attention,
    forbidden=(nn.MultiheadAttention.forward,),
    mistakes=(
        (
            "As it was: queries and keys are exchanged, so each score is that of the pair the "
            "other way round.",
            lambda attention, X: _attend(attention, X, "KQV"),
        ),
        (
            "Now keys and values are exchanged: the order is queries, keys, values.",
            lambda attention, X: _attend(attention, X, "QVK"),
        ),
        (
            "Now queries and values are exchanged: the order is queries, keys, values.",
            lambda attention, X: _attend(attention, X, "VKQ"),
        ),
        (
            "Now all three parts are in another place: the order is queries, keys, values.",
            lambda attention, X: _attend(attention, X, "VQK"),
        ),
        (
            "Now all three parts are in another place: queries come first, not keys.",
            lambda attention, X: _attend(attention, X, "KVQ"),
        ),
        (
            "You cut each head into three. The module keeps the queries of all heads first, then "
            "all keys, then all values.",
            _head_by_head,
        ),
        (
            "The heads are gone: all columns make one set of weights. They were right before.",
            lambda attention, X: _attend(
                attention,
                X,
                split=lambda Y, h: Y[:, None],
                join=lambda Y, X: Y[:, 0],
            ),
        ),
        (
            "The heads are cut without a swap, so that one word's numbers end up in many rows. "
            "That was right before.",
            lambda attention, X: _attend(
                attention, X, split=lambda Y, h: Y.reshape(len(Y), h, Y.shape[1], -1)
            ),
        ),
        (
            "The heads are joined without swapping back. That was right before.",
            lambda attention, X: _attend(attention, X, join=lambda Y, X: Y.reshape(X.shape)),
        ),
        (
            "The order is right now, but the scores have lost their scaling.",
            lambda attention, X: _attend(attention, X, scale=1.0),
        ),
        (
            "The order is right now, but the biases of `in_proj_bias` are gone.",
            lambda attention, X: _attend(attention, X, bias=False),
        ),
        (
            "The order is right now, but the way out, `out_proj`, is gone.",
            lambda attention, X: _attend(attention, X, out=False),
        ),
    ),
    wrong={
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = X @ attention.in_proj_weight.T + attention.in_proj_bias
    Q, K, V = (torch.stack(Y.chunk(h, dim=-1), dim=1) for Y in Z.chunk(3, dim=-1))
    A = (K @ Q.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return attention.out_proj(torch.cat((A @ V).unbind(dim=1), dim=-1))
""": "as it was",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, V, K = Z.chunk(3, dim=-1)
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "keys and values are exchanged",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    V, K, Q = Z.chunk(3, dim=-1)
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "queries and values are exchanged",
        """\
def queries_keys_values(attention, X):
    N, T, d = X.shape
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = Z.view(N, T, h, -1).transpose(1, 2).chunk(3, dim=-1)
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "each head into three",
        """\
def queries_keys_values(attention, X):
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Y = F.scaled_dot_product_attention(*Z.chunk(3, dim=-1))
    return attention.out_proj(Y)
""": "heads are gone",
        """\
def queries_keys_values(attention, X):
    N, T, d = X.shape
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = (Y.reshape(N, attention.num_heads, T, -1) for Y in Z.chunk(3, dim=-1))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).reshape(N, T, d))
""": "cut without a swap",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in Z.chunk(3, dim=-1))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.contiguous().view(X.shape))
""": "joined without swapping",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in Z.chunk(3, dim=-1))
    Y = (Q @ K.mT).softmax(dim=-1) @ V
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "lost their scaling",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Q, K, V = (X @ W.T for W in attention.in_proj_weight.chunk(3))
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "`in_proj_bias` are gone",
        """\
def queries_keys_values(attention, X):
    return attention(X, X, X)[0]
""": "Write its steps yourself",
    },
    right=(
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    weights, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    Q, K, V = (X @ W.T + b for W, b in zip(weights, biases))
    results = []
    for q, k, v in zip(Q.chunk(h, dim=-1), K.chunk(h, dim=-1), V.chunk(h, dim=-1)):
        A = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)
        results.append(A @ v)
    return attention.out_proj(torch.cat(results, dim=-1))
""",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = Z.unflatten(-1, (3, h, -1)).permute(2, 0, 3, 1, 4)
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""",
    ),
)
