"""Hours of a training."""

from tutor.check.exercise import PREDICT, Exercise

hours_of_training = Exercise(
    name="hours_of_training",
    chapter="13",
    section="Operations and hours",
    kind=PREDICT,
    title="How many hours?",
    goal="Estimate the time of a training from parameters, tokens and speed.",
    difficulty=1,
    importance=5,
    minutes=4,
    text="""\
A language model has $124 \\cdot 10^6$ parameters and reads $2.5 \\cdot 10^9$ tokens. The GPU does
$10^{14}$ operations a second in this code. **Predict** the hours of the training, good to one
decimal.""",
    hints=(
        "First the operations, by the rule of the section. Then the seconds, then the hours.",
        "$C = 6 \\cdot 124 \\cdot 10^6 \\cdot 2.5 \\cdot 10^9 = 1.86 \\cdot 10^{18}$.",
        "$1.86 \\cdot 10^{18} / 10^{14}$ are 18,600 seconds; an hour has 3,600.",
    ),
    stub="hours_of_training = None  # a number",
    solution="hours_of_training = 5.2",
    because="6 · 124e6 · 2.5e9 / 1e14 are 18,600 seconds.",
    reference=18600 / 3600,
    tolerance=0.011,
    mistakes=(
        ("That is the forward pass alone, 2 operations a weight and token.", 18600 / 3600 / 3),
        (
            "That is the backward pass alone; the forward pass comes on top.",
            12400 / 3600,
        ),
        ("Rounded too far: one decimal is asked for.", 5),
        ("Those are seconds.", 18600),
        ("Those are minutes.", 310),
        (
            "One operation a weight and token is too few: a training takes six.",
            3100 / 3600,
        ),
        (
            "Each product is a multiplication and an addition: two operations, three times.",
            9300 / 3600,
        ),
    ),
    wrong={
        "hours_of_training = 2 * 124e6 * 2.5e9 / 1e14 / 3600": "forward pass alone",
        "hours_of_training = 18600": "seconds",
        "hours_of_training = 310": "minutes",
        "hours_of_training = 5.0": "one decimal",
        "hours_of_training = 3 * 124e6 * 2.5e9 / 1e14 / 3600": "two operations",
    },
    right=(
        "hours_of_training = 6 * 124e6 * 2.5e9 / 1e14 / 3600",
        "hours_of_training = 5.17",
    ),
)
