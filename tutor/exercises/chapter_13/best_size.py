"""How large a model should be."""

from tutor.check.exercise import WRITE, Exercise


def _best(C, available, by=120, ratio=20, work=6, power=0.5, second=None, enough=True):
    """Parameters and tokens; `second` makes of them what is returned second.

    enough: whether the tokens that there are set a limit; "cut" only cuts the second number.
    """
    num_parameters = (C / by) ** power
    tokens = ratio * num_parameters
    if enough == "turned":
        limited = tokens <= available
    else:
        limited = enough and tokens > available
    if limited:
        tokens = available
        if enough != "cut":
            num_parameters = C / (work * available)
    return num_parameters, second(num_parameters, tokens) if second else tokens


def _with(**slips):
    return lambda C, available: _best(C, available, **slips)


_SLIPS = (
    (
        "The factor 6 is missing: a parameter takes six operations for each token.",
        {"by": 20, "work": 1},
    ),
    (
        "The factor 6 is missing: a parameter takes six operations for each token.",
        {"by": 20},
    ),
    (
        "The forward pass takes 2 operations a weight and token. With the backward pass it is 6.",
        {"by": 40, "work": 2},
    ),
    (
        "The forward pass takes 2 operations a weight and token. With the backward pass it is 6.",
        {"by": 40},
    ),
    (
        "You divide by 6 alone under the root. The 20 tokens a parameter stand in C as well: "
        "C = 6 · 20 Θ².",
        {"by": 6},
    ),
    (
        "These are equal numbers of parameters and tokens. There should be 20 tokens for each "
        "parameter.",
        {"by": 6, "ratio": 1},
    ),
    (
        "You multiply by 20 under the root. With D = 20 Θ, C = 6 · 20 Θ²: divide by both.",
        {"by": 0.3},
    ),
    (
        "C grows with the square of the size: take the square root of C / 120.",
        {"power": 1},
    ),
    (
        "The second number is tokens a parameter; the tokens themselves are wanted.",
        {"second": lambda size, tokens: 20},
    ),
    (
        "The second number is tokens a parameter; the tokens themselves are wanted.",
        {"second": lambda size, tokens: tokens / size},
    ),
)

best_size = Exercise(
    name="best_size",
    chapter="13",
    section="How large should it be?",
    kind=WRITE,
    title="A size for a budget",
    goal="Choose parameters and tokens for what one can pay for, and for the texts that there are.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A training may cost $C = 6\\,\\Theta D$ operations, all of which are to be used, and no text may be
read twice. The rule of thumb asks for 20 tokens a parameter. But for this language only `available`
tokens exist.

Return the parameters $\\Theta$ and the tokens $D$ (floats; do not round). Follow the rule of thumb
where there are enough tokens for it. Where there are not, the model reads all that there are, and
is as large as $C$ then allows.""",
    hints=(
        "First ask what the rule of thumb would do: put D = 20 Θ into C = 6 Θ D and solve for Θ.",
        "C = 120 Θ², so Θ is the square root of C / 120. It wants 20 Θ tokens. Are there as many?",
        "If not, D is `available`, and Θ follows from C = 6 Θ D once more: `C / (6 * available)`.",
    ),
    stub='''\
def best_size(C, available):
    """Returns (parameters, tokens) that cost C operations, with 20 tokens a parameter, or with all
    tokens that are available if these are fewer."""
    ...  # four or five lines
''',
    solution='''\
def best_size(C, available):
    """Returns (parameters, tokens) that cost C operations, with 20 tokens a parameter, or with all
    tokens that are available if these are fewer."""
    num_parameters = math.sqrt(C / 120)
    if 20 * num_parameters <= available:
        return num_parameters, 20 * num_parameters
    return C / (6 * available), available
''',
    because="Four times the operations buy twice the model and twice the reading, until the texts "
    "run out; then all goes into size.",
    reference=_best,
    cases=lambda: [
        (120.0, 1e3),
        (1200.0, 10.0),
        (1.2e20, 1e13),
        (3e21, 2e10),
        (480.0, 40.0),
        (480.0, 39.0),
        (1200.0, 2.0),
    ],
    mistakes=(
        (
            "The tokens that exist set no limit here: compare what the rule of thumb wants to read "
            "with what is available.",
            _with(enough=False),
        ),
        (
            "You compare parameters with the tokens that exist. Compare the tokens that the rule "
            "of thumb asks for, 20 a parameter.",
            lambda C, available: _best(C, available, enough=(C / 120) ** 0.5 > available),
        ),
        (
            "You round. Parameters and tokens are wanted as floats, however many digits they have.",
            lambda C, available: tuple(float(round(x)) for x in _best(C, available)),
        ),
        (
            "Where tokens are short, the factor 6 is missing: C = 6 Θ D holds there as well.",
            _with(work=1),
        ),
        (
            "Where tokens are short, no root is needed: D is known, so Θ is C divided by 6 D.",
            lambda C, available: (
                (_best(C, available)[0] ** 0.5, available)
                if _best(C, available, enough=False)[1] > available
                else _best(C, available)
            ),
        ),
        (
            "Where tokens are short, part of C is left over: the model may be larger then.",
            _with(enough="cut"),
        ),
        (
            "All tokens are read in any case. The rule of thumb wants fewer where there are more "
            "than 20 a parameter.",
            lambda C, available: (C / (6 * available), available),
        ),
        (
            "The comparison is turned over: the rule of thumb holds where there are enough tokens.",
            _with(enough="turned"),
        ),
        (
            "Where tokens are short, you take 20 tokens a parameter all the same, so part of C is "
            "left over.",
            lambda C, available: (
                (_best(C, available)[1] / 20, _best(C, available)[1])
                if _best(C, available)[1] == available
                else _best(C, available)
            ),
        ),
        *(
            (message, _with(**slips, enough=enough))
            for message, slips in _SLIPS
            for enough in (True, False, "cut")
        ),
        ("Parameters come first, tokens second.", lambda C, available: _best(C, available)[::-1]),
        (
            "Parameters come first, tokens second; and the tokens that exist set a limit.",
            lambda C, available: _best(C, available, enough=False)[::-1],
        ),
        (
            "Return two numbers: parameters and tokens.",
            lambda C, available: _best(C, available)[0],
        ),
    ),
    wrong={
        """\
def best_size(C, available):
    num_parameters = math.sqrt(C / 120)
    return num_parameters, 20 * num_parameters
""": "set no limit",
        """\
def best_size(C, available):
    num_parameters = math.sqrt(C / 120)
    return num_parameters, min(20 * num_parameters, available)
""": "part of C is left over",
        """\
def best_size(C, available):
    tokens = min(20 * math.sqrt(C / 120), available)
    return tokens / 20, tokens
""": "20 tokens a parameter all the same",
        """\
def best_size(C, available):
    return C / (6 * available), available
""": "All tokens are read",
        """\
def best_size(C, available):
    size = (C / 20) ** 0.5
    return size, 20 * size
""": "factor 6",
        """\
def best_size(C, available):
    size = math.sqrt(C / 6)
    return (size, 20 * size) if 20 * size <= available else (C / (6 * available), available)
""": "You divide by 6 alone",
        """\
def best_size(C, available):
    size = math.sqrt(C / 6 * 20)
    return (size, 20 * size) if 20 * size <= available else (C / (6 * available), available)
""": "You multiply by 20",
        """\
def best_size(C, available):
    return C / 120, C / 120 * 20
""": "square root",
        """\
def best_size(C, available):
    size = math.sqrt(C / 120)
    return (20 * size, size) if 20 * size <= available else (available, C / (6 * available))
""": "Parameters come first",
        """\
def best_size(C, available):
    size = math.sqrt(C / 40)
    return (size, 20 * size) if 20 * size <= available else (C / (2 * available), available)
""": "With the backward pass",
        """\
def best_size(C, available):
    size = math.sqrt(C / 120)
    return (size, 20 * size) if 20 * size > available else (C / (6 * available), available)
""": "turned over",
    },
    right=(
        """\
def best_size(C, available):
    tokens = min(math.sqrt(20 * C / 6), available)
    return C / (6 * tokens), tokens
""",
        """\
def best_size(C, available):
    size = max((C / 120) ** 0.5, C / 6 / available)
    return [torch.tensor(size), C / (6 * size)]
""",
    ),
)
