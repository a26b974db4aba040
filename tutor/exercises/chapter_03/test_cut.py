"""A test of the cut."""

import torch

from tutor.attention import slice_vertically
from tutor.check.exercise import TEST, Exercise


def _cut(X, width):
    return X.unflatten(-1, (-1, width)).transpose(-3, -2)  # (..., h, T, width)


def _into_empty_heads(X, width):
    h = X.shape[-1] // width
    Y = X.new_empty(*X.shape[:-2], h, X.shape[-2], width)
    for m in range(h):
        Y[..., m, :, :] = X[..., m * width : (m + 1) * width]
    return Y


test_cut = Exercise(
    name="test_cut",
    chapter="03",
    section="One product, cut into slices",
    kind=TEST,
    title="Test the cut",
    goal="Test where every entry goes, and not only its shape.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
Write a test of `slice_vertically`. It is tried on three right functions and on eight mutants. Most
mutants have the right shape; some keep every word's numbers together and still give them to the
wrong head.

The cut must work for one sentence and for a batch. You may not call the function of `tutor`, but
you can say in one line which columns of `X` a head must hold.""",
    hints=(
        "Which columns of X are in slice m? Compare `cut(X, width)[..., m, :, :]` with them.",
        "Sizes that are equal hide mistakes. Let T, the number of heads and the width be three "
        "different numbers, and all entries different.",
        "For X of shape (3, 8) and of shape (2, 3, 8), with width 4, and m = 0 and 1: "
        "`torch.equal(cut(X, 4)[..., m, :, :], X[..., 4 * m : 4 * m + 4])`. Check the shape first.",
    ),
    stub='''\
def test_cut(cut):
    """Raises AssertionError if cut is wrong.

    cut: from X and width to the slices
        X: float tensor (..., T, h * width)
        width: int
        slices: float tensor (..., h, T, width)
    """
    raise NotImplementedError
''',
    solution='''\
def test_cut(cut):
    """Raises AssertionError if cut is wrong."""
    width, h = 4, 3
    for shape in [(5, h * width), (2, 5, h * width)]:
        X = torch.randn(shape)
        slices = cut(X, width)
        assert slices.shape == (*shape[:-2], h, 5, width)
        for m in range(h):
            assert torch.equal(slices[..., m, :, :], X[..., m * width : (m + 1) * width])
''',
    because="A shape says how many numbers there are; only the numbers say which.",
    forbidden=(slice_vertically,),
    twins={
        "splits each row and swaps words and heads": _cut,
        "stacks blocks of columns": lambda X, width: torch.stack(X.split(width, dim=-1), dim=-3),
        "copies block by block into a new tensor": _into_empty_heads,
    },
    mutants={
        "reads the entries in the order of memory, so that words are torn apart": (
            lambda X, width: X.reshape(*X.shape[:-2], -1, X.shape[-2], width)
        ),
        "deals the columns out to the heads in turn": lambda X, width: X.unflatten(
            -1, (width, -1)
        ).movedim(-1, -3),
        "takes the width for the number of heads": lambda X, width: X.unflatten(
            -1, (width, -1)
        ).transpose(-3, -2),
        "puts the heads in reverse order": lambda X, width: _cut(X, width).flip(-3),
        "gives every head the columns of the first": lambda X, width: _cut(X, width)[
            ..., :1, :, :
        ].expand(*X.shape[:-2], X.shape[-1] // width, X.shape[-2], width),
        "swaps dimensions 0 and 1, whatever stands in front": lambda X, width: X.unflatten(
            -1, (-1, width)
        ).transpose(0, 1),
        "swaps dimensions 1 and 2, whether or not a batch stands in front": (
            lambda X, width: X.unflatten(-1, (-1, width)).transpose(1, 2)
        ),
        "forgets to swap words and heads": lambda X, width: X.unflatten(-1, (-1, width)),
    },
    wrong={
        """\
def test_cut(cut):
    from tutor.attention import slice_vertically

    for X in (torch.randn(5, 12), torch.randn(2, 5, 12)):
        assert torch.equal(cut(X, 4), slice_vertically(X, 4))
""": "calls `slice_vertically`",
        """\
def test_cut(cut):
    X = torch.randn(2, 5, 12)
    assert cut(X, 4).shape == (2, 3, 5, 4)
""": "order of memory",
        """\
def test_cut(cut):
    X = torch.randn(5, 12)
    assert torch.equal(cut(X, 4)[0], X[:, :4])
    assert cut(X, 4).shape == (3, 5, 4)
""": "gives every head the columns of the first",
        """\
def test_cut(cut):
    X = torch.randn(5, 12)
    for m in range(3):
        assert torch.equal(cut(X, 4)[m], X[:, 4 * m : 4 * m + 4])
""": "lets 1 of 8 wrong functions pass. It is one that swaps dimensions 0 and 1",
        """\
def test_cut(cut):
    X = torch.randn(2, 3, 8)
    slices = cut(X, 4)
    assert slices.shape == (2, 2, 3, 4)
    for m in range(2):
        assert torch.equal(slices[:, m], X[..., 4 * m : 4 * m + 4])
""": "lets 1 of 8 wrong functions pass. It is one that swaps dimensions 1 and 2",
        """\
def test_cut(cut):
    X = torch.randn(2, 5, 12)
    changed = X.clone()
    changed[:, 2] += 1
    moved = (cut(X, 4) != cut(changed, 4)).any(dim=-1)
    assert moved.shape == (2, 3, 5)
    assert moved[:, :, 2].all() and moved.sum() == 6
""": "deals the columns out to the heads in turn",
        """\
def test_cut(cut):
    X = torch.randn(3, 9)
    for m in range(3):
        assert torch.equal(cut(X, 3)[m], X[:, 3 * m : 3 * m + 3])
    X = torch.randn(3, 3, 9)
    for m in range(3):
        assert torch.equal(cut(X, 3)[:, m], X[..., 3 * m : 3 * m + 3])
""": "takes the width for the number of heads",
        """\
def test_cut(cut):
    X = torch.randn(2, 5, 12)
    together = cut(X, 4).transpose(-3, -2).flatten(-2)
    assert torch.equal(together.sort().values, X.sort().values)
""": "deals the columns out",
        """\
def test_cut(cut):
    X = torch.ones(2, 5, 12)
    for m in range(3):
        assert torch.equal(cut(X, 4)[:, m], X[..., 4 * m : 4 * m + 4])
""": "order of memory",
        """\
def test_cut(cut):
    X = torch.randn(2, 5, 12)
    assert torch.equal(cut(X, 4), X.view(2, 3, 5, 4))
""": "fails what is right",
        """\
def test_cut(cut):
    X = torch.randn(2, 5, 12)
    assert cut(X, 4) == torch.stack(X.split(4, dim=-1), dim=1)
""": "asks whether a whole tensor is true",
        """\
def test_cut(cut):
    X = torch.randn(2, 5, 12)
    assert cut(X, 4).view(2, 15, 4)[0, 0, 0] == X[0, 0, 0]
""": "crashes on a right function",
    },
    right=(
        """\
def test_cut(cut):
    one = 10 * torch.arange(4.0)[:, None] + torch.arange(6)
    for X in (one, torch.stack([one, one + 100, one + 200])):
        Y = cut(X, 2)
        if Y.shape != (*X.shape[:-2], 3, 4, 2):
            return False
        for m in range(3):
            for t in range(4):
                for c in range(2):
                    if not torch.equal(Y[..., m, t, c], X[..., t, 2 * m + c]):
                        return False
    return True
""",
        """\
def test_cut(cut):
    for X in (torch.randn(5, 12), torch.randn(2, 5, 12), torch.randn(2, 3, 5, 12)):
        wanted = X.unflatten(-1, (3, 4)).transpose(-3, -2)
        torch.testing.assert_close(cut(X, 4), wanted)
""",
    ),
)
