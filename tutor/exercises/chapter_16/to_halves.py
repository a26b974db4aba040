"""Weights for another way to pair columns."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _heads(W, num_heads):
    return W.reshape(len(W), num_heads, -1)  # (d_model, h, d_k)


def _by_order(order):
    """Each head's columns in the order that `order` makes of d_k."""

    def answer(W, num_heads):
        heads = _heads(W, num_heads)
        return heads[..., order(heads.shape[-1])].flatten(1)

    return answer


def _halves(d_k):
    return [*range(0, d_k, 2), *range(1, d_k, 2)]


def _neighbours(d_k):
    return [column for i in range(d_k // 2) for column in (i, i + d_k // 2)]


def _odd_first(d_k):
    return [*range(1, d_k, 2), *range(0, d_k, 2)]


def _whole(order):
    return lambda W, num_heads: W[:, order(W.shape[1])]


def _rows(order):
    """The rows in place of the columns, in so many parts as there are heads."""

    def answer(W, num_heads):
        size = len(W) // num_heads
        parts = [[n * size + i for i in order(size)] for n in range(num_heads)]
        return W[sum(parts, [])]

    return answer


def _heads_inside(W, num_heads):
    """As if column 0 of all heads came first, then column 1 of all heads."""
    columns = W.reshape(len(W), -1, num_heads)  # (d_model, d_k, h)
    return columns[:, _halves(columns.shape[1])].flatten(1)


to_halves = Exercise(
    name="to_halves",
    chapter="16",
    section="Positions that turn",
    kind=WRITE,
    title="Weights for another way to pair columns",
    goal="Carry trained weights from one layout of RoPE to the other.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
You are given the weights of a model that pairs **neighbours**: in each head, columns $2i$ and
$2i + 1$ of a query are the point $(a, b)$ of pair $i$. Your program turns by **halves**: there,
$a$ is column $i$ and $b$ is column $i + d_k / 2$. Both turn pair $i$ by the same angle.

Nobody trains again for that. Write the function that is applied once to `W_Q` and once to `W_K`.
Afterwards the program with halves must give the scores that the model was trained with.

Queries are `X @ W`. The first $d_k$ columns of `W` belong to head 0, the next $d_k$ to head 1, and
so on; $d_k$ is even.""",
    hints=(
        "A column of `W` makes a column of the query. So it is columns of `W` that have to move, "
        "and each stays in its head.",
        "Write down the order for one head with $d_k = 6$: which old column must stand at 0, 1, 2, "
        "and which at 3, 4, 5?",
        "The old columns 0, 2, 4, 1, 3, 5. For all heads at once: reshape to (d_model, h, d_k / 2, "
        "2), exchange the last two dimensions, and reshape back.",
    ),
    stub='''\
def to_halves(W, num_heads):
    """Reorder the columns of W_Q or W_K from neighbours to halves.

    W: float tensor (d_model, num_heads * d_k). Returns a tensor of the same shape.
    """
    raise NotImplementedError
''',
    solution='''\
def to_halves(W, num_heads):
    """Reorder the columns of W_Q or W_K from neighbours to halves.

    W: float tensor (d_model, num_heads * d_k). Returns a tensor of the same shape.
    """
    pairs = W.reshape(len(W), num_heads, -1, 2)  # (d_model, h, d_k / 2, 2)
    return pairs.transpose(-2, -1).reshape(W.shape)  # (d_model, h * d_k)
''',
    because="A score sums over columns, so their order is free if queries and keys share it. "
    "Programs that convert published weights do this one step.",
    reference=_by_order(_halves),
    cases=lambda: [
        (torch.randn(d_model, num_heads * d_k), num_heads)
        for d_model, num_heads, d_k in [(1, 1, 4), (1, 1, 6), (4, 2, 4), (12, 2, 6), (8, 4, 8)]
    ],
    mistakes=(
        ("Nothing has moved.", lambda W, num_heads: W),
        (
            "This is the way back: it makes neighbours of halves. With 4 columns a head both are "
            "the same, with 6 they are not.",
            _by_order(_neighbours),
        ),
        (
            "You sort the columns of all heads together, and heads exchange columns. Each column "
            "stays in its head.",
            _whole(_halves),
        ),
        (
            "You interleave the columns of all heads together. Each column stays in its head; and "
            "neighbours are to become halves, not halves neighbours.",
            _whole(_neighbours),
        ),
        (
            "Your halves have changed places: the first column of a pair goes to the left half.",
            _by_order(_odd_first),
        ),
        (
            "You cut as if the columns of one head lay $h$ apart. The first $d_k$ columns are head "
            "0, the next $d_k$ head 1.",
            _heads_inside,
        ),
        *(
            (
                "You move rows. A query is `X @ W`: its columns come from columns of `W`.",
                answer,
            )
            for answer in (
                _rows(_halves),
                lambda W, num_heads: W[_halves(len(W))],
            )
        ),
        (
            "`reshape` cuts your W along its rows. Columns belong to heads: (d_model, h, d_k).",
            lambda W, num_heads: W.reshape(num_heads, -1, len(W))[
                :, _halves(W.shape[1] // num_heads)
            ].reshape(W.shape),
        ),
        (
            "You have halved each head's columns, but not sorted them: pair 0 of the old model is "
            "columns 0 and 1.",
            lambda W, num_heads: _heads(W, num_heads).roll(W.shape[1] // num_heads // 2, -1)
            .flatten(1),
        ),
        (
            "The columns of each head are turned round, last to first. Only pairs move apart.",
            _by_order(lambda d_k: list(range(d_k))[::-1]),
        ),
        (
            "You exchange heads and pairs. Each column stays in its head: exchange the pairs and "
            "the two columns of a pair, the last two dimensions.",
            lambda W, num_heads: W.reshape(len(W), num_heads, -1, 2)
            .transpose(1, 2).reshape(W.shape),
        ),
        (
            "You exchange the two columns of each pair. They have to move apart, into halves.",
            _by_order(lambda d_k: [i ^ 1 for i in range(d_k)]),
        ),
        (
            "You turn the weights themselves. Only their order changes; the program turns queries "
            "and keys later, by their places.",
            lambda W, num_heads: torch.cat([-W[:, 1::2], W[:, ::2]], dim=1),
        ),
    ),
    wrong={
        """\
def to_halves(W, num_heads):
    return torch.cat([W[:, 0::2], W[:, 1::2]], dim=1)
""": "heads exchange columns",
        """\
def to_halves(W, num_heads):
    halves = W.reshape(len(W), num_heads, 2, -1)
    return halves.transpose(-2, -1).reshape(W.shape)
""": "the way back",
        """\
def to_halves(W, num_heads):
    from tutor.modern import interleave

    return interleave(W.reshape(len(W), num_heads, -1)).flatten(1)
""": "the way back",
        """\
def to_halves(W, num_heads):
    from tutor.modern import interleave

    return interleave(W)
""": "interleave the columns of all heads",
        """\
def to_halves(W, num_heads):
    heads = W.reshape(len(W), num_heads, -1)
    return torch.cat([heads[..., 1::2], heads[..., 0::2]], dim=-1).flatten(1)
""": "first column of a pair",
        """\
def to_halves(W, num_heads):
    heads = W.reshape(len(W), -1, num_heads)
    return torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1).flatten(1)
""": "$h$ apart",
        """\
def to_halves(W, num_heads):
    pairs = W.T.reshape(num_heads, -1, 2, len(W))
    return W
""": "Nothing has moved",
        """\
def to_halves(W, num_heads):
    return torch.cat([W[0::2], W[1::2]])
""": "You move rows",
        """\
def to_halves(W, num_heads):
    left, right = W.reshape(len(W), num_heads, -1).chunk(2, dim=-1)
    return torch.cat([right, left], dim=-1).flatten(1)
""": "not sorted them",
        """\
def to_halves(W, num_heads):
    heads = W.reshape(len(W), num_heads, -1)
    return torch.cat([heads[..., 0::2], heads[..., 1::2]], dim=-1)
""": "shape",
        """\
def to_halves(W, num_heads):
    heads = W.reshape(len(W), num_heads, -1, 2)
    return heads.flip(-1).reshape(W.shape)
""": "exchange the two columns",
        """\
def to_halves(W, num_heads):
    pairs = W.reshape(len(W), num_heads, -1, 2)
    return pairs.transpose(1, 2).reshape(W.shape)
""": "exchange heads and pairs",
    },
    right=(
        """\
def to_halves(W, num_heads):
    d_k = W.shape[1] // num_heads
    columns = []
    for head in range(num_heads):
        columns += range(head * d_k, (head + 1) * d_k, 2)
        columns += range(head * d_k + 1, (head + 1) * d_k, 2)
    return W[:, columns]
""",
        """\
def to_halves(W, num_heads):
    heads = []
    for head in W.chunk(num_heads, dim=1):
        heads.append(torch.cat([head[:, 0::2], head[:, 1::2]], dim=1))
    return torch.cat(heads, dim=1)
""",
        """\
def to_halves(W, num_heads):
    new = torch.empty_like(W)
    d_k = W.shape[1] // num_heads
    for column in range(W.shape[1]):
        head, i = divmod(column, d_k)
        new[:, head * d_k + i // 2 + (i % 2) * (d_k // 2)] = W[:, column]
    return new
""",
    ),
)  # fmt: skip
