"""One more token, and nothing computed twice."""

import torch

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import WRITE, Exercise


def _attend_newest(q, k, v, K, V):
    K = torch.cat([K, k], dim=-2)  # (..., t + 1, d_k)
    V = torch.cat([V, v], dim=-2)  # (..., t + 1, d_v)
    return compute_attention_matrix(q, K) @ V, K, V


def _cases_of_steps():
    for N, t, d_k, d_v in [((), 1, 2, 1), ((), 0, 2, 3), ((2,), 3, 2, 3), ((2, 3), 4, 5, 2)]:
        q, k, K = (torch.randn(*N, rows, d_k) for rows in (1, 1, t))
        v, V = (torch.randn(*N, rows, d_v) for rows in (1, t))
        yield q, k, v, K, V


def _in_front(q, k, v, K, V):
    K, V = torch.cat([k, K], dim=-2), torch.cat([v, V], dim=-2)
    return compute_attention_matrix(q, K) @ V, K, V


def _not_itself(q, k, v, K, V):
    Y = compute_attention_matrix(q, K) @ V
    return Y, torch.cat([K, k], dim=-2), torch.cat([V, v], dim=-2)


def _old_cache(q, k, v, K, V):
    return _attend_newest(q, k, v, K, V)[0], K, V


def _itself_alone(q, k, v, K, V):
    return v, *_attend_newest(q, k, v, K, V)[1:]


attend_newest = Exercise(
    name="attend_newest",
    chapter="08",
    section="Nothing twice: the cache",
    kind=WRITE,
    title="One more token",
    goal="Continue attention by one token, with keys and values that are kept.",
    difficulty=2,
    importance=5,
    minutes=6,
    text="""\
The newest token brings its query, key and value. `K` and `V` hold those of all tokens before it.
Add the new key and value behind the old ones, and let the query attend to all of them. Any number
of dimensions may stand in front.""",
    hints=(
        "Three lines: the longer keys, the longer values, the result.",
        "`torch.cat([K, k], dim=-2)` puts a row below the others. The newest token sees itself "
        "too, so add first and attend then.",
        "`compute_attention_matrix(q, K)` gives weights of shape (..., 1, t + 1); times V. No mask "
        "is needed: the future is not there yet. Return the longer K and V too.",
    ),
    setup="from tutor.attention import compute_attention_matrix\n",
    stub='''\
def attend_newest(q, k, v, K, V):
    """q, k, v: (..., 1, d_k or d_v), of the newest token. K, V: (..., t, d_k or d_v), kept.

    Returns its result (..., 1, d_v), and the K and V to keep."""
    ...  # three lines
''',
    solution="""\
def attend_newest(q, k, v, K, V):
    K = torch.cat([K, k], dim=-2)  # (..., t + 1, d_k)
    V = torch.cat([V, v], dim=-2)  # (..., t + 1, d_v)
    return compute_attention_matrix(q, K) @ V, K, V  # (..., 1, d_v), and what is kept
""",
    because="One query meets all keys; old queries are asked no more.",
    reference=_attend_newest,
    cases=_cases_of_steps,
    mistakes=(
        (
            "The newest token does not see itself: add its key and value first, then attend.",
            _not_itself,
        ),
        (
            "The result is right, but you return the old K and V: the next token would not see "
            "this one.",
            _old_cache,
        ),
        (
            "The newest key and value stand in front. They belong behind the others, in the order "
            "of the sentence.",
            _in_front,
        ),
        (
            "The token sees itself alone. Let its query meet the kept keys too.",
            _itself_alone,
        ),
        (
            "Only the keys have grown; the values need a new row too.",
            lambda q, k, v, K, V: (
                compute_attention_matrix(q, torch.cat([K, k], dim=-2)) @ V,
                torch.cat([K, k], dim=-2),
                V,
            ),
        ),
        (
            "Return three things: the result, the longer K and the longer V.",
            lambda q, k, v, K, V: _attend_newest(q, k, v, K, V)[0],
        ),
        (
            "The scores are not divided by the square root of d_k, as `compute_attention_matrix` "
            "does.",
            lambda q, k, v, K, V: (
                (q @ torch.cat([K, k], dim=-2).mT).softmax(-1) @ torch.cat([V, v], dim=-2),
                torch.cat([K, k], dim=-2),
                torch.cat([V, v], dim=-2),
            ),
        ),
        (
            "You join along the width, the last dimension. A token more is a row more: dim=-2.",
            lambda q, k, v, K, V: (
                compute_attention_matrix(q, torch.cat([K, k], dim=-1)) @ torch.cat([V, v], dim=-1)
            ),
        ),
    ),
    wrong={
        """\
def attend_newest(q, k, v, K, V):
    Y = compute_attention_matrix(q, K) @ V
    return Y, torch.cat([K, k], dim=-2), torch.cat([V, v], dim=-2)
""": "does not see itself",
        """\
def attend_newest(q, k, v, K, V):
    keys, values = torch.cat([K, k], dim=-2), torch.cat([V, v], dim=-2)
    return compute_attention_matrix(q, keys) @ values, K, V
""": "old K and V",
        """\
def attend_newest(q, k, v, K, V):
    K = torch.cat([k, K], dim=-2)
    V = torch.cat([v, V], dim=-2)
    return compute_attention_matrix(q, K) @ V, K, V
""": "stand in front",
        """\
def attend_newest(q, k, v, K, V):
    K = torch.cat([K, k], dim=-2)
    V = torch.cat([V, v], dim=-2)
    return compute_attention_matrix(q, k) @ v, K, V
""": "sees itself alone",
        """\
def attend_newest(q, k, v, K, V):
    K = torch.cat([K, k], dim=-2)
    V = torch.cat([V, v], dim=-2)
    return (q @ K.mT).softmax(dim=-1) @ V, K, V
""": "not divided",
    },
    right=(
        """\
def attend_newest(q, k, v, K, V):
    K, V = torch.cat((K, k), -2), torch.cat((V, v), -2)
    A = (q @ K.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)
    return A @ V, K, V
""",
        """\
def attend_newest(q, k, v, K, V):
    K, V = torch.cat([K, k], dim=-2), torch.cat([V, v], dim=-2)
    return F.scaled_dot_product_attention(q, K, V), K, V
""",
    ),
)
