"""Cut by the number of heads."""

import torch

from tutor.attention import (
    slice_vertically,
)
from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_03.shared import cut_by_number


def _cases_to_cut():
    yield 10 * torch.arange(2.0)[:, None] + torch.arange(6), 3
    for N, T, width, h in [((), 3, 1, 2), ((1,), 5, 4, 3), ((2,), 3, 5, 4), ((3, 2), 4, 5, 1)]:
        yield torch.randn(*N, T, h * width), h


cut_into_h = Exercise(
    name="cut_into_h",
    chapter="03",
    section="Cutting and joining, entry by entry",
    kind=WRITE,
    title="Cut by the number of heads",
    goal="Cut columns into heads so that a word's slices hold that word's numbers alone.",
    difficulty=2,
    importance=5,
    minutes=10,
    text="""\
The chapter cuts by the *width* of a head. Write the cut by the *number* of heads. Any number of
batch dimensions may stand in front; the number of heads divides the columns. Do not call
`slice_vertically`, which is told the width of a slice and not how many there are.""",
    hints=(
        "Two steps: cut within the rows, then swap. What is the shape in between?",
        "In between it is (..., T, h, width). `X.unflatten(-1, (h, width))` cuts the last "
        "dimension in two.",
        "The swap is the chapter's: `.transpose(-3, -2)`. In `unflatten`, one of the two sizes may "
        "be -1.",
    ),
    stub='''\
def cut_into_h(X, num_heads):
    """Cut the columns of X into heads.

    X: tensor (..., T, h * width)
    num_heads: int, h
    Returns a tensor (..., h, T, width)
    """
    raise NotImplementedError
''',
    solution='''\
def cut_into_h(X, num_heads):
    """Cut the columns of X into heads.

    X: tensor (..., T, h * width)
    num_heads: int, h
    Returns a tensor (..., h, T, width)
    """
    return X.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, T, width)
''',
    reference=cut_by_number,
    cases=_cases_to_cut,
    forbidden=(slice_vertically,),
    mistakes=(
        (
            "`view` or `reshape` straight to (h, T, width) reads in the order of memory: a head's "
            "row holds numbers of several words. Cut within the rows, then swap.",
            lambda X, h: X.reshape(*X.shape[:-2], h, X.shape[-2], -1),
        ),
        (
            "The swap is missing: your result is (..., T, h, width), and the heads come before the "
            "words.",
            lambda X, h: X.unflatten(-1, (h, -1)),
        ),
        (
            "You cut by the width: slices of `num_heads` columns. It is the number of slices.",
            lambda X, h: X.unflatten(-1, (-1, h)).transpose(-3, -2),
        ),
        (
            "Your heads take every h-th column. A head owns columns that stand side by side.",
            lambda X, h: torch.stack([X[..., m::h] for m in range(h)], dim=-3),
        ),
        (
            "Your last two dimensions are exchanged: rows are words, (T, width).",
            lambda X, h: X.unflatten(-1, (h, -1)).transpose(-3, -2).transpose(-2, -1),
        ),
        (
            "The swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X, h: X.unflatten(-1, (h, -1)).transpose(1, 2),
        ),
        (
            "The swap counts dimensions from the front, so a batch moves it; count from the end.",
            lambda X, h: X.unflatten(-1, (h, -1)).transpose(0, 1),
        ),
        (
            "A list of heads is not a tensor yet: stack them, the heads in front of the words.",
            lambda X, h: X.chunk(h, dim=-1),
        ),
        (
            "Your heads stand in front of the batch; the order is (..., h, T, width).",
            lambda X, h: torch.stack(X.chunk(h, dim=-1)),
        ),
    ),
    wrong={
        """\
def cut_into_h(X, num_heads):
    *N, T, columns = X.shape
    return X.view(*N, num_heads, T, columns // num_heads)
""": "order of memory",
        """\
def cut_into_h(X, num_heads):
    *N, T, columns = X.shape
    return X.view(*N, T, num_heads, columns // num_heads)
""": "swap is missing",
        """\
def cut_into_h(X, num_heads):
    return torch.stack(X.split(num_heads, dim=-1), dim=-3)
""": "number of slices",
        """\
def cut_into_h(X, num_heads):
    width = X.shape[-1] // num_heads
    cut = X.unflatten(-1, (width, num_heads))
    return torch.einsum("...twh->...htw", cut)
""": "every h-th column",
        """\
def cut_into_h(X, num_heads):
    width = X.shape[-1] // num_heads
    return X.mT.unflatten(-2, (num_heads, width))
""": "exchanged",
        """\
def cut_into_h(X, num_heads):
    N = X.size(0)
    return X.view(*X.shape[:-1], num_heads, -1).swapaxes(1, 2)
""": "from the front",
        """\
def cut_into_h(X, num_heads):
    width = X.shape[-1] // num_heads
    return [X[..., m * width : (m + 1) * width] for m in range(num_heads)]
""": "not a tensor yet",
        """\
def cut_into_h(X, num_heads):
    width = X.shape[-1] // num_heads
    return torch.stack([X[..., m * width : (m + 1) * width] for m in range(num_heads)])
""": "in front of the batch",
        """\
def cut_into_h(X, num_heads):
    from tutor import slice_vertically
    return slice_vertically(X, X.shape[-1] // num_heads)
""": "calls `slice_vertically`",
    },
    right=(
        """\
def cut_into_h(X, num_heads):
    return torch.stack(X.chunk(num_heads, dim=-1), dim=-3)
""",
        """\
def cut_into_h(X, num_heads):
    *N, T, columns = X.shape
    cut = X.reshape(*N, T, num_heads, columns // num_heads)
    return torch.einsum("...thw->...htw", cut)
""",
        """\
def cut_into_h(X, num_heads):
    *N, T, columns = X.shape
    width = columns // num_heads
    heads = torch.empty(*N, num_heads, T, width)
    for m in range(num_heads):
        for c in range(width):
            heads[..., m, :, c] = X[..., m * width + c]
    return heads
""",
    ),
)
