"""How sharp can a head be?"""

import math

from tutor.check.exercise import WRITE, Exercise


def _share(best, other, others):
    """The weight of a key with the score `best` beside others with the score `other`."""
    return 1 / (1 + others * math.exp(other - best))


def _from(best, other=lambda s: -s, others=lambda S: S - 1):
    """The answer with another best score, other scores, or another number of other keys."""

    def answer(d_k, S):
        return _share(best(d_k), other(best(d_k)), others(S))

    return answer


def _zero(s):
    return 0.0


def _length_one(d_k):
    return d_k**-0.5


def _cosine(d_k):
    return 1.0


def _unscaled(d_k):
    return min(d_k, 300)


_root = math.sqrt

largest_share = Exercise(
    name="largest_share",
    chapter="16",
    section="Two smaller changes",
    kind=WRITE,
    title="How sharp can a head be?",
    goal="Say what QK-norm allows a head to do, and what it forbids.",
    difficulty=3,
    importance=3,
    minutes=7,
    text="""\
QK-norm gives each query and each key a root mean square of 1 (its weights are all 1 here, and
`eps` is 0). Scores are divided by $\\sqrt{d_k}$ as ever. One query looks at $S \\ge 2$ keys,
without a mask. **What is the largest attention weight that one key can get**, whatever the vectors
are before the norm? Write it as a function.

Then try it: for heads with $d_k = 64$, and with $d_k = 16$, for a thousand keys, and for a
million.""",
    hints=(
        "How long is a vector of $d_k$ numbers whose mean square is 1? So how large, and how "
        "small, can a dot product of two of them be?",
        "The largest weight needs one key with the largest score. And what score do you wish for "
        "the other $S - 1$ keys?",
        "Scores lie between $-\\sqrt{d_k}$ and $\\sqrt{d_k}$: one key points along the query, all "
        "others point away from it. Now softmax.",
    ),
    stub='''\
def largest_share(d_k, S):
    """The largest attention weight of one of S keys, if QK-norm has weights of 1.

    d_k: int, numbers in a query or key; S: int, at least 2. Returns a float.
    """
    raise NotImplementedError
''',
    solution='''\
def largest_share(d_k, S):
    """The largest attention weight of one of S keys, if QK-norm has weights of 1.

    d_k: int, numbers in a query or key; S: int, at least 2. Returns a float.
    """
    best = d_k / math.sqrt(d_k)  # both vectors have the length sqrt(d_k)
    return math.exp(best) / (math.exp(best) + (S - 1) * math.exp(-best))
''',
    because="A head with 16 columns can give 75 % to one key of a thousand, and 0.3 % to one of a "
    "million; one with 64 columns can give 90 % even there. "
    "So the norm has a learned weight: with it, training can allow more.",
    reference=lambda d_k, S: _share(math.sqrt(d_k), -math.sqrt(d_k), S - 1),
    cases=lambda: [(1, 2), (4, 3), (2, 10), (9, 1000), (16, 1_000_000), (64, 100_000)],
    tolerance=1e-3,
    mistakes=(
        (
            "You give the other keys a score of 0. They can be worse for the query than that.",
            _from(_root, _zero),
        ),
        (
            "Your scores are not divided by the root of $d_k$.",
            _from(_unscaled),
        ),
        (
            "Your scores are not divided by the root of $d_k$, and the other keys can have scores "
            "below 0.",
            _from(_unscaled, _zero),
        ),
        (
            "Your vectors have the length 1. A root *mean* square of 1 makes them longer.",
            _from(_length_one),
        ),
        (
            "Your vectors have the length 1, where a root *mean* square of 1 makes them longer; "
            "and the other keys can have scores below 0.",
            _from(_length_one, _zero),
        ),
        (
            "You take the scores for cosines, between -1 and 1. The vectors are longer than 1.",
            _from(_cosine),
        ),
        (
            "You take the scores for cosines, and the other keys for orthogonal ones. The vectors "
            "are longer than 1, and a key can be worse than orthogonal.",
            _from(_cosine, _zero),
        ),
        (
            "You count S other keys. The favoured one is among the S.",
            _from(_root, others=lambda S: S),
        ),
        (
            "You count S other keys, and they have a score of 0. The favoured one is among the S, "
            "and the others can be worse.",
            _from(_root, _zero, lambda S: S),
        ),
        (
            "You count one other key, whatever S is, and its score is 0, where it could be worse.",
            _from(_root, _zero, lambda S: 1),
        ),
        (
            "The exponentials of the softmax are missing.",
            lambda d_k, S: d_k**0.5 / (d_k**0.5 - (S - 1) * d_k**0.5),
        ),
        (
            "You count one other key, whatever S is.",
            _from(_root, others=lambda S: 1),
        ),
        (
            "A weight of 1 needs an infinite score, and here scores are bounded.",
            lambda d_k, S: 1.0,
        ),
        (
            "Equal shares are the smallest that the best key can get. The largest is asked for.",
            lambda d_k, S: 1 / S,
        ),
        (
            "You return the largest score. The softmax is missing.",
            lambda d_k, S: math.sqrt(d_k),
        ),
        (
            "You divide by all scores' exponentials but the best one's own. The softmax counts it "
            "too.",
            lambda d_k, S: math.exp(2 * math.sqrt(d_k)) / (S - 1),
        ),
    ),
    wrong={
        """\
def largest_share(d_k, S):
    best = math.exp(math.sqrt(d_k))
    return best / (best + S - 1)
""": "score of 0",
        """\
def largest_share(d_k, S):
    return 1 / (1 + (S - 1) * math.exp(-2 * d_k))
""": "not divided",
        """\
def largest_share(d_k, S):
    return 1 / (1 + (S - 1) * math.exp(-2 / math.sqrt(d_k)))
""": "the length 1",
        """\
def largest_share(d_k, S):
    return 1 / S
""": "the smallest",
        """\
def largest_share(d_k, S):
    return math.exp(1) / (math.exp(1) + (S - 1) * math.exp(-1))
""": "for cosines",
        """\
def largest_share(d_k, S):
    return math.e / (math.e + S - 1)
""": "than orthogonal",
        """\
def largest_share(d_k, S):
    best = math.sqrt(d_k)
    return math.exp(best) / (math.exp(best) + S * math.exp(-best))
""": "S other keys",
        """\
def largest_share(d_k, S):
    return 1.0
""": "infinite score",
        """\
def largest_share(d_k, S):
    return d_k / math.sqrt(d_k)
""": "softmax is missing",
        """\
def largest_share(d_k, S):
    return 1 / (1 + math.exp(-2 * math.sqrt(d_k)))
""": "one other key",
        """\
def largest_share(d_k, S):
    return 1 / (1 + (S - 1) * math.exp(-d_k))
""": "not divided",
    },
    right=(
        """\
def largest_share(d_k, S):
    E = torch.full((S,), -math.sqrt(d_k))
    E[0] = math.sqrt(d_k)
    return E.softmax(dim=0)[0].item()
""",
        """\
def largest_share(d_k, S):
    return torch.sigmoid(torch.tensor(2 * d_k**0.5 - math.log(S - 1))).item()
""",
        """\
def largest_share(d_k, S):
    q = torch.ones(d_k).double()
    best, worst = q @ q / d_k**0.5, -(q @ q) / d_k**0.5
    return (best.exp() / (best.exp() + (S - 1) * worst.exp())).item()
""",
    ),
)
