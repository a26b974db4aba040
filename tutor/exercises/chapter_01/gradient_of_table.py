"""Hand out the gradients."""

import torch
import torch.nn.functional as F

from tutor.check.exercise import WRITE, Exercise


def _gradient_of_table(ids, G, vocab_size):
    gradient = torch.zeros(vocab_size, G.shape[-1], dtype=G.dtype)
    return gradient.index_add(0, ids, G)


def _last_ones(ids, G, vocab_size):
    gradient = torch.zeros(vocab_size, G.shape[-1])
    for i, g in zip(ids.tolist(), G, strict=True):
        gradient[i] = g
    return gradient


def _first_ones(ids, G, vocab_size):
    return _last_ones(ids.flip(0), G.flip(0), vocab_size)


def _counts(ids, vocab_size):
    return torch.bincount(ids, minlength=vocab_size)[:, None]


def _cases_of_gradients():
    yield torch.tensor([2]), torch.randn(1, 2), 3
    yield torch.tensor([0, 2, 0]), torch.randn(3, 2), 4
    yield torch.tensor([1, 0, 1, 4, 3, 3]), torch.randn(6, 1), 5
    yield torch.randint(7, (20,)), torch.randn(20, 3), 7
    yield torch.randint(20, (9,)), torch.randn(9, 6), 20
    yield torch.zeros(6, dtype=torch.int64), torch.randn(6, 4), 1
    yield torch.tensor([1, 1]), torch.zeros(2, 3), 2


def _keeps_the_dtype(answer):
    G = torch.randn(2, 3, dtype=torch.float64)
    return str(answer(torch.tensor([1, 0]), G, 2).dtype)


gradient_of_table = Exercise(
    name="gradient_of_table",
    chapter="01",
    section="Which rows learn?",
    kind=WRITE,
    title="Hand out the gradients",
    goal="Write the backward pass of a lookup.",
    difficulty=3,
    importance=5,
    minutes=5,
    text="""\
A lookup has taken the rows `ids` out of a table, and from above arrives one gradient for each word.
Write the gradient of the whole table: row $r$ is the sum of $G_t$ over all places where
$x_t = r$. A row that nobody asked for is zero.""",
    hints=(
        "There are two ways: a loop that hands out the gradients one by one, or the formula "
        "$H^T G$ with one-hot rows.",
        "For the loop, start from `torch.zeros(vocab_size, G.shape[1], dtype=G.dtype)`. For the "
        "formula, `F.one_hot(ids, vocab_size)` makes the rows of $H$.",
        "One-hot rows are whole numbers: give them the dtype of `G` with `.to(G.dtype)` before "
        "you multiply.",
    ),
    stub='''\
def gradient_of_table(ids, G, vocab_size):
    """The gradient (vocab_size, d_model) of a table asked for ids (T), from G (T, d_model).

    It has the dtype of G.
    """
    ...  # two lines, or a loop
''',
    solution='''\
def gradient_of_table(ids, G, vocab_size):
    """The gradient (vocab_size, d_model) of a table asked for ids (T), from G (T, d_model).

    It has the dtype of G.
    """
    H = F.one_hot(ids, vocab_size).to(G.dtype)  # (T, vocab_size)
    return H.T @ G  # (vocab_size, d_model)
''',
    reference=_gradient_of_table,
    cases=_cases_of_gradients,
    draws=True,  # as a new nn.Embedding does
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
        (
            "`F.one_hot` gives whole numbers, and a product needs one dtype: put "
            "`.to(G.dtype)` behind it.",
            lambda ids, G, vocab_size: F.one_hot(ids, vocab_size).T @ G,
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
    grad[ids] += G
    return grad
""": "last gradient alone",
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1])
    seen = set()
    for i, g in zip(ids.tolist(), G):
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
    H = F.one_hot(ids, vocab_size).float()
    return G.T @ H
""": "turned round",
        """\
def gradient_of_table(ids, G, vocab_size):
    rows = sorted(set(ids.tolist()))
    return torch.stack([G[ids == r].sum(dim=0) for r in rows])
""": "the table has more rows",
        """\
def gradient_of_table(ids, G, vocab_size):
    H = F.one_hot(ids).to(G.dtype)
    return torch.einsum("tv,td->vd", H, G)
""": "ends with the largest id",
        """\
def gradient_of_table(ids, G, vocab_size):
    H = F.one_hot(ids, vocab_size)
    return H.T @ G
""": "whole numbers",
        """\
def gradient_of_table(ids, G, vocab_size):
    H = F.one_hot(ids, vocab_size).to(G.dtype)
    return H @ G
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
    for i, g in zip(ids.tolist(), G):
        grad[i] += g
    return grad
""": "with a G of float64",
        """\
def gradient_of_table(ids, G, vocab_size):
    return F.one_hot(ids, vocab_size).float().T @ G
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
    layer = nn.Embedding(vocab_size, G.shape[-1], dtype=G.dtype)
    (layer(ids) * G).sum().backward()
    return layer.weight.grad
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1], dtype=G.dtype)
    for t in range(len(ids)):
        grad[ids[t]] += G[t]
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
    return torch.einsum("tv,td->vd", H, G)
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
