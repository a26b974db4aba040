"""A test of rotations, whatever their layout."""

import torch

from tutor.check.exercise import TEST, Exercise

BASE = 10_000.0


def _angle(X, places, slower=1.0, dtype=torch.float64):
    d_k = X.shape[-1]
    even = torch.arange(0, d_k, 2, dtype=dtype)
    return places[:, None].to(dtype) * BASE ** (-slower * even / d_k)  # (T, d_k / 2)


def _halves(X, angle, signs=(-1, 1)):
    cos, sin = angle.cos().to(X.dtype), angle.sin().to(X.dtype)
    a, b = X.chunk(2, dim=-1)
    new = [a * cos + signs[0] * b * sin, b * cos + signs[1] * a * sin]
    return torch.cat(new, dim=-1)


def _by_complex_numbers(X, places):
    """Neighbours are pairs."""
    points = torch.view_as_complex(X.double().reshape(len(X), -1, 2))
    turned = points * torch.exp(1j * _angle(X, places))
    return torch.view_as_real(turned).flatten(1).to(X.dtype)


def _inwards(X, places):
    """Columns i and d_k - 1 - i are pair i."""
    half = X.shape[1] // 2
    Y = _halves(torch.cat([X[:, :half], X[:, half:].flip(1)], dim=1), _angle(X, places))
    return torch.cat([Y[:, :half], Y[:, half:].flip(1)], dim=1)


def _add(X, places):
    angle = _angle(X, places)
    return X + torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).to(X.dtype)


test_rotation = Exercise(
    name="test_rotation",
    chapter="16",
    section="Positions that turn",
    kind=TEST,
    title="Test a rotation",
    goal="Test what a rotation promises, and nothing that it leaves open.",
    difficulty=4,
    importance=4,
    minutes=14,
    text="""\
Some programs pair halves, others pair neighbours, and the way round is free as well, if queries and
keys share it. All of them are RoPE. Write **one** test that passes every right one. It is tried on
four right functions and on eight mutants.

What all have in common stands in the stub. They may differ in rounding, so allow for 0.001. Several
rows of `X` may have the same place.""",
    hints=(
        "At place 0 nothing is turned. And what must be true of the scores between turned queries "
        "and keys, if all of them move on by 101?",
        "A mutant with the wrong speeds passes both. Send in the rows of `torch.eye(d_k)`, all at "
        "one place: column j of row j is the cosine of its pair's angle. Sort what comes back.",
        "`Y = rotate(torch.eye(6), torch.full((6,), 100))`: `Y.diagonal().sort().values` are the "
        "cosines of the angles, each twice, and `Y @ Y.T` is `torch.eye(6)`. Rows of several "
        "places must be turned as each alone, and scores must stay if all places move on by 1.",
    ),
    stub='''\
def test_rotation(rotate):
    """Raises AssertionError if rotate is wrong.

    rotate: from X and places to Y
        X: float tensor (T, d_k), d_k even
        places: int tensor (T,), in any order, from 0 to 1,000
        Y: float tensor (T, d_k), the rows of X turned by their places

    The columns make d_k / 2 pairs. Pair i is turned by place * 10000 ** (-2 * i / d_k) radians,
    and stays in its columns. Left open: which columns are pair i, and which way round it turns.
    """
    raise NotImplementedError
''',
    solution='''\
def test_rotation(rotate):
    """Raises AssertionError if rotate is wrong."""
    d_k = 6
    X = torch.eye(d_k)  # each row has a 1 in one column
    for place in (0, 1, 7, 900):
        Y = rotate(X, torch.full((d_k,), place))  # (d_k, d_k)
        angle = place * 10_000.0 ** (-torch.arange(0, d_k, 2) / d_k)  # (d_k / 2,)
        cosines = angle.cos().repeat(2).sort().values  # two columns a pair
        assert torch.allclose(Y.diagonal().sort().values, cosines, atol=1e-3)
        products = Y @ Y.T  # (d_k, d_k): lengths and right angles stay
        assert torch.allclose(products, X, atol=1e-3)

    places = torch.tensor([5, 0, 900, 2, 1, 4])  # one for each row, and in no order
    Y, Z = rotate(X, places), rotate(X, places + 1)  # (d_k, d_k) each
    alone = [rotate(X[t : t + 1], places[t : t + 1]) for t in range(d_k)]  # (1, d_k) each
    assert torch.allclose(Y, torch.cat(alone), atol=1e-3)
    assert torch.allclose(Z @ Z.T, Y @ Y.T, atol=1e-3)  # (d_k, d_k): only distances count
''',
    because="A test of what is promised outlives the layout; a copy of one program does not.",
    twins={
        "pairs halves": lambda X, places: _halves(X, _angle(X, places)),
        "pairs neighbours, as complex numbers": _by_complex_numbers,
        "pairs halves, turns clockwise, and computes the angles in float32": lambda X, places: (
            _halves(X, _angle(X, places, dtype=torch.float32), signs=(1, -1))
        ),
        "pairs the first column with the last, and so on inwards": _inwards,
    },
    mutants={
        "adds sinusoidal positions and turns nothing": _add,
        "ignores `places` and counts rows from 0": lambda X, places: _halves(
            X, _angle(X, torch.arange(len(X)))
        ),
        "turns all pairs with the speed of the first": lambda X, places: _halves(
            X, _angle(X, places, slower=0.0)
        ),
        "forgets the minus, so that lengths change": lambda X, places: _halves(
            X, _angle(X, places), signs=(1, 1)
        ),
        "turns no further from place 512 on, like a table that ends there": lambda X, places: (
            _halves(X, _angle(X, places.clamp(max=511)))
        ),
        "slows down too little from pair to pair: the exponent is -i / d_k": lambda X, places: (
            _halves(X, _angle(X, places, slower=0.5))
        ),
        "turns all rows by the place of the first": lambda X, places: _halves(
            X, _angle(X, places[:1].expand(len(X)))
        ),
        "turns the other way round at odd places": lambda X, places: _halves(
            X, _angle(X, places * (1 - 2 * (places % 2)))
        ),
    },
    wrong={
        """\
def test_rotation(rotate):
    X = torch.randn(5, 8)
    assert torch.allclose(rotate(X, torch.zeros(5, dtype=torch.long)), X, atol=1e-3)
""": "with the speed of the first",
        """\
def test_rotation(rotate):
    Q, K = torch.randn(2, 5, 8)
    def scores(start):
        places = torch.arange(start, start + 5)
        return rotate(Q, places) @ rotate(K, places).T
    assert torch.allclose(scores(0), scores(100), atol=1e-3)
""": "ignores `places`",
        """\
def test_rotation(rotate):
    Q, K = torch.randn(2, 1, 8)
    def score(m, n):
        return rotate(Q, torch.tensor([m])) @ rotate(K, torch.tensor([n])).T
    assert torch.allclose(score(0, 3), score(900, 903), atol=1e-2)
    assert not torch.allclose(score(0, 3), score(0, 5), atol=1e-3)
    assert torch.allclose(rotate(Q, torch.tensor([0])), Q, atol=1e-3)
""": "with the speed of the first",
        """\
def test_rotation(rotate):
    X, places = torch.randn(5, 8), torch.tensor([0, 3, 9, 700, 1000])
    assert torch.allclose(rotate(X, places).norm(dim=1), X.norm(dim=1), atol=1e-3)
""": "ignores `places`",
        """\
def test_rotation(rotate):
    from tutor.modern import rotate as ours
    X, places = torch.randn(5, 8), torch.tensor([0, 3, 9, 700, 1000])
    assert torch.allclose(rotate(X, places), ours(X, places), atol=1e-3)
""": "fails a right function, one that pairs neighbours",
        """\
def test_rotation(rotate):
    from tutor.modern import rotate as ours
    X, places = torch.randn(1, 8), torch.tensor([7])
    assert torch.equal(rotate(X, places), ours(X, places))
""": "fails a right function",
        """\
def test_rotation(rotate):
    X = torch.eye(8)
    for place in (0, 1, 5):
        Y = rotate(X, torch.full((8,), place))
        angle = place * 10_000.0 ** (-torch.arange(0, 8, 2) / 8)
        cosines = angle.cos().repeat(2).sort().values
        assert torch.allclose(Y.diagonal().sort().values, cosines, atol=1e-3)
        assert torch.allclose(Y @ Y.T, X, atol=1e-3)
""": "no further from place 512",
        """\
def test_rotation(rotate):
    X = torch.eye(8)
    for place in (0, 7, 900):
        Y = rotate(X, torch.full((8,), place))
        angle = place * 10_000.0 ** (-torch.arange(0, 8, 2) / 8)
        cosines = angle.cos().repeat(2).sort().values
        assert torch.allclose(Y.diagonal().sort().values, cosines, atol=1e-3)
        assert torch.allclose(Y.norm(dim=1), torch.ones(8), atol=1e-3)
""": "forgets the minus",
        """\
def test_rotation(rotate):
    X = torch.eye(8)
    Y = rotate(X, torch.full((8,), 1))
    angle = 10_000.0 ** (-torch.arange(0, 8, 2) / 8)
    assert torch.allclose(Y.diagonal().sort().values, angle.cos().repeat(2).sort().values)
    assert torch.allclose(Y @ Y.T, X, atol=1e-5)
""": "no further from place 512",
        """\
def test_rotation(rotate):
    X, place = torch.eye(8), 3
    Y = rotate(X, torch.full((8,), place))
    cosines = [math.cos(place * 10_000 ** (-2 * (j // 2) / 8)) for j in range(8)]
    assert torch.allclose(Y.diagonal(), torch.tensor(cosines), atol=1e-3)
""": "fails a right function, one that pairs halves",
        """\
def test_rotation(rotate):
    assert rotate(torch.randn(2, 4), torch.tensor([0, 1])) == 0
""": "asks whether a whole tensor is true",
        """\
def test_rotation(rotate):
    X = torch.randn(5, 8)
    return torch.allclose(rotate(X, torch.arange(1, 6)), X)
""": "fails whatever it is given",
        """\
def test_rotation(rotate):
    def turned(X, places, neighbours, sign):
        angle = sign * places[:, None] * 10_000.0 ** (-torch.arange(0, 8, 2).double() / 8)
        a, b = (X[:, 0::2], X[:, 1::2]) if neighbours else (X[:, :4], X[:, 4:])
        new = a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()
        return torch.stack(new, dim=-1).flatten(1) if neighbours else torch.cat(new, dim=1)

    X, places = torch.randn(6, 8), torch.tensor([1000, 0, 5, 1, 600, 2])
    Y = rotate(X, places).double()
    assert any(torch.allclose(Y, turned(X.double(), places, neighbours, sign), atol=1e-3)
               for neighbours in (False, True) for sign in (1, -1))
""": "one that pairs the first column with the last",
    },
    right=(
        """\
def test_rotation(rotate):
    Q, K = torch.randn(2, 4, 6)
    places = torch.tensor([3, 0, 2, 9])

    def scores(shift):
        return rotate(Q, places + shift) @ rotate(K, places + shift).T

    for shift in (1, 50, 991):
        assert (scores(shift) - scores(0)).abs().max() < 5e-3
    assert (rotate(Q, torch.zeros(4, dtype=torch.long)) - Q).abs().max() < 1e-3
    for place in (1, 3, 600):
        shares = rotate(torch.eye(6), torch.full((6,), place)).diagonal().tolist()
        wanted = 2 * [math.cos(place * 10_000 ** (-i / 6)) for i in (0, 2, 4)]
        assert all(abs(a - b) < 1e-3 for a, b in zip(sorted(shares), sorted(wanted)))
    for row, place in zip(rotate(Q, places), places):
        assert (row - rotate(Q, place.repeat(4))).abs().amax(dim=1).min() < 1e-3
""",
        """\
def test_rotation(rotate):
    ok = True
    for d_k in (2, 8):
        for place in (0, 2, 1000):
            Y = rotate(torch.eye(d_k), torch.tensor([place] * d_k)).double()
            ok = ok and bool(((Y @ Y.T) - torch.eye(d_k)).abs().max() < 1e-3)
            found = torch.linalg.eigvals(Y).angle().abs().sort().values
            angle = place * 10_000.0 ** (-torch.arange(0, d_k, 2).double() / d_k)
            angle = torch.atan2(angle.sin(), angle.cos()).abs().repeat_interleave(2)
            ok = ok and bool((found - angle.sort().values).abs().max() < 2e-3)
    X, places = torch.randn(5, 8), torch.tensor([7, 8, 500, 0, 7])
    turned, later = rotate(X, places), rotate(X, places + 3)
    ok = ok and bool((turned[3:] - rotate(X[3:], places[3:])).abs().max() < 1e-3)
    return ok and bool((turned @ turned.T - later @ later.T).abs().max() < 1e-2)
""",
    ),
)
