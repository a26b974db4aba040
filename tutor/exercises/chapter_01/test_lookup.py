"""A test of the lookup."""

import torch
import torch.nn.functional as F

from tutor.check.exercise import TEST, Exercise


def _once(W, ids):
    """A word that occurs again sends no gradient back."""
    rows, seen = [], set()
    for i in ids.flatten().tolist():
        rows.append(W[i].detach() if i in seen else W[i])
        seen.add(i)
    return torch.stack(rows).unflatten(0, ids.shape)


def _ones_back(W, ids):
    X = W[ids]
    if X.requires_grad:
        X.register_hook(torch.ones_like)
    return X


test_lookup = Exercise(
    name="test_lookup",
    chapter="01",
    section="Which rows learn?",
    kind=TEST,
    title="Test a lookup",
    goal="Test the rows, the shape and the gradient of a lookup.",
    difficulty=3,
    importance=4,
    minutes=12,
    text="""\
Write a test of a lookup: of its rows, its shape, and the gradient of its table. It is tried on
three right lookups and on eight mutants. Four mutants show in what comes back, three only in the
gradient, and one in something that nobody looks at.

Choose the ids well: some mistakes need a word that occurs twice, some need id 0. And one sentence
is tested by no batch, nor a gradient by ones alone.""",
    hints=(
        "Try a sentence, `[0, 3, 0]`, and a batch, `[[0, 3, 0], [2, 1, 3]]`, with random numbers "
        "for `W`. Which rows, and which shapes, do you expect?",
        "For the gradient: `W = torch.randn(5, 2, requires_grad=True)`, then "
        "`look_up(W, ids).backward(G)`. With ones as `G`, row r of `W.grad` is as often 1 as r "
        "occurs; a random `G` tells more. `W[ids].backward(G)` says what is right.",
        "The last mutant writes into the table. Keep `before = W.detach().clone()` and compare it "
        "with `W` at the end; compare the rows with `before[ids]`, too. Let some rows be long.",
    ),
    stub='''\
def test_lookup(look_up):
    """Raises AssertionError if look_up is wrong.

    look_up: from W and ids to the rows of W that ids name
        W: float tensor (vocab_size, d_model), which can require a gradient
        ids: int tensor (T) or (N, T)
        result: float tensor (T, d_model) or (N, T, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def test_lookup(look_up):
    """Raises AssertionError if look_up is wrong."""
    W = (10 * torch.randn(5, 3)).requires_grad_()  # (vocab_size, d_model)
    before = W.detach().clone()
    for ids in (torch.tensor([[0, 3, 0], [2, 1, 3]]), torch.tensor([4, 0, 4])):  # (N, T), (T)
        X = look_up(W, ids)  # (N, T, d_model) or (T, d_model)
        assert X.shape == (*ids.shape, 3)
        assert torch.allclose(X, before[ids])
        assert torch.equal(W, before)
        G = torch.randn(X.shape)
        (gradient,) = torch.autograd.grad(X, W, G, allow_unused=True)
        assert gradient is not None
        handed_out = G.flatten(0, -2)  # (N * T, d_model)
        wanted = torch.zeros(5, 3).index_add(0, ids.flatten(), handed_out)  # (vocab_size, d_model)
        assert torch.allclose(gradient, wanted, atol=1e-5)
''',
    because="Rows can be right and their gradients wrong: such a model runs and learns badly.",
    twins={
        "indexes the table": lambda W, ids: W[ids],
        "multiplies one-hot rows with the table": lambda W, ids: (
            F.one_hot(ids, len(W)).to(W.dtype) @ W
        ),
        "stacks the rows one by one": lambda W, ids: torch.stack(
            [W[i] for i in ids.flatten()]
        ).unflatten(0, ids.shape),
    },
    mutants={
        "counts the rows from 1": lambda W, ids: W[ids - 1],
        "puts the words of each sentence in the order of their ids": lambda W, ids: W[
            ids.sort().values
        ],
        "takes id 0 for padding, and returns zeros for it": lambda W, ids: (
            W[ids] * (ids != 0)[..., None]
        ),
        "lets no gradient through to the table": lambda W, ids: W.detach()[ids].requires_grad_(),
        "gives a word that occurs twice the gradient of its first place alone": _once,
        "shortens long rows in the table itself": lambda W, ids: F.embedding(ids, W, max_norm=2.0),
        "makes a batch of a single sentence": lambda W, ids: W[torch.atleast_2d(ids)],
        "sends ones back to the table, whatever gradient arrives": _ones_back,
    },
    wrong={
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3)
    ids = torch.tensor([1, 2, 4])
    assert torch.equal(look_up(W, ids), W[ids])
""": "puts the words",
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3)
    ids = torch.tensor([[0, 3, 0], [2, 1, 3]])
    assert torch.allclose(look_up(W, ids), W[ids])
""": "lets no gradient through",
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3, requires_grad=True)
    ids = torch.tensor([[0, 3], [2, 1]])
    X = look_up(W, ids)
    assert torch.allclose(X, W[ids])
    X.sum().backward()
    assert W.grad is not None and W.grad[[0, 1, 2, 3]].eq(1).all()
""": "gives a word that occurs twice",
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3, requires_grad=True)
    ids = torch.tensor([[0, 3, 0], [2, 1, 3]])
    X = look_up(W, ids)
    assert torch.allclose(X, W[ids])
    X.sum().backward()
    assert W.grad[:, 0].tolist() == [2, 1, 1, 2, 0]
""": "shortens long rows",
        """\
def test_lookup(look_up):
    W = (10 * torch.randn(5, 3)).requires_grad_()
    before = W.detach().clone()
    ids = torch.tensor([[0, 3, 0], [2, 1, 3]])
    X = look_up(W, ids)
    assert X.shape == (2, 3, 3) and torch.allclose(X, before[ids]) and torch.equal(W, before)
    X.sum().backward()
    assert W.grad is not None and W.grad[:, 0].tolist() == [2, 1, 1, 2, 0]
""": "lets 2 of 8 wrong functions pass. One of them makes a batch of a single sentence",
        """\
def test_lookup(look_up):
    W = (10 * torch.randn(5, 3)).requires_grad_()
    before = W.detach().clone()
    for ids in (torch.tensor([[0, 3, 0], [2, 1, 3]]), torch.tensor([2, 0, 2])):
        W.grad = None
        X = look_up(W, ids)
        assert X.shape == before[ids].shape and torch.allclose(X, before[ids])
        assert torch.equal(W, before)
        X.sum().backward()
        counts = torch.bincount(ids.flatten(), minlength=5)
        assert W.grad is not None and torch.equal(W.grad[:, 1], counts.float())
""": "It is one that sends ones back",
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3)
    ids = torch.tensor([[0, 3, 0], [2, 1, 3]])
    assert look_up(W, ids).shape == (2, 3, 3)
""": "counts the rows from 1",
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3)
    ids = torch.tensor([[0, 3, 0], [2, 1, 3]])
    assert look_up(W, ids) == W[ids]
""": "asks whether a whole tensor is true",
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3, requires_grad=True)
    ids = torch.tensor([0, 3, 0, 2])
    X = look_up(W, ids)
    X.sum().backward()
    assert W.grad[:, 0].tolist() == [2, 0, 1, 1, 0]
""": "puts the words",
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3)
    ids = torch.tensor([0, 3, 0, 2])
    assert not torch.allclose(look_up(W, ids), W[ids])
""": "it passes a function that counts the rows from 1",
        """\
def test_lookup(look_up):
    W = torch.arange(6.0).reshape(3, 2)
    assert look_up(W, torch.tensor([0, 2])).tolist() == [[0.0, 1.0], [2.0, 3.0]]
""": "fails whatever it is given",
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3, requires_grad=True)
    ids = torch.tensor([[0, 3, 0], [2, 1, 3]])
    X = look_up(W, ids)
    X.sum().backward()
    assert W.grad[:, 0].tolist() == [1, 1, 1, 1, 0]
""": "fails what is right",
        """\
def test_lookup(look_up):
    W = torch.randn(5, 3)
    ids = torch.tensor([[0, 3, 0], [2, 1, 3]])
    assert look_up(W, ids).is_contiguous() and torch.allclose(look_up(W, ids), W[ids])
    assert look_up(W, ids).grad_fn is None
    look_up(W, ids).sum().backward()
""": "crashes on a right function",
    },
    right=(
        """\
def test_lookup(look_up):
    start = 3 * torch.randn(7, 4)
    for ids in (torch.tensor([2, 0, 5, 2]), torch.tensor([[6, 0], [1, 6]])):
        W, G = start.clone().requires_grad_(), torch.randn(*ids.shape, 4)
        X = look_up(W, ids)
        torch.testing.assert_close(X, start[ids])
        assert torch.equal(W, start)
        (gradient,) = torch.autograd.grad(X, W, G, allow_unused=True)
        if gradient is None:
            return False
        wanted = torch.zeros(7, 4).index_add(0, ids.flatten(), G.flatten(0, -2))
        torch.testing.assert_close(gradient, wanted)
""",
        """\
def test_lookup(look_up):
    W = torch.tensor([[30.0, 40.0], [1.0, 2.0], [5.0, -6.0]], requires_grad=True)
    X = look_up(W, torch.tensor([[2, 0, 2], [1, 0, 0]]))
    wanted = [[[5, -6], [30, 40], [5, -6]], [[1, 2], [30, 40], [30, 40]]]
    one = look_up(W, torch.tensor([1, 2])).tolist()
    right = X.tolist() == wanted and W[0].tolist() == [30, 40] and one == [[1, 2], [5, -6]]
    X.square().sum().backward()
    return right and W.grad is not None and W.grad[:, 1].tolist() == [240, 4, -24]
""",
    ),
)
