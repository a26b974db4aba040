"""Exercises of chapter 01: lookups, the rows that learn, the two ends of a table."""

import math

import torch
from torch import nn

from tutor.check.exercise import EXPLAIN, MEND, PREDICT, WRITE, Exercise

gradient_of_rows = Exercise(
    name="gradient_of_rows",
    chapter="01",
    section="Which rows learn?",
    kind=PREDICT,
    title="Who gets which gradient?",
    goal="Say which rows of a table learn from a sentence, and how much.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
A table of 4 rows and 2 columns is asked for the ids `[3, 1, 3]`. From above arrive
$G_0 = [1, 0]$, $G_1 = [0, 2]$ and $G_2 = [4, 1]$.

**Predict** the gradient of the table, on paper: a list of four rows of two numbers each.""",
    hints=(
        "Each position hands its gradient to the row that it came from.",
        "Position 0 and position 2 both came from row 3. Rows are counted from 0.",
        "Row 3 gets $G_0 + G_2$. Two rows were not asked for.",
    ),
    stub="gradient_of_rows = None  # four rows, such as [[0, 0], [0, 0], [0, 0], [0, 0]]",
    solution="gradient_of_rows = [[0, 0], [0, 2], [0, 0], [5, 1]]",
    because="Row 3 was asked for twice and gets both gradients; rows 0 and 2 get nothing.",
    reference=[[0.0, 0.0], [0.0, 2.0], [0.0, 0.0], [5.0, 1.0]],
    mistakes=(
        (
            "Row 3 was asked for twice; you gave it the later gradient alone. The two add up.",
            [[0, 0], [0, 2], [0, 0], [4, 1]],
        ),
        (
            "Row 3 was asked for twice; you gave it the earlier gradient alone. The two add up.",
            [[0, 0], [0, 2], [0, 0], [1, 0]],
        ),
        (
            "You took the mean of the two gradients of row 3. They add up.",
            [[0, 0], [0, 2], [0, 0], [2.5, 0.5]],
        ),
        (
            "Those are the gradients in the order of the sentence. The ids say to which row each "
            "one goes.",
            [[1, 0], [0, 2], [4, 1], [0, 0]],
        ),
        (
            "You counted the rows from 1. The first row is row 0, so id 3 is the last of four.",
            [[0, 2], [0, 0], [5, 1], [0, 0]],
        ),
        (
            "You counted how often each row was asked for. That is the gradient if all numbers "
            "from above are ones; here they are not.",
            [[0, 0], [1, 1], [0, 0], [2, 2]],
        ),
        (
            "Those are ones at the rows that were asked for. Each row gets the gradients that "
            "arrive from above.",
            [[0, 0], [1, 1], [0, 0], [1, 1]],
        ),
    ),
    wrong={
        "gradient_of_rows = [[0, 0], [0, 2], [0, 0], (4, 1)]": "later gradient alone",
        "gradient_of_rows = [[0, 0], [0, 2], [0, 0], [1, 0]]": "earlier gradient alone",
        """\
a, b = torch.tensor([1.0, 0.0]), torch.tensor([4.0, 1.0])
gradient_of_rows = [[0, 0], [0, 2], [0, 0], ((a + b) / 2).tolist()]
""": "the mean of the two",
        "gradient_of_rows = torch.tensor([[1, 0], [0, 2], [4, 1], [0, 0]])": "order of the sent",
        "gradient_of_rows = [[0, 2], [0, 0], [1 + 4, 0 + 1], [0, 0]]": "counted the rows from 1",
        """\
W = torch.zeros(4, 2, requires_grad=True)
W[[3, 1, 3]].sum().backward()
gradient_of_rows = W.grad
""": "how often each row",
        "gradient_of_rows = [[1, 0], [0, 2], [4, 1]]": "length 3",
        "gradient_of_rows = [0, 2, 0, 6]": "a list is wanted",
    },
    right=(
        """\
W = torch.zeros(4, 2, requires_grad=True)
(W[[3, 1, 3]] * torch.tensor([[1.0, 0.0], [0.0, 2.0], [4.0, 1.0]])).sum().backward()
gradient_of_rows = W.grad
""",
        "gradient_of_rows = ((0, 0), (0, 2), (0, 0), (1 + 4, 0 + 1))",
    ),
)


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
    Returns: float tensor (vocab_size, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def gradient_of_table(ids, G, vocab_size):
    """The gradient of an embedding table after a lookup.

    ids: int64 tensor (N, T), the rows that were asked for
    G: float tensor (N, T, d_model), the gradient from above
    vocab_size: int, rows of the table
    Returns: float tensor (vocab_size, d_model)
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
    },
    right=(
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1])
    for n in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            grad[ids[n, t]] += G[n, t]
    return grad
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    W = torch.zeros(vocab_size, G.shape[-1], requires_grad=True)
    (W[ids] * G).sum().backward()
    return W.grad
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    H = F.one_hot(ids, vocab_size).float()
    return torch.einsum("ntv,ntd->vd", H, G)
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    grad = torch.zeros(vocab_size, G.shape[-1])
    return grad.index_put((ids,), G, accumulate=True)
""",
        """\
def gradient_of_table(ids, G, vocab_size):
    return torch.stack([G[ids == r].sum(dim=0) for r in range(vocab_size)])
""",
    ),
)


def _smallest_model(W, ids):
    X = W[ids] * math.sqrt(W.shape[-1])
    return X.tanh() @ W.T


def _cases_of_models():
    for vocab_size, d_model, ids in [
        (3, 2, [[1]]),
        (4, 3, [[0, 3]]),
        (3, 5, [[2, 0, 2]]),
        (7, 4, [[6, 1, 1], [0, 6, 3]]),
        (5, 6, [[4], [4], [0]]),
    ]:
        yield torch.randn(vocab_size, d_model) * d_model**-0.5, torch.tensor(ids)
    yield torch.zeros(4, 2), torch.tensor([[0, 1, 2]])


smallest_model = Exercise(
    name="smallest_model",
    chapter="01",
    section="The same table at the output",
    kind=WRITE,
    title="One table, both ends",
    goal="Use one table to read words and to score them.",
    difficulty=3,
    importance=5,
    minutes=12,
    text="""\
Write a very small model, in three steps:

1. *embed*: look the ids up, and multiply by $\\sqrt{d_{model}}$;
2. *think*: take the hyperbolic tangent of each number, with `.tanh()`. It stands for all the layers
   that are still to come;
3. *score*: take the logits from the same table, $Z = Y W^T$.

The table starts small, so the factor belongs to one of the two ends. Which one, and why, is in
*How large should the numbers be?*""",
    hints=(
        "One line for each step. Write the shape behind each line: ids (N, T), then "
        "(N, T, d_model) twice, then (N, T, vocab_size).",
        "`W[ids]` is the lookup. The number of columns is `W.shape[-1]`; which root of it do you "
        "need, and at which end?",
        "`X = W[ids] * math.sqrt(W.shape[-1])`, and at the end a product with `W.T`. The output "
        "gets no factor.",
    ),
    stub='''\
def smallest_model(W, ids):
    """Logits of the next word, with one table at both ends.

    W: float tensor (vocab_size, d_model)
    ids: int64 tensor (N, T)
    Returns Z: float tensor (N, T, vocab_size)
    """
    raise NotImplementedError
''',
    solution='''\
def smallest_model(W, ids):
    """Logits of the next word, with one table at both ends.

    W: float tensor (vocab_size, d_model)
    ids: int64 tensor (N, T)
    Returns Z: float tensor (N, T, vocab_size)
    """
    X = W[ids] * math.sqrt(W.shape[-1])  # (N, T, d_model)
    Y = X.tanh()  # (N, T, d_model)
    return Y @ W.T  # (N, T, vocab_size)
''',
    because="The gradient of the table was checked too: it has a part from each end.",
    reference=_smallest_model,
    cases=_cases_of_models,
    gradient=True,
    draws=True,  # a new layer draws its first numbers
    mistakes=(
        (
            "The factor is missing: a small table must be multiplied by the square root of d_model "
            "on the way in.",
            lambda W, ids: W[ids].tanh() @ W.T,
        ),
        (
            "Your embeddings are multiplied by d_model; it must be its square root.",
            lambda W, ids: (W[ids] * W.shape[-1]).tanh() @ W.T,
        ),
        (
            "Your embeddings are divided by the square root of d_model; multiply.",
            lambda W, ids: (W[ids] / W.shape[-1] ** 0.5).tanh() @ W.T,
        ),
        (
            "Your factor is the square root of vocab_size, the number of rows; d_model is the "
            "number of columns.",
            lambda W, ids: (W[ids] * W.shape[0] ** 0.5).tanh() @ W.T,
        ),
        (
            "The factor stands at the output too; it belongs to the way in alone.",
            lambda W, ids: _smallest_model(W, ids) * W.shape[-1] ** 0.5,
        ),
        (
            "The logits are divided by the square root of d_model; that is not needed, since the "
            "table is small.",
            lambda W, ids: _smallest_model(W, ids) / W.shape[-1] ** 0.5,
        ),
        (
            "The factor comes after the tanh or at the output; it is a part of the embedding, "
            "before all layers.",
            lambda W, ids: W[ids].tanh() @ W.T * W.shape[-1] ** 0.5,
        ),
        (
            "The tanh is missing between the two ends.",
            lambda W, ids: W[ids] * W.shape[-1] ** 0.5 @ W.T,
        ),
        (
            "You return probabilities; logits are the scores before the softmax.",
            lambda W, ids: _smallest_model(W, ids).softmax(-1),
        ),
        (
            "The output uses a copy of the table that is cut off from it (`detach`, `.data`, or "
            "`clone` of these). With one table, the gradient has a part from each end.",
            lambda W, ids: (W[ids] * W.shape[-1] ** 0.5).tanh() @ W.T.detach(),
        ),
        (
            "The lookup uses a copy of the table that is cut off from it (`detach`, `.data`, or a "
            "new layer). With one table, the gradient has a part from each end.",
            lambda W, ids: (W.detach()[ids] * W.shape[-1] ** 0.5).tanh() @ W.T,
        ),
    ),
    wrong={
        """\
def smallest_model(W, ids):
    X = F.embedding(ids, W)
    return torch.tanh(X) @ W.T
""": "factor is missing",
        """\
def smallest_model(W, ids):
    vocab_size, d_model = W.shape
    X = d_model * F.embedding(ids, W)
    return F.linear(torch.tanh(X), W)
""": "multiplied by d_model",
        """\
def smallest_model(W, ids):
    Y = torch.tanh(W[ids] * W.size(1) ** -0.5)
    return torch.matmul(Y, W.t())
""": "divided by the square root",
        """\
def smallest_model(W, ids):
    Y = torch.tanh(W[ids] * math.sqrt(len(W)))
    return torch.matmul(Y, W.t())
""": "number of rows",
        """\
def smallest_model(W, ids):
    table = W * math.sqrt(W.size(1))
    return F.linear(F.embedding(ids, table).tanh(), table)
""": "at the output too",
        """\
def smallest_model(W, ids):
    root = math.sqrt(W.size(1))
    Z = (F.embedding(ids, W) * root).tanh() @ W.mT
    return Z / root
""": "logits are divided",
        """\
def smallest_model(W, ids):
    Y = F.embedding(ids, W).tanh()
    return Y @ (math.sqrt(W.size(1)) * W).T
""": "after the tanh",
        """\
def smallest_model(W, ids):
    H = F.one_hot(ids, len(W)).float()
    X = H @ W * math.sqrt(W.size(1))
    return X @ W.T
""": "tanh is missing",
        """\
def smallest_model(W, ids):
    X = F.embedding(ids, W) * math.sqrt(W.size(1))
    return F.softmax(X.tanh() @ W.T, dim=-1)
""": "probabilities",
        """\
def smallest_model(W, ids):
    output = nn.Parameter(W.clone())
    X = F.embedding(ids, W) * math.sqrt(W.size(1))
    return F.linear(X.tanh(), output)
""": "output uses a copy",
        """\
def smallest_model(W, ids):
    layer = nn.Embedding(*W.shape)
    layer.weight = nn.Parameter(W)
    X = layer(ids) * math.sqrt(W.size(1))
    return X.tanh() @ W.T
""": "lookup uses a copy",
        """\
def smallest_model(W, ids):
    X = W[ids] * math.sqrt(W.size(1))
    return X.tanh() @ W
""": "RuntimeError",
        """\
def smallest_model(W, ids):
    X = W[ids - 1] * torch.sqrt(W.size(1))
    return X.tanh() @ W.T
""": "TypeError: sqrt()",
        """\
def smallest_model(W, ids):
    W *= math.sqrt(W.size(1))
    return W[ids].tanh() @ W.T
""": "changes its argument `W`",
    },
    right=(
        """\
def smallest_model(W, ids):
    X = F.embedding(ids, W).mul(W.size(1) ** 0.5)
    return F.linear(torch.tanh(X), W)
""",
        """\
def smallest_model(W, ids):
    H = F.one_hot(ids, len(W)).float()
    Y = torch.einsum("ntv,vd->ntd", H, W * math.sqrt(W.shape[1])).tanh()
    return torch.einsum("ntd,vd->ntv", Y, W)
""",
        """\
def smallest_model(W, ids):
    sentences = []
    for sentence in ids:
        rows = []
        for i in sentence:
            y = torch.tanh(W[i] * W.shape[1] ** 0.5)
            rows.append(torch.stack([y.dot(w) for w in W]))
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)
""",
    ),
)


def _ids_fit(ids, vocab_size):
    return bool((ids >= 0).all() and (ids < vocab_size).all())


def _cases_of_ids():
    for ids, vocab_size in [
        ([0], 1),
        ([1], 1),
        ([2, 1], 3),
        ([3, 0], 3),
        ([-1, 2], 3),
        ([-4, 2], 3),
        ([0, 6, 4], 8),
        ([0, 6, 8], 8),
        ([9, 1], 8),
        ([1, 0, 1, 0, 1], 2),
        ([-8, 0], 8),
        ([[1, 2], [0, 4]], 5),
        ([[1, 2], [5, 4]], 5),
        ([[0, 0], [0, -2]], 5),
    ]:
        yield torch.tensor(ids), vocab_size


ids_fit = Exercise(
    name="ids_fit",
    chapter="01",
    section="Ids must be smaller than the number of rows",
    kind=MEND,
    title="No bigger than the number of rows",
    goal="Say which ids a table has rows for.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
"The ids are integers no bigger than the number of rows", says a tutorial. Somebody made a test of
that sentence. It should say `True` if every id has a row of its own in the table. But it lets ids
through that have none, for **two** reasons. **Find both and mend them.**""",
    hints=(
        "Our table has 8 rows. Which numbers do its first and its last row have?",
        "Try the function with `torch.tensor([8])` and `vocab_size=8`. Then think of ids that are "
        "too small.",
        "Two conditions must hold for all ids: at least 0, and smaller than `vocab_size`. `&` "
        "joins two tensors of booleans.",
    ),
    stub='''\
def ids_fit(ids, vocab_size):
    """Whether all ids are rows of a table. It has two mistakes: find them and mend them.

    ids: int64 tensor of any shape
    vocab_size: int, rows of the table
    Returns: True or False
    """
    return bool((ids <= vocab_size).all())
''',
    solution='''\
def ids_fit(ids, vocab_size):
    """Whether all ids are rows of a table.

    ids: int64 tensor of any shape
    vocab_size: int, rows of the table
    Returns: True or False
    """
    return bool(((0 <= ids) & (ids < vocab_size)).all())
''',
    because="Rows are counted from 0, and a negative id would silently mean a row from the end.",
    reference=_ids_fit,
    cases=_cases_of_ids,
    mistakes=(
        (
            "As it was: for a table of 8 rows the id 8 passes, and so does the id -1.",
            lambda ids, vocab_size: bool((ids <= vocab_size).all()),
        ),
        (
            "The upper end is right now, but negative ids still pass; a bare table would return "
            "rows from its end.",
            lambda ids, vocab_size: bool((ids < vocab_size).all()),
        ),
        (
            "Negative ids are refused now, but an id as large as the number of rows still passes; "
            "rows are counted from 0.",
            lambda ids, vocab_size: bool(((0 <= ids) & (ids <= vocab_size)).all()),
        ),
        (
            "Now id 0 is refused: the first row is row 0.",
            lambda ids, vocab_size: bool(((0 < ids) & (ids < vocab_size)).all()),
        ),
        (
            "Those are the bounds for counting from 1; rows are counted from 0.",
            lambda ids, vocab_size: bool(((0 < ids) & (ids <= vocab_size)).all()),
        ),
        (
            "One good id is enough for you; all of them must have a row.",
            lambda ids, vocab_size: bool(((0 <= ids) & (ids < vocab_size)).any()),
        ),
        (
            "Negative ids down to -vocab_size pass. A bare table has rows for them, counted from "
            "its end, but nobody means those.",
            lambda ids, vocab_size: bool(((-vocab_size <= ids) & (ids < vocab_size)).all()),
        ),
        (
            "You compare the number of ids with the number of rows; a sentence may be as long as "
            "it likes. It is the ids themselves that count.",
            lambda ids, vocab_size: ids.numel() <= vocab_size,
        ),
        (
            "The last row is refused now: its id, vocab_size - 1, is a good one.",
            lambda ids, vocab_size: bool(((0 <= ids) & (ids < vocab_size - 1)).all()),
        ),
    ),
    wrong={
        """\
def ids_fit(ids, vocab_size):
    return ids.max().item() < vocab_size
""": "negative ids still pass",
        """\
def ids_fit(ids, vocab_size):
    return bool(ids.min() >= 0 and ids.max() <= vocab_size)
""": "an id as large as the number of rows still passes",
        """\
def ids_fit(ids, vocab_size):
    return bool(ids.min() > 0 and ids.max() < vocab_size)
""": "id 0 is refused",
        """\
def ids_fit(ids, vocab_size):
    return all(i in range(1, vocab_size + 1) for i in ids.flatten().tolist())
""": "counting from 1",
        """\
def ids_fit(ids, vocab_size):
    return any(0 <= i < vocab_size for i in ids.flatten().tolist())
""": "one good id",
        """\
def ids_fit(ids, vocab_size):
    try:
        torch.zeros(vocab_size)[ids]
    except IndexError:
        return False
    return True
""": "down to -vocab_size",
        """\
def ids_fit(ids, vocab_size):
    return all(i in range(vocab_size - 1) for i in ids.flatten().tolist())
""": "the last row is refused",
        """\
def ids_fit(ids, vocab_size):
    return (0 <= ids) & (ids < vocab_size)
""": "True or False is wanted",
        """\
def ids_fit(ids, vocab_size):
    return 0 <= ids < vocab_size
""": "a tensor; True or False",
    },
    right=(
        """\
def ids_fit(ids, vocab_size):
    return bool(0 <= ids.min() <= ids.max() < vocab_size)
""",
        """\
def ids_fit(ids, vocab_size):
    return all(i in range(vocab_size) for i in ids.flatten().tolist())
""",
        """\
def ids_fit(ids, vocab_size):
    try:
        F.embedding(ids, torch.zeros(vocab_size, 1))
    except IndexError:
        return False
    return True
""",
        """\
def ids_fit(ids, vocab_size):
    return ((ids >= 0) * (ids <= vocab_size - 1)).all()
""",
    ),
)


def _use(make_layer, W, ids, G):
    """What a layer looks up, and the gradient of its table."""
    layer = make_layer(W)
    if not isinstance(layer, nn.Module):
        raise TypeError(f"an nn.Embedding must be returned, not a {type(layer).__name__}")
    Y = layer(ids)
    if not Y.requires_grad:
        return Y, torch.zeros_like(layer.weight)
    return Y.detach(), torch.autograd.grad((Y * G).sum(), layer.weight)[0]


def _layer(W, **options):
    layer = nn.Embedding(*W.shape, **options)
    layer.load_state_dict({"weight": W})
    return layer


def _cases_of_layers():
    for vocab_size, d_model, ids in [
        (2, 1, [[0]]),
        (3, 2, [[0, 2]]),
        (8, 3, [[0, 6, 4], [3, 0, 0]]),
        (5, 4, [[4, 3], [1, 2], [0, 4]]),
    ]:
        W, ids = torch.randn(vocab_size, d_model), torch.tensor(ids)
        yield W, ids, torch.randn(*ids.shape, d_model)


learning_table = Exercise(
    name="learning_table",
    chapter="01",
    section="What can go wrong",
    kind=MEND,
    title="The word that never learns",
    goal="Know what `padding_idx` does to a row, and put numbers into a layer without harm.",
    difficulty=2,
    importance=3,
    minutes=8,
    text="""\
A model puts the table of this chapter into a layer, in which id 0 is the word *the*. It looks up
the right vectors. But in training every word moves, and *the* never does. **Find the mistake and
mend it.** The layer must hold the numbers of `W`, and every row that is looked up must learn. (The
check compares two things: item 0 is what was looked up, item 1 the gradient of the table.)""",
    hints=(
        "Which argument of the layer says something about id 0?",
        "The section tells of a frozen first word. Whose row is `padding_idx` meant for, and does "
        "this vocabulary have such a word?",
        "Leave `padding_idx` out. The rest is right.",
    ),
    stub='''\
def learning_table(W):
    """A layer that holds a table. It has a mistake: find it and mend it.

    W: float tensor (vocab_size, d_model)
    Returns: an nn.Embedding whose weight has the numbers of W
    """
    layer = nn.Embedding(W.shape[0], W.shape[1], padding_idx=0)
    layer.load_state_dict({"weight": W})
    return layer
''',
    solution='''\
def learning_table(W):
    """A layer that holds a table.

    W: float tensor (vocab_size, d_model)
    Returns: an nn.Embedding whose weight has the numbers of W
    """
    layer = nn.Embedding(W.shape[0], W.shape[1])
    layer.load_state_dict({"weight": W})
    return layer
''',
    because="A row that `padding_idx` names gets no gradient from lookups.",
    reference=_layer,
    call=_use,
    cases=_cases_of_layers,
    draws=True,
    mistakes=(
        (
            "As it was: row 0 is looked up, and its gradient is zero.",
            lambda W: _layer(W, padding_idx=0),
        ),
        (
            "Now the last word is frozen: `padding_idx=-1` counts from the end. No row of this "
            "table is padding.",
            lambda W: _layer(W, padding_idx=-1),
        ),
        (
            "Now row 1 is frozen in place of row 0. No row of this table is padding.",
            lambda W: _layer(W, padding_idx=1),
        ),
        (
            "Now no row learns at all: `from_pretrained` freezes the whole table unless you give "
            "it `freeze=False` (and `requires_grad_(False)` does the same).",
            lambda W: _layer(W).requires_grad_(False),
        ),
        (
            "Row 0 has become zeros; it must hold its numbers of W.",
            lambda W: _layer(torch.cat([torch.zeros_like(W[:1]), W[1:]])),
        ),
        (
            "The layer keeps the random numbers of a new table; W must go into it.",
            lambda W: nn.Embedding(*W.shape),
        ),
        (
            "The table is turned round: rows are words, columns are d_model.",
            lambda W: _layer(W.T.contiguous()),
        ),
        (
            "There is a new row in front of W, so that every id now means the word before.",
            lambda W: _layer(torch.cat([torch.zeros_like(W[:1]), W])),
        ),
    ),
    wrong={
        """\
def learning_table(W):
    return nn.Embedding.from_pretrained(W, freeze=False, padding_idx=0)
""": "as it was",
        """\
def learning_table(W):
    return nn.Embedding.from_pretrained(W, freeze=False, padding_idx=len(W) - 1)
""": "last word is frozen",
        """\
def learning_table(W):
    layer = nn.Embedding(*W.shape, padding_idx=1)
    with torch.no_grad():
        layer.weight.copy_(W)
    return layer
""": "row 1 is frozen",
        """\
def learning_table(W):
    return nn.Embedding.from_pretrained(W)
""": "no row learns",
        """\
def learning_table(W):
    layer = nn.Embedding(*W.shape)
    layer.weight.data = W.clone()
    layer.weight.data[0] = 0
    return layer
""": "become zeros",
        """\
def learning_table(W):
    torch.manual_seed(0)
    vocab_size, d_model = W.shape
    return nn.Embedding(vocab_size, d_model)
""": "random numbers",
        """\
def learning_table(W):
    layer = nn.Embedding(W.shape[1], W.shape[0])
    layer.weight.data = W.T
    return layer
""": "turned round",
        """\
def learning_table(W):
    table = torch.zeros(len(W) + 1, W.shape[1])
    table[1:] = W
    return nn.Embedding.from_pretrained(table, freeze=False)
""": "new row in front",
        """\
def learning_table(W):
    return nn.Parameter(W)
""": "nn.Embedding must be returned",
    },
    right=(
        """\
def learning_table(W):
    return nn.Embedding.from_pretrained(W, freeze=False)
""",
        """\
def learning_table(W):
    vocab_size, d_model = W.shape
    layer = nn.Embedding(vocab_size, d_model)
    with torch.no_grad():
        layer.weight.copy_(W)
    return layer
""",
        """\
def learning_table(W):
    layer = nn.Embedding(num_embeddings=W.size(0), embedding_dim=W.size(1))
    layer.weight = nn.Parameter(W.clone())
    return layer
""",
    ),
)

why_the_factor = Exercise(
    name="why_the_factor",
    chapter="01",
    section="How large should the numbers be?",
    kind=EXPLAIN,
    title="The factor without its reason",
    goal="Explain why a tied table starts small and is multiplied on the way in.",
    difficulty=3,
    importance=3,
    minutes=10,
    text="""\
A friend reads that embeddings are multiplied by $\\sqrt{d_{model}}$. She takes `nn.Embedding` as it
comes, with $\\sigma = 1$ and $d_{model} = 512$, multiplies by $\\sqrt{512}$ and adds the positions.
The same table makes the logits. **Explain** in three to five sentences what goes wrong at each of
the two ends, with numbers, and how she should start the table.""",
    hints=(
        "Her case is one row of the table with four cases. Which one?",
        "Compare the length of a word with that of a position, and the size of a logit with 1.",
        "With which $\\sigma$ is $\\sigma \\sqrt{512}$ a good size for a logit? What does the "
        "factor then do at the input?",
    ),
    stub='''\
why_the_factor = """

"""
''',
    solution='''\
why_the_factor = """
With sigma 1 a row of 512 numbers has a length of about 22.6, and 512 after the multiplication. A
position has a length of 16, so the word is 32 times as long and drowns it. At the output a logit
has a size of about 22.6: the softmax gives nearly all probability to one arbitrary word before
anything was learned, and the first loss is many times that of guessing. She should start the table
with sigma 1 / sqrt(512). Then logits have size 1, and the factor on the way in brings a word back
to a length of 22.6, beside the position's 16.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "why_the_factor = 'The numbers are too large.'": "at least 12 words",
        "why_the_factor = math.sqrt(512)": "as a text in quotes",
        "why_the_factor = ''": "at least 12 words",
    },
    rubric="""\
- 1 point: at the input the word (length 512) drowns the position (length 16).
- 1 point: at the output the logits are of size 22, so the untrained model has strong opinions, or
  its first loss is far above that of guessing.
- 1 point: the remedy is a small table, $\\sigma = 1/\\sqrt{d_{model}}$.
- 1 point: with the small table the factor has its reason: it makes the word as long as it was,
  while the logits, which are not multiplied, have size 1.""",
)

EXERCISES = (
    gradient_of_rows,
    gradient_of_table,
    smallest_model,
    ids_fit,
    learning_table,
    why_the_factor,
)
