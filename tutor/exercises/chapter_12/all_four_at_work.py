"""A parameter that never learns."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_11.shared import filled
from tutor.museum import EXHIBITS

_FOURTH = EXHIBITS["three_of_four"]


def _four(Q=0, K=1, V=2, last=(3,)):
    """Attention with the projections of these numbers, and those of `last` behind it."""

    def run(projections, X):
        Y = F.scaled_dot_product_attention(*(projections[i](X) for i in (Q, K, V)))
        for i in last:
            Y = projections[i](Y)
        return Y

    return run


def _cut_off(*parts):
    """The right result, with some parameters of the way out that get no gradient."""

    def run(projections, X):
        out = dict(projections[3].named_parameters())
        W, b = (out[name].detach() if name in parts else out[name] for name in ("weight", "bias"))
        return F.linear(_FOURTH.wrong(projections, X), W, b)

    return run


def _cases_of_projections():
    for N, T, d_model in [(1, 2, 1), (1, 2, 3), (2, 3, 4), (3, 1, 2)]:
        projections = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        yield filled(projections), torch.randn(N, T, d_model)


all_four_at_work = Exercise(
    name="all_four_at_work",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="A parameter that never learns",
    goal="Find a layer that is built, saved and never used.",
    difficulty=2,
    importance=3,
    minutes=8,
    text="""\
Four projections are made for an attention: for queries, keys, values, and for the way out. After a
day of training, the fourth is what it was on the first. **Find the mistake and mend it.**""",
    hints=(
        "Four projections meet three inputs. What does `zip` do when one of its lists is shorter?",
        "Which of the four is left over, and what was it made for?",
        "The way out is applied to what attention returns.",
    ),
    stub='''\
def all_four_at_work(projections, X):
    """Self-attention with one head and a way out. It has a mistake: find it and mend it.

    projections: four nn.Linear (d_model to d_model), W_Q, W_K, W_V, W_O
    X: float tensor (N, T, d_model)
    Returns float tensor (N, T, d_model)
    """
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return F.scaled_dot_product_attention(Q, K, V)
''',
    solution='''\
def all_four_at_work(projections, X):
    """Self-attention with one head and a way out.

    projections: four nn.Linear (d_model to d_model), W_Q, W_K, W_V, W_O
    X: float tensor (N, T, d_model)
    Returns float tensor (N, T, d_model)
    """
    W_Q, W_K, W_V, W_O = projections
    return W_O(F.scaled_dot_product_attention(W_Q(X), W_K(X), W_V(X)))
''',
    because="`zip` stops at the shortest and is silent; `zip(..., strict=True)` would have told.",
    reference=_FOURTH.mended,
    cases=_cases_of_projections,
    gradient=True,
    mistakes=(
        ("As it was: the fourth projection meets nothing and gets no gradient.", _FOURTH.wrong),
        (
            "The way out is used before attention, on X. It belongs behind it.",
            lambda projections, X: _FOURTH.wrong(projections, projections[3](X)),
        ),
        (
            "The fourth projection makes the values now, and the third, which is theirs, is left "
            "over.",
            _four(V=3, last=()),
        ),
        (
            "The third projection is used twice, and the fourth not at all.",
            _four(last=(2,)),
        ),
        (
            "The way out is applied twice.",
            _four(last=(3, 3)),
        ),
        (
            "The way out of X is added to the result. It is to be applied to what attention "
            "returns.",
            lambda projections, X: _FOURTH.wrong(projections, X) + projections[3](X),
        ),
        (
            "Queries and keys are exchanged, which was right before.",
            _four(Q=1, K=0),
        ),
        (
            "The way out is used without its bias.",
            lambda projections, X: _FOURTH.wrong(projections, X) @ projections[3].weight.T,
        ),
        (
            "The weight of an `nn.Linear` lies on its side, (out, in): call the layer, or turn it.",
            lambda projections, X: (
                _FOURTH.wrong(projections, X) @ projections[3].weight + projections[3].bias
            ),
        ),
        *(
            (
                "The result is right, but the way out is cut off (`.data`, `.detach()` or "
                "`no_grad`), so that it still gets no gradient and never learns.",
                cut_off,
            )
            for cut_off in (
                _cut_off("weight", "bias"),
                _cut_off("weight"),
                _cut_off("bias"),
                lambda projections, X: _FOURTH.mended(projections, X).detach(),
            )
        ),
        (
            "The way out learns now, but what comes before it is cut off (`.detach()` or "
            "`no_grad`), so that the other three no longer do.",
            lambda projections, X: projections[3](_FOURTH.wrong(projections, X).detach()),
        ),
        (
            "X is added to the result, which is right in a layer, but not asked for here.",
            lambda projections, X: X + _FOURTH.mended(projections, X),
        ),
    ),
    wrong={
        """\
def all_four_at_work(projections, X):
    Q, K, V = [projection(X) for projection in projections[:3]]
    A = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return A @ V
""": "as it was",
        """\
def all_four_at_work(projections, X):
    X = projections[3](X)
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return F.scaled_dot_product_attention(Q, K, V)
""": "before attention",
        """\
def all_four_at_work(projections, X):
    W_Q, W_K, W_O, W_V = projections
    return F.scaled_dot_product_attention(W_Q(X), W_K(X), W_V(X))
""": "makes the values",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return projections[2](F.scaled_dot_product_attention(Q, K, V))
""": "used twice",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return F.scaled_dot_product_attention(Q, K, V).add(projections[-1](X))
""": "added to the result",
        """\
def all_four_at_work(projections, X):
    W_Q, W_K, W_V, W_O = projections
    A = (W_K(X) @ W_Q(X).mT / math.sqrt(X.shape[-1])).softmax(dim=-1)
    return W_O(A @ W_V(X))
""": "exchanged",
        """\
def all_four_at_work(projections, X):
    *three, W_O = projections
    Q, K, V = (W(X) for W in three)
    return F.linear(F.scaled_dot_product_attention(Q, K, V), W_O.weight)
""": "without its bias",
        """\
def all_four_at_work(projections, X):
    *three, W_O = projections
    Q, K, V = (W(X) for W in three)
    return F.scaled_dot_product_attention(Q, K, V) @ W_O.weight + W_O.bias
""": "on its side",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X), strict=True))
    return F.scaled_dot_product_attention(Q, K, V)
""": "ValueError: zip()",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X, X)))
    return F.scaled_dot_product_attention(Q, K, V)
""": "ValueError: too many values",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    Y = F.scaled_dot_product_attention(Q, K, V)
    W_O = projections[3]
    return Y @ W_O.weight.data.T + W_O.bias.data
""": "the way out is cut off",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    Y = F.scaled_dot_product_attention(Q, K, V)
    W_O = projections[3]
    return F.linear(Y, W_O.weight.detach(), W_O.bias)
""": "the way out is cut off",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    Y = F.scaled_dot_product_attention(Q, K, V)
    with torch.no_grad():
        return projections[3](Y)
""": "the way out is cut off",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return projections[3](Y.detach())
""": "the other three no longer do",
    },
    right=(
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return projections[3](F.scaled_dot_product_attention(Q, K, V))
""",
        """\
def all_four_at_work(projections, X):
    W_Q, W_K, W_V, W_O = projections
    A = (W_Q(X) @ W_K(X).mT / math.sqrt(X.shape[-1])).softmax(dim=-1)
    return A @ W_O(W_V(X))  # the rows of A sum to 1, so the bias passes through
""",
    ),
)
