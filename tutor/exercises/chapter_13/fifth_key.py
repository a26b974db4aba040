"""A fifth key."""

from tutor.check.exercise import PREDICT, Exercise

fifth_key = Exercise(
    name="fifth_key",
    chapter="13",
    section="Attention without the matrix",
    kind=PREDICT,
    title="A fifth key",
    goal="Go on with a softmax in instalments, by hand.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
After four keys we remember: largest score $\\log 4$, sum of the exponentials 2, sum of the weighted
values 5.25. Now a fifth key comes, with the score $\\log 8$ and the value 2. **Predict** the result
of the attention over all five keys, good to three decimals.""",
    hints=(
        "The new score is the largest one. By which factor is everything summed so far too large?",
        "The factor is $e^{\\log 4 - \\log 8} = 1/2$. The new key's exponential is $e^0 = 1$.",
        "Sum: 1 + 1. Weighted values: 2.625 + 1 · 2. Divide.",
    ),
    stub="fifth_key = None  # a number",
    solution="fifth_key = 2.3125",
    because="4.625 / 2; all at once it is (21 + 8 · 2) / 16 = 37 / 16.",
    reference=2.3125,
    tolerance=0.001,
    mistakes=(
        ("You did not shrink what was summed before. A larger score halves both sums.", 7.25 / 3),
        ("Only the exponentials' sum is shrunk. The weighted values are halved too.", 3.625),
        (
            "Only the weighted values are shrunk. The exponentials' sum is halved too.",
            4.625 / 3,
        ),
        ("That is the result of the first four keys.", 2.625),
        ("Divide by the sum of the exponentials at the end.", 4.625),
        ("That is the plain mean of the values; scores count.", 2.4),
        ("The sums are doubled here. A larger score makes them smaller: half.", 12.5 / 5),
    ),
    wrong={
        "fifth_key = (5.25 + 2) / (2 + 1)": "did not shrink",
        "fifth_key = (5.25 + 2) / (1 + 1)": "weighted values are halved too",
        "fifth_key = 4.625": "Divide by the sum",
        "fifth_key = 2.625": "first four keys",
        "fifth_key = 2.4": "plain mean",
    },
    right=(
        "fifth_key = 37 / 16",
        """\
scores, values = torch.tensor([1.0, 2, 4, 1, 8]).log(), torch.tensor([1.0, 2, 3, 4, 2])
fifth_key = (scores.softmax(0) * values).sum().item()
""",
    ),
)
