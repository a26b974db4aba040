"""A test of what an encoder reads."""

import torch

from tutor.attention import PAD
from tutor.check.exercise import TEST, Exercise

_WIDTH = 6


def _vectors(ids, places=None):
    """Vectors of ids, (..., S) to (..., S, _WIDTH), in double precision, with their places."""
    places = torch.arange(ids.shape[-1]) if places is None else places
    columns = torch.arange(1.0, _WIDTH + 1, dtype=torch.double)
    return torch.cos(ids[..., None] * columns) + 0.3 * torch.sin(places[..., None] * columns)


def _attend(X, hidden):
    """Each word and what it finds, with hidden (..., S, S); a row that sees nothing gets zeros."""
    E = (X @ X.mT / _WIDTH**0.5).masked_fill(hidden, -torch.inf)
    return (X + E.softmax(-1).nan_to_num(0.0) @ X).float()


def _encoder(hide):
    """An encoder in which a word may not read what is True in hide(ids), of shape (N, S, S)."""
    return lambda ids: _attend(_vectors(ids), hide(ids).expand(*ids.shape, ids.shape[1]))


def _keys(ids):
    return (ids == PAD)[:, None, :]  # (N, 1, S)


def _others(ids):
    return ~torch.eye(ids.shape[1], dtype=torch.bool)


def _one_by_one(ids):
    Y = torch.zeros(*ids.shape, _WIDTH)  # (N, S, _WIDTH)
    for n, sentence in enumerate(ids):
        real = sentence[sentence != PAD]
        Y[n, : len(real)] = _attend(_vectors(real), torch.zeros(len(real), len(real)).bool())
    return Y


def _first_padding(ids):
    padding = (ids == PAD).long()
    return (padding.cumsum(-1) * padding == 1)[:, None, :]


def _length_of_the_first(ids):
    return (torch.arange(ids.shape[1]) >= (ids[0] != PAD).sum())[None, None, :]


def _last_word_too(ids):
    follows = torch.cat([ids[:, 1:], torch.full_like(ids[:, :1], PAD)], dim=1)
    return (follows == PAD)[:, None, :]


def _last_word(ids):
    return _last_word_too(ids) & ~_keys(ids)


def _first_word(ids):
    return (torch.arange(ids.shape[1]) == 0)[None, None, :]


def _without_places(ids):
    X = _vectors(ids, torch.zeros(ids.shape[1]))
    return _attend(X, _keys(ids).expand(*ids.shape, ids.shape[1]))


def _places_from_the_end(ids):
    places = torch.arange(ids.shape[1]).flip(0)
    return _attend(_vectors(ids, places), _keys(ids).expand(*ids.shape, ids.shape[1]))


def _all_in_one(ids):
    places = torch.arange(ids.shape[1]).repeat(len(ids))
    row = ids.reshape(1, -1)  # (1, N * S)
    return _attend(_vectors(row, places), _keys(row).expand(1, *2 * row.shape[1:])).view(
        *ids.shape, _WIDTH
    )


test_encoder = Exercise(
    name="test_encoder",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=TEST,
    title="Test what an encoder reads",
    goal="Test that a model reads all of its sentence and nothing else.",
    difficulty=4,
    importance=5,
    minutes=12,
    text="""\
An encoder turns ids into one row a token. The row of a word depends on **all words of its
sentence, and on nothing else**: not on padding, not on the other sentences. The rows of the padding
itself may be anything. Write the test.

You cannot know the right numbers, since each encoder has weights of its own. But you can give the
same sentence twice, and you can change one word. Take the ids 1 to 9 for words. 0 is the only id of
padding, and it stands behind the words. Whether the order of the words counts is not promised.
There are three right encoders and eight mutants.""",
    hints=(
        "Three questions: does padding change the rows of words? Does another sentence? Does every "
        "word change all rows of its own sentence?",
        "Encode `[[3, 1, 4]]` by itself, and again in the batch `[[1, 5, 9, 2, 6], [3, 1, 4, 0, "
        "0]]`. Compare the three rows of its words with `torch.allclose(a, b, atol=1e-5)`.",
        "An encoder in which each word sees only itself passes all that. So change one word, for "
        "each place in turn, and ask that every row moves by more than 1e-5.",
    ),
    stub='''\
def test_encoder(encode):
    """Raises AssertionError if encode reads too much or too little.

    encode: from ids (N, S), an integer tensor in which 0 is padding behind
        the words, to a float tensor (N, S, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def test_encoder(encode):
    """Raises AssertionError if encode reads too much or too little."""
    alone = encode(torch.tensor([[3, 1, 4]]))  # (1, 3, d_model)
    batch = encode(torch.tensor([[1, 5, 9, 2, 6], [3, 1, 4, 0, 0]]))
    assert torch.allclose(batch[1, :3], alone[0], atol=1e-5)
    for t in range(3):
        ids = torch.tensor([[3, 1, 4]])
        ids[0, t] = 7
        moved = (encode(ids) - alone).abs().amax(dim=-1)  # (1, 3)
        assert (moved > 1e-5).all()
''',
    because="Half of the test says what must not matter, the other half what must.",
    twins={
        "hides padding from every query": _encoder(_keys),
        "encodes each sentence alone, and gives zeros for padding": _one_by_one,
        "knows no places, so that the order of words does not count": _without_places,
    },
    mutants={
        "hides nothing": _encoder(lambda ids: torch.zeros(1, 1, 1, dtype=torch.bool)),
        "hides only the first padding of a sentence": _encoder(_first_padding),
        "takes the length of the first sentence for that of all": _encoder(_length_of_the_first),
        "counts places from the end of the row, so that padding moves words": _places_from_the_end,
        "lets the sentences of a batch read each other": _all_in_one,
        "hides the last word of each sentence from the others": _encoder(
            lambda ids: _last_word_too(ids) & _others(ids) | _keys(ids)
        ),
        "hides the first word of each sentence from the others": _encoder(
            lambda ids: _first_word(ids) & _others(ids) | _keys(ids)
        ),
        "lets each word see itself and the last word only": _encoder(
            lambda ids: ~_last_word(ids) & _others(ids) | _keys(ids)
        ),
    },
    wrong={
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    padded = encode(torch.tensor([[3, 1, 4, 0]]))
    assert torch.allclose(padded[:, :3], alone, atol=1e-5)
""": "hides only the first padding of a sentence",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    padded = encode(torch.tensor([[3, 1, 4, 0, 0]]))
    assert torch.allclose(padded[:, :3], alone, atol=1e-5)
    for t in range(3):
        ids = torch.tensor([[3, 1, 4]])
        ids[0, t] = 7
        assert ((encode(ids) - alone).abs().amax(-1) > 1e-5).all()
""": "takes the length of the first sentence",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    batch = encode(torch.tensor([[1, 5, 9, 2, 6], [3, 1, 4, 0, 0]]))
    assert torch.allclose(batch[1, :3], alone[0], atol=1e-5)
""": "lets 3 of 8 wrong functions pass. One of them hides the last word",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    batch = encode(torch.tensor([[1, 5, 9, 2, 6], [3, 1, 4, 0, 0]]))
    assert torch.allclose(batch[1, :3], alone[0], atol=1e-5)
    moved = (encode(torch.tensor([[7, 1, 4]])) - alone).abs().amax(-1)
    assert (moved > 1e-5).all()
""": "lets 1 of 8 wrong functions pass. It is one that hides the last word",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    batch = encode(torch.tensor([[1, 5, 9, 2, 6], [3, 1, 4, 0, 0]]))
    assert torch.allclose(batch[1, :3], alone[0], atol=1e-5)
    moved = (encode(torch.tensor([[3, 1, 7]])) - alone).abs().amax(-1)
    assert (moved > 1e-5).any()
""": "hides the last word",
        """\
def test_encoder(encode):
    Y = encode(torch.tensor([[1, 5, 9, 2, 6], [3, 1, 4, 0, 0]]))
    assert (Y[1, 3:] == 0).all()
""": "fails a right function, one that hides padding from every query. It stops in",
        """\
def test_encoder(encode):
    alone = encode([[3, 1, 4]])
    assert torch.allclose(encode([[3, 1, 4, 0]])[:, :3], alone)
""": "crashes on a right function",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    padded = encode(torch.tensor([[3, 1, 4, 0, 0]]))
    assert torch.allclose(padded, alone, atol=1e-5)
""": "RuntimeError: The size of tensor a (5) must match the size of tensor b (3)",
        """\
def test_encoder(encode):
    ids = torch.tensor([[1, 5, 9, 2, 6], [3, 1, 4, 0, 0]])
    Y = encode(ids)
    ids[1, 3:] = torch.tensor([8, 2])
    assert torch.allclose(encode(ids)[1, :3], Y[1, :3], atol=1e-5)
""": "also what is right. It stops in the line",
        """\
def test_encoder(encode):
    Y = encode(torch.tensor([[3, 1, 4, 0, 0]]))
    assert Y[0, :3] == encode(torch.tensor([[3, 1, 4]]))[0]
""": "asks whether a whole tensor is true",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    batch = encode(torch.tensor([[1, 5, 9, 2, 6], [3, 1, 4, 0, 0]]))
    assert torch.allclose(batch[1, :3], alone[0], atol=1e-5)
    for t in range(3):
        ids = torch.tensor([[3, 1, 4]])
        ids[0, t] = 7
        assert ((encode(ids) - alone).abs().amax(-1) > 1e-5).all()
    turned = encode(torch.tensor([[4, 1, 3]]))
    assert not torch.allclose(turned[0, 1], alone[0, 1], atol=1e-5)
""": "one that knows no places",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    batch = encode(torch.tensor([[1, 5, 9, 2, 6], [3, 1, 4, 0, 0]]))
    assert torch.allclose(batch[1, :3], alone[0], atol=1e-5)
    for t in (1, 2):
        ids = torch.tensor([[3, 1, 4]])
        ids[0, t] = 7
        assert ((encode(ids) - alone).abs().amax(-1) > 1e-5).all()
""": "hides the first word of each sentence",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1]]))
    batch = encode(torch.tensor([[1, 5, 9, 2, 6], [3, 1, 0, 0, 0]]))
    assert torch.allclose(batch[1, :2], alone[0], atol=1e-5)
    last, first = encode(torch.tensor([[3, 7]])), encode(torch.tensor([[7, 1]]))
    assert not torch.allclose(last[0, 0], alone[0, 0], atol=1e-5)
    assert not torch.allclose(first[0, 0], alone[0, 0], atol=1e-5)
""": "wrong functions pass",
        """\
def test_encoder(encode):
    ids = torch.tensor([[3, 1, 4, 0, 0]])
    assert torch.equal(encode(ids), encode(ids))
""": "wrong functions pass",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    padded = encode(torch.tensor([[3, 1, 4, 0, 0]]))
    return (padded[:, :3] - alone).abs()
""": "returns a tensor",
        """\
def test_encoder(encode):
    alone = encode(torch.tensor([[3, 1, 4]]))
    batch = encode(torch.tensor([[3, 1, 4, 0, 0], [1, 5, 9, 2, 6]]))
    assert torch.allclose(batch[0, :3], alone[0], atol=1e-5)
    for t in range(3):
        ids = torch.tensor([[3, 1, 4]])
        ids[0, t] = 7
        assert ((encode(ids) - alone).abs().amax(-1) > 1e-5).all()
""": "takes the length of the first sentence",
    },
    right=(
        """\
def test_encoder(encode):
    sentences = [[3, 1], [4, 1, 5, 9], [2, 6, 5]]
    ids = torch.zeros(3, 7, dtype=torch.long)
    for n, sentence in enumerate(sentences):
        ids[n, :len(sentence)] = torch.tensor(sentence)
    Y = encode(ids)
    for n, sentence in enumerate(sentences):
        T = len(sentence)
        torch.testing.assert_close(Y[n, :T], encode(torch.tensor([sentence]))[0])
        for s in range(T):
            other = ids.clone()
            other[n, s] = 8
            moved = (encode(other) - Y).abs().amax(-1) > 1e-4
            assert moved[n, :T].all()
""",
        """\
def test_encoder(encode):
    a, b = torch.tensor([[9, 2, 6, 5, 3]]), torch.tensor([[3, 5, 0, 0, 0]])
    both = encode(torch.cat([a, b]))
    same = torch.allclose(both[1, :2], encode(b[:, :2])[0], atol=1e-5)
    first, last = b.clone(), b.clone()
    first[0, 0] = 8
    last[0, 1] = 8
    for other in (first, last):
        moved = (encode(torch.cat([a, other]))[1, :2] - both[1, :2]).abs().sum(-1)
        same = same and bool((moved > 1e-4).all())
    return same
""",
    ),
)
