"""A cache that forgets."""

import math

import torch

from tutor.check.exercise import MEND, Exercise


def _in_one_pass(Q, K, V, P, W, late=0, places=None, value_places=None):
    """Banded attention of all tokens at once: token t sees the tokens t - W + 1 to t."""
    T = len(Q)
    places = torch.arange(T) if places is None else places(T)
    t, s = torch.arange(T)[:, None], torch.arange(T)
    hidden = (s > t) | (s <= t - W - late)
    E = (Q + P[places]) @ (K + P[places]).mT / math.sqrt(Q.shape[-1])  # (T, T)
    return E.masked_fill(hidden, -torch.inf).softmax(-1) @ V


def _one_by_one(keep_K=None, keep_V=None, place=lambda t, kept, W: t, old_place=None):
    """The loop, with what is kept and the positions made by functions of their own."""

    def last(X, W):
        return X[-W:]

    def answer(Q, K, V, P, W):
        kept_K, kept_V, rows = K[:0], V[:0], []
        for t in range(len(Q)):
            at = place(t, len(kept_K), W)
            kept_K = (keep_K or last)(torch.cat([kept_K, (K[t] + P[at])[None]]), W)
            kept_V = (keep_V or last)(torch.cat([kept_V, V[t][None]]), W)
            q = Q[t] + P[at if old_place is None else old_place(t, len(kept_K), W)]
            rows.append((kept_K @ q / math.sqrt(len(q))).softmax(0) @ kept_V)
        return torch.stack(rows)

    return answer


def _first(X, W):
    return X[:W]


def _in_the_cache(t, kept, W):
    return kept


def _renumbered(Q, K, V, P, W):
    """Keys without positions are kept; they are numbered anew from 0 at each step."""
    rows = []
    for t in range(len(Q)):
        k, v = K[max(0, t - W + 1) : t + 1], V[max(0, t - W + 1) : t + 1]
        q = Q[t] + P[len(k) - 1]
        rows.append(((k + P[: len(k)]) @ q / math.sqrt(len(q))).softmax(0) @ v)
    return torch.stack(rows)


def _one_before(X, W):
    """Cut before the newest is added: with W = 1, [-0:] is everything."""
    return torch.cat([X[:-1][-(W - 1) :], X[-1:]])


def _all(X, W):
    return X


def _without_a_message(answer):
    """What it raises then stands for any exception of its class."""

    def without(*given):
        try:
            return answer(*given)
        except RuntimeError:
            raise RuntimeError from None

    return without


def _of_one_place(Q, K, V, P, W):
    """Keys are kept without positions; all of them get that of the newest token."""
    rows = []
    for t in range(len(Q)):
        k, v = K[max(0, t - W + 1) : t + 1], V[max(0, t - W + 1) : t + 1]
        q = Q[t] + P[t]
        rows.append(((k + P[t]) @ q / math.sqrt(len(q))).softmax(0) @ v)
    return torch.stack(rows)


def _one_too_few(X, W):
    return X[-W + 1 :]


def _cases_of_windows():
    for T, W in [(1, 1), (2, 2), (3, 1), (4, 2), (6, 3), (9, 4), (5, 9)]:
        yield torch.randn(T, 4), torch.randn(T, 4), torch.randn(T, 3), torch.randn(T, 4), W


_AS_IT_WAS = _one_by_one(keep_V=_first, place=_in_the_cache)

rolling_cache = Exercise(
    name="rolling_cache",
    chapter="08",
    section="Nothing twice: the cache",
    kind=MEND,
    title="A cache that forgets",
    goal="Keep the last W tokens in a cache, and let the positions go on.",
    difficulty=3,
    importance=4,
    minutes=9,
    text="""\
A cache grows with every token. Some models therefore look back at the **last $W$ tokens** alone,
the newest one included, and their cache holds no more. The function below writes a text token by
token in this way, for one head. Its position $t$ stands in the row `P[t]`, which is added to the
token's query and key (as positions are added to embeddings, here one step later).

Up to $W$ tokens it agrees with attention in one pass, and so its author was content. Behind that it
makes **two silent mistakes. Find both and mend them.** A token's position is its place in the whole
text: it does not change when older tokens are forgotten.""",
    hints=(
        "Let $W = 2$ and write down, for the tokens 0, 1, 2, 3, what the cache of keys holds after "
        "each step, what the cache of values holds, and which row of `P` was added.",
        "Which token's value stands beside the newest key? And how does `len(kept_K)` go on when "
        "the cache is full?",
        "`[-W:]` keeps the last W rows, `[:W]` the first. The position of the newest token is "
        "`t`, however long the cache is.",
    ),
    stub='''\
def rolling_cache(Q, K, V, P, W):
    """Attention of each token to the last W tokens. It has two mistakes: mend them.

    Q, K: float tensors (T, d_k), V: float tensor (T, d_v), of the tokens of a text, in order
    P: float tensor (T, d_k), the positions; W: int, at least 1
    Returns float tensor (T, d_v)
    """
    kept_K, kept_V, rows = K[:0], V[:0], []  # nothing yet
    for t in range(len(Q)):
        position = P[len(kept_K)]  # (d_k)
        kept_K = torch.cat([kept_K, (K[t] + position)[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[:W]
        E = kept_K @ (Q[t] + position) / math.sqrt(len(position))  # (kept)
        rows.append(E.softmax(dim=0) @ kept_V)  # (d_v)
    return torch.stack(rows)
''',
    solution='''\
def rolling_cache(Q, K, V, P, W):
    """Attention of each token to the last W tokens.

    Q, K: float tensors (T, d_k), V: float tensor (T, d_v), of the tokens of a text, in order
    P: float tensor (T, d_k), the positions; W: int, at least 1
    Returns float tensor (T, d_v)
    """
    kept_K, kept_V, rows = K[:0], V[:0], []  # nothing yet
    for t in range(len(Q)):
        position = P[t]  # (d_k)
        kept_K = torch.cat([kept_K, (K[t] + position)[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[-W:]
        E = kept_K @ (Q[t] + position) / math.sqrt(len(position))  # (kept)
        rows.append(E.softmax(dim=0) @ kept_V)  # (d_v)
    return torch.stack(rows)
''',
    because="A test with a text shorter than the window sees neither mistake.",
    reference=_in_one_pass,
    cases=_cases_of_windows,
    mistakes=(
        (
            "As it was: up to W tokens all is well, and the first token behind them goes wrong.",
            _AS_IT_WAS,
        ),
        (
            "One mistake is left. The values are right now, but the positions still stand still "
            "when the cache is full.",
            _one_by_one(place=_in_the_cache),
        ),
        (
            "One mistake is left. The positions are right now, but a key and the value beside it "
            "are still of different tokens.",
            _one_by_one(keep_V=_first),
        ),
        (
            "Now keys and values belong together, but both are of the first W tokens, so that the "
            "newest never enters a full cache. Keep the last ones.",
            _one_by_one(_first, _first),
        ),
        (
            "Two mistakes are left. One of them: keys and values belong together now, but the "
            "newest token never enters a full cache.",
            _one_by_one(_first, _first, _in_the_cache),
        ),
        (
            "Your window has W + 1 tokens: the newest one counts too.",
            lambda Q, K, V, P, W: _in_one_pass(Q, K, V, P, W, late=1),
        ),
        (
            "Your window has W - 1 tokens (and with W = 1 all of them): `[-W + 1:]` begins one too "
            "late.",
            _one_by_one(_one_too_few, _one_too_few),
        ),
        (
            "Positions are one too small from the second token on: token t has `P[t]`.",
            _one_by_one(place=lambda t, kept, W: max(t - 1, 0)),
        ),
        (
            "Your keys have no positions, or all have the newest token's, which comes to the same: "
            "the softmax does not see it. A key keeps the one that its token had.",
            _of_one_place,
        ),
        (
            "The query has lost its position. Query and key of a token both get `P[t]`.",
            lambda Q, K, V, P, W: _in_one_pass(Q - P[: len(Q)], K, V, P, W),
        ),
        (
            "Your cache no longer forgets: all tokens are kept.",
            lambda Q, K, V, P, W: _in_one_pass(Q, K, V, P, len(Q)),
        ),
        (
            "Your cache no longer forgets: its keys and values are cut no more.",
            _one_by_one(lambda X, W: X, lambda X, W: X, lambda t, kept, W: min(t, W)),
        ),
        (
            "Nearly: with W = 1 you keep everything, since `[-0:]` is the whole. Add the newest "
            "first and cut then.",
            _one_by_one(_one_before, _one_before),
        ),
        *(
            (
                "Keys and values no longer have one length. Cut both to the last W tokens.",
                _without_a_message(_one_by_one(keep_K, keep_V)),
            )
            for keep_K, keep_V in ((None, _all), (_all, None), (None, lambda X, W: X[W:]))
        ),
        *(
            (
                "Now the keys are of the first W tokens, and the values of the last. Both are of "
                "the last.",
                _one_by_one(_first, place=place),
            )
            for place in (lambda t, kept, W: t, _in_the_cache)
        ),
        (
            "Positions begin at 0: the first token, t = 0, has `P[0]`.",
            _one_by_one(place=lambda t, kept, W: t + 1),
        ),
        (
            "Positions begin again at 0 after W tokens. A place in a cache may be used again; a "
            "position goes on.",
            _one_by_one(place=lambda t, kept, W: t % W),
        ),
        (
            "Positions stop at W - 1. A position is a place in the whole text and goes on.",
            _one_by_one(place=lambda t, kept, W: min(t, W - 1)),
        ),
        (
            "You number the kept tokens anew at each step, from 0. A position is a place in the "
            "whole text: it stays when older tokens are forgotten.",
            _renumbered,
        ),
        (
            "The key has its position t now, and the query has another. Both belong to the newest "
            "token.",
            _one_by_one(old_place=lambda t, kept, W: kept - 1),
        ),
        (
            "The query has its position t now, and the key has another. Both belong to the newest "
            "token.",
            _one_by_one(place=_in_the_cache, old_place=lambda t, kept, W: t),
        ),
    ),
    wrong={
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = [], [], []
    for t in range(Q.shape[0]):
        p = P[len(kept_K)]
        kept_K = (kept_K + [K[t] + p])[-W:]
        kept_V = (kept_V + [V[t]])[:W]
        E = torch.stack(kept_K) @ (Q[t] + p) / math.sqrt(len(p))
        rows.append(E.softmax(0) @ torch.stack(kept_V))
    return torch.stack(rows)
""": "As it was",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        position = P[len(kept_K)]
        kept_K = torch.cat([kept_K, (K[t] + position)[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[-W:]
        E = kept_K @ (Q[t] + position) / math.sqrt(len(position))
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "The values are right now",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        position = P[t]
        kept_K = torch.cat([kept_K, (K[t] + position)[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[:W]
        E = kept_K @ (Q[t] + position) / math.sqrt(len(position))
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "The positions are right now",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K, (K[t] + P[t])[None]])[:W]
        kept_V = torch.cat([kept_V, V[t][None]])[:W]
        E = kept_K @ (Q[t] + P[t]) / math.sqrt(len(P[t]))
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "both are of the first W tokens",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K[-W:], (K[t] + P[t])[None]])
        kept_V = torch.cat([kept_V[-W:], V[t][None]])
        E = kept_K @ (Q[t] + P[t]) / math.sqrt(len(P[t]))
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "W + 1 tokens",
        """\
def rolling_cache(Q, K, V, P, W):
    Q, K = Q + P, K + P
    E = Q @ K.T / math.sqrt(Q.shape[1])
    hidden = torch.ones_like(E, dtype=torch.bool).triu(1)
    return E.masked_fill(hidden, -torch.inf).softmax(-1) @ V
""": "no longer forgets: all",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        position = P[t % W]
        kept_K = torch.cat([kept_K, (K[t] + position)[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[-W:]
        E = kept_K @ (Q[t] + position) / math.sqrt(len(position))
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "begin again at 0",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K, K[t][None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[-W:]
        n = len(kept_K)
        E = (kept_K + P[:n]) @ (Q[t] + P[n - 1]) / math.sqrt(Q.shape[1])
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "number the kept tokens anew",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        position = P[len(kept_K)]
        kept_K = torch.cat([kept_K, (K[t] + position)[None]])
        kept_V = torch.cat([kept_V, V[t][None]])
        E = kept_K @ (Q[t] + position) / math.sqrt(len(position))
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "no longer forgets",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K[-(W - 1):], (K[t] + P[t])[None]])
        kept_V = torch.cat([kept_V[-(W - 1):], V[t][None]])
        E = kept_K @ (Q[t] + P[t]) / math.sqrt(len(P[t]))
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "`[-0:]` is the whole",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K, (K[t] + P[t])[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])
        E = kept_K @ (Q[t] + P[t]) / math.sqrt(len(P[t]))
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "no longer have one length",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        position = P[t + 1]
        kept_K = torch.cat([kept_K, (K[t] + position)[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[-W:]
        E = kept_K @ (Q[t] + position) / math.sqrt(len(position))
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "Positions begin at 0",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K, (K[t] + P[t])[None]])[-W + 1 :]
        kept_V = torch.cat([kept_V, V[t][None]])[-W + 1 :]
        E = kept_K @ (Q[t] + P[t]) / math.sqrt(Q.shape[1])
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "W - 1 tokens",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K, (K[t] + P[max(t - 1, 0)])[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[-W:]
        E = kept_K @ (Q[t] + P[max(t - 1, 0)]) / math.sqrt(Q.shape[1])
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "one too small",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K, (K[t])[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[-W:]
        E = (kept_K + P[t]) @ (Q[t] + P[t]) / math.sqrt(Q.shape[1])
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "the newest token's, which",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K, (K[t] + P[t])[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[-W:]
        E = kept_K @ (Q[t]) / math.sqrt(Q.shape[1])
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "The query has lost",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K, (K[t])[None]])[-W:]
        kept_V = torch.cat([kept_V, V[t][None]])[-W:]
        E = kept_K @ (Q[t] + P[t]) / math.sqrt(Q.shape[1])
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "have no positions",
        """\
def rolling_cache(Q, K, V, P, W):
    kept_K, kept_V, rows = K[:0], V[:0], []
    for t in range(len(Q)):
        kept_K = torch.cat([kept_K, (K[t] + P[min(t, W)])[None]])[:W]
        kept_V = torch.cat([kept_V, V[t][None]])[:W]
        E = kept_K @ (Q[t] + P[min(t, W)]) / math.sqrt(Q.shape[1])
        rows.append(E.softmax(dim=0) @ kept_V)
    return torch.stack(rows)
""": "Two mistakes are left",
    },
    right=(
        """\
def rolling_cache(Q, K, V, P, W):
    Q, K, rows = Q + P, K + P, []
    for t in range(len(Q)):
        seen = slice(max(0, t + 1 - W), t + 1)
        E = K[seen] @ Q[t] / Q.shape[1] ** 0.5
        rows.append(E.softmax(0) @ V[seen])
    return torch.stack(rows)
""",
        """\
def rolling_cache(Q, K, V, P, W):
    ring_K, ring_V, rows = [None] * W, [None] * W, []
    for t in range(len(Q)):
        ring_K[t % W], ring_V[t % W] = K[t] + P[t], V[t]  # the oldest makes room
        n = min(t + 1, W)
        E = torch.stack(ring_K[:n]) @ (Q[t] + P[t]) / math.sqrt(Q.shape[1])
        rows.append(E.softmax(0) @ torch.stack(ring_V[:n]))
    return torch.stack(rows)
""",
        """\
def rolling_cache(Q, K, V, P, W):
    T = len(Q)
    band = torch.ones(T, T, dtype=torch.bool).tril() & ~torch.ones(T, T, dtype=torch.bool).tril(-W)
    return F.scaled_dot_product_attention(Q + P, K + P, V, attn_mask=band)
""",
    ),
)
