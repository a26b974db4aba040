"""One head from another sentence."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _merge(Y, W_O):
    return Y.transpose(0, 1).flatten(1) @ W_O  # (T, d_model)


def _moved(Y, other, W_O, w, t, patch, merge=_merge):
    """For each head the answer after a patch of its own, and the answers of both runs."""

    def answer(Y):
        return merge(Y, W_O)[t] @ w

    patched = [answer(patch(Y.clone(), m)) for m in range(len(Y))]
    return torch.stack(patched), answer(other), answer(Y)


def _shares(Y, other, W_O, w, t, patch=None, merge=_merge):
    def one_head(X, m):
        X[m, t] = other[m, t]
        return X

    patched, a, b = _moved(Y, other, W_O, w, t, patch or one_head, merge)
    return (patched - b) / (a - b)


def _by(put):
    """Shares after patches that a function of its own makes, in a copy of Y."""

    def shares(Y, other, W_O, w, t):
        def patch(X, m):
            put(X, other, m, t)
            return X

        return _shares(Y, other, W_O, w, t, patch)

    return shares


def _whole(X, other, m, t):
    X[:, t] = other[:, t]


def _off(X, other, m, t):
    X[m] = 0.0


def _all_but_one(X, other, m, t):
    kept = X[m].clone()
    X[:, t] = other[:, t]
    X[m] = kept


def _so_far(X, other, m, t):
    X[: m + 1, t] = other[: m + 1, t]


def _feature(X, other, m, t):
    X[:, t, m % X.shape[2]] = other[:, t, m % X.shape[2]]


def _difference(*given):
    Y, other, W_O, w, t = given
    return _shares(*given) * ((_merge(other, W_O) - _merge(Y, W_O))[t] @ w)


def _of_lengths(Y, other, W_O, w, t):
    """How long each head's change is, as a share of all."""
    W = W_O.unflatten(0, (len(Y), -1))  # (h, d_v, d_model)
    lengths = torch.einsum("hv,hvd->hd", (other - Y)[:, t], W).norm(dim=-1)
    return lengths / lengths.sum()


def _of_this_run(Y, other, W_O, w, t):
    """What each head adds to B's answer, as a share of it: nothing is patched."""
    W = W_O.unflatten(0, (len(Y), -1))
    added = torch.einsum("hv,hvd,d->h", Y[:, t], W, w)
    return added / added.sum()


def _all_tokens(Y, other, W_O, w, t):
    W = W_O.unflatten(0, (len(Y), -1))
    change = torch.einsum("htv,hvd,d->h", other - Y, W, w)
    return change / change.sum()


def _of_distances(Y, other, W_O, w, t):
    W = W_O.unflatten(0, (len(Y), -1))
    lengths = torch.einsum("hv,hvd->hd", (other - Y)[:, t], W).norm(dim=-1)
    return lengths / (_merge(other, W_O) - _merge(Y, W_O))[t].norm()


def _tokens_for_heads(*given):
    def put(X, other, m, t):
        X[:, m] = other[:, m]

    try:
        return _by(put)(*given)
    except IndexError:
        raise IndexError from None  # without a message, any is meant


def _cases_of_heads():
    yield (
        torch.tensor([[[1.0]], [[2.0]]]),
        torch.tensor([[[3.0]], [[3.0]]]),
        torch.tensor([[1.0, 0.0], [1.0, 1.0]]),
        torch.tensor([1.0, 1.0]),
        0,
    )
    for h, T, d_v, d_model, t in [
        (2, 3, 2, 3, 1),
        (3, 4, 2, 5, 2),
        (4, 5, 3, 6, 4),
        (3, 2, 4, 2, 1),
    ]:
        while True:
            Y, other = torch.randn(h, T, d_v), torch.randn(h, T, d_v)
            W_O, w = torch.randn(h * d_v, d_model), torch.randn(d_model)
            answers = [_merge(X, W_O)[t] @ w for X in (Y, other)]
            if min(abs(answers[0] - answers[1]), abs(answers[0]), abs(answers[1])) > 1:
                break  # a share of nearly nothing is only noise
        yield Y, other, W_O, w, t


shares_of_heads = Exercise(
    name="shares_of_heads",
    chapter="10",
    section="Which heads carry it?",
    kind=WRITE,
    title="One head from another sentence",
    goal="Patch heads one by one, and share out a change among them.",
    difficulty=3,
    importance=4,
    minutes=13,
    text="""\
The chapter patches the whole vector of a token. Heads can be patched, too: all heads keep the
results of their own run, and one head at one token gets its result from the other.

`Y` holds the results of the $h$ heads in run B, `other` those in run A (one sentence, no batch).
Put side by side and multiplied with `W_O`, they become the vectors (T, d_model) of the attention.
The *answer* is a number, the product of the vector of token $t$ with `w`. For each head, patch its
result at token $t$ from run A into run B, and return how far B's answer moves: 0 where it stays,
1 where it becomes that of run A. A share may be negative or above 1: leave it so. The heads of
`W_O` stand one below the other, `d_v` rows each. The two answers are never equal.""",
    hints=(
        "One head, $d_v = 1$: the answer changes by (A's result less B's) times the head's row of "
        "`W_O` times `w`. By how much does it change if all heads are patched?",
        "Write a small function `answer(Y)`: `Y.transpose(0, 1).flatten(1) @ W_O`, then row t, "
        "then `@ w`. Call it for B, for A, and for a copy of `Y` with one head patched.",
        "`X = Y.clone()`, `X[m, t] = other[m, t]`, and the share of head m is "
        "`(answer(X) - answer(Y)) / (answer(other) - answer(Y))`.",
    ),
    stub='''\
def shares_of_heads(Y, other, W_O, w, t):
    """How far each head of run A, put into run B at token t, moves B's answer towards A's.

    Y, other: float tensors (h, T, d_v), results of the heads in run B and in run A
    W_O: float tensor (h * d_v, d_model); w: float tensor (d_model); t: int
    Returns float tensor (h,)
    """
    raise NotImplementedError
''',
    solution='''\
def shares_of_heads(Y, other, W_O, w, t):
    """How far each head of run A, put into run B at token t, moves B's answer towards A's.

    Y, other: float tensors (h, T, d_v), results of the heads in run B and in run A
    W_O: float tensor (h * d_v, d_model); w: float tensor (d_model); t: int
    Returns float tensor (h,)
    """
    W_O = W_O.unflatten(0, (len(Y), -1))  # (h, d_v, d_model)
    change = torch.einsum("hv,hvd,d->h", (other - Y)[:, t], W_O, w)  # (h,)
    return change / change.sum()
''',
    because="They sum to 1: up to here heads add up. What later layers make of it does not.",
    reference=_shares,
    cases=_cases_of_heads,
    tolerance=1e-3,
    mistakes=(
        (
            "You patch all heads at once, the whole vector. One head at a time.",
            _by(_whole),
        ),
        (
            "You switch the head off. It gets its result from the other run.",
            _by(_off),
        ),
        (
            "That is the share of all the other heads together, or what is left of B's answer. "
            "One head comes from run A, the others stay.",
            _by(_all_but_one),
        ),
        (
            "A head that was patched stays patched for the next ones: begin each time with a copy "
            "of `Y`.",
            _by(_so_far),
        ),
        (
            "You patch one feature of all heads. A head is the first dimension of `Y`.",
            _by(_feature),
        ),
        (
            "You report by how much the answer moves. A share is divided by A's answer less B's.",
            _difference,
        ),
        (
            "The sign is turned over: divide by A's answer less B's.",
            lambda *given: -_shares(*given),
        ),
        (
            "You clamp the shares. Heads may pull against each other, and then a share is below 0 "
            "or above 1.",
            lambda *given: _shares(*given).clamp(0, 1),
        ),
        (
            "You take absolute values. A head that moves the answer away from A's has a negative "
            "share.",
            lambda *given: _shares(*given).abs(),
        ),
        (
            "You take absolute values. A head that moves the answer away from A's has a negative "
            "share.",
            lambda *given: _shares(*given).abs() / _shares(*given).abs().sum(),
        ),
        (
            "You compare lengths. A long change may be one that `w` does not see: take the "
            "product with `w`.",
            _of_lengths,
        ),
        (
            "Nothing comes from the other run here: you share out B's own answer.",
            _of_this_run,
        ),
        (
            "You share out A's own answer. Asked for is the change from B to A.",
            lambda Y, other, W_O, w, t: _of_this_run(other, Y, W_O, w, t),
        ),
        (
            "You add up over all tokens. Only token t is patched, and the answer is read from it.",
            _all_tokens,
        ),
        (
            "You make shares with a softmax. A share is the change by this head, divided by the "
            "change by all.",
            lambda *given: _difference(*given).softmax(0),
        ),
        (
            "You compare how far the vector moves, not the answer. The answer is its product with "
            "`w`.",
            _of_distances,
        ),
        (
            "You switch heads off in run A. Each head of A is put into run B, one by one.",
            lambda Y, other, W_O, w, t: _shares(
                Y, other, W_O, w, t, lambda X, m: other.index_fill(0, torch.tensor([m]), 0.0)
            ),
        ),
        (
            "You patch a token of all heads. A head is the first dimension, a token the second: "
            "`X[m, t]`.",
            _tokens_for_heads,
        ),
        (
            "The heads are joined without swapping heads and tokens: transpose first, so that the "
            "results of one token stand side by side.",
            lambda Y, other, W_O, w, t: _shares(
                Y, other, W_O, w, t, merge=lambda X, W: X.reshape(X.shape[1], -1) @ W
            ),
        ),
        (
            "Your heads meet every h-th row of `W_O`. The rows of a head stand one below the "
            "other, d_v of them.",
            lambda Y, other, W_O, w, t: _shares(
                Y, other, W_O.unflatten(0, (-1, len(Y))).transpose(0, 1).flatten(0, 1), w, t
            ),
        ),
        (
            "You read the answer from the first token. It is read from token t.",
            lambda Y, other, W_O, w, t: _shares(Y, other, W_O, w, 0),
        ),
        (
            "You read the answer from the last token. It is read from token t.",
            lambda Y, other, W_O, w, t: _shares(Y, other, W_O, w, -1),
        ),
        (
            "You divide by A's answer alone. The way is from B's to A's.",
            lambda Y, other, W_O, w, t: (
                _difference(Y, other, W_O, w, t) / (_merge(other, W_O)[t] @ w)
            ),
        ),
        (
            "You divide by B's answer alone. The way is from B's to A's.",
            lambda Y, other, W_O, w, t: _difference(Y, other, W_O, w, t) / (_merge(Y, W_O)[t] @ w),
        ),
        (
            "You report the patched answers themselves. Asked for is how far they are on the way "
            "from B's to A's.",
            lambda Y, other, W_O, w, t: _difference(Y, other, W_O, w, t) + _merge(Y, W_O)[t] @ w,
        ),
    ),
    wrong={
        """\
def shares_of_heads(Y, other, W_O, w, t):
    def answer(Y):
        return (Y.transpose(0, 1).flatten(1) @ W_O)[t] @ w
    shares = []
    for m in range(len(Y)):
        X = Y.clone()
        X[:, t] = other[:, t]
        shares.append((answer(X) - answer(Y)) / (answer(other) - answer(Y)))
    return torch.stack(shares)
""": "all heads at once",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    def answer(Y):
        return (Y.transpose(0, 1).flatten(1) @ W_O)[t] @ w
    X, shares = Y.clone(), []
    for m in range(len(Y)):
        X[m, t] = other[m, t]
        shares.append((answer(X) - answer(Y)) / (answer(other) - answer(Y)))
    return torch.stack(shares)
""": "stays patched",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    def answer(Y):
        return (Y.transpose(0, 1).flatten(1) @ W_O)[t] @ w
    shares = []
    for m in range(len(Y)):
        X = Y.clone()
        X[m, t] = other[m, t]
        shares.append(answer(X) - answer(Y))
    return torch.stack(shares)
""": "by how much the answer moves",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    def answer(Y):
        return (Y.reshape(Y.shape[1], -1) @ W_O)[t] @ w
    shares = []
    for m in range(len(Y)):
        X = Y.clone()
        X[m, t] = other[m, t]
        shares.append((answer(X) - answer(Y)) / (answer(other) - answer(Y)))
    return torch.stack(shares)
""": "transpose first",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    def answer(Y):
        return (Y.transpose(0, 1).flatten(1) @ W_O)[t] @ w
    shares = []
    for m in range(len(Y)):
        X = other.clone()
        X[m, t] = Y[m, t]
        shares.append((answer(X) - answer(Y)) / (answer(other) - answer(Y)))
    return torch.stack(shares)
""": "all the other heads together",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    W = W_O.unflatten(0, (len(Y), -1))
    change = torch.einsum("hv,hvd->hd", (other - Y)[:, t], W).norm(dim=1)
    return change / change.sum()
""": "You compare lengths",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    def answer(Y):
        return (Y.transpose(0, 1).flatten(1) @ W_O)[t] @ w
    shares = []
    for m in range(len(Y)):
        X = Y.clone()
        X[m] = 0
        shares.append((answer(X) - answer(Y)) / (answer(other) - answer(Y)))
    return torch.stack(shares)
""": "switch the head off",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    W_O = W_O.unflatten(0, (len(Y), -1))
    change = torch.einsum("hv,hvd,d->h", (other - Y)[:, t], W_O, w)
    return (change / change.sum()).clamp(0, 1)
""": "You clamp",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    W_O = W_O.unflatten(0, (len(Y), -1))
    change = torch.einsum("hv,hvd,d->h", (other - Y)[:, t], W_O, w).abs()
    return change / change.sum()
""": "absolute values",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    h, d_v = Y.shape[0], Y.shape[2]
    change = torch.stack([(other - Y)[m, t] @ W_O[m::h] @ w for m in range(h)])
    return change / change.sum()
""": "every h-th row",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    for m in range(len(Y)):
        Y[m, t] = other[m, t]
    return torch.ones(len(Y))
""": "changes its argument `Y`",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    W_O = W_O.unflatten(0, (len(Y), -1))
    change = torch.einsum("htv,hvd,d->h", other - Y, W_O, w)
    return change / change.sum()
""": "You add up over all tokens",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    def vector(Y):
        return (Y.transpose(0, 1).flatten(1) @ W_O)[t]
    shares = []
    for m in range(len(Y)):
        X = Y.clone()
        X[m, t] = other[m, t]
        shares.append((vector(X) - vector(Y)).norm() / (vector(other) - vector(Y)).norm())
    return torch.stack(shares)
""": "how far the vector moves",
    },
    right=(
        """\
def shares_of_heads(Y, other, W_O, w, t):
    def answer(Y):
        return (Y.transpose(0, 1).flatten(1) @ W_O)[t] @ w

    shares = []
    for m in range(len(Y)):
        X = Y.clone()
        X[m, t] = other[m, t]
        shares.append((answer(X) - answer(Y)) / (answer(other) - answer(Y)))
    return torch.stack(shares)
""",
        """\
def shares_of_heads(Y, other, W_O, w, t):
    d_v, moved = Y.shape[2], []
    for m in range(Y.shape[0]):
        rows = W_O[m * d_v : (m + 1) * d_v] @ w  # (d_v,)
        moved.append(float((other[m, t] - Y[m, t]) @ rows))
    return torch.tensor([x / sum(moved) for x in moved])
""",
    ),
)
