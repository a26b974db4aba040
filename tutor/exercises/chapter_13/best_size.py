"""How large a model should be."""

import math

from tutor.check.exercise import WRITE, Exercise


def _best(C):
    num_parameters = math.sqrt(C / 120)
    return num_parameters, 20 * num_parameters


best_size = Exercise(
    name="best_size",
    chapter="13",
    section="How large should it be?",
    kind=WRITE,
    title="A size for a budget",
    goal="Choose parameters and tokens for the operations that one can pay for.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
A training costs $C = 6\\,\\Theta D$ operations. Return the parameters and the tokens that cost $C$,
with 20 tokens a parameter.""",
    hints=(
        "Put D = 20 Θ into C = 6 Θ D and solve for Θ.",
        "C = 120 Θ², so Θ is the square root of C / 120.",
        "`num_parameters = math.sqrt(C / 120)`; return it, and 20 times as many tokens.",
    ),
    stub='''\
def best_size(C):
    """Returns (parameters, tokens) that cost C operations, with 20 tokens a parameter."""
    ...  # two lines
''',
    solution="""\
def best_size(C):
    num_parameters = math.sqrt(C / 120)
    return num_parameters, 20 * num_parameters
""",
    because="Four times the operations buy twice the model, and twice the reading.",
    reference=_best,
    cases=lambda: [(120.0,), (1.2e20,), (3e21,)],
    mistakes=(
        (
            "The factor 6 is missing: a parameter takes six operations for each token.",
            lambda C: (math.sqrt(C / 20), 20 * math.sqrt(C / 20)),
        ),
        (
            "C grows with the square of the size: take the square root of C / 120.",
            lambda C: (C / 120, C / 6),
        ),
        (
            "Parameters come first, tokens second.",
            lambda C: _best(C)[::-1],
        ),
        (
            "Return two numbers: parameters and tokens.",
            lambda C: _best(C)[0],
        ),
        (
            "These are equal numbers of parameters and tokens. There should be 20 tokens for each "
            "parameter.",
            lambda C: (math.sqrt(C / 6), math.sqrt(C / 6)),
        ),
        (
            "The second number is tokens a parameter; the tokens themselves are wanted.",
            lambda C: (_best(C)[0], 20),
        ),
        (
            "The forward pass takes 2 operations a weight and token. With the backward pass they "
            "are 6.",
            lambda C: (math.sqrt(C / 40), 20 * math.sqrt(C / 40)),
        ),
    ),
    wrong={
        """\
def best_size(C):
    size = (C / 20) ** 0.5
    return size, 20 * size
""": "factor 6",
        """\
def best_size(C):
    return C / 120, C / 120 * 20
""": "square root",
        """\
def best_size(C):
    size = math.sqrt(C / 120)
    return 20 * size, size
""": "Parameters come first",
        """\
def best_size(C):
    size = math.sqrt(C / 40)
    return size, 20 * size
""": "With the backward pass",
    },
    right=(
        """\
def best_size(C):
    size = (C / 120) ** 0.5
    return [size, C / (6 * size)]
""",
        """\
def best_size(C):
    tokens = math.sqrt(20 * C / 6)
    return tokens / 20, tokens
""",
    ),
)
