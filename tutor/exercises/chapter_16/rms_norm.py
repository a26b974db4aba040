"""A norm without a mean."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _norm(X, weight, eps, centred=False, inside=True, root=True, scaled=True, mean=True):
    X = X - X.mean(dim=-1, keepdim=True) if centred else X
    squares = X.square()
    size = squares.mean(dim=-1, keepdim=True) if mean else squares.sum(dim=-1, keepdim=True)
    size = size + eps if inside else size
    size = size.sqrt() if root else size
    size = size if inside else size + eps
    return X / size * (weight if scaled else 1)


def _with(**slips):
    return lambda X, weight, eps: _norm(X, weight, eps, **slips)


rms_norm = Exercise(
    name="rms_norm",
    chapter="16",
    section="A norm without a mean",
    kind=WRITE,
    title="A norm without a mean",
    goal="Normalise vectors by their root mean square.",
    difficulty=2,
    importance=4,
    minutes=4,
    text="""\
Divide each vector by the root of the mean of its squares, with `eps` added under the root, and
multiply by `weight`.""",
    hints=(
        "`X.square()` squares each number. The mean goes over the last dimension, one number a "
        "vector.",
        "`keepdim=True` leaves a 1 where the columns were, so that X can be divided by it.",
        "`X / (X.square().mean(dim=-1, keepdim=True) + eps).sqrt() * weight`.",
    ),
    stub='''\
def rms_norm(X, weight, eps):
    """X: (..., d_model), weight: (d_model,). Returns (..., d_model)."""
    ...  # one or two lines
''',
    solution="""\
def rms_norm(X, weight, eps):
    mean_square = X.square().mean(dim=-1, keepdim=True)  # (..., 1)
    return X / (mean_square + eps).sqrt() * weight
""",
    because="One number a vector is enough: no mean, no shift.",
    reference=_norm,
    cases=lambda: [
        (torch.randn(*shape) + 1, torch.rand(shape[-1]) + 0.5, eps)
        for shape, eps in [((2,), 0.1), ((3,), 0.01), ((2, 3), 0.1), ((2, 2, 4), 1e-5)]
    ],
    gradient=True,
    forbidden=(torch.nn.functional.rms_norm, torch.nn.RMSNorm.forward),
    mistakes=(
        ("You subtract the mean. That is LayerNorm; here it stays.", _with(centred=True)),
        ("`eps` stands outside the root. It belongs under it.", _with(inside=False)),
        ("The root is missing: you divide by the mean square itself.", _with(root=False)),
        ("`weight` is missing.", _with(scaled=False)),
        ("You divide by the length of the vector. The *mean* of the squares is wanted.",
         _with(mean=False)),
        (
            "You divide by the spread, `std`, which subtracts the mean. Take the root of the mean "
            "of the squares.",
            lambda X, weight, eps: X / (X.std(-1, keepdim=True) + eps) * weight,
        ),
        (
            "You divide by the spread, `std`, which subtracts the mean, and `eps` is missing. Take "
            "the root of the mean of the squares plus `eps`.",
            lambda X, weight, eps: X / X.std(-1, keepdim=True) * weight,
        ),
        (
            "The mean goes over everything. Each vector has its own.",
            lambda X, weight, eps: X / (X.square().mean() + eps).sqrt() * weight,
        ),
    ),
    wrong={
        """\
def rms_norm(X, weight, eps):
    X = X - X.mean(dim=-1, keepdim=True)
    return X / (X.square().mean(dim=-1, keepdim=True) + eps).sqrt() * weight
""": "subtract the mean",
        """\
def rms_norm(X, weight, eps):
    return X / (X.square().mean(dim=-1, keepdim=True).sqrt() + eps) * weight
""": "outside the root",
        """\
def rms_norm(X, weight, eps):
    return X / (X.square().mean(dim=-1, keepdim=True) + eps) * weight
""": "root is missing",
        """\
def rms_norm(X, weight, eps):
    return X / (X.square().mean() + eps).sqrt() * weight
""": "Each vector has its own",
        """\
def rms_norm(X, weight, eps):
    return X / (X.square().sum(-1, keepdim=True) + eps).sqrt() * weight
""": "length of the vector",
        """\
def rms_norm(X, weight, eps):
    return X / (X.std(dim=-1, keepdim=True) + eps) * weight
""": "the spread",
        """\
def rms_norm(X, weight, eps):
    return X / X.std(dim=-1, keepdim=True) * weight
""": "`eps` is missing",
    },
    right=(
        """\
def rms_norm(X, weight, eps):
    return weight * X * torch.rsqrt(X.pow(2).mean(-1, keepdim=True) + eps)
""",
        """\
def rms_norm(X, weight, eps):
    size = (X * X).sum(dim=-1, keepdim=True) / X.shape[-1] + eps
    return X / torch.sqrt(size) * weight
""",
    ),
)  # fmt: skip
