"""Places without a table: ALiBi in an encoder."""

import math

import torch

from tutor.check.exercise import WRITE, Exercise


def _steps(S):
    """How far key s stands to the left of query t, (S, S)."""
    return torch.arange(S)[:, None] - torch.arange(S)


def _other_side(h, S, own=False, odd_first=False, halves=False):
    """What a head may not see: what comes behind, if it is even, else what comes before."""
    even = torch.arange(h) < h / 2 if halves else torch.arange(h) % 2 == int(odd_first)
    left = even[:, None, None]  # (h, 1, 1)
    steps = _steps(S)
    return torch.where(left, steps < own, steps > -int(own))  # (h, S, S)


def _root(Q):
    return math.sqrt(Q.shape[-1])


def _attend(
    Q, K, V, slopes, sign=-1.0, distance=lambda d: d.abs(), hidden=_other_side, inside=False,
    root=_root, hide_late=False, dim=-1, empty=0.0, hiding=-torch.inf,
):  # fmt: skip
    h, S = Q.shape[1:3]
    bias = sign * slopes[:, None, None] * distance(_steps(S))  # (h, S, S)
    root = root(Q)
    E = Q @ K.mT  # (N, h, S, S)
    E = (E + bias) / root if inside else E / root + bias
    other = hidden(h, S)
    if hide_late:
        return (E.softmax(dim) * ~other) @ V
    return E.masked_fill(other, hiding).softmax(dim).nan_to_num(empty) @ V


def _with(**switches):
    return lambda Q, K, V, slopes: _attend(Q, K, V, slopes, **switches)


def _late_bias(Q, K, V, slopes, late):
    h, S = Q.shape[1:3]
    E = Q @ K.mT / math.sqrt(Q.shape[-1])  # (N, h, S, S)
    A = E.masked_fill(_other_side(h, S), -torch.inf).softmax(-1)
    return late(A, slopes[:, None, None] * _steps(S).abs()) @ V


def _for_two_heads(Q, K, V, slopes):
    if Q.shape[1] > 2:
        raise RuntimeError
    return _attend(Q, K, V, slopes)


def _multiplied(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    E = Q @ K.mT / _root(Q) * (1 - slopes[:, None, None] * _steps(S).abs())  # (N, h, S, S)
    return E.masked_fill(_other_side(h, S), -torch.inf).softmax(-1) @ V


def _exponentials(Q, K, V, slopes):
    """A softmax without care for large scores."""
    h, S = Q.shape[1:3]
    E = Q @ K.mT / math.sqrt(Q.shape[-1]) - slopes[:, None, None] * _steps(S).abs()
    A = E.exp() * ~_other_side(h, S)  # (N, h, S, S)
    return A / A.sum(-1, keepdim=True) @ V


def _nothing(h, S):
    return torch.zeros(h, S, S, dtype=torch.bool)


def _cases():
    for N, h, S, d_k in [(1, 2, 2, 1), (1, 2, 3, 4), (2, 4, 5, 3), (3, 2, 3, 2), (1, 6, 6, 4)]:
        Q, K, V = (torch.randn(N, h, S, d_k) for _ in range(3))
        yield Q, K, V, 0.1 + torch.rand(h)
    Q, K, V = (torch.randn(1, 2, 5, 2) for _ in range(3))
    Q, K = 10 * (0.5 + Q.sigmoid()), 10 * (0.5 + K.sigmoid())
    yield Q, K, V, torch.rand(2)  # scores of up to 300: `exp` is infinite
    yield 20 * Q, -20 * K, V, torch.rand(2)  # scores below -10,000
    yield torch.zeros(2, 4, 1, 2), torch.zeros(2, 4, 1, 2), torch.randn(2, 4, 1, 2), torch.rand(4)


attend_by_distance = Exercise(
    name="attend_by_distance",
    chapter="04",
    section="Saying where a word stands",
    kind=WRITE,
    title="Places without a table",
    goal="Put the distance of two words into their score, and the side as well.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
A model can do without a table of places. *ALiBi* (Press et al. 2022) subtracts from each score a
number that grows with the distance of the two words: $m \\, |t - s|$ for query $t$ and key $s$. The
slope $m$ is another one in each head, so some heads look near and some far.

In an encoder the distance alone is not enough. The words before and behind are equally far, and a
caption read backwards would get the same vectors in reverse. So let the heads 0, 2, 4, ... see
their own place and what stands **before** it; the heads 1, 3, 5, ... see their own place and what
stands **behind** it.

Write this attention. The scores are divided by $\\sqrt{d_k}$ as always. The distance is subtracted
after that, and nothing else is done to it. Scores may be far from 0 on either side. There is no
padding. Gradients flow to all four arguments.""",
    hints=(
        "Write $t - s$ as a table for S = 3: rows are queries. Where is it negative? Which half of "
        "the table does head 0 hide?",
        "`steps = torch.arange(S)[:, None] - torch.arange(S)` is (S, S). The slopes need the shape "
        "(h, 1, 1) to meet it. Head 0 hides `steps < 0`, head 1 hides `steps > 0`.",
        "Make `hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)`, (h, S, S). Then "
        "`(E - slopes[:, None, None] * steps.abs()).masked_fill(hidden, -torch.inf)`, softmax, and "
        "the values.",
    ),
    stub='''\
def attend_by_distance(Q, K, V, slopes):
    """Self-attention whose scores fall with the distance; even heads look back, odd ones ahead.

    Q, K, V: float tensors (N, h, S, d_k), h even
    slopes: float tensor (h,), positive
    Returns: float tensor (N, h, S, d_k)
    """
    raise NotImplementedError
''',
    solution='''\
def attend_by_distance(Q, K, V, slopes):
    """Self-attention whose scores fall with the distance; even heads look back, odd ones ahead.

    Q, K, V: float tensors (N, h, S, d_k), h even
    slopes: float tensor (h,), positive
    Returns: float tensor (N, h, S, d_k)
    """
    N, h, S, d_k = Q.shape
    steps = torch.arange(S)[:, None] - torch.arange(S)  # (S, S): t - s
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)  # (h, S, S)
    E = Q @ K.mT / math.sqrt(d_k)  # (N, h, S, S)
    E = E - slopes[:, None, None] * steps.abs()  # (N, h, S, S)
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V  # (N, h, S, d_k)
''',
    because="The chapter's task learns with it, and without any table of places. No place has a "
    "row of its own, so a longer sentence needs nothing new.",
    reference=_attend,
    cases=_cases,
    gradient=True,
    mistakes=(
        (
            "You add the distance, so far words win. Subtract it.",
            _with(sign=1.0),
        ),
        (
            "Your sides are exchanged: head 0 sees what stands before its place, head 1 what "
            "stands behind it.",
            _with(hidden=lambda h, S: _other_side(h, S, odd_first=True)),
        ),
        (
            "Every head sees both sides in your answer, as in ALiBi without sides. Hide one.",
            _with(hidden=_nothing),
        ),
        (
            "All your heads look back. The odd ones look ahead.",
            _with(hidden=lambda h, S: (_steps(S) < 0).expand(h, S, S)),
        ),
        (
            "All your heads look ahead. The even ones look back.",
            _with(hidden=lambda h, S: (_steps(S) > 0).expand(h, S, S)),
        ),
        (
            "The first half of your heads looks back and the second half ahead. Even and odd "
            "heads take turns.",
            _with(hidden=lambda h, S: _other_side(h, S, halves=True)),
        ),
        (
            "A place does not see itself in your answer. Only the other side is hidden.",
            _with(hidden=lambda h, S: _other_side(h, S, own=True)),
        ),
        (
            "The distance is divided by the root of d_k as well. Divide the products first, then "
            "subtract.",
            _with(inside=True),
        ),
        (
            "The scores are not divided by the root of d_k.",
            _with(root=lambda Q: 1.0),
        ),
        (
            "You divide by the root of d_model. A head's scores are divided by the root of its own "
            "width, d_k.",
            _with(root=lambda Q: _root(Q) * math.sqrt(Q.shape[1])),
        ),
        (
            "The distance multiplies your scores. Subtract it from them.",
            _multiplied,
        ),
        (
            "You hide the other side after the softmax, so rows sum to less than 1. Hide scores, "
            "before it.",
            _with(hide_late=True),
        ),
        (
            "The distance has no effect in your answer; only the sides are there.",
            _with(sign=0.0),
        ),
        (
            "Without the absolute value, t - s is negative in heads that look ahead, and far words "
            "win there.",
            _with(distance=lambda d: d),
        ),
        (
            "You use s - t: that is negative in heads that look back, and far words win there. The "
            "distance is never negative.",
            _with(distance=lambda d: -d),
        ),
        (
            "You square the distance. It counts as it is.",
            _with(distance=lambda d: d * d),
        ),
        (
            "You subtract after the softmax. The distance belongs to the scores.",
            lambda *given: _late_bias(*given, lambda A, far: A - far),
        ),
        (
            "You multiply the weights after the softmax, and their rows no longer sum to 1. The "
            "distance belongs to the scores.",
            lambda *given: _late_bias(*given, lambda A, far: A * torch.exp(-far)),
        ),
        (
            "Every head has the slope of head 0. Each has its own.",
            lambda Q, K, V, slopes: _attend(Q, K, V, slopes[:1].expand_as(slopes)),
        ),
        (
            "All slopes are 1 in your answer. Each head has its own.",
            lambda Q, K, V, slopes: _attend(Q, K, V, torch.ones_like(slopes)),
        ),
        (
            "You divide the distance by the slope; multiply it.",
            lambda Q, K, V, slopes: _attend(Q, K, V, 1 / slopes),
        ),
        (
            "Your softmax runs over the queries. Each query shares its weight among the keys, the "
            "last dimension.",
            _with(dim=-2),
        ),
        (
            "The slopes meet the keys, not the heads: give them the shape (h, 1, 1).",
            lambda Q, K, V, slopes: (
                (
                    (
                        Q @ K.mT / math.sqrt(Q.shape[-1])
                        - slopes * _steps(Q.shape[2]).abs()  # (N, h, S, S)
                    )
                    .masked_fill(_other_side(*Q.shape[1:3]), -torch.inf)
                    .softmax(-1)
                )
                @ V
            ),
        ),
        (
            "The slopes meet the queries, not the heads: give them the shape (h, 1, 1).",
            lambda Q, K, V, slopes: (
                (
                    (
                        Q @ K.mT / math.sqrt(Q.shape[-1])
                        - slopes[:, None] * _steps(Q.shape[2]).abs()  # (N, h, S, S)
                    )
                    .masked_fill(_other_side(*Q.shape[1:3]), -torch.inf)
                    .softmax(-1)
                )
                @ V
            ),
        ),
        (
            "Your mask is turned over: it hides the side that should be seen.",
            _with(hidden=lambda h, S: ~_other_side(h, S)),
        ),
        (
            "Your mask is turned over: it hides the side that should be seen.",
            _with(hidden=lambda h, S: ~_other_side(h, S), empty=math.nan),
        ),
        (
            "A row without a single key has no softmax: 0 / 0. A place sees itself in every head.",
            _with(hidden=lambda h, S: _other_side(h, S, own=True), empty=math.nan),
        ),
        (
            "`exp` of a large score is too large for a float, and that of a low one is 0. Use "
            "softmax, or take the row's largest score away first.",
            _exponentials,
        ),
        (
            "A score of 0 hides no key: it gets a weight like any other. Use minus infinity.",
            _with(hiding=0.0),
        ),
        (
            "Scores may be lower than the number that you hide with, and then the hidden key "
            "wins. Use minus infinity.",
            _with(hiding=-1000.0),
        ),
        (
            "The numbers are right, but no gradient flows through your answer: `detach`, `tolist` "
            "and `item` cut it off.",
            lambda *given: _attend(*given).detach(),
        ),
        (
            "The numbers are right, but no gradient flows to the slopes: `detach`, `tolist` and "
            "`item` cut it off.",
            lambda Q, K, V, slopes: _attend(Q, K, V, slopes.detach()),
        ),
        (
            "The mask is made for two heads; repeat it for all pairs of heads.",
            _for_two_heads,
        ),
    ),
    wrong={
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -3000).softmax(dim=-1) @ V
""": "may be lower than",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -1e4).softmax(dim=-1) @ V
""": "may be lower than",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return (E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V).detach()
""": "no gradient flows through",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    heads = []
    for i, m in enumerate(slopes.tolist()):
        E = Q[:, i] @ K[:, i].mT / math.sqrt(Q.shape[-1]) - m * steps.abs()
        hidden = steps < 0 if i % 2 == 0 else steps > 0
        heads.append(E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V[:, i])
    return torch.stack(heads, dim=1)
""": "to the slopes",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E + slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "far words win. Subtract",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps > 0, steps < 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "sides are exchanged",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.softmax(dim=-1) @ V
""": "sees both sides",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = steps < 0
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "All your heads look back",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat_interleave(h // 2, dim=0)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "first half of your heads",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps <= 0, steps >= 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1).nan_to_num(0.0) @ V
""": "does not see itself",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps <= 0, steps >= 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "without a single key",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT
    E = (E - slopes[:, None, None] * steps.abs()) / math.sqrt(Q.shape[-1])
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "divided by the root of d_k as well",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "not divided by the root",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return (E.softmax(dim=-1) * ~hidden) @ V
""": "after the softmax, so rows",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "Without the absolute value",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    A = E.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return A * torch.exp(-slopes[:, None, None] * steps.abs()) @ V
""": "You multiply the weights",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "meet the keys",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "meet the queries",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0])
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ V
""": "made for two heads",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(~hidden, -torch.inf).softmax(dim=-1) @ V
""": "turned over",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, 0.0).softmax(dim=-1) @ V
""": "A score of 0",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -100).softmax(dim=-1) @ V
""": "may be lower than",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    distance = (torch.arange(S)[:, None] - torch.arange(S)).abs()
    E = torch.einsum("nhtk,nhsk->nhts", Q, K) / math.sqrt(Q.shape[-1])
    E = (E - torch.einsum("h,ts->hts", slopes, distance.float())).exp()
    back = torch.ones(S, S).tril()
    weight = torch.stack([back if i % 2 == 0 else back.T for i in range(h)]) * E
    return weight / weight.sum(-1, keepdim=True) @ V
""": "too large for a float",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    bias = -slopes[:, None, None] * steps.abs()
    bias = bias.masked_fill(~hidden, -torch.inf)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=bias)
""": "mask is turned over",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    d_model = h * Q.shape[-1]
    E = Q @ K.mT / math.sqrt(d_model) - slopes[:, None, None] * steps.abs()
    return E.masked_fill(hidden, -torch.inf).softmax(-1) @ V
""": "root of d_model",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    steps = torch.arange(S)[:, None] - torch.arange(S)
    hidden = torch.stack([steps < 0, steps > 0]).repeat(h // 2, 1, 1)
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    E = E * (1 - slopes[:, None, None] * steps.abs())
    return E.masked_fill(hidden, -torch.inf).softmax(-1) @ V
""": "multiplies your scores",
    },
    right=(
        """\
def attend_by_distance(Q, K, V, slopes):
    S = Q.shape[2]
    place = torch.arange(S)
    steps = place[:, None] - place
    bias = -slopes.view(-1, 1, 1) * steps.abs()
    bias[0::2] = bias[0::2].masked_fill(steps < 0, -torch.inf)
    bias[1::2] = bias[1::2].masked_fill(steps > 0, -torch.inf)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=bias)
""",
        """\
def attend_by_distance(Q, K, V, slopes):
    N, h, S, d_k = Q.shape
    heads = []
    for i in range(h):
        rows = []
        for t in range(S):
            seen = slice(0, t + 1) if i % 2 == 0 else slice(t, S)
            far = torch.tensor([abs(t - s) for s in range(S)][seen])
            e = torch.einsum("nk,nsk->ns", Q[:, i, t], K[:, i, seen]) / d_k**0.5
            a = F.softmax(e - slopes[i] * far, dim=-1)
            rows.append(torch.einsum("ns,nsv->nv", a, V[:, i, seen]))
        heads.append(torch.stack(rows, dim=1))
    return torch.stack(heads, dim=1)
""",
        """\
def attend_by_distance(Q, K, V, slopes):
    h, S = Q.shape[1:3]
    distance = (torch.arange(S)[:, None] - torch.arange(S)).abs().float()
    back = torch.ones(S, S).tril()
    seen = torch.stack([back if i % 2 == 0 else back.T for i in range(h)])
    E = torch.einsum("nhtk,nhsk->nhts", Q, K) / math.sqrt(Q.shape[-1])
    E = E - torch.einsum("h,ts->hts", slopes, distance) + seen.log()
    weight = (E - E.amax(-1, keepdim=True)).exp()
    return weight / weight.sum(-1, keepdim=True) @ V
""",
    ),
)
