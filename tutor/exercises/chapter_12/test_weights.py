"""A test of attention weights."""

import math

import torch

from tutor.check.exercise import TEST, Exercise


def _scores(Q, K):
    return Q @ K.mT / math.sqrt(Q.shape[-1])  # (N, T, S)


def _softmax_by_hand(Q, K, mask):
    E = torch.einsum("...td,...sd->...ts", Q / math.sqrt(Q.shape[-1]), K)
    E = E - torch.where(mask, -torch.inf, E).amax(-1, keepdim=True)
    A = E.clamp(max=0).exp() * ~mask
    return A / A.sum(-1, keepdim=True)


def _hide(E, mask, dim=-1):
    return E.masked_fill(mask, -torch.inf).softmax(dim).nan_to_num(0.0)


test_weights = Exercise(
    name="test_weights",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=TEST,
    title="Test attention weights",
    goal="Choose the inputs of a test so that no mistake can hide behind equal sizes.",
    difficulty=3,
    importance=5,
    minutes=10,
    text="""\
Write the test of a function that computes attention weights with a mask. It is tried on three right
functions, which round differently, and on eight mutants.

Half of the work is the choice of inputs. Two sizes that are equal hide a mistake, and so does a
mask that hides nothing.""",
    hints=(
        "Take two sentences, and let $T$, $S$ and $d_k$ be three different numbers. Which rows of "
        "the mask may not be all True, or what would the softmax divide by?",
        "Compute the weights of one query yourself: take the visible keys alone, their scores, and "
        "the softmax of these. The weights of hidden keys are 0.",
        "Results that are right differ in the last digit: `torch.allclose(a, b, atol=1e-5)`. A "
        "loop over sentences and queries may be slow; it is a test.",
    ),
    stub='''\
def test_weights(weights):
    """Raises AssertionError if weights is wrong.

    weights: from Q, K and mask to attention weights A
        Q: float tensor (N, T, d_k)
        K: float tensor (N, S, d_k)
        mask: bool tensor (T, S), True = hidden; no row is all True
        A: float tensor (N, T, S), the softmax of the scaled scores
    """
    raise NotImplementedError
''',
    solution='''\
def test_weights(weights):
    """Raises AssertionError if weights is wrong."""
    Q, K = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)  # (T, S)
    A = weights(Q, K, mask)
    assert A.shape == (2, 3, 5)
    for n in range(2):
        for t in range(3):
            seen = ~mask[t]
            e = K[n, seen] @ Q[n, t] / 2  # (seen keys,); 2 is the root of 4
            assert torch.allclose(A[n, t, seen], e.softmax(0), atol=1e-5)
            assert (A[n, t, mask[t]] == 0).all()
''',
    because="Sizes that all differ, and a mask that hides something, leave mistakes no cover.",
    twins={
        "puts minus infinity in place of hidden scores": lambda Q, K, mask: (
            _scores(Q, K).masked_fill(mask, -torch.inf).softmax(-1)
        ),
        "adds -1e9 to hidden scores": lambda Q, K, mask: (
            _scores(Q, K) - 1e9 * mask.to(Q.dtype)
        ).softmax(-1),
        "divides Q before the product and computes the softmax itself": _softmax_by_hand,
    },
    mutants={
        "lets the columns sum to 1 and not the rows": lambda Q, K, mask: _hide(
            _scores(Q, K), mask, -2
        ),
        "does not scale the scores": lambda Q, K, mask: _hide(Q @ K.mT, mask),
        "divides the scores by the root of S, the number of keys": lambda Q, K, mask: _hide(
            Q @ K.mT / math.sqrt(K.shape[-2]), mask
        ),
        "forgets the mask": lambda Q, K, mask: _scores(Q, K).softmax(-1),
        "lays the mask on its side": lambda Q, K, mask: _hide(_scores(Q, K), mask.mT),
        "hides after the softmax, so that rows sum to less than 1": lambda Q, K, mask: (
            _scores(Q, K).softmax(-1) * ~mask
        ),
        "uses the keys of the first sentence for all": lambda Q, K, mask: _hide(
            _scores(Q, K[:1]), mask
        ),
        "hides from every query what is hidden from the first": lambda Q, K, mask: _hide(
            _scores(Q, K), mask[:1]
        ),
    },
    wrong={
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    A = weights(torch.randn(2, 3, 4), torch.randn(2, 5, 4), mask)
    assert torch.allclose(A.sum(-1), torch.ones(2, 3), atol=1e-5)
    assert (A[:, mask] == 0).all()
""": "does not scale",
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    Q, K = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    E = (Q @ K.mT / 2).masked_fill(mask, -torch.inf)
    assert torch.equal(weights(Q, K, mask), E.softmax(-1))
""": "fails a right function, one that divides Q before the product",
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    Q, K = torch.randn(2, 3, 5), torch.randn(2, 5, 5)
    E = (Q @ K.mT / math.sqrt(5)).masked_fill(mask, -torch.inf)
    assert torch.allclose(weights(Q, K, mask), E.softmax(-1), atol=1e-5)
""": "the root of S, the number of keys",
        """\
def test_weights(weights):
    Q, K = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    A = weights(Q, K, torch.zeros(3, 5, dtype=torch.bool))
    assert torch.allclose(A, (Q @ K.mT / 2).softmax(-1), atol=1e-5)
""": "forgets the mask",
        """\
def test_weights(weights):
    mask = torch.zeros(3, 3, dtype=torch.bool).fill_diagonal_(True)
    Q, K = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    A = (Q @ K.mT / 2).masked_fill(mask, -torch.inf).softmax(-1)
    assert torch.allclose(weights(Q, K, mask), A, atol=1e-5)
""": "lays the mask on its side",
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    Q, K = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    A = (Q @ K.mT / 2).masked_fill(~mask, -torch.inf).softmax(-1)
    assert torch.allclose(weights(Q, K, mask), A, atol=1e-5)
""": "also what is right. It stops",
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    A = weights(torch.randn(2, 3, 4), torch.randn(2, 5, 4), mask)
    assert A.sum(-1) == 1
""": "asks whether a whole tensor is true",
        """\
def test_weights(weights):
    mask = torch.tensor([[0, 0, 1], [0, 1, 1]])
    A = weights(torch.randn(1, 2, 4), torch.randn(1, 3, 4), mask)
    assert A.shape == (1, 2, 3)
""": "crashes on a right function, one that puts minus infinity",
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    A = weights(torch.randn(2, 3, 4), torch.randn(2, 5, 4), mask)
    assert (A[:, mask] == 0).all()
""": "sum to 1 and not the rows",
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    Q, K = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    A = (Q @ K.mT / 2).masked_fill(mask, -torch.inf).softmax(-1)
    return not torch.allclose(weights(Q, K, mask), A, atol=1e-5)
""": "turned over",
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    A = weights(torch.randn(2, 3, 4), torch.randn(2, 5, 4), mask)
    assert abs(A.sum(-1) - 1).max() < 1e-5 and A[0, 0, 4] < 0.01
""": "does not scale",
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    Q, K = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    A = (Q @ K.mT / 2).softmax(-1) * ~mask
    assert torch.allclose(weights(Q, K, mask), A, atol=1e-5)
""": "And it passes a function that hides after the softmax",
        """\
def test_weights(weights):
    mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    Q, K = torch.randn(1, 3, 4), torch.randn(1, 5, 4)
    A = (Q @ K.mT / 2).masked_fill(mask, -torch.inf).softmax(-1)
    assert torch.allclose(weights(Q, K, mask), A, atol=1e-5)
""": "uses the keys of the first sentence for all",
        """\
def test_weights(weights):
    mask = torch.tensor([False, False, True, False, False]).expand(3, 5)
    Q, K = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    A = (Q @ K.mT / 2).masked_fill(mask, -torch.inf).softmax(-1)
    assert torch.allclose(weights(Q, K, mask), A, atol=1e-5)
""": "hides from every query",
    },
    right=(
        """\
def test_weights(weights):
    Q = torch.tensor([[[2.0, 0, 0, 0]]])  # the root of d_k is 2
    K = torch.zeros(1, 3, 4)
    K[0, :, 0] = torch.tensor([math.log(3), 0, 5])
    A = weights(Q, K, torch.tensor([[False, False, True]]))
    assert torch.allclose(A, torch.tensor([[[0.75, 0.25, 0]]]), atol=1e-5)
    A = weights(Q.expand(1, 3, 4), K, torch.ones(3, 3, dtype=torch.bool).triu(1))
    assert torch.allclose(A[0, 0], torch.tensor([1.0, 0, 0]), atol=1e-5) and A[0, 2].min() > 0
    A = weights(torch.cat([Q, Q]), torch.cat([K, K.flip(1)]), torch.zeros(1, 3, dtype=torch.bool))
    assert not torch.allclose(A[0], A[1])
""",
        """\
def test_weights(weights):
    for T, S, d_k in [(4, 4, 3), (2, 5, 4), (1, 3, 16)]:
        Q, K = torch.randn(2, T, d_k), torch.randn(2, S, d_k)
        mask = torch.ones(T, S, dtype=torch.bool).triu(1)
        V = torch.eye(S).expand(2, S, S)
        wanted = F.scaled_dot_product_attention(Q, K, V, attn_mask=~mask)
        torch.testing.assert_close(weights(Q, K, mask), wanted, atol=1e-5, rtol=1e-4)
""",
        """\
def test_weights(weights):
    ok = True
    for d_k in (3, 8):
        Q, K = torch.randn(2, 3, d_k), torch.randn(2, 3, d_k)
        mask = torch.tensor([[False, True, True], [False, False, True], [False, False, False]])
        E = (Q @ K.mT / d_k**0.5).flatten(0, 1).tolist()
        for t, row in enumerate(weights(Q, K, mask).flatten(0, 1).tolist()):
            e = [math.exp(x) if s <= t % 3 else 0.0 for s, x in enumerate(E[t])]
            ok = ok and all(abs(a - x / sum(e)) < 1e-5 for a, x in zip(row, e))
    return ok
""",
    ),
)
