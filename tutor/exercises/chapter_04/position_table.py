"""The hands of the clock."""

import torch

from tutor.check.exercise import WRITE, Exercise
from tutor.positions import sinusoidal_positions


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
