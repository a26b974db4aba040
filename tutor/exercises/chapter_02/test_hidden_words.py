"""A test of attention with a mask."""

import math

import torch
import torch.nn.functional as F

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import TEST, Exercise
from tutor.exercises.chapter_02.shared import scores


def _one_by_one(Q, K, V, mask):
    """Each query with the keys that it may see, and no others."""
    rows = []
    for q, hidden in zip(Q, mask.expand(len(Q), len(K)), strict=True):
        k, v = K[~hidden], V[~hidden]  # (seen, d_k), (seen, d_v)
        rows.append((k @ q / math.sqrt(len(q))).softmax(0) @ v)  # (d_v,)
    return torch.stack(rows)


def _hidden_at(low):
    """Hidden scores are set to a number; hidden weights to 0 afterwards."""
    return lambda Q, K, V, mask: (
        scores(Q, K).masked_fill(mask, low).softmax(-1).masked_fill(mask, 0.0) @ V
    )


test_hidden_words = Exercise(
    name="test_hidden_words",
    chapter="02",
    section="Words that may not be seen",
    kind=TEST,
    title="Test that hidden words are hidden",
    goal="Choose inputs on which a wrong mask cannot look right.",
    difficulty=4,
    importance=5,
    minutes=15,
    text="""\
Write a test of attention with a mask. This is promised for one sentence, with scores of any size:

- the result of a query is its attention to the visible keys, as if the hidden ones were not there;
- a query that may see nothing has the result 0, and all gradients stay finite.

The test is tried on three right functions and on eight mutants. Two of them need a query that may
see nothing in order to show, one its gradient, and one needs large scores.""",
    hints=(
        "For one query: `seen = ~mask[t]`, and then attention to `K[seen]` and `V[seen]` without "
        "any mask. Let the queries have different masks, and let one see nothing.",
        "For the gradient: `Q.requires_grad_()`, `attend(Q, K, V, mask).sum().backward()`, and "
        "`Q.grad.isfinite().all()`.",
        "Large scores: `Q = [[30.]]`, `K = [[-30.], [0.]]`, the second key hidden. The first has "
        "the score -900 and must still get all the weight.",
    ),
    stub='''\
def test_hidden_words(attend):
    """Raises AssertionError if attend is wrong.

    attend: from Q, K, V and mask to the result
        Q: float tensor (T, d_k)
        K: float tensor (S, d_k), V: float tensor (S, d_v)
        mask: bool tensor (T, S), True = may not be attended to
        result: float tensor (T, d_v)
    """
    raise NotImplementedError
''',
    solution='''\
def test_hidden_words(attend):
    """Raises AssertionError if attend is wrong."""
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    mask = torch.tensor([[False, True, False, False, True], [True, True, False, False, False],
                         [True, True, True, True, True]])  # (T, S)
    Q.requires_grad_()
    Y = attend(Q, K, V, mask)
    for t in (0, 1):
        seen = ~mask[t]
        a = (K[seen] @ Q[t] / 2).softmax(0)  # (seen keys,); 2 is the root of 4
        assert torch.allclose(Y[t], a @ V[seen], atol=1e-5)  # (d_v,)
    assert (Y[2] == 0).all()
    Y.sum().backward()
    assert Q.grad.isfinite().all()
    low = attend(torch.tensor([[30.0]]), torch.tensor([[-30.0], [0.0]]),
                 torch.tensor([[1.0], [9.0]]), torch.tensor([[False, True]]))
    assert torch.allclose(low, torch.tensor([[1.0]]))
''',
    because="A mask is not tested by an ordinary sentence: its promises concern the odd ones.",
    twins={
        "hands the mask to PyTorch's function, turned over": lambda Q, K, V, mask: (
            F.scaled_dot_product_attention(Q, K, V, attn_mask=~mask)
        ),
        "puts the lowest number in place of hidden scores and clears the weights": (
            lambda Q, K, V, mask: compute_attention_matrix(Q, K, mask) @ V
        ),
        "gives each query the keys that it may see, and no others": _one_by_one,
    },
    mutants={
        "hides what may be seen, and shows what may not": lambda Q, K, V, mask: (
            compute_attention_matrix(Q, K, ~mask) @ V
        ),
        "hides after the softmax, so that hidden words take weight": lambda Q, K, V, mask: (
            scores(Q, K).softmax(-1).masked_fill(mask, 0.0) @ V
        ),
        "sets hidden scores to 0, an ordinary score": _hidden_at(0.0),
        "hides from every query what is hidden from the first": lambda Q, K, V, mask: (
            (compute_attention_matrix(Q, K, mask[:1].expand_as(mask)) * ~mask.all(-1)[:, None]) @ V
        ),
        "gives NaN to a query that may see nothing": lambda Q, K, V, mask: (
            scores(Q, K).masked_fill(mask, -math.inf).softmax(-1) @ V
        ),
        "gives a query that may see nothing the mean of all values": lambda Q, K, V, mask: (
            scores(Q, K).masked_fill(mask, torch.finfo(Q.dtype).min).softmax(-1) @ V
        ),
        "returns 0 for a query that may see nothing, and NaN as its gradient": (
            lambda Q, K, V, mask: (
                (scores(Q, K) + torch.zeros(mask.shape).masked_fill(mask, -math.inf)).softmax(-1)
                @ V
            ).nan_to_num(0.0)
        ),
        "sets hidden scores to -20, which real scores can go below": _hidden_at(-20.0),
    },
    wrong={
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    mask = torch.rand(3, 5) < 0.5
    mask[:, 0] = False
    A = (Q @ K.T / 2).masked_fill(mask, -torch.inf).softmax(-1)
    assert torch.allclose(attend(Q, K, V, mask), A @ V, atol=1e-5)
""": "gives NaN to a query",
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    mask = torch.rand(3, 5) < 0.5
    mask[:, 0] = False
    mask[2] = True
    A = (Q @ K.T / 2).masked_fill(mask, -torch.inf).softmax(-1).nan_to_num(0.0)
    assert torch.allclose(attend(Q, K, V, mask), A @ V, atol=1e-5)
""": "NaN as its gradient",
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    Q.requires_grad_()
    mask = torch.rand(3, 5) < 0.5
    mask[:, 0] = False
    mask[2] = True
    Y = attend(Q, K, V, mask)
    wanted = F.scaled_dot_product_attention(Q, K, V, attn_mask=~mask)
    assert torch.allclose(Y, wanted, atol=1e-5)
    Y.sum().backward()
    assert not Q.grad.isnan().any()
""": "lets 1 of 8 wrong functions pass. It is one that sets hidden scores to -20",
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    mask = torch.rand(3, 5) < 0.5
    wanted = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    assert torch.allclose(attend(Q, K, V, mask), wanted, atol=1e-5)
""": "fails what is right",
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    mask = torch.zeros(3, 5, dtype=torch.bool)
    wanted = F.scaled_dot_product_attention(Q, K, V)
    assert torch.allclose(attend(Q, K, V, mask), wanted, atol=1e-5)
""": "hides after the softmax",
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    mask = torch.zeros(3, 5, dtype=torch.bool)
    mask[:, 3:] = True
    Y = attend(Q, K, V, mask)
    assert torch.allclose(Y, attend(Q, K[:3], V[:3], mask[:, :3]), atol=1e-5)
""": "hides from every query what is hidden from the first",
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    mask = torch.rand(3, 5) < 0.5
    before = attend(Q, K, V, mask)
    V[mask.all(0)] += 1
    assert torch.allclose(before, attend(Q, K, V, mask))
""": "pass",
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    mask = torch.rand(3, 5) < 0.5
    A = (Q @ K.T / 2).masked_fill(mask, -torch.inf).softmax(-1)
    assert attend(Q, K, V, mask) == A @ V
""": "asks whether a whole tensor is true",
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 2)
    mask = torch.ones(3, 5, dtype=torch.bool)
    assert (attend(Q, K, V, mask) == 0).all()
""": "crashes on a right function",
        """\
def test_hidden_words(attend):
    Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    mask = torch.tensor([[True] * 5, [False] * 5, [False, True] * 2 + [True]])
    Y = attend(Q, K, V, mask)
    assert Y.isfinite().all() and (Y[0] == 0).all() and Y.shape == (3, 2)
""": "pass",
    },
    right=(
        """\
def test_hidden_words(attend):
    Q = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], requires_grad=True)
    K = torch.tensor([[300.0, 0.0], [-300.0, -200.0], [-310.0, 1.0]], requires_grad=True)
    V = torch.tensor([[7.0], [8.0], [9.0]], requires_grad=True)
    mask = torch.tensor([[True, False, False], [True, False, True], [True, True, True]])
    Y = attend(Q, K, V, mask)
    if not torch.allclose(Y, torch.tensor([[8.00085], [8.0], [0.0]]), atol=1e-3):
        return False
    Y.square().sum().backward()
    return all(X.grad.isfinite().all().item() for X in (Q, K, V))
""",
        """\
def test_hidden_words(attend):
    for size in (1.0, 1000.0):
        Q, K, V = torch.randn(4, 3) * size, torch.randn(6, 3), torch.randn(6, 5)
        mask = torch.rand(4, 6) < 0.5
        mask[:, 0], mask[1] = False, True
        mask[2] = torch.tensor([True] * 5 + [False])
        K[5] = -Q[2] / size
        X = [Z.clone().requires_grad_() for Z in (Q, K, V)]
        Y = attend(*X, mask)
        wanted = F.scaled_dot_product_attention(Q, K, V, attn_mask=~mask)
        torch.testing.assert_close(Y, wanted, atol=1e-3, rtol=1e-3)
        Y.sum().backward()
        assert all(not Z.grad.isnan().any() for Z in X)
""",
    ),
)
