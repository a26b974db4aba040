"""Means of what may be seen."""

from tutor.check.exercise import PREDICT, Exercise

seen_means = Exercise(
    name="seen_means",
    chapter="05",
    section="What each position can reach",
    kind=PREDICT,
    title="Means of what may be seen",
    goal="Read from two joined masks who sees whom.",
    difficulty=2,
    importance=4,
    minutes=6,
    text="""\
A target has four places, the last of them padding. Its values are 8, 2, 2 and 7, and all scores are
equal. **Predict** the four results of masked self-attention, with both masks joined: a list of four
numbers.""",
    hints=(
        "With equal scores each row is the mean of the values that it may see.",
        "Row 1 sees tokens 0 and 1. Row 3 is padding, but it asks, too: which tokens may it see?",
        "Row 3 sees tokens 0, 1 and 2; token 3 is padding and hidden from everybody.",
    ),
    stub="seen_means = None  # a list of four numbers",
    solution="seen_means = [8, 5, 4, 4]",
    because="Rows 0 to 2 are running means; row 3 may not see itself, so it repeats row 2.",
    reference=[8.0, 5.0, 4.0, 4.0],
    tolerance=0.006,
    mistakes=(
        (
            "In row 3 you counted the padding; it is hidden from every row, its own too.",
            [8, 5, 4, 4.75],
        ),
        (
            "In row 3 you gave the padding its own value, as if it saw itself; it is hidden from "
            "its own row too, which sees the three words.",
            [8, 5, 4, 7],
        ),
        (
            "The future is visible in your rows: row 0 may see token 0 alone.",
            [4, 4, 4, 4],
        ),
        (
            "Nothing is hidden in your rows, neither the future nor the padding.",
            [4.75, 4.75, 4.75, 4.75],
        ),
        (
            "In your rows no token sees itself; it may, since it is written already.",
            [0, 8, 5, 4],
        ),
        (
            "Your masks hide the past: row t may see the tokens 0 to t.",
            [4, 2, 2, 0],
        ),
        (
            "Those are sums. The weights of a row sum to 1, so the result is a mean.",
            [8, 10, 12, 12],
        ),
        (
            "The padding has no value in your last row, but still its share of the weights; the "
            "others share the whole.",
            [8, 5, 4, 3],
        ),
        (
            "Your last row is 0. A row of padding asks as well, and three tokens are there to be "
            "seen.",
            [8, 5, 4, 0],
        ),
        (
            "Those are the values themselves, as if each token saw itself alone.",
            [8, 2, 2, 7],
        ),
    ),
    wrong={
        "seen_means = [8, (8 + 2) / 2, 12 / 3, 19 / 4]": "counted the padding",
        "seen_means = [8, 10 / 2, 12 / 3, 7]": "as if it saw itself",
        "seen_means = [12 / 3] * 4": "future is visible",
        "seen_means = [19 / 4] * 4": "nothing is hidden",
        "seen_means = [0, 8, 5, 4]": "no token sees itself",
        "seen_means = torch.tensor([8.0, 2.0, 2.0, 0.0]).cumsum(0)": "Those are sums",
        "seen_means = [8, 5, 4, 12 / 4]": "share of the weights",
        "seen_means = [8, 5, 4, 0]": "Your last row is 0",
        "seen_means = [8, 5, 4]": "length 3",
        "seen_means = 4": "a list is wanted",
    },
    right=(
        """\
V = torch.tensor([8.0, 2.0, 2.0])
seen = V.cumsum(0) / torch.arange(1, 4)
seen_means = [*seen.tolist(), seen[-1].item()]
""",
        "seen_means = (8.0, 10 / 2, 12 / 3, 12 / 3)",
    ),
)
