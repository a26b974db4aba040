"""Take a head away."""

import torch

from tutor.attention import unslice_vertically
from tutor.check.exercise import WRITE, Exercise


def _merge(Y, W_O):
    return unslice_vertically(Y) @ W_O


def _without_head(Y, W_O, head):
    """The sum over all heads but one of what each adds."""
    d_v = Y.shape[-1]
    parts = [Y[:, i] @ W_O[i * d_v : (i + 1) * d_v] for i in range(Y.shape[1]) if i != head]
    return sum(parts, Y.new_zeros(Y.shape[0], Y.shape[2], W_O.shape[1]))


def _rows_off(rows_of):
    """Zeros in other rows of W_O: rows_of(head, h, d_v, d_model) is a slice."""

    def without(Y, W_O, head):
        W_O = W_O.clone()
        W_O[rows_of(head, Y.shape[1], Y.shape[3], W_O.shape[1])] = 0
        return _merge(Y, W_O)

    return without


def _columns_off(Y, W_O, head):
    W_O, d_v = W_O.clone(), Y.shape[-1]
    W_O[:, head * d_v : (head + 1) * d_v] = 0
    return _merge(Y, W_O)


def _first_rows(Y, W_O, head):
    """The head is taken out of Y, and the first rows of W_O meet what is left."""
    rest = unslice_vertically(torch.cat([Y[:, :head], Y[:, head + 1 :]], dim=1))
    return rest @ W_O[: rest.shape[-1]]


def _cases_of_heads():
    for N, h, T, d_v, d_model, head in [
        (1, 2, 1, 1, 2, 1),
        (1, 2, 1, 1, 2, 0),
        (1, 3, 2, 2, 4, 1),
        (2, 3, 4, 5, 6, 2),
        (2, 4, 3, 3, 12, 1),
        (3, 1, 2, 4, 5, 0),
    ]:
        yield torch.randn(N, h, T, d_v), torch.randn(h * d_v, d_model), head
    yield torch.zeros(2, 2, 3, 2), torch.randn(4, 4), 0


result_without_a_head = Exercise(
    name="result_without_a_head",
    chapter="10",
    section="Switching a head off",
    kind=WRITE,
    title="Take a head away",
    goal="Switch one head off before the heads are brought together.",
    difficulty=2,
    importance=4,
    minutes=6,
    text="""\
The heads of an attention have done their work; `Y` holds their results. What is left is to put the
results side by side and to multiply with $W^O$. Do so, but let one head add nothing. The caller
still needs `Y` and the whole `W_O`, so work on a copy.""",
    hints=(
        "A head that hands over zeros adds zeros. `Y.clone()` is a copy.",
        "The heads are the second dimension: `Y[:, head] = 0.0`, on the copy.",
        "`Y.transpose(1, 2).flatten(2)` puts the heads side by side, (N, T, h * d_v). Multiply "
        "that with `W_O`.",
    ),
    stub='''\
def result_without_a_head(Y, W_O, head):
    """Y: (N, h, T, d_v), W_O: (h * d_v, d_model). Returns (N, T, d_model)."""
    ...  # three lines: silence the head in a copy, put the heads side by side, multiply
''',
    solution='''\
def result_without_a_head(Y, W_O, head):
    """Y: (N, h, T, d_v), W_O: (h * d_v, d_model). Returns (N, T, d_model)."""
    Y = Y.clone()
    Y[:, head] = 0.0
    return Y.transpose(1, 2).flatten(2) @ W_O  # (N, T, d_model)
''',
    because="Heads add up behind W_O, so a head without rows is gone and the others stay.",
    reference=_without_head,
    cases=_cases_of_heads,
    mistakes=(
        (
            "Your head is still there: nothing was switched off.",
            lambda Y, W_O, head: _merge(Y, W_O),
        ),
        (
            "You set columns of W_O to zero. Columns belong to the result, of which every head has "
            "a say; a head's rows are what it adds.",
            _columns_off,
        ),
        (
            "You set every h-th row of W_O to zero. The rows of a head stand together.",
            _rows_off(lambda head, h, d_v, d_model: slice(head, None, h)),
        ),
        (
            "You set one row of W_O to zero; a head has d_v rows.",
            _rows_off(lambda head, h, d_v, d_model: slice(head, head + 1)),
        ),
        (
            "Your rows begin at `head`; the rows of a head begin at head times d_v.",
            _rows_off(lambda head, h, d_v, d_model: slice(head, head + d_v)),
        ),
        (
            "You count d_model / h rows for each head. The width of a head's result is d_v.",
            _rows_off(
                lambda head, h, d_v, d_model: slice(
                    head * (d_model // h), (head + 1) * (d_model // h)
                )
            ),
        ),
        (
            "You keep the one head and switch the others off.",
            lambda Y, W_O, head: _merge(Y, W_O) - _without_head(Y, W_O, head),
        ),
        (
            "The head is out, but the heads behind it meet rows of W_O that are not theirs: zero "
            "the rows, or leave them out as well.",
            _first_rows,
        ),
        (
            "You make up for the head that is gone: the others stay as they are.",
            lambda Y, W_O, head: (
                _without_head(Y, W_O, head) * (Y.shape[1] / max(1, Y.shape[1] - 1))
            ),
        ),
        (
            "The heads are joined without swapping heads and words back: transpose first.",
            lambda Y, W_O, head: (
                Y.index_fill(1, torch.tensor([head]), 0).reshape(
                    Y.shape[0], Y.shape[2], W_O.shape[0]
                )
                @ W_O
            ),
        ),
        (
            "You counted the heads from 1; `head` counts them from 0.",
            lambda Y, W_O, head: _without_head(Y, W_O, head - 1 if head else Y.shape[1] - 1),
        ),
    ),
    wrong={
        """\
def result_without_a_head(Y, W_O, head):
    Y[:, head] = 0.0
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "changes its argument `Y`",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    left = torch.cat([W_O[: head * d_v], W_O[head * d_v :]])
    return Y.transpose(1, 2).reshape(N, T, h * d_v) @ left
""": "nothing was switched off",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    keep = torch.ones(W_O.shape[1])
    keep[head * d_v : head * d_v + d_v] = 0
    return Y.transpose(1, 2).reshape(N, T, -1) @ (W_O * keep)
""": "columns of W_O",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    keep = (torch.arange(h * d_v) % h != head).float()
    return Y.transpose(1, 2).reshape(N, T, -1) @ (W_O * keep[:, None])
""": "every h-th row",
        """\
def result_without_a_head(Y, W_O, head):
    W = torch.clone(W_O)
    W[head] = 0
    return Y.transpose(1, 2).flatten(start_dim=2) @ W
""": "one row",
        """\
def result_without_a_head(Y, W_O, head):
    d_v = Y.size(-1)
    W = torch.cat([W_O[:head], 0 * W_O[head : head + d_v], W_O[head + d_v :]])
    return Y.transpose(1, 2).flatten(2) @ W
""": "begin at `head`",
        """\
def result_without_a_head(Y, W_O, head):
    d = W_O.shape[1] // Y.shape[1]
    W = W_O.clone()
    W[d * head : d * (head + 1), :] = 0
    return Y.permute(0, 2, 1, 3).flatten(2) @ W
""": "d_model / h",
        """\
def result_without_a_head(Y, W_O, head):
    d_v = Y.shape[-1]
    return Y[:, head] @ W_O[head * d_v : (head + 1) * d_v]
""": "switch the others off",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    others = [i for i in range(h) if i != head]
    return Y[:, others].transpose(1, 2).flatten(2) @ W_O[: (h - 1) * d_v]
""": "not theirs",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    parts = [Y[:, i] @ W_O[i * d_v : (i + 1) * d_v] for i in range(h) if i != head]
    if not parts:
        return torch.zeros(N, T, W_O.shape[1])
    return torch.stack(parts).mean(dim=0) * h
""": "make up",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    silent = Y * (torch.arange(h) != head)[:, None, None]
    return silent.reshape(N, T, h * d_v) @ W_O
""": "without swapping",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    silent = torch.stack([Y[:, i] * (i != (head - 1) % h) for i in range(h)], dim=2)
    return silent.flatten(2) @ W_O
""": "heads from 1",
        """\
def result_without_a_head(Y, W_O, head):
    d_v = Y.shape[-1]
    W_O[head * d_v : (head + 1) * d_v] = 0
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "changes its argument `W_O`",
    },
    right=(
        """\
def result_without_a_head(Y, W_O, head):
    silent = Y.clone()
    silent[:, head] = 0
    return torch.cat(silent.unbind(dim=1), dim=-1) @ W_O
""",
        """\
def result_without_a_head(Y, W_O, head):
    d_v = Y.shape[-1]
    W_O = W_O.clone()
    W_O[head * d_v : (head + 1) * d_v] = 0.0
    return Y.transpose(1, 2).flatten(2) @ W_O
""",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    on = (torch.arange(h) != head).float()
    return torch.einsum("nhtv,hvd,h->ntd", Y, W_O.view(h, d_v, -1), on)
""",
        """\
def result_without_a_head(Y, W_O, head):
    d_v = Y.shape[-1]
    whole = Y.transpose(1, 2).flatten(2) @ W_O
    return whole - Y[:, head] @ W_O[d_v * head : d_v * (head + 1)]
""",
    ),
)
