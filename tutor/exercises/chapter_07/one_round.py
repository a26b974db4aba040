"""One round of Muon's polynomial."""

import torch

from tutor.check.exercise import WRITE, Exercise
from tutor.training.optimizers import orthogonalize


def _polynomial(U, a=3.4445, b=-4.7750, c=2.0315):
    square = U @ U.mT  # (rows, rows)
    return a * U + b * (square @ U) + c * (square @ square @ U)  # (rows, columns)


def _cases_of_matrices():
    yield (torch.tensor([[0.9, 0.0], [0.0, 0.1]]),)
    for rows, columns in [(2, 2), (2, 5), (4, 3), (1, 3)]:
        U = torch.randn(rows, columns)
        yield (U / U.norm(),)


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
One round of Muon's polynomial for a matrix $U$ of any shape:
$3.4445\\,U - 4.7750\\,(U U^T) U + 2.0315\\,(U U^T)^2 U$.""",
    hints=(
        "Give the product U Uᵀ a name first: it is needed three times.",
        "`square = U @ U.mT` has the shape (rows, rows). Its own square is `square @ square`, "
        "not `square**2`.",
        "`3.4445 * U - 4.7750 * square @ U + 2.0315 * square @ square @ U`.",
    ),
    stub='''\
def one_round(U):
    """3.4445 U - 4.7750 (U U^T) U + 2.0315 (U U^T)^2 U, for U (rows, columns)."""
    ...  # two lines
''',
    solution='''\
def one_round(U):
    """3.4445 U - 4.7750 (U U^T) U + 2.0315 (U U^T)^2 U, for U (rows, columns)."""
    square = U @ U.mT  # (rows, rows)
    return 3.4445 * U - 4.7750 * square @ U + 2.0315 * square @ square @ U  # (rows, columns)
''',
    reference=_polynomial,
    cases=_cases_of_matrices,
    forbidden=(orthogonalize,),
    mistakes=(
        (
            "`**` and `*` work number by number. The powers here are matrix products: `@`.",
            lambda U: 3.4445 * U - 4.7750 * U**3 + 2.0315 * U**5,
        ),
        (
            "`square**2` squares each number. The square of a matrix is `square @ square`.",
            lambda U: 3.4445 * U - 4.7750 * (U @ U.mT) @ U + 2.0315 * (U @ U.mT) ** 2 @ U,
        ),
        (
            "The sign of the second term is minus.",
            lambda U: _polynomial(U, b=4.7750),
        ),
        (
            "The third term is missing.",
            lambda U: _polynomial(U, c=0.0),
        ),
        (
            "The last term has the square of U Uᵀ; yours has U Uᵀ once.",
            lambda U: _polynomial(U, b=-4.7750 + 2.0315, c=0.0),
        ),
        (
            "Each term ends with U: without it the result has other values (and, if U is not "
            "square, another shape).",
            lambda U: 3.4445 * U - 4.7750 * (U @ U.mT) + 2.0315 * (U @ U.mT @ U @ U.mT),
        ),
    ),
    wrong={
        """\
def one_round(U):
    return 3.4445 * U - 4.7750 * U**3 + 2.0315 * U**5
""": "number by number",
        """\
def one_round(U):
    square = U @ U.mT
    return 3.4445 * U - 4.7750 * square @ U + 2.0315 * square**2 @ U
""": "squares each number",
        """\
def one_round(U):
    square = U @ U.T
    return 3.4445 * U + 4.7750 * square @ U + 2.0315 * square @ square @ U
""": "is minus",
        """\
def one_round(U):
    return 3.4445 * U - 4.7750 * U @ U.mT @ U
""": "third term is missing",
        """\
def one_round(U):
    square = U @ U.mT
    return 3.4445 * U - 4.7750 * square @ U + 2.0315 * square @ U
""": "yours has U Uᵀ once",
    },
    right=(
        """\
def one_round(U):
    left, s, right = torch.linalg.svd(U, full_matrices=False)
    s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return left @ s.diag() @ right
""",
        """\
def one_round(U):
    A = U @ U.mT
    B = -4.7750 * A + 2.0315 * A @ A
    return 3.4445 * U + B @ U
""",
    ),
)
