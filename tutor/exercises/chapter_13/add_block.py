"""One more block of keys."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _add(E, V, top, total, Y, shrinks=(True, True), inverted=False):
    larger = torch.maximum(top, E.amax(dim=-1, keepdim=True))  # (..., T, 1)
    shrink = ((larger - top) if inverted else (top - larger)).exp()  # (..., T, 1)
    shares = (E - larger).exp()  # (..., T, block)
    total = total * shrink if shrinks[0] else total
    Y = Y * shrink if shrinks[1] else Y
    return larger, total + shares.sum(-1, keepdim=True), Y + shares @ V  # (..., T, d_v)


def _divided(E, V, top, total, Y):
    top, total, Y = _add(E, V, top, total, Y)
    return top, total, Y / total


def _this_block_alone(E, V, top, total, Y):
    top = torch.full_like(top, -torch.inf)
    return _add(E, V, top, torch.zeros_like(total), torch.zeros_like(Y))


def _lower_top(E, V, top, total, Y):
    larger = E.amax(dim=-1, keepdim=True)  # (..., T, 1)
    shrink, shares = (top - larger).exp(), (E - larger).exp()
    return larger, total * shrink + shares.sum(-1, keepdim=True), Y * shrink + shares @ V


def _old_top(E, V, top, total, Y):
    return top, *_add(E, V, top, total, Y)[1:]


def _not_subtracted(E, V, top, total, Y):
    larger = torch.maximum(top, E.amax(dim=-1, keepdim=True))  # (..., T, 1)
    shrink, shares = (top - larger).exp(), E.exp()
    return larger, total * shrink + shares.sum(-1, keepdim=True), Y * shrink + shares @ V


def _nothing_subtracted(E, V, top, total, Y):
    larger, shares = torch.maximum(top, E.amax(dim=-1, keepdim=True)), E.exp()
    return larger, total + shares.sum(-1, keepdim=True), Y + shares @ V  # (..., T, d_v)


def _cases_of_blocks():
    for N, T, block, d_v in [((), 1, 2, 1), ((), 2, 1, 1), ((), 2, 3, 2), ((2, 3), 4, 5, 2)]:
        E, V = torch.randn(*N, T, block), torch.randn(*N, block, d_v)
        top, total, Y = torch.randn(*N, T, 1), 1 + torch.rand(*N, T, 1), torch.randn(*N, T, d_v)
        yield E, V, top, total, Y
    E, V = torch.randn(2, 3), torch.randn(3, 2)
    yield E, V, torch.full((2, 1), -torch.inf), torch.zeros(2, 1), torch.zeros(2, 2)


add_block = Exercise(
    name="add_block",
    chapter="13",
    section="Attention without the matrix",
    kind=WRITE,
    title="One more block of keys",
    goal="Take a softmax in instalments, with a running maximum and two running sums.",
    difficulty=3,
    importance=5,
    minutes=8,
    text="""\
Take in one more block of keys. For each query `top` is the largest score so far, `total` the sum of
the exponentials and `Y` the sum of the values weighted by them, both with `top` subtracted from the
scores. Return all three, brought up to date.""",
    hints=(
        "The new largest score is the larger one of `top` and the block's own: `torch.maximum` and "
        "`E.amax(dim=-1, keepdim=True)`.",
        "What was summed had the old `top` subtracted. `(top - larger).exp()` is the factor that "
        "makes up for it: 1, or less.",
        "With `shares = (E - larger).exp()`: total is `total * shrink + shares.sum(-1, "
        "keepdim=True)`, and Y is `Y * shrink + shares @ V`.",
    ),
    stub='''\
def add_block(E, V, top, total, Y):
    """Take in a block of keys: scores E (..., T, block), values V (..., block, d_v).

    top, total: (..., T, 1). Y: (..., T, d_v), not divided yet. Returns all three, up to date.
    """
    ...  # up to five lines: the larger top, what shrinks the old, what the new add, the sums
''',
    solution="""\
def add_block(E, V, top, total, Y):
    larger = torch.maximum(top, E.amax(dim=-1, keepdim=True))  # (..., T, 1)
    shrink, shares = (top - larger).exp(), (E - larger).exp()  # (..., T, 1), (..., T, block)
    total = total * shrink + shares.sum(dim=-1, keepdim=True)  # (..., T, 1)
    Y = Y * shrink + shares @ V  # (..., T, d_v)
    return larger, total, Y
""",
    because="Three things a query are enough to forget all earlier scores.",
    reference=_add,
    cases=_cases_of_blocks,
    mistakes=(
        (
            "The old sums are not shrunk: they had the old `top` subtracted, the new ones have the "
            "new one.",
            lambda *block: _add(*block, shrinks=(False, False)),
        ),
        (
            "`Y` is not shrunk, only `total` is. Both were summed with the old `top`.",
            lambda *block: _add(*block, shrinks=(True, False)),
        ),
        (
            "`total` is not shrunk, only `Y` is. Both were summed with the old `top`.",
            lambda *block: _add(*block, shrinks=(False, True)),
        ),
        (
            "Your factor makes the old sums larger. It is `(top - larger).exp()`, at most 1.",
            lambda *block: _add(*block, inverted=True),
        ),
        (
            "Do not divide yet: more blocks may come. The loop divides once, at the end.",
            _divided,
        ),
        (
            "What was remembered is lost: the result knows this block alone.",
            _this_block_alone,
        ),
        (
            "The largest score must be that of all blocks so far. Yours is that of this block, and "
            "may fall.",
            _lower_top,
        ),
        (
            "The sums are right, but you return the old `top`. The next block needs the new one.",
            _old_top,
        ),
        (
            "The largest score is not subtracted from the new scores before the exponentials.",
            _not_subtracted,
        ),
        (
            "Neither the old sums nor the new scores are measured from the new largest score: "
            "shrink what is there, and subtract it before the exponentials.",
            _nothing_subtracted,
        ),
        (
            "Return three things: the largest score, the sum, and Y.",
            lambda *block: _add(*block)[2],
        ),
    ),
    wrong={
        """\
def add_block(E, V, top, total, Y):
    larger, shares = torch.maximum(top, E.amax(dim=-1, keepdim=True)), E.exp()
    return larger, total + shares.sum(-1, keepdim=True), Y + shares @ V
""": "Neither the old sums nor the new scores",
        """\
def add_block(E, V, top, total, Y):
    larger = torch.maximum(top, E.amax(dim=-1, keepdim=True))
    shares = (E - larger).exp()
    return larger, total + shares.sum(-1, keepdim=True), Y + shares @ V
""": "not shrunk",
        """\
def add_block(E, V, top, total, Y):
    larger = torch.maximum(top, E.amax(dim=-1, keepdim=True))
    shares = (E - larger).exp()
    return larger, total * (top - larger).exp() + shares.sum(-1, keepdim=True), Y + shares @ V
""": "`Y` is not shrunk",
        """\
def add_block(E, V, top, total, Y):
    larger = torch.maximum(top, E.max(dim=-1, keepdim=True).values)
    shrink = torch.exp(top - larger)
    shares = torch.exp(E - larger)
    total = total * shrink + shares.sum(-1, keepdim=True)
    return larger, total, (Y * shrink + shares @ V) / total
""": "Do not divide yet",
        """\
def add_block(E, V, top, total, Y):
    larger = E.amax(dim=-1, keepdim=True)
    shrink = (top - larger).exp()
    shares = (E - larger).exp()
    return larger, total * shrink + shares.sum(-1, keepdim=True), Y * shrink + shares @ V
""": "may fall",
        """\
def add_block(E, V, top, total, Y):
    larger = torch.maximum(top, E.amax(dim=-1, keepdim=True))
    shrink = (top - larger).exp()
    shares = E.exp()
    return larger, total * shrink + shares.sum(-1, keepdim=True), Y * shrink + shares @ V
""": "not subtracted",
        """\
def add_block(E, V, top, total, Y):
    larger = E.amax(dim=-1, keepdim=True)
    shares = (E - larger).exp()
    return larger, shares.sum(-1, keepdim=True), shares @ V
""": "this block alone",
    },
    right=(
        """\
def add_block(E, V, top, total, Y):
    larger = torch.cat([top, E], dim=-1).max(dim=-1, keepdim=True)[0]
    shrink = torch.exp(top - larger)
    shares = torch.exp(E - larger)
    total = shrink * total + shares.sum(dim=-1)[..., None]
    Y = shrink * Y + torch.matmul(shares, V)
    return larger, total, Y
""",
        """\
def add_block(E, V, top, total, Y):
    new = E.max(dim=-1, keepdim=True).values
    larger = torch.where(new > top, new, top)
    shrink, shares = (top - larger).exp(), (E - larger).exp()
    return [larger, total * shrink + shares.sum(-1, True), Y * shrink + shares @ V]
""",
    ),
)
