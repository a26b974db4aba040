"""A choice by likeness."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _choose_alike(X):
    return (X @ X.T).softmax(dim=-1)  # (T, T)


def _cases():
    for T, width in [(2, 1), (3, 2), (4, 3), (5, 2)]:
        # halves are easy to read in a message
        yield ((2 * torch.randn(T, width)).round() / 2,)
    yield (torch.zeros(3, 2),)


choose_alike = Exercise(
    name="choose_alike",
    chapter="02",
    section="From a mean to a choice",
    kind=WRITE,
    title="A choice by likeness",
    goal="Turn dot products into shares.",
    difficulty=1,
    importance=4,
    minutes=3,
    text="""\
Each word scores every word with a dot product, and a softmax makes shares of its scores. Return the
shares: row $i$ holds those of word $i$, and sums to 1.""",
    hints=(
        "Two steps: all dot products of rows with rows, then a softmax over each row.",
        "One product holds all dot products: a matrix times itself transposed.",
        "`X @ X.T` has the scores. Which dimension of it must sum to 1?",
    ),
    stub='''\
def choose_alike(X):
    """X: (T, d_model). Returns shares (T, T); each row sums to 1."""
    ...  # one line
''',
    solution="""\
def choose_alike(X):
    return (X @ X.T).softmax(dim=-1)  # (T, T)
""",
    reference=_choose_alike,
    cases=_cases,
    gradient=True,
    mistakes=(
        (
            "The columns sum to 1 and the rows should: take the softmax over the last dimension.",
            lambda X: (X @ X.T).softmax(dim=0),
        ),
        ("Those are the scores; the softmax is missing.", lambda X: X @ X.T),
        (
            "You return the mixed rows; return the shares alone.",
            lambda X: _choose_alike(X) @ X,
        ),
        (
            "You compare columns with columns: it is `X @ X.T`, one row a word.",
            lambda X: (X.T @ X).softmax(dim=-1),
        ),
        (
            "All entries together sum to 1; each row should.",
            lambda X: (X @ X.T).flatten().softmax(0).view(len(X), len(X)),
        ),
        (
            "Dividing by the sum is not a softmax: take the exponentials first.",
            lambda X: (X @ X.T) / (X @ X.T).sum(-1, keepdim=True),
        ),
        (
            "Your scores are divided; that comes later on the page.",
            lambda X: (X @ X.T / X.shape[-1] ** 0.5).softmax(-1),
        ),
    ),
    wrong={
        """\
def choose_alike(X):
    return F.softmax(X @ X.T, 0)
""": "columns sum to 1",
        """\
def choose_alike(X):
    return torch.matmul(X, X.mT)
""": "softmax is missing",
        """\
def choose_alike(X):
    A = torch.softmax(X @ X.T, dim=1)
    return A @ X
""": "mixed rows",
        """\
def choose_alike(X):
    return (X.T @ X).softmax(-1)
""": "columns with columns",
        """\
def choose_alike(X):
    E = (X @ X.T).exp()
    return E / E.sum()
""": "All entries together",
        """\
def choose_alike(X):
    E = X @ X.T
    return E / E.sum(dim=-1, keepdim=True)
""": "not a softmax",
        """\
def choose_alike(X):
    return (X @ X.T / math.sqrt(X.shape[1])).softmax(-1)
""": "comes later",
    },
    right=(
        """\
def choose_alike(X):
    E = (X @ X.mT).exp()
    return E / E.sum(dim=1, keepdim=True)
""",
        """\
def choose_alike(X):
    return torch.stack([F.softmax(X @ x, dim=0) for x in X])
""",
        """\
def choose_alike(X):
    return torch.einsum("td,sd->ts", X, X).softmax(1)
""",
    ),
)
