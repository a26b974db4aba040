"""Two orders of three things."""

import torch
from torch import nn

from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_04.shared import random_norm


def _sub_layer(X, norm, work, norm_first):
    return X + work(norm(X)) if norm_first else norm(X + work(X))


def _cases_of_sub_layers():
    for shape, norm_first in [
        ((1, 1, 3), False),
        ((1, 1, 3), True),
        ((2, 4, 5), False),
        ((2, 4, 5), True),
        ((1, 7, 6), False),
        ((3, 1, 4), True),
    ]:
        yield (
            torch.randn(shape),
            random_norm(shape[-1]),
            nn.Linear(shape[-1], shape[-1]),
            norm_first,
        )
    for norm_first in (False, True):
        zeros = nn.Linear(4, 4)
        for p in zeros.parameters():
            nn.init.zeros_(p)
        yield torch.randn(2, 3, 4), random_norm(4), zeros, norm_first


sub_layer = Exercise(
    name="sub_layer",
    chapter="04",
    section="Two orders",
    kind=WRITE,
    title="Two orders of three things",
    goal="Write both orders of work, residual connection and LayerNorm.",
    difficulty=2,
    importance=5,
    minutes=5,
    text="""\
Write a sub-layer without dropout, in both orders:

- post-norm, the paper's: work, add to X, normalise the sum;
- pre-norm, if `norm_first` is true: normalise, work, add to the X from before the norm.

`norm` and `work` are modules; you call them like functions. Each of them keeps the shape.""",
    hints=(
        "Two `return` lines, one for each order. What is done first stands innermost.",
        "In pre-norm the residual path goes past the LayerNorm. What is added must be the "
        "X that came in.",
        "Post-norm is `norm(X + work(X))`. In pre-norm `norm` is the innermost call.",
    ),
    stub='''\
def sub_layer(X, norm, work, norm_first):
    """Post-norm, or pre-norm if norm_first. X and the result: (N, T, d_model)."""
    ...  # two orders, two lines that return
''',
    solution="""\
def sub_layer(X, norm, work, norm_first):
    if norm_first:
        return X + work(norm(X))  # (N, T, d_model)
    return norm(X + work(X))  # (N, T, d_model)
""",
    reference=_sub_layer,
    cases=_cases_of_sub_layers,
    gradient=True,
    mistakes=(
        (
            "The two orders are exchanged: `norm_first=True` means pre-norm.",
            lambda X, norm, work, norm_first: _sub_layer(X, norm, work, not norm_first),
        ),
        (
            "Your sub-layer is post-norm whatever `norm_first` says.",
            lambda X, norm, work, norm_first: _sub_layer(X, norm, work, False),
        ),
        (
            "Your sub-layer is pre-norm whatever `norm_first` says; the paper's order is the "
            "other one.",
            lambda X, norm, work, norm_first: _sub_layer(X, norm, work, True),
        ),
        (
            "In pre-norm you add the normalised X; the residual must be the X that came in, or its "
            "road leads through every norm.",
            lambda X, norm, work, norm_first: (
                norm(X) + work(norm(X)) if norm_first else norm(X + work(X))
            ),
        ),
        (
            "In pre-norm the two roads are exchanged: the work is given the normalised X, and X "
            "itself is added.",
            lambda X, norm, work, norm_first: (
                norm(X) + work(X) if norm_first else norm(X + work(X))
            ),
        ),
        (
            "You take the residual after the norm in both orders; it must be the X that came in.",
            lambda X, norm, work, norm_first: norm(X) + work(norm(X)),
        ),
        (
            "The result is right, but no gradient passes the work: `no_grad` or `detach` cuts it "
            "off, and neither the work nor what stands before it learns from there.",
            lambda X, norm, work, norm_first: (
                X + work(norm(X)).detach() if norm_first else norm(X + work(X).detach())
            ),
        ),
        (
            "The residual is missing: add X to what the work returns.",
            lambda X, norm, work, norm_first: work(norm(X)) if norm_first else norm(work(X)),
        ),
        (
            "The residual is missing in pre-norm: add X to what the work returns.",
            lambda X, norm, work, norm_first: work(norm(X)) if norm_first else norm(X + work(X)),
        ),
        (
            "The residual is missing in post-norm: add X to what the work returns.",
            lambda X, norm, work, norm_first: X + work(norm(X)) if norm_first else norm(work(X)),
        ),
        (
            "In post-norm you normalise the work alone; the sum X + f(X) goes through the norm.",
            lambda X, norm, work, norm_first: (
                X + work(norm(X)) if norm_first else X + norm(work(X))
            ),
        ),
        (
            "In pre-norm you normalise what the work returns; the norm comes before the work, "
            "X + f(LN(X)).",
            lambda X, norm, work, norm_first: (
                X + norm(work(X)) if norm_first else norm(X + work(X))
            ),
        ),
        (
            "In pre-norm you normalise a second time, after the sum; that closes the free road.",
            lambda X, norm, work, norm_first: norm(
                X + work(norm(X)) if norm_first else X + work(X)
            ),
        ),
        (
            "In post-norm you add X once more after the norm.",
            lambda X, norm, work, norm_first: (
                X + work(norm(X)) if norm_first else X + norm(X + work(X))
            ),
        ),
        (
            "The norm is missing in post-norm.",
            lambda X, norm, work, norm_first: X + work(norm(X) if norm_first else X),
        ),
        (
            "The norm is missing in pre-norm.",
            lambda X, norm, work, norm_first: X + work(X) if norm_first else norm(X + work(X)),
        ),
    ),
    wrong={
        """\
def sub_layer(X, norm, work, norm_first):
    if not norm_first:
        return X + work(norm(X))
    else:
        return norm(X + work(X))
""": "orders are exchanged",
        """\
def sub_layer(X, norm, work, norm_first=False):
    residual = X
    out = work(X)
    return norm(out + residual)
""": "post-norm whatever",
        """\
def sub_layer(X, norm, work, norm_first):
    normed = norm(X)
    return X + work(normed)
""": "pre-norm whatever",
        """\
def sub_layer(X, norm, work, norm_first):
    if norm_first:
        X = norm(X)
        return X + work(X)
    return norm(X + work(X))
""": "you add the normalised X",
        """\
def sub_layer(X, norm, work, norm_first):
    if norm_first:
        return norm(X) + work(X)
    return norm(X + work(X))
""": "two roads are exchanged",
        """\
def sub_layer(X, norm, work, norm_first):
    X = norm(X)
    X = X + work(X)
    return X
""": "after the norm in both orders",
        """\
def sub_layer(X, norm, work, norm_first):
    steps = [norm, work] if norm_first else [work, norm]
    for step in steps:
        X = step(X)
    return X
""": "residual is missing: add",
        """\
def sub_layer(X, norm, work, norm_first):
    if norm_first:
        Y = work(norm(X))
    else:
        Y = norm(work(X))
    return X + Y
""": "normalise the work alone",
        """\
def sub_layer(X, norm, work, norm_first):
    if norm_first:
        return X + norm(work(X))
    return norm(X + work(X))
""": "before the work",
        """\
def sub_layer(X, norm, work, norm_first):
    Y = norm(X) if norm_first else X
    Y = X + work(Y)
    return norm(Y)
""": "a second time",
        """\
def sub_layer(X, norm, work, norm_first):
    Y = X + work(norm(X) if norm_first else X)
    return Y
""": "norm is missing in post-norm",
        """\
def sub_layer(X, norm, work, norm_first):
    X += work(norm(X)) if norm_first else work(X)
    return X if norm_first else norm(X)
""": "changes its argument `X`",
        """\
def sub_layer(X, norm, work, norm_first):
    with torch.no_grad():
        Y = work(norm(X)) if norm_first else work(X)
    return X + Y if norm_first else norm(X + Y)
""": "no gradient passes the work",
    },
    right=(
        """\
def sub_layer(X, norm, work, norm_first):
    Y = work(norm(X) if norm_first else X) + X
    return Y if norm_first else norm(Y)
""",
        """\
def sub_layer(X, norm, work, norm_first):
    before, after = (norm, nn.Identity()) if norm_first else (nn.Identity(), norm)
    return after(torch.add(X, work(before(X))))
""",
        """\
def sub_layer(X, norm, work, norm_first):
    def normalise(Z):
        mean = Z.mean(-1, keepdim=True)
        variance = Z.var(-1, keepdim=True, correction=0)
        return norm.weight * (Z - mean) / (variance + norm.eps).sqrt() + norm.bias
    if norm_first:
        return X + work(normalise(X))
    return normalise(X + work(X))
""",
    ),
)
