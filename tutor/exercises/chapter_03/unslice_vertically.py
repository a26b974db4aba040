"""Join the heads again."""

import torch

from tutor.attention import unslice_vertically as shipped
from tutor.check.exercise import WRITE, Exercise
from tutor.museum import EXHIBITS


def _cases_to_join():
    yield (torch.stack((10 * torch.arange(2.0)[:, None] + torch.arange(6)).split(2, dim=-1)),)
    for N, h, T, width in [((), 2, 3, 1), ((1,), 3, 5, 4), ((2,), 4, 3, 5), ((3, 2), 1, 4, 5)]:
        yield (torch.randn(*N, h, T, width),)


unslice_vertically = Exercise(
    name="unslice_vertically",
    chapter="03",
    section="One product, cut into slices",
    kind=WRITE,
    title="Join the heads",
    goal="Join heads so that every word gets its own numbers back.",
    difficulty=2,
    importance=5,
    minutes=3,
    text="""\
Put the slices of all heads side by side again. Any number of batch dimensions may stand in
front.""",
    hints=(
        "The way back takes both steps of the cut in reverse order.",
        "Before the last two dimensions can become one, they must be the heads and the width. Swap "
        "words and heads first.",
        "`.transpose(-3, -2)` swaps, and `.flatten(-2)` makes one dimension of the last two.",
    ),
    stub='''\
def unslice_vertically(X):
    """Put the slices of X (..., h, T, width) side by side: (..., T, h * width)."""
    ...  # one line
''',
    solution='''\
def unslice_vertically(X):
    """Put the slices of X (..., h, T, width) side by side: (..., T, h * width)."""
    return X.transpose(-3, -2).flatten(-2)  # (..., T, h * width)
''',
    because="The way back takes both steps of the cut in reverse: swap, then flatten.",
    reference=shipped,
    cases=_cases_to_join,
    mistakes=(
        (
            "The swap is missing: cut and join, and what comes back is not what went in. The first "
            "word holds numbers of other words.",
            EXHIBITS["join_the_heads"].wrong,
        ),
        (
            "The swap is missing: the heads and the width must stand last before you flatten. "
            "First `.transpose(-3, -2)`.",
            lambda X: X.flatten(-2),
        ),
        (
            "Your swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X: X.transpose(1, 2).flatten(-2),
        ),
        (
            "Your swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X: X.transpose(0, 1).flatten(-2),
        ),
        (
            "The right words, but the columns of the heads alternate. A head's columns stand side "
            "by side.",
            lambda X: X.movedim(-3, -1).flatten(-2),
        ),
        (
            "The heads stand one below the other: the result has h * T rows and should have T.",
            lambda X: X.flatten(-3, -2),
        ),
        (
            "The heads are added up, and each should keep columns of its own.",
            lambda X: X.sum(dim=-3),
        ),
        (
            "The heads are averaged, and each should keep columns of its own.",
            lambda X: X.mean(dim=-3),
        ),
        (
            "You swapped words and columns; heads and words must be swapped.",
            lambda X: X.transpose(-2, -1).reshape(*X.shape[:-3], X.shape[-2], -1),
        ),
        (
            "Your swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X: X.transpose(1, 2).reshape(*X.shape[:-3], X.shape[-2], -1),
        ),
        (
            "Your `flatten` counts dimensions from the front, so a batch moves it; it must join "
            "the last two.",
            lambda X: X.transpose(-3, -2).flatten(1),
        ),
        (
            "You flatten before you swap, so the heads' columns are gone when you need them. First "
            "swap words and heads, then flatten.",
            lambda X: X.flatten(-2).transpose(-3, -2),
        ),
        (
            "Swapped and right, but still cut: one dimension must be made of the last two.",
            lambda X: X.transpose(-3, -2),
        ),
    ),
    wrong={
        """\
def unslice_vertically(X):
    return X.flatten(-3).unflatten(-1, (X.shape[-2], -1))
""": "swap is missing",
        """\
def unslice_vertically(X):
    return torch.einsum("...htw->...twh", X).flatten(-2)
""": "alternate",
        """\
def unslice_vertically(X):
    return torch.cat(list(X.unbind(-3)), dim=-2)
""": "one below the other",
        """\
def unslice_vertically(X):
    return sum(X[..., m, :, :] for m in range(X.shape[-3]))
""": "added up",
        """\
def unslice_vertically(X):
    *N, h, T, width = X.shape
    return X.mT.reshape(*N, T, h * width)
""": "words and columns",
        """\
def unslice_vertically(X):
    *N, h, T, width = X.shape
    return X.swapaxes(1, 2).contiguous().view(*N, T, h * width)
""": "from the front",
        """\
def unslice_vertically(X):
    return X.flatten(-2)
""": "stand last before you flatten",
        """\
def unslice_vertically(X):
    return X.transpose(1, 2).flatten(-2)
""": "from the front",
        """\
def unslice_vertically(X):
    return X.transpose(-2, -3).flatten(start_dim=1)
""": "flatten` counts dimensions from the front",
        """\
def unslice_vertically(X):
    Y = X.flatten(-2)
    return Y.transpose(-3, -2)
""": "flatten before you swap",
        """\
def unslice_vertically(X):
    return X.movedim(-3, -2)
""": "still cut",
        """\
def unslice_vertically(X):
    *N, h, T, width = X.shape
    return X.transpose(-3, -2).view(*N, T, h * width)
""": "view size is not compatible",
    },
    right=(
        """\
def unslice_vertically(X):
    return torch.cat(X.unbind(-3), dim=-1)
""",
        """\
def unslice_vertically(X):
    *N, h, T, width = X.shape
    return X.transpose(-3, -2).reshape(*N, T, h * width)
""",
        """\
def unslice_vertically(X):
    *N, h, T, width = X.shape
    Y = X.new_empty(*N, T, h * width)
    for m in range(h):
        Y[..., m * width : (m + 1) * width] = X[..., m, :, :]
    return Y
""",
    ),
)
