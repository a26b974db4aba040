"""Five links, four of them true."""

from tutor.check.exercise import PREDICT, Exercise

rate_on_paper = Exercise(
    name="rate_on_paper",
    chapter="09",
    section="What is true?",
    kind=PREDICT,
    title="Five links, four of them true",
    goal="Compute an alignment error rate by hand.",
    difficulty=1,
    importance=4,
    minutes=5,
    text="""\
*He is not sleeping .* is *Il ne dort pas .*, and words are counted from 0, the full stop too. A
link is (English, French), as in the chapter. True are

(0, 0), (2, 1), (1, 2), (3, 2), (2, 3), (4, 4).

A head gives each French word one link: (0, 0), (2, 1), (3, 2), (4, 3), (4, 4).

**Predict** the alignment error rate, on paper: a number, good to two decimals.""",
    hints=(
        "Three numbers are needed: how many links are true, how many are predicted, how many are "
        "both.",
        "The head found four true links. What stands below the line is the sum of both sizes.",
        "AER is $1 - 2 \\cdot 4 / (5 + 6)$.",
    ),
    stub="rate_on_paper = None  # a number, such as 0.5",
    solution="rate_on_paper = 1 - 2 * 4 / (5 + 6)",
    because="Four of the links are in both sets, of five and of six: 1 - 8 / 11 = 0.27.",
    reference=3 / 11,
    tolerance=0.006,
    mistakes=(
        ("That is the share of agreement. The error rate is 1 minus it.", 8 / 11),
        ("The 2 above the line is missing: a hit is in both sets, and counts for both.", 7 / 11),
        ("The 2 above the line is missing, and you did not take the share from 1.", 4 / 11),
        (
            "You divided by the predicted links alone. AER also asks for the true links that were "
            "not found: both sizes stand below the line.",
            1 / 5,
        ),
        (
            "You divided by the true links alone. AER also asks for the predicted links that are "
            "false: both sizes stand below the line.",
            1 / 3,
        ),
        (
            "You divided by the links that are in at least one of the sets. Below the line stands "
            "the sum of both sizes.",
            3 / 7,
        ),
        ("One hit was overlooked: (3, 2) is right too, though dort has a second partner.", 5 / 11),
        ("Look at (4, 3) again: pas is linked to the full stop, and that is not true.", 1 / 11),
    ),
    wrong={
        "rate_on_paper = 8 / 11": "1 minus it",
        "rate_on_paper = 1 - 4 / (5 + 6)": "The 2 above the line is missing: a hit",
        "rate_on_paper = 0.36": "did not take the share from 1",
        "rate_on_paper = 0.2": "predicted links alone",
        "rate_on_paper = 2 / 6": "true links alone",
        "rate_on_paper = 1 - 4 / 7": "in at least one",
        "rate_on_paper = 0.45": "overlooked",
        "rate_on_paper = 1 - 2 * 5 / 11": "linked to the full stop",
        "rate_on_paper = [3, 11]": "a number is wanted",
    },
    right=("rate_on_paper = 0.27", "rate_on_paper = torch.tensor(3) / 11"),
)
