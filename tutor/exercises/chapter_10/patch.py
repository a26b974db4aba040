"""Put a vector of one run into another."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _patched(X, other, position):
    at = (torch.arange(X.shape[1]) == position)[:, None]  # (S, 1)
    return torch.where(at, other, X)  # (N, S, d_model)


def _cases_of_runs():
    for N, S, d_model, position in [(1, 2, 1, 1), (1, 3, 2, 0), (2, 4, 3, 2), (3, 5, 4, 4)]:
        yield torch.randn(N, S, d_model), torch.randn(N, S, d_model), position


patch = Exercise(
    name="patch",
    chapter="10",
    section="From *whether* to *where*",
    kind=WRITE,
    title="Put a vector of one run into another",
    goal="Replace the vector at one position by that of another run.",
    difficulty=1,
    importance=4,
    minutes=3,
    text="""\
`X` and `other` hold the vectors that a layer reads in two runs. Return those of `X`, with the one
at `position` taken from `other`.""",
    hints=(
        "Work on a copy: the caller still needs `X`.",
        "Positions are the second dimension; the first counts sentences. `X[:, position]` is the "
        "vector at one position in every sentence.",
        "`X = X.clone()`, then `X[:, position] = other[:, position]`, then `return X`.",
    ),
    stub='''\
def patch(X, other, position):
    """X, other: (N, S, d_model). Returns X with the vector of `other` at one position."""
    ...  # three lines
''',
    solution='''\
def patch(X, other, position):
    """X, other: (N, S, d_model). Returns X with the vector of `other` at one position."""
    X = X.clone()  # (N, S, d_model)
    X[:, position] = other[:, position]
    return X
''',
    reference=_patched,
    cases=_cases_of_runs,
    mistakes=(
        ("You return `X` as it was: nothing is put in.", lambda X, other, position: X),
        ("You return the other run whole.", lambda X, other, position: other),
        (
            "You put the vector of X into the other run; it is the other way round.",
            lambda X, other, position: _patched(other, X, position),
        ),
        (
            "You replace one number in every vector. A position is the second dimension of "
            "(N, S, d_model).",
            lambda X, other, position: (
                torch.where(torch.arange(X.shape[-1]) == position, other, X)
                if position < X.shape[-1]
                else X
            ),
        ),
        (
            "You replace every position up to this one.",
            lambda X, other, position: torch.cat(
                [other[:, : position + 1], X[:, position + 1 :]], dim=1
            ),
        ),
        (
            "You replace this position and all behind it.",
            lambda X, other, position: torch.cat([X[:, :position], other[:, position:]], dim=1),
        ),
        (
            "You add the other vector to the one that is there; it takes its place.",
            lambda X, other, position: X + _patched(torch.zeros_like(X), other, position),
        ),
    ),
    wrong={
        """\
def patch(X, other, position):
    X[:, position] = other[:, position]
    return X
""": "changes its argument `X`",
        """\
def patch(X, other, position):
    other = other.clone()
    other[:, position] = X[:, position]
    return other
""": "other way round",
        """\
def patch(X, other, position):
    X = X.clone()
    X[:, position:] = other[:, position:]
    return X
""": "all behind it",
        """\
def patch(X, other, position):
    X = X.clone()
    X[:, position] += other[:, position]
    return X
""": "takes its place",
        """\
def patch(X, other, position):
    Y = X.clone()
    Y[:, position] = other[:, position]
    return X
""": "nothing is put in",
    },
    right=(
        """\
def patch(X, other, position):
    return torch.cat([X[:, :position], other[:, position : position + 1], X[:, position + 1 :]], 1)
""",
        """\
def patch(X, other, position):
    rows = list(X.unbind(dim=1))
    rows[position] = other[:, position]
    return torch.stack(rows, dim=1)
""",
    ),
)
