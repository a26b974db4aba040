"""The word that never learns."""

import torch
from torch import nn

from tutor.check.exercise import MEND, Exercise


def _use(make_layer, W, ids, G):
    """What a layer looks up, and the gradient of its table."""
    layer = make_layer(W)
    if not isinstance(layer, nn.Module):
        raise TypeError(f"an nn.Embedding must be returned, not a {type(layer).__name__}")
    Y = layer(ids)
    if not Y.requires_grad:
        return Y, torch.zeros_like(layer.weight)
    gradient = torch.autograd.grad((Y * G).sum(), layer.weight)[0]
    return Y.detach(), gradient.to_dense()


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
    minutes=6,
    text="""\
A model puts the table of this chapter into a layer, in which id 0 is the word *a*. It looks up
the right vectors. But in training every word moves, and *a* never does. **Find the mistake and
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
            "Return the layer, an `nn.Embedding`: a Parameter is its table alone.",
            nn.Parameter,
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
""": "its table alone",
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
        """\
def learning_table(W):
    return nn.Embedding.from_pretrained(W, freeze=False, sparse=True)
""",
    ),
)
