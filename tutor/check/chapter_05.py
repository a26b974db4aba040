"""Exercises of chapter 05: masks of the decoder, cross-attention, leaks, a loop that writes."""

import itertools
import math

import torch
import torch.nn.functional as F
from torch import nn

from tutor.attention import causal_mask, compute_attention_matrix, padding_mask
from tutor.check.exercise import MEND, PREDICT, WRITE, Exercise

seen_means = Exercise(
    name="seen_means",
    chapter="05",
    section="Two masks, one table",
    kind=PREDICT,
    title="Means of what may be seen",
    goal="Read from two joined masks who sees whom.",
    difficulty=2,
    importance=4,
    minutes=6,
    text="""\
A target has four places, the last of them padding. Its values are 8, 2, 2 and 7, and all scores are
equal. **Predict** the four results of masked self-attention, with both masks joined: a list of four
numbers.""",
    hints=(
        "With equal scores each row is the mean of the values that it may see.",
        "Row 1 sees tokens 0 and 1. Row 3 is padding, but it asks, too: which tokens may it see?",
        "Row 3 sees tokens 0, 1 and 2; token 3 is padding and hidden from everybody.",
    ),
    stub="seen_means = None  # a list of four numbers",
    solution="seen_means = [8, 5, 4, 4]",
    because="Rows 0 to 2 are running means; row 3 may not see itself, so it repeats row 2.",
    reference=[8.0, 5.0, 4.0, 4.0],
    tolerance=0.006,
    mistakes=(
        (
            "In row 3 you counted the padding; it is hidden from every row, its own too.",
            [8, 5, 4, 4.75],
        ),
        (
            "In row 3 you gave the padding its own value, as if it saw itself; it is hidden from "
            "its own row too, which sees the three words.",
            [8, 5, 4, 7],
        ),
        (
            "The future is visible in your rows: row 0 may see token 0 alone.",
            [4, 4, 4, 4],
        ),
        (
            "Nothing is hidden in your rows, neither the future nor the padding.",
            [4.75, 4.75, 4.75, 4.75],
        ),
        (
            "In your rows no token sees itself; it may, since it is written already.",
            [0, 8, 5, 4],
        ),
        (
            "Your masks hide the past: row t may see the tokens 0 to t.",
            [4, 2, 2, 0],
        ),
        (
            "Those are sums. The weights of a row sum to 1, so the result is a mean.",
            [8, 10, 12, 12],
        ),
        (
            "The padding has no value in your last row, but still its share of the weights; the "
            "others share the whole.",
            [8, 5, 4, 3],
        ),
        (
            "Your last row is 0. A row of padding asks as well, and three tokens are there to be "
            "seen.",
            [8, 5, 4, 0],
        ),
        (
            "Those are the values themselves, as if each token saw itself alone.",
            [8, 2, 2, 7],
        ),
    ),
    wrong={
        "seen_means = [8, (8 + 2) / 2, 12 / 3, 19 / 4]": "counted the padding",
        "seen_means = [8, 10 / 2, 12 / 3, 7]": "as if it saw itself",
        "seen_means = [12 / 3] * 4": "future is visible",
        "seen_means = [19 / 4] * 4": "nothing is hidden",
        "seen_means = [0, 8, 5, 4]": "no token sees itself",
        "seen_means = torch.tensor([8.0, 2.0, 2.0, 0.0]).cumsum(0)": "Those are sums",
        "seen_means = [8, 5, 4, 12 / 4]": "share of the weights",
        "seen_means = [8, 5, 4, 0]": "Your last row is 0",
        "seen_means = [8, 5, 4]": "length 3",
        "seen_means = 4": "a list is wanted",
    },
    right=(
        """\
V = torch.tensor([8.0, 2.0, 2.0])
seen = V.cumsum(0) / torch.arange(1, 4)
seen_means = [*seen.tolist(), seen[-1].item()]
""",
        "seen_means = (8.0, 10 / 2, 12 / 3, 12 / 3)",
    ),
)


def _decoder_mask(ids):
    return causal_mask(ids.shape[1]) | padding_mask(ids)


def _triangle(ids):
    """True everywhere, as a table for each sentence: what the mistakes cut a triangle from."""
    return torch.ones(len(ids), 1, ids.shape[1], ids.shape[1], dtype=torch.bool)


def _cases_of_ids():
    for ids in [
        [[2]],
        [[2, 5]],
        [[2, 7, 0]],
        [[2, 0, 7, 5]],
        [[2, 6, 9, 4], [2, 5, 0, 0]],
        [[2, 8, 1, 5, 7], [2, 4, 6, 9, 0], [2, 0, 0, 0, 0]],
        [[2, 4, 5, 6, 7, 8, 9]],
        [[2, 5, 7], [0, 0, 0]],
    ]:
        yield (torch.tensor(ids),)


decoder_mask = Exercise(
    name="decoder_mask",
    chapter="05",
    section="Two masks, one table",
    kind=WRITE,
    title="The mask of a target",
    goal="Hide the future and the padding in one table of booleans.",
    difficulty=2,
    importance=5,
    minutes=10,
    text="""\
Write the mask for a decoder's self-attention. `True` hides, as everywhere in this course. A place
is hidden if it is future **or** padding; padding has the id 0. One table for each sentence, the
same for every head.""",
    hints=(
        "Make both masks, write their shapes behind them, and join them.",
        "`torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)` keeps what lies above the diagonal. "
        "The padding needs the shape (N, 1, 1, T).",
        "`(ids == 0)[:, None, None, :]` hides keys, which are the columns. The sign for *or* is "
        "`|`, and broadcasting does the rest.",
    ),
    stub='''\
def decoder_mask(ids):
    """What the places of a target may not see of it.

    ids: int64 tensor (N, T), 0 is padding
    Returns: bool tensor (N, 1, T, T), True = may not be attended to
    """
    raise NotImplementedError
''',
    solution='''\
def decoder_mask(ids):
    """What the places of a target may not see of it.

    ids: int64 tensor (N, T), 0 is padding
    Returns: bool tensor (N, 1, T, T), True = may not be attended to
    """
    T = ids.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    padding = (ids == 0)[:, None, None, :]
    return future | padding
''',
    reference=_decoder_mask,
    cases=_cases_of_ids,
    forbidden=(causal_mask, padding_mask),
    mistakes=(
        (
            "Your mask hides only what is future and padding at once; either is enough.",
            lambda ids: causal_mask(ids.shape[1]) & padding_mask(ids),
        ),
        (
            "Your mask is turned over: it is True where a place may be seen, and True must hide.",
            lambda ids: ~_decoder_mask(ids),
        ),
        (
            "Your mask hides the past and the token itself; True belongs above the diagonal.",
            lambda ids: _triangle(ids).tril() | padding_mask(ids),
        ),
        (
            "Your mask hides the past; the future lies above the diagonal, with keys in columns.",
            lambda ids: _triangle(ids).tril(-1) | padding_mask(ids),
        ),
        (
            "Your mask hides the diagonal; a token may see itself, since it is written already.",
            lambda ids: _triangle(ids).triu() | padding_mask(ids),
        ),
        (
            "A token may see its right neighbour in your mask; `triu` starts one diagonal too far "
            "up.",
            lambda ids: _triangle(ids).triu(2) | padding_mask(ids),
        ),
        (
            "Your mask hides the rows of padding; nobody may look at padding, so its columns must "
            "be hidden.",
            lambda ids: _triangle(ids).triu(1) | padding_mask(ids).transpose(-2, -1),
        ),
        (
            "Your mask hides the rows of padding as well as its columns; a row of padding may ask, "
            "for nobody reads what it gets.",
            lambda ids: _decoder_mask(ids) | padding_mask(ids).transpose(-2, -1),
        ),
        (
            "Your mask hides the words and shows the padding: True belongs where the id is 0.",
            lambda ids: causal_mask(ids.shape[1]) | ~padding_mask(ids),
        ),
        (
            "Your mask hides the future alone; padding must be hidden too.",
            lambda ids: _triangle(ids).triu(1),
        ),
        (
            "Your mask hides the future alone, for one sentence; padding differs from sentence to "
            "sentence.",
            lambda ids: causal_mask(ids.shape[1]),
        ),
        (
            "Your mask hides the padding alone; the future must be hidden too.",
            padding_mask,
        ),
        (
            "The dimension of the heads is missing: it has size 1 and stands behind N.",
            lambda ids: _decoder_mask(ids)[:, 0],
        ),
        (
            "Your mask is made of numbers, 0 and -inf, to be added to scores; booleans are wanted.",
            lambda ids: torch.zeros(_triangle(ids).shape).masked_fill(
                _decoder_mask(ids), -math.inf
            ),
        ),
        (
            "A place that is future and padding at once is visible in your mask: join with `|`.",
            lambda ids: causal_mask(ids.shape[1]) ^ padding_mask(ids),
        ),
        (
            "Your mask is made of 0 and 1; booleans are wanted.",
            lambda ids: _decoder_mask(ids).float(),
        ),
        (
            "Your mask hides the token with id 1 as well; padding is id 0 alone.",
            lambda ids: causal_mask(ids.shape[1]) | (ids <= 1)[:, None, None, :],
        ),
    ),
    wrong={
        """\
def decoder_mask(ids):
    N, T = ids.shape
    future = torch.triu(torch.ones(T, T), diagonal=1).bool()
    padding = ids.eq(0).view(N, 1, 1, T)
    return future & padding
""": "at once",
        """\
def decoder_mask(ids):
    T = ids.size(1)
    seen = torch.tril(torch.ones(T, T)).bool()
    words = (ids != 0).unsqueeze(1).unsqueeze(2)
    return seen & words
""": "turned over",
        """\
def decoder_mask(ids):
    T = ids.size(1)
    causal = torch.tril(torch.ones(T, T, dtype=torch.bool))
    return causal | (ids == 0)[:, None, None]
""": "the past and the token itself",
        """\
def decoder_mask(ids):
    T = ids.size(1)
    causal = torch.tensor([[key < query for key in range(T)] for query in range(T)])
    return causal | (ids == 0)[:, None, None]
""": "hides the past; the future",
        """\
def decoder_mask(ids):
    place = torch.arange(ids.shape[1])
    future = place[None, :] >= place[:, None]
    return future[None, None] | (ids == 0)[:, None, None, :]
""": "hides the diagonal",
        """\
def decoder_mask(ids):
    place = torch.arange(ids.shape[1])
    future = place[None, :] > place[:, None] + 1
    return future[None, None] | (ids == 0)[:, None, None, :]
""": "right neighbour",
        """\
def decoder_mask(ids):
    future = torch.ones(ids.shape[1], ids.shape[1]).triu(1) == 1
    return future | (ids == 0)[:, None, :, None]
""": "rows of padding; nobody",
        """\
def decoder_mask(ids):
    real = (ids != 0).float()
    both = torch.einsum("nt,ns->nts", real, real).unsqueeze(1)
    return (both.tril() == 0)
""": "as well as its columns",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.full((T, T), True).triu(1)
    padding = ids.bool()[:, None, None]
    return future | padding
""": "shows the padding",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    return torch.full((T, T), True).triu(1)
""": "for one sentence",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.full((T, T), True).triu(1)
    return future | (ids == 0)[:, None]
""": "dimension of the heads",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.full((T, T), float("-inf")).triu(1)
    padding = torch.zeros(ids.shape).masked_fill(ids == 0, float("-inf"))
    return future + padding[:, None, None]
""": "0 and -inf",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.ones(T, T).triu(1)
    padding = (ids == 0).float()[:, None, None]
    return torch.maximum(future, padding)
""": "0 and 1",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    words = ids > 1
    return future | ~words[:, None, None]
""": "id 1 as well",
        """\
def decoder_mask(ids):
    T = ids.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return future != (ids == 0)[:, None, None]
""": "future and padding at once is visible",
        """\
def decoder_mask(ids):
    from tutor.attention import causal_mask
    return causal_mask(ids.shape[1]) | (ids == 0)[:, None, None]
""": "calls `causal_mask`",
    },
    right=(
        """\
def decoder_mask(ids):
    N, T = ids.shape
    mask = torch.zeros(N, 1, T, T, dtype=torch.bool)
    for n in range(N):
        for query in range(T):
            for key in range(T):
                mask[n, 0, query, key] = key > query or ids[n, key] == 0
    return mask
""",
        """\
def decoder_mask(ids):
    seen = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
    return ~(seen & (ids != 0).unsqueeze(1).unsqueeze(2))
""",
        """\
def decoder_mask(ids):
    place = torch.arange(ids.shape[1])
    future = place > place[:, None]
    return torch.logical_or(future, ids.eq(0)[:, None, None, :])
""",
    ),
)


class _Reader(nn.Module):
    """One layer of self-attention; row t of its result is made of the rows that `reads` marks."""

    def __init__(self, reads, d_model, norm_first=False):
        super().__init__()
        self.reads = reads  # (N, T) -> bool tensor that broadcasts to (N, T, T)
        self.norm_first = norm_first
        # Small, so that no row nearly ignores what it reads.
        self.W = nn.Parameter(0.3 * torch.randn(d_model, d_model))

    def forward(self, X):
        hidden = ~self.reads(*X.shape[:2])
        if self.norm_first:
            X = F.layer_norm(X, X.shape[-1:])  # (N, T, d_model)
        return compute_attention_matrix(X @ self.W, X, hidden) @ X  # (N, T, d_model)


def _past(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def _past_and(T, query, key):
    """The past, and for one query a key that it should not see."""
    reads = _past(T)
    reads[query, key] = True
    return reads


def _one_sentence_leaks(N, T):
    reads = _past(T).repeat(N, 1, 1)
    reads[-1] = True
    return reads


# The names of the classes are for the messages: "with a LastTokenIsSeen as model".
_READS = {
    "CarefulDecoder": lambda N, T: _past(T),
    "MaskForgotten": lambda N, T: torch.ones(T, T, dtype=torch.bool),
    "NeighbourIsSeen": lambda N, T: torch.ones(T, T, dtype=torch.bool).tril(1),
    "LastTokenIsSeen": lambda N, T: _past(T) | (torch.arange(T) == T - 1),
    "FirstRowSeesNext": lambda N, T: _past_and(T, 0, min(1, T - 1)),
    "FirstRowSeesLast": lambda N, T: _past_and(T, 0, T - 1),
    "LastTokenSeenByNeighbour": lambda N, T: _past_and(T, max(T - 2, 0), T - 1),
    "TokensAlone": lambda N, T: torch.eye(T, dtype=torch.bool),
    "SecondSentenceLeaks": _one_sentence_leaks,
}


def _cases_of_leaks():
    def case(name, *shape, norm_first=False):
        kind = type("NormFirst" * norm_first + name, (_Reader,), {})
        return kind(_READS[name], shape[-1], norm_first), torch.randn(shape)

    yield case("CarefulDecoder", 1, 1, 2)
    yield case("CarefulDecoder", 1, 2, 3)
    yield case("MaskForgotten", 1, 2, 3)
    for name in _READS:
        yield case(name, 2, 4, 3)
    yield case("CarefulDecoder", 3, 5, 2)
    yield case("FirstRowSeesLast", 1, 5, 2)
    yield case("MaskForgotten", 2, 3, 4, norm_first=True)
    yield case("CarefulDecoder", 2, 3, 4, norm_first=True)


def _moved(model, X, t):
    """Which rows of the result move when token t becomes another, (N, T)."""
    changed = X.clone()
    changed[:, t] *= -1
    return (model(changed) - model(X)).abs().amax(dim=-1) > 1e-5  # (N, T)


def _leak_test(tokens=lambda T: range(1, T), rows=lambda moved, t: moved[:, :t], known=None):
    """A leak test that changes some tokens and looks at some rows; `known` turns its answer."""

    def test(model, X):
        found = any(bool(rows(_moved(model, X, t), t).any()) for t in tokens(X.shape[1]))
        return not found if known else found

    return test


def _sees_the_future(model, X):
    return _leak_test()(model, X)


def _shifts_all_features(model, X):
    """A leak test whose change a LayerNorm takes away."""
    Y, found = model(X), False
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] += 1.0
        found = found or bool(((model(changed) - Y)[:, :t].abs() > 1e-5).any())
    return found


sees_the_future = Exercise(
    name="sees_the_future",
    chapter="05",
    section="What the model can see",
    kind=WRITE,
    title="Write the test that catches a leak",
    goal="Test for any decoder whether a row depends on a token that comes after it.",
    difficulty=4,
    importance=5,
    minutes=20,
    text="""\
`model` works as a decoder does, from (N, T, d_model) to (N, T, d_model). Row $t$ of its result may
depend on the tokens $0, \\dots, t$. Write the test that says `True` if any row depends on a later
token. The models to be tested leak in different places: some at every token, some at one alone.

The steps are these, shuffled; put them in order first:

- *compare*: did a row **before** $t$ move, in any sentence?
- *repeat*: do it for every token $t$ that has rows before it;
- *run*: give the model the changed copy;
- *change*: copy the input, and make token $t$ another one.""",
    hints=(
        "The order is: repeat, change, run, compare. Row $t$ itself may move, and so may all after "
        "it.",
        "`changed = X.clone()`, then `changed[:, t] = torch.randn(X.shape[-1])`. One number added "
        "to all features is not enough: a LayerNorm takes it away. The rows before $t$ are "
        "`[:, :t]`, in all sentences.",
        "Two results count as different if they differ by more than rounding: "
        "`not torch.allclose(a, b, atol=1e-6)`. One leak is enough to return `True`. If a decoder "
        "of your own seems to leak everywhere, switch its dropout off, `model.eval()`: it makes "
        "any two runs differ.",
    ),
    stub='''\
def sees_the_future(model, X):
    """Whether a row of a model's result depends on a later token.

    model: module, from (N, T, d_model) to (N, T, d_model)
    X: float tensor (N, T, d_model), an input to try it with
    Returns: True if there is a leak, else False
    """
    raise NotImplementedError
''',
    solution='''\
def sees_the_future(model, X):
    """Whether a row of a model's result depends on a later token.

    model: module, from (N, T, d_model) to (N, T, d_model)
    X: float tensor (N, T, d_model), an input to try it with
    Returns: True if there is a leak, else False
    """
    Y = model(X)  # (N, T, d_model)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] = torch.randn(X.shape[-1])
        if not torch.allclose(model(changed)[:, :t], Y[:, :t], atol=1e-6):
            return True
    return False
''',
    because="Run it on every decoder before you train it, with dropout switched off.",
    reference=_sees_the_future,
    cases=_cases_of_leaks,
    draws=True,
    mistakes=(
        (
            "You add one number to all features of a token, and a LayerNorm takes it away again: "
            "put another vector in its place.",
            _shifts_all_features,
        ),
        (
            "You change the last token alone, and miss a leak that comes from another one.",
            _leak_test(tokens=lambda T: [T - 1]),
        ),
        (
            "You change token 0 alone. No row stands before it, so no leak can show.",
            _leak_test(tokens=lambda T: [0]),
        ),
        (
            "You change token 1 alone, and miss a leak that comes from a later one.",
            _leak_test(tokens=lambda T: range(1, min(T, 2))),
        ),
        (
            "You never change the last token, and miss a leak that comes from it.",
            _leak_test(tokens=lambda T: range(1, T - 1)),
        ),
        (
            "You look at row t as well. It reads token t and may move; only rows before t must "
            "stay.",
            _leak_test(rows=lambda moved, t: moved[:, : t + 1]),
        ),
        (
            "You look at row t as well, down to t = 0. It reads token t and may move; only rows "
            "before t must stay.",
            _leak_test(tokens=range, rows=lambda moved, t: moved[:, : t + 1]),
        ),
        (
            "You look at the rows after t. They read token t and may move; those before must stay.",
            _leak_test(tokens=range, rows=lambda moved, t: moved[:, t + 1 :]),
        ),
        (
            "You look at row 0 alone, and miss a leak into another row.",
            _leak_test(rows=lambda moved, t: moved[:, 0]),
        ),
        (
            "You look at row t - 1 alone, and miss a leak that skips the neighbour.",
            _leak_test(rows=lambda moved, t: moved[:, t - 1]),
        ),
        (
            "You look at the first sentence alone, and miss a leak in another.",
            _leak_test(rows=lambda moved, t: moved[:1, :t]),
        ),
        (
            "Your answer is turned over: True means that there is a leak.",
            _leak_test(known=True),
        ),
        (
            "You find a leak only if every token leaks; one is enough.",
            lambda model, X: (
                X.shape[1] > 1
                and all(bool(_moved(model, X, t)[:, :t].any()) for t in range(1, X.shape[1]))
            ),
        ),
        (
            "Your test says False of every model.",
            lambda model, X: False,
        ),
        (
            "Your test says True of every model.",
            lambda model, X: True,
        ),
    ),
    wrong={
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] = changed[:, t] + 5
        if not torch.allclose(model(changed)[:, :t], Y[:, :t], atol=1e-6):
            return True
    return False
""": "a LayerNorm takes it away",
        """\
def sees_the_future(model, X):
    changed = X.clone()
    changed[:, -1] = torch.randn(X.shape[-1])
    return not torch.allclose(model(X)[:, :-1], model(changed)[:, :-1], atol=1e-6)
""": "the last token alone",
        """\
def sees_the_future(model, X):
    T = X.shape[1]
    if T < 2:
        return False
    changed = X.clone()
    changed[:, 1] = 9.0
    return not torch.allclose(model(X)[:, 0], model(changed)[:, 0], atol=1e-6)
""": "token 1 alone",
        """\
def sees_the_future(model, X):
    before = model(X)
    for t in range(X.shape[1] - 1):
        other = torch.cat([X[:, :t], -X[:, t:t + 1], X[:, t + 1:]], dim=1)
        if ((model(other) - before)[:, :t].abs() > 1e-6).any():
            return True
    return False
""": "never change the last token",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] *= -1
        if not torch.allclose(model(changed)[:, :t + 1], Y[:, :t + 1], atol=1e-6):
            return True
    return False
""": "look at row t as well",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(X.shape[1]):
        changed = X.clone()
        changed[:, t] *= -1
        if not torch.allclose(model(changed), Y, atol=1e-6):
            return True
    return False
""": "down to t = 0",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(X.shape[1]):
        changed = X.clone()
        changed[:, t] *= -1
        moved = (model(changed) - Y).abs().sum(-1) > 1e-6
        if moved[:, t + 1:].any():
            return True
    return False
""": "rows after t",
        """\
def sees_the_future(model, X):
    Y = model(X)
    changed = X.clone()
    changed[:, 1:] += torch.randn_like(X[:, 1:])
    return not torch.allclose(model(changed)[:, 0], Y[:, 0], atol=1e-6)
""": "row 0 alone",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(X.shape[1] - 1):
        changed = X.clone()
        changed[:, t + 1] *= -1
        if not torch.allclose(model(changed)[:, t], Y[:, t], atol=1e-6):
            return True
    return False
""": "row t - 1 alone",
        """\
def sees_the_future(model, X):
    x = X[0].clone().requires_grad_()
    N = len(X)
    Y = model(torch.cat([x[None], X[1:]]))[0]
    for t in range(len(x) - 1):
        (g,) = torch.autograd.grad(Y[t].sum(), x, retain_graph=True)
        if g[t + 1:].any():
            return True
    return False
""": "first sentence alone",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] *= -1
        if not torch.allclose(model(changed)[:, :t], Y[:, :t], atol=1e-6):
            return False
    return True
""": "turned over",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] *= -1
        if torch.allclose(model(changed)[:, :t], Y[:, :t], atol=1e-6):
            return False
    return X.shape[1] > 1
""": "one is enough",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        X[:, t] += 1.0
        if not torch.allclose(model(X)[:, :t], Y[:, :t], atol=1e-6):
            return True
    return False
""": "changes its argument `X`",
        """\
def sees_the_future(model, X):
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] += 1.0
        if (model(changed)[:, :t] - model(X)[:, :t]) > 1e-6:
            return True
    return False
""": "RuntimeError",
    },
    right=(
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(X.shape[1]):
        if not torch.allclose(model(X[:, :t + 1])[:, -1], Y[:, t], atol=1e-6):
            return True
    return False
""",
        """\
def sees_the_future(model, X):
    X = X.clone().requires_grad_()
    Y = model(X)
    for t in range(X.shape[1]):
        (g,) = torch.autograd.grad(Y[:, t].square().sum(), X, retain_graph=True)
        if (g[:, t + 1:].abs() > 1e-9).any():
            return True
    return False
""",
        """\
def sees_the_future(model, X):
    with torch.no_grad():
        Y = model(X)
        for t in range(1, X.shape[1]):
            other = X.clone()
            other[:, t:] = torch.randn_like(X[:, t:])
            if ((model(other) - Y)[:, :t].abs() > 1e-5).any():
                return True
    return False
""",
    ),
)


class _Writer(nn.Module):
    """A decoder that writes one path, if it is asked as it should be: its logits at a place
    depend on the place and on the token there."""

    def __init__(self, path, vocab_size=9, max_len=12):
        super().__init__()
        Z = torch.randn(max_len, vocab_size, vocab_size)  # place, token, next token
        for t, (token, following) in enumerate(itertools.pairwise(path)):
            Z[t, token, following] = 6.0
        self.register_buffer("Z", Z)

    def forward(self, ids):
        return self.Z[torch.arange(ids.shape[1]), ids]  # (N, T, V)


def _greedy(
    model, bos, eos, longest, row=-1, alone=False, stop=True, keep=True, wanted=torch.argmax
):
    """Greedy decoding, with switches for its mistakes."""
    ids = torch.tensor([[bos]])
    while ids.shape[1] < longest:
        Z = model(ids[:, -1:] if alone else ids)  # (1, T, V)
        best = wanted(Z[:, row], dim=-1)
        if best == eos and not keep:
            break
        ids = torch.cat([ids, best[:, None]], dim=1)
        if best == eos and stop:
            break
    return ids


def _write_greedily(model, bos, eos, longest):
    return _greedy(model, bos, eos, longest)


def _cases_of_writers():
    decoder = type("Decoder", (_Writer,), {})  # its name is for the messages
    for path, longest in [
        ([2, 3], 5),
        ([2, 5, 3], 6),
        ([2, 7, 4, 8, 6, 5], 4),
        ([2, 6, 6, 4, 3, 7, 8], 9),
        ([2, 4, 3], 3),
        ([2, 5, 7], 1),
        ([2, 8, 7, 6, 8, 5, 4, 7, 6], 8),
    ]:
        yield decoder(path), 2, 3, longest
    yield decoder([1, 6, 3, 4, 5, 2]), 1, 5, 7  # other marks


write_greedily = Exercise(
    name="write_greedily",
    chapter="05",
    section="A loop that writes",
    kind=WRITE,
    title="One token at a time",
    goal="Let a model write a sentence from its own words.",
    difficulty=3,
    importance=4,
    minutes=15,
    text="""\
`model(ids)` returns the logits of the next token at every place, from (1, T) to (1, T, V). Write
greedy decoding for one sentence: begin with `bos`, and append the most probable token, again and
again. Stop behind `eos`, or when the sentence has `longest` tokens, `bos` included. What is
returned begins with `bos`, and ends with `eos` if the model wrote one.""",
    hints=(
        "A `while` loop over the length of `ids`. In each round: ask, choose, append, maybe stop.",
        "Which row of the logits answers the question of what comes next? Ask the model about the "
        "whole beginning each time.",
        "`best = model(ids)[:, -1].argmax(dim=-1)` has the shape (1,), and "
        "`torch.cat([ids, best[:, None]], dim=1)` appends it.",
    ),
    stub='''\
def write_greedily(model, bos, eos, longest):
    """The sentence that a model writes if it takes the most probable token each time.

    model: module, from int64 ids (1, T) to logits (1, T, V)
    bos, eos: int, the ids of the marks of beginning and end
    longest: int, the number of tokens at which to stop, bos included
    Returns ids: int64 tensor (1, T) with T <= longest, from bos to eos if there is one
    """
    raise NotImplementedError
''',
    solution='''\
def write_greedily(model, bos, eos, longest):
    """The sentence that a model writes if it takes the most probable token each time.

    model: module, from int64 ids (1, T) to logits (1, T, V)
    bos, eos: int, the ids of the marks of beginning and end
    longest: int, the number of tokens at which to stop, bos included
    Returns ids: int64 tensor (1, T) with T <= longest, from bos to eos if there is one
    """
    ids = torch.tensor([[bos]])  # (1, T=1)
    while ids.shape[1] < longest:
        best = model(ids)[:, -1].argmax(dim=-1)  # (1,)
        ids = torch.cat([ids, best[:, None]], dim=1)
        if best == eos:
            break
    return ids
''',
    reference=_write_greedily,
    cases=_cases_of_writers,
    mistakes=(
        (
            "You take the answer of row 0 each time; what comes next stands in the last row.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, row=0),
        ),
        (
            "You hand the model the last token alone; it needs the whole beginning.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, alone=True),
        ),
        (
            "Your loop goes on behind `eos`.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, stop=False),
        ),
        (
            "Your sentence ends before `eos`; append it, then stop.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, keep=False),
        ),
        (
            "Your sentences get one token too long: `longest` counts `bos` as well.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest + 1),
        ),
        (
            "Your loop stops one token too early: a sentence may have `longest` tokens.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest - 1),
        ),
        (
            "Your loop runs for `longest` rounds and does not look for `eos`; `bos` counts as a "
            "token, and `eos` ends the sentence.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest + 1, stop=False),
        ),
        (
            "You take the least probable token.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, wanted=torch.argmin),
        ),
        (
            "`bos` is missing at the front of what you return.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest)[:, 1:],
        ),
        (
            "You return the sentence without its batch dimension.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest)[0],
        ),
        (
            "You return a list; a tensor of shape (1, T) is wanted.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest)[0].tolist(),
        ),
    ),
    wrong={
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    while len(ids) < longest and (len(ids) == 1 or ids[-1] != eos):
        ids.append(model(torch.tensor([ids]))[0, 0].argmax().item())
    return torch.tensor([ids])
""": "row 0 each time",
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    token = bos
    while len(ids) < longest:
        token = model(torch.tensor([[token]]))[0, -1].argmax().item()
        ids.append(token)
        if token == eos:
            break
    return torch.tensor([ids])
""": "last token alone",
        """\
def write_greedily(model, bos, eos, longest):
    ids = torch.full((1, 1), bos)
    for _ in range(longest - 1):
        p = model(ids)[:, -1].softmax(dim=-1)
        ids = torch.cat([ids, p.argmax(-1, keepdim=True)], dim=-1)
    return ids
""": "goes on behind",
        """\
def write_greedily(model, bos, eos, longest):
    ids = torch.full((1, 1), bos)
    for _ in range(longest - 1):
        token = model(ids)[0, -1].argmax()
        if token == eos:
            return ids
        ids = torch.cat([ids, token.view(1, 1)], dim=1)
    return ids
""": "ends before `eos`",
        """\
def write_greedily(model, bos, eos, longest):
    ids = torch.full((1, 1), bos)
    for _ in range(longest):
        token = model(ids)[0, -1].argmax()
        ids = torch.cat([ids, token.view(1, 1)], dim=1)
        if token == eos:
            break
    return ids
""": "one token too long",
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    for _ in range(longest):
        ids += [int(model(torch.tensor([ids]))[0, -1].argmax())]
    return torch.tensor([ids])
""": "does not look for `eos`",
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    while len(ids) < longest:
        ids += [int(model(torch.tensor([ids]))[0, -1].sort().indices[0])]
        if ids[-1] == eos:
            break
    return torch.tensor([ids])
""": "least probable",
        """\
def write_greedily(model, bos, eos, longest):
    ids, written = torch.tensor([[bos]]), []
    while len(written) < longest - 1:
        written.append(model(ids)[0, -1].argmax())
        ids = torch.cat([ids, written[-1].view(1, 1)], dim=1)
        if written[-1] == eos:
            break
    return torch.tensor([written], dtype=torch.int64)
""": "`bos` is missing",
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    while len(ids) < longest:
        ids.append(model(torch.tensor([ids]))[0, -1].argmax().item())
        if ids[-1] == eos:
            break
    return ids
""": "a list",
        """\
def write_greedily(model, bos, eos, longest):
    ids = torch.tensor([[bos]])
    while ids.shape[1] < longest:
        best = model(ids)[:, -1].argmax(dim=-1)
        ids = torch.cat([ids, best], dim=1)
        if best == eos:
            break
    return ids
""": "RuntimeError",
    },
    right=(
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    while len(ids) < longest:
        ids.append(model(torch.tensor([ids]))[0, -1].argmax().item())
        if ids[-1] == eos:
            break
    return torch.tensor([ids])
""",
        """\
@torch.no_grad()
def write_greedily(model, bos, eos, longest):
    ids = torch.full((1, 1), bos)
    for _ in range(longest - 1):
        log_p = model(ids)[:, -1:].log_softmax(dim=-1)
        ids = torch.cat([ids, log_p.topk(1).indices[..., 0]], dim=1)
        if (ids[:, -1] == eos).all():
            return ids
    return ids
""",
        """\
def write_greedily(model, bos, eos, longest):
    def go_on(ids):
        if ids.shape[1] >= longest:
            return ids
        ids = F.pad(ids, (0, 1), value=model(ids)[0, -1].argmax().item())
        return ids if ids[0, -1] == eos else go_on(ids)
    return go_on(torch.tensor([[bos]]))
""",
    ),
)


def _ask(X_Q, X_K, X_V, W_Q, W_K, W_V, hidden=None):
    mask = None if hidden is None else ~hidden
    return F.scaled_dot_product_attention(X_Q @ W_Q, X_K @ W_K, X_V @ W_V, attn_mask=mask)


def _ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    return compute_attention_matrix(X @ W_Q, memory @ W_K, hidden) @ (memory @ W_V)


def _cases_of_sources():
    for N, T, S, d_model, d_k, d_v, padding in [
        (1, 2, 2, 3, 4, 1, 0),
        (2, 3, 3, 4, 2, 5, 1),  # equal lengths: the stub raises nothing here
        (1, 1, 3, 2, 4, 5, 0),
        (2, 5, 3, 4, 1, 6, 1),
        (3, 2, 7, 5, 4, 1, 3),
    ]:
        X, memory = torch.randn(N, T, d_model), torch.randn(N, S, d_model)
        W_Q, W_K, W_V = torch.randn(2 * d_k + d_v, d_model).split([d_k, d_k, d_v])
        hidden = torch.zeros(N, 1, S, dtype=torch.bool)
        hidden[-1, :, S - padding :] = True
        yield X, memory, W_Q.T, W_K.T, W_V.T, hidden


ask_the_source = Exercise(
    name="ask_the_source",
    chapter="05",
    section="Looking at the source",
    kind=MEND,
    title="Who asks, and who answers?",
    goal="Give cross-attention its queries, keys and values from the right sentences.",
    difficulty=2,
    importance=5,
    minutes=8,
    text="""\
A published decoder hands its cross-attention the three inputs in a wrong order. Whoever tries it
with sentences of one length alone sees nothing. With $T \\neq S$ it breaks. **Find the mistake and
mend it.** The mask is right: it hides the padding of the source.""",
    hints=(
        "Who wants to know something, and who can tell it?",
        "The result has a row for each token that asks. How many rows must it have, T or S?",
        "Queries are made from the target. Both keys and values are made from the memory.",
    ),
    stub='''\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    """Cross-attention with one head. It has a mistake: find it and mend it.

    X: float tensor (N, T, d_model), vectors of the target
    memory: float tensor (N, S, d_model), the encoder's output
    W_Q, W_K: float tensors (d_model, d_k); W_V: float tensor (d_model, d_v)
    hidden: bool tensor (N, 1, S), True where the source is padding
    Returns Y: float tensor (N, T, d_v)
    """
    Q = memory @ W_Q  # (N, ?, d_k)
    K = memory @ W_K  # (N, ?, d_k)
    V = X @ W_V  # (N, ?, d_v)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
''',
    solution='''\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    """Cross-attention with one head.

    X: float tensor (N, T, d_model), vectors of the target
    memory: float tensor (N, S, d_model), the encoder's output
    W_Q, W_K: float tensors (d_model, d_k); W_V: float tensor (d_model, d_v)
    hidden: bool tensor (N, 1, S), True where the source is padding
    Returns Y: float tensor (N, T, d_v)
    """
    Q = X @ W_Q  # (N, T, d_k)
    K = memory @ W_K  # (N, S, d_k)
    V = memory @ W_V  # (N, S, d_v)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
''',
    because="The target asks; the memory has the keys and the values.",
    reference=_ask_the_source,
    cases=_cases_of_sources,
    gradient=True,
    mistakes=(
        (
            "As it was: with T = S the numbers are wrong, and with T different from S it raises an "
            "error.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(M, M, X, W_Q, W_K, W_V, hidden),
        ),
        (
            "The queries are right now, but the values are still made from the target; the source "
            "must say what is found.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, M, X, W_Q, W_K, W_V, hidden),
        ),
        (
            "The values are right now, but the queries are still made from the memory: the source "
            "asks itself.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(M, M, M, W_Q, W_K, W_V, hidden),
        ),
        (
            "Target and source have changed places: keys and values belong to the memory.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(M, X, X, W_Q, W_K, W_V, hidden),
        ),
        (
            "The source is ignored: all three are made from the target, which is self-attention.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, X, X, W_Q, W_K, W_V, hidden),
        ),
        (
            "The keys are made from the target and the values from the memory; a key and its value "
            "belong to one token.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, X, M, W_Q, W_K, W_V, hidden),
        ),
        (
            "The three inputs are right now, but the mask is gone: padding of the source is seen.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, M, M, W_Q, W_K, W_V),
        ),
        (
            "The three inputs are right now, but the mask is turned over; it was right.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, M, M, W_Q, W_K, W_V, ~hidden),
        ),
        (
            "The source is ignored, and so is its mask: all three are made from the target.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, X, X, W_Q, W_K, W_V),
        ),
        (
            "There is no causal mask in cross-attention: the whole source is known before anything "
            "is written.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(
                *(X, M, M, W_Q, W_K, W_V),
                hidden | torch.ones(X.shape[1], M.shape[1], dtype=torch.bool).triu(1),
            ),
        ),
    ),
    wrong={
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = X @ W_Q, memory @ W_K, X @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""": "still made from the target",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = (memory @ W for W in (W_Q, W_K, W_V))
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""": "source asks itself",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = memory @ W_Q, X @ W_K, X @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""": "changed places",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    E = (X @ W_Q) @ (X @ W_K).mT / math.sqrt(W_K.shape[1])
    return E.softmax(-1) @ (X @ W_V)
""": "source is ignored, and so is its mask",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    E = (X @ W_Q) @ (memory @ W_K).mT / math.sqrt(W_K.shape[1])
    return E.softmax(-1) @ (memory @ W_V)
""": "the mask is gone",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=hidden)
""": "mask is turned over",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    T, S = X.shape[1], memory.shape[1]
    seen = torch.ones(T, S, dtype=torch.bool).tril() & ~hidden
    return F.scaled_dot_product_attention(X @ W_Q, memory @ W_K, memory @ W_V, seen)
""": "no causal mask",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    memory = memory.detach()
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""": "the gradient of `memory` is missing",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    E = (Q @ K.transpose(0, 1)).masked_fill(hidden, -1e9)
    return E.softmax(-1) @ V
""": "RuntimeError",
    },
    right=(
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    E = (X @ W_Q) @ (memory @ W_K).mT / math.sqrt(W_K.shape[1])
    return E.masked_fill(hidden, float("-inf")).softmax(-1) @ (memory @ W_V)
""",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q = torch.einsum("ntd,dk->ntk", X, W_Q)
    K = torch.einsum("nsd,dk->nsk", memory, W_K)
    E = torch.einsum("ntk,nsk->nts", Q, K) * W_K.shape[1] ** -0.5
    A = torch.where(hidden, -1e9, E).softmax(dim=-1)
    return torch.einsum("nts,nsd,dv->ntv", A, memory, W_V)
""",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    sentences = []
    for x, m, h in zip(X, memory, hidden):
        m = m[~h[0]]
        E = (x @ W_Q) @ (m @ W_K).T / math.sqrt(W_K.shape[1])
        sentences.append(E.softmax(-1) @ (m @ W_V))
    return torch.stack(sentences)
""",
    ),
)


def _cut(ids, first=0, answer=1, mask_of=None):
    """Inputs, answers and mask; switches for where they begin."""
    T = ids.shape[1] - 1
    inputs = ids[:, first : first + T]
    return (
        inputs,
        ids[:, answer : answer + T],
        _decoder_mask(inputs if mask_of is None else mask_of),
    )


def _questions_and_answers(ids):
    return _cut(ids)


def _future_alone(ids):
    inputs, answers, mask = _cut(ids)
    return inputs, answers, causal_mask(inputs.shape[1]).expand(mask.shape)


def _without_diagonal(ids):
    inputs, answers, mask = _cut(ids)
    return inputs, answers, mask | torch.eye(inputs.shape[1], dtype=torch.bool)


def _cases_of_targets():
    for ids in [
        [[2, 3]],
        [[2, 5, 3]],
        [[2, 7, 5, 3], [2, 6, 3, 0]],
        [[2, 8, 6, 4, 7, 3], [2, 5, 5, 3, 0, 0], [2, 3, 0, 0, 0, 0]],
        [[2, 9, 4, 5, 6, 7, 8, 3]],
    ]:
        yield (torch.tensor(ids),)


questions_and_answers = Exercise(
    name="questions_and_answers",
    chapter="05",
    section="What can go wrong",
    kind=MEND,
    title="The word that answers itself",
    goal="Cut inputs, answers and mask from one sentence without a slip.",
    difficulty=3,
    importance=5,
    minutes=12,
    text="""\
A batch of whole targets, from `[BOS]` (id 2) to `[EOS]` (id 3), shall become a batch to train on:
what the decoder reads, what it is asked for, and its mask. Here a model that repeats its input has
a loss of 0, and the mask does not fit. There are **two** mistakes. **Find both and mend them.** In
messages, item 0 is the inputs, item 1 the answers, item 2 the mask.""",
    hints=(
        "Write down one sentence, such as `[2, 5, 7, 3]`. What is read at each place, and what is "
        "the answer there?",
        "The answer to question $t$ is the token at place $t + 1$. And for how many places is the "
        "mask?",
        "The answers are `ids[:, 1:]`. The mask belongs to the inputs: cut first, then make it "
        "from what was cut.",
    ),
    stub='''\
def questions_and_answers(ids):
    """Inputs, answers and mask. It has two mistakes: find them and mend them.

    ids: int64 tensor (N, T + 1), from [BOS] to [EOS], 0 is padding
    Returns: inputs (N, T), answers (N, T), mask (N, 1, T, T) for the inputs, True = hidden
    """
    places = ids.shape[1]
    future = torch.ones(places, places, dtype=torch.bool).triu(1)
    mask = future | (ids == 0)[:, None, None, :]
    inputs = ids[:, :-1]
    answers = ids[:, :-1]
    return inputs, answers, mask
''',
    solution='''\
def questions_and_answers(ids):
    """Inputs, answers and mask.

    ids: int64 tensor (N, T + 1), from [BOS] to [EOS], 0 is padding
    Returns: inputs (N, T), answers (N, T), mask (N, 1, T, T) for the inputs, True = hidden
    """
    inputs = ids[:, :-1]
    answers = ids[:, 1:]
    places = inputs.shape[1]
    future = torch.ones(places, places, dtype=torch.bool).triu(1)
    mask = future | (inputs == 0)[:, None, None, :]
    return inputs, answers, mask
''',
    because="Each place is asked for the token one step later, under the mask of what is read.",
    reference=_questions_and_answers,
    cases=_cases_of_targets,
    forbidden=(causal_mask, padding_mask),
    mistakes=(
        (
            "As it was: a model that repeats its input has a loss of 0, and the mask is one place "
            "too large.",
            lambda ids: _cut(ids, answer=0, mask_of=ids),
        ),
        (
            "The answers are right now, but the mask is still made from the sentence before it was "
            "cut; it is one place too large.",
            lambda ids: _cut(ids, mask_of=ids),
        ),
        (
            "The mask is right now, but each place is still asked for the token that it reads; the "
            "answer is the token one step later.",
            lambda ids: _cut(ids, answer=0),
        ),
        (
            "Inputs and answers have changed places: the decoder reads all tokens but the last, "
            "and is asked for all but the first.",
            lambda ids: _cut(ids, first=1, answer=0),
        ),
        (
            "The first token is cut from the inputs as well as from the answers, so each place is "
            "still asked for what it reads.",
            lambda ids: _cut(ids, first=1, answer=1),
        ),
        (
            "Inputs and answers are right now, but the mask is made from the answers; it must hide "
            "the padding of the inputs.",
            lambda ids: _cut(ids, mask_of=ids[:, 1:]),
        ),
        (
            "Inputs and answers are right now, but the mask no longer hides padding.",
            _future_alone,
        ),
        (
            "Inputs and answers are right now, but the mask hides the diagonal; a place may see "
            "the token that it reads.",
            _without_diagonal,
        ),
        (
            "Inputs and answers are right now, but the mask is turned over; `True` hides.",
            lambda ids: (*_cut(ids)[:2], ~_cut(ids)[2]),
        ),
        (
            "The answers are not cut: they still hold [BOS], which is never asked for.",
            lambda ids: (_cut(ids)[0], ids, _cut(ids)[2]),
        ),
        (
            "The inputs are not cut: nothing comes after the last token, so it asks nothing.",
            lambda ids: (ids, ids[:, 1:], _decoder_mask(ids)),
        ),
    ),
    wrong={
        """\
def questions_and_answers(ids):
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (ids == 0)[:, None, None]
    return ids[:, :-1], ids[:, 1:], mask
""": "before it was cut",
        """\
def questions_and_answers(ids):
    inputs = answers = ids[:, :-1]
    T = inputs.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (inputs == 0)[:, None, None]
    return inputs, answers, mask
""": "still asked for the token that it reads",
        """\
def questions_and_answers(ids):
    inputs, answers = ids[:, 1:], ids[:, :-1]
    T = inputs.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (inputs == 0)[:, None, None]
    return inputs, answers, mask
""": "changed places",
        """\
def questions_and_answers(ids):
    ids = ids[:, 1:]
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (ids == 0)[:, None, None]
    return ids, ids, mask
""": "still asked for what it reads",
        """\
def questions_and_answers(ids):
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (ids == 0)[:, None, None]
    return ids[:, :-1], ids[:, 1:], mask[:, :, 1:, 1:]
""": "made from the answers",
        """\
def questions_and_answers(ids):
    N, T = ids.shape
    mask = torch.ones(N, 1, T - 1, T - 1, dtype=torch.bool).triu(1)
    return ids[:, :-1], ids[:, 1:], mask
""": "no longer hides padding",
        """\
def questions_and_answers(ids):
    inputs, answers = ids[:, :-1], ids[:, 1:]
    T = inputs.shape[1]
    mask = torch.ones(T, T).triu().bool() | (inputs == 0)[:, None, None]
    return inputs, answers, mask
""": "hides the diagonal",
        """\
def questions_and_answers(ids):
    inputs, answers = ids[:, :-1], ids[:, 1:]
    T = inputs.shape[1]
    seen = torch.ones(T, T).tril().bool() & (inputs != 0)[:, None, None]
    return inputs, answers, seen
""": "turned over",
        """\
def questions_and_answers(ids):
    inputs, answers = ids, ids[:, 1:]
    T = inputs.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (inputs == 0)[:, None, None]
    return inputs, answers, mask
""": "inputs are not cut",
        """\
def questions_and_answers(ids):
    inputs, answers = ids[:, :-1], ids[:, 1:]
    T = inputs.shape[1]
    return inputs, answers, torch.ones(T, T).triu(1).bool()
""": "of shape (1, 1)",
    },
    right=(
        """\
def questions_and_answers(ids):
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (ids == 0)[:, None, None]
    return ids[:, :-1], ids[:, 1:], mask[:, :, :-1, :-1]
""",
        """\
def questions_and_answers(ids):
    inputs = ids[:, :-1]
    answers = ids.roll(-1, dims=1)[:, :-1]
    place = torch.arange(inputs.shape[1])
    seen = (place <= place[:, None]) & (inputs != 0)[:, None, None, :]
    return inputs, answers, ~seen
""",
    ),
)

EXERCISES = (
    seen_means,
    decoder_mask,
    ask_the_source,
    questions_and_answers,
    sees_the_future,
    write_greedily,
)
