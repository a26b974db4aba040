"""Pairs of columns, turned."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _turn(X, angle, signs=(-1, 1), swapped=False, swap_angle=False, crossed=False):
    cos, sin = (angle.sin(), angle.cos()) if swap_angle else (angle.cos(), angle.sin())
    left, right = X.chunk(2, dim=-1)  # (..., T, d_k / 2) each
    new = [left * cos + signs[0] * right * sin, right * cos + signs[1] * left * sin]
    if crossed:
        new[1] = left * cos + right * sin
    return torch.cat(new[::-1] if swapped else new, dim=-1)


def _neighbours(X, angle, back=True):
    """Columns 2i and 2i + 1 are pairs."""
    left, right = X[..., 0::2], X[..., 1::2]
    new = [left * angle.cos() - right * angle.sin(), right * angle.cos() + left * angle.sin()]
    return torch.stack(new, dim=-1).flatten(-2) if back else torch.cat(new, dim=-1)


def _cut_rows(X, angle):
    left, right = X.chunk(2)
    new = [left * angle.cos() - right * angle.sin(), right * angle.cos() + left * angle.sin()]
    return torch.cat(new, dim=-1)


def _step_by_step(X, angle):
    """The new left half is used for the right one."""
    left, right = X.chunk(2, dim=-1)
    left = left * angle.cos() - right * angle.sin()
    return torch.cat([left, right * angle.cos() + left * angle.sin()], dim=-1)


turn_pairs = Exercise(
    name="turn_pairs",
    chapter="16",
    section="Positions that turn",
    kind=WRITE,
    title="Pairs of columns, turned",
    goal="Turn pairs of columns by an angle, as Llama does with queries and keys.",
    difficulty=2,
    importance=5,
    minutes=6,
    text="""\
Column $i$ of the left half of `X` and column $i$ of its right half are a point in a plane. Turn
each point by its angle: $(a, b)$ becomes $(a \\cos \\varphi - b \\sin \\varphi,\\;
b \\cos \\varphi + a \\sin \\varphi)$. Put the halves together again.""",
    hints=(
        "`left, right = X.chunk(2, dim=-1)` cuts the columns into halves of the shape of `angle`.",
        "The new left half is `left * angle.cos() - right * angle.sin()`.",
        "The new right half is `right * angle.cos() + left * angle.sin()`, of the *old* left one; "
        "`torch.cat([...], dim=-1)` puts both together.",
    ),
    stub='''\
def turn_pairs(X, angle):
    """Turn columns i and i + d_k / 2 of X (..., T, d_k) by angle (..., T, d_k / 2)."""
    ...  # three lines
''',
    solution="""\
def turn_pairs(X, angle):
    cos, sin = angle.cos().to(X.dtype), angle.sin().to(X.dtype)  # (..., T, d_k / 2) each
    left, right = X.chunk(2, dim=-1)  # (..., T, d_k / 2) each
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)
""",
    because="A point that is turned keeps its distance from the origin.",
    reference=_turn,
    cases=lambda: [
        (torch.randn(*shape, 2 * half), 3 * torch.rand(*shape, half))
        for shape, half in [((1,), 1), ((1,), 2), ((2,), 2), ((2, 3), 3)]
    ],
    gradient=True,
    mistakes=(
        (
            "These are turned the other way round. The minus belongs to the new left half.",
            lambda X, angle: _turn(X, angle, signs=(1, -1)),
        ),
        ("Both halves have a plus. The new left half needs the minus.",
         lambda X, angle: _turn(X, angle, signs=(1, 1))),
        ("Both halves have a minus. Only the new left half has one.",
         lambda X, angle: _turn(X, angle, signs=(-1, -1))),
        (
            "You pair neighbours, columns 2i and 2i + 1, as the paper does. Here column i of the "
            "left half goes with column i of the right half.",
            _neighbours,
        ),
        (
            "You pair neighbours, columns 2i and 2i + 1, and then put them into halves.",
            lambda X, angle: _neighbours(X, angle, back=False),
        ),
        ("The new right half is `right` times the cosine and `left` times the sine; yours is the "
         "other way about.", lambda X, angle: _turn(X, angle, crossed=True)),
        ("The points are right, but they come back as neighbours. Put the halves one after the "
         "other.",
         lambda X, angle: torch.stack(_turn(X, angle).chunk(2, dim=-1), dim=-1).flatten(-2)),
        ("The halves come back in the wrong order.",
         lambda X, angle: _turn(X, angle, swapped=True)),
        ("Cosine and sine have changed places.",
         lambda X, angle: _turn(X, angle, swap_angle=True)),
        (
            "The right half is made of the new left half. Both need the old ones.",
            _step_by_step,
        ),
        ("`chunk` cuts dimension 0 if you name no other: `dim=-1` cuts the columns.", _cut_rows),
        (
            "`angle` is in radians, as `cos` and `sin` want it: it needs no factor.",
            lambda X, angle: _turn(X, angle.deg2rad()),
        ),
        *(
            (
                "`stack` makes a new dimension. `torch.cat([...], dim=-1)` puts one half after the "
                "other.",
                lambda X, angle, dim=dim: torch.stack(_turn(X, angle).chunk(2, dim=-1), dim=dim),
            )
            for dim in (0, -1)
        ),
    ),
    wrong={
        """\
def turn_pairs(X, angle):
    left, right = X.chunk(2, dim=-1)
    return torch.cat([left * angle.cos() + right * angle.sin(),
                      right * angle.cos() - left * angle.sin()], dim=-1)
""": "the other way round",
        """\
def turn_pairs(X, angle):
    a, b = X[..., ::2], X[..., 1::2]
    cos, sin = angle.cos(), angle.sin()
    return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)
""": "pair neighbours",
        """\
def turn_pairs(X, angle):
    left, right = X.chunk(2, dim=-1)
    left = left * angle.cos() - right * angle.sin()
    right = right * angle.cos() + left * angle.sin()
    return torch.cat([left, right], dim=-1)
""": "old ones",
        """\
def turn_pairs(X, angle):
    left, right = X.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([left * cos + right * sin, right * cos + left * sin], dim=-1)
""": "Both halves have a plus",
        """\
def turn_pairs(X, angle):
    left, right = X.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([left * cos - right * sin, left * cos + right * sin], dim=-1)
""": "other way about",
        """\
def turn_pairs(X, angle):
    left, right = X.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.stack([left * cos - right * sin, right * cos + left * sin], -1).flatten(-2)
""": "come back as neighbours",
        """\
def turn_pairs(X, angle):
    left, right = X.chunk(2)
    return torch.cat([left * angle.cos() - right * angle.sin(),
                      right * angle.cos() + left * angle.sin()], dim=-1)
""": "`dim=-1` cuts the columns",
        """\
def turn_pairs(X, angle):
    left, right = X.chunk(2, dim=-1)
    cos, sin = (angle * math.pi / 180).cos(), (angle * math.pi / 180).sin()
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)
""": "in radians",
        """\
def turn_pairs(X, angle):
    left, right = X.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.stack([left * cos - right * sin, right * cos + left * sin], dim=-1)
""": "makes a new dimension",
    },
    right=(
        """\
def turn_pairs(X, angle):
    half = X.shape[-1] // 2
    turned = torch.cat([-X[..., half:], X[..., :half]], dim=-1)
    both = torch.cat([angle, angle], dim=-1)
    return X * both.cos() + turned * both.sin()
""",
        """\
def turn_pairs(X, angle):
    half = angle.shape[-1]
    points = torch.complex(X[..., :half], X[..., half:])
    points = points * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([points.real, points.imag], dim=-1)
""",
    ),
)  # fmt: skip
