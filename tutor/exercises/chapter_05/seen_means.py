"""Means of what may be seen."""

import math

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
    minutes=5,
    text="""\
A target is padded on the **left**: of its four places the first one is padding. The values are 7,
8, 2 and 2, and all scores are equal. **Predict** the four results of masked self-attention, with
both masks joined: a list of four numbers.""",
    hints=(
        "With equal scores each row is the mean of the values that it may see.",
        "Row 2 sees tokens 1 and 2: token 3 is its future, token 0 is padding. Which tokens may "
        "row 0 see?",
        "Row 0 may see nothing. In this course such a row is neither NaN nor a mean of what is "
        "hidden (chapter 02, masks).",
    ),
    stub="seen_means = None  # a list of four numbers",
    solution="seen_means = [0, 8, 5, 4]",
    because="Row 0 may see nothing, so it gets zeros. With padding on the right this never happens "
    "to a decoder: its token 0 is a word.",
    reference=[0.0, 8.0, 5.0, 4.0],
    tolerance=0.006,
    mistakes=(
        (
            "You counted the padding; it is hidden from every row, its own too.",
            [7, 7.5, 17 / 3, 4.75],
        ),
        (
            "Row 0 is right, but you counted the padding in other rows; it is hidden from all.",
            [0, 7.5, 17 / 3, 4.75],
        ),
        (
            "Row 3 is wrong: it sees all three words, and the padding is hidden from it too.",
            [0, 8, 5, 4.75],
        ),
        (
            "In your rows each word sees itself alone; it also sees the words before it.",
            [0, 8, 2, 2],
        ),
        (
            "The future is visible in your rows: row 1 may see token 1 alone.",
            [0, 4, 4, 4],
        ),
        (
            "In row 0 you gave the padding its own value, as if it saw itself; it is hidden from "
            "its own row too.",
            [7, 8, 5, 4],
        ),
        (
            "Row 0 may see nothing. A softmax over nothing is 0 / 0, which is why the course gives "
            "such a row another result.",
            [math.nan, 8, 5, 4],
        ),
        (
            "In row 0 you took the mean of all tokens, as a softmax does if every score is equally "
            "low. All of them are hidden, so no weight is left.",
            [4.75, 8, 5, 4],
        ),
        (
            "In row 0 you took the mean of the words. They are the future of place 0.",
            [4, 8, 5, 4],
        ),
        (
            "In row 0 you took the first word. It is the future of place 0.",
            [8, 8, 5, 4],
        ),
        (
            "The future is visible in your rows: row 1 may see token 1 alone.",
            [4, 4, 4, 4],
        ),
        (
            "Nothing is hidden in your rows, neither the future nor the padding.",
            [4.75, 4.75, 4.75, 4.75],
        ),
        (
            "In your rows no token sees itself; it may, since it is written already.",
            [0, 0, 8, 5],
        ),
        (
            "Your masks hide the past: row t may see the tokens up to t.",
            [4, 4, 2, 2],
        ),
        (
            "Those are sums. The weights of a row sum to 1, so the result is a mean.",
            [0, 8, 10, 12],
        ),
        (
            "The padding has no value in your rows, but still its share of the weights; the words "
            "share the whole.",
            [0, 4, 10 / 3, 3],
        ),
        (
            "Those are the values themselves, as if each token saw itself alone.",
            [7, 8, 2, 2],
        ),
        (
            "You hid the last token, as if the padding stood on the right. Here it stands on the "
            "left, with the value 7.",
            [7, 7.5, 17 / 3, 17 / 3],
        ),
    ),
    wrong={
        "seen_means = [7, 15 / 2, 17 / 3, 19 / 4]": "counted the padding",
        "seen_means = [7, 8, 10 / 2, 12 / 3]": "as if it saw itself",
        "seen_means = [float('nan'), 8, 5, 4]": "0 / 0",
        "seen_means = [19 / 4, 8, 5, 4]": "equally low",
        "seen_means = [12 / 3] * 4": "future is visible",
        "seen_means = [19 / 4] * 4": "nothing is hidden",
        "seen_means = [0, 0, 8, 5]": "no token sees itself",
        "seen_means = torch.tensor([0.0, 8.0, 2.0, 2.0]).cumsum(0)": "Those are sums",
        "seen_means = [0, 8 / 2, 10 / 3, 12 / 4]": "share of the weights",
        "seen_means = [8, 5, 4]": "length 3",
        "seen_means = 4": "a list is wanted",
        "seen_means = [7, 15 / 2, 17 / 3, 17 / 3]": "on the right",
    },
    right=(
        """\
V = torch.tensor([8.0, 2.0, 2.0])
seen = V.cumsum(0) / torch.arange(1, 4)
seen_means = [0.0, *seen.tolist()]
""",
        "seen_means = (0, 8.0, 10 / 2, 12 / 3)",
        """\
from tutor.attention import compute_attention_matrix, decoder_mask

mask = decoder_mask(torch.tensor([[0, 5, 6, 7]]))[0, 0]
A = compute_attention_matrix(torch.zeros(4, 1), torch.zeros(4, 1), mask)
seen_means = A @ torch.tensor([7.0, 8.0, 2.0, 2.0])
""",
    ),
)
