"""A test of what is random."""

import itertools
import math

import torch
import torch.nn.functional as F

from tutor.check.exercise import TEST, Exercise


def _like_rand(X, p, training):
    if not training or p == 0:
        return X
    return torch.where(torch.rand_like(X) < p, 0.0, X / (1 - p))


def _with_a_mask(X, p, training):
    keep = 1.0 - p if training else 1.0
    return X * torch.bernoulli(torch.full_like(X, keep)) * (1 / keep)


def _shared(*dims):
    """Dropout that draws once for all indices of these dimensions of X (N, T, d_model)."""

    def drop(X, p, training):
        if not training:
            return X
        shape = [1 if dim in dims else size for dim, size in enumerate(X.shape)]
        return X * (torch.rand(shape) >= p) / (1 - p)

    return drop


def _unlucky(first):
    """Dropout whose count of zeros is 3 standard deviations off, to either side in turn."""
    sides = itertools.cycle((first, -first))

    def drop(X, p, training):
        if not training or p == 0:
            return X
        n = X.numel()
        off = 3 * next(sides) * math.sqrt(n * p * (1 - p))
        lost = torch.randperm(n) < min(max(round(n * p + off), 0), n)  # (n,)
        return torch.where(lost.view(X.shape), 0.0, X / (1 - p))

    return drop


def _same_each_time(X, p, training):
    draws = torch.rand(X.shape, generator=torch.Generator().manual_seed(0))
    return X * (draws >= p) / (1 - p) if training else X


test_dropout = Exercise(
    name="test_dropout",
    chapter="04",
    section="Two orders",
    kind=TEST,
    title="Test what is random",
    goal="Test a function whose result is another one each time.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
Dropout has no right result that you could compare with: it draws. But it makes promises. Write the
test of a function `drop(X, p, training)`.

- While it trains, each number of $X$ is set to 0 with probability $p$, independently of all others.
  A survivor becomes the number divided by $1 - p$.
- Each call draws anew.
- If `training` is False, $X$ comes back as it was.

You choose the input. It is tried on five right functions, two of them in a run of bad luck, and on
eight mutants. A test that fails by bad luck once in a thousand runs is good enough. A few calls of
`drop` are enough, too: all runs together must end within five seconds.""",
    hints=(
        "Which $X$ makes it easiest to see what became of each number? And which $p$ tells a share "
        "of dropped numbers from a share of kept ones?",
        "With `X = torch.ones(20, 30, 40)` and $p = 0.2$, each number of the result is 0 or 1.25, "
        "and about a fifth are 0. Among 24,000 numbers the share is within 0.02 of it.",
        "For independence, compare slices: do two sentences lose the same numbers? Do two tokens? "
        "Do two features? (`Y[:, :, 0]` holds one feature of all tokens.) Do two calls agree? "
        "`torch.equal` says so.",
    ),
    stub='''\
def test_dropout(drop):
    """Raises AssertionError if drop breaks one of its promises.

    drop: called as drop(X, p, training) with
        X: float tensor (N, T, d_model)
        p: float, 0 <= p < 1, the share to be dropped
        training: bool
        Returns: float tensor (N, T, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def test_dropout(drop):
    """Raises AssertionError if drop breaks one of its promises."""
    X = torch.ones(20, 30, 40)  # (N, T, d_model)
    Y = drop(X, 0.2, True)
    assert torch.allclose(Y[Y != 0], torch.tensor(1.25))
    assert abs((Y == 0).float().mean() - 0.2) < 0.02
    assert not torch.equal(Y[0], Y[1])  # sentences
    assert not torch.equal(Y[:, 0], Y[:, 1])  # tokens
    assert not torch.equal(Y[:, :, 0], Y[:, :, 1])  # features
    assert not torch.equal(Y, drop(X, 0.2, True))
    assert torch.equal(drop(X, 0.2, False), X)
''',
    because="What is random still keeps promises, and shares of many draws are all but certain.",
    twins={
        "is PyTorch's own": lambda X, p, training: F.dropout(X, p, training),
        "compares uniform draws with p": _like_rand,
        "multiplies by a mask and then by 1 / (1 - p)": _with_a_mask,
        "drops rather many numbers, by a bad luck of one run in 400": _unlucky(1),
        "drops rather few numbers, by a bad luck of one run in 400": _unlucky(-1),
    },
    mutants={
        "does not divide the survivors by 1 - p": lambda X, p, training: (
            X * (torch.rand_like(X) >= p) if training else X
        ),
        "drops with probability p / 2": lambda X, p, training: (
            X * (torch.rand_like(X) >= p / 2) / (1 - p) if training else X
        ),
        "keeps a share of p, and divides by p": lambda X, p, training: (
            X * (torch.rand_like(X) < p) / p if training else X
        ),
        "divides by 1 - p when it does not train, too": lambda X, p, training: (
            F.dropout(X, p, True) if training else X / (1 - p)
        ),
        "drops whole tokens": _shared(2),
        "drops the same features of every token": _shared(1),
        "drops the same numbers in every sentence": _shared(0),
        "drops the same numbers in every call": _same_each_time,
    },
    wrong={
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    assert ((Y == 0) | torch.isclose(Y, torch.tensor(1.25))).all() and (Y == 0).any()
    assert not torch.equal(Y[0], Y[1]) and not torch.equal(Y[:, 0], Y[:, 1])
    assert not torch.equal(Y[..., 0], Y[..., 1]) and not torch.equal(Y, drop(X, 0.2, True))
    assert torch.equal(drop(X, 0.2, False), X)
""": "drops with probability p / 2",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    assert torch.allclose(Y[Y != 0], torch.tensor(1.25))
    assert abs((Y == 0).float().mean() - 0.2) < 0.004
    assert not torch.equal(Y[0], Y[1]) and not torch.equal(Y[:, 0], Y[:, 1])
    assert not torch.equal(Y[..., 0], Y[..., 1]) and not torch.equal(Y, drop(X, 0.2, True))
    assert torch.equal(drop(X, 0.2, False), X)
""": "bad luck",
        """\
def test_dropout(drop):
    X = torch.ones(4, 5, 6)
    Y = drop(X, 0.5, True)
    assert torch.allclose(Y[Y != 0], torch.tensor(2.0))
    assert 0.4 < (Y == 0).float().mean() < 0.6
    assert not torch.equal(Y[0], Y[1]) and not torch.equal(Y[:, 0], Y[:, 1])
    assert not torch.equal(Y[..., 0], Y[..., 1]) and not torch.equal(Y, drop(X, 0.5, True))
    assert torch.equal(drop(X, 0.5, False), X)
""": "bad luck",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.5, True)
    assert ((Y == 0) | (Y == 2)).all()
    assert abs((Y == 0).float().mean() - 0.5) < 0.02
    assert not torch.equal(Y[0], Y[1]) and not torch.equal(Y[:, 0], Y[:, 1])
    assert not torch.equal(Y[..., 0], Y[..., 1]) and not torch.equal(Y, drop(X, 0.5, True))
    assert torch.equal(drop(X, 0.5, False), X)
""": "keeps a share of p",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    assert abs(Y.mean() - 1) < 0.02
    assert torch.equal(drop(X, 0.2, False), X)
""": "keeps a share of p",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    assert torch.allclose(Y[Y != 0], torch.tensor(1.25))
    assert abs((Y == 0).float().mean() - 0.2) < 0.02
    assert not torch.equal(Y, drop(X, 0.2, True))
    assert torch.equal(drop(X, 0.2, False), X)
""": "drops whole tokens",
        """\
def test_dropout(drop):
    X = torch.randn(20, 30, 40)
    torch.manual_seed(1)
    Y = drop(X, 0.2, True)
    torch.manual_seed(1)
    assert torch.allclose(Y, F.dropout(X, 0.2))
""": "fails a right function, one that compares uniform draws",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    assert torch.allclose(Y[Y != 0], torch.tensor(1.25))
    assert (Y == 0).float().mean() == 0.2
    assert torch.equal(drop(X, 0.2, False), X)
""": "fails whatever it is given",
        """\
def test_dropout(drop):
    X = torch.ones(2, 3, 4)
    Y = drop(X, 0.2, True)
    assert not torch.equal(Y, X)
    assert torch.equal(drop(X, 0.2, False), X)
""": "does not divide",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    assert torch.allclose(Y[Y != 0], torch.tensor(1.25))
    assert abs((Y == 0).float().mean() - 0.2) < 0.02
    assert not torch.equal(Y[0], Y[1])
    assert not torch.equal(Y[:, 0], Y[:, 1])
    assert not torch.equal(Y[:, :, 0], Y[:, :, 1])
    assert torch.equal(drop(X, 0.2, False), X)
""": "the same numbers in every call",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    assert torch.allclose(Y[Y != 0], torch.tensor(1.25))
    assert abs((Y == 0).float().mean() - 0.2) < 0.02
    assert not torch.equal(Y[0], Y[1])
    assert not torch.equal(Y[:, 0], Y[:, 1])
    assert not torch.equal(Y[:, :, 0], Y[:, :, 1])
    assert not torch.equal(Y, drop(X, 0.2, True))
""": "divides by 1 - p when it does not train",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    assert torch.allclose(Y[Y != 0], torch.tensor(1.25))
    assert abs((Y == 0).float().mean() - 0.2) < 0.02
    assert not torch.equal(Y[0], Y[1])
    assert not torch.equal(Y, drop(X, 0.2, True))
    assert (drop(X, 0.2, False) != 0).all()
""": "divides by 1 - p when",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    assert Y[Y != 0] == 1.25
    assert torch.equal(drop(X, 0.2, False), X)
""": "asks whether a whole tensor is true",
        """\
def test_dropout(drop):
    X = torch.ones(20, 30, 40)
    Y = drop(X, 0.2, True)
    wanted = torch.allclose(Y[Y != 0], torch.tensor(1.25)) and torch.equal(drop(X, 0, True), X)
    assert not wanted
""": "fails what is right",
    },
    right=(
        """\
def test_dropout(drop):
    X = torch.ones(10, 20, 30)
    Ys = torch.stack([drop(X, 0.3, True) for _ in range(51)])
    assert abs(Ys.mean() - 1) < 0.01
    lost = Ys == 0
    assert abs(lost.float().mean() - 0.3) < 0.003
    for dim in range(4):
        agree = (lost == lost.roll(1, dim)).float().mean()
        assert abs(agree - 0.58) < 0.01
    assert torch.equal(drop(X, 0.3, False), X)
""",
        """\
def test_dropout(drop):
    X = torch.rand(50, 40, 30) + 1
    for p in (0.1, 0.4):
        Y, Z = drop(X, p, True), drop(X, p, True)
        lost = (Y == 0).double()
        assert torch.allclose(Y, (1 - lost.float()) * X / (1 - p), atol=1e-5)
        assert 0.9 * p < lost.mean() < 1.1 * p
        both = lost * (Z == 0)
        assert abs(both.mean() - p * p) < 0.02
        for dim in range(3):
            next_one = (lost * lost.roll(1, dim)).mean()
            assert abs(next_one - p * p) < 0.02
        assert torch.equal(drop(X, p, False), X)
""",
        """\
def test_dropout(drop):
    X = torch.full((8, 16, 32), 3.0)
    Y = drop(X, 0.25, True)
    ok = set(Y.unique().tolist()) == {0.0, 4.0}
    lost = Y == 0
    ok = ok and 0.2 < lost.float().mean() < 0.3
    for dims in ((0, 1), (0, 2), (1, 2)):
        share = lost.float().mean(dim=dims)
        ok = ok and bool((share > 0.02).all() and (share < 0.7).all())
    ok = ok and len({tuple(row) for row in lost.flatten(0, 1).tolist()}) > 100
    ok = ok and not torch.equal(drop(X, 0.25, True), Y)
    for a, b in ((lost[0], lost[1]), (lost[:, 0], lost[:, 1]), (lost[..., 0], lost[..., 1])):
        ok = ok and bool((a != b).any())
    return ok and torch.allclose(drop(X, 0.25, False), X)
""",
    ),
)
