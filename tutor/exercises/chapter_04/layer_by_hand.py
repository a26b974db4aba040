"""One name for two things."""

import torch
from torch import nn

from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_04.shared import random_norm


def _layer(X, attention, feed_forward, norm_1, norm_2):
    X = norm_1(X + attention(X))
    return norm_2(X + feed_forward(X))


def _cases_of_layers():
    for shape in [(1, 1, 3), (1, 3, 4), (2, 5, 6), (3, 2, 5)]:
        d = shape[-1]
        yield torch.randn(shape), nn.Linear(d, d), nn.Linear(d, d), random_norm(d), random_norm(d)
    yield torch.zeros(2, 1, 4), nn.Linear(4, 4), nn.Linear(4, 4), random_norm(4), random_norm(4)


layer_by_hand = Exercise(
    name="layer_by_hand",
    chapter="04",
    section="The layer and the stack",
    kind=MEND,
    title="One name for two things",
    goal="Follow the residual connections and the norms through a whole layer.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
A tutorial rebuilds PyTorch's encoder layer (post-norm, no dropout) step by step,
and compares nothing but shapes. It is wrong in **two** places. **Find both and mend them.** Here
`attention` and `feed_forward` are modules that you call with one argument.""",
    hints=(
        "Write both sub-layers as formulas, $\\text{LN}_1(X + f(X))$ and $\\text{LN}_2(X + g(X))$. "
        "Which X is meant in the second one?",
        "Follow the name `outputs`: what does it hold when the last line uses it? Then count how "
        "often each norm is called.",
        "The second residual adds what feed-forward was given: the result of the first sub-layer.",
    ),
    stub='''\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    """An encoder layer, post-norm. It has two mistakes: find them and mend them.

    X: float tensor (N, S, d_model)
    attention, feed_forward: modules, from (N, S, d_model) to (N, S, d_model)
    norm_1, norm_2: the LayerNorms of the first and the second sub-layer
    Returns: float tensor (N, S, d_model)
    """
    outputs = attention(X)  # (N, S, d_model)
    X = norm_1(X + outputs)  # (N, S, d_model)
    X = feed_forward(X)  # (N, S, d_model)
    return norm_1(X + outputs)
''',
    solution='''\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    """An encoder layer, post-norm.

    X: float tensor (N, S, d_model)
    attention, feed_forward: modules, from (N, S, d_model) to (N, S, d_model)
    norm_1, norm_2: the LayerNorms of the first and the second sub-layer
    Returns: float tensor (N, S, d_model)
    """
    outputs = attention(X)  # (N, S, d_model)
    X = norm_1(X + outputs)  # (N, S, d_model)
    outputs = feed_forward(X)  # (N, S, d_model)
    return norm_2(X + outputs)
''',
    because="Each sub-layer adds what it was given, and each has a LayerNorm of its own.",
    reference=_layer,
    cases=_cases_of_layers,
    gradient=True,
    mistakes=(
        (
            "As it was: the result has the shape of a layer's, and not its numbers.",
            lambda X, f, g, norm_1, norm_2: norm_1(g(norm_1(X + f(X))) + f(X)),
        ),
        (
            "The second sub-layer has its own norm now, but its residual still adds the "
            "attention's output; add what feed-forward was given.",
            lambda X, f, g, norm_1, norm_2: norm_2(g(norm_1(X + f(X))) + f(X)),
        ),
        (
            "The residual is right now, but the first norm is still used twice and the second one "
            "never.",
            lambda X, f, g, norm_1, norm_2: _layer(X, f, g, norm_1, norm_1),
        ),
        (
            "The second residual adds the input of the whole layer; it must add what feed-forward "
            "was given.",
            lambda X, f, g, norm_1, norm_2: norm_2(X + g(norm_1(X + f(X)))),
        ),
        (
            "The second residual is right now, but the attention's output is added once more; it "
            "is in that sum already.",
            lambda X, f, g, norm_1, norm_2: norm_2(norm_1(X + f(X)) + g(norm_1(X + f(X))) + f(X)),
        ),
        (
            "Now the norms are exchanged: the attention's sub-layer has the first one.",
            lambda X, f, g, norm_1, norm_2: _layer(X, f, g, norm_2, norm_1),
        ),
        (
            "Now the second norm is used twice and the first one never.",
            lambda X, f, g, norm_1, norm_2: _layer(X, f, g, norm_2, norm_2),
        ),
        (
            "The second residual is gone: add what feed-forward was given.",
            lambda X, f, g, norm_1, norm_2: norm_2(g(norm_1(X + f(X)))),
        ),
        (
            "Feed-forward is given X before the first norm, and the first norm is never used.",
            lambda X, f, g, norm_1, norm_2: norm_2(X + f(X) + g(X + f(X))),
        ),
        (
            "Feed-forward works on the attention's output alone; give it the result of the first "
            "sub-layer.",
            lambda X, f, g, norm_1, norm_2: norm_2(norm_1(X + f(X)) + g(f(X))),
        ),
        (
            "That is pre-norm. It is a good layer, but the one to be rebuilt is post-norm.",
            lambda X, f, g, norm_1, norm_2: X + f(norm_1(X)) + g(norm_2(X + f(norm_1(X)))),
        ),
    ),
    wrong={
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    attended = attention(X)
    inner = feed_forward(norm_1(X + attended))
    return norm_2(inner + attended)
""": "still adds the attention's output",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    for work in (attention, feed_forward):
        X = norm_1(X + work(X))
    return X
""": "still used twice",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    Y = norm_1(X + attention(X))
    Y = feed_forward(Y)
    return norm_2(X + Y)
""": "input of the whole layer",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    for work, norm in ((attention, norm_2), (feed_forward, norm_1)):
        X = norm(X + work(X))
    return X
""": "norms are exchanged",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    outputs = attention(X)
    X = norm_1(X + outputs)
    outputs = outputs + feed_forward(X)
    return norm_2(X + outputs)
""": "once more",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    X = norm_1(X + attention(X))
    X = feed_forward(X)
    return norm_2(X)
""": "second residual is gone",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    X = X + attention(X)
    X = X + feed_forward(X)
    return norm_2(X)
""": "before the first norm",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    attended = attention(X)
    X = norm_1(X + attended)
    return norm_2(X + feed_forward(attended))
""": "attention's output alone",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    X = X + attention(norm_1(X))
    X = X + feed_forward(norm_2(X))
    return X
""": "pre-norm",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    outputs = attention(X)
    X += outputs
    X = norm_1(X)
    return norm_2(X + feed_forward(X))
""": "changes its argument `X`",
    },
    right=(
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    for work, norm in ((attention, norm_1), (feed_forward, norm_2)):
        X = norm(X + work(X))
    return X
""",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    heard = norm_1(attention(X) + X)
    return norm_2(feed_forward(heard) + heard)
""",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    residual = X
    X = norm_1(attention(X) + residual)
    residual = X
    return F.layer_norm(feed_forward(X) + residual, norm_2.normalized_shape, norm_2.weight,
                        norm_2.bias, norm_2.eps)
""",
    ),
)
