"""A test that no document reads its neighbour."""

import torch

from tutor.check.exercise import TEST, Exercise
from tutor.language_model import LanguageModel, LanguageModelConfig, places_of

with torch.random.fork_rng(devices=[]):
    torch.manual_seed(0)
    SIZES = dict(d_model=8, num_layers=1, num_heads=2, d_ff=16, max_len=64, dropout=0.0)
    MODEL = LanguageModel(LanguageModelConfig(20, **SIZES)).double().eval()
    SINGLE = LanguageModel(MODEL.config).eval()
    SINGLE.load_state_dict(MODEL.state_dict())


def _future(documents):
    T = documents.shape[1]
    return torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)  # (T, T)


def _other(documents):
    return documents[:, :, None] != documents[:, None, :]  # (N, T, T)


def _right_mask(documents):
    return _future(documents) | _other(documents)


def _before_the_border(documents):
    """Hides too little: each token sees the last one of the document before its own."""
    at = torch.arange(documents.shape[1])
    last = at - places_of(documents, documents) - 1  # (N, T)
    return _right_mask(documents) & (at != last[:, :, None])


def _alone(documents):
    return ~torch.eye(documents.shape[1], dtype=torch.bool)


def _on_and_on(ids, documents):
    return torch.arange(ids.shape[1]).expand_as(ids)


def _reader(mask=_right_mask, places=places_of):
    """A function that reads packed rows, with a mask (broadcastable to (N, T, T)) of its own."""

    @torch.no_grad()
    def read(ids, documents):
        at = places(ids, documents)
        X = MODEL.embed(ids, at)  # (N, T, d_model)
        hidden = mask(documents).expand(len(ids), -1, -1)[:, None]  # (N, 1, T, T)
        for layer in MODEL.layers:
            X = layer(X, hidden, at)
        return MODEL.logits(MODEL.norm(X))  # (N, T, V_size)

    return read


@torch.no_grad()
def _one_by_one(ids, documents):
    """Reads each document for itself, in float32."""
    rows = []
    for row, numbers in zip(ids, documents, strict=True):
        sizes = numbers.unique_consecutive(return_counts=True)[1].tolist()
        rows.append(torch.cat([SINGLE(piece[None])[0] for piece in row.split(sizes)]))
    return torch.stack(rows)


test_neighbours = Exercise(
    name="test_neighbours",
    chapter="15",
    section="Many documents in one row",
    kind=TEST,
    title="Test that no document reads its neighbour",
    goal="Write the test that a model on packed rows must pass.",
    difficulty=4,
    importance=5,
    minutes=13,
    text="""\
`read(ids, documents)` is a language model on packed rows. It returns logits (N, T, 20) and
promises:

- what it says at a token depends on **all** tokens of the same document up to this one,
- on the positions that these have in their own document, counted from 0,
- and on nothing else: neither on later tokens, nor on other documents of the row, nor on other
  rows.

So a document is read in a packed row as it is read alone. Write the test. It is tried on two right
models, which round differently (by less than 0.0001), and on seven mutants. A token that matters
moves some logit by more than 0.001. Ids are 1 to 19. `documents` numbers those of each row 1, 2, 3
and so on, each some tokens in a stretch. A row may have up to 32 tokens.""",
    hints=(
        "There are two sorts of test: change one token and see what moves; or read a document "
        "alone, as a batch of one row, and compare. Which promise does the second not see?",
        "Two documents in one row are too few for some mutants, and so is one row. Let the rows "
        "have their borders at different places.",
        "With three documents a row and two rows: for each document compare "
        "`read(ids[n : n + 1, here], ones)` with `read(ids, documents)[n : n + 1, here]`. Then "
        "change one token in the middle of a document: before it nothing may move, from it to "
        "the document's end everything must.",
    ),
    stub='''\
def test_neighbours(read):
    """Raises AssertionError, or returns False, if read does not keep its promises.

    read: a function of ids, int tensor (N, T), and documents, int tensor (N, T);
        it returns logits, float tensor (N, T, 20)
    """
    raise NotImplementedError
''',
    solution='''\
def test_neighbours(read):
    """Raises AssertionError if read does not keep its promises."""
    sizes = [(4, 3, 5), (2, 6, 4)]  # of the documents of two rows
    documents = torch.tensor([[k + 1 for k in range(3) for _ in range(row[k])] for row in sizes])
    ids = torch.randint(1, 20, documents.shape)  # (2, 12)
    Z = read(ids, documents)  # (2, 12, 20)
    for n in range(2):
        for k in (1, 2, 3):
            here = documents[n] == k
            alone = read(ids[n : n + 1, here], documents[n : n + 1, here] ** 0)
            assert torch.allclose(alone[0].double(), Z[n, here].double(), atol=1e-3)

    changed = ids.clone()
    changed[0, 8] = changed[0, 8] % 19 + 1  # in the third document, which is 7 to 11
    moved = (read(changed, documents) - Z).abs().amax(-1) > 1e-3  # (2, 12)
    wanted = torch.zeros(2, 12, dtype=torch.bool)
    wanted[0, 8:] = True
    assert torch.equal(moved, wanted)
''',
    because="To compare with a document read alone finds every leak between documents and none "
    "within one: what both readings do wrong, no comparison sees.",
    twins={
        "reads packed rows in float64": _reader(),
        "reads each document for itself, in float32": _one_by_one,
    },
    mutants={
        "hides the future alone, so that every document reads those before it": _reader(_future),
        "counts positions on and on through the row": _reader(places=_on_and_on),
        "shows later tokens of the same document": _reader(_other),
        "shows the last token of the document before": _reader(_before_the_border),
        "takes the borders of the first row for those of all rows": _reader(
            lambda documents: _right_mask(documents[:1])
        ),
        "takes document 3 for a part of document 1": _reader(
            lambda documents: _right_mask(documents % 2)
        ),
        "looks at no token but the one it stands at": _reader(_alone),
    },
    wrong={
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 1, 2, 2, 2, 2]])
    ids = torch.randint(1, 20, (1, 8))
    Z = read(ids, documents)
    changed = ids.clone()
    changed[0, 5] = ids[0, 5] % 19 + 1
    moved = (read(changed, documents) - Z).abs().amax(-1)[0] > 1e-3
    assert moved.tolist() == [False] * 5 + [True] * 3
""": "lets 5 of 7",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 1, 2, 2, 2, 2]])
    ids = torch.randint(1, 20, (1, 8))
    Z = read(ids, documents)
    changed = ids.clone()
    changed[0, 1] = ids[0, 1] % 19 + 1
    moved = (read(changed, documents) - Z).abs().amax(-1)[0] > 1e-3
    assert moved.tolist() == [False] + [True] * 3 + [False] * 4
""": "counts positions on and on",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 2, 2, 3, 3, 3], [1, 1, 2, 2, 2, 2, 3, 3]])
    ids = torch.randint(1, 20, (2, 8))
    Z = read(ids, documents)
    for n in range(2):
        for k in range(1, 4):
            here = documents[n] == k
            alone = read(ids[n, here][None], torch.ones(1, int(here.sum()), dtype=torch.long))
            assert torch.allclose(alone[0].double(), Z[n, here].double(), atol=1e-3)
""": "later tokens of the same document",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 2, 2, 3, 3, 3]])
    ids = torch.randint(1, 20, (1, 8))
    Z = read(ids, documents)
    for k in range(1, 4):
        here = documents[0] == k
        alone = read(ids[0, here][None], torch.ones(1, int(here.sum()), dtype=torch.long))
        assert torch.allclose(alone[0].double(), Z[0, here].double(), atol=1e-3)
    changed = ids.clone()
    changed[0, 1] = ids[0, 1] % 19 + 1
    moved = (read(changed, documents) - Z).abs().amax(-1)[0] > 1e-3
    assert moved.tolist() == [False] + [True] * 2 + [False] * 5
""": "borders of the first row",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 2, 2]])
    ids = torch.randint(1, 20, (2, 6))
    Z = read(ids, documents)
    for n in range(2):
        for k in range(1, 3):
            here = documents[n] == k
            alone = read(ids[n, here][None], torch.ones(1, int(here.sum()), dtype=torch.long))
            assert torch.allclose(alone[0].double(), Z[n, here].double(), atol=1e-3)
    changed = ids.clone()
    changed[0, 1] = ids[0, 1] % 19 + 1
    moved = (read(changed, documents) - Z).abs().amax(-1)[0] > 1e-3
    assert moved.tolist() == [False] + [True] * 2 + [False] * 3
""": "document 3 for a part of document 1",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 2, 2, 3, 3, 3], [1, 1, 2, 2, 2, 2, 3, 3]])
    ids = torch.randint(1, 20, (2, 8))
    Z = read(ids, documents)
    for n in range(2):
        for k in range(1, 4):
            here = documents[n] == k
            alone = read(ids[n, here][None], torch.ones(1, int(here.sum()), dtype=torch.long))
            assert torch.allclose(alone[0].double(), Z[n, here].double(), atol=1e-3)
    changed = ids.clone()
    changed[0, 1] = ids[0, 1] % 19 + 1
    assert not torch.allclose(read(changed, documents)[0, 2], Z[0, 2], atol=1e-3)
""": "later tokens of the same document",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 2, 2, 2]])
    ids = torch.randint(1, 20, (1, 6))
    other = ids.clone()
    other[0, 0] = ids[0, 0] % 19 + 1
    Z, Y = read(ids, documents), read(other, documents)
    assert torch.allclose(Z[0, 3:], Y[0, 3:], atol=1e-3)
""": "wrong functions pass",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 2, 2, 2]])
    ids = torch.randint(1, 20, (1, 6))
    changed = ids.clone()
    changed[0, 1] = ids[0, 1] % 19 + 1
    assert torch.allclose(read(ids, documents), read(changed, documents), atol=1e-3)
""": "also what is right",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 2, 2, 2]])
    ids = torch.randint(1, 20, (1, 6))
    alone = read(ids[:, 3:], torch.full((1, 3), 1))
    assert torch.equal(alone, read(ids, documents)[:, 3:].float())
""": "fails a right function",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 2, 2, 2]])
    ids = torch.randint(1, 20, (1, 6))
    assert read(ids, documents).shape == (1, 6, 20)
""": "all 7 wrong functions",
        """\
def test_neighbours(read):
    documents = torch.tensor([[1, 1, 1, 2, 2, 2]])
    ids = torch.randint(1, 20, (1, 6))
    alone = read(ids[:, 3:], documents[:, :3])
    return (alone - read(ids, documents)[:, 3:]).abs().max()
""": "returns a tensor",
    },
    right=(
        """\
def test_neighbours(read):
    torch.manual_seed(3)
    sizes = [[2, 3, 3], [3, 2, 3]]
    documents = torch.stack([torch.arange(1, 4).repeat_interleave(torch.tensor(s)) for s in sizes])
    ids = torch.randint(1, 20, (2, 8))
    Z = read(ids, documents)
    for n in range(2):  # change every token once
        for t in range(8):
            other = ids.clone()
            other[n, t] = ids[n, t] % 19 + 1
            moved = (read(other, documents) - Z).abs().amax(-1) > 1e-3
            wanted = torch.zeros(2, 8, dtype=torch.bool)
            wanted[n, t:] = documents[n, t:] == documents[n, t]
            assert (moved == wanted).all()
    row = torch.tensor([[7, 8, 9, 7, 8, 9]])  # the same document twice
    twice = read(row, torch.tensor([[1, 1, 1, 2, 2, 2]]))
    assert (twice[0, :3] - twice[0, 3:]).abs().max() < 1e-3
""",
        """\
def test_neighbours(read):
    a, b, c = [3, 4, 5, 6], [7, 8, 9], [10, 11]

    def packed(*rows):
        ids = torch.tensor([[i for piece in row for i in piece] for row in rows])
        documents = [[k for k, piece in enumerate(row, 1) for _ in piece] for row in rows]
        return read(ids, torch.tensor(documents))

    same = lambda x, y: bool(((x.double() - y.double()).abs() < 1e-3).all())
    Z = packed([a, b, c], [c, a, b])
    alone_a, alone_b, alone_c = packed([a])[0], packed([b])[0], packed([c])[0]
    a_again = packed([[3, 4, 5, 12]])[0]
    return (
        same(Z[0], torch.cat([alone_a, alone_b, alone_c]))
        and same(Z[1], torch.cat([alone_c, alone_a, alone_b]))
        and same(alone_a[:3], a_again[:3])  # the future is hidden
        and not same(alone_a[3], packed([[13, 4, 5, 6]])[0, 3])  # the past is read
    )
""",
    ),
)
