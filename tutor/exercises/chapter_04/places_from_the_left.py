"""Places in a batch that is padded on the left."""

import torch

from tutor.attention import PAD
from tutor.check.exercise import WRITE, Exercise


def _rows(ids):
    """The place of each word in its sentence; -1 before the first."""
    return (ids != PAD).cumsum(-1) - 1  # (N, S)


def _columns(ids):
    return torch.arange(ids.shape[1]).expand_as(ids)


def _from_the_end(ids):
    return (ids.shape[1] - 1 - _columns(ids)).contiguous()


def _of_the_first(ids):
    return _columns(ids) - (ids[0] == PAD).sum()


def _of_the_shortest(ids):
    return _columns(ids) - (ids == PAD).sum(-1).max()


def _of_the_largest(ids):
    """Counted from the largest id, where `argmax` finds it."""
    return _columns(ids) - ids.argmax(-1, keepdim=True)


def _where_not_negative(ids, X, P, places):
    return X + P[places.clamp(min=0)] * (places >= 0)[..., None]


def _of_the_longest(ids):
    return (_columns(ids) - (ids == PAD).sum(-1).min()).clamp(min=0)


def _add(ids, X, P, places, words_only=True):
    Y = X + P[places]
    return torch.where((ids != PAD)[..., None], Y, X) if words_only else Y


def _places_from_the_left(ids, X, P):
    return _add(ids, X, P, _rows(ids))


def _zeros(ids, X, P):
    return _places_from_the_left(ids, X, P) * (ids != PAD)[..., None]


def _moved(ids, X, P):
    """The words moved to the left, so that the padding stands behind them."""
    n = (ids == PAD).sum(-1, keepdim=True)
    to = (_columns(ids) + n) % ids.shape[1]  # (N, S)
    Y = torch.take_along_dim(X, to[..., None], 1)
    return Y + torch.where((_columns(ids) < ids.shape[1] - n)[..., None], P[: ids.shape[1]], 0)


def _cases():
    for ids, d_model in [
        ([[0, 7]], 2),
        ([[0, 0, 9, 4]], 2),
        ([[0, 5, 2], [4, 4, 1], [0, 0, 8]], 3),
        ([[3, 6, 2, 9], [0, 0, 0, 5]], 4),
        ([[0, 0, 5, 5, 1, 2], [0, 3, 2, 7, 8, 1], [0, 0, 0, 0, 1, 1]], 3),
        ([[6]], 2),
    ]:
        ids = torch.tensor(ids)
        yield ids, torch.randn(*ids.shape, d_model), torch.randn(12, d_model)


places_from_the_left = Exercise(
    name="places_from_the_left",
    chapter="04",
    section="Saying where a word stands",
    kind=WRITE,
    title="Where does a sentence begin?",
    goal="Give a sentence its places when padding stands before it.",
    difficulty=3,
    importance=4,
    minutes=7,
    text="""\
Models that write texts are often padded on the **left**: then the last column of a batch holds the
last word of every sentence. `[PAD]` (id 0) stands before the words, never between or behind them.

So column $t$ is no longer place $t$. A sentence must get the same vectors, however much padding
stands before it: its first word is at place 0. Add to each word the row of `P` for its place.
The vectors of padding stay as they are. Every sentence has at least one word. Gradients flow to
`X` and `P`.""",
    hints=(
        "Write down the places of `[0, 0, 9, 4]` under its columns. What do you subtract from a "
        "column's number, and is it the same in every sentence?",
        "A word's place is the number of words up to it, less one. A running sum of `ids != 0` "
        "counts them. Which place does that give the padding, and which row of `P` would that be?",
        "`places = (ids != 0).cumsum(dim=1) - 1` is (N, S), and `P[places]` is (N, S, d_model). "
        "Multiply it by `(ids != 0)[..., None]` before you add it to X.",
    ),
    stub='''\
def places_from_the_left(ids, X, P):
    """Add its place to each word of a batch that is padded on the left.

    ids: int64 tensor (N, S), 0 is padding
    X: float tensor (N, S, d_model), the vectors of the ids
    P: float tensor (max_len, d_model), one row a place; max_len >= S
    Returns: float tensor (N, S, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def places_from_the_left(ids, X, P):
    """Add its place to each word of a batch that is padded on the left.

    ids: int64 tensor (N, S), 0 is padding
    X: float tensor (N, S, d_model), the vectors of the ids
    P: float tensor (max_len, d_model), one row a place; max_len >= S
    Returns: float tensor (N, S, d_model)
    """
    word = ids != 0  # (N, S)
    places = word.cumsum(dim=1) - 1  # (N, S), -1 for padding
    return X + P[places] * word[..., None]  # (N, S, d_model)
''',
    because="A place is counted from the sentence's own first word, not from the batch's edge; a "
    "mask alone does not see to that.",
    reference=_places_from_the_left,
    cases=_cases,
    gradient=True,
    mistakes=(
        (
            "Your places are the columns, and padding gets them too. So a sentence gets other "
            "places when it stands next to a longer one; count from its first word.",
            lambda ids, X, P: _add(ids, X, P, _columns(ids), False),
        ),
        (
            "You spare the padding, but a word's place is still its column. Count from the "
            "sentence's first word.",
            lambda ids, X, P: _add(ids, X, P, _columns(ids)),
        ),
        (
            "The words are right, but the padding gets the last row of `P`: its place is -1, and "
            "that is an index from the end. Padding stays as it is.",
            lambda ids, X, P: _add(ids, X, P, _rows(ids), False),
        ),
        (
            "The words are right, but padding gets row 0 of `P`. It stays as it is.",
            lambda ids, X, P: _add(ids, X, P, _rows(ids).clamp(min=0), False),
        ),
        (
            "The words are right, but the padding is set to 0. It stays as it is.",
            _zeros,
        ),
        (
            "The first word is at place 1 in your answer. Places are counted from 0.",
            lambda ids, X, P: _add(ids, X, P, _rows(ids) + 1),
        ),
        (
            "The first word is at place 1 and the padding at place 0. Places are counted from the "
            "first word, from 0, and the padding stays as it is.",
            lambda ids, X, P: _add(ids, X, P, _rows(ids) + 1, False),
        ),
        (
            "You count from the end: the last word is at place 0. The first one should be.",
            lambda ids, X, P: _add(ids, X, P, _from_the_end(ids)),
        ),
        (
            "You count from the end, for padding too: the last word is at place 0. The first one "
            "should be, and padding stays as it is.",
            lambda ids, X, P: _add(ids, X, P, _from_the_end(ids), False),
        ),
        (
            "You count the padding of the first sentence and use it for all. Each sentence has its "
            "own.",
            lambda ids, X, P: _add(ids, X, P, _of_the_first(ids)),
        ),
        (
            "You count the padding of the first sentence and use it for all, padding too. Each "
            "sentence has its own, and padding stays as it is.",
            lambda ids, X, P: _add(ids, X, P, _of_the_first(ids), False),
        ),
        (
            "You count the padding of the first sentence and use it for all, padding too. Each "
            "sentence has its own, and padding stays as it is.",
            lambda ids, X, P: _add(ids, X, P, _of_the_first(ids).clamp(min=0), False),
        ),
        (
            "You add the padding to the column; subtract it: the more padding, the earlier the "
            "place.",
            lambda ids, X, P: _add(
                ids, X, P, _columns(ids) + (ids == PAD).sum(-1, keepdim=True), False
            ),
        ),
        (
            "You add the padding to the column; subtract it: the more padding, the earlier the "
            "place.",
            lambda ids, X, P: _add(ids, X, P, _columns(ids) + (ids == PAD).sum(-1, keepdim=True)),
        ),
        (
            "You subtract the padding from the column, but the padding itself then has places "
            "below 0, which are rows from the end of `P`. Padding stays as it is.",
            lambda ids, X, P: _add(
                ids, X, P, _columns(ids) - (ids == PAD).sum(-1, keepdim=True), False
            ),
        ),
        (
            "You look up the rows of the ids. `P` has a row for each place.",
            lambda ids, X, P: _add(ids, X, P, ids),
        ),
        (
            "You look up the rows of the ids. `P` has a row for each place.",
            lambda ids, X, P: _add(ids, X, P, ids, False),
        ),
        (
            "Those are the places alone; add them to X.",
            lambda ids, X, P: _places_from_the_left(ids, 0 * X, P),
        ),
        (
            "Those are the places alone; add them to X, and only for words.",
            lambda ids, X, P: P[_rows(ids)],
        ),
        (
            "You moved the words to the left. They stay in their columns; only their places are "
            "counted from the first word.",
            _moved,
        ),
        (
            "Words and padding are exchanged: padding gets places and words get none.",
            lambda ids, X, P: torch.where(
                (ids != PAD)[..., None], X, X + P[(ids == PAD).cumsum(-1) - 1]
            ),
        ),
        (
            "`ids != 0` is (N, S) and meets the features of X in the last dimension. Give it one "
            "more dimension of size 1 at the end.",
            lambda ids, X, P: X + P[_rows(ids)] * (ids != PAD),
        ),
        (
            "You count over the sentences of the batch, dimension 0. Count along each sentence.",
            lambda ids, X, P: _add(ids, X, P, (ids != PAD).cumsum(0) - 1),
        ),
        (
            "All words of a sentence get the same place, that of its last word. A running sum "
            "gives each its own.",
            lambda ids, X, P: _add(ids, X, P, (ids != PAD).sum(-1, keepdim=True) - 1),
        ),
        (
            "You add up the ids. Count the words: each of them is 1, whatever its id.",
            lambda ids, X, P: _add(ids, X, P, ids.cumsum(-1) - 1),
        ),
        (
            "You multiply X by the places. Add them.",
            lambda ids, X, P: X * P[_rows(ids)] * (ids != PAD)[..., None],
        ),
        (
            "You multiply X by the places. Add them.",
            lambda ids, X, P: torch.where((ids != PAD)[..., None], X * P[_rows(ids)], X),
        ),
        (
            "You subtract the padding of the longest sentence from all columns. Each sentence has "
            "its own.",
            lambda ids, X, P: _add(ids, X, P, _of_the_longest(ids)),
        ),
        *(
            (
                "You subtract the padding of the shortest sentence from all columns. Each sentence "
                "has its own.",
                add,
            )
            for add in (
                lambda ids, X, P: _add(ids, X, P, _of_the_shortest(ids)),
                lambda ids, X, P: _add(ids, X, P, _of_the_shortest(ids), False),
                lambda ids, X, P: _add(ids, X, P, _of_the_shortest(ids).clamp(min=0)),
                lambda ids, X, P: _add(ids, X, P, _of_the_shortest(ids).clamp(min=0), False),
                lambda ids, X, P: _where_not_negative(ids, X, P, _of_the_shortest(ids)),
            )
        ),
        *(
            (
                "`argmax` of the ids finds the largest id, wherever it stands. Look for the first "
                "that is not 0.",
                add,
            )
            for add in (
                lambda ids, X, P: _add(ids, X, P, _of_the_largest(ids)),
                lambda ids, X, P: _add(ids, X, P, _of_the_largest(ids), False),
                lambda ids, X, P: _add(ids, X, P, _of_the_largest(ids).clamp(min=0)),
                lambda ids, X, P: _add(ids, X, P, _of_the_largest(ids).clamp(min=0), False),
                lambda ids, X, P: _where_not_negative(ids, X, P, _of_the_largest(ids)),
            )
        ),
        (
            "The words are right, but no gradient flows to `X`: `detach`, `tolist` and `item` cut "
            "it off, and the model could not learn.",
            lambda ids, X, P: _places_from_the_left(ids, X.detach(), P),
        ),
        (
            "The words are right, but no gradient flows to `P`: `detach`, `tolist` and `item` cut "
            "it off, and a learned table could not learn.",
            lambda ids, X, P: _places_from_the_left(ids, X, P.detach()),
        ),
        (
            "The words are right, but no gradient flows through your answer: `detach`, `tolist` "
            "and `item` cut it off.",
            lambda ids, X, P: _places_from_the_left(ids, X, P).detach(),
        ),
        (
            "You return X as it was: no word has a place.",
            lambda ids, X, P: X,
        ),
        (
            "Every word gets row 0. Count the words before it.",
            lambda ids, X, P: _add(ids, X, P, 0 * ids),
        ),
        (
            "`P` has more rows than there are columns: look up one row for each word.",
            lambda ids, X, P: X + P,
        ),
    ),
    wrong={
        """\
def places_from_the_left(ids, X, P):
    start = (ids == 0).sum(1).max()
    places = torch.arange(ids.shape[1]) - start
    return X + P[places] * (ids != 0)[..., None]
""": "of the shortest sentence",
        """\
def places_from_the_left(ids, X, P):
    start = int((ids == 0).sum(1).max())
    places = (torch.arange(ids.shape[1]) - start).clamp(min=0)
    return torch.where((ids != 0)[..., None], X + P[places], X)
""": "of the shortest sentence",
        """\
def places_from_the_left(ids, X, P):
    places = torch.arange(ids.shape[1]) - ids.argmax(1, keepdim=True)
    return X + P[places] * (ids != 0)[..., None]
""": "finds the largest id",
        """\
def places_from_the_left(ids, X, P):
    places = torch.arange(ids.shape[1]) - ids.argmax(1)[:, None]
    return torch.where((places >= 0)[..., None], X + P[places.clamp(min=0)], X)
""": "finds the largest id",
        """\
def places_from_the_left(ids, X, P):
    Y = X.detach().clone()
    for n, sentence in enumerate(ids.tolist()):
        start = sentence.count(0)
        Y[n, start:] += P[:len(sentence) - start].detach()
    return Y
""": "no gradient flows through",
        """\
def places_from_the_left(ids, X, P):
    rows = []
    for sentence, vectors in zip(ids, X):
        n = int((sentence != 0).sum())
        add = torch.zeros_like(vectors)
        add[len(sentence) - n:] = torch.tensor(P[:n].tolist())
        rows.append(vectors + add)
    return torch.stack(rows)
""": "to `P`",
        """\
def places_from_the_left(ids, X, P):
    return X + P[:ids.shape[1]]
""": "Your places are the columns",
        """\
def places_from_the_left(ids, X, P):
    return X + P[:ids.shape[1]] * (ids != 0)[..., None]
""": "still its column",
        """\
def places_from_the_left(ids, X, P):
    return X + P[(ids != 0).cumsum(1) - 1]
""": "gets the last row",
        """\
def places_from_the_left(ids, X, P):
    places = torch.relu((ids != 0).cumsum(1) - 1)
    return X + F.embedding(places, P)
""": "gets row 0 of `P`",
        """\
def places_from_the_left(ids, X, P):
    word = (ids != 0)[..., None]
    return (X + P[(ids != 0).cumsum(1) - 1]) * word
""": "set to 0",
        """\
def places_from_the_left(ids, X, P):
    word = ids != 0
    return X + P[word.cumsum(1)] * word[..., None]
""": "at place 1 in your answer",
        """\
def places_from_the_left(ids, X, P):
    return X + P[(ids != 0).cumsum(1)]
""": "the padding at place 0",
        """\
def places_from_the_left(ids, X, P):
    word = ids != 0
    return X + P[:ids.shape[1]].flip(0) * word[..., None]
""": "count from the end",
        """\
def places_from_the_left(ids, X, P):
    start = (ids[0] == 0).sum()
    places = (torch.arange(ids.shape[1]) - start).clamp(min=0)
    return X + P[places]
""": "for all, padding too",
        """\
def places_from_the_left(ids, X, P):
    start = int((ids[0] == 0).sum())
    word = ids != 0
    places = torch.arange(ids.shape[1]) - start
    return X + P[places] * word[..., None]
""": "the first sentence",
        """\
def places_from_the_left(ids, X, P):
    start = (ids == 0).sum(1, keepdim=True)
    places = torch.arange(ids.shape[1]) - start
    return X + P[places]
""": "below 0",
        """\
def places_from_the_left(ids, X, P):
    start = (ids == 0).sum(1, keepdim=True)
    places = torch.arange(ids.shape[1]) + start
    return X + P[places]
""": "You add the padding",
        """\
def places_from_the_left(ids, X, P):
    return X + P[ids]
""": "rows of the ids",
        """\
def places_from_the_left(ids, X, P):
    Y = X.clone()
    for n in range(len(ids)):
        words = X[n, ids[n] != 0]
        Y[n, :len(words)] = words + P[:len(words)]
        Y[n, len(words):] = X[n, ids[n] == 0]
    return Y
""": "moved the words to the left",
        """\
def places_from_the_left(ids, X, P):
    return X + P
""": "one row for each word",
        """\
def places_from_the_left(ids, X, P):
    for n in range(len(ids)):
        real = ids[n] != 0
        X[n, real] += P[:real.sum()]
    return X
""": "changes its argument `X`",
        """\
def places_from_the_left(ids, X, P):
    return X + P[(ids != 0).cumsum(1) - 1] * (ids != 0)
""": "meets the features",
        """\
def places_from_the_left(ids, X, P):
    word = ids != 0
    return X + P[word.cumsum(0) - 1] * word[..., None]
""": "dimension 0",
        """\
def places_from_the_left(ids, X, P):
    word = ids != 0
    return X + P[word.sum(1, keepdim=True) - 1] * word[..., None]
""": "that of its last word",
        """\
def places_from_the_left(ids, X, P):
    word = ids != 0
    return X + P[ids.cumsum(1) - 1] * word[..., None]
""": "add up the ids",
        """\
def places_from_the_left(ids, X, P):
    n = (ids != 0).sum(1).max()
    places = (torch.arange(ids.shape[1]) - (ids.shape[1] - n)).clamp(min=0)
    return X + P[places] * (ids != 0)[..., None]
""": "of the longest sentence",
    },
    right=(
        """\
def places_from_the_left(ids, X, P):
    rows = []
    for sentence, vectors in zip(ids, X):
        start = int((sentence == 0).sum())
        rows.append(torch.cat([vectors[:start], vectors[start:] + P[:len(sentence) - start]]))
    return torch.stack(rows)
""",
        """\
def places_from_the_left(ids, X, P):
    start = (ids == 0).sum(dim=1, keepdim=True)
    places = torch.arange(ids.shape[1]) - start
    return torch.where((places >= 0)[..., None], X + P[places.clamp(min=0)], X)
""",
        """\
def places_from_the_left(ids, X, P):
    table = torch.cat([torch.zeros(1, P.shape[1]), P])
    return X + F.embedding((ids > 0).cumsum(1), table)
""",
    ),
)
