"""A test of attention that goes token by token."""

import math

import torch
import torch.nn.functional as F

from tutor.check.exercise import TEST, Exercise


def _join(q, k, v, K, V):
    K, V = torch.cat([K, k], dim=-2), torch.cat([V, v], dim=-2)  # (N, t + 1, d)
    return _attend(q, K, V), K, V


def _attend(q, K, V):
    return F.scaled_dot_product_attention(q, K, V)


def _two_parts(q, k, v, K, V):
    e = torch.cat([q @ K.mT, q @ k.mT], dim=-1) / math.sqrt(q.shape[-1])  # (N, 1, t + 1)
    a, b = e.softmax(-1).split([K.shape[-2], 1], dim=-1)
    return a @ V + b * v, torch.cat([K, k], dim=-2), torch.cat([V, v], dim=-2)


def _room_in_advance(q, k, v, K, V):
    *N, t, d_k = K.shape
    kept = K.new_empty(*N, t + 1, d_k), V.new_empty(*N, t + 1, V.shape[-1])
    for new, old, newest in zip(kept, (K, V), (k, v), strict=True):
        new[..., :t, :], new[..., t:, :] = old, newest
    return _attend(q, *kept), *kept


def _without_itself(q, k, v, K, V):
    Y = _attend(q, K, V) if K.shape[-2] else torch.zeros_like(v)
    return Y, *_join(q, k, v, K, V)[1:]


def _mixed(q, k, v, K, V):
    Y, K, V = _join(q, k, v, K, V)
    return _attend(q, K[:1].expand_as(K), V[:1].expand_as(V)), K, V


def _last_three(q, k, v, K, V):
    Y, K, V = _join(q, k, v, K, V)
    return _attend(q, K[:, -3:], V[:, -3:]), K, V


def _unscaled(q, k, v, K, V):
    return _join(q * math.sqrt(q.shape[-1]), k, v, K, V)


def _keeps_the_query(q, k, v, K, V):
    Y, _, V_kept = _join(q, k, v, K, V)
    return Y, torch.cat([K, q], dim=-2), V_kept


def _scales_again(q, k, v, K, V):
    Y, K, V = _unscaled(q, k / math.sqrt(k.shape[-1]), v, K / math.sqrt(k.shape[-1]), V)
    return Y, K, V


def _in_front(q, k, v, K, V):
    return (
        _attend(q, *_join(q, k, v, K, V)[1:]),
        torch.cat([k, K], dim=-2),
        torch.cat([V, v], dim=-2),
    )


test_step = Exercise(
    name="test_step",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=TEST,
    title="Test a cache",
    goal="Test a step with a cache against attention that has all tokens at once.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
`step` continues attention by one token: it gets the query, key and value of the newest one, and the
keys and values of those before it. It returns the result of the newest token and the longer keys
and values, for the next step. At the first step there is nothing before it, and `K` has no rows.

Write its test. After all steps the results must be those of causal attention that was given all
tokens at once. There are three right steps and eight mutants. Some are right for a while.""",
    hints=(
        "Draw `Q`, `K` and `V` for several sentences and six tokens. What does PyTorch say with "
        "`F.scaled_dot_product_attention(Q, K, V, is_causal=True)`?",
        "Begin with `K[:, :0]` and `V[:, :0]`, which have no rows. At step t give `Q[:, t:t + 1]`, "
        "the same of K and V, and **what the step before returned**.",
        "Compare row t of all sentences at each step with `torch.allclose(Y, wanted[:, t:t + 1], "
        "atol=1e-5)`. Two steps are too few, and so is one sentence.",
    ),
    stub='''\
def test_step(step):
    """Raises AssertionError if step is wrong.

    step: from q, k, v, K, V to the result, the longer K and the longer V
        q, k: float tensors (N, 1, d_k), v: (N, 1, d_v), of the newest token
        K: float tensor (N, t, d_k), V: (N, t, d_v), of those before it
        result: float tensor (N, 1, d_v)
    """
    raise NotImplementedError
''',
    solution='''\
def test_step(step):
    """Raises AssertionError if step is wrong."""
    Q, K, V = (torch.randn(2, 6, d) for d in (4, 4, 3))
    wanted = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    kept = K[:, :0], V[:, :0]
    for t in range(6):
        now = slice(t, t + 1)
        Y, *kept = step(Q[:, now], K[:, now], V[:, now], *kept)
        assert torch.allclose(Y, wanted[:, now], atol=1e-5)
    assert torch.equal(kept[0], K) and torch.equal(kept[1], V)
''',
    because="All at once and one by one are two ways to the same numbers: each tests the other.",
    twins={
        "joins the newest token and then attends": _join,
        "computes two parts, the kept tokens and the newest, and adds them": _two_parts,
        "makes room for all and writes into it": _room_in_advance,
    },
    mutants={
        "does not let the newest token see itself": _without_itself,
        "returns the old keys and values": lambda q, k, v, K, V: (_join(q, k, v, K, V)[0], K, V),
        "keeps the query in place of the key": _keeps_the_query,
        "sees only the last three tokens": _last_three,
        "reads the keys and values of the first sentence for all": _mixed,
        "does not scale the scores": _unscaled,
        "scales the kept keys anew at each step": _scales_again,
        "puts the newest key in front of the others, and the value behind them": _in_front,
    },
    wrong={
        """\
def test_step(step):
    q, k, v = (torch.randn(2, 1, d) for d in (4, 4, 3))
    Y, K, V = step(q, k, v, k[:, :0], v[:, :0])
    assert torch.allclose(Y, v, atol=1e-5)
    assert torch.equal(K, k) and torch.equal(V, v)
""": "sees only the last three tokens",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 3, d) for d in (4, 4, 3))
    wanted = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    kept = K[:, :0], V[:, :0]
    for t in range(3):
        now = slice(t, t + 1)
        Y, *kept = step(Q[:, now], K[:, now], V[:, now], *kept)
        assert torch.allclose(Y, wanted[:, now], atol=1e-5)
""": "lets 1 of 8 wrong functions pass. It is one that sees only the last three tokens",
        """\
def test_step(step):
    Q, K, V = (torch.randn(1, 6, d) for d in (4, 4, 3))
    wanted = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    kept = K[:, :0], V[:, :0]
    for t in range(6):
        now = slice(t, t + 1)
        Y, *kept = step(Q[:, now], K[:, now], V[:, now], *kept)
        assert torch.allclose(Y, wanted[:, now], atol=1e-5)
""": "the keys and values of the first sentence for all",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 6, d) for d in (4, 4, 3))
    wanted = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    for t in range(6):
        now = slice(t, t + 1)
        Y, _, _ = step(Q[:, now], K[:, now], V[:, now], K[:, :t], V[:, :t])
        assert torch.allclose(Y, wanted[:, now], atol=1e-5)
""": "returns the old keys and values",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 6, d) for d in (4, 4, 3))
    wanted = F.scaled_dot_product_attention(Q, K, V)
    kept = K[:, :0], V[:, :0]
    for t in range(6):
        now = slice(t, t + 1)
        Y, *kept = step(Q[:, now], K[:, now], V[:, now], *kept)
        assert torch.allclose(Y, wanted[:, now], atol=1e-5)
""": "fails whatever it is given",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 6, d) for d in (4, 4, 3))
    wanted = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    kept = K[:, :0], V[:, :0]
    for t in range(6):
        Y, *kept = step(Q[:, t], K[:, t], V[:, t], *kept)
        assert torch.allclose(Y, wanted[:, t], atol=1e-5)
""": "crashes on a right function",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 6, d) for d in (4, 4, 3))
    kept = K[:, :0], V[:, :0]
    for t in range(6):
        now = slice(t, t + 1)
        Y, *kept = step(Q[:, now], K[:, now], V[:, now], *kept)
        assert Y.shape == (2, 1, 3)
    assert kept[0].shape == K.shape and kept[1].shape == V.shape
""": "does not let the newest token see itself",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 6, d) for d in (4, 4, 3))
    kept = K[:, :0], V[:, :0]
    for t in range(6):
        now = slice(t, t + 1)
        Y, *kept = step(Q[:, now], K[:, now], V[:, now], *kept)
    assert kept[0] == K and kept[1] == V
""": "asks whether a whole tensor is true",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 6, d) for d in (4, 4, 3))
    Y, K_kept, V_kept = step(Q[:, 5:], K[:, 5:], V[:, 5:], K[:, :5], V[:, :5])
    wanted = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    assert torch.allclose(Y, wanted[:, 5:], atol=1e-5)
    assert K_kept.shape == K.shape
""": "keeps the query in place of the key",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 6, d) for d in (4, 4, 3))
    kept = K[:, :0], V[:, :0]
    for t in range(6):
        now = slice(t, t + 1)
        Y, *kept = step(Q[:, now], K[:, now], V[:, now], *kept)
    assert torch.equal(kept[0], K) and torch.equal(kept[1], V)
""": "does not let the newest token see itself",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 6, d) for d in (4, 4, 3))
    wanted = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    kept = K[:, :0], V[:, :0]
    for t in range(6):
        now = slice(t, t + 1)
        Y, *kept = step(Q[:, now], K[:, now], V[:, now], *kept)
        assert torch.equal(Y, wanted[:, now])
""": "fails a right function, one that computes two parts",
    },
    right=(
        """\
def test_step(step):
    Q, K, V = (torch.randn(3, 5, d) for d in (8, 8, 2))
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    A = (Q @ K.mT / 8**0.5).masked_fill(future, -torch.inf).softmax(-1)
    rows, K_kept, V_kept = [], torch.empty(3, 0, 8), torch.empty(3, 0, 2)
    for q, k, v in zip(Q.split(1, 1), K.split(1, 1), V.split(1, 1)):
        y, K_kept, V_kept = step(q, k, v, K_kept, V_kept)
        rows.append(y)
    return torch.allclose(torch.cat(rows, dim=1), A @ V, atol=1e-5)
""",
        """\
def test_step(step):
    Q, K, V = (torch.randn(2, 7, 4) for _ in range(3))
    for t in (0, 3, 6):
        Y, K_kept, V_kept = step(
            Q[:, t:t + 1], K[:, t:t + 1], V[:, t:t + 1], K[:, :t], V[:, :t]
        )
        assert torch.equal(K_kept, K[:, :t + 1]) and torch.equal(V_kept, V[:, :t + 1])
        for n in range(2):
            a = (K[n, :t + 1] @ Q[n, t] / 2).softmax(0)
            torch.testing.assert_close(Y[n, 0], a @ V[n, :t + 1])
""",
    ),
)
