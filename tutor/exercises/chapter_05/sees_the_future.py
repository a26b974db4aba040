"""Write the test that catches a leak."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import WRITE, Exercise


class _Reader(nn.Module):
    """One layer of self-attention; row t of its result is made of the rows that `reads` marks."""

    def __init__(self, reads, d_model, how=""):
        super().__init__()
        self.reads = reads  # (N, T) -> bool tensor that broadcasts to (N, T, T)
        self.how = how
        # Small, so that no row nearly ignores what it reads.
        self.W = nn.Parameter(0.3 * torch.randn(d_model, d_model))

    def forward(self, X):
        hidden = ~self.reads(*X.shape[:2])
        if self.how == "NormFirst":
            X = F.layer_norm(X, X.shape[-1:], eps=1e-12)  # (N, T, d_model)
        Y = compute_attention_matrix(X @ self.W, X, hidden) @ X  # (N, T, d_model)
        if self.how == "Faint":
            past = compute_attention_matrix(X @ self.W, X, ~_past(X.shape[1])) @ X
            Y = past + 1e-3 * (Y - past)
        if self.how == "NormLast":  # as behind a norm, each row sums to 0, here to the last digit
            Y = torch.cat([Y[..., ::2], -Y[..., ::2]], dim=-1)
        return Y


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
    "FirstSentenceLeaks": lambda N, T: _one_sentence_leaks(N, T).flip(0),
    "SecondSentenceLeaks": _one_sentence_leaks,
}


def _cases_of_leaks():
    def case(name, *shape, how=""):
        kind = type(how + name, (_Reader,), {})
        return kind(_READS[name], shape[-1], how).eval(), torch.randn(shape)

    yield case("CarefulDecoder", 1, 1, 2)
    yield case("CarefulDecoder", 1, 2, 3)
    yield case("MaskForgotten", 1, 2, 3)
    for name in _READS:
        yield case(name, 2, 4, 3)
    yield case("CarefulDecoder", 3, 5, 2)
    yield case("FirstRowSeesLast", 1, 5, 2)
    for how in ("NormFirst", "NormLast", "Faint"):
        yield case("MaskForgotten", 2, 3, 4, how=how)
        yield case("CarefulDecoder", 2, 3, 4, how=how)


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


def _orders_anew(first):
    """A leak test that turns the tokens from t + first on around; attention knows no order."""

    def test(model, X):
        Y, found = model(X), False
        for t in range(1, X.shape[1]):
            changed = torch.cat([X[:, : t + first], X[:, t + first :].flip(1)], dim=1)
            found = found or bool(((model(changed) - Y)[:, :t].abs() > 1e-5).any())
        return found

    return test


def _without(kind):
    """A leak test that says False of every model of a kind."""
    return lambda model, X: kind not in type(model).__name__ and _sees_the_future(model, X)


sees_the_future = Exercise(
    name="sees_the_future",
    chapter="05",
    section="It cannot peek, and it reads the source",
    kind=WRITE,
    title="Write the test that catches a leak",
    goal="Test for any decoder whether a row depends on a token that comes after it.",
    difficulty=4,
    importance=5,
    minutes=9,
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
            "Your test says False of every model.",
            lambda model, X: False,
        ),
        (
            "You add one number to all features of a token, or multiply them by one, and a "
            "LayerNorm takes it away again: put another vector in its place.",
            _shifts_all_features,
        ),
        (
            "You change the last token alone, and miss a leak that comes from another one.",
            _leak_test(tokens=lambda T: [T - 1]),
        ),
        (
            "You change token 1 alone, and miss a leak that comes from a later one.",
            _leak_test(tokens=lambda T: range(1, min(T, 2))),
        ),
        (
            "You never change token 1, and miss a leak from it into row 0.",
            _leak_test(tokens=lambda T: range(2, T)),
        ),
        *(
            (
                "You only put later tokens into another order, and attention without places does "
                "not see an order. Put other vectors in their place.",
                _orders_anew(first),
            )
            for first in (0, 1)
        ),
        *(
            (
                "You add up differences or gradients with their signs. Behind a LayerNorm the "
                "numbers of a row add up to 0: look at each of them, or at their squares.",
                _without(kind),
            )
            for kind in ("Norm", "NormLast")  # by rounding, a gradient may not be quite 0
        ),
        (
            "You never change the last token, and miss a leak that comes from it.",
            _leak_test(tokens=lambda T: range(1, T - 1)),
        ),
        (
            "Your test says True of every model that gets two tokens: you look at row t as well, "
            "which may move, or your change (NaN, infinity) spreads through weights of 0. Only "
            "rows before t must stay.",
            _leak_test(rows=lambda moved, t: moved[:, : t + 1]),
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
            "You change or look at the first sentence alone, and miss a leak in another.",
            _leak_test(rows=lambda moved, t: moved[:1, :t]),
        ),
        (
            "You change or look at the last sentence alone, and miss a leak in another.",
            _leak_test(rows=lambda moved, t: moved[-1:, :t]),
        ),
        (
            "You miss a faint leak: whatever is more than rounding counts, so compare with a "
            "tolerance of about 1e-6.",
            _without("Faint"),
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
            "Your test says True of every model, even of one that gets a single token. Row t reads "
            "token t and may move; only the rows before t must stay.",
            lambda model, X: True,
        ),
    ),
    wrong={
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(2, X.shape[1]):
        changed = X.clone()
        changed[:, t] = torch.randn(X.shape[-1])
        if not torch.allclose(model(changed)[:, :t], Y[:, :t], atol=1e-6):
            return True
    return False
""": "never change token 1",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t:] = X[:, t:].flip(1)
        if not torch.allclose(model(changed)[:, :t], Y[:, :t], atol=1e-6):
            return True
    return False
""": "into another order",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(X.shape[1]):
        changed = torch.cat([X[:, :t + 1], X[:, t + 1:].flip(1)], dim=1)
        if ((model(changed) - Y)[:, :t + 1].abs() > 1e-5).any():
            return True
    return False
""": "into another order",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] = torch.randn(X.shape[-1])
        if (model(changed)[:, :t] - Y[:, :t]).mean().abs() > 1e-6:
            return True
    return False
""": "with their signs",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[0, t] = torch.randn(X.shape[-1])
        if not torch.allclose(model(changed)[:, :t], Y[:, :t], atol=1e-6):
            return True
    return False
""": "change or look at the first sentence",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] = changed[:, t] + 5
        if not torch.allclose(model(changed)[:, :t], Y[:, :t], atol=1e-6):
            return True
    return False
""": "LayerNorm takes it away",
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
""": "gets a single token",
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
        (g,) = torch.autograd.grad(Y[t].square().sum(), x, retain_graph=True)
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
        """\
def sees_the_future(model, X):
    return False
""": "says False of every model",
        """\
def sees_the_future(model, X):
    return not torch.equal(model(X)[:, :-1], model(X.clone())[:, :-1])
""": "says False of every model",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] = 9 * torch.randn(X.shape[-1])
        if not torch.allclose(model(changed)[:, :t], Y[:, :t], atol=0.1):
            return True
    return False
""": "a faint leak",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] = torch.randn(X.shape[-1])
        if not torch.allclose(model(changed)[-1, :t], Y[-1, :t], atol=1e-6):
            return True
    return False
""": "last sentence alone",
        """\
def sees_the_future(model, X):
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] *= 2
        if not torch.allclose(model(changed)[:, :t], Y[:, :t], atol=1e-6):
            return True
    return False
""": "or multiply them by one",
        """\
def sees_the_future(model, X):
    X = X.clone().requires_grad_()
    Y = model(X)
    for t in range(X.shape[1]):
        (g,) = torch.autograd.grad(Y[:, t].sum(), X, retain_graph=True)
        if g[:, t + 1:].any():
            return True
    return False
""": "differences or gradients with their signs",
        """\
def sees_the_future(model, X):
    X = X.clone().requires_grad_()
    Y = model(X)
    for t in range(X.shape[1]):
        (g,) = torch.autograd.grad(Y[:, t].square().sum(), X)
        if g[:, t + 1:].any():
            return True
    return False
""": "has one backward pass",
        """\
def sees_the_future(model, X):
    for t in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, t] = float("nan")
        if model(changed)[:, :t].isnan().any():
            return True
    return False
""": "NaN, infinity",
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
        """\
@torch.no_grad()
def sees_the_future(model, X):
    model.eval()
    Y = model(X)
    for t in range(1, X.shape[1]):
        changed = torch.cat([X[:, :t], torch.randn_like(X[:, t:])], dim=1)
        if (model(changed)[:, :t] - Y[:, :t]).abs().max() > 1e-5:
            return True
    return False
""",
    ),
)
