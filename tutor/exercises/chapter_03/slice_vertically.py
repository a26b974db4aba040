"""Cut columns into heads."""

import torch

from tutor.attention import slice_vertically as shipped
from tutor.check.exercise import WRITE, Exercise


def _cases_to_cut():
    yield 10 * torch.arange(2.0)[:, None] + torch.arange(6), 2
    for N, T, width, h in [((), 3, 1, 2), ((1,), 5, 4, 3), ((2,), 3, 5, 4), ((3, 2), 4, 5, 1)]:
        yield torch.randn(*N, T, h * width), width


def _number(X, width):
    return X.shape[-1] // width


slice_vertically = Exercise(
    name="slice_vertically",
    chapter="03",
    section="One product, cut into slices",
    kind=WRITE,
    title="Cut into heads",
    goal="Cut columns into heads so that a word's slices hold that word's numbers alone.",
    difficulty=2,
    importance=5,
    minutes=3,
    text="""\
Cut the columns of a matrix into slices of a given width, one slice for each head. Any number of
batch dimensions may stand in front; the width divides the columns.""",
    hints=(
        "Two steps: cut within the rows, then swap. What is the shape in between?",
        "In between it is (..., T, h, width). `X.unflatten(-1, (-1, width))` cuts the last "
        "dimension in two; -1 means as many as fit.",
        "The swap must bring the heads before the words: `.transpose(-3, -2)`.",
    ),
    stub='''\
def slice_vertically(X, width):
    """Cut the columns of X (..., T, h * width) into slices (..., h, T, width)."""
    ...  # one line
''',
    solution='''\
def slice_vertically(X, width):
    """Cut the columns of X (..., T, h * width) into slices (..., h, T, width)."""
    if X.shape[-1] % width:
        raise ValueError(
            f"{X.shape[-1]} columns cannot be cut into slices of {width}: choose a width that "
            "divides the number of columns."
        )
    return X.unflatten(-1, (-1, width)).transpose(-3, -2)  # (..., h, T, width)
''',
    reference=shipped,
    cases=_cases_to_cut,
    mistakes=(
        (
            "`view` or `reshape` straight to (h, T, width) reads in the order of memory: a head's "
            "row holds numbers of several words. Cut within the rows, then swap.",
            lambda X, width: X.reshape(*X.shape[:-2], -1, X.shape[-2], width),
        ),
        (
            "`view` or `reshape` straight to (h, T, width) reads in the order of memory: a head's "
            "row holds numbers of several words. Cut within the rows, then swap.",
            lambda X, width: X.reshape(-1, X.shape[-2], width),
        ),
        (
            "The swap is missing: your result is (..., T, h, width), and the heads come before the "
            "words.",
            lambda X, width: X.unflatten(-1, (-1, width)),
        ),
        (
            "You cut by the number: `width` slices. It is how many columns a slice has.",
            lambda X, width: X.unflatten(-1, (width, -1)).transpose(-3, -2),
        ),
        (
            "Your heads take every h-th column. A head owns columns that stand side by side.",
            lambda X, width: torch.stack(
                [X[..., m :: _number(X, width)] for m in range(_number(X, width))], dim=-3
            ),
        ),
        (
            "Your last two dimensions are exchanged: rows are words, (T, width).",
            lambda X, width: X.unflatten(-1, (-1, width)).transpose(-3, -2).transpose(-2, -1),
        ),
        (
            "The swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X, width: X.unflatten(-1, (-1, width)).transpose(1, 2),
        ),
        (
            "The swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X, width: X.unflatten(-1, (-1, width)).transpose(0, 1),
        ),
        (
            "A list of heads is not a tensor yet: stack them, the heads in front of the words.",
            lambda X, width: X.split(width, dim=-1),
        ),
        (
            "Your heads stand in front of the batch; the order is (..., h, T, width).",
            lambda X, width: torch.stack(X.split(width, dim=-1)),
        ),
    ),
    wrong={
        """\
def slice_vertically(X, width):
    *N, T, columns = X.shape
    return X.view(*N, columns // width, T, width)
""": "order of memory",
        """\
def slice_vertically(X, width):
    return X.view(-1, X.shape[-2], width)
""": "reads in the order of memory",
        """\
def slice_vertically(X, width):
    *N, T, columns = X.shape
    return X.view(*N, T, columns // width, width)
""": "swap is missing",
        """\
def slice_vertically(X, width):
    return torch.stack(X.chunk(width, dim=-1), dim=-3)
""": "how many columns a slice has",
        """\
def slice_vertically(X, width):
    cut = X.unflatten(-1, (width, X.shape[-1] // width))
    return torch.einsum("...twh->...htw", cut)
""": "every h-th column",
        """\
def slice_vertically(X, width):
    return X.mT.unflatten(-2, (-1, width))
""": "exchanged",
        """\
def slice_vertically(X, width):
    return X.view(*X.shape[:-1], -1, width).swapaxes(1, 2)
""": "from the front",
        """\
def slice_vertically(X, width):
    heads = X.shape[-1] // width
    return [X[..., m * width : (m + 1) * width] for m in range(heads)]
""": "not a tensor yet",
        """\
def slice_vertically(X, width):
    heads = X.shape[-1] // width
    return torch.stack([X[..., m * width : (m + 1) * width] for m in range(heads)])
""": "in front of the batch",
        """\
def slice_vertically(X, width):
    from tutor import attention
    return attention.slice_vertically(X, width)
""": "calls `slice_vertically`",
    },
    right=(
        """\
def slice_vertically(X, width):
    return X.unflatten(-1, (-1, width)).transpose(-3, -2)
""",
        """\
def slice_vertically(X, width):
    return torch.stack(X.split(width, dim=-1), dim=-3)
""",
        """\
def slice_vertically(X, width):
    cut = X.reshape(*X.shape[:-1], X.shape[-1] // width, width)
    return torch.einsum("...thw->...htw", cut)
""",
        """\
def slice_vertically(X, width):
    *N, T, columns = X.shape
    heads = torch.empty(*N, columns // width, T, width)
    for m in range(columns // width):
        for c in range(width):
            heads[..., m, :, c] = X[..., m * width + c]
    return heads
""",
    ),
)
