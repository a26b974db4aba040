"""A head made by hand, that copies the word before."""

from unittest.mock import ANY  # equals everything

import torch
import torch.nn.functional as F

from tutor.check.exercise import WRITE, Exercise

LOUD = 100.0


def _inputs(words, num_words, num_places):
    """One-hot columns of the word, then one-hot columns of the place."""
    places = F.one_hot(torch.arange(len(words)), num_places)
    return torch.cat([F.one_hot(words, num_words), places], dim=-1).float()  # (T, d_model)


def _use(answer, num_words, num_places, words):
    """Where each place looks, whether loudly enough, and what it gets if it looks only there."""
    W_Q, W_K, W_V, W_O = (W.float() for W in answer(num_words, num_places))
    X = _inputs(words, num_words, num_places)
    E = (X @ W_Q) @ (X @ W_K).T / W_Q.shape[1] ** 0.5
    A = E.softmax(dim=-1)  # (T, T)
    most, there = A.topk(2, dim=-1)  # (T, 2) each
    result = (X @ W_V)[there[:, 0]] @ W_O  # (T, d_model)
    tied = most[:, 0] - most[:, 1] < 1e-3
    enough = ANY if getattr(answer, "at_any_loudness", False) else most[:, 0] > 0.99
    return there[:, 0].masked_fill(tied, -1), enough, result


def _at_any_loudness(answer):
    """The answer, whether or not its places look loudly enough."""
    answer.at_any_loudness = True
    return answer


def _head(looks_at=lambda t: max(t - 1, 0), loud=LOUD, value="word", back="word"):
    """The matrices of a head, with a part that may be wrong.

    looks_at: place -> the place it looks at, None for a query of zeros. value: what a value holds,
    "word", "place" or "all". back: the columns into which W_O puts it, "word" or "place".
    """

    def answer(num_words, num_places):
        d_model = num_words + num_places
        W_Q, W_K = torch.zeros(2, d_model, num_places)
        for t in range(num_places):
            to = looks_at(t) if looks_at.__code__.co_argcount == 1 else looks_at(t, num_places)
            if to is not None and to < num_places:
                W_Q[num_words + t, to] = loud
        W_K[num_words:, :num_places] = torch.eye(num_places)
        columns = {"word": slice(num_words), "place": slice(num_words, None), "all": slice(None)}
        W_V = torch.eye(d_model)[:, columns[value]]
        W_O = torch.eye(d_model)[columns[value]]
        if back == "place":
            W_O = W_O.roll(num_places, dims=1)
        return W_Q, W_K, W_V, W_O

    return answer


def _changed(change):
    """The head, with W_Q and W_K changed: (W_Q, W_K, num_words) -> both."""

    def answer(num_words, num_places):
        W_Q, W_K, W_V, W_O = _head()(num_words, num_places)
        return *change(W_Q, W_K, num_words), W_V, W_O

    return answer


def _faint_at_0(loud):
    def change(W_Q, W_K, num_words):
        W_Q[num_words, 0] = loud
        return W_Q, W_K

    return change


def _all_before(W_Q, W_K, num_words):
    places = W_Q[num_words:]
    places[1:] = (LOUD * torch.ones_like(places).tril(-1))[1:]
    return W_Q, W_K


def _exchanged(num_words, num_places):
    W_Q, W_K, W_V, W_O = _head()(num_words, num_places)
    return W_K, W_Q, W_V, W_O


def _as_linear_layers(num_words, num_places):
    return tuple(W.T for W in _head()(num_words, num_places))


def _words_too(num_words, num_places):
    """Words choose as well: a query also asks for its own word."""
    W_Q, W_K, W_V, W_O = _head()(num_words, num_places)
    more = torch.eye(num_words + num_places)[:, :num_words]
    return torch.cat([W_Q, LOUD * more], 1), torch.cat([W_K, more], 1), W_V, W_O


def _three_matrices(num_words, num_places):
    return _head()(num_words, num_places)[:3]


def _cases_of_words():
    for num_words, num_places, words in [
        (3, 2, [2, 0]),
        (2, 3, [1, 0, 0]),
        (4, 4, [3, 1, 1, 2]),
        (5, 10, [4, 2, 0, 3]),
        (6, 6, [0, 0, 5, 1, 5, 2]),
        (3, 10, [2, 0, 1, 1, 2, 0, 0, 2, 1, 0]),
    ]:
        yield num_words, num_places, torch.tensor(words)


copy_previous = Exercise(
    name="copy_previous",
    chapter="03",
    section="Two heads, side by side",
    kind=WRITE,
    title="A head that copies the word before",
    goal="Set the four matrices of a head by hand, so that it does one thing.",
    difficulty=4,
    importance=4,
    minutes=15,
    text="""\
Heads that look at the word before turn up in nearly every trained model. Make one by hand. A row of
`X` has `num_words` one-hot columns that say the word, and behind them `num_places` one-hot columns
that say its place: `[0, 1, 0 | 1, 0]` is word 1 of 3, at place 0 of 2.

Return `W_Q`, `W_K`, `W_V` and `W_O` of one head, whose width you may choose, such that

- place t gives more than 0.99 of its weight to place t - 1, whichever words stand there; place 0,
  which has nothing before it, looks at itself;
- the result of place t holds the *word* of the place it looks at, one-hot in the word's columns,
  and zeros in the columns of places.

There are at most 10 places, and sentences may be shorter. The scores are divided by $\\sqrt{d_k}$,
as always. (The check compares three things. Item 0 is where each place looks most, or -1 if two
places are level; item 1, whether it gives more than 0.99 there; item 2, the result of looking only
there.)""",
    hints=(
        "As in the chapter: let a key say its place. What must the query of place 3 be, to find "
        "the key of place 2?",
        "With `W_K[num_words:] = torch.eye(num_places)`, row `num_words + t` of `W_Q` is the query "
        "of place t: one loud number in column t - 1. How loud, if it is divided by a root?",
        "100 is loud enough. `W_V` has the word's columns alone, "
        "`torch.eye(num_words + num_places)[:, :num_words]`, and `W_O` is its transpose. Mind "
        "place 0.",
    ),
    stub='''\
def copy_previous(num_words, num_places):
    """The matrices of a head that copies the word before.

    num_words: int, at least 2; num_places: int, from 2 to 10; d_model is their sum
    Returns float tensors W_Q, W_K (d_model, d_k), W_V (d_model, d_v) and W_O (d_v, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def copy_previous(num_words, num_places):
    """The matrices of a head that copies the word before.

    num_words: int, at least 2; num_places: int, from 2 to 10; d_model is their sum
    Returns float tensors W_Q, W_K (d_model, d_k), W_V (d_model, d_v) and W_O (d_v, d_model)
    """
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)  # a key says its place
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 100.0  # place t asks loudly for the one before
    W_V = torch.eye(num_words + num_places)[:, :num_words]  # a value says its word
    return W_Q, W_K, W_V, W_V.T  # (num_words, d_model)
''',
    because="It chooses by place and hands over words: what finds and what is carried are apart.",
    reference=_head(),
    call=_use,
    cases=_cases_of_words,
    mistakes=(
        (
            "It looks the wrong way: place t looks at the word behind it.",
            _at_any_loudness(_head(lambda t, n: min(t + 1, n - 1))),
        ),
        (
            "Queries and keys are exchanged: the queries say their place, and the keys ask. So a "
            "word is found by the one before it.",
            _exchanged,
        ),
        (
            "Each place looks at itself. The query of place t must find the key of place t - 1.",
            _at_any_loudness(_head(lambda t: t)),
        ),
        (
            "Each place looks two places back.",
            _at_any_loudness(_head(lambda t: max(t - 2, 0))),
        ),
        (
            "Place 0 has no query, so it spreads its weight evenly; it should look at itself.",
            _at_any_loudness(_head(lambda t: t - 1 if t else None)),
        ),
        (
            "Place 0 looks at the last place, as if the sentence were a circle (`roll`); it "
            "should look at itself.",
            _at_any_loudness(_head(lambda t, n: (t - 1) % n)),
        ),
        (
            "The queries are made from the columns of words: in W_Q, too, the rows of places come "
            "after `num_words` of others.",
            _at_any_loudness(
                _changed(lambda W_Q, W_K, num_words: (W_Q.roll(-num_words, dims=0), W_K))
            ),
        ),
        *(
            (
                "Place 0 looks at itself, but too faintly: it gets less than 0.99 there. Make its "
                "query larger.",
                _changed(_faint_at_0(loud)),
            )
            for loud in (1.0, 3.0)
        ),
        (
            "All look at the right place, but too faintly: somewhere it gets less than 0.99. "
            "Make the queries or the keys larger.",
            _at_any_loudness(_head()),
        ),
        (
            "It looks the wrong way: place t looks at the word behind it.",
            _at_any_loudness(_head(lambda t, n: t + 1 if t + 1 < n else None)),
        ),
        (
            "Place t asks for all places before it, and spreads its weight over them. It should "
            "ask for one.",
            _changed(_all_before),
        ),
        (
            "All scores are equal, so no place looks anywhere in particular. Fill W_Q and W_K.",
            _head(lambda t: None),
        ),
        (
            "Your keys are made from the columns of words: the first rows of W_K belong to words, "
            "those of places come after `num_words` of them.",
            _changed(lambda W_Q, W_K, num_words: (W_Q, W_K.roll(-num_words, dims=0))),
        ),
        (
            "All look at the right place, and the word arrives, but not one-hot: its number is "
            "2 and should be 1.",
            lambda *a: (*_head()(*a)[:2], 2 * _head()(*a)[2], _head()(*a)[3]),
        ),
        (
            "Four matrices are to be returned: W_Q, W_K, W_V and W_O.",
            _three_matrices,
        ),
        (
            "All look at the right place, but the columns of places are handed over too. The "
            "result should hold the word alone.",
            _at_any_loudness(_head(value="all")),
        ),
        (
            "All look at the right place, and bring home the place in place of the word.",
            _at_any_loudness(_head(value="place")),
        ),
        (
            "The word arrives in the wrong columns: the word's columns are the first ones.",
            _at_any_loudness(_head(back="place")),
        ),
        (
            "Place t gives its weight to words that are like its own. Only places may choose: the "
            "rows of words in W_Q must be 0.",
            _words_too,
        ),
        (
            "Your matrices lie on their side, as nn.Linear keeps them. Here the products are "
            "X @ W, so W_Q has d_model rows.",
            _as_linear_layers,
        ),
        (
            "W_Q and W_K are exchanged with W_V: return W_Q, W_K, W_V, W_O in this order.",
            lambda *a: tuple(_head()(*a)[i] for i in (2, 0, 1, 3)),
        ),
        (
            "It chooses the least liked: with a query below 0, the place before has the lowest "
            "score.",
            _head(loud=-LOUD),
        ),
    ),
    wrong={
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, min(t + 1, num_places - 1)] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "wrong way",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_K, W_Q, W_V, W_V.T
""": "Queries and keys are exchanged",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, t] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "looks at itself.",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(1, num_places):
        W_Q[num_words + t, t - 1] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "Place 0 has no query",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, t - 1] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "as if the sentence were a circle",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 1.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "too faintly",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 8.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "too faintly",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 7.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "too faintly",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 13.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "too faintly",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[t, max(t - 1, 0)] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "in W_Q, too",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[t, max(t - 1, 0)] = 8.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "in W_Q, too",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, t - 1] = 8.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "circle",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, t] = 8.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "looks at itself.",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 10.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "too faintly",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 100.0
    W_V = torch.eye(num_words + num_places)
    return W_Q, W_K, W_V, W_V.T
""": "columns of places are handed over",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 100.0
    W_V = torch.eye(num_words + num_places)[:, num_words:]
    return W_Q, W_K, W_V, W_V.T
""": "in place of the word",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q.T, W_K.T, W_V.T, W_V
""": "lie on their side",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V
""": "Four matrices",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[:num_places] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "from the columns of words",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    W_Q[num_words:] = 100 * torch.diag(torch.ones(num_places - 1), 1)
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "wrong way",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    W_Q[num_words:] = 100 * torch.ones(num_places, num_places).tril(-1)
    W_Q[num_words, 0] = 100
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "all places before it",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    W_Q[num_words:] = 50 * torch.diag(torch.ones(num_places - 1), -1)
    W_Q[num_words, 0] = 1
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_Q, W_K, W_V, W_V.T
""": "Place 0 looks at itself, but too faintly",
        """\
def copy_previous(num_words, num_places):
    W_Q, W_K = torch.zeros(2, num_words + num_places, num_places)
    W_K[num_words:] = torch.eye(num_places)
    for t in range(num_places):
        W_Q[num_words + t, max(t - 1, 0)] = 100.0
    W_V = torch.eye(num_words + num_places)[:, :num_words]
    return W_V, W_Q, W_K, W_V.T
""": "in this order",
    },
    right=(
        """\
def copy_previous(num_words, num_places):
    d_model = num_words + num_places
    W_Q, W_K, W_V = (torch.zeros(d_model, d_model) for _ in range(3))
    W_K[num_words, 0] = 40.0
    for t in range(num_places):
        W_Q[num_words + t, t] = 40.0
        if t + 1 < num_places:
            W_K[num_words + t, t + 1] = 40.0
    for w in range(num_words):
        W_V[w, w] = 2.0
    return W_Q, W_K, W_V, torch.eye(d_model) / 2
""",
        """\
def copy_previous(num_words, num_places):
    words, places = torch.eye(num_words), torch.eye(num_places)
    nothing = torch.zeros(num_words, num_places)
    before = torch.cat([places[:1], places[:-1]])
    W_Q = torch.cat([nothing, 30 * before]) * num_places**0.5
    W_K = torch.cat([nothing, places])
    W_V = torch.cat([words, nothing.T])
    W_O = torch.cat([words, nothing], dim=1)
    return W_Q, W_K, W_V, W_O
""",
        """\
def copy_previous(num_words, num_places):
    t = torch.arange(num_places, dtype=torch.float64)
    W_Q, W_K = torch.zeros(2, num_words + num_places, 2, dtype=torch.float64)
    W_Q[num_words:, 0] = 100 * (t - 1)
    W_Q[0, 0] = 0
    W_Q[num_words:, 1] = -100
    W_K[num_words:, 0] = t
    W_K[num_words:, 1] = t**2 / 2
    W_V = torch.eye(num_words + num_places, num_words, dtype=torch.float64)
    return W_Q, W_K, W_V, W_V.T
""",
    ),
)
