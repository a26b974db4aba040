"""One head out of the stack."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _matrices_of_a_head(in_proj_weight, num_heads, head):
    thirds = in_proj_weight.chunk(3)
    d_k = len(in_proj_weight) // 3 // num_heads
    return tuple(W[head * d_k : (head + 1) * d_k].T for W in thirds)


def _other_rows(rows_of):
    """As above from other rows: rows_of(i, head, h, d_model, d_k) is a slice, i = 0, 1, 2."""

    def matrices(in_proj_weight, num_heads, head):
        d_model = in_proj_weight.shape[1]
        sizes = num_heads, d_model, d_model // num_heads
        return tuple(in_proj_weight[rows_of(i, head, *sizes)].T for i in range(3))

    return matrices


def _columns_of_a_head(in_proj_weight, num_heads, head):
    d_k = in_proj_weight.shape[1] // num_heads
    return tuple(W[:, head * d_k : (head + 1) * d_k] for W in in_proj_weight.chunk(3))


def _cases_of_a_head():
    for d_model, num_heads, head in [(2, 1, 0), (2, 2, 1), (4, 2, 0), (6, 3, 1), (6, 2, 1)]:
        yield torch.randn(3 * d_model, d_model), num_heads, head
    yield torch.randn(36, 12), 3, 2
    yield torch.zeros(12, 4), 4, 3


matrices_of_a_head = Exercise(
    name="matrices_of_a_head",
    chapter="11",
    section="Attention, taken apart",
    kind=WRITE,
    title="One head out of the stack",
    goal="Find the paper's $W^Q_i$, $W^K_i$ and $W^V_i$ in PyTorch's `in_proj_weight`.",
    difficulty=3,
    importance=5,
    minutes=6,
    text="""\
`nn.MultiheadAttention` keeps the projections of all heads in one tensor, `in_proj_weight`. Take out
those of one head, in the paper's form: as they stand in $X W^Q_i$, where $X$ has a row for each
word. Heads count from 0.""",
    hints=(
        "Two questions: which rows belong to the head, and which way do they lie? The section "
        "found the rows of one head with a gradient.",
        "`in_proj_weight.chunk(3)` cuts the stack into the parts for queries, keys and values. "
        "Head $i$ has rows $i \\, d_k$ to $(i + 1) \\, d_k - 1$ of each.",
        "PyTorch computes $X W^\\top$, so what it keeps lies on its side: turn each (d_k, d_model) "
        "with `.T`.",
    ),
    stub='''\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    """W_Q, W_K, W_V of one head, (d_model, d_k) each; heads count from 0."""
    ...  # four lines; `.chunk(3)` cuts into three equal parts
''',
    solution="""\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d_k = in_proj_weight.shape[1] // num_heads
    own = slice(head * d_k, (head + 1) * d_k)
    W_Q, W_K, W_V = in_proj_weight.chunk(3)  # (d_model, d_model) each, rows are the heads'
    return W_Q[own].T, W_K[own].T, W_V[own].T  # (d_model, d_k) each
""",
    because="In PyTorch heads are rows, in the paper they are columns.",
    reference=_matrices_of_a_head,
    cases=_cases_of_a_head,
    mistakes=(
        (
            "Your matrices lie on their side: PyTorch multiplies by W^T, the paper by W. Turn "
            "them.",
            lambda W, h, head: tuple(part.T for part in _matrices_of_a_head(W, h, head)),
        ),
        (
            "You cut columns. In `in_proj_weight` the heads are rows: row r makes column r of the "
            "result. The shapes do not tell, since each third is square.",
            _columns_of_a_head,
        ),
        (
            "You take every h-th row; the rows of a head stand together.",
            lambda W, h, head: tuple(third[head::h].T for third in W.chunk(3)),
        ),
        (
            "You look for the three matrices of a head next to each other. All queries come "
            "first, then all keys, then all values.",
            _other_rows(
                lambda i, head, h, d_model, d_k: slice(
                    (3 * head + i) * d_k, (3 * head + i + 1) * d_k
                )
            ),
        ),
        (
            "All three of your matrices are for the queries: keys begin d_model rows further down, "
            "values another d_model.",
            _other_rows(lambda i, head, h, d_model, d_k: slice(head * d_k, (head + 1) * d_k)),
        ),
        (
            "You took heads 0, 1 and 2 of the queries, or their neighbours: keys begin d_model "
            "rows further down, not d_k.",
            _other_rows(
                lambda i, head, h, d_model, d_k: slice((head + i) * d_k, (head + i + 1) * d_k)
            ),
        ),
        (
            "Your matrices belong to all heads; cut each into the rows of one.",
            lambda W, h, head: tuple(third.T for third in W.chunk(3)),
        ),
        (
            "Your thirds come in another order: it is queries, keys, values.",
            lambda W, h, head: tuple(_matrices_of_a_head(W, h, head)[i] for i in (1, 0, 2)),
        ),
        (
            "`reshape` and `view` fill the wanted shape in the order of memory, so that columns "
            "are torn apart; `.T` turns a matrix.",
            lambda W, h, head: tuple(
                part.T.reshape(part.shape) for part in _matrices_of_a_head(W, h, head)
            ),
        ),
        (
            "You share 3 times d_model rows among the heads: each third has rows of its own, and a "
            "head is d_model / h wide.",
            lambda W, h, head: tuple(
                third[head * (len(W) // h) : (head + 1) * (len(W) // h)].T for third in W.chunk(3)
            ),
        ),
        (
            "You counted the heads from 1; `head` counts them from 0.",
            lambda W, h, head: _matrices_of_a_head(W, h, head - 1 if head else h - 1),
        ),
        (
            "Your matrices stand side by side in one tensor; return a tuple of three.",
            lambda W, h, head: torch.cat(_matrices_of_a_head(W, h, head), dim=-1),
        ),
    ),
    wrong={
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.size(1)
    d_k = d // num_heads
    start = head * d_k
    return tuple(in_proj_weight[start + i * d : start + i * d + d_k] for i in range(3))
""": "on their side",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d_k = in_proj_weight.shape[1] // num_heads
    Q, K, V = in_proj_weight.chunk(3)
    return tuple(W.split(d_k, dim=1)[head] for W in (Q, K, V))
""": "You cut columns",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(3, d // num_heads, num_heads, d)[:, :, head]
    return W[0].T, W[1].T, W[2].T
""": "stand together",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(num_heads, 3, d // num_heads, d)[head]
    return W[0].T, W[1].T, W[2].T
""": "next to each other",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d_k = in_proj_weight.shape[1] // num_heads
    W = in_proj_weight[d_k * head : d_k * (head + 1)].T
    return W, W, W
""": "for the queries",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d_k = in_proj_weight.shape[1] // num_heads
    starts = [(head + i) * d_k for i in range(3)]
    return tuple(in_proj_weight[s : s + d_k].T for s in starts)
""": "not d_k",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    W_Q, W_K, W_V = in_proj_weight.T.chunk(3, dim=1)
    return W_Q, W_K, W_V
""": "belong to all heads",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    d_k = d // num_heads
    K, Q, V = in_proj_weight.split(d)
    rows = torch.arange(head * d_k, head * d_k + d_k)
    return Q[rows].T, K[rows].T, V[rows].T
""": "another order",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    d_k = d // num_heads
    W = in_proj_weight.view(3, num_heads, d_k, d)[:, head].reshape(3, d, d_k)
    return tuple(W)
""": "in the order of memory",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    thirds = in_proj_weight.chunk(3)
    return tuple(W.view(num_heads, d, -1)[head] for W in thirds)
""": "columns are torn apart",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(3, num_heads, d // num_heads, d)[:, head - 1]
    return W[0].T, W[1].T, W[2].T
""": "heads from 1",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    d_k = len(in_proj_weight) // num_heads
    return tuple(W[head * d_k : (head + 1) * d_k].T for W in in_proj_weight.chunk(3))
""": "3 times d_model rows",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(3, num_heads, d // num_heads, d)[:, head]
    return W.flatten(0, 1).T
""": "a tuple of three",
    },
    right=(
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(3, num_heads, d // num_heads, d)[:, head]  # (3, d_k, d_model)
    return tuple(W.transpose(-2, -1))
""",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    d_k = d // num_heads
    packed = in_proj_weight.T  # (d_model, 3 * d_model): heads are columns now
    starts = [i * d + head * d_k for i in range(3)]
    return [packed[:, start : start + d_k] for start in starts]
""",
    ),
)
