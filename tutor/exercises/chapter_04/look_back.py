"""A head that looks back, set by hand."""

import math

import torch

from tutor.check.exercise import WRITE, Exercise
from tutor.positions import sinusoidal_positions

SHARE = 0.9  # of the weight that a row must give to its one place


def _looks(answer, d_model, k, S):
    """The place that each row looks at most, and whether the rows that look right are too soft."""
    W_Q = answer(d_model, k)
    if not isinstance(W_Q, torch.Tensor) or W_Q.shape != (d_model, d_model):
        raise TypeError(f"W_Q must be a tensor of shape ({d_model}, {d_model})")
    P = sinusoidal_positions(S, d_model, torch.float64)  # (S, d_model)
    E = P @ W_Q.double() @ P.T / math.sqrt(d_model)  # (S, S)
    rough = (E / E.abs().max().clamp(min=1e-9)).round(decimals=5)  # no rounding decides a tie
    looked = rough[k:].argmax(-1)  # (S - k,)
    right = bool((looked == torch.arange(S - k)).all())
    return looked, right and bool((E.softmax(-1)[k:].diagonal() < SHARE).any())


def _hands(d_model, k, sign=-1.0, scale=1e4, power=2.0, mirrored=False):
    """Turn each hand of a place by k words: back, if sign is -1."""
    W = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        angle = sign * k / 10_000 ** (power * i / d_model)
        sin, cos = math.sin(angle), math.cos(angle)
        turn = [[cos, sin], [sin, -cos]] if mirrored else [[cos, -sin], [sin, cos]]
        W[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor(turn)
    return scale * W


def _squeezed(d_model, k):
    """[[cos, sin], [sin, cos]] for each hand."""
    W = _hands(d_model, k)
    W[range(1, d_model, 2), range(0, d_model, 2)] *= -1
    return W


def _exchanged(d_model, k, sign):
    """[[sin, cos], [-cos, sin]] for each hand, or the other way round."""
    W = _hands(d_model, k, sign=1.0)
    quarter = torch.block_diag(*[torch.tensor([[0.0, 1.0], [-1.0, 0.0]])] * (d_model // 2))
    return W @ quarter if sign > 0 else W.T @ quarter.T


def _in_halves(d_model, k):
    """The same hands, all sines first and then all cosines, as in another layout of the table."""
    order = [*range(0, d_model, 2), *range(1, d_model, 2)]
    return _hands(d_model, k)[order][:, order]


def _hands_one_by_one(d_model, k):
    """Each column multiplied by its own cosine, without the sine that mixes a pair."""
    return torch.diag(_hands(d_model, k).diagonal())


look_back = Exercise(
    name="look_back",
    chapter="04",
    section="Saying where a word stands",
    kind=WRITE,
    title="A head that looks back, set by hand",
    goal="Set the weights of a head so that it finds a word by its distance.",
    difficulty=4,
    importance=4,
    minutes=12,
    text=f"""\
Training found a head that looks one word back. **Set one by hand** that looks $k$ words back,
wherever it stands. It reads nothing but places: the rows of the table $P$ of this chapter
(`sinusoidal_positions`, $d_{{model}}$ even). Its keys are these rows themselves, $W_K = I$, so that
the scores are

$$E = \\frac{{(P \\, W_Q) \\, P^T}}{{\\sqrt{{d_{{model}}}}}}$$

Return $W_Q$. Each row $t \\ge k$ must give the key $t - k$ at least {SHARE:.0%} of its weight
after the softmax. For $k = 0$ that is the row itself; rows before $k$ may look anywhere. It is
tried with tables of up to 24 places and $d_{{model}}$ from 8 to 16. Formulas that you need are in
the fold *why sines?* of the section.

In messages, item 0 is the key that each row from $k$ on looks at most. Item 1 is True if these keys
are right, but get too little weight.""",
    hints=(
        "The query of row $t$ should be the row $t - k$ of the table, times some number. So by "
        "which angle does each hand turn, and which way? Try $d_{model} = 2$ and $k = 1$ first.",
        "$W_Q$ has one 2 x 2 block for each hand, on its diagonal, and zeros elsewhere. The fold "
        "has the block that goes $k$ words forward. By which angle does hand $i$ turn?",
        "Two neighbouring keys have nearly the same score. The softmax is as sharp as you like if "
        "you multiply $W_Q$ by a large number, such as 1000.",
    ),
    stub='''\
def look_back(d_model, k):
    """W_Q of a head whose row t attends to key t - k, by sinusoidal places alone.

    d_model: even int; k: int, 0 or more
    Returns W_Q: float tensor (d_model, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def look_back(d_model, k):
    """W_Q of a head whose row t attends to key t - k, by sinusoidal places alone.

    d_model: even int; k: int, 0 or more
    Returns W_Q: float tensor (d_model, d_model)
    """
    blocks = []
    for i in range(d_model // 2):
        b = -k / 10_000 ** (2 * i / d_model)  # back
        sin, cos = math.sin(b), math.cos(b)
        blocks.append(torch.tensor([[cos, -sin], [sin, cos]]))
    return 1000 * torch.block_diag(*blocks)
''',
    because="One matrix serves every place, since a step of k words is the same turn everywhere: "
    "that is what the sines are for.",
    reference=_hands,
    cases=lambda: [(8, 1, 6), (8, 0, 4), (8, 2, 5), (16, 3, 12), (8, 9, 24), (12, 1, 12)],
    call=_looks,
    mistakes=(
        (
            "Your head looks k words ahead. In the fold the matrix turns a row to the place k "
            "words later; you need the turn back.",
            lambda d_model, k: _hands(d_model, k, sign=1.0),
        ),
        (
            "Every row looks at itself: the hands of its query are not turned, or hardly. Angles "
            "are in radians.",
            lambda d_model, k: _hands(d_model, 0),
        ),
        (
            "Your head looks one word back, whatever k is.",
            lambda d_model, k: _hands(d_model, 1),
        ),
        *(
            (
                "Your head looks at the right keys, but not sharply enough, or only in short "
                "texts. Scores of neighbours are close together: make the queries longer.",
                lambda d_model, k, scale=scale: _hands(d_model, k, scale=scale),
            )
            for scale in (1.0, 20.0, 22.0, 30.0)  # soft in all cases, in three, in two, in one
        ),
        (
            "Your hands turn at other speeds than the table's: pair i has the exponent 2i / "
            "d_model.",
            lambda d_model, k: _hands(d_model, k, power=1.0),
        ),
        (
            "Your hands turn at other speeds than the table's. The exponent is 2i / d_model; if "
            "your loop steps through the columns by two, its number is 2i already.",
            lambda d_model, k: _hands(d_model, k, power=4.0),
        ),
        (
            "You treat the first half of the columns as sines and the second as cosines. In this "
            "table they alternate: a pair stands side by side.",
            _in_halves,
        ),
        (
            "A minus is missing or at the wrong place: your blocks mirror a hand, and do not turn "
            "it.",
            lambda d_model, k: _hands(d_model, k, mirrored=True),
        ),
        (
            "A minus is missing: your blocks do not turn a hand, but squeeze it.",
            _squeezed,
        ),
        (
            "Sine and cosine are exchanged in your blocks: a turn by 0 must leave a hand where it "
            "is.",
            lambda d_model, k: _exchanged(d_model, k, 1.0),
        ),
        (
            "Sine and cosine are exchanged in your blocks: a turn by 0 must leave a hand where it "
            "is.",
            lambda d_model, k: _exchanged(d_model, k, -1.0),
        ),
        (
            "The keys that should win have the lowest scores: a sign in front of the whole matrix "
            "is turned.",
            lambda d_model, k: -_hands(d_model, k),
        ),
        (
            "Your hands turn faster and faster from pair to pair. Divide k by the power.",
            lambda d_model, k: _hands(d_model, k, power=-2.0),
        ),
        (
            "Your head looks one word too far back.",
            lambda d_model, k: _hands(d_model, k + 1),
        ),
        (
            "Your head looks back one word less than k.",
            lambda d_model, k: _hands(d_model, k - 1),
        ),
        (
            "You multiply each column by its cosine. A turn also mixes sine and cosine of a pair.",
            _hands_one_by_one,
        ),
        (
            "All hands turn by the same angle. Each hand has its own speed: divide k by 10000 to "
            "the power 2i / d_model.",
            lambda d_model, k: _hands(d_model, k, power=0.0),
        ),
        (
            "That matrix moves columns, as if places were one-hot. Here a place is a set of clock "
            "hands: turn them.",
            lambda d_model, k: 1e4 * torch.eye(d_model).roll(-k, 1),
        ),
        (
            "That matrix moves columns, as if places were one-hot. Here a place is a set of clock "
            "hands: turn them.",
            lambda d_model, k: 1e4 * torch.eye(d_model).roll(k, 1),
        ),
        (
            "All scores are equal, so every key gets the same weight.",
            lambda d_model, k: torch.zeros(d_model, d_model),
        ),
        (
            "Your answer is no matrix with d_model rows and columns: one block of 2 x 2 for each "
            "hand, on the diagonal, and zeros around it.",
            lambda d_model, k: _hands(d_model + 2, k),
        ),
    ),
    wrong={
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), -b.sin()
    return 20 * W
""": "only in short texts",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), -b.sin()
    return 30 * W
""": "only in short texts",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = -b.sin(), b.sin()
    return 500 * W
""": "k words ahead",
        """\
def look_back(d_model, k):
    return 100 * torch.eye(d_model)
""": "looks at itself",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(1 / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), -b.sin()
    return 500 * W
""": "one word back, whatever",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), -b.sin()
    return math.sqrt(d_model) * W
""": "not sharply enough",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        b = torch.tensor(k / 10000 ** (i / d_model))
        j = 2 * i
        W[j, j] = W[j + 1, j + 1] = b.cos()
        W[j, j + 1], W[j + 1, j] = b.sin(), -b.sin()
    return 500 * W
""": "pair i has the exponent",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k / 10000 ** (2 * i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), -b.sin()
    return 500 * W
""": "2i already",
        """\
def look_back(d_model, k):
    half = d_model // 2
    b = k / 10000 ** (2 * torch.arange(half) / d_model)
    C, D = torch.diag(b.cos()), torch.diag(b.sin())
    return 1000 * torch.cat([torch.cat([C, D], 1), torch.cat([-D, C], 1)])
""": "In this table they alternate",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k / 10000 ** (i / d_model))
        W[i, i], W[i, i + 1] = b.cos(), -b.sin()
        W[i + 1, i], W[i + 1, i + 1] = -b.sin(), -b.cos()
    return 500 * W
""": "mirror a hand",
        """\
def look_back(d_model, k):
    b = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return 1000 * torch.diag(b.cos().repeat_interleave(2))
""": "multiply each column",
        """\
def look_back(d_model, k):
    turn = torch.tensor([[math.cos(k), math.sin(k)], [-math.sin(k), math.cos(k)]])
    return 1000 * torch.block_diag(*[turn] * (d_model // 2))
""": "same angle",
        """\
def look_back(d_model, k):
    return 1000 * torch.eye(d_model).roll(-k, dims=0)
""": "moves columns",
        """\
def look_back(d_model, k):
    return 1000 * torch.tensor([[math.cos(k), math.sin(k)], [-math.sin(k), math.cos(k)]])
""": "no matrix with d_model rows",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), b.sin()
    return 500 * W
""": "squeeze",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.sin()
        W[i, i + 1], W[i + 1, i] = b.cos(), -b.cos()
    return 500 * W
""": "are exchanged",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), -b.sin()
    return -500 * W
""": "whole matrix",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(k * 10000.0 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), -b.sin()
    return 500 * W
""": "faster and faster",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor((k + 1) / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), -b.sin()
    return 500 * W
""": "too far back",
        """\
def look_back(d_model, k):
    W = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        b = torch.tensor(math.radians(k) / 10000 ** (i / d_model))
        W[i, i] = W[i + 1, i + 1] = b.cos()
        W[i, i + 1], W[i + 1, i] = b.sin(), -b.sin()
    return 500 * W
""": "in radians",
    },
    right=(
        """\
from tutor.positions import sinusoidal_positions


def look_back(d_model, k):
    P = sinusoidal_positions(64, d_model, torch.float64)
    return 1e3 * torch.linalg.lstsq(P[k:], P[:len(P) - k]).solution
""",
        """\
def look_back(d_model, k):
    even = torch.arange(0, d_model, 2)
    b = k / 10_000 ** (even / d_model)
    W_Q = torch.zeros(d_model, d_model)
    W_Q[even, even] = W_Q[even + 1, even + 1] = b.cos()
    W_Q[even, even + 1] = b.sin()
    W_Q[even + 1, even] = -b.sin()
    return W_Q * 300
""",
    ),
)
