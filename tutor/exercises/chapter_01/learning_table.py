"""The word that never learns."""

import torch
from torch import nn

from tutor.check.exercise import MEND, Exercise


def _use(make_layer, W, ids, G):
    """What a layer looks up, the gradient of its table, and whether W is spared by a step."""
    mine = W.clone()
    layer = make_layer(mine)
    if not isinstance(layer, nn.Module):
        raise TypeError(f"an nn.Embedding must be returned, not a {type(layer).__name__}")
    Y = layer(ids)
    gradient = torch.zeros_like(layer.weight)
    if Y.requires_grad:
        gradient = torch.autograd.grad((Y * G).sum(), layer.weight)[0].to_dense()
    layer.weight.data -= 1
    return Y.detach(), gradient, torch.equal(mine, W)


def _layer(W, shared=False, **options):
    """A layer with the numbers of W; shared: in the memory of W."""
    layer = nn.Embedding(*W.shape, **options)
    layer.weight.data = W if shared else W.clone()
    return layer


def _also_shared(said, make_layer):
    """The same message whether or not the layer shares the memory of W: (W, shared) -> layer."""
    for shared in (True, False):
        yield said, lambda W, shared=shared: make_layer(W, shared=shared)


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
    goal="Know what `padding_idx` does to a row, and whose numbers a layer holds.",
    difficulty=3,
    importance=3,
    minutes=6,
    text="""\
A model puts the table of this chapter into a layer, in which id 0 is the word *a*. The layer looks
up the right vectors. After training, somebody subtracts `W` from its rows, to see how far each word
has moved: no word has. And yet the model is much better, though not at *a*. There are **two**
mistakes. **Find and mend them.**

The layer must begin with the numbers of `W`, every row that is looked up must learn, and `W` must
stay as it was. (The check looks at three things. Item 0 is what was looked up, item 1 the gradient
of the table. Item 2 says whether `W` is as it was after a step of training.)""",
    hints=(
        "If the rows moved and `W` shows no difference, what has become of `W`?",
        "Which argument of the layer says something about id 0? And change a number of "
        "`layer.weight.data`, then print `W`.",
        "Leave `padding_idx` out, and give the layer numbers of its own: `W.clone()`.",
    ),
    stub='''\
def learning_table(W):
    """A layer that holds a table. It has two mistakes: find them and mend them.

    W: float tensor (vocab_size, d_model)
    Returns: an nn.Embedding whose weight has the numbers of W
    """
    return nn.Embedding.from_pretrained(W, freeze=False, padding_idx=0)
''',
    solution='''\
def learning_table(W):
    """A layer that holds a table.

    W: float tensor (vocab_size, d_model)
    Returns: an nn.Embedding whose weight has the numbers of W
    """
    return nn.Embedding.from_pretrained(W.clone(), freeze=False)
''',
    because="A layer that is made around a tensor trains that tensor; `load_state_dict` copies.",
    reference=_layer,
    call=_use,
    cases=_cases_of_layers,
    draws=True,
    mistakes=(
        (
            "As it was: row 0 is looked up, and its gradient is zero. Two mistakes are left.",
            lambda W: _layer(W, shared=True, padding_idx=0),
        ),
        (
            "One mistake is left: row 0 is looked up, and its gradient is zero.",
            lambda W: _layer(W, padding_idx=0),
        ),
        (
            "One mistake is left: train the layer by one step, and `W` has moved with it.",
            lambda W: _layer(W, shared=True),
        ),
        *_also_shared(
            "Now the last word is frozen: `padding_idx=-1` counts from the end. No row of this "
            "table is padding.",
            lambda W, shared: _layer(W, shared, padding_idx=-1),
        ),
        *_also_shared(
            "Now row 1 is frozen in place of row 0. No row of this table is padding.",
            lambda W, shared: _layer(W, shared, padding_idx=1),
        ),
        *_also_shared(
            "Now no row learns at all: `from_pretrained` freezes the whole table unless you give "
            "it `freeze=False` (and `requires_grad_(False)` does the same).",
            lambda W, shared: _layer(W, shared).requires_grad_(False),
        ),
        (
            "Row 0 has become zeros; it must hold its numbers of W.",
            lambda W: _layer(torch.cat([torch.zeros_like(W[:1]), W[1:]])),
        ),
        (
            "The layer keeps the random numbers of a new table; W must go into it.",
            lambda W: nn.Embedding(*W.shape),
        ),
        *_also_shared(
            "The table is turned round: rows are words, columns are d_model.",
            lambda W, shared: _layer(W.T, shared),
        ),
        (
            "Return the layer, an `nn.Embedding`: a Parameter is its table alone.",
            nn.Parameter,
        ),
        (
            "`load_state_dict` returns a report of names that did not fit. Call it in a line of "
            "its own, and return the layer.",
            lambda W: _layer(W).load_state_dict({"weight": W}),
        ),
        (
            "There is a new row in front of W, so that every id now means the word before.",
            lambda W: _layer(torch.cat([torch.zeros_like(W[:1]), W])),
        ),
    ),
    wrong={
        """\
def learning_table(W):
    return nn.Embedding.from_pretrained(W, padding_idx=0, freeze=False, sparse=True)
""": "as it was",
        """\
def learning_table(W):
    return nn.Embedding.from_pretrained(W.clone(), freeze=False, padding_idx=0)
""": "One mistake is left: row 0",
        """\
def learning_table(W):
    return nn.Embedding.from_pretrained(W, freeze=False)
""": "One mistake is left: train the layer",
        """\
def learning_table(W):
    layer = nn.Embedding(*W.shape)
    layer.weight = nn.Parameter(W)
    return layer
""": "One mistake is left: train the layer",
        """\
def learning_table(W):
    layer = nn.Embedding(*W.shape)
    layer.weight.data = W[:]
    return layer
""": "One mistake is left: train the layer",
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
        """\
def learning_table(W):
    return nn.Embedding(*W.shape).load_state_dict({"weight": W})
""": "return the layer",
    },
    right=(
        """\
def learning_table(W):
    layer = nn.Embedding(W.shape[0], W.shape[1])
    layer.load_state_dict({"weight": W})
    return layer
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
    return nn.Embedding.from_pretrained(torch.tensor(W.tolist()), freeze=False, sparse=True)
""",
    ),
)
