"""One bias does the work of two."""

import torch
from torch import nn

from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_11.shared import filled


def _one_bias(attention):
    b_V = attention.in_proj_bias.chunk(3)[2]
    return b_V @ attention.out_proj.weight.T + attention.out_proj.bias


def _other_bias(third, of_weight=lambda W: W.T, with_b_O=True):
    def bias(attention):
        moved = attention.in_proj_bias.chunk(3)[third] @ of_weight(attention.out_proj.weight)
        return moved + attention.out_proj.bias if with_b_O else moved

    return bias


def _cases_of_biases():
    for d_model, num_heads in [(1, 1), (2, 1), (2, 2), (6, 3)]:
        yield (filled(nn.MultiheadAttention(d_model, num_heads, batch_first=True)),)
    yield (nn.MultiheadAttention(4, 2, batch_first=True).eval(),)  # fresh: all biases are zeros


one_bias_for_two = Exercise(
    name="one_bias_for_two",
    chapter="11",
    section="Four biases",
    kind=WRITE,
    title="One bias does the work of two",
    goal="Move a bias through the weights into another one.",
    difficulty=2,
    importance=3,
    minutes=8,
    text="""\
The bias of the values, $b^V$, could be zero if $b^O$ took over its work. Write the bias that
`out_proj` then needs, so that the attention computes what it did. Change nothing in the module:
compute the vector and return it.""",
    hints=(
        "The rows of $A$ sum to 1. What is added to every value is added to every result of a "
        "head, and goes through the way out.",
        "The new bias is $b^O + b^V W^O$. Where does PyTorch keep $b^V$, and which way does "
        "`out_proj.weight` lie?",
        "`attention.in_proj_bias.chunk(3)` gives $b^Q, b^K, b^V$, and $W^O$ is "
        "`attention.out_proj.weight.T`.",
    ),
    stub='''\
def one_bias_for_two(attention):
    """The bias of the way out that makes b_V superfluous.

    attention: nn.MultiheadAttention with biases, of width d_model
    Returns float tensor (d_model,)
    """
    raise NotImplementedError
''',
    solution='''\
def one_bias_for_two(attention):
    """The bias of the way out that makes b_V superfluous.

    attention: nn.MultiheadAttention with biases, of width d_model
    Returns float tensor (d_model,)
    """
    b_Q, b_K, b_V = attention.in_proj_bias.chunk(3)
    return attention.out_proj.bias + b_V @ attention.out_proj.weight.T  # (d_model,)
''',
    because="With dropout on the weights it fails: then their rows sum to 1 on average only.",
    reference=_one_bias,
    cases=_cases_of_biases,
    mistakes=(
        (
            "`out_proj.weight` lies on its side: it is W_O transposed, so turn it.",
            _other_bias(2, lambda W: W),
        ),
        (
            "The bias b_O of the way out is lost: it is still needed.",
            _other_bias(2, with_b_O=False),
        ),
        (
            "b_V is added as it is. It goes through the way out like every value: multiply it with "
            "W_O.",
            _other_bias(2, lambda W: torch.eye(len(W))),
        ),
        (
            "You moved b_K, the second third. It does no work at all; the bias of the values is "
            "the last third.",
            _other_bias(1),
        ),
        (
            "You moved b_Q, the first third. It cannot be moved; the bias of the values is the "
            "last third.",
            _other_bias(0),
        ),
        (
            "You moved all three biases of the stack; only that of the values can be moved.",
            lambda attention: (
                sum(_other_bias(i)(attention) for i in range(3)) - 2 * attention.out_proj.bias
            ),
        ),
        (
            "Your bias is b_O as it was. What b_V added is lost.",
            lambda attention: attention.out_proj.bias,
        ),
        (
            "b_O went through the way out a second time. It is added behind W_O, as it is.",
            lambda attention: (
                (attention.in_proj_bias.chunk(3)[2] + attention.out_proj.bias)
                @ attention.out_proj.weight.T
            ),
        ),
        (
            "You take the rows of the values in `in_proj_weight`. b_V goes through the way out: "
            "that is `out_proj.weight`.",
            lambda attention: (
                attention.in_proj_bias.chunk(3)[2] @ attention.in_proj_weight.chunk(3)[2].T
                + attention.out_proj.bias
            ),
        ),
        (
            "b_O is added twice: `out_proj` adds it already.",
            lambda attention: _one_bias(attention) + attention.out_proj.bias,
        ),
        (
            "You subtract what b_V added. The new bias has to add it in its place.",
            lambda attention: 2 * attention.out_proj.bias - _one_bias(attention),
        ),
    ),
    wrong={
        """\
def one_bias_for_two(attention):
    _, _, b_V = attention.in_proj_bias.chunk(3)
    return attention.out_proj(b_V) + attention.out_proj.bias
""": "added twice",
        """\
def one_bias_for_two(attention):
    _, _, W_V = attention.in_proj_weight.chunk(3)
    return F.linear(attention.in_proj_bias.chunk(3)[2], W_V, attention.out_proj.bias)
""": "through the way out",
        """\
def one_bias_for_two(attention):
    d = attention.embed_dim
    return attention.in_proj_bias[-d:] @ attention.out_proj.weight + attention.out_proj.bias
""": "on its side",
        """\
def one_bias_for_two(attention):
    *_, b_V = attention.in_proj_bias.chunk(3)
    return F.linear(b_V, attention.out_proj.weight)
""": "b_O of the way out is lost",
        """\
def one_bias_for_two(attention):
    b_V = attention.in_proj_bias.view(3, -1)[2]
    return attention.out_proj.bias + b_V
""": "as it is. It goes through",
        """\
def one_bias_for_two(attention):
    _, b_V, _ = attention.in_proj_bias.chunk(3)
    return attention.out_proj(b_V)
""": "moved b_K",
        """\
def one_bias_for_two(attention):
    d = attention.embed_dim
    return attention.out_proj(attention.in_proj_bias[:d])
""": "moved b_Q",
        """\
def one_bias_for_two(attention):
    together = attention.in_proj_bias.view(3, -1).sum(dim=0)
    return attention.out_proj(together)
""": "all three biases",
        """\
def one_bias_for_two(attention):
    b_V = attention.in_proj_bias.chunk(3)[2]
    return (attention.out_proj.bias + b_V) @ attention.out_proj.weight.T
""": "a second time",
        """\
def one_bias_for_two(attention):
    b_Q, b_K, b_V = attention.in_proj_bias.chunk(3)
    with torch.no_grad():
        attention.out_proj.bias += b_V @ attention.out_proj.weight.T
        b_V.zero_()
    return attention.out_proj.bias
""": "changes its argument `attention`",
        """\
def one_bias_for_two(attention):
    return attention.out_proj.bias + attention.in_proj_bias @ attention.out_proj.weight.T
""": "RuntimeError",
    },
    right=(
        """\
def one_bias_for_two(attention):
    return attention.out_proj(attention.in_proj_bias[2 * attention.embed_dim :])
""",
        """\
def one_bias_for_two(attention):
    b_V = attention.in_proj_bias.view(3, -1)[2]
    moved = [sum(w * b for w, b in zip(row, b_V)) for row in attention.out_proj.weight]
    return torch.stack(moved) + attention.out_proj.bias
""",
        """\
def one_bias_for_two(attention):
    nothing = torch.zeros(1, 1, attention.embed_dim)  # every value is b_V alone
    return attention(nothing, nothing, nothing)[0].flatten().detach()
""",
    ),
)
