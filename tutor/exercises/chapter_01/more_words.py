"""New words for an old table."""

import torch
from torch import nn

from tutor.check.exercise import WRITE, Exercise


def _use(answer, old_rows, count):
    """The rows of the new layer, which of them learn, and whether the old layer is as it was."""
    layer = nn.Embedding.from_pretrained(old_rows.clone(), freeze=False)
    bigger = answer(layer, count)
    if not isinstance(bigger, nn.Embedding):
        raise TypeError(f"an nn.Embedding must be returned, not a {type(bigger).__name__}")
    Y = bigger(torch.arange(len(bigger.weight)))
    learns = torch.zeros(len(Y), dtype=torch.bool)
    if Y.requires_grad:
        learns = torch.autograd.grad(Y.sum(), bigger.weight)[0].to_dense().ne(0).any(dim=-1)
    spared = layer.weight.requires_grad and torch.equal(layer.weight, old_rows)
    return bigger.weight.detach().clone(), learns, spared


def _grown(rows, front=False, learns=True):
    """A layer with the rows that `rows` makes of the old ones and their number."""

    def answer(layer, count):
        W = layer.weight.detach()
        new = rows(W, count)
        W = torch.cat([new, W] if front else [W, new])
        return nn.Embedding.from_pretrained(W, freeze=not learns)

    return answer


def _mean(W, count):
    return W.mean(dim=0).expand(count, -1)


def _new_layer_with_old_rows(layer, count):
    """New rows as a new layer draws them."""
    bigger = nn.Embedding(layer.num_embeddings + count, layer.embedding_dim)
    bigger.weight.data[: layer.num_embeddings] = layer.weight.data
    return bigger


def _writes_into_a_parameter(layer, count):
    layer.weight[:1] = 0.0


def _with_padding(number):
    """A layer that takes one of its rows for padding: layer -> which."""

    def answer(layer, count):
        bigger = _grown(_mean)(layer, count)
        bigger.padding_idx = number(layer, count)
        return bigger

    return answer


def _in_the_old_layer(layer, count):
    bigger = _grown(_mean)(layer, count)
    layer.weight = bigger.weight
    return bigger


def _in_a_frozen_layer(layer, count):
    layer.requires_grad_(False)
    return _grown(_mean, learns=False)(layer, count)


def _cases_of_layers():
    for vocab_size, d_model, count in [(2, 2, 1), (2, 3, 2), (5, 4, 3), (3, 1, 2), (4, 4, 2)]:
        yield (2 * torch.randn(vocab_size, d_model)).round() / 2 + 0.5, count


more_words = Exercise(
    name="more_words",
    chapter="01",
    section="A row for each word",
    kind=WRITE,
    title="New words for an old table",
    goal="Enlarge a trained table, so that old words keep their rows and new ones can learn.",
    difficulty=2,
    importance=4,
    minutes=9,
    text="""\
A table has been trained. Now `count` new words come, and get the next free ids. The old words must
keep their rows and their ids. A new word begins in the middle of what is known: its row is the mean
of all old rows, column by column.

Return a new layer, and leave the old one as it was. All rows of the new layer must be able to
learn. (The check looks at three things. Item 0 are the rows. Item 1 says for each row whether it
gets a gradient when it is looked up; item 2, whether the old layer has its rows and can learn as
before.)""",
    hints=(
        "`layer.weight` has shape (vocab_size, d_model). Over which of the two do you take the "
        "mean, if d_model numbers must be left?",
        "`mean.expand(count, -1)` repeats a row, and `torch.cat` puts rows below rows. The ids of "
        "the old words may not move.",
        "`nn.Embedding.from_pretrained(rows)` makes a layer of a tensor. By default it freezes the "
        "table: `freeze=False`. Read the old rows with `layer.weight.detach()`.",
    ),
    stub='''\
def more_words(layer, count):
    """A larger table: old rows as they were, and `count` new ones, each the mean of the old.

    layer: nn.Embedding with a table (vocab_size, d_model)
    count: int, at least 1
    Returns: a new nn.Embedding with a table (vocab_size + count, d_model), which can learn
    """
    raise NotImplementedError
''',
    solution='''\
def more_words(layer, count):
    """A larger table: old rows as they were, and `count` new ones, each the mean of the old.

    layer: nn.Embedding with a table (vocab_size, d_model)
    count: int, at least 1
    Returns: a new nn.Embedding with a table (vocab_size + count, d_model), which can learn
    """
    old = layer.weight.detach()  # (vocab_size, d_model)
    new = old.mean(dim=0).expand(count, -1)  # (count, d_model)
    return nn.Embedding.from_pretrained(torch.cat([old, new]), freeze=False)
''',
    because="A row at the mean is like no word in particular; a random one is far from them all.",
    reference=_grown(_mean),
    call=_use,
    cases=_cases_of_layers,
    draws=True,
    mistakes=(
        (
            "The rows are right, but none can learn: `from_pretrained` freezes the table unless "
            "you give it `freeze=False`.",
            _grown(_mean, learns=False),
        ),
        *(
            (
                "The rows are right, but one of them gets no gradient: `padding_idx` keeps it "
                "away. No word of this table is padding.",
                _with_padding(number),
            )
            for number in (
                lambda layer, count: 0,
                lambda layer, count: layer.num_embeddings,
                lambda layer, count: layer.num_embeddings - 1,
                lambda layer, count: layer.num_embeddings + count - 1,
            )
        ),
        (
            "The new layer is right, and the old one is not as it was: it has other rows now, or "
            "cannot learn any more. Leave it alone, and make a new one.",
            _in_the_old_layer,
        ),
        (
            "Neither the old layer nor the new one can learn now: you froze them.",
            _in_a_frozen_layer,
        ),
        (
            "The new rows stand in front, so every old word now has the row of another. New ids "
            "come after the old ones.",
            _grown(_mean, front=True),
        ),
        (
            "The new rows are zeros; each should be the mean of the old rows.",
            _grown(lambda W, count: torch.zeros(count, W.shape[1])),
        ),
        (
            "The new rows are the random ones of a new layer; each should be the mean of the old "
            "rows.",
            _new_layer_with_old_rows,
        ),
        (
            "The new rows are random; each should be the mean of the old rows.",
            _grown(lambda W, count: torch.randn(count, W.shape[1])),
        ),
        (
            "The whole table is new and random: the old words have lost what they learned.",
            lambda layer, count: nn.Embedding(layer.num_embeddings + count, layer.embedding_dim),
        ),
        (
            "You take one mean of all numbers, so all columns of a new row are equal. Take the "
            "mean of each column.",
            _grown(lambda W, count: W.mean().expand(count, W.shape[1])),
        ),
        (
            "There is one new row, whatever `count` says.",
            _grown(lambda W, count: _mean(W, 1)),
        ),
        (
            "The new rows are the sum of the old ones: divide by their number.",
            _grown(lambda W, count: W.sum(dim=0).expand(count, -1)),
        ),
        (
            "Your mean divides by the number of all rows, the new ones too; take that of the old "
            "rows alone.",
            _grown(lambda W, count: W.sum(dim=0).expand(count, -1) / (len(W) + count)),
        ),
        (
            "The new rows copy the last old one; each should be the mean of all old rows.",
            _grown(lambda W, count: W[-1:].expand(count, -1)),
        ),
        (
            "The new rows copy the first old one; each should be the mean of all old rows.",
            _grown(lambda W, count: W[:1].expand(count, -1)),
        ),
        (
            "You return the new rows alone; the old ones stay in front of them.",
            lambda layer, count: nn.Embedding.from_pretrained(
                _mean(layer.weight.detach(), count).clone(), freeze=False
            ),
        ),
        (
            "You take the mean over the columns, `dim=1`: one number for each old word. A new row "
            "needs one number for each column, `dim=0`.",
            _grown(lambda W, count: W.mean(dim=1).expand(count, -1)),
        ),
        (
            "A mean is one row, of shape (d_model), and `torch.cat` joins tables: make it a table "
            "of shape (count, d_model) first.",
            lambda layer, count: torch.cat([layer.weight.data, layer.weight.data.mean(dim=0)]),
        ),
        (
            "Nothing may write into a parameter while its steps are recorded: do it within "
            "`torch.no_grad()`.",
            _writes_into_a_parameter,
        ),
        (
            "Return a new layer, an `nn.Embedding`; a tensor or a parameter looks nothing up.",
            lambda layer, count: layer.weight,
        ),
        (
            "Return a new layer, an `nn.Embedding`; a tensor or a parameter looks nothing up.",
            lambda layer, count: layer.weight.data,
        ),
    ),
    wrong={
        """\
def more_words(layer, count):
    W = layer.weight.data
    return nn.Embedding.from_pretrained(torch.vstack([W, *[W.mean(0)] * count]))
""": "none can learn",
        """\
def more_words(layer, count):
    W = layer.weight.detach()
    new = W.mean(dim=0, keepdim=True).repeat(count, 1)
    return nn.Embedding.from_pretrained(torch.cat([new, W]), freeze=False)
""": "stand in front",
        """\
def more_words(layer, count):
    W = torch.zeros(len(layer.weight) + count, layer.weight.shape[1])
    W[: len(layer.weight)] = layer.weight.detach()
    return nn.Embedding.from_pretrained(W, freeze=False)
""": "are zeros",
        """\
def more_words(layer, count):
    n, d = layer.weight.shape
    bigger = nn.Embedding(n + count, d)
    with torch.no_grad():
        bigger.weight[:n].copy_(layer.weight)
    return bigger
""": "random ones of a new layer",
        """\
def more_words(layer, count):
    W = torch.cat([layer.weight.data, torch.randn(count, layer.embedding_dim)])
    return nn.Embedding.from_pretrained(W, freeze=False)
""": "new rows are random",
        """\
def more_words(layer, count):
    return nn.Embedding(layer.num_embeddings + count, layer.embedding_dim)
""": "have lost what they learned",
        """\
def more_words(layer, count):
    W = layer.weight.data
    new = torch.full((count, W.shape[1]), W.mean().item())
    return nn.Embedding.from_pretrained(torch.cat([W, new]), freeze=False)
""": "one mean of all numbers",
        """\
def more_words(layer, count):
    W = layer.weight.data
    return nn.Embedding.from_pretrained(torch.cat([W, W.mean(0)[None]]), freeze=False)
""": "one new row",
        """\
def more_words(layer, count):
    W = layer.weight.data
    new = torch.ones(count, len(W)) @ W
    return nn.Embedding.from_pretrained(torch.cat([W, new]), freeze=False)
""": "the sum of the old",
        """\
def more_words(layer, count):
    n = layer.num_embeddings
    W = torch.zeros(n + count, layer.embedding_dim)
    W[:n] = layer.weight.data
    W[n:] = W.mean(dim=0)
    return nn.Embedding.from_pretrained(W, freeze=False)
""": "the new ones too",
        """\
def more_words(layer, count):
    W = layer.weight.data
    new = W.mean(dim=1).expand(count, -1)
    return nn.Embedding.from_pretrained(torch.cat([W, new]), freeze=False)
""": "one number for each old word",
        """\
def more_words(layer, count):
    W = layer.weight.data
    layer.weight = nn.Parameter(torch.cat([W, W.mean(0).expand(count, -1)]))
    return layer
""": "the old one is not as it was",
        """\
def more_words(layer, count):
    layer.requires_grad_(False)
    rows = torch.cat([layer.weight, layer.weight.mean(dim=0).expand(count, -1)])
    return nn.Embedding.from_pretrained(rows, freeze=False)
""": "the old one is not as it was",
        """\
def more_words(layer, count):
    W = layer.requires_grad_(False).weight
    return nn.Embedding.from_pretrained(torch.cat([W, W.mean(0).expand(count, -1)]))
""": "Neither the old layer",
        """\
def more_words(layer, count):
    W = layer.weight.detach()
    W = torch.cat([W, W.mean(dim=0).expand(count, -1)])
    bigger = nn.Embedding(*W.shape, padding_idx=0)
    bigger.load_state_dict({"weight": W})
    return bigger
""": "`padding_idx` keeps it away",
        """\
def more_words(layer, count):
    W = layer.weight.detach()
    W = torch.cat([W, W.mean(dim=0).expand(count, -1)])
    return nn.Embedding.from_pretrained(W, freeze=False, padding_idx=layer.num_embeddings)
""": "`padding_idx` keeps it away",
        """\
def more_words(layer, count):
    W = layer.weight.detach()
    return torch.cat([W, W.mean(0).expand(count, -1)])
""": "Return a new layer, an `nn.Embedding`",
        """\
def more_words(layer, count):
    W = layer.weight.detach()
    new = [W.mean(dim=0) for _ in range(count)]
    return nn.Embedding.from_pretrained(torch.cat([W, *new]), freeze=False)
""": "`torch.cat` joins tables",
        """\
def more_words(layer, count):
    n, d = layer.weight.shape
    bigger = nn.Embedding(n + count, d)
    bigger.weight[:n] = layer.weight
    bigger.weight[n:] = layer.weight.mean(dim=0)
    return bigger
""": "within `torch.no_grad()`",
        """\
def more_words(layer, count):
    W = layer.weight.detach()
    return nn.Parameter(torch.cat([W, W.mean(0).expand(count, -1)]))
""": "Return a new layer, an `nn.Embedding`",
        """\
def more_words(layer, count):
    W = layer.weight.detach()
    return nn.Embedding.from_pretrained(W.mean(0).expand(count, -1).clone(), freeze=False)
""": "return the new rows alone",
    },
    right=(
        """\
def more_words(layer, count):
    n, d = layer.weight.shape
    bigger = nn.Embedding(n + count, d)
    with torch.no_grad():
        bigger.weight[:n] = layer.weight
        bigger.weight[n:] = layer.weight.mean(dim=0)
    return bigger
""",
        """\
def more_words(layer, count):
    rows = [row for row in layer.weight.data]
    mean = sum(rows) / len(rows)
    bigger = nn.Embedding(len(rows) + count, len(mean))
    bigger.weight = nn.Parameter(torch.stack(rows + [mean] * count))
    return bigger
""",
        """\
def more_words(layer, count):
    import copy

    W = copy.deepcopy(layer).weight.data
    for _ in range(count):
        W = torch.cat([W, W.mean(dim=0, keepdim=True)])
    bigger = nn.Embedding(*W.shape)
    bigger.load_state_dict({"weight": W})
    return bigger
""",
    ),
)
