"""The head that cannot decide."""

import math

import torch.nn.functional as F

from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_12.shared import cases_of_attention
from tutor.museum import EXHIBITS

_MEAN = EXHIBITS["weights_of_one_head"]


def _by_hand(attention, X, width=None, with_bias=True):
    """The weights (N, h, T, T) from the parameters; `width` is what the root is taken of."""
    bias = attention.in_proj_bias if with_bias else None
    Q, K, _ = F.linear(X, attention.in_proj_weight, bias).chunk(3, dim=-1)
    Q, K = (Y.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2) for Y in (Q, K))
    return (Q @ K.mT / math.sqrt(width or Q.shape[-1])).softmax(-1)  # (N, h, T, T)


one_matrix_a_head = Exercise(
    name="one_matrix_a_head",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="The head that cannot decide",
    goal="Get the weights of each head from PyTorch, not their mean.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
This code collects weights for heat maps, a map for each head. The maps look blurred, and a sentence
has one map only. **Find the mistake and mend it.**""",
    hints=(
        "Print the shape of what comes back for two sentences and four heads. What is missing?",
        "What does `nn.MultiheadAttention` return by default, in place of each head's weights?",
        "Its call has an argument `average_attn_weights`, which is True unless you say otherwise.",
    ),
    stub='''\
def one_matrix_a_head(attention, X):
    """The weights of each head in self-attention. It has a mistake: find it and mend it.

    attention: nn.MultiheadAttention with h heads, batch-first, in eval mode
    X: float tensor (N, T, d_model)
    Returns A: float tensor (N, h, T, T)
    """
    Y, A = attention(X, X, X, need_weights=True)
    return A
''',
    solution='''\
def one_matrix_a_head(attention, X):
    """The weights of each head in self-attention.

    attention: nn.MultiheadAttention with h heads, batch-first, in eval mode
    X: float tensor (N, T, d_model)
    Returns A: float tensor (N, h, T, T)
    """
    Y, A = attention(X, X, X, need_weights=True, average_attn_weights=False)
    return A
''',
    because="Two sharp heads that look at different words have a mean that looks at both.",
    reference=_MEAN.mended,
    cases=cases_of_attention,
    mistakes=(
        ("As it was: the mean over the heads, which is the weights of none of them.", _MEAN.wrong),
        (
            "Now each head shows the same mean: the shape is right, and no head has these weights.",
            lambda attention, X: _MEAN.wrong(attention, X)[:, None].expand(
                -1, attention.num_heads, -1, -1
            ),
        ),
        (
            "It is still the mean, with a dimension of size 1 in front of it.",
            lambda attention, X: _MEAN.wrong(attention, X)[:, None],
        ),
        (
            "You return the attention's result; the weights come second.",
            lambda attention, X: attention(X, X, X)[0],
        ),
        (
            "`need_weights=False` asks for no weights at all, so None comes back.",
            lambda attention, X: None,
        ),
        (
            "Heads and sentences have changed places: (N, h, T, T) is wanted.",
            lambda attention, X: _MEAN.mended(attention, X).transpose(0, 1),
        ),
        (
            "Your weights are made by hand, and divided by the square root of d_model; a head is "
            "d_model / h wide.",
            lambda attention, X: _by_hand(attention, X, width=X.shape[-1]),
        ),
        (
            "Your weights are made by hand, and the biases of `in_proj_bias` are missing.",
            lambda attention, X: _by_hand(attention, X, with_bias=False),
        ),
    ),
    wrong={
        """\
def one_matrix_a_head(attention, X):
    A = attention(X, X, X, average_attn_weights=True)[1]
    return A
""": "mean over the heads",
        """\
def one_matrix_a_head(attention, X):
    Y, A = attention(X, X, X)
    return torch.stack([A] * attention.num_heads, dim=1)
""": "same mean",
        """\
def one_matrix_a_head(attention, X):
    Y, A = attention(X, X, X)
    return A.unsqueeze(1)
""": "still the mean",
        """\
def one_matrix_a_head(attention, X):
    A, Y = attention(X, X, X, average_attn_weights=False)
    return A
""": "weights come second",
        """\
def one_matrix_a_head(attention, X):
    return attention(X, X, X, need_weights=False, average_attn_weights=False)[1]
""": "no weights at all",
        """\
def one_matrix_a_head(attention, X):
    h = attention.num_heads
    X_QKV = X @ attention.in_proj_weight.T + attention.in_proj_bias
    Q, K, V = X_QKV.chunk(3, dim=2)
    Q, K = (torch.stack(Y.chunk(h, dim=2), dim=1) for Y in (Q, K))
    return torch.softmax(Q @ K.transpose(2, 3) / math.sqrt(attention.embed_dim), dim=3)
""": "square root of d_model",
        """\
def one_matrix_a_head(attention, X):
    h = attention.num_heads
    Q, K, V = (X @ attention.in_proj_weight.T).chunk(3, dim=2)
    Q, K = (torch.stack(Y.chunk(h, dim=2), dim=1) for Y in (Q, K))
    return torch.softmax(Q @ K.transpose(2, 3) / math.sqrt(Q.size(3)), dim=3)
""": "`in_proj_bias` are missing",
        """\
def one_matrix_a_head(attention, X):
    return attention(X, X, X, average_attn_weights=False)
""": "a tuple; a tensor is wanted",
    },
    right=(
        """\
def one_matrix_a_head(attention, X):
    _, A = attention(X, X, X, average_attn_weights=False)
    return A
""",
        """\
def one_matrix_a_head(attention, X):
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)  # (N, T, 3 * d_model)
    Q, K, V = Z.unflatten(-1, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
""",
    ),
)
