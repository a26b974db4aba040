"""A smoothed loss on paper."""

from tutor.check.exercise import PREDICT, Exercise

loss_in_bits = Exercise(
    name="loss_in_bits",
    chapter="07",
    section="Label smoothing",
    kind=PREDICT,
    title="A smoothed loss on paper",
    goal="Compute a smoothed cross-entropy from its formula.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A vocabulary of four tokens. The model gives them
$p = [\\frac12, \\frac14, \\frac18, \\frac18]$, the first is right, and $\\varepsilon = 0.2$. So
$-\\log p_v$ is 1, 2, 3 and 3 times $\\log 2$.

**Predict** the smoothed loss on paper, in bits: as a multiple of $\\log 2$, good to two
decimals.""",
    hints=(
        "Write down $q$ first: four numbers that sum to 1.",
        "$\\varepsilon / V = 0.05$ goes to every token, the right one included, and $1 - "
        "\\varepsilon = 0.8$ to the right one on top.",
        "$q = [0.85, 0.05, 0.05, 0.05]$. Multiply with 1, 2, 3 and 3, and add up.",
    ),
    stub="loss_in_bits = None  # a number",
    solution="loss_in_bits = 1.25",
    because="0.85 · 1 + 0.05 · (2 + 3 + 3) = 1.25.",
    reference=1.25,
    tolerance=0.006,
    mistakes=(
        (
            "That is the loss without smoothing: only the right token counts in it.",
            1.0,
        ),
        (
            "You spread ε over the three wrong tokens. It is spread over the whole vocabulary, the "
            "right token included.",
            0.8 + 0.2 / 3 * 8,
        ),
        (
            "Your q sums to more than 1: the right token keeps 1 − ε, plus its share of ε.",
            1.05 + 0.05 * 8,
        ),
        (
            "Your q sums to less than 1: the right token has 1 − ε and a share of ε as well.",
            0.8 + 0.05 * 8,
        ),
        (
            "That is in nats. A bit is log 2 = 0.693 nats: divide by it.",
            1.25 * 0.6931,
        ),
        (
            "That is the mean of all four. The right token weighs more than the others.",
            2.25,
        ),
        (
            "That is the part of the right token. The other three have a share each.",
            0.85,
        ),
        (
            "The sign is wrong: a loss is minus a logarithm of something below 1.",
            -1.25,
        ),
        (
            "You took ε for the right token's weight; it has 1 − ε, and its share of ε.",
            0.2 + 0.8 / 3 * 8,
        ),
        (
            "That is 1 − ε times the loss of the right token. The share ε / V of each of the four "
            "is missing.",
            0.8,
        ),
    ),
    wrong={
        "loss_in_bits = 1": "without smoothing",
        "loss_in_bits = 0.8 * 1 + 0.067 * (2 + 3 + 3)": "the right token included",
        "loss_in_bits = 1.05 * 1 + 0.05 * 8": "more than 1",
        "loss_in_bits = 0.8 + 0.1 + 0.15 + 0.15": "less than 1",
        "loss_in_bits = 0.87": "in nats",
        "loss_in_bits = (1 + 2 + 3 + 3) / 4": "mean of all four",
        "loss_in_bits = -1.25": "sign is wrong",
        "loss_in_bits = [0.85, 0.1, 0.15, 0.15]": "a number is wanted",
        "loss_in_bits = (1 - 0.2) * 1": "is missing",
    },
    right=(
        "loss_in_bits = 0.85 + 0.1 + 0.15 + 0.15",
        """\
log_p = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 8]).log()
loss = F.cross_entropy(log_p[None], torch.tensor([0]), label_smoothing=0.2)
loss_in_bits = loss / math.log(2)
""",
        """\
from fractions import Fraction
loss_in_bits = Fraction(85, 100) + Fraction(5, 100) * (2 + 3 + 3)
""",
    ),
)
