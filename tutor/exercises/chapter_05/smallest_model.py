"""One table, both ends."""

import math

import torch

from tutor.check.exercise import WRITE, Exercise


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
    chapter="05",
    section="One table, three places",
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

Both ends must pass their gradients on to `W` itself. The table starts small, so the factor belongs
to one of the two ends. Which one, and why, is in *One table, three places*.""",
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
        """\
def smallest_model(W, ids):
    Y = F.embedding(ids, W).tanh()
    Y *= math.sqrt(W.shape[-1])
    return Y @ W.T
""": "the result of `tanh` in the line `Y *= math.sqrt(W.shape[-1])`",
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
        """\
def smallest_model(W, ids):
    X = F.embedding(ids, W, sparse=True) * math.sqrt(W.shape[-1])
    return X.tanh() @ W.T
""",
    ),
)
