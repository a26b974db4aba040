"""Look the words up."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import WRITE, Exercise


def _cases_of_lookups():
    for vocab_size, d_model, ids in [
        (3, 3, [1, 2]),
        (3, 2, [2, 0]),
        (3, 4, [1, 1]),
        (4, 4, [3, 0, 3]),
        (8, 9, [0, 1, 2, 3, 0, 6, 4]),
    ]:
        yield torch.randn(vocab_size, d_model), torch.tensor(ids)


look_up = Exercise(
    name="look_up",
    chapter="01",
    section="A row for each word",
    kind=WRITE,
    title="Look the words up",
    goal="Replace ids by the rows of a table.",
    difficulty=1,
    importance=5,
    minutes=2,
    text="""\
Replace each id by the row of the table that has its number, in the order of the sentence. The
table must be able to learn through your lookup: gradients have to reach `W`.""",
    hints=(
        "A tensor can be asked for one row: `W[6]`. What does it give when it is asked for many?",
        "Between the brackets may stand a tensor of whole numbers.",
        "`W[ids]` has one row for each id. (A loop over the ids with `torch.stack` is right too.)",
    ),
    stub='''\
def look_up(W, ids):
    """The rows of the table W (vocab_size, d_model) that ids (T) name: (T, d_model)."""
    ...  # one line
''',
    solution='''\
def look_up(W, ids):
    """The rows of the table W (vocab_size, d_model) that ids (T) name: (T, d_model)."""
    return W[ids]  # (T, d_model)
''',
    because="The gradient of the table was checked too.",
    reference=lambda W, ids: W[ids],
    cases=_cases_of_lookups,
    gradient=True,
    draws=True,  # a new layer draws its first numbers
    mistakes=(
        (
            "You count the rows from 1; the first row is row 0, so id 0 is the first of all.",
            lambda W, ids: W[ids - 1],
        ),
        (
            "You take columns of the table; a word has a row: `W[ids]`, not `W[:, ids]`.",
            lambda W, ids: W[:, ids],
        ),
        (
            "You look the ids up in the table turned round; a word has a row of `W`, no column.",
            lambda W, ids: W.T[ids],
        ),
        (
            "The rows have lost the order of the sentence: row t of the result belongs to word t.",
            lambda W, ids: W[ids.sort().values],
        ),
        (
            "A word that occurs twice is there once only; each place of the sentence has a row.",
            lambda W, ids: W[ids.unique()],
        ),
        (
            "Those are the first rows of the table; the ids say which rows are wanted.",
            lambda W, ids: W[: len(ids)],
        ),
        (
            "Those are one-hot rows; multiply them with `W`, and you are there.",
            lambda W, ids: F.one_hot(ids, len(W)).float(),
        ),
        (
            "You add the rows up; the result has one row for each word.",
            lambda W, ids: W[ids].sum(dim=0),
        ),
        (
            "The numbers are right, but cut off from the table (`detach`, `.data`, `no_grad` or a "
            "copy of W): it would never learn.",
            lambda W, ids: W.detach()[ids],
        ),
        (
            "You look up in a new table with random numbers; use the rows of `W`.",
            lambda W, ids: nn.Embedding(*W.shape)(ids),
        ),
    ),
    wrong={
        """\
def look_up(W, ids):
    return torch.stack([W[i - 1] for i in ids.tolist()])
""": "count the rows from 1",
        """\
def look_up(W, ids):
    return W[:, ids]
""": "take columns",
        """\
def look_up(W, ids):
    table = {i: row for i, row in enumerate(W)}
    return torch.stack([table[i] for i in sorted(ids.tolist())])
""": "order of the sentence",
        """\
def look_up(W, ids):
    return torch.stack([row for i, row in enumerate(W) if i in ids])
""": "there once only",
        """\
def look_up(W, ids):
    T = ids.shape[0]
    return W[0:T]
""": "first rows of the table",
        """\
def look_up(W, ids):
    H = torch.zeros(len(ids), len(W))
    H[torch.arange(len(ids)), ids] = 1.0
    return H
""": "one-hot rows",
        """\
def look_up(W, ids):
    return sum(W[i] for i in ids)
""": "add the rows up",
        """\
def look_up(W, ids):
    with torch.no_grad():
        return W[ids]
""": "cut off from the table",
        """\
def look_up(W, ids):
    layer = nn.Embedding(W.shape[0], W.shape[1])
    return layer(ids)
""": "a new table",
        """\
def look_up(W, ids):
    return torch.tensor([W[i].tolist() for i in ids])
""": "cut off from the table",
        """\
def look_up(W, ids):
    return F.one_hot(ids, len(W)) @ W
""": "RuntimeError",
        """\
def look_up(W, ids):
    return [W[i] for i in ids]
""": "a list; a tensor is wanted",
    },
    right=(
        """\
def look_up(W, ids):
    return F.one_hot(ids, len(W)).float() @ W
""",
        """\
def look_up(W, ids):
    return torch.stack([W[i] for i in ids])
""",
        """\
def look_up(W, ids):
    return F.embedding(ids, W)
""",
        """\
def look_up(W, ids):
    return W.index_select(0, ids)
""",
    ),
)
