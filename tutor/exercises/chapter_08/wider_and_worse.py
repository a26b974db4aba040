"""More beams, worse translations."""

from tutor.check.exercise import EXPLAIN, Exercise

wider_and_worse = Exercise(
    name="wider_and_worse",
    chapter="08",
    section="Sentences of different lengths",
    kind=EXPLAIN,
    title="More beams, worse translations",
    goal="Tell a mistake of the search from a mistake of the model.",
    difficulty=3,
    importance=4,
    minutes=9,
    text="""\
A friend searches with $\\alpha = 0$. With 5 beams the translations are good. With 50 they are
shorter, some are empty, and BLEU falls, although the search is without a mistake. **Explain** in
three to five sentences: what does a wider beam find, and why is that shorter? Whose fault is it,
and what can be done about it?""",
    hints=(
        "Compare a sentence of three tokens with one of four by the sum of their logarithms. What "
        "does one more factor do?",
        "Is the empty translation hard to find for a search? Where does it stand in the pool of 5 "
        "beams after the first step, and where in that of 50?",
        "What does the length penalty divide by, and how is $\\alpha$ chosen?",
    ),
    stub='''\
wider_and_worse = """

"""
''',
    solution='''\
wider_and_worse = """
A wider beam drops less, so it finds sentences that are more probable; that is all a search is asked
for. Every further token multiplies by a number of at most 1, so the sum of logarithms can only
fall, and short sentences, the empty one above all, have an advantage. A narrow beam drops the early
[EOS] after the first step and so never sees that sentence win. The fault is the model's, which
gives the short sentence too much, and the question's: the most probable is not the best. Dividing
the sum by a length penalty before comparing makes up for it, with an alpha chosen on validation
sentences.
"""
''',
    wrong={
        "wider_and_worse = 'The beam is too wide.'": "at least 12 words",
        "wider_and_worse = 50": "as a text in quotes",
        "wider_and_worse = None": "as a text in quotes",
        '''\
wider_and_worse = """
With 50 beams the search is at fault, as it keeps too many candidates and gets lost among them.
She has to go back to 5 beams, where it works.
"""
''': "The search is right",
        '''\
wider_and_worse = """
The wider beam finds sentences that are less probable, since it looks at more of them and most are
bad. Fewer beams or more training help.
"""
''': "more probable, not less",
        '''\
wider_and_worse = """
The sum of logarithms falls with each token, so the short sentences win in a wide beam. She has to
divide by a length penalty, and alpha should be chosen on the test sentences.
"""
''': "flatters",
    },
    right=(
        '''\
wider_and_worse = """
The search makes no mistake: a wider beam finds sentences of higher probability. Each token
multiplies by a number below 1, so the short ones win, and the model gives the empty one too much.
Divide the sum by a length penalty and choose its alpha on validation sentences.
"""
''',
        '''\
wider_and_worse = """
One would think that the search is to blame, or that a wider beam finds less probable sentences.
It finds more probable ones, and the most probable is short, because every factor is at most 1.
What is asked for is wrong: compare by a mean or a length penalty, tuned on validation data.
"""
''',
    ),
    points=(
        "A wider beam finds sentences that are more probable, so the search does its work.",
        "Each further factor is at most 1, so a sum of log-probabilities favours short sentences.",
        "The fault is the model's, or the question's: the most probable is not the best. A "
        "narrow beam hides it.",
        "Compare scores divided by a length penalty, with alpha chosen on validation sentences.",
    ),
    misconceptions=(
        (
            r"\b(search|wider beam|wide beam)\b (itself )?(makes|has|contains|is) (a |more |"
            r"many )?(?P<own>(mistakes?|bugs?|errors?|wrong|at fault|to blame))\b",
            "The search is right: it finds what is more probable. The model gives short sentences "
            "too much.",
        ),
        (
            r"\bwider beams? (finds?|returns?|writes?|gives?|chooses?)( a| sentences?|"
            r" translations?| ones?)* (that are |that is |of )?(less (probable|likely)|(a )"
            r"?lower probability)\b",
            "A wider beam finds sentences that are more probable, not less. What falls is BLEU.",
        ),
        (
            r"\balpha (should|must|can|has to) be (chosen|tuned|set) on (the )?test",
            "An alpha that was chosen on the test sentences flatters the result on them: choose it "
            "on validation sentences.",
        ),
    ),
    rubric="""\
Each of the points above counts the same. For the last, half a point for: use fewer beams.""",
)
