"""Exercises of chapter 04: positions, LayerNorm, residual connections, padding, parameters."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import EXPLAIN, MEND, PREDICT, WRITE, Exercise
from tutor.museum import EXHIBITS
from tutor.positions import sinusoidal_positions

parameters_of_a_layer = Exercise(
    name="parameters_of_a_layer",
    chapter="04",
    section="Counting the parameters of a layer",
    kind=PREDICT,
    title="How many numbers does a layer learn?",
    goal="Count the parameters of an encoder layer, term by term.",
    difficulty=2,
    importance=3,
    minutes=8,
    text="""\
An encoder layer of this chapter has $d_{model} = 6$, $d_{ff} = 10$ and 3 heads, which share the
width. **Predict** how many numbers it learns: one whole number, on paper.""",
    hints=(
        "Four parts: attention, the two matrices of feed-forward, their biases, the LayerNorms.",
        "Attention has four matrices of $d_{model} \\times d_{model}$ and no biases. How many "
        "LayerNorms has a layer, and what does each of them learn?",
        "$4 \\cdot 36$, then $2 \\cdot 60$, then $10 + 6$, then $4 \\cdot 6$.",
    ),
    stub="parameters_of_a_layer = None  # a whole number",
    solution="parameters_of_a_layer = 304",
    because="144 for attention, 120 and 16 for feed-forward, 24 for the two LayerNorms.",
    reference=304,
    mistakes=(
        (
            "You gave the attention four biases; it has none, in the paper and here.",
            328,
        ),
        (
            "You counted three matrices of attention; the heads' results pass through a fourth.",
            268,
        ),
        (
            "You counted the attention once for each head; the heads cut the columns of the same "
            "four matrices.",
            592,
        ),
        (
            "The LayerNorms are missing; each of the two learns a scale and a shift.",
            280,
        ),
        (
            "You counted one LayerNorm, or a scale without a shift; each of the two has both.",
            292,
        ),
        (
            "The biases of feed-forward are missing.",
            288,
        ),
        (
            "You counted one matrix of feed-forward; there is a way in and a way out.",
            244,
        ),
        (
            "You counted the attention alone; feed-forward and two LayerNorms learn as well.",
            144,
        ),
    ),
    wrong={
        "parameters_of_a_layer = 4 * (36 + 6) + 2 * 60 + 16 + 24": "four biases",
        "parameters_of_a_layer = 3 * 36 + 136 + 24": "three matrices",
        "parameters_of_a_layer = 3 * 4 * 36 + 136 + 24": "once for each head",
        "parameters_of_a_layer = 4 * 36 + 2 * 60 + 10 + 6": "LayerNorms are missing",
        "parameters_of_a_layer = 4 * 36 + 2 * 60 + 10 + 6 + 2 * 6": "scale without a shift",
        "parameters_of_a_layer = 4 * 6**2 + 2 * 6 * 10 + 4 * 6": "biases of feed-forward",
        "parameters_of_a_layer = 144 + 60 + 16 + 24": "a way in and a way out",
        "parameters_of_a_layer = 4 * 6 * 6": "attention alone",
        "parameters_of_a_layer = [144, 136, 24]": "a number is wanted",
    },
    right=(
        """\
d, f = 6, 10
parameters_of_a_layer = 4 * d * d + 2 * d * f + f + d + 2 * (d + d)
""",
        """\
from tutor.encoder import EncoderLayer
parameters_of_a_layer = sum(p.numel() for p in EncoderLayer(6, 3, 10).parameters())
""",
    ),
)


def _positions(exponent, base=10_000, first=0, waves=(torch.sin, torch.cos), crash=None):
    """A table of positions with another exponent, base, first number or pair of waves.

    exponent: (column, d_model) -> the exponent of the base. crash: what an odd width raises.
    """

    def table(max_len, d_model):
        fits = d_model == 1 and crash is RuntimeError  # no column, no complaint
        if crash and d_model % 2 and not fits:
            raise crash
        pos = torch.arange(first, first + max_len, dtype=torch.float64)[:, None]
        column = torch.arange(d_model, dtype=torch.float64)
        angle = pos / base ** exponent(column, d_model)  # (max_len, d_model)
        return torch.where(column % 2 == 0, *(wave(angle) for wave in waves)).float()

    return table


def _even(column, d_model):
    return column // 2 * 2 / d_model


def _halves(max_len, d_model):
    P = sinusoidal_positions(max_len, d_model)
    return torch.cat([P[:, 0::2], P[:, 1::2]], dim=-1)


_FORMULAS = (
    (
        "The exponent is doubled: a loop or range in steps of two has the 2i of the formula "
        "already.",
        dict(exponent=lambda column, d_model: 2 * _even(column, d_model)),
    ),
    (
        "The exponent is doubled, and the cosine has a frequency of its own; both waves of a pair "
        "have the exponent 2i / d_model.",
        dict(exponent=lambda column, d_model: 2 * column / d_model),
    ),
    (
        "The cosine has a frequency of its own; sine and cosine of a pair share one angle.",
        dict(exponent=lambda column, d_model: column / d_model),
    ),
    (
        "All columns have the same frequency: `//` makes the exponent a whole number; divide "
        "with `/`.",
        dict(exponent=lambda column, d_model: 0 * column),
    ),
    (
        "The exponent is half as large as it must be: the formula has 2i, and your i counts pairs.",
        dict(exponent=lambda column, d_model: _even(column, d_model) / 2),
    ),
    (
        "Sine and cosine are exchanged: even columns hold sines.",
        dict(exponent=_even, waves=(torch.cos, torch.sin)),
    ),
    (
        "Your positions are counted from 1; the first row is that of position 0.",
        dict(exponent=_even, first=1),
    ),
    (
        "Your base is not that of the formula; it is 10000.",
        dict(exponent=_even, base=1_000),
    ),
)

position_table = Exercise(
    name="position_table",
    chapter="04",
    section="Saying where a word stands",
    kind=WRITE,
    title="The hands of the clock",
    goal="Turn the formula of the positions into a table, at every width.",
    difficulty=3,
    importance=4,
    minutes=15,
    text="""\
Write the table of positions:

$$P_{pos,\\,2i} = \\sin\\left(\\frac{pos}{10000^{2i / d_{model}}}\\right), \\qquad
P_{pos,\\,2i+1} = \\cos\\left(\\frac{pos}{10000^{2i / d_{model}}}\\right)$$

With loops or without, as you like. An odd width ends with a sine. The steps are these, shuffled;
put them in order first:

- *weave*: sines into the columns 0, 2, 4, ..., cosines into the columns 1, 3, 5, ...;
- *count*: positions as a column, the numbers $2i$ as a row;
- *turn*: sine and cosine of every angle;
- *divide*: one table of angles, with a column for each pair.""",
    hints=(
        "The order is: count, divide, turn, weave. Which pair does column 5 belong to?",
        "`torch.arange(max_len)[:, None]` is a column of positions, and "
        "`torch.arange(0, d_model, 2)` is a row that holds $2i$ already. Divided, they broadcast.",
        "`P[:, 0::2] = angle.sin()`. An odd width has one cosine less: cut the angles to "
        "`d_model // 2` columns first.",
    ),
    stub='''\
def position_table(max_len, d_model):
    """The table of sinusoidal positions.

    max_len: int, number of positions, counted from 0
    d_model: int, width, even or odd
    Returns P: float tensor (max_len, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def position_table(max_len, d_model):
    """The table of sinusoidal positions.

    max_len: int, number of positions, counted from 0
    d_model: int, width, even or odd
    Returns P: float tensor (max_len, d_model)
    """
    pos = torch.arange(max_len)[:, None]  # (max_len, 1)
    even = torch.arange(0, d_model, 2)  # the 2i of the formula
    angle = pos / 10_000 ** (even / d_model)  # (max_len, ceil(d_model / 2))
    P = torch.empty(max_len, d_model)
    P[:, 0::2] = angle.sin()
    P[:, 1::2] = angle[:, : d_model // 2].cos()
    return P
''',
    reference=sinusoidal_positions,
    cases=lambda: [(1, 2), (3, 2), (2, 4), (5, 6), (2, 1), (4, 3), (3, 5), (9, 13), (60, 8)],
    mistakes=(
        *((message, _positions(**how)) for message, how in _FORMULAS),
        *(
            (message, _positions(**how, crash=crash))
            for message, how in _FORMULAS
            for crash in (RuntimeError, IndexError)
        ),
        (
            "Even widths are right; an odd width has one cosine less than sines, and yours do not "
            "fit.",
            _positions(_even, crash=RuntimeError),
        ),
        (
            "Even widths are right; an odd width has no column behind its last sine, and you write "
            "there.",
            _positions(_even, crash=IndexError),
        ),
        (
            "All sines stand on the left and all cosines on the right; they take turns.",
            _halves,
        ),
        (
            "In an odd width your last column holds zeros; it must hold a sine.",
            lambda max_len, d_model: (
                sinusoidal_positions(max_len, d_model) * (torch.arange(d_model) < d_model // 2 * 2)
            ),
        ),
        (
            "Your table has a batch dimension in front; it has two dimensions alone.",
            lambda max_len, d_model: sinusoidal_positions(max_len, d_model)[None],
        ),
        (
            "Your table is turned round; it has a row for each position.",
            lambda max_len, d_model: sinusoidal_positions(max_len, d_model).T,
        ),
        (
            "The columns of the cosines hold zeros.",
            _positions(_even, waves=(torch.sin, torch.zeros_like)),
        ),
        (
            "All columns hold sines; the odd ones need cosines.",
            _positions(_even, waves=(torch.sin, torch.sin)),
        ),
    ),
    wrong={
        """\
def position_table(max_len, d_model):
    P = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for i in range(0, d_model, 2):
            P[pos, i] = math.sin(pos / 10000 ** (2 * i / d_model))
            if i + 1 < d_model:
                P[pos, i + 1] = math.cos(pos / 10000 ** (2 * i / d_model))
    return P
""": "exponent is doubled: a loop",
        """\
def position_table(max_len, d_model):
    P = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for i in range(0, d_model, 2):
            P[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
            P[pos, i + 1] = math.cos(pos / (10000 ** ((2 * (i + 1)) / d_model)))
    return P
""": "doubled, and the cosine",
        """\
def position_table(max_len, d_model):
    pos = torch.arange(max_len).unsqueeze(1)
    i = torch.arange(d_model).unsqueeze(0)
    angles = pos / torch.pow(10000, i / d_model)
    angles[:, 0::2] = torch.sin(angles[:, 0::2])
    angles[:, 1::2] = torch.cos(angles[:, 1::2])
    return angles
""": "share one angle",
        """\
def position_table(max_len, d_model):
    P = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for c in range(d_model):
            angle = pos / 10000 ** (2 * (c // 2) // d_model)
            P[pos, c] = math.sin(angle) if c % 2 == 0 else math.cos(angle)
    return P
""": "the same frequency",
        """\
def position_table(max_len, d_model):
    P = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for c in range(d_model):
            i = c // 2
            angle = pos / 10000 ** (i / d_model)
            P[pos, c] = math.sin(angle) if c % 2 == 0 else math.cos(angle)
    return P
""": "your i counts pairs",
        """\
def position_table(max_len, d_model):
    pos = torch.arange(max_len)[:, None]
    angle = pos * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    P = torch.zeros(max_len, d_model)
    P[:, 0::2] = angle.cos()
    P[:, 1::2] = angle[:, :d_model // 2].sin()
    return P
""": "exchanged",
        """\
def position_table(max_len, d_model):
    pos = torch.arange(1, max_len + 1)[:, None]
    angle = pos / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    P = torch.zeros(max_len, d_model)
    P[:, 0::2] = angle.sin()
    P[:, 1::2] = angle.cos()
    return P
""": "counted from 1",
        """\
def position_table(max_len, d_model):
    position = torch.arange(0, max_len).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe = torch.zeros(max_len, d_model)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
""": "yours do not fit",
        """\
def position_table(max_len, d_model):
    P = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for i in range(0, d_model, 2):
            angle = pos / 10000 ** (i / d_model)
            P[pos, i], P[pos, i + 1] = math.sin(angle), math.cos(angle)
    return P
""": "you write there",
        """\
def position_table(max_len, d_model):
    pos = torch.arange(max_len)[:, None]
    angle = pos / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angle.sin(), angle[:, :d_model // 2].cos()], dim=-1)
""": "on the left",
        """\
def position_table(max_len, d_model):
    columns = []
    for c in range(d_model):
        angle = torch.arange(max_len) / 10000 ** (c // 2 * 2 / d_model)
        columns.append(angle.cos() if c % 2 else angle.sin())
    return torch.stack(columns)
""": "turned round",
        """\
def position_table(max_len, d_model):
    P = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            P[pos, 2 * i] = math.sin(angle)
            P[pos, 2 * i + 1] = math.cos(angle)
    return P
""": "last column holds zeros",
        """\
def position_table(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(max_len).float().unsqueeze(1)
    div_term = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)[:, : d_model // 2]
    return pe.unsqueeze(0)
""": "a batch dimension in front",
        """\
def position_table(max_len, d_model):
    pos = torch.arange(max_len)[:, None]
    column = torch.arange(d_model)
    angle = pos / 10000 ** (column // 2 * 2 / d_model)
    return angle.sin()
""": "all columns hold sines",
        """\
def position_table(max_len, d_model):
    from tutor import sinusoidal_positions
    return sinusoidal_positions(max_len, d_model)
""": "calls `sinusoidal_positions`",
    },
    right=(
        """\
def position_table(max_len, d_model):
    P = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for c in range(d_model):
            angle = pos / 10000 ** (2 * (c // 2) / d_model)
            P[pos, c] = math.sin(angle) if c % 2 == 0 else math.cos(angle)
    return P
""",
        """\
def position_table(max_len, d_model):
    div = torch.exp(-math.log(10000) * torch.arange(0, d_model, 2) / d_model)
    angle = torch.outer(torch.arange(max_len).float(), div)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :d_model]
""",
        """\
def position_table(max_len, d_model):
    column = torch.arange(d_model)
    angle = torch.arange(max_len)[:, None] / 10000.0 ** (column // 2 * 2 / d_model)
    return torch.sin(angle + (column % 2) * math.pi / 2)
""",
    ),
)


def _sub_layer(X, norm, work, norm_first):
    return X + work(norm(X)) if norm_first else norm(X + work(X))


def _norm(d_model):
    norm = nn.LayerNorm(d_model)
    for p in norm.parameters():
        nn.init.normal_(p)  # a scale of 1 and a shift of 0 would hide mistakes
    return norm


def _cases_of_sub_layers():
    for shape, norm_first in [
        ((1, 1, 3), False),
        ((1, 1, 3), True),
        ((2, 4, 5), False),
        ((2, 4, 5), True),
        ((1, 7, 6), False),
        ((3, 1, 4), True),
    ]:
        yield torch.randn(shape), _norm(shape[-1]), nn.Linear(shape[-1], shape[-1]), norm_first
    for norm_first in (False, True):
        zeros = nn.Linear(4, 4)
        for p in zeros.parameters():
            nn.init.zeros_(p)
        yield torch.randn(2, 3, 4), _norm(4), zeros, norm_first


sub_layer = Exercise(
    name="sub_layer",
    chapter="04",
    section="Sub-layers, in two orders",
    kind=WRITE,
    title="Two orders of three things",
    goal="Write both orders of work, residual connection and LayerNorm.",
    difficulty=2,
    importance=5,
    minutes=10,
    text="""\
Write a sub-layer without dropout, in both orders:

- post-norm, the paper's: $\\text{LN}(X + f(X))$;
- pre-norm, if `norm_first` is true: $X + f(\\text{LN}(X))$.

`norm` and `work` are modules; you call them like functions. Each of them keeps the shape.""",
    hints=(
        "Two `return` lines, one for each formula. Read each formula from the inside to the "
        "outside.",
        "In pre-norm the road of the residual leads past the LayerNorm. What is added must be the "
        "X that came in.",
        "Post-norm is `norm(X + work(X))`. In pre-norm `norm` is the innermost call.",
    ),
    stub='''\
def sub_layer(X, norm, work, norm_first):
    """A sub-layer, in one of two orders.

    X: float tensor (N, T, d_model)
    norm: LayerNorm, from (N, T, d_model) to (N, T, d_model)
    work: attention or feed-forward, from (N, T, d_model) to (N, T, d_model)
    norm_first: False for post-norm, True for pre-norm
    Returns: float tensor (N, T, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def sub_layer(X, norm, work, norm_first):
    """A sub-layer, in one of two orders.

    X: float tensor (N, T, d_model)
    norm: LayerNorm, from (N, T, d_model) to (N, T, d_model)
    work: attention or feed-forward, from (N, T, d_model) to (N, T, d_model)
    norm_first: False for post-norm, True for pre-norm
    Returns: float tensor (N, T, d_model)
    """
    if norm_first:
        return X + work(norm(X))  # (N, T, d_model)
    return norm(X + work(X))  # (N, T, d_model)
''',
    reference=_sub_layer,
    cases=_cases_of_sub_layers,
    gradient=True,
    mistakes=(
        (
            "The two orders are exchanged: `norm_first=True` means pre-norm.",
            lambda X, norm, work, norm_first: _sub_layer(X, norm, work, not norm_first),
        ),
        (
            "Your sub-layer is post-norm whatever `norm_first` says.",
            lambda X, norm, work, norm_first: _sub_layer(X, norm, work, False),
        ),
        (
            "Your sub-layer is pre-norm whatever `norm_first` says; the paper's order is the "
            "other one.",
            lambda X, norm, work, norm_first: _sub_layer(X, norm, work, True),
        ),
        (
            "In pre-norm you add the normalised X; the residual must be the X that came in, or its "
            "road leads through every norm.",
            lambda X, norm, work, norm_first: (
                norm(X) + work(norm(X)) if norm_first else norm(X + work(X))
            ),
        ),
        (
            "In pre-norm the two roads are exchanged: the work is given the normalised X, and X "
            "itself is added.",
            lambda X, norm, work, norm_first: (
                norm(X) + work(X) if norm_first else norm(X + work(X))
            ),
        ),
        (
            "You take the residual after the norm in both orders; it must be the X that came in.",
            lambda X, norm, work, norm_first: norm(X) + work(norm(X)),
        ),
        (
            "The residual is missing: add X to what the work returns.",
            lambda X, norm, work, norm_first: work(norm(X)) if norm_first else norm(work(X)),
        ),
        (
            "The residual is missing in pre-norm: add X to what the work returns.",
            lambda X, norm, work, norm_first: work(norm(X)) if norm_first else norm(X + work(X)),
        ),
        (
            "The residual is missing in post-norm: add X to what the work returns.",
            lambda X, norm, work, norm_first: X + work(norm(X)) if norm_first else norm(work(X)),
        ),
        (
            "In post-norm you normalise the work alone; the sum X + f(X) goes through the norm.",
            lambda X, norm, work, norm_first: (
                X + work(norm(X)) if norm_first else X + norm(work(X))
            ),
        ),
        (
            "In pre-norm you normalise what the work returns; the norm comes before the work, "
            "X + f(LN(X)).",
            lambda X, norm, work, norm_first: (
                X + norm(work(X)) if norm_first else norm(X + work(X))
            ),
        ),
        (
            "In pre-norm you normalise a second time, after the sum; that closes the free road.",
            lambda X, norm, work, norm_first: norm(
                X + work(norm(X)) if norm_first else X + work(X)
            ),
        ),
        (
            "In post-norm you add X once more after the norm.",
            lambda X, norm, work, norm_first: (
                X + work(norm(X)) if norm_first else X + norm(X + work(X))
            ),
        ),
        (
            "The norm is missing in post-norm.",
            lambda X, norm, work, norm_first: X + work(norm(X) if norm_first else X),
        ),
        (
            "The norm is missing in pre-norm.",
            lambda X, norm, work, norm_first: X + work(X) if norm_first else norm(X + work(X)),
        ),
    ),
    wrong={
        """\
def sub_layer(X, norm, work, norm_first):
    if not norm_first:
        return X + work(norm(X))
    else:
        return norm(X + work(X))
""": "orders are exchanged",
        """\
def sub_layer(X, norm, work, norm_first=False):
    residual = X
    out = work(X)
    return norm(out + residual)
""": "post-norm whatever",
        """\
def sub_layer(X, norm, work, norm_first):
    normed = norm(X)
    return X + work(normed)
""": "pre-norm whatever",
        """\
def sub_layer(X, norm, work, norm_first):
    if norm_first:
        X = norm(X)
        return X + work(X)
    return norm(X + work(X))
""": "you add the normalised X",
        """\
def sub_layer(X, norm, work, norm_first):
    if norm_first:
        return norm(X) + work(X)
    return norm(X + work(X))
""": "two roads are exchanged",
        """\
def sub_layer(X, norm, work, norm_first):
    X = norm(X)
    X = X + work(X)
    return X
""": "after the norm in both orders",
        """\
def sub_layer(X, norm, work, norm_first):
    steps = [norm, work] if norm_first else [work, norm]
    for step in steps:
        X = step(X)
    return X
""": "residual is missing: add",
        """\
def sub_layer(X, norm, work, norm_first):
    if norm_first:
        Y = work(norm(X))
    else:
        Y = norm(work(X))
    return X + Y
""": "normalise the work alone",
        """\
def sub_layer(X, norm, work, norm_first):
    if norm_first:
        return X + norm(work(X))
    return norm(X + work(X))
""": "before the work",
        """\
def sub_layer(X, norm, work, norm_first):
    Y = norm(X) if norm_first else X
    Y = X + work(Y)
    return norm(Y)
""": "a second time",
        """\
def sub_layer(X, norm, work, norm_first):
    Y = X + work(norm(X) if norm_first else X)
    return Y
""": "norm is missing in post-norm",
        """\
def sub_layer(X, norm, work, norm_first):
    X += work(norm(X)) if norm_first else work(X)
    return X if norm_first else norm(X)
""": "changes its argument `X`",
        """\
def sub_layer(X, norm, work, norm_first):
    with torch.no_grad():
        Y = work(norm(X)) if norm_first else work(X)
    return X + Y if norm_first else norm(X + Y)
""": "the gradient of `X`",
    },
    right=(
        """\
def sub_layer(X, norm, work, norm_first):
    Y = work(norm(X) if norm_first else X) + X
    return Y if norm_first else norm(Y)
""",
        """\
def sub_layer(X, norm, work, norm_first):
    before, after = (norm, nn.Identity()) if norm_first else (nn.Identity(), norm)
    return after(torch.add(X, work(before(X))))
""",
        """\
def sub_layer(X, norm, work, norm_first):
    def normalise(Z):
        mean = Z.mean(-1, keepdim=True)
        variance = Z.var(-1, keepdim=True, correction=0)
        return norm.weight * (Z - mean) / (variance + norm.eps).sqrt() + norm.bias
    if norm_first:
        return X + work(normalise(X))
    return normalise(X + work(X))
""",
    ),
)

_UNBIASED = EXHIBITS["normalise_words"]
_OUTSIDE = EXHIBITS["normalise_quiet_words"]


def _normalised(X, eps, dims=-1):
    mean = X.mean(dims, keepdim=True)
    return (X - mean) / (X.var(dims, keepdim=True, correction=0) + eps).sqrt()


def _cases_of_norms():
    eps = 1e-5
    yield torch.tensor([1.0, 7.0, 7.0, 9.0]), torch.ones(4), torch.zeros(4), eps
    yield torch.tensor([0.001, 0.007, 0.007, 0.009]), torch.ones(4), torch.zeros(4), eps
    for shape in [(3,), (1, 1, 5), (2, 3, 4), (3, 1, 6)]:
        yield torch.randn(shape), torch.randn(shape[-1]), torch.randn(shape[-1]), eps
    yield torch.full((2, 1, 3), 2.0), torch.randn(3), torch.randn(3), eps
    yield torch.zeros(1, 2, 5), torch.randn(5), torch.randn(5), eps
    yield 0.01 * torch.randn(2, 5, 7), torch.randn(7), torch.randn(7), 1e-3


normalise_by_hand = Exercise(
    name="normalise_by_hand",
    chapter="04",
    section="LayerNorm by hand",
    kind=MEND,
    title="A famous LayerNorm",
    goal="Tell the variance and the epsilon of LayerNorm from their look-alikes.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
This LayerNorm stands in a tutorial that many have copied. At width 512 its results are those of
PyTorch to three digits. For $[1, 7, 7, 9]$ it gives $[-1.443, 0.289, 0.289, 0.866]$, which is not
what we had by hand. It differs from the formula in **two** details. **Find both and mend them.**
Leave PyTorch's own layer_norm out of it.""",
    hints=(
        "What is the variance of $[1, 7, 7, 9]$ by hand, and what does `X.std(-1)` square to?",
        "One detail is what the sum of squares is divided by. The other is what $\\epsilon$ is "
        "added to.",
        "`X.var(dim=-1, keepdim=True, correction=0)` divides by $d$. Then add `eps`, then take "
        "the root.",
    ),
    stub='''\
def normalise_by_hand(X, weight, bias, eps):
    """LayerNorm. It has two mistakes: find them and mend them.

    X: float tensor (..., d_model)
    weight, bias: float tensors (d_model,), the learned scale and shift
    eps: float, the epsilon of the formula
    Returns: float tensor (..., d_model)
    """
    mean = X.mean(dim=-1, keepdim=True)  # (..., 1)
    deviation = X.std(dim=-1, keepdim=True)  # (..., 1)
    return weight * (X - mean) / (deviation + eps) + bias
''',
    solution='''\
def normalise_by_hand(X, weight, bias, eps):
    """LayerNorm.

    X: float tensor (..., d_model)
    weight, bias: float tensors (d_model,), the learned scale and shift
    eps: float, the epsilon of the formula
    Returns: float tensor (..., d_model)
    """
    mean = X.mean(dim=-1, keepdim=True)  # (..., 1)
    variance = ((X - mean) ** 2).mean(dim=-1, keepdim=True)  # (..., 1)
    return weight * (X - mean) / (variance + eps).sqrt() + bias
''',
    because="LayerNorm divides by d, and its epsilon stands under the root.",
    reference=lambda X, weight, bias, eps: F.layer_norm(X, X.shape[-1:], weight, bias, eps),
    cases=_cases_of_norms,
    forbidden=(F.layer_norm, torch.layer_norm),
    mistakes=(
        (
            "As it was: at a small width the numbers come out too small, and those of quiet "
            "vectors change for a second reason.",
            lambda X, weight, bias, eps: (
                weight * (X - X.mean(-1, keepdim=True)) / (X.std(-1, keepdim=True) + eps) + bias
            ),
        ),
        (
            "Epsilon stands under the root now, but the variance is still divided by d - 1; "
            "LayerNorm divides by d.",
            lambda X, weight, bias, eps: weight * _UNBIASED.wrong(X, eps) + bias,
        ),
        (
            "The variance is divided by d now, but epsilon is still added to the deviation; it "
            "belongs under the root.",
            lambda X, weight, bias, eps: weight * _OUTSIDE.wrong(X, eps) + bias,
        ),
        (
            "Epsilon is gone: a vector of equal numbers becomes 0 / 0.",
            lambda X, weight, bias, eps: weight * _normalised(X, 0.0) + bias,
        ),
        (
            "You divide by the variance; its root is missing.",
            lambda X, weight, bias, eps: (
                weight
                * (X - X.mean(-1, keepdim=True))
                / (X.var(-1, keepdim=True, correction=0) + eps)
                + bias
            ),
        ),
        (
            "Mean and variance are now taken over the whole batch; each vector has its own.",
            lambda X, weight, bias, eps: weight * _normalised(X, eps, tuple(range(X.dim()))) + bias,
        ),
        (
            "Mean and variance are now taken over dimension 0; each vector has its own, over the "
            "last dimension.",
            lambda X, weight, bias, eps: weight * _normalised(X, eps, 0) + bias,
        ),
        (
            "The learned scale and shift are gone; they were right.",
            lambda X, weight, bias, eps: _normalised(X, eps),
        ),
        (
            "The mean is no longer taken away.",
            lambda X, weight, bias, eps: (
                weight * (_normalised(X, eps) + X.mean(-1, keepdim=True) / _root(X, eps)) + bias
            ),
        ),
        (
            "Now epsilon is added twice; it belongs under the root alone.",
            lambda X, weight, bias, eps: (
                weight * (X - X.mean(-1, keepdim=True)) / (_root(X, eps) + eps) + bias
            ),
        ),
        (
            "The sum of squares is divided by d + 1; LayerNorm divides by d, which is "
            "`correction=0`.",
            lambda X, weight, bias, eps: (
                weight
                * (X - X.mean(-1, keepdim=True))
                / (X.var(-1, keepdim=True, correction=-1) + eps).sqrt()
                + bias
            ),
        ),
    ),
    wrong={
        """\
def normalise_by_hand(X, weight, bias, eps):
    deviation = X.std(-1, keepdim=True, unbiased=True)
    Z = (X - X.mean(-1, keepdim=True)) / (deviation + eps)
    return Z * weight + bias
""": "as it was",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(-1, keepdim=True)
    deviation = torch.sqrt(X.std(-1, keepdim=True) ** 2 + eps)
    return weight * (X - mean) / deviation + bias
""": "still divided by d - 1",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(-1, keepdim=True)
    deviation = X.std(-1, keepdim=True, unbiased=False)
    return weight * (X - mean) / (deviation + eps) + bias
""": "still added to the deviation",
        """\
def normalise_by_hand(X, weight, bias, eps):
    deviation, mean = torch.std_mean(X, dim=-1, keepdim=True, correction=0)
    return weight * (X - mean) / deviation + bias
""": "epsilon is gone",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(dim=-1, keepdim=True)
    variance = (X - mean).square().mean(dim=-1, keepdim=True)
    return weight * (X - mean) / (variance + eps) + bias
""": "root is missing",
        """\
def normalise_by_hand(X, weight, bias, eps):
    variance = ((X - X.mean()) ** 2).mean()
    return weight * (X - X.mean()) / torch.sqrt(variance + eps) + bias
""": "whole batch",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(dim=-1, keepdim=True)
    variance = (X ** 2).mean(dim=-1, keepdim=True) - mean ** 2
    return (X - mean) / torch.sqrt(variance + eps)
""": "scale and shift are gone",
        """\
def normalise_by_hand(X, weight, bias, eps):
    variance = X.var(-1, keepdim=True, unbiased=False)
    return weight * X / torch.sqrt(variance + eps) + bias
""": "no longer taken away",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(-1, keepdim=True)
    deviation = (((X - mean) ** 2).mean(-1, keepdim=True) + eps) ** 0.5
    return weight * (X - mean) / (deviation + eps) + bias
""": "added twice",
        """\
def normalise_by_hand(X, weight, bias, eps):
    return F.layer_norm(X, (X.shape[-1],), weight, bias, eps)
""": "calls `layer_norm`",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(dim=-1)
    variance = ((X - mean) ** 2).mean(dim=-1)
    return weight * (X - mean) / torch.sqrt(variance + eps) + bias
""": "raises RuntimeError",
    },
    right=(
        """\
def normalise_by_hand(X, weight, bias, eps):
    variance, mean = torch.var_mean(X, dim=-1, keepdim=True, correction=0)
    return (X - mean) * torch.rsqrt(variance + eps) * weight + bias
""",
        """\
def normalise_by_hand(X, weight, bias, eps):
    mean = X.mean(dim=-1, keepdim=True)
    deviation = (X.std(dim=-1, keepdim=True, unbiased=False) ** 2 + eps) ** 0.5
    return weight * (X - mean) / deviation + bias
""",
        """\
def normalise_by_hand(X, weight, bias, eps):
    rows = []
    for x in X.reshape(-1, X.shape[-1]):
        centred = x - x.sum() / len(x)
        rows.append(weight * centred / math.sqrt(centred.dot(centred) / len(x) + eps) + bias)
    return torch.stack(rows).reshape(X.shape)
""",
    ),
)


def _root(X, eps):
    return (X.var(-1, keepdim=True, correction=0) + eps).sqrt()


def _layer(X, attention, feed_forward, norm_1, norm_2):
    X = norm_1(X + attention(X))
    return norm_2(X + feed_forward(X))


def _cases_of_layers():
    for shape in [(1, 1, 3), (1, 3, 4), (2, 5, 6), (3, 2, 5)]:
        d = shape[-1]
        yield torch.randn(shape), nn.Linear(d, d), nn.Linear(d, d), _norm(d), _norm(d)
    yield torch.zeros(2, 1, 4), nn.Linear(4, 4), nn.Linear(4, 4), _norm(4), _norm(4)


layer_by_hand = Exercise(
    name="layer_by_hand",
    chapter="04",
    section="The layer and the stack",
    kind=MEND,
    title="One name for two things",
    goal="Follow the residual connections and the norms through a whole layer.",
    difficulty=3,
    importance=4,
    minutes=12,
    text="""\
A tutorial rebuilds PyTorch's encoder layer (post-norm, no dropout) step by step,
and compares nothing but shapes. It is wrong in **two** places. **Find both and mend them.** Here
`attention` and `feed_forward` are modules that you call with one argument.""",
    hints=(
        "Write both sub-layers as formulas, $\\text{LN}_1(X + f(X))$ and $\\text{LN}_2(X + g(X))$. "
        "Which X is meant in the second one?",
        "Follow the name `outputs`: what does it hold when the last line uses it? Then count how "
        "often each norm is called.",
        "The second residual adds what feed-forward was given: the result of the first sub-layer.",
    ),
    stub='''\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    """An encoder layer, post-norm. It has two mistakes: find them and mend them.

    X: float tensor (N, S, d_model)
    attention, feed_forward: modules, from (N, S, d_model) to (N, S, d_model)
    norm_1, norm_2: the LayerNorms of the first and the second sub-layer
    Returns: float tensor (N, S, d_model)
    """
    outputs = attention(X)  # (N, S, d_model)
    X = norm_1(X + outputs)  # (N, S, d_model)
    X = feed_forward(X)  # (N, S, d_model)
    return norm_1(X + outputs)
''',
    solution='''\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    """An encoder layer, post-norm.

    X: float tensor (N, S, d_model)
    attention, feed_forward: modules, from (N, S, d_model) to (N, S, d_model)
    norm_1, norm_2: the LayerNorms of the first and the second sub-layer
    Returns: float tensor (N, S, d_model)
    """
    outputs = attention(X)  # (N, S, d_model)
    X = norm_1(X + outputs)  # (N, S, d_model)
    outputs = feed_forward(X)  # (N, S, d_model)
    return norm_2(X + outputs)
''',
    because="Each sub-layer adds what it was given, and each has a LayerNorm of its own.",
    reference=_layer,
    cases=_cases_of_layers,
    gradient=True,
    mistakes=(
        (
            "As it was: the result has the shape of a layer's, and not its numbers.",
            lambda X, f, g, norm_1, norm_2: norm_1(g(norm_1(X + f(X))) + f(X)),
        ),
        (
            "The second sub-layer has its own norm now, but its residual still adds the "
            "attention's output; add what feed-forward was given.",
            lambda X, f, g, norm_1, norm_2: norm_2(g(norm_1(X + f(X))) + f(X)),
        ),
        (
            "The residual is right now, but the first norm is still used twice and the second one "
            "never.",
            lambda X, f, g, norm_1, norm_2: _layer(X, f, g, norm_1, norm_1),
        ),
        (
            "The second residual adds the input of the whole layer; it must add what feed-forward "
            "was given.",
            lambda X, f, g, norm_1, norm_2: norm_2(X + g(norm_1(X + f(X)))),
        ),
        (
            "The second residual is right now, but the attention's output is added once more; it "
            "is in that sum already.",
            lambda X, f, g, norm_1, norm_2: norm_2(norm_1(X + f(X)) + g(norm_1(X + f(X))) + f(X)),
        ),
        (
            "Now the norms are exchanged: the attention's sub-layer has the first one.",
            lambda X, f, g, norm_1, norm_2: _layer(X, f, g, norm_2, norm_1),
        ),
        (
            "Now the second norm is used twice and the first one never.",
            lambda X, f, g, norm_1, norm_2: _layer(X, f, g, norm_2, norm_2),
        ),
        (
            "The second residual is gone: add what feed-forward was given.",
            lambda X, f, g, norm_1, norm_2: norm_2(g(norm_1(X + f(X)))),
        ),
        (
            "Feed-forward is given X before the first norm, and the first norm is never used.",
            lambda X, f, g, norm_1, norm_2: norm_2(X + f(X) + g(X + f(X))),
        ),
        (
            "Feed-forward works on the attention's output alone; give it the result of the first "
            "sub-layer.",
            lambda X, f, g, norm_1, norm_2: norm_2(norm_1(X + f(X)) + g(f(X))),
        ),
        (
            "That is pre-norm. It is a good layer, but the one to be rebuilt is post-norm.",
            lambda X, f, g, norm_1, norm_2: X + f(norm_1(X)) + g(norm_2(X + f(norm_1(X)))),
        ),
    ),
    wrong={
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    attended = attention(X)
    inner = feed_forward(norm_1(X + attended))
    return norm_2(inner + attended)
""": "still adds the attention's output",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    for work in (attention, feed_forward):
        X = norm_1(X + work(X))
    return X
""": "still used twice",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    Y = norm_1(X + attention(X))
    Y = feed_forward(Y)
    return norm_2(X + Y)
""": "input of the whole layer",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    for work, norm in ((attention, norm_2), (feed_forward, norm_1)):
        X = norm(X + work(X))
    return X
""": "norms are exchanged",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    outputs = attention(X)
    X = norm_1(X + outputs)
    outputs = outputs + feed_forward(X)
    return norm_2(X + outputs)
""": "once more",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    X = norm_1(X + attention(X))
    X = feed_forward(X)
    return norm_2(X)
""": "second residual is gone",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    X = X + attention(X)
    X = X + feed_forward(X)
    return norm_2(X)
""": "before the first norm",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    attended = attention(X)
    X = norm_1(X + attended)
    return norm_2(X + feed_forward(attended))
""": "attention's output alone",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    X = X + attention(norm_1(X))
    X = X + feed_forward(norm_2(X))
    return X
""": "pre-norm",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    outputs = attention(X)
    X += outputs
    X = norm_1(X)
    return norm_2(X + feed_forward(X))
""": "changes its argument `X`",
    },
    right=(
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    for work, norm in ((attention, norm_1), (feed_forward, norm_2)):
        X = norm(X + work(X))
    return X
""",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    heard = norm_1(attention(X) + X)
    return norm_2(feed_forward(heard) + heard)
""",
        """\
def layer_by_hand(X, attention, feed_forward, norm_1, norm_2):
    residual = X
    X = norm_1(attention(X) + residual)
    residual = X
    return F.layer_norm(feed_forward(X) + residual, norm_2.normalized_shape, norm_2.weight,
                        norm_2.bias, norm_2.eps)
""",
    ),
)

why_hide_padding = Exercise(
    name="why_hide_padding",
    chapter="04",
    section="Padding changes nothing",
    kind=EXPLAIN,
    title="The company a sentence keeps",
    goal="Explain which parts of an encoder can let padding in, and which cannot.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
A friend forgets the padding mask. Her encoder gives *it sleeps* one set of vectors when the
sentence is alone, and another in a batch with longer sentences. No error is raised. **Explain** in
three to five sentences:

- which part of the encoder lets the padding in, and why the other parts cannot;
- what the mask does to that one part;
- why the vectors at the padded places do no harm, though they are computed.""",
    hints=(
        "Name all parts of a layer. Which of them looks at more than one place?",
        "The mask sets the weights of padded keys to 0. What happens to the other weights of a "
        "row?",
        "A padded place asks, too, and gets a vector. Who reads it in the next layer?",
    ),
    stub='''\
why_hide_padding = """

"""
''',
    solution='''\
why_hide_padding = """
Only attention carries something from one place to another: feed-forward, LayerNorm, residual
connections and dropout work on each place alone. Without a mask every word gives some of its
weight to padded places, and their number depends on the longest sentence of the batch. The mask
sets the weights of padded keys to exactly 0 and shares the whole among the real words, as if the
sentence were alone. Padded places still ask and get vectors, but nobody reads them: in the next
layer the same mask hides them as keys, and the loss leaves them out.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "why_hide_padding = 'Padding is bad for attention.'": "at least 12 words",
        "why_hide_padding = ['attention', 'softmax']": "as a text in quotes",
        "why_hide_padding = None": "as a text in quotes",
    },
    rubric="""\
- 1 point: only attention moves something between places.
- 1 point: the other parts (at least two are named) work on each place alone.
- 1 point: the mask makes the weights of padded keys 0, and the rest of a row sums to 1.
- 1 point: the vectors of padded places are read by nobody: as keys they are hidden in every layer,
  and the loss (or the decoder's mask) leaves them out.""",
)

EXERCISES = (
    parameters_of_a_layer,
    position_table,
    normalise_by_hand,
    sub_layer,
    layer_by_hand,
    why_hide_padding,
)
