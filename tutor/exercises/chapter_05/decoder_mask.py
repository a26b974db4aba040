"""The mask of a target."""

import math

import torch

from tutor import attention
from tutor.attention import causal_mask, padding_mask
from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_05.shared import right_mask


def _triangle(ids):
    """True everywhere, as a table for each sentence: what the mistakes cut a triangle from."""
    return torch.ones(len(ids), 1, ids.shape[1], ids.shape[1], dtype=torch.bool)


def _cases_of_ids():
    for ids in [
        [[2]],
        [[2, 5]],
        [[2, 7, 0]],
        [[2, 0, 7, 5]],
        [[2, 6, 9, 4], [2, 5, 0, 0]],
        [[2, 8, 1, 5, 7], [2, 4, 6, 9, 0], [2, 0, 0, 0, 0]],
        [[2, 4, 5, 6, 7, 8, 9]],
        [[2, 5, 7], [0, 0, 0]],
    ]:
        yield (torch.tensor(ids),)


decoder_mask = Exercise(
    name="decoder_mask",
    chapter="05",
    section="What each position can reach",
    kind=WRITE,
    title="The mask of a target",
    goal="Hide the future and the padding in one table of booleans.",
    difficulty=2,
    importance=5,
    minutes=3,
    text="""\
Write the mask for a decoder's self-attention, with the two masks of chapter 02. `True` hides, as
everywhere in this course. A place is hidden if it is future **or** padding.""",
    hints=(
        "Make both masks, write their shapes behind them, and join them.",
        "`causal_mask(T)` is (T, T), `padding_mask(ids)` is (N, 1, 1, T). What is T?",
        "`ids.shape[1]` is T. The sign for *or* is `|`, and broadcasting does the rest.",
    ),
    setup="from tutor.attention import causal_mask, padding_mask\n",
    stub='''\
def decoder_mask(ids):
    """ids: (N, T). True where the target may not look. Boolean, (N, 1, T, T)."""
    ...  # one line
''',
    solution="""\
def decoder_mask(ids):
    return causal_mask(ids.shape[1], ids.device) | padding_mask(ids)  # (N, 1, T, T)
""",
    reference=right_mask,
    cases=_cases_of_ids,
    forbidden=(attention.decoder_mask,),
    mistakes=(
        (
            "Your mask hides only what is future and padding at once; either is enough.",
            lambda ids: causal_mask(ids.shape[1]) & padding_mask(ids),
        ),
        (
            "Your mask is turned over: it is True where a place may be seen, and True must hide.",
            lambda ids: ~right_mask(ids),
        ),
        (
            "Your mask hides the past and the token itself; True belongs above the diagonal.",
            lambda ids: _triangle(ids).tril() | padding_mask(ids),
        ),
        (
            "Your mask hides the past; the future lies above the diagonal, with keys in columns.",
            lambda ids: _triangle(ids).tril(-1) | padding_mask(ids),
        ),
        (
            "Your mask hides the diagonal; a token may see itself, since it is written already.",
            lambda ids: _triangle(ids).triu() | padding_mask(ids),
        ),
        (
            "A token may see its right neighbour in your mask; `triu` starts one diagonal too far "
            "up.",
            lambda ids: _triangle(ids).triu(2) | padding_mask(ids),
        ),
        (
            "Your mask hides the rows of padding; nobody may look at padding, so its columns must "
            "be hidden.",
            lambda ids: _triangle(ids).triu(1) | padding_mask(ids).transpose(-2, -1),
        ),
        (
            "Your mask hides the rows of padding as well as its columns; a row of padding may ask, "
            "for nobody reads what it gets.",
            lambda ids: right_mask(ids) | padding_mask(ids).transpose(-2, -1),
        ),
        (
            "Your mask hides the words and shows the padding: True belongs where the id is 0.",
            lambda ids: causal_mask(ids.shape[1]) | ~padding_mask(ids),
        ),
        (
            "Your mask hides the future alone; padding must be hidden too.",
            lambda ids: _triangle(ids).triu(1),
        ),
        (
            "Your mask hides the future alone, for one sentence; padding differs from sentence to "
            "sentence.",
            lambda ids: causal_mask(ids.shape[1]),
        ),
        (
            "Your mask hides the padding alone; the future must be hidden too.",
            padding_mask,
        ),
        (
            "Your mask hides the padding alone; the future must be hidden too.",
            lambda ids: padding_mask(ids).expand(-1, -1, ids.shape[1], -1),
        ),
        (
            "The dimension of the heads is missing: it has size 1 and stands behind N.",
            lambda ids: right_mask(ids)[:, 0],
        ),
        (
            "Your mask is made of numbers, 0 and -inf, to be added to scores; booleans are wanted.",
            lambda ids: torch.zeros(_triangle(ids).shape).masked_fill(right_mask(ids), -math.inf),
        ),
        (
            "A place that is future and padding at once is visible in your mask: join with `|`.",
            lambda ids: causal_mask(ids.shape[1]) ^ padding_mask(ids),
        ),
        (
            "Your mask is made of 0 and 1; booleans are wanted.",
            lambda ids: right_mask(ids).float(),
        ),
        (
            "Your mask hides the token with id 1 as well; padding is id 0 alone.",
            lambda ids: causal_mask(ids.shape[1]) | (ids <= 1)[:, None, None, :],
        ),
    ),
    wrong={
        """\
def decoder_mask(ids):
    N, T = ids.shape
    future = torch.triu(torch.ones(T, T), diagonal=1).bool()
    padding = ids.eq(0).view(N, 1, 1, T)
    return future & padding
""": "at once",
        """\
def decoder_mask(ids):
    T = ids.size(1)
    seen = torch.tril(torch.ones(T, T)).bool()
    words = (ids != 0).unsqueeze(1).unsqueeze(2)
    return seen & words
""": "turned over",
        """\
def decoder_mask(ids):
    T = ids.size(1)
    causal = torch.tril(torch.ones(T, T, dtype=torch.bool))
    return causal | (ids == 0)[:, None, None]
""": "the past and the token itself",
        """\
def decoder_mask(ids):
    T = ids.size(1)
    causal = torch.tensor([[key < query for key in range(T)] for query in range(T)])
    return causal | (ids == 0)[:, None, None]
""": "hides the past; the future",
        """\
def decoder_mask(ids):
    place = torch.arange(ids.shape[1])
    future = place[None, :] >= place[:, None]
    return future[None, None] | (ids == 0)[:, None, None, :]
""": "hides the diagonal",
        """\
def decoder_mask(ids):
    place = torch.arange(ids.shape[1])
    future = place[None, :] > place[:, None] + 1
    return future[None, None] | (ids == 0)[:, None, None, :]
""": "right neighbour",
        """\
def decoder_mask(ids):
    future = torch.ones(ids.shape[1], ids.shape[1]).triu(1) == 1
    return future | (ids == 0)[:, None, :, None]
""": "rows of padding; nobody",
        """\
def decoder_mask(ids):
    real = (ids != 0).float()
    both = torch.einsum("nt,ns->nts", real, real).unsqueeze(1)
    return (both.tril() == 0)
""": "as well as its columns",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.full((T, T), True).triu(1)
    padding = ids.bool()[:, None, None]
    return future | padding
""": "shows the padding",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    return torch.full((T, T), True).triu(1)
""": "for one sentence",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.full((T, T), True).triu(1)
    return future | (ids == 0)[:, None]
""": "dimension of the heads",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.full((T, T), float("-inf")).triu(1)
    padding = torch.zeros(ids.shape).masked_fill(ids == 0, float("-inf"))
    return future + padding[:, None, None]
""": "0 and -inf",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.ones(T, T).triu(1)
    padding = (ids == 0).float()[:, None, None]
    return torch.maximum(future, padding)
""": "0 and 1",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    words = ids > 1
    return future | ~words[:, None, None]
""": "id 1 as well",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return future != (ids == 0)[:, None, None]
""": "future and padding at once is visible",
        """\
def decoder_mask(ids):
    from tutor import attention
    return attention.decoder_mask(ids)
""": "calls `decoder_mask`",
        """\
def decoder_mask(ids):
    N, T = ids.shape
    return (ids == 0)[:, None, None, :].expand(N, 1, T, T)
""": "hides the padding alone",
        """\
def decoder_mask(ids):
    return (ids == 0)[:, None, None, :]
""": "hides the padding alone",
    },
    right=(
        """\
def decoder_mask(ids):
    N, T = ids.shape
    mask = torch.zeros(N, 1, T, T, dtype=torch.bool)
    for n in range(N):
        for query in range(T):
            for key in range(T):
                mask[n, 0, query, key] = key > query or ids[n, key] == 0
    return mask
""",
        """\
def decoder_mask(ids):
    seen = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
    return ~(seen & (ids != 0).unsqueeze(1).unsqueeze(2))
""",
        """\
def decoder_mask(ids):
    place = torch.arange(ids.shape[1])
    future = place > place[:, None]
    return torch.logical_or(future, ids.eq(0)[:, None, None, :])
""",
    ),
)
