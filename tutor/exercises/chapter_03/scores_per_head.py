"""Right with one head."""

import math

import torch

from tutor.check.exercise import MEND, Exercise
from tutor.museum import EXHIBITS

_SCORES = EXHIBITS["scores_of_all_heads"]


def _scores_of_heads(Q, K, num_heads):
    return _SCORES.mended(Q, K, Q.shape[-1], num_heads)


def _cases_of_scores():
    for N, T, S, d_k, h in [((), 1, 3, 2, 1), ((), 1, 3, 1, 2), ((1,), 4, 2, 3, 5)]:
        yield torch.randn(*N, T, h * d_k), torch.randn(*N, S, h * d_k), h
    yield torch.randn(2, 5, 12), torch.randn(2, 7, 12), 3
    yield torch.zeros(2, 3, 8), torch.randn(2, 5, 8), 2


scores_per_head = Exercise(
    name="scores_per_head",
    chapter="03",
    section="The whole, in code",
    kind=MEND,
    title="Right with one head",
    goal="Tell the width of a head from the width of the model.",
    difficulty=2,
    importance=4,
    minutes=6,
    text="""\
A tutorial computes the scores of all heads so. With one head they are those of PyTorch; the more
heads, the more evenly a fresh model spreads its weights. **Find the mistake and mend it.**""",
    hints=(
        "Queries and keys of variance 1: which variance should a score have after the division?",
        "What is `Q.shape[-1]` in each of the three lines?",
        "A score is a sum of $d_k$ products, and $d_k$ is the width of one head.",
    ),
    stub='''\
def scores_per_head(Q, K, num_heads):
    """Scaled scores of every head. It has a mistake: find it and mend it.

    Q: float tensor (..., T, h * d_k)
    K: float tensor (..., S, h * d_k)
    num_heads: int, h
    Returns E: float tensor (..., h, T, S)
    """
    scale = math.sqrt(Q.shape[-1])
    Q = Q.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, T, d_k)
    K = K.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, S, d_k)
    return Q @ K.transpose(-2, -1) / scale  # (..., h, T, S)
''',
    solution='''\
def scores_per_head(Q, K, num_heads):
    """Scaled scores of every head.

    Q: float tensor (..., T, h * d_k)
    K: float tensor (..., S, h * d_k)
    num_heads: int, h
    Returns E: float tensor (..., h, T, S)
    """
    Q = Q.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, T, d_k)
    K = K.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, S, d_k)
    return Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., h, T, S)
''',
    because="Once Q is cut, its last dimension is d_k, the width of one head.",
    reference=_scores_of_heads,
    cases=_cases_of_scores,
    mistakes=(
        (
            "As it was: with one head the scores are right, and with h heads their variance is "
            "1 / h.",
            lambda Q, K, h: _SCORES.wrong(Q, K, Q.shape[-1], h),
        ),
        (
            "Now nothing is divided: the scores grow with the width of a head.",
            lambda Q, K, h: _SCORES.wrong(Q, K, 1, h),
        ),
        (
            "Now the scores are divided by d_k; it must be its square root.",
            lambda Q, K, h: _scores_of_heads(Q, K, h) / math.sqrt(Q.shape[-1] // h),
        ),
        (
            "Now the scores are divided by the square root of the number of heads.",
            lambda Q, K, h: _SCORES.wrong(Q, K, h, h),
        ),
        (
            "Now the scores are divided by the root of the width of the model, divided by h: that "
            "is sqrt(d_model) / h and not sqrt(d_model / h).",
            lambda Q, K, h: _SCORES.wrong(Q, K, Q.shape[-1] / h**2, h),
        ),
        (
            "Now the scores are divided by the square root of S, the number of keys.",
            lambda Q, K, h: _SCORES.wrong(Q, K, K.shape[-2], h),
        ),
        (
            "The heads are gone: all columns are in one set of scores.",
            lambda Q, K, h: Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1] // h),
        ),
    ),
    wrong={
        """\
def scores_per_head(Q, K, num_heads):
    d_model = Q.size(-1)
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return torch.einsum("...td,...sd->...ts", q, k) * d_model ** -0.5
""": "as it was",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT
""": "nothing is divided",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT / (Q.shape[-1] / num_heads)
""": "divided by d_k",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT / num_heads ** 0.5
""": "the number of heads",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT / (math.sqrt(Q.shape[-1]) / num_heads)
""": "and not sqrt(d_model / h)",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    E = q @ k.mT
    return E / math.sqrt(E.shape[-1])
""": "number of keys",
        """\
def scores_per_head(Q, K, num_heads):
    return Q @ K.mT / math.sqrt(Q.shape[-1] / num_heads)
""": "heads are gone",
    },
    right=(
        """\
def scores_per_head(Q, K, num_heads):
    d_k = Q.shape[-1] // num_heads
    heads = [Q[..., m * d_k : (m + 1) * d_k] @ K[..., m * d_k : (m + 1) * d_k].mT
             for m in range(num_heads)]
    return torch.stack(heads, dim=-3) / d_k ** 0.5
""",
        """\
def scores_per_head(Q, K, num_heads):
    Q, K = (X.unflatten(-1, (num_heads, -1)) for X in (Q, K))
    return torch.einsum("...thd,...shd->...hts", Q, K) / math.sqrt(Q.size(-1))
""",
    ),
)
