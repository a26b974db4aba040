"""More beams, worse translations."""

from tutor.check.exercise import EXPLAIN, Exercise

# A sentence that claims what follows here: it does not deny it first, ask, or report it.
CLAIMED = (
    r"(?is)(?:^|[.!?]\s+)"
    r"(?:(?!\bnot\b|n't|\bnever\b|\bno\b|wrong|false|\bif\b|sa(?:y|id))[^.!?])*?"
)

wider_and_worse = Exercise(
    name="wider_and_worse",
    chapter="08",
    section="Sentences of different lengths",
    kind=EXPLAIN,
    title="More beams, worse translations",
    goal="Tell a mistake of the search from a mistake of the model.",
    difficulty=3,
    importance=4,
    minutes=8,
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
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "wider_and_worse = 'The beam is too wide.'": "at least 12 words",
        "wider_and_worse = 50": "as a text in quotes",
        "wider_and_worse = None": "as a text in quotes",
    },
    rubric="""\
- 1 point: a wider beam finds sentences that are more probable, so the search does its work.
- 1 point: each further factor is at most 1, so sums favour short sentences.
- 1 point: the fault is the model's, or the question's; a narrow beam hides it.
- 1 point: compare scores divided by a length penalty, with $\\alpha$ chosen on validation sentences
  (half a point for: use fewer beams).""",
    points=(
        "A wider beam drops less, so it finds sentences that are more probable: the search is "
        "right.",
        "Every further token is a factor of at most 1, so the sum of logarithms favours short "
        "sentences.",
        "A narrow beam drops the early [EOS], and so hides what the model would prefer.",
        "The fault is the model's, or the question's: the most probable is not the best.",
        "A length penalty before comparing makes up for it; alpha is chosen on validation "
        "sentences.",
    ),
    misconceptions=(
        (
            CLAIMED + r"\b(?:wider|larger|bigger|more) beams? (?:finds?|gives?|returns?|yields?) "
            r"(?:sentences that are |translations that are )?less (?:probable|likely)[^?]*?[.!\n]",
            "A wider beam drops less, so what it finds is nearly always more probable. Look at "
            "what becomes of a sum when a sentence grows.",
        ),
        (
            CLAIMED + r"\b(?:wider|larger|bigger|more) beams? (?:makes?|causes?|leads? to|"
            r"introduces?) (?:more )?search (?:errors|mistakes)[^?]*?[.!\n]",
            "A wider beam makes fewer search errors, not more. Who is at fault if the search finds "
            "what it was asked for?",
        ),
        (
            CLAIMED + r"\balpha (?:should|must|can) be (?:chosen|tuned|set) on (?:the )?test"
            r"[^?]*?[.!\n]",
            "An alpha that was chosen on the test sentences flatters the result on them: choose it "
            "on validation sentences.",
        ),
    ),
)
