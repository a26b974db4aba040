"""Hide the future."""

import torch

import tutor.attention
from tutor.check.exercise import WRITE, Exercise

causal_mask = Exercise(
    name="causal_mask",
    chapter="02",
    section="Words that may not be seen",
    kind=WRITE,
    title="Hide the future",
    goal="Write the mask under which no word sees a later one.",
    difficulty=2,
    importance=5,
    minutes=3,
    text="""\
Word $t$ may attend to the words 0 to $t$, itself among them. Return the mask: booleans, `True`
where row $t$ may not attend.""",
    hints=(
        "Draw it for three words: in row 0 two places are True, in row 1 one, in row 2 none.",
        "`triu` keeps what is on or above the diagonal and clears the rest.",
        "`torch.ones(T, T, dtype=torch.bool)` is all True. The word itself must stay visible: "
        "`triu` takes the number of the first diagonal that it keeps.",
    ),
    stub='''\
def causal_mask(T, device=None):
    """True above the diagonal: word t may attend to 0..t. Boolean, (T, T)."""
    ...  # one line; `.triu(diagonal=k)` clears what is below diagonal k
''',
    solution="""\
def causal_mask(T, device=None):
    return torch.ones(T, T, dtype=torch.bool, device=device).triu(diagonal=1)
""",
    reference=tutor.attention.causal_mask,
    cases=lambda: [(3,), (1,), (2,), (5,)],
    call=lambda answer, T: answer(T),
    mistakes=(
        (
            "In your mask a word cannot see itself. It may: the diagonal must be False.",
            lambda T: torch.ones(T, T, dtype=torch.bool).triu(),
        ),
        (
            "This hides the past and shows the future: it is the upper triangle that must be True.",
            lambda T: torch.ones(T, T, dtype=torch.bool).tril(-1),
        ),
        (
            "The polarity is the other one: True must mean *may not be attended to*.",
            lambda T: torch.ones(T, T, dtype=torch.bool).tril(),
        ),
        (
            "One word too many is visible: the first hidden one stands right of the diagonal.",
            lambda T: torch.ones(T, T, dtype=torch.bool).triu(2),
        ),
    ),
    wrong={
        """\
def causal_mask(T, device=None):
    return torch.triu(torch.ones(T, T)).bool()
""": "a word cannot see itself",
        """\
def causal_mask(T, device=None):
    t = torch.arange(T)
    return t[:, None] > t
""": "hides the past",
        """\
def causal_mask(T):
    return torch.tril(torch.ones(T, T, dtype=torch.bool))
""": "polarity",
        """\
def causal_mask(T, device=None):
    return torch.ones(T, T, dtype=torch.bool).triu(diagonal=2)
""": "too many is visible",
        """\
def causal_mask(T, device=None):
    return torch.ones(T, T).triu(1)
""": "torch.bool is wanted",
    },
    right=(
        """\
def causal_mask(T, device=None):
    t = torch.arange(T, device=device)
    return t > t[:, None]
""",
        """\
def causal_mask(T):
    return ~torch.tril(torch.ones(T, T)).bool()
""",
        """\
def causal_mask(T, device=None):
    return torch.tensor([[s > t for s in range(T)] for t in range(T)])
""",
    ),
)
