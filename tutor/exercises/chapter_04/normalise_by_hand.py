"""LayerNorm, from its formula."""

import torch
import torch.nn.functional as F

from tutor.check.exercise import WRITE, Exercise
from tutor.museum import EXHIBITS

_UNBIASED = EXHIBITS["normalise_words"]


_OUTSIDE = EXHIBITS["normalise_quiet_words"]


def _normalised(X, eps, dims=-1):
    mean = X.mean(dims, keepdim=True)
    return (X - mean) / (X.var(dims, keepdim=True, correction=0) + eps).sqrt()


def _cases_of_norms():
    eps = 1e-5
    yield torch.tensor([1.0, 7.0, 7.0, 9.0]), torch.ones(4), torch.zeros(4), eps
    yield torch.tensor([0.001, 0.007, 0.007, 0.009]), torch.ones(4), torch.zeros(4), eps
    for shape in [(3,), (1, 1, 5), (2, 3, 4), (3, 1, 6)]:
        yield torch.randn(shape), torch.randn(shape[-1]), torch.randn(shape[-1]), eps
    yield torch.full((2, 1, 3), 2.0), torch.randn(3), torch.randn(3), eps
    yield torch.zeros(1, 2, 5), torch.randn(5), torch.randn(5), eps
    yield 0.01 * torch.randn(2, 5, 7), torch.randn(7), torch.randn(7), 1e-3


normalise_by_hand = Exercise(
    name="normalise_by_hand",
    chapter="04",
    section="LayerNorm by hand",
    kind=WRITE,
    title="LayerNorm by hand",
    goal="Turn the formula of LayerNorm into code, for any number of vectors at once.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
Write LayerNorm from its formula: mean and variance over the last dimension, $\\epsilon$ under the
root, then the learned scale and shift. Leave PyTorch's own layer_norm out of it.""",
    hints=(
        "Three lines: the mean, the variance, the formula. What is the variance of "
        "$[1, 7, 7, 9]$ by hand?",
        "`X.mean(dim=-1, keepdim=True)` has shape (..., 1), so it broadcasts over the vector.",
        "The variance is the mean of `(X - mean) ** 2`. Then add `eps`, then take the root.",
    ),
    stub='''\
def normalise_by_hand(X, weight, bias, eps=1e-5):
    """LayerNorm over the last dimension. X: (..., d_model), weight and bias: (d_model)."""
    ...  # mean, variance, formula
''',
    solution="""\
def normalise_by_hand(X, weight, bias, eps=1e-5):
    mean = X.mean(dim=-1, keepdim=True)  # (..., 1)
    variance = ((X - mean) ** 2).mean(dim=-1, keepdim=True)  # (..., 1)
    return weight * (X - mean) / (variance + eps).sqrt() + bias
""",
    because="LayerNorm divides by d, and its epsilon stands under the root.",
    reference=lambda X, weight, bias, eps: F.layer_norm(X, X.shape[-1:], weight, bias, eps),
    cases=_cases_of_norms,
    forbidden=(F.layer_norm, torch.layer_norm, torch.native_layer_norm),
    mistakes=(
        (
            "`X.std` divides by d - 1, and epsilon is added to the deviation: LayerNorm divides by "
            "d, and its epsilon stands under the root.",
            lambda X, weight, bias, eps: (
                weight * (X - X.mean(-1, keepdim=True)) / (X.std(-1, keepdim=True) + eps) + bias
            ),
        ),
        (
            "The variance is divided by d - 1; LayerNorm divides by d.",
            lambda X, weight, bias, eps: weight * _UNBIASED.wrong(X, eps) + bias,
        ),
        (
            "Epsilon is added to the deviation; it belongs under the root.",
            lambda X, weight, bias, eps: weight * _OUTSIDE.wrong(X, eps) + bias,
        ),
        (
            "Epsilon is missing: a vector of equal numbers becomes 0 / 0.",
            lambda X, weight, bias, eps: weight * _normalised(X, 0.0) + bias,
        ),
        (
            "You divide by the variance; its root is missing.",
            lambda X, weight, bias, eps: (
                weight
                * (X - X.mean(-1, keepdim=True))
                / (X.var(-1, keepdim=True, correction=0) + eps)
                + bias
            ),
        ),
        (
            "Mean and variance are taken over the whole batch; each vector has its own.",
            lambda X, weight, bias, eps: weight * _normalised(X, eps, tuple(range(X.dim()))) + bias,
        ),
        (
            "Mean and variance are taken over dimension 0; each vector has its own, over the "
            "last dimension.",
            lambda X, weight, bias, eps: weight * _normalised(X, eps, 0) + bias,
        ),
        (
            "The learned scale and shift are missing.",
            lambda X, weight, bias, eps: _normalised(X, eps),
        ),
        (
            "The learned shift is missing.",
            lambda X, weight, bias, eps: weight * _normalised(X, eps),
        ),
        (
            "The learned scale is missing.",
            lambda X, weight, bias, eps: _normalised(X, eps) + bias,
        ),
        (
            "The shift is scaled too: `weight` multiplies before `bias` is added.",
            lambda X, weight, bias, eps: weight * (_normalised(X, eps) + bias),
        ),
        (
            "The mean is not taken away.",
            lambda X, weight, bias, eps: (
                weight * (_normalised(X, eps) + X.mean(-1, keepdim=True) / _root(X, eps)) + bias
            ),
        ),
        (
            "Epsilon is added twice; it belongs under the root alone.",
            lambda X, weight, bias, eps: (
                weight * (X - X.mean(-1, keepdim=True)) / (_root(X, eps) + eps) + bias
            ),
        ),
        (
            "The sum of squares is divided by d + 1; LayerNorm divides by d, which is "
            "`correction=0`.",
            lambda X, weight, bias, eps: (
                weight
                * (X - X.mean(-1, keepdim=True))
                / (X.var(-1, keepdim=True, correction=-1) + eps).sqrt()
                + bias
            ),
        ),
    ),
    wrong={
        """\
def normalise_by_hand(X, weight, bias, eps):
    deviation = X.std(-1, keepdim=True, unbiased=True)
    Z = (X - X.mean(-1, keepdim=True)) / (deviation + eps)
    return Z * weight + bias
""": "`X.std` divides",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(-1, keepdim=True)
    deviation = torch.sqrt(X.std(-1, keepdim=True) ** 2 + eps)
    return weight * (X - mean) / deviation + bias
""": "divided by d - 1; LayerNorm",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(-1, keepdim=True)
    deviation = X.std(-1, keepdim=True, unbiased=False)
    return weight * (X - mean) / (deviation + eps) + bias
""": "epsilon is added to the deviation",
        """\
def normalise_by_hand(X, weight, bias, eps):
    deviation, mean = torch.std_mean(X, dim=-1, keepdim=True, correction=0)
    return weight * (X - mean) / deviation + bias
""": "epsilon is missing",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(dim=-1, keepdim=True)
    variance = (X - mean).square().mean(dim=-1, keepdim=True)
    return weight * (X - mean) / (variance + eps) + bias
""": "root is missing",
        """\
def normalise_by_hand(X, weight, bias, eps):
    variance = ((X - X.mean()) ** 2).mean()
    return weight * (X - X.mean()) / torch.sqrt(variance + eps) + bias
""": "whole batch",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(dim=-1, keepdim=True)
    variance = (X ** 2).mean(dim=-1, keepdim=True) - mean ** 2
    return (X - mean) / torch.sqrt(variance + eps)
""": "scale and shift are missing",
        """\
def normalise_by_hand(X, weight, bias, eps):
    variance = X.var(-1, keepdim=True, unbiased=False)
    return weight * X / torch.sqrt(variance + eps) + bias
""": "not taken away",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(-1, keepdim=True)
    deviation = (((X - mean) ** 2).mean(-1, keepdim=True) + eps) ** 0.5
    return weight * (X - mean) / (deviation + eps) + bias
""": "added twice",
        """\
def normalise_by_hand(X, weight, bias, eps):
    return F.layer_norm(X, (X.shape[-1],), weight, bias, eps)
""": "calls `layer_norm`",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(dim=-1)
    variance = ((X - mean) ** 2).mean(dim=-1)
    return weight * (X - mean) / torch.sqrt(variance + eps) + bias
""": "raises RuntimeError",
        """\
def normalise_by_hand(X, weight, bias, eps):
    return torch.native_layer_norm(X, X.shape[-1:], weight, bias, eps)[0]
""": "calls `native_layer_norm`",
        """\
def normalise_by_hand(X, weight, bias, eps):
    X = X - X.mean(dim=-1, keepdim=True)
    variance = (X ** 2).mean(dim=-1, keepdim=True)
    X /= (variance + eps).sqrt()
    return weight * X + bias
""": "in the line `X /= (variance + eps).sqrt()`",
        """\
def normalise_by_hand(X, weight, bias, eps):
    variance, mean = torch.var_mean(X, dim=-1, keepdim=True, correction=0)
    Z = (X - mean) / (variance + eps).sqrt()
    return weight * Z
""": "learned shift is missing",
        """\
def normalise_by_hand(X, weight, bias, eps):
    variance, mean = torch.var_mean(X, dim=-1, keepdim=True, correction=0)
    Z = (X - mean) / (variance + eps).sqrt()
    return Z + bias
""": "learned scale is missing",
        """\
def normalise_by_hand(X, weight, bias, eps):
    variance, mean = torch.var_mean(X, dim=-1, keepdim=True, correction=0)
    Z = (X - mean) / (variance + eps).sqrt()
    return weight * (Z + bias)
""": "shift is scaled too",
    },
    right=(
        """\
def normalise_by_hand(X, weight, bias, eps):
    variance, mean = torch.var_mean(X, dim=-1, keepdim=True, correction=0)
    return (X - mean) * torch.rsqrt(variance + eps) * weight + bias
""",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(dim=-1, keepdim=True)
    deviation = (X.std(dim=-1, keepdim=True, unbiased=False) ** 2 + eps) ** 0.5
    return weight * (X - mean) / deviation + bias
""",
        """\
def normalise_by_hand(X, weight, bias, eps):
    rows = []
    for x in X.reshape(-1, X.shape[-1]):
        centred = x - x.sum() / len(x)
        rows.append(weight * centred / math.sqrt(centred.dot(centred) / len(x) + eps) + bias)
    return torch.stack(rows).reshape(X.shape)
""",
    ),
)


def _root(X, eps):
    return (X.var(-1, keepdim=True, correction=0) + eps).sqrt()
