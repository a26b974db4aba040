"""What the division is for."""

from tutor.check.exercise import EXPLAIN, Exercise

why_the_square_root = Exercise(
    name="why_the_square_root",
    chapter="02",
    section="Why divide by the square root of $d_k$?",
    kind=EXPLAIN,
    title="What the division is for",
    goal="Explain the scaling to somebody who would leave it out.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A friend trains heads of width 4 without dividing by $\\sqrt{d_k}$, and it works. She makes them 256
wide, and they hardly learn. **Explain** in three to five sentences what happened: what grows and by
how much, what the softmax then does, and why that stops the learning.""",
    hints=(
        "Three things belong in it: the size of the scores, the weights, the gradient.",
        "A score is a sum of $d_k$ products. How do the variances of independent terms add up?",
        "What is $A_j (1 - A_j)$, a slope of the softmax, when $A_j$ is near 0 or near 1?",
    ),
    stub='''\
why_the_square_root = """

"""
''',
    solution='''\
why_the_square_root = """
A score is a sum of d_k products, so with unit variances its variance is d_k and its size the root
of d_k: 2 for width 4, and 16 for width 256. Differences of scores become ratios of weights, so the
softmax of such scores is nearly one-hot. Its slopes are A_j (1 - A_j) and - A_j A_m, which are all
nearly 0 then: the scores get no gradient and do not learn. The division brings the variance of the
scores back to 1 at every width.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "why_the_square_root = 'It is too big.'": "at least 12 words",
        "why_the_square_root = 256": "as a text in quotes",
        "why_the_square_root = None": "as a text in quotes",
    },
    points=(
        "A score is a sum of $d_k$ products; its size grows like $\\sqrt{d_k}$, its variance like "
        "$d_k$.",
        "With large scores the softmax gives nearly all weight to one key.",
        "The slopes of such a softmax are nearly 0, so no gradient reaches the scores.",
        "From width 4 to 256 scores grow 8 times; the division makes all widths alike.",
    ),
    misconceptions=(
        (
            r"\bvariance (of (the|a|each) scores? )?(is|grows like|grows with|rises with) "
            r"(the )?(square )?root of d_?k",
            "Your text gives the variance the root of d_k. The variance of a sum of d_k products "
            "is d_k; the typical size of a score is its root.",
        ),
        (
            r"\bscores? (are|is|becomes?|gets?|grows?) (by )?(a factor of )?64( times)?\b"
            r"(?!.{0,20}varian)",
            "Your text lets the scores grow 64 times, as the width does. Their typical size grows "
            "with the root of the width, 8 times; the variance grows 64 times.",
        ),
        (
            r"(?<!not )\bso that (the|all) (weights|rows) sum to (1|one)\b",
            "Your text says that the division makes the weights sum to 1. The softmax does that, "
            "with or without the division.",
        ),
    ),
    rubric="""\
- 1 point: scores grow like the square root of $d_k$ (or their variance like $d_k$), with a reason.
- 1 point: the softmax then gives nearly all weight to one key.
- 1 point: the slopes of such a softmax are nearly 0, so no gradient reaches the scores.
- 1 point: the numbers fit (a factor of 8 from width 4 to 256), or the division is said to make the
  spread the same at every width.""",
)
