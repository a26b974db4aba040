"""One table at both ends."""

import torch
import torch.nn.functional as F

from tutor.check.exercise import WRITE, Exercise


def _read(W, ids, G):
    """The share of the lookup."""
    return torch.zeros_like(W).index_add(0, ids, G @ W)


def _scored(W, ids, G):
    """The share of the scores."""
    return G.T @ W[ids]


def _both(W, ids, G):
    return _read(W, ids, G) + _scored(W, ids, G)


def _places_of(ids, vocab_size, last):
    """One-hot rows, but of a word that occurs twice the last or the first place alone."""
    H = F.one_hot(ids, vocab_size).float()
    seen = (H.flip(0) if last else H).cumsum(0)
    return H * (seen.flip(0) if last else seen).eq(1)


def _overwritten(last):
    return lambda W, ids, G: _places_of(ids, len(W), last).T @ (G @ W) + _scored(W, ids, G)


def _cases_of_gradients():
    W = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    yield W, torch.tensor([2]), torch.tensor([[0.0, 1.0, 0.0]])
    for vocab_size, d_model, ids in [
        (3, 2, [0, 2]),
        (4, 3, [1, 3, 1]),
        (3, 3, [2, 0, 2]),
        (7, 2, [4, 4, 1, 0, 4]),
        (5, 6, [3, 0, 4, 3]),
        (4, 2, [0, 1, 2, 3]),
    ]:
        yield torch.randn(vocab_size, d_model), torch.tensor(ids), torch.randn(len(ids), vocab_size)


gradient_of_tied_table = Exercise(
    name="gradient_of_tied_table",
    chapter="01",
    section="Which rows learn?",
    kind=WRITE,
    title="One table at both ends",
    goal="Find out which rows learn when a table is used twice.",
    difficulty=4,
    importance=4,
    minutes=12,
    text="""\
Many models use one table twice. They look words up in it, $X = H W$, and they score the next word
with it. A word's score is the dot product of $X_t$ and the word's row, so the scores are $X W^T$,
of shape $(T, V_{size})$. Such a table is called **tied**.

`G` is the gradient of the loss with respect to the *scores*. Write the gradient of $W$. It has two
shares, one for each use, and they add up. Compute it yourself, without `Tensor.backward` and
`torch.autograd.grad`.""",
    hints=(
        "Pretend that there are two tables: $X = H W_1$ and scores $= X W_2^T$. Find a gradient "
        "for each, and add them.",
        "For the second table, word $v$'s row gets $\\sum_t G_{tv} X_t$. For the first you need "
        "the gradient of $X$: place $t$ gets $\\sum_v G_{tv} W_v$.",
        "The gradient of X is `G @ W`, and the page hands it out: `H.T @ (G @ W)`. The other share "
        "is `G.T @ X`.",
    ),
    stub='''\
def gradient_of_tied_table(W, ids, G):
    """The gradient of a table that is used for the lookup and for the scores.

    W: float tensor (vocab_size, d_model)
    ids: int tensor (T), the words that were looked up
    G: float tensor (T, vocab_size), the gradient of the scores W[ids] @ W.T
    Returns: float tensor (vocab_size, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def gradient_of_tied_table(W, ids, G):
    """The gradient of a table that is used for the lookup and for the scores.

    W: float tensor (vocab_size, d_model)
    ids: int tensor (T), the words that were looked up
    G: float tensor (T, vocab_size), the gradient of the scores W[ids] @ W.T
    Returns: float tensor (vocab_size, d_model)
    """
    H = F.one_hot(ids, len(W)).to(W.dtype)  # (T, vocab_size)
    looked_up = H.T @ (G @ W)  # (vocab_size, d_model)
    scored = G.T @ W[ids]  # (vocab_size, d_model)
    return looked_up + scored
''',
    because="Every word was scored, so every row learns, also of words that did not occur.",
    reference=_both,
    cases=_cases_of_gradients,
    forbidden=(torch.Tensor.backward, torch.autograd.grad, torch.autograd.backward),
    mistakes=(
        (
            "That is the share of the lookup alone. The scores use the table a second time, and "
            "give every row a gradient.",
            _read,
        ),
        (
            "That is the share of the scores alone. The rows that were looked up get a second "
            "share, through X.",
            _scored,
        ),
        (
            "A word that occurs several times keeps its last gradient alone; they add up, and "
            "`table[ids] += ...` writes each row once.",
            _overwritten(last=True),
        ),
        (
            "A word that occurs several times keeps its first gradient alone; they add up.",
            _overwritten(last=False),
        ),
        (
            "You take the mean of the two shares; they add up.",
            lambda W, ids, G: _both(W, ids, G) / 2,
        ),
        (
            "You subtract the shares; they add up.",
            lambda W, ids, G: _read(W, ids, G) - _scored(W, ids, G),
        ),
        (
            "You subtract the shares; they add up.",
            lambda W, ids, G: _scored(W, ids, G) - _read(W, ids, G),
        ),
        (
            "Your gradient is turned round: it has a row for each word, as the table.",
            lambda W, ids, G: _both(W, ids, G).T,
        ),
        (
            "The share of the lookup was handed to the wrong rows: row t of `G @ W` belongs to the "
            "row of the table that `ids[t]` names.",
            lambda W, ids, G: _scored(W, ids, G) + F.pad(G @ W, (0, 0, 0, len(W)))[: len(W)],
        ),
        (
            "The share of the lookup needs the gradient of X. You handed out X itself.",
            lambda W, ids, G: torch.zeros_like(W).index_add(0, ids, W[ids]) + _scored(W, ids, G),
        ),
        (
            "You divide by the number of words. A mean belongs to a loss, and G has it already.",
            lambda W, ids, G: _both(W, ids, G) / len(ids),
        ),
        (
            "The share of the scores counts twice, and that of the lookup is missing: the two are "
            "different matrices.",
            lambda W, ids, G: 2 * _scored(W, ids, G),
        ),
        (
            "The share of the lookup counts twice, and that of the scores is missing: the two are "
            "different matrices.",
            lambda W, ids, G: 2 * _read(W, ids, G),
        ),
        (
            "`F.one_hot` gives whole numbers, and a product needs one dtype: put `.to(W.dtype)` "
            "behind it.",
            lambda W, ids, G: F.one_hot(ids, len(W)).T @ (G @ W),
        ),
        (
            "G is the gradient of the scores, with a column for each word. The lookup made X: find "
            "its gradient first, through the scores `X @ W.T`, and hand that out.",
            lambda W, ids, G: F.one_hot(ids, len(W)).float().T @ G,
        ),
        (
            "That is the share of the scores alone, and turned round: a row for each word is "
            "wanted.",
            lambda W, ids, G: _scored(W, ids, G).T,
        ),
        (
            "`F.one_hot(ids)` ends with the largest id that occurs; say how many words there are: "
            "`F.one_hot(ids, len(W))`.",
            lambda W, ids, G: F.one_hot(ids).float().T @ (G @ W) + _scored(W, ids, G),
        ),
        (
            "Two tensors in your sum have different numbers of rows: each share must have the "
            "shape of the table. Hand the rows of `G @ W` out to the words.",
            lambda W, ids, G: G @ W + _scored(W, ids, G),
        ),
        (
            "Only rows that were looked up get a gradient from you. But each word was scored at "
            "each place, whether it occurred or not.",
            lambda W, ids, G: _both(W, ids, G) * F.one_hot(ids, len(W)).amax(0)[:, None],
        ),
    ),
    wrong={
        """\
def gradient_of_tied_table(W, ids, G):
    H = F.one_hot(ids, W.shape[0]).float()
    return H.T @ G @ W
""": "lookup alone",
        """\
def gradient_of_tied_table(W, ids, G):
    X = W[ids]
    return torch.einsum("tv,td->vd", G, X)
""": "scores alone",
        """\
def gradient_of_tied_table(W, ids, G):
    result = G.T @ W[ids]
    result[ids] += G @ W
    return result
""": "last gradient alone",
        """\
def gradient_of_tied_table(W, ids, G):
    H = F.one_hot(ids, len(W)).float()
    return (H.T @ (G @ W) + G.T @ W[ids]) / 2
""": "mean of the two shares",
        """\
def gradient_of_tied_table(W, ids, G):
    H = F.one_hot(ids, len(W)).float()
    return (G @ W).T @ H + (H @ W).T @ G
""": "turned round",
        """\
def gradient_of_tied_table(W, ids, G):
    result = G.T @ W[ids]
    for t in range(len(ids)):
        result[t] = result[t] + G[t] @ W
    return result
""": "handed to the wrong rows",
        """\
def gradient_of_tied_table(W, ids, G):
    H = F.one_hot(ids, len(W)).float()
    return G.T @ W[ids] + H.T @ W[ids]
""": "handed out X itself",
        """\
def gradient_of_tied_table(W, ids, G):
    W = W.clone().requires_grad_()
    (W[ids] @ W.T).backward(G)
    return W.grad
""": "calls `Tensor.backward`",
        """\
def gradient_of_tied_table(W, ids, G):
    H = F.one_hot(ids, len(W))
    return H.T @ (G @ W) + G.T @ W[ids]
""": "whole numbers",
        """\
def gradient_of_tied_table(W, ids, G):
    return G @ W + G.T @ W[ids]
""": "different numbers of rows",
        """\
def gradient_of_tied_table(W, ids, G):
    result = torch.zeros_like(W)
    for t, i in enumerate(ids.tolist()):
        result[i] += G[t] @ W
    for i in ids.unique():
        result[i] += G[:, i] @ W[ids]
    return result
""": "whether it occurred or not",
        """\
def gradient_of_tied_table(W, ids, G):
    return 2 * G.T @ W[ids]
""": "counts twice",
        """\
def gradient_of_tied_table(W, ids, G):
    H = F.one_hot(ids).to(W.dtype)
    return H.T @ (G @ W) + G.T @ (W[ids])
""": "say how many words there are",
        """\
def gradient_of_tied_table(W, ids, G):
    return W[ids].T @ G
""": "turned round",
        """\
def gradient_of_tied_table(W, ids, G):
    return F.one_hot(ids, len(W)).float().T @ G
""": "find its gradient first",
    },
    right=(
        """\
def gradient_of_tied_table(W, ids, G):
    result = torch.zeros_like(W)
    for t, i in enumerate(ids.tolist()):
        for v in range(len(W)):
            result[i] += G[t, v] * W[v]
            result[v] += G[t, v] * W[i]
    return result
""",
        """\
def gradient_of_tied_table(W, ids, G):
    result = torch.einsum("tv,td->vd", G, W[ids])
    return result.index_add(0, ids, G @ W)
""",
        """\
def gradient_of_tied_table(W, ids, G):
    H = torch.eye(len(W))[ids]
    M = H.T @ G
    return (M + M.T) @ W
""",
    ),
)
