"""Hand out the gradients."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _gradient_of_table(ids, G, vocab_size):
    gradient = torch.zeros(vocab_size, G.shape[-1], dtype=G.dtype)
    return gradient.index_add(0, ids.flatten(), G.flatten(0, -2))


def _last_ones(ids, G, vocab_size):
    gradient = torch.zeros(vocab_size, G.shape[-1])
    for i, g in zip(ids.flatten().tolist(), G.flatten(0, -2), strict=True):
        gradient[i] = g
    return gradient


def _first_ones(ids, G, vocab_size):
    return _last_ones(ids.flatten().flip(0), G.flatten(0, -2).flip(0), vocab_size)


def _counts(ids, vocab_size):
    return torch.bincount(ids.flatten(), minlength=vocab_size)[:, None]


def _cases_of_gradients():
    yield torch.tensor([[2]]), torch.randn(1, 1, 2), 3
    yield torch.tensor([[0, 2, 0]]), torch.randn(1, 3, 2), 4
    yield torch.tensor([[1, 0], [1, 4], [3, 3]]), torch.randn(3, 2, 1), 5
    yield torch.randint(7, (4, 5)), torch.randn(4, 5, 3), 7
    yield torch.randint(20, (1, 9)), torch.randn(1, 9, 6), 20
    yield torch.zeros(3, 2, dtype=torch.int64), torch.randn(3, 2, 4), 1
    yield torch.tensor([[1, 1]]), torch.zeros(1, 2, 3), 2


def _keeps_the_dtype(answer):
    G = torch.randn(1, 2, 3, dtype=torch.float64)
    return answer(torch.tensor([[1, 0]]), G, 2).dtype == G.dtype


gradient_of_table = Exercise(
    name="gradient_of_table",
    chapter="01",
    section="Which rows learn?",
    kind=WRITE,
    title="Hand out the gradients",
    goal="Write the backward pass of a lookup.",
    difficulty=3,
    importance=5,
    minutes=12,
    text="""\
A lookup has taken the rows `ids` out of a table, and from above arrives one gradient for each word.
Write the gradient of the whole table: row $r$ is the sum of $G_{nt}$ over all places where
$i_{nt} = r$. A row that nobody asked for is zero. The ids come as a batch of sentences.""",
    hints=(
        "There are two ways: a loop that hands out the gradients one by one, or the formula "
        "$H^T G$ with one-hot rows.",
        "Both need a plain list of words in place of sentences: `ids.flatten()` has the shape "
        "(N * T,), and `G.flatten(0, 1)` has the shape (N * T, d_model).",
        "`F.one_hot(ids.flatten(), vocab_size)` makes the rows of $H$. They are whole numbers: "
        "turn them into the dtype of `G` before you multiply.",
    ),
    stub='''\
def gradient_of_table(ids, G, vocab_size):
    """The gradient of an embedding table after a lookup.

    ids: int64 tensor (N, T), the rows that were asked for
    G: float tensor (N, T, d_model), the gradient from above
    vocab_size: int, rows of the table
    Returns: float tensor (vocab_size, d_model), with the dtype of G
    """
    raise NotImplementedError
''',
    solution='''\
def gradient_of_table(ids, G, vocab_size):
    """The gradient of an embedding table after a lookup.

    ids: int64 tensor (N, T), the rows that were asked for
    G: float tensor (N, T, d_model), the gradient from above
    vocab_size: int, rows of the table
    Returns: float tensor (vocab_size, d_model), with the dtype of G
    """
    H = F.one_hot(ids.flatten(), vocab_size).to(G.dtype)  # (N * T, vocab_size)
    return H.T @ G.flatten(0, 1)  # (vocab_size, d_model)
''',
    reference=_gradient_of_table,
    cases=_cases_of_gradients,
    mistakes=(
        (
            "A word that occurs several times keeps its last gradient alone; its gradients add "
            "up, and `table[ids] += G` writes each row once, however often it is named.",
            _last_ones,
        ),
        (
            "A word that occurs several times keeps its first gradient alone; its gradients add "
            "up.",
            _first_ones,
        ),
        (
            "A word that occurs several times gets the mean of its gradients; they add up.",
            lambda ids, G, vocab_size: (
                _gradient_of_table(ids, G, vocab_size) / _counts(ids, vocab_size).clamp(min=1)
            ),
        ),
        (
            "You count how often each word occurs. That is the gradient if G is all ones; use G.",
            lambda ids, G, vocab_size: _counts(ids, vocab_size).expand(-1, G.shape[-1]).float(),
        ),
        (
            "You divide the gradient by the number of words. A mean belongs to a loss, and G has "
            "it already.",
            lambda ids, G, vocab_size: _gradient_of_table(ids, G, vocab_size) / ids.numel(),
        ),
        (
            "Only the first sentence of the batch hands out its gradients.",
            lambda ids, G, vocab_size: _gradient_of_table(ids[:1], G[:1], vocab_size),
        ),
        (
            "You keep the sentences apart; there is one table for the whole batch.",
            lambda ids, G, vocab_size: torch.stack(
                [_gradient_of_table(i, g, vocab_size) for i, g in zip(ids, G, strict=True)]
            ),
        ),
        (
            "Your gradient is turned round; the table has a row for each word, d_model columns.",
            lambda ids, G, vocab_size: _gradient_of_table(ids, G, vocab_size).T,
        ),
        (
            "You return the gradients of the rows that were asked for; the table has more rows, "
            "and theirs are zero.",
            lambda ids, G, vocab_size: _gradient_of_table(ids, G, vocab_size)[ids.unique()],
        ),
        (
            "Your gradient ends with the largest id that occurs; the table has vocab_size rows.",
            lambda ids, G, vocab_size: _gradient_of_table(ids, G, vocab_size)[: ids.max() + 1],
        ),
        (
            "You look up the gradient in place of handing it out: ids say to which row of the "
            "table a gradient goes.",
            lambda ids, G, vocab_size: G[ids],
        ),
    ),
    properties=(
        (
            "The numbers are right, but with a G of float64 your gradient is of another dtype, or "
            "there is an error: make it with `dtype=G.dtype`.",
            _keeps_the_dtype,
        ),
    ),
    wrong={
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1])
    grad[ids] = G
    return grad
""": "last gradient alone",
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1])
    grad[ids.flatten()] += G.flatten(0, 1)
    return grad
""": "last gradient alone",
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1])
    seen = set()
    for sentence, gradients in zip(ids, G):
        for i, g in zip(sentence.tolist(), gradients):
            if i not in seen:
                grad[i] = g
            seen.add(i)
    return grad
""": "first gradient alone",
        """\
def gradient_of_table(ids, G, vocab_size):
    rows = []
    for r in range(vocab_size):
        here = G[ids == r]
        rows.append(here.mean(dim=0) if len(here) else torch.zeros(G.shape[-1]))
    return torch.stack(rows)
""": "the mean of its gradients",
        """\
def gradient_of_table(ids, G, vocab_size):
    W = torch.zeros(vocab_size, G.shape[-1], requires_grad=True)
    W[ids].sum().backward()
    return W.grad
""": "how often each word occurs",
        """\
def gradient_of_table(ids, G, vocab_size):
    W = torch.zeros(vocab_size, G.shape[-1], requires_grad=True)
    (W[ids] * G).sum(dim=-1).mean().backward()
    return W.grad
""": "by the number of words",
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1])
    for i, g in zip(ids[0], G[0]):
        grad[i] += g
    return grad
""": "only the first sentence",
        """\
def gradient_of_table(ids, G, vocab_size):
    H = F.one_hot(ids, vocab_size).float()
    return H.transpose(-2, -1) @ G
""": "keep the sentences apart",
        """\
def gradient_of_table(ids, G, vocab_size):
    H = F.one_hot(ids, vocab_size).float()
    return torch.einsum("ntv,ntd->dv", H, G)
""": "turned round",
        """\
def gradient_of_table(ids, G, vocab_size):
    rows = sorted(set(ids.flatten().tolist()))
    return torch.stack([G[ids == r].sum(dim=0) for r in rows])
""": "the table has more rows",
        """\
def gradient_of_table(ids, G, vocab_size):
    H = F.one_hot(ids.flatten()).to(G.dtype)
    return torch.einsum("tv,td->vd", H, G.flatten(0, 1))
""": "ends with the largest id",
        """\
def gradient_of_table(ids, G, vocab_size):
    H = F.one_hot(ids.flatten(), vocab_size)
    return H.T @ G.flatten(0, 1)
""": "RuntimeError",
        """\
def gradient_of_table(ids, G, vocab_size):
    ids -= 1
    W = torch.zeros(vocab_size, G.shape[-1], requires_grad=True)
    (W[ids] * G).sum().backward()
    return W.grad
""": "changes its argument `ids`",
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1])
    for i, g in zip(ids.flatten().tolist(), G.flatten(0, 1)):
        grad[i] += g
    return grad
""": "with a G of float64",
        """\
def gradient_of_table(ids, G, vocab_size):
    return F.one_hot(ids.flatten(), vocab_size).float().T @ G.flatten(0, 1)
""": "with a G of float64",
        """\
def gradient_of_table(ids, G, vocab_size):
    W = torch.zeros(vocab_size, G.shape[-1], dtype=G.dtype, requires_grad=True)
    (F.embedding(ids, W, sparse=True) * G).sum().backward()
    return W.grad
""": "a sparse tensor",
    },
    right=(
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1], dtype=G.dtype)
    for n in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            grad[ids[n, t]] += G[n, t]
    return grad
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    W = torch.zeros(vocab_size, G.shape[-1], dtype=G.dtype, requires_grad=True)
    (W[ids] * G).sum().backward()
    return W.grad
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    H = F.one_hot(ids, vocab_size).to(G)
    return torch.einsum("ntv,ntd->vd", H, G)
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1], dtype=G.dtype)
    return grad.index_put((ids,), G, accumulate=True)
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    return torch.stack([G[ids == r].sum(dim=0) for r in range(vocab_size)])
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    import numpy as np

    grad = np.zeros((vocab_size, G.shape[-1]), dtype=G.numpy().dtype)
    np.add.at(grad, ids.numpy(), G.numpy())
    return torch.from_numpy(grad)
""",
    ),
)
