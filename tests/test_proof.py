"""What the chapters call equal: `tutor.proof` sees a difference in any result or gradient."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tutor.proof import agree, equal


def softmax_by_hand(X):
    return X.exp() / X.exp().sum(-1, keepdim=True)


def test_equal_allows_rounding_and_no_more():
    X = torch.randn(5, 7, dtype=torch.float64)
    assert equal(X, X + 1e-14) and not equal(X, X + 1e-9)
    assert equal(X.float(), X) and not equal(X.float() + 1e-2, X)
    assert equal(1e6 * X, 1e6 * X + 1e-9)
    assert not equal(X, X[:4]) and equal(X[:0], X[:0])
    assert not equal(X * torch.nan, X) and not equal(X * torch.nan, X * torch.nan)
    assert equal(torch.tensor([torch.inf, 1]), torch.tensor([torch.inf, 1]))
    assert not equal(torch.tensor([torch.inf, 1]), torch.tensor([2.0, 1]))
    assert equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    assert not equal(torch.tensor([1, 2]), torch.tensor([1, 3]))
    assert not equal(torch.tensor([True]), torch.tensor([False]))


def test_agree_compares_results_and_gradients(capsys):
    X, ids = torch.randn(3, 4), torch.tensor([0, 2])
    state = torch.get_rng_state()
    agree(softmax_by_hand, lambda X: X.softmax(-1), X)
    agree(lambda X, ids: (X[ids], X.sum()), lambda X, ids: (F.embedding(ids, X), X.sum()), X, ids)
    agree(lambda ids: ids + ids, lambda ids: 2 * ids, ids)
    assert torch.equal(torch.get_rng_state(), state) and not X.requires_grad
    assert capsys.readouterr().out.splitlines() == [
        "Equal: a result of shape (3, 4), and the gradients of 1 input.",
        "Equal: results of shape (2, 4) and (), and the gradients of 1 input.",
        "Equal: a result of shape (2,).",
    ]


@pytest.mark.parametrize(
    ("ours", "words"),
    [
        (lambda X, Y: 2 * X + Y + 1e-8, "The result differs by up to 1e-08."),
        (lambda X, Y: (2 * X + Y)[0], "The result has shape (4,), not (3, 4)."),
        (lambda X, Y: 2 * X + Y.detach(), "The gradient of input 1 differs by up to"),
        (lambda X, Y: 2 * X.detach() + Y, "The gradient of input 0 differs by up to"),
        (lambda X, Y: (2 * X + Y).detach(), "The gradient of input 0 differs by up to"),
        (lambda X, Y: (2 * X + Y, X), "There are 2 results and 1."),
        (lambda X, Y: X * torch.nan, "The result differs by up to nan."),
    ],
)
def test_agree_names_the_place_that_differs(ours, words):
    with pytest.raises(AssertionError) as caught:
        agree(ours, lambda X, Y: 2 * X + Y, torch.randn(3, 4), torch.randn(3, 4))
    assert words in str(caught.value)


def test_agree_compares_the_parameters_of_a_module(capsys):
    layer = nn.Linear(4, 2)
    X = torch.randn(3, 4)
    agree(lambda layer, X: X @ layer.weight.T + layer.bias, lambda layer, X: layer(X), X,
          module=layer)  # fmt: skip
    said = "Equal: a result of shape (3, 2), and the gradients of 1 input and 2 parameters.\n"
    assert capsys.readouterr().out == said
    assert layer.weight.dtype == torch.float32 and layer.weight.grad is None
    with pytest.raises(AssertionError, match="The gradient of bias differs"):
        agree(lambda layer, X: X @ layer.weight.T + layer.bias.detach(),
              lambda layer, X: layer(X), X, module=layer)  # fmt: skip
