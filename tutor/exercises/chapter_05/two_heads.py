"""Two heads that continue a pattern, set by hand."""

import inspect
import math

import torch

from tutor.check.exercise import WRITE, Exercise

CLOSE = 0.01  # what a weight may be off


def attend_back(X, W_Q, W_K, W_V):
    """One head of a decoder: a place sees itself and what stands before it."""
    E = (X @ W_Q) @ (X @ W_K).T / math.sqrt(W_Q.shape[1])  # (T, T)
    future = torch.ones(len(X), len(X), dtype=torch.bool).triu(diagonal=1)
    return E.masked_fill(future, -torch.inf).softmax(dim=-1) @ (X @ W_V)  # (T, d_v)


def run_heads(heads, ids, V, L):
    """What the second head answers at each place, (T, V)."""
    first, second = heads
    tokens, places = torch.eye(V)[ids], torch.eye(L)[: len(ids)]  # (T, V), (T, L)
    heard = attend_back(torch.cat([tokens, places], dim=1), *first)  # (T, V)
    return attend_back(torch.cat([tokens, heard], dim=1), *second)  # (T, V)


def _looks(answer, V, L, ids):
    """What the first head hears, what the second answers, and whether both are right but soft.

    All with the sharpest weights, so that a scale hides no mistake. A second head is looked at only
    if the first is right.
    """
    first, second = _triples(answer(V, L), V, L)
    tokens, places = torch.eye(V)[ids], torch.eye(L)[: len(ids)]
    heard = attend_back(torch.cat([tokens, places], dim=1), *_sharp(first))  # (T, V)
    again = [t for t in range(len(ids)) if ids[t] in ids[:t]]
    followed = [[j for j in range(1, t + 1) if ids[j - 1] == ids[t]] for t in again]
    wanted = torch.stack([tokens[places].mean(dim=0) for places in followed])  # (R, V)
    if not _close(heard[1:], tokens[:-1]):
        return heard[1:], 0 * wanted, False
    answers = attend_back(torch.cat([tokens, heard], dim=1), *_sharp(second))[again]  # (R, V)
    as_is = run_heads((first, second), ids, V, L)[again]
    return heard[1:], answers, _close(answers, wanted) and not _close(as_is, wanted)


def _triples(heads, V, L):
    """The matrices as float tensors. Raises ValueError if one has a shape that does not fit."""
    some = (list, tuple, torch.Tensor)
    if not isinstance(heads, some) or [isinstance(x, some) and len(x) for x in heads] != [3, 3]:
        raise ValueError("return two triples, (W_Q, W_K, W_V) of each head")
    heads = [[torch.as_tensor(W).float() for W in triple] for triple in heads]
    for number, (W_Q, W_K, W_V), rows in zip((1, 2), heads, (V + L, 2 * V), strict=True):
        if {len(W_Q), len(W_K), len(W_V)} != {rows}:
            raise ValueError(f"W_Q, W_K and W_V of head {number} must have {rows} rows")
        if W_Q.shape != W_K.shape:
            raise ValueError(f"W_Q and W_K of head {number} must have as many columns")
        if W_V.shape[1] != V:
            raise ValueError(f"W_V of head {number} must have {V} columns")
    return heads


def _sharp(head):
    W_Q, W_K, W_V = head
    return 1e5 * W_Q / W_Q.abs().max().clamp(min=1e-9), W_K, W_V


def _close(a, b):
    return bool((a - b).abs().max() < CLOSE)


def _rows(*blocks):
    """A matrix from blocks one below the other."""
    return torch.cat(blocks)


def _two_heads(V, L, step=-1, query="token", key="heard", value="token", scale=1e3):
    """The right heads, with a switch for each mistake."""
    I, O = torch.eye(V), torch.zeros(V, V)  # noqa: E741
    at = torch.eye(L)
    shift = torch.diag(torch.ones(L - abs(step)), step)  # a row t has its 1 in column t + step
    first = (
        scale * _rows(torch.zeros(V, L), shift),
        _rows(torch.zeros(V, L), at),
        _rows(I, torch.zeros(L, V)),
    )
    blocks = {"token": _rows(I, O), "heard": _rows(O, I), "both": _rows(I, I)}
    return first, (scale * blocks[query], blocks[key], blocks[value])


def _with(**switches):
    return lambda V, L: _two_heads(V, L, **switches)


def _soft_from(least):
    """Weights that are sharp enough for tables of fewer places alone."""
    return lambda V, L: _two_heads(V, L, scale=1.0 if L >= least else 1e3)


def _places_for_tokens(V, L):
    """The blocks of the first head's input exchanged, as if places came first."""
    (Q, K, W), second = _two_heads(V, L)
    return (Q.roll(-V, 0), K.roll(-V, 0), W.roll(L, 0)), second


def _hears_nothing(V, L):
    (Q, K, W), second = _two_heads(V, L)
    return (Q, K, 0 * W), second


def _ahead(V, L):
    """Place L - 1 looks at place 0, as `roll` has it."""
    (Q, K, W), second = _two_heads(V, L)
    shift = torch.cat([torch.zeros(V, L), torch.eye(L).roll(1, 1)])
    return (1e3 * shift, K, W), second


def _large_values(number, size):
    def answer(V, L):
        heads = [list(head) for head in _two_heads(V, L)]
        heads[number][2] = size * heads[number][2]
        return heads

    return answer


def _away(V, L):
    first, (Q, K, W) = _two_heads(V, L)
    return first, (-Q, K, W)


def _place_for_value(V, L):
    (Q, K, _), second = _two_heads(V, L)
    return (Q, K, K), second


def _answers_with_the_mean(V, L):
    first, (Q, K, W) = _two_heads(V, L)
    return first, (0 * Q, K, W)


def _cases():
    return [
        (4, 5, [0, 1, 2, 1]),
        (4, 6, [0, 3, 1, 2, 3]),
        (5, 8, [0, 2, 4, 3, 2, 4, 1, 2]),
        (6, 9, [0, 5, 5, 1, 4, 2, 4, 5]),
        (7, 12, [0, 3, 6, 1, 6, 2, 3, 4, 6, 5, 1, 3]),
    ]


two_heads = Exercise(
    name="two_heads",
    chapter="05",
    section="What each position can reach",
    kind=WRITE,
    title="Two heads that continue a pattern",
    goal="Set two heads by hand that together do what one cannot.",
    difficulty=5,
    importance=4,
    minutes=20,
    text="""\
*... a man is riding a ...* What comes next? A model that never saw these words can still answer:
*what came after this token the last time*. Trained language models do it with a pair of heads, one
in each of two layers (Olsson et al. 2022, *induction heads*). **Set such a pair by hand.** Tokens
and places are one-hot rows here, so that each matrix is made of zeros and unit matrices, times a
number.

- The **first head** reads `[token | place]`, $V + L$ columns. At each place it fetches the token
  one place before.
- What it heard is put beside the token. So the **second head** reads `[token | heard]`, $2 V$
  columns. Where token $x$ came before, its answer is the token that followed $x$ then, as a one-hot
  row. If $x$ came several times, it is the mean of those rows.

The code below runs the pair; read it first. Return two triples, `(W_Q, W_K, W_V)` for each head.
Every text begins with token 0, a `[BOS]` that does not come again. Rows of tokens that did not come
before may be anything. All other numbers must be right within 0.01, so the weights must be sharp.

In messages, item 0 is what the first head hears from place 1 on. Item 1 is what the second head
answers where the token came before. Both are computed with weights as sharp as can be. Item 2 is
True if all that is right, but your own weights are too soft.""",
    hints=(
        "Take the text `0 1 2 1`. What should the first head hear at place 2? At place 3, which "
        "earlier place holds the answer, and what did that place hear?",
        "The first head's keys are the places, and its query at place t is the one-hot row of t - "
        "1. The second head's query is the token, its key is what a place *heard*, and its value "
        "is the token there.",
        "`torch.diag(torch.ones(L - 1), -1)` turns the row of place t into that of t - 1. Stack it "
        "below zeros of shape (V, L). A matrix that picks the first block of two is "
        "`torch.cat([torch.eye(V), torch.zeros(V, V)])`. Multiply each W_Q by 1000.",
    ),
    setup=f"{inspect.getsource(attend_back)}\n\n{inspect.getsource(run_heads)}",
    stub='''\
def two_heads(V, L):
    """Two heads that answer with what followed the same token before.

    V: int, number of tokens; L: int, number of places (a text may be shorter)
    Returns (W_Q, W_K, W_V) of the first head, V + L rows each,
        and (W_Q, W_K, W_V) of the second head, 2 V rows each;
        W_Q and W_K have as many columns as you like, both W_V have V
    """
    raise NotImplementedError
''',
    solution='''\
def two_heads(V, L):
    """Two heads that answer with what followed the same token before.

    V: int, number of tokens; L: int, number of places (a text may be shorter)
    Returns (W_Q, W_K, W_V) of the first head, V + L rows each,
        and (W_Q, W_K, W_V) of the second head, 2 V rows each;
        W_Q and W_K have as many columns as you like, both W_V have V
    """
    before = torch.diag(torch.ones(L - 1), -1)  # row t: its 1 is in column t - 1
    first = (1000 * torch.cat([torch.zeros(V, L), before]),
             torch.cat([torch.zeros(V, L), torch.eye(L)]),
             torch.cat([torch.eye(V), torch.zeros(L, V)]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (1000 * token, heard, token)
''',
    because="The second head searches what the first one wrote: only two layers can do that. In "
    "training, models find such pairs by themselves.",
    reference=_two_heads,
    cases=_cases,
    call=_looks,
    draws=True,  # a basis may be a random one
    tolerance=0.02,
    mistakes=(
        *(
            (
                "The heads look at the right places, but one of them or both too softly, if only "
                "in long texts: multiply each W_Q by a large number.",
                _soft_from(L),
            )
            for L in (5, 6, 8, 9, 12)
        ),
        (
            "Your second head answers with the token at hand. Its key must be what a place heard, "
            "so that it finds the place behind the earlier one. Its value is the token that stands "
            "there.",
            _with(key="token"),
        ),
        (
            "Your second head answers with what stood before the earlier place. Its key and its "
            "value are exchanged: it finds a place by what that place heard.",
            _with(key="token", value="heard"),
        ),
        (
            "Query and key of your second head are exchanged: the query is the token at hand, the "
            "key is what an earlier place heard.",
            _with(query="heard", key="token"),
        ),
        (
            "Your second head looks for a place that heard the same as this one. It must look for "
            "one that heard this token.",
            _with(query="heard", key="heard"),
        ),
        (
            "Your first head hears a mean of all it may see: its scores are equal, or highest at a "
            "place ahead, which the mask hides. In its query's matrix, row t has its 1 in column "
            "t - 1.",
            _with(step=1),
        ),
        (
            "Your first head looks one place ahead. In its query's matrix, row t has its 1 in "
            "column t - 1; `roll` may have turned it the other way.",
            _ahead,
        ),
        *(
            (
                f"What your {which} head hands on is too large. Only queries are to be multiplied; "
                "a value is a token's row as it is.",
                _large_values(number, size),
            )
            for number, which in enumerate(("first", "second"))
            for size in (10.0, 100.0, 1000.0)
        ),
        (
            "The query of your second head holds what this place heard as well. The token alone is "
            "looked for.",
            _with(query="both"),
        ),
        (
            "The key of your second head holds the token as well, so it also finds places of the "
            "token itself. What a place heard is the key.",
            _with(key="both"),
        ),
        (
            "Your second head looks at all places except the right ones: a sign is turned.",
            _away,
        ),
        (
            "Your first head hears its own token: it looks at its own place, or for its own token. "
            "It must find the place before, whatever stands there.",
            _with(step=0),
        ),
        (
            "Your first head looks two places back; it should be one.",
            _with(step=-2),
        ),
        (
            "The first head's blocks are exchanged: its input is the token, then the place.",
            _places_for_tokens,
        ),
        (
            "Your first head hands on nothing: its value must be the token.",
            _hears_nothing,
        ),
        (
            "The scores of your second head are all equal, so it answers with the mean of all "
            "tokens.",
            _answers_with_the_mean,
        ),
        (
            "Your first head hands on the place that it found. It must hand on the token there: "
            "its W_V has V columns.",
            _place_for_value,
        ),
        (
            "A matrix of your first head has too few rows or too many: it reads the token's block "
            "and the place's, V + L rows, and zeros switch a block off.",
            lambda V, L: (tuple(torch.eye(L) for _ in range(3)), _two_heads(V, L)[1]),
        ),
        (
            "A matrix of your second head has too few rows or too many: it reads the token's block "
            "and the heard one, 2 V rows, and zeros switch a block off.",
            lambda V, L: (_two_heads(V, L)[0], tuple(torch.eye(V) for _ in range(3))),
        ),
        (
            "Return two triples, one for each head: `return (W_Q, W_K, W_V), (...)`.",
            lambda V, L: _two_heads(V, L)[0],
        ),
        (
            "Your second head answers with the token and what was heard, added up. The token alone "
            "is wanted.",
            _with(value="both"),
        ),
    ),
    wrong={
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, token, heard)
""": "stood before the earlier place",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (1 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token)
""": "too softly",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (12 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token)
""": "too softly",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (1000 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (8 * token, heard, token)
""": "too softly",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (token, heard, token)
""": "too softly",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (5 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (5 * token, heard, token)
""": "too softly",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (token, heard, token)
""": "too softly",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, token, token)
""": "the token at hand",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, heard)
""": "the token at hand",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * heard, token, token)
""": "are exchanged: the query",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * heard, heard, token)
""": "heard the same",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), 1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token)
""": "a mean of all",
        """\
def two_heads(V, L):
    before = torch.eye(L)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token)
""": "hears its own token",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 2), -2)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token)
""": "two places back",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([before, zeros]), torch.cat([torch.eye(L), zeros]),
             torch.cat([zeros.T, torch.eye(V)]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token)
""": "blocks are exchanged",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([zeros, torch.eye(L)]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token)
""": "hands on the place",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.eye(V)
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token)
""": "too few rows",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first
""": "two triples",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token + heard)
""": "added up",
        """\
def two_heads(V, L):
    before = torch.eye(L).roll(1, 1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (100 * token, heard, token)
""": "`roll` may have",
        """\
def two_heads(V, L):
    before = torch.diag(torch.ones(L - 1), -1)
    zeros = torch.zeros(V, L)
    first = (100 * torch.cat([zeros, before]), torch.cat([zeros, torch.eye(L)]),
             torch.cat([torch.eye(V), zeros.T]))
    token = 100 * torch.cat([torch.eye(V), torch.zeros(V, V)])
    heard = torch.cat([torch.zeros(V, V), torch.eye(V)])
    return first, (token, heard, token)
""": "second head hands on is too large",
        "def two_heads(V, L):\n    return None, None\n": "two triples",
    },
    right=(
        """\
def two_heads(V, L):
    turn, other = (torch.linalg.qr(torch.randn(n, n))[0] for n in (L, V))
    zeros, block = torch.zeros(V, L), torch.zeros(V, V)
    before = torch.diag(torch.ones(L - 1), -1)
    first = (2000 * torch.cat([zeros, before @ turn]), torch.cat([zeros, turn]),
             torch.cat([torch.eye(V), zeros.T]))
    return first, (2000 * torch.cat([other, block]), torch.cat([block, other]),
                   torch.cat([torch.eye(V), block]))
""",
        """\
def two_heads(V, L):
    places = slice(V, V + L)
    Q1, K1, V1 = torch.zeros(V + L, L), torch.zeros(V + L, L), torch.zeros(V + L, V)
    for t in range(L):
        K1[V + t, t] = 40 * math.sqrt(L)
        if t > 0:
            Q1[V + t, t - 1] = 1
    Q2, K2, V2 = (torch.zeros(2 * V, V) for _ in range(3))
    for x in range(V):
        V1[x, x] = V2[x, x] = 1
        Q2[x, x] = 40 * math.sqrt(V)
        K2[V + x, x] = 1
    return [Q1, K1, V1], [Q2, K2, V2]
""",
        """\
def two_heads(V, L):
    I, Z = torch.eye(V, dtype=torch.double), torch.zeros(V, V, dtype=torch.double)
    back = torch.eye(V + L).roll(-1, 1)
    back[:V + 1] = 0
    keys = torch.eye(V + L)
    keys[:V] = 0
    token, heard = torch.vstack([I, Z]), torch.vstack([Z, I])
    return (500 * back, keys, torch.eye(V + L)[:, :V]), (500 * token, heard, token)
""",
    ),
)
