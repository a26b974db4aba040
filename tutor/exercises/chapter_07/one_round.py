"""One round of Muon's polynomial."""

import torch

from tutor.check.exercise import WRITE, Exercise
from tutor.training.optimizers import orthogonalize


def _polynomial(G, a=3.4445, b=-4.7750, c=2.0315):
    square = G @ G.mT  # (rows, rows)
    return a * G + b * (square @ G) + c * (square @ square @ G)  # (rows, columns)


def _cases_of_matrices():
    yield (torch.tensor([[0.9, 0.0], [0.0, 0.1]]),)
    for rows, columns in [(2, 2), (2, 5), (4, 3), (1, 3)]:
        G = torch.randn(rows, columns)
        yield (G / G.norm(),)


one_round = Exercise(
    name="one_round",
    chapter="07",
    section="Another optimizer: Muon",
    kind=WRITE,
    title="One round of Muon's polynomial",
    goal="Change all singular values of a matrix with products alone.",
    difficulty=2,
    importance=3,
    minutes=4,
    text="""\
One round of Muon's polynomial for a matrix $G$ of any shape:
$3.4445\\,G - 4.7750\\,(G G^T) G + 2.0315\\,(G G^T)^2 G$.""",
    hints=(
        "Give the product G Gᵀ a name first: it is needed three times.",
        "`square = G @ G.mT` has the shape (rows, rows). Its own square is `square @ square`, "
        "not `square**2`.",
        "`3.4445 * G - 4.7750 * square @ G + 2.0315 * square @ square @ G`.",
    ),
    stub='''\
def one_round(G):
    """3.4445 G - 4.7750 (G G^T) G + 2.0315 (G G^T)^2 G, for G (rows, columns)."""
    ...  # two lines
''',
    solution='''\
def one_round(G):
    """3.4445 G - 4.7750 (G G^T) G + 2.0315 (G G^T)^2 G, for G (rows, columns)."""
    square = G @ G.mT  # (rows, rows)
    return 3.4445 * G - 4.7750 * square @ G + 2.0315 * square @ square @ G  # (rows, columns)
''',
    reference=_polynomial,
    cases=_cases_of_matrices,
    forbidden=(orthogonalize,),
    mistakes=(
        (
            "`**` and `*` work number by number. The powers here are matrix products: `@`.",
            lambda G: 3.4445 * G - 4.7750 * G**3 + 2.0315 * G**5,
        ),
        (
            "`square**2` squares each number. The square of a matrix is `square @ square`.",
            lambda G: 3.4445 * G - 4.7750 * (G @ G.mT) @ G + 2.0315 * (G @ G.mT) ** 2 @ G,
        ),
        (
            "The sign of the second term is minus.",
            lambda G: _polynomial(G, b=4.7750),
        ),
        (
            "The third term is missing.",
            lambda G: _polynomial(G, c=0.0),
        ),
        (
            "The last term has the square of G Gᵀ; yours has G Gᵀ once.",
            lambda G: _polynomial(G, b=-4.7750 + 2.0315, c=0.0),
        ),
        (
            "Each term ends with G: without it the result has other values (and, if G is not "
            "square, another shape).",
            lambda G: 3.4445 * G - 4.7750 * (G @ G.mT) + 2.0315 * (G @ G.mT @ G @ G.mT),
        ),
    ),
    wrong={
        """\
def one_round(G):
    return 3.4445 * G - 4.7750 * G**3 + 2.0315 * G**5
""": "number by number",
        """\
def one_round(G):
    square = G @ G.mT
    return 3.4445 * G - 4.7750 * square @ G + 2.0315 * square**2 @ G
""": "squares each number",
        """\
def one_round(G):
    square = G @ G.T
    return 3.4445 * G + 4.7750 * square @ G + 2.0315 * square @ square @ G
""": "is minus",
        """\
def one_round(G):
    return 3.4445 * G - 4.7750 * G @ G.mT @ G
""": "third term is missing",
        """\
def one_round(G):
    square = G @ G.mT
    return 3.4445 * G - 4.7750 * square @ G + 2.0315 * square @ G
""": "yours has G Gᵀ once",
    },
    right=(
        """\
def one_round(G):
    U, s, R = torch.linalg.svd(G, full_matrices=False)
    s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return U @ s.diag() @ R
""",
        """\
def one_round(G):
    A = G @ G.mT
    B = -4.7750 * A + 2.0315 * A @ A
    return 3.4445 * G + B @ G
""",
    ),
)
