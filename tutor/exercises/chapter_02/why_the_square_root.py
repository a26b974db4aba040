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
    wrong={
        "why_the_square_root = 'It is too big.'": "at least 12 words",
        "why_the_square_root = 256": "as a text in quotes",
        "why_the_square_root = None": "as a text in quotes",
        '''\
why_the_square_root = """
A score is a sum of d_k products, so it grows with the width. At width 256 the exponentials in the
softmax overflow, and the weights are useless. The division keeps them small enough.
"""
''': "Nothing overflows",
        '''\
why_the_square_root = """
The scores have a variance of 256. Large scores mean large gradients, so the head gets exploding
gradients and the training diverges.
"""
''': "they vanish",
        '''\
why_the_square_root = """
A score is a sum of d_k products, and its variance is the root of d_k. At width 256 the softmax is
nearly one-hot, and its slopes are close to zero.
"""
''': "the variance of a sum",
        '''\
why_the_square_root = """
From width 4 to width 256 the scores become 64 times as large, so the softmax is one-hot and its
slopes vanish. The root makes up for that.
"""
''': "8 times",
        '''\
why_the_square_root = """
Wide heads have large scores. She has to divide them by the root of d_k, so that the weights sum to
one again and the gradient flows.
"""
''': "The softmax does that",
    },
    right=(
        '''\
why_the_square_root = """
It is not that anything overflows: a score of size 16 is an ordinary number. But as the variance
of a sum of 256 products is 256, the scores differ by tens, the softmax is one-hot, and its slope
A (1 - A) is close to zero. Dividing by 16 brings the size back to 1.
"""
''',
        '''\
why_the_square_root = """
One might think that the gradients explode. They vanish: scores are 8 times as large at width 256
as at width 4, all weight goes to one key, and a saturated softmax has no slope.
"""
''',
        '''\
why_the_square_root = """
Her scores overflow? No, they only get large. Large scores saturate the softmax, which then has
flat slopes, and nothing is learned any more.
"""
''',
    ),
    points=(
        "Scores grow with the width: a sum of d_k products has a variance like d_k, so a size "
        "like its square root.",
        "The softmax of such scores gives nearly all weight to one key.",
        "The slopes of such a softmax are nearly 0, so no gradient reaches the scores.",
        "The numbers: 8 times as large from width 4 to 256; or, divided, equally large at "
        "every width.",
    ),
    misconceptions=(
        (
            r"\boverflow(s|ed|ing)?\b|\b(becomes?|turns? into|gives?|yields?) (infinite|"
            r"infinity|inf|nan)\b",
            "Nothing overflows: scores of size 16 are harmless numbers. It is the softmax of them "
            "that is nearly one-hot, so that its slopes vanish.",
        ),
        (
            r"\bgradients? (explodes?|blows? up|becomes? (too |very )?(large|huge|big))\b|"
            r"\bexploding gradients?\b",
            "The gradients do not explode, they vanish: a slope of the softmax is A_j (1 - A_j), "
            "nearly 0 where the weights are one-hot.",
        ),
        (
            r"\bvariance (of (the|a|each) scores? )?(is|grows like|grows with|rises with) "
            r"(the )?(square )?root of d_?k",
            "The variance of a sum of d_k products is d_k; the root is the size of a score.",
        ),
        (
            r"^(?!.*varian).*\bscores? (are|is|becomes?|gets?|grows?) (by )?(a factor of )?64\b",
            "The typical size of a score grows with the root of the width, 8 times; its variance "
            "grows 64 times.",
        ),
        (
            r"\bso that (the|all) (weights|rows) sum to (1|one)\b",
            "Weights sum to 1 with or without the division. The softmax does that.",
        ),
    ),
)
