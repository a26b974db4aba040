"""A test of the causal mask."""

import torch

from tutor.check.exercise import TEST, Exercise


def _hidden(T, first):
    """True from the diagonal of this number on: 1 is the one right of the main diagonal."""
    return torch.ones(T, T, dtype=torch.bool).triu(first)


def _by_places(T):
    t = torch.arange(T)
    return t[None, :] > t[:, None]


test_causal_mask = Exercise(
    name="test_causal_mask",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=TEST,
    title="Test a mask",
    goal="Write a test that tells the causal mask from those that look like it.",
    difficulty=2,
    importance=5,
    minutes=8,
    text="""\
This time **you write the test**, as in the file of tests of a project. It is given a function
`causal_mask`. If the function is right, the test ends and nothing happens. If it is wrong, the test
raises AssertionError, which is what `assert` does (or it returns `False`; on a wrong function, any
other exception counts as well).

The check tries your test on several right functions, each written in its own way, and on eight
*mutants*: right ones into which a mistake was put. It names the mutant that your test lets pass, or
the right function that it refuses.""",
    hints=(
        "Write down on paper what is right for three words: three rows of True and False. Why do "
        "two words show less?",
        "`torch.equal(a, b)` compares all entries of two tensors, and their shapes. It does not "
        "compare their dtypes: 1.0 equals True.",
        "Two lines can be enough: `assert mask.dtype == torch.bool`, and `assert torch.equal(mask, "
        "table)` with the table of three words.",
    ),
    stub='''\
def test_causal_mask(causal_mask):
    """Raises AssertionError if causal_mask is wrong.

    causal_mask: from T to a bool tensor (T, T), where True in row t and
        column s says that word t may not see word s. It sees itself and
        what stands before it.
    """
    raise NotImplementedError
''',
    solution='''\
def test_causal_mask(causal_mask):
    """Raises AssertionError if causal_mask is wrong."""
    for T in (1, 3, 5):
        mask = causal_mask(T)
        assert mask.dtype == torch.bool
        assert mask.shape == (T, T)
        for t in range(T):
            for s in range(T):
                assert mask[t, s] == (s > t)
''',
    because="A small table that was made by hand finds what no look at shapes and sums can find.",
    twins={
        "marks what lies above the diagonal": lambda T: _hidden(T, 1),
        "compares the places of two words": _by_places,
        "turns over what lies on the diagonal and below it": lambda T: (
            ~torch.ones(T, T).tril().bool()
        ),
    },
    mutants={
        "hides each word from itself too": lambda T: _hidden(T, 0),
        "says True of what may be seen": lambda T: ~_hidden(T, 1),
        "hides the past and shows the future": lambda T: _hidden(T, 1).mT,
        "lets each word see the next one": lambda T: _hidden(T, 2),
        "hides only the next word, and none of those after it": lambda T: (
            _hidden(T, 1) & ~_hidden(T, 2)
        ),
        "hides nothing": lambda T: _hidden(T, T),
        "gives the numbers 0. and 1. in place of False and True": lambda T: _hidden(T, 1).float(),
        "gives the mask of four words, whatever T is": lambda T: _hidden(4, 1),
    },
    wrong={
        """\
def test_causal_mask(causal_mask):
    mask = causal_mask(4)
    assert mask.dtype == torch.bool and mask.shape == (4, 4)
""": "hides each word from itself too",
        """\
def test_causal_mask(causal_mask):
    mask = causal_mask(5)
    assert mask.dtype == torch.bool
    assert mask.sum() == 5 * 4 / 2
""": "hides the past and shows the future",
        """\
def test_causal_mask(causal_mask):
    mask = causal_mask(2)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, torch.tensor([[False, True], [False, False]]))
""": "lets 1 of 8 wrong functions pass. It is one that hides only the next word",
        """\
def test_causal_mask(causal_mask):
    table = torch.tensor([[False, True, True], [False, False, True], [False, False, False]])
    return torch.equal(causal_mask(3), table)
""": "gives the numbers 0. and 1.",
        """\
def test_causal_mask(causal_mask):
    mask = causal_mask(4)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, torch.ones(4, 4, dtype=torch.bool).triu(1))
""": "the mask of four words",
        """\
def test_causal_mask(causal_mask):
    mask = causal_mask(3)
    assert mask.dtype == torch.bool
    for t in range(3):
        assert mask[t, t + 1:].all()
""": "hides each word from itself too",
        """\
def test_causal_mask(causal_mask):
    for T in (2, 3):
        assert causal_mask(T) == torch.ones(T, T).triu(1)
""": "Use `torch.equal(a, b)`",
        """\
def test_causal_mask(causal_mask):
    table = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
    assert torch.equal(causal_mask(3), table)
""": "fails what is right. It stops in the line `assert torch.equal(causal_mask(3), table)`. And",
        """\
def test_causal_mask(causal_mask):
    print(causal_mask(4))
""": "wrong functions pass",
        """\
def test_causal_mask(causal_mask):
    mask = torch.ones(3, 3, dtype=torch.bool).triu(1)
    assert mask.dtype == torch.bool and not mask.diagonal().any()
""": "never calls `causal_mask`",
        """\
def test_causal_mask(causal_mask):
    return causal_mask(3)
""": "Your test returns a tensor",
        """\
def test_causal_mask(causal_mask):
    assert causal_mask(3).sum() == 6
""": "hides each word from itself",
        """\
def test_causal_mask(causal_mask):
    assert causal_mask(3).shape == (2, 2)
""": "fails whatever it is given, also what is right. It stops in the line `assert causal",
        """\
def test_causal_mask(causal_mask):
    mask = causal_mask(3)
    assert mask.dtype == torch.bool
    assert not mask[0] and not mask[1, :2]
""": "whether a whole tensor is true",
        """\
def test_causal_mask(causal_mask):
    assert causal_mask(3, 3).dtype == torch.bool
""": "crashes on a right function",
    },
    right=(
        """\
def test_causal_mask(causal_mask):
    mask = causal_mask(3)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[False, True, True], [False, False, True], [False, False, False]]
""",
        """\
def test_causal_mask(causal_mask):
    mask = causal_mask(6)
    seen = [row.logical_not().nonzero().flatten().tolist() for row in mask]
    return mask.dtype == torch.bool and seen == [list(range(t + 1)) for t in range(6)]
""",
        """\
def test_causal_mask(causal_mask):
    V = torch.arange(1.0, 6.0)[:, None]  # (5, 1)
    E = torch.zeros(5, 5).masked_fill(causal_mask(5), -torch.inf)
    torch.testing.assert_close(E.softmax(-1) @ V, V.cumsum(0) / V)
""",
    ),
)
