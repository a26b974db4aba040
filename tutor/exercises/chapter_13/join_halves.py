"""Two halves of the keys, computed apart."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _join(one, other, shrinks=("total", "Y"), tops=torch.maximum, sign=1, empty=True):
    """Both halves as one, or with one of these things wrong."""
    larger = tops(one[0], other[0])
    base = larger.masked_fill(larger == -torch.inf, 0.0) if empty else larger
    total = Y = 0.0
    for top, own_total, own_Y in (one, other):
        shrink = (sign * (top - base)).exp()  # (..., T, 1)
        total = total + own_total * (shrink if "total" in shrinks else 1)
        Y = Y + own_Y * (shrink if "Y" in shrinks else 1)
    return larger, total, Y


def _divided(one, other, empty):
    top, total, Y = _join(one, other, empty=empty)
    return top, total, Y / total


def _ratio_of_tops(one, other):
    larger = torch.maximum(one[0], other[0])
    a, b = one[0] / larger, other[0] / larger
    return larger, one[1] * a + other[1] * b, one[2] * a + other[2] * b


def _as_if_divided(one, other):
    """Y is taken for a weighted mean, which the total makes a sum again."""
    top, total, _ = _join(one, other)
    Y = _join((one[0], one[1], one[2] * one[1]), (other[0], other[1], other[2] * other[1]))[2]
    return top, total, Y


def _mean_of_means(one, other):
    top, total, Y = _as_if_divided(one, other)
    return top, total, Y / total


def _second_counts(one, other):
    """Only the first half is shrunk, as if the second had the larger top."""
    shrink = (one[0] - other[0]).exp()
    return other[0], one[1] * shrink + other[1], one[2] * shrink + other[2]


def _first_shrunk_alone(one, other, empty=False):
    larger = torch.maximum(one[0], other[0])
    base = larger.masked_fill(larger == -torch.inf, 0.0) if empty else larger
    shrink = (one[0] - base).exp()
    return larger, one[1] * shrink + other[1], one[2] * shrink + other[2]


def _each_by_the_other(one, other, empty):
    """Each half is multiplied by the factor of the other."""
    (a, total_a, Y_a), (b, total_b, Y_b) = one, other
    top, total, Y = _join((b, total_a, Y_a), (a, total_b, Y_b), empty=empty)
    return top, total, Y


def _by_tops_themselves(one, other):
    """Right for small scores: exponentials of the tops, of which large ones are infinite."""
    larger = torch.maximum(one[0], other[0])
    back = larger.masked_fill(larger == -torch.inf, 0.0).exp()
    total, Y = (one[i] * one[0].exp() + other[i] * other[0].exp() for i in (1, 2))
    return larger, total / back, Y / back


def _tops(both):
    """Right, but for the top that is returned."""
    return lambda one, other: (both(one[0], other[0]), *_join(one, other)[1:])


def _one_top_for_all(empty):
    """The largest top of all rows, for each of them."""

    def largest(a, b):
        return torch.maximum(a, b).max().expand_as(a)

    return lambda one, other: _join(one, other, tops=largest, empty=empty)


def _half(E, V):
    """What is remembered of these keys."""
    top = E.amax(dim=-1, keepdim=True)  # (..., T, 1)
    shares = (E - top.clamp_min(-1e30)).exp()
    return top, shares.sum(dim=-1, keepdim=True), shares @ V  # (..., T, d_v)


def _cases_of_halves():
    for N, T, d_v, empty, shift in [
        ((), 1, 1, (), 0), ((), 1, 1, (0,), 0), ((), 2, 2, (), 0), ((), 2, 2, (1,), 0),
        ((2,), 3, 2, (), 0), ((), 1, 2, (0, 1), 0), ((2, 2), 3, 1, (0,), 0), ((), 2, 1, (), 300),
    ]:  # fmt: skip
        E, V = 2 * torch.randn(2, *N, T, 3) + shift, torch.randn(2, *N, 3, d_v)
        for half in empty:
            E[half, ..., 0, :] = -torch.inf  # the first query sees nothing of this half
        yield _half(E[0], V[0]), _half(E[1], V[1])


_SLIPS = (
    (
        "The sums are added as they are. Each half subtracted its own top: shrink the half whose "
        "top is smaller.",
        {"shrinks": ()},
    ),
    (
        "Only the totals are shrunk. The weighted values contain the same exponentials.",
        {"shrinks": ("total",)},
    ),
    (
        "Only the weighted values are shrunk. The totals are sums of the same exponentials.",
        {"shrinks": ("Y",)},
    ),
    (
        "Your top is the logarithm of a sum. It would do, but the largest score is wanted.",
        {"tops": torch.logaddexp},
    ),
)

join_halves = Exercise(
    name="join_halves",
    chapter="13",
    section="Attention without the matrix",
    kind=WRITE,
    title="Two processors, one softmax",
    goal="Join what two processors found out about their halves of the keys.",
    difficulty=4,
    importance=4,
    minutes=12,
    text="""\
A text is so long that its keys and values lie on two processors. Each goes through its own half,
and hands over the three things of the section, for every query: the largest score `top`, the sum of
the exponentials `total`, and the weighted values `Y`, not divided. Write what **joins** two such
triples into the triple of all keys. No division: there may be more to join.

A mask may hide a whole half from a query. Its `top` is then $-\\infty$, and its `total` and `Y` are
0. If both halves are hidden, the result is $-\\infty$, 0 and 0 again. `nan` must not come up.
Scores may be in the hundreds.""",
    hints=(
        "Each half has subtracted its own top. Both sums must be brought to the same one before "
        "they may be added.",
        "With `larger = torch.maximum(one[0], other[0])`, a half is multiplied by "
        "`(top - larger).exp()`, which is 1 for one of the two.",
        "Where both tops are $-\\infty$, their difference is `nan`. Subtract "
        "`larger.masked_fill(larger == -torch.inf, 0.0)`, and return `larger` as it is.",
    ),
    stub='''\
def join_halves(one, other):
    """What is remembered of all keys, from what is remembered of two halves.

    one, other: tuples (top, total, Y); top, total: (..., T, 1), Y: (..., T, d_v)
    Returns (top, total, Y) of the same shapes
    """
    raise NotImplementedError
''',
    solution='''\
def join_halves(one, other):
    """What is remembered of all keys, from what is remembered of two halves.

    one, other: tuples (top, total, Y); top, total: (..., T, 1), Y: (..., T, d_v)
    Returns (top, total, Y) of the same shapes
    """
    larger = torch.maximum(one[0], other[0])  # (..., T, 1)
    base = larger.masked_fill(larger == -torch.inf, 0.0)
    total = Y = 0
    for top, own_total, own_Y in (one, other):
        shrink = (top - base).exp()  # (..., T, 1)
        total = total + own_total * shrink
        Y = Y + own_Y * shrink
    return larger, total, Y
''',
    because="The order does not matter, so a thousand blocks can be joined in any order, or at "
    "once.",
    reference=_join,
    cases=_cases_of_halves,
    mistakes=(
        *(
            (message, lambda one, other, slips=slips: _join(one, other, **slips))
            for message, slip in _SLIPS
            for slips in (slip, slip | {"empty": False})
        ),
        (
            "With ordinary numbers this is right. Where both halves are hidden from a query, two "
            "infinite tops are subtracted, which gives `nan`.",
            lambda one, other: _join(one, other, empty=False),
        ),
        (
            "You go by the top of the second half, as if it were always the larger one. Either may "
            "be.",
            _second_counts,
        ),
        (
            "Only the first half is shrunk here. If its top is the larger one, it is the second "
            "that must shrink.",
            _first_shrunk_alone,
        ),
        (
            "Only the first half is shrunk here. If its top is the larger one, it is the second "
            "that must shrink.",
            lambda one, other: _first_shrunk_alone(one, other, empty=True),
        ),
        *(
            (
                "The two factors are exchanged: each half is brought down from its own top.",
                lambda one, other, empty=empty: _each_by_the_other(one, other, empty),
            )
            for empty in (True, False)
        ),
        (
            "Right for small scores. But the exponential of a top itself may be infinite: only "
            "that of a difference from the larger top is never more than 1.",
            _by_tops_themselves,
        ),
        (
            "You subtract the smaller of the two tops, so that the sums grow and may overflow. "
            "Take the larger.",
            lambda one, other: _join(one, other, tops=torch.minimum),
        ),
        (
            "The factor is turned over: what had the smaller top must shrink, not grow.",
            lambda one, other: _join(one, other, sign=-1),
        ),
        (
            "The factor is turned over: what had the smaller top must shrink, not grow.",
            lambda one, other: _join(one, other, sign=-1, empty=False),
        ),
        *(
            (
                "You divide at the end. The sums are wanted as they are, since more may be joined.",
                lambda one, other, empty=empty: _divided(one, other, empty),
            )
            for empty in (True, False)
        ),
        (
            "You multiply by a ratio of scores. The exponentials are what is too large: the factor "
            "is `exp` of a difference.",
            _ratio_of_tops,
        ),
        (
            "You take `Y` for a weighted mean and multiply it by its total. It is a sum already.",
            _as_if_divided,
        ),
        (
            "You join weighted means. `Y` comes as a sum, and is to stay one.",
            _mean_of_means,
        ),
        ("The sums are right. The top of all keys is the larger of the two.", _tops(torch.add)),
        (
            "The sums are right. Your top is the logarithm of a sum; the largest score is wanted.",
            _tops(torch.logaddexp),
        ),
        (
            "The sums are right. The top of all keys is the larger of the two, not the smaller.",
            _tops(torch.minimum),
        ),
        (
            "The sums are right. The top of all keys is the larger one, not always that of the "
            "first half.",
            _tops(lambda a, b: a),
        ),
        (
            "The sums are right. The top of all keys is the larger one, not always that of the "
            "second half.",
            _tops(lambda a, b: b),
        ),
        (
            "The sums are right, but the top of a query that sees nothing must stay minus "
            "infinity: it tells the next one to join.",
            _tops(lambda a, b: torch.maximum(a, b).masked_fill((a + b).isneginf() & (a == b), 0.0)),
        ),
        *(
            (
                "The sums are right, but the top of a query that sees nothing must stay minus "
                "infinity: a large negative number is a score like any other.",
                _tops(lambda a, b, least=least: torch.maximum(a, b).clamp_min(least)),
            )
            for least in (torch.finfo(torch.float32).min, -1e30, -1e9, -1e4)
        ),
        *(
            (
                "You take the largest top of all queries. Each query has a top of its own.",
                _one_top_for_all(empty),
            )
            for empty in (True, False)
        ),
        (
            "The first half is lost: you return the second alone.",
            lambda one, other: other,
        ),
    ),
    wrong={
        """\
def join_halves(one, other):
    a, b = one[0].exp(), other[0].exp()
    top = torch.maximum(one[0], other[0])
    back = torch.where(top == -torch.inf, 1.0, top.exp())
    return top, (one[1] * a + other[1] * b) / back, (one[2] * a + other[2] * b) / back
""": "Right for small scores",
        """\
def join_halves(one, other):
    top = torch.maximum(one[0], other[0])
    base = top.clamp_min(-1e30)
    a, b = (other[0] - base).exp(), (one[0] - base).exp()
    return top, one[1] * a + other[1] * b, one[2] * a + other[2] * b
""": "factors are exchanged",
        """\
def join_halves(one, other):
    top = torch.maximum(one[0], other[0])
    a, b = (one[0] - top).exp(), (other[0] - top).exp()
    three = top, one[1] * a + other[1] * b, one[2] * a + other[2] * b
    return tuple(torch.nan_to_num(X) for X in three)
""": "large negative number",
        """\
def join_halves(one, other):
    return torch.maximum(one[0], other[0]), one[1] + other[1], one[2] + other[2]
""": "added as they are",
        """\
def join_halves(one, other):
    larger = torch.maximum(one[0], other[0])
    a, b = (one[0] - larger).exp(), (other[0] - larger).exp()
    return larger, one[1] * a + other[1] * b, one[2] * a + other[2] * b
""": "two infinite tops",
        """\
def join_halves(one, other):
    top = torch.maximum(one[0], other[0])
    base = top.clamp_min(-1e30)
    a, b = (one[0] - base).exp(), (other[0] - base).exp()
    return top, one[1] * a + other[1] * b, one[2] + other[2]
""": "Only the totals are shrunk",
        """\
def join_halves(one, other):
    shrink = (one[0] - other[0]).exp()
    return other[0], one[1] * shrink + other[1], one[2] * shrink + other[2]
""": "as if it were always",
        """\
def join_halves(one, other):
    top = torch.maximum(one[0], other[0])
    base = top.clamp_min(-1e30)
    a, b = (one[0] - base).exp(), (other[0] - base).exp()
    total = one[1] * a + other[1] * b
    return top, total, (one[2] * a + other[2] * b) / total
""": "You divide at the end",
        """\
def join_halves(one, other):
    top = torch.maximum(one[0], other[0])
    base = top.clamp_min(-1e30)
    a, b = one[1] * (one[0] - base).exp(), other[1] * (other[0] - base).exp()
    return top, a + b, one[2] * a + other[2] * b
""": "multiply it by its total",
        """\
def join_halves(one, other):
    top = torch.maximum(one[0], other[0])
    base = top.clamp_min(-1e30)
    a, b = (base - one[0]).exp(), (base - other[0]).exp()
    return top, one[1] * a + other[1] * b, one[2] * a + other[2] * b
""": "turned over",
        """\
def join_halves(one, other):
    top = torch.maximum(one[0], other[0])
    top = top.masked_fill(top == -torch.inf, 0.0)
    a, b = (one[0] - top).exp(), (other[0] - top).exp()
    return top, one[1] * a + other[1] * b, one[2] * a + other[2] * b
""": "must stay minus infinity",
        """\
def join_halves(one, other):
    top = max(one[0].max(), other[0].max())
    a, b = (one[0] - top).exp(), (other[0] - top).exp()
    return top.expand_as(one[0]), one[1] * a + other[1] * b, one[2] * a + other[2] * b
""": "top of its own",
        """\
def join_halves(one, other):
    top = max(one[0], other[0])
    a, b = (one[0] - top).exp(), (other[0] - top).exp()
    return top, one[1] * a + other[1] * b, one[2] * a + other[2] * b
""": "Boolean value of Tensor",
        """\
def join_halves(one, other):
    top = torch.maximum(one[0], other[0])
    base = top.clamp_min(-1e30)
    a, b = (one[0] - base).exp(), (other[0] - base).exp()
    return one[0] + other[0], one[1] * a + other[1] * b, one[2] * a + other[2] * b
""": "The top of all keys is the larger",
    },
    right=(
        """\
def join_halves(one, other):
    top = torch.maximum(one[0], other[0])
    a, b = (torch.nan_to_num((x[0] - top).exp(), nan=0.0) for x in (one, other))
    return top, one[1] * a + other[1] * b, one[2] * a + other[2] * b
""",
        """\
def join_halves(one, other):
    tops, totals, Ys = (torch.stack(pair) for pair in zip(one, other))
    top = tops.amax(dim=0)
    shrink = torch.where(tops == -torch.inf, 0.0, (tops - top).exp())
    return top, (totals * shrink).sum(dim=0), (Ys * shrink).sum(dim=0)
""",
        """\
def join_halves(one, other):
    first = one[0] >= other[0]
    (a, ta, Ya), (b, tb, Yb) = one, other
    high, low = torch.where(first, a, b), torch.where(first, b, a)
    shrink = torch.where(low.isinf(), torch.zeros_like(low), (low - high).exp())
    total = torch.where(first, ta, tb) + shrink * torch.where(first, tb, ta)
    return high, total, torch.where(first, Ya, Yb) + shrink * torch.where(first, Yb, Ya)
""",
        """\
def join_halves(one, other):
    top = torch.max(one[0], other[0])
    base = top.clamp(min=-1e30)
    sums = [x[i] * torch.exp(x[0] - base) for i in (1, 2) for x in (one, other)]
    return [top, sums[0] + sums[1], sums[2] + sums[3]]
""",
    ),
)
