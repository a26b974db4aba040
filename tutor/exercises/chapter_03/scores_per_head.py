"""Right with one head."""

import math

import torch

from tutor.attention import slice_vertically
from tutor.check.exercise import MEND, Exercise


def _cut(X, h):
    return slice_vertically(X, X.shape[-1] // h)  # (..., h, T, width)


def _torn(X, h):
    """Heads in the order of memory, so that words are torn apart."""
    return X.reshape(*X.shape[:-2], h, -1, X.shape[-1] // h)  # (..., h, T, width)


def _in_turn(X, h):
    """The columns are dealt out to the heads."""
    return X.unflatten(-1, (-1, h)).movedim(-1, -3)  # (..., h, T, width)


def _scores(under_the_root=lambda Q, K, h: Q.shape[-1] // h, of_queries=_cut, of_keys=None):
    """Scores with a step that may be wrong."""

    def scores_per_head(Q, K, h):
        E = of_queries(Q, h) @ (of_keys or of_queries)(K, h).mT  # (..., h, T, S)
        return E / math.sqrt(under_the_root(Q, K, h))

    return scores_per_head


def _of_all(Q, K, h):
    """The width of all heads together."""
    return Q.shape[-1]


def _cases_of_scores():
    for N, T, S, d_k, h in [((), 1, 3, 2, 1), ((), 2, 3, 1, 2), ((1,), 4, 2, 3, 5)]:
        yield torch.randn(*N, T, h * d_k), torch.randn(*N, S, h * d_k), h
    yield torch.randn(2, 5, 12), torch.randn(2, 7, 12), 3
    yield torch.randn(2, 3, 8, 6), torch.randn(2, 3, 5, 6), 2


_NAMED = {  # what is said: what stands under the root
    "Now nothing is divided: the scores grow with the width of a head.": lambda Q, K, h: 1,
    "Now the scores are divided by d_k; it must be its square root.": (
        lambda Q, K, h: (Q.shape[-1] // h) ** 2
    ),
    "Now the scores are divided by the square root of the number of heads.": lambda Q, K, h: h,
    "Now the scores are divided by the root of the width of the model, divided by h: that is "
    "sqrt(d_model) / h and not sqrt(d_model / h).": lambda Q, K, h: Q.shape[-1] / h**2,
    "Now the scores are divided by the square root of S, the number of keys.": (
        lambda Q, K, h: K.shape[-2]
    ),
    "Now the scores are divided by the square root of T, the number of queries.": (
        lambda Q, K, h: Q.shape[-2]
    ),
    "`Q.shape[1]` is counted from the front, so a batch moves it. The width is the last "
    "dimension.": lambda Q, K, h: Q.shape[1],
    "`shape[1]` is counted from the front, so a batch moves it. The width is the last "
    "dimension.": lambda Q, K, h: _cut(Q, h).shape[1],
}

scores_per_head = Exercise(
    name="scores_per_head",
    chapter="03",
    section="The whole, in code",
    kind=MEND,
    title="Right with one head",
    goal="Know what one head hides: how words are cut, and the width of a head.",
    difficulty=3,
    importance=4,
    minutes=6,
    text="""\
A tutorial computes the scaled scores of all heads so. With one head they are those of PyTorch. With
more heads every shape is still right and the numbers are not: there are **two** mistakes. **Find
and mend them.** Gradients must flow to Q and K, and any number of batch dimensions may stand in
front.""",
    hints=(
        "Write down `Q` for two words and two heads of width 1. Whose numbers does head 0 get?",
        "Split each row first, then swap words and heads. And: a score is a sum of how many "
        "products?",
        "`Q.unflatten(-1, (num_heads, -1)).transpose(-3, -2)`, the same for `K`, and the root of "
        "the width of *one* head.",
    ),
    stub='''\
def scores_per_head(Q, K, num_heads):
    """Scaled scores of every head. It has two mistakes: find them and mend them.

    Q: float tensor (..., T, h * d_k)
    K: float tensor (..., S, h * d_k)
    num_heads: int, h
    Returns E: float tensor (..., h, T, S)
    """
    width = Q.shape[-1]
    Q = Q.reshape(*Q.shape[:-2], num_heads, -1, width // num_heads)  # (..., h, T, d_k)
    K = K.reshape(*K.shape[:-2], num_heads, -1, width // num_heads)  # (..., h, S, d_k)
    return Q @ K.transpose(-2, -1) / math.sqrt(width)  # (..., h, T, S)
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
    because="One head hides both mistakes: test with several, and with sizes that differ.",
    reference=_scores(),
    cases=_cases_of_scores,
    gradient=True,
    mistakes=(
        (
            "As it was: with two heads, change the last word, and head 0 does not notice. Two "
            "mistakes are left.",
            _scores(_of_all, _torn),
        ),
        (
            "One mistake is left: change the last word, and head 0 does not notice.",
            _scores(of_queries=_torn),
        ),
        (
            "One mistake is left: where queries and keys have variance 1, that of a score should "
            "be 1, and with h heads it is 1 / h.",
            _scores(_of_all),
        ),
        *(
            (
                "Queries and keys are cut in two ways now, so numbers of different words meet. "
                "Cut both alike.",
                _scores(root, *cuts),
            )
            for root in (lambda Q, K, h: Q.shape[-1] // h, _of_all)
            for cuts in ((_cut, _torn), (_torn, _cut))
        ),
        *((said, _scores(root)) for said, root in _NAMED.items()),
        *(
            (
                "The cut is as it was: change the last word, and head 0 does not notice. And the "
                "number under the root is still another than the width of a head.",
                _scores(root, _torn),
            )
            for root in list(_NAMED.values())[:-1]
        ),
        *(
            (
                "Head m gets every h-th column, as if the heads took turns. The columns of a head "
                "stand side by side.",
                _scores(root, _in_turn),
            )
            for root in (lambda Q, K, h: Q.shape[-1] // h, _of_all)
        ),
        *(
            (
                "Those are weights. Scores are asked for, without the softmax.",
                lambda Q, K, h, root=root: _scores(root)(Q, K, h).softmax(-1),
            )
            for root in (lambda Q, K, h: Q.shape[-1] // h, _of_all)
        ),
        *(
            (
                "The swap of words and heads counts dimensions from the front, so a batch moves "
                "it; count from the end.",
                _scores(root, lambda X, h: X.unflatten(-1, (h, -1)).transpose(1, 2)),
            )
            for root in (lambda Q, K, h: Q.shape[-1] // h, _of_all)
        ),
        *(
            (
                "Split, and not swapped: `@` works on the last two dimensions, which must be words "
                "and width.",
                _scores(root, lambda X, h: X.unflatten(-1, (h, -1))),
            )
            for root in (lambda Q, K, h: Q.shape[-1] // h, _of_all)
        ),
        (
            "Now the scores are multiplied by the root of d_k; divide.",
            _scores(lambda Q, K, h: h / Q.shape[-1]),
        ),
        (
            "The heads are gone: all columns are in one set of scores.",
            lambda Q, K, h: Q @ K.mT / math.sqrt(Q.shape[-1] // h),
        ),
    ),
    wrong={
        """\
def scores_per_head(Q, K, num_heads):
    d_k = Q.shape[-1] // num_heads
    Q = Q.reshape(*Q.shape[:-2], num_heads, -1, d_k)
    K = K.reshape(*K.shape[:-2], num_heads, -1, d_k)
    return Q @ K.mT / math.sqrt(d_k)
""": "One mistake is left: change the last word",
        """\
def scores_per_head(Q, K, num_heads):
    d_model = Q.size(-1)
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return torch.einsum("...td,...sd->...ts", q, k) * d_model ** -0.5
""": "One mistake is left: where queries",
        """\
def scores_per_head(Q, K, num_heads):
    d_k = Q.shape[-1] // num_heads
    Q = Q.unflatten(-1, (num_heads, -1)).transpose(-3, -2)
    K = K.reshape(*K.shape[:-2], num_heads, -1, d_k)
    return Q @ K.mT / math.sqrt(d_k)
""": "cut in two ways",
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
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT / math.sqrt(Q.shape[1])
""": "counted from the front",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT / math.sqrt(q.shape[1])
""": "counted from the front",
        """\
def scores_per_head(Q, K, num_heads):
    d_k = Q.shape[-1] // num_heads
    Q = Q.reshape(*Q.shape[:-2], num_heads, -1, d_k)
    K = K.reshape(*K.shape[:-2], num_heads, -1, d_k)
    return Q @ K.mT / math.sqrt(num_heads)
""": "The cut is as it was",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (X.unflatten(-1, (-1, num_heads)).movedim(-1, -3) for X in (Q, K))
    return q @ k.mT / math.sqrt(q.shape[-1])
""": "took turns",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (X.unflatten(-1, (num_heads, -1)).transpose(-3, -2) for X in (Q, K))
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
""": "Those are weights",
        """\
def scores_per_head(Q, K, num_heads):
    return Q @ K.mT / math.sqrt(Q.shape[-1] / num_heads)
""": "heads are gone",
        """\
def scores_per_head(Q, K, num_heads):
    d_k = Q.shape[-1] // num_heads
    Q = Q.reshape(*Q.shape[:-1], num_heads, d_k).transpose(1, 2)
    K = K.reshape(*K.shape[:-1], num_heads, d_k).transpose(1, 2)
    return Q @ K.mT / math.sqrt(d_k)
""": "from the front",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (X.unflatten(-1, (num_heads, -1)) for X in (Q, K))
    return q @ k.mT / math.sqrt(q.shape[-1])
""": "not swapped",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K))
    return q @ k.mT * math.sqrt(q.shape[-1])
""": "are multiplied",
        """\
def scores_per_head(Q, K, num_heads):
    q, k = (torch.stack(X.chunk(num_heads, -1), -3) for X in (Q, K.detach()))
    return q @ k.mT / math.sqrt(q.shape[-1])
""": "the gradient of `K` is missing",
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
        """\
def scores_per_head(Q, K, num_heads):
    from tutor.attention import slice_vertically

    width = Q.shape[-1] // num_heads
    Q, K = slice_vertically(Q, width), slice_vertically(K, width)
    return Q @ K.transpose(-2, -1) / math.sqrt(width)
""",
    ),
)
