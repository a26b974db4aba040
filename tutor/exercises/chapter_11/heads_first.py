"""Rows in another library's order."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _reordered(axes, order=None, turned=False):
    """Rows cut along three axes, such as ("h", 3, "d_k"), and laid out in another order of them."""

    def reorder(packed, num_heads):
        d_k = len(packed) // 3 // num_heads
        cut = [{"h": num_heads, "d_k": d_k}.get(axis, axis) for axis in axes]
        rows = torch.arange(len(packed)).reshape(cut).permute(order or (0, 1, 2)).flatten()
        return packed[rows.flip(0) if turned else rows]

    return reorder


_right = _reordered(("h", 3, "d_k"), (1, 0, 2))


def _only_matrices(reorder_matrix, kind):
    """A way with matrices alone; a vector raises."""

    def reorder(packed, num_heads):
        if packed.dim() == 1:
            raise kind
        return reorder_matrix(packed, num_heads)

    return reorder


def _in_blocks(packed, num_heads):
    """The result with the dimensions into which it was cut."""
    return _right(packed, num_heads).unflatten(0, (3, num_heads, -1))


def _values_before_keys(packed, num_heads):
    Q, K, V = _right(packed, num_heads).chunk(3)
    return torch.cat([Q, V, K])


def _a_third(packed, num_heads):
    return _right(packed, num_heads).chunk(3)[0]


def _heads_backwards(packed, num_heads):
    thirds = _right(packed, num_heads).chunk(3)
    return torch.cat([head for third in thirds for head in reversed(third.chunk(num_heads))])


def _cases_of_rows():
    for d_model, num_heads in [(2, 2), (4, 2), (6, 3), (9, 3), (4, 1), (8, 4)]:
        yield torch.randn(3 * d_model, d_model), num_heads
        if num_heads > 1:
            yield torch.randn(3 * d_model), num_heads


heads_first = Exercise(
    name="heads_first",
    chapter="11",
    section="One machine, six sets of names",
    kind=WRITE,
    title="It loads, and is wrong",
    goal="Carry packed weights between two orders that have the same shape.",
    difficulty=3,
    importance=4,
    minutes=9,
    text="""\
GPT-NeoX and BLOOM keep queries, keys and values in one matrix of shape $(3 d_{model}, d_{model})$,
turned as `in_proj_weight` is. Loaded into `nn.MultiheadAttention`, it fits, and the results are
wrong, because the rows stand in another order:

- there, **head by head**: the $d_k$ rows of head 0 that make its query, those that make its key,
  those that make its value; then the same for head 1, and so on;
- in PyTorch, **all queries** (head 0, head 1, ...), then all keys, then all values.

Bring rows of their order into PyTorch's. The bias, of shape $(3 d_{model},)$, has the same order as
the rows, so your function takes a matrix or a vector.""",
    hints=(
        "A place among the rows has three coordinates: head, sort (query, key or value), and place "
        "within the head. Which of them changes slowest there, and which in PyTorch?",
        "`packed.unflatten(0, (num_heads, 3, -1))` gives the coordinates three dimensions of their "
        "own, whatever dimensions follow.",
        "Exchange dimensions 0 and 1 with `.transpose(0, 1)`, and put the three together again "
        "with `.flatten(0, 2)`.",
    ),
    stub='''\
def heads_first(packed, num_heads):
    """Their rows in PyTorch's order.

    packed: float tensor (3 * d_model, d_model) or (3 * d_model,), rows head by head
    Returns a tensor of the same shape, rows as in nn.MultiheadAttention
    """
    raise NotImplementedError
''',
    solution='''\
def heads_first(packed, num_heads):
    """Their rows in PyTorch's order.

    packed: float tensor (3 * d_model, d_model) or (3 * d_model,), rows head by head
    Returns a tensor of the same shape, rows as in nn.MultiheadAttention
    """
    rows = packed.unflatten(0, (num_heads, 3, -1))  # (h, 3, d_k, ...)
    return rows.transpose(0, 1).flatten(0, 2)  # (3 * d_model, ...)
''',
    because="A reshape never moves a number; it is the transpose in the middle that does.",
    reference=_right,
    cases=_cases_of_rows,
    mistakes=(
        (
            "The rows stand where they stood. Cutting and joining moves nothing: two of the three "
            "dimensions must change places in between.",
            lambda packed, num_heads: packed,
        ),
        (
            "You go the other way, from PyTorch's order to theirs. Cut the rows as they are: heads "
            "outside, then query, key, value.",
            _reordered((3, "h", "d_k"), (1, 0, 2)),
        ),
        (
            "You take every third row. Query, key and value of a head are blocks of d_k rows, one "
            "behind the other.",
            _reordered(("h", "d_k", 3), (2, 0, 1)),
        ),
        (
            "You take every third row, and the other dimensions are mixed up, too. Query, key and "
            "value of a head are blocks of d_k rows.",
            _reordered(("h", "d_k", 3), (2, 1, 0)),
        ),
        (
            "The rows of the heads take turns. Within queries, keys or values the d_k rows of head "
            "0 come first, then those of head 1.",
            _reordered(("h", 3, "d_k"), (1, 2, 0)),
        ),
        (
            "Within each head the rows take turns: query, key, value, query. They are to be sorted "
            "for the whole matrix, not within a head.",
            _reordered(("h", 3, "d_k"), (0, 2, 1)),
        ),
        (
            "All three dimensions are turned over. The place within the head stays innermost; only "
            "the other two change places.",
            _reordered(("h", 3, "d_k"), (2, 1, 0)),
        ),
        (
            "The d_k rows of a head are torn apart: the place within the head stays innermost.",
            _reordered(("h", 3, "d_k"), (2, 0, 1)),
        ),
        ("Values come before keys here. The order is queries, keys, values.", _values_before_keys),
        ("The heads are in the order of the last to the first.", _heads_backwards),
        ("Those are the rows of the queries alone; keys and values follow.", _a_third),
        (
            "The numbers are right, but the result still has the dimensions into which you cut it. "
            "Put the first three together.",
            _in_blocks,
        ),
        *(
            (
                "A matrix comes out right, and a bias raises an exception: it has one dimension. "
                "Cut dimension 0 alone, and leave to the rest whatever it is.",
                _only_matrices(_right, kind),
            )
            for kind in (RuntimeError, ValueError, IndexError)
        ),
        (
            "You take every third row, and a bias raises an exception. Query, key and value of a "
            "head are blocks of d_k rows, and a bias has one dimension.",
            _only_matrices(_reordered(("h", "d_k", 3), (2, 0, 1)), RuntimeError),
        ),
        (
            "You go from PyTorch's order to theirs, and a bias raises an exception. Cut the rows "
            "as they are, heads outside, and dimension 0 alone.",
            _only_matrices(_reordered((3, "h", "d_k"), (1, 0, 2)), RuntimeError),
        ),
    ),
    wrong={
        """\
def heads_first(packed, num_heads):
    return packed
""": "stand where they stood",
        """\
def heads_first(packed, num_heads):
    return packed.unflatten(0, (num_heads, 3, -1)).reshape(packed.shape)
""": "stand where they stood",
        """\
def heads_first(packed, num_heads):
    return packed.unflatten(0, (3, num_heads, -1)).transpose(0, 1).reshape(packed.shape)
""": "the other way",
        """\
def heads_first(packed, num_heads):
    return torch.cat([packed[i::3] for i in range(3)])
""": "every third row",
        """\
def heads_first(packed, num_heads):
    d_k = len(packed) // 3 // num_heads
    return torch.cat([packed[i :: 3 * d_k] for i in range(3 * d_k)])
""": "take turns",
        """\
def heads_first(packed, num_heads):
    heads = [head.chunk(3) for head in packed.chunk(num_heads)]
    return torch.cat([part for head in heads for part in head])
""": "stand where they stood",
        """\
def heads_first(packed, num_heads):
    heads = [head.chunk(3) for head in packed.chunk(num_heads)]
    return torch.cat([head[i] for i in (0, 2, 1) for head in heads])
""": "before keys",
        """\
def heads_first(packed, num_heads):
    return packed.unflatten(0, (num_heads, 3, -1)).transpose(0, 1)
""": "still has the dimensions",
        """\
def heads_first(packed, num_heads):
    d_model = packed.shape[1]
    rows = packed.reshape(num_heads, 3, d_model // num_heads, d_model)
    return rows.transpose(0, 1).reshape(3 * d_model, d_model)
""": "a bias raises",
        """\
def heads_first(packed, num_heads):
    rows = packed.reshape(num_heads, 3, -1, len(packed) // 3)
    return rows.transpose(0, 1).reshape(packed.shape)
""": "a bias raises",
        """\
def heads_first(packed, num_heads):
    return packed.unflatten(0, (num_heads, -1, 3)).permute(2, 0, 1, 3).reshape(packed.shape)
""": "every third row, and a bias",
        """\
def heads_first(packed, num_heads):
    rows = packed.unflatten(0, (num_heads, 3, -1))
    return rows.transpose(0, 2).reshape(packed.shape)
""": "three dimensions are turned over",
        """\
def heads_first(packed, num_heads):
    rows = packed.unflatten(0, (num_heads, 3, -1))
    return rows.transpose(1, 2).reshape(packed.shape)
""": "Within each head",
        """\
def heads_first(packed, num_heads):
    return packed.unflatten(0, (num_heads, 3, -1))[:, 0].reshape(-1, *packed.shape[1:])
""": "queries alone",
    },
    right=(
        """\
def heads_first(packed, num_heads):
    d_k = len(packed) // (3 * num_heads)
    rows = []
    for sort in range(3):
        for head in range(num_heads):
            first = (head * 3 + sort) * d_k
            rows.append(packed[first : first + d_k])
    return torch.cat(rows)
""",
        """\
def heads_first(packed, num_heads):
    rows = torch.arange(len(packed)).reshape(num_heads, 3, -1).transpose(0, 1).flatten()
    return packed[rows]
""",
        """\
def heads_first(packed, num_heads):
    heads = [head.chunk(3) for head in packed.chunk(num_heads)]
    return torch.cat([torch.cat([head[i] for head in heads]) for i in range(3)])
""",
        """\
def heads_first(packed, num_heads):
    new = torch.empty_like(packed)
    d_model = len(packed) // 3
    d_k = d_model // num_heads
    for r in range(len(packed)):
        head, rest = divmod(r, 3 * d_k)
        sort, place = divmod(rest, d_k)
        new[sort * d_model + head * d_k + place] = packed[r]
    return new
""",
    ),
)
