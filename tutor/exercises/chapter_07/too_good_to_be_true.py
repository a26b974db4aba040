"""A success that is none."""

from tutor.check.exercise import EXPLAIN, Exercise

too_good_to_be_true = Exercise(
    name="too_good_to_be_true",
    chapter="07",
    section="What can go wrong",
    kind=EXPLAIN,
    title="A success that is none",
    goal="Find out why a loss can be too good, and name the test that settles it.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A friend is happy: after fifty steps the smoothed loss of her translator is all but at its floor, on
new sentences too. But when it writes, it writes nonsense.

**Explain** in three to five sentences what the model has learned. Why do the causal mask and the
new sentences not reveal it, and why does writing? Which test would have told her in a second?""",
    hints=(
        "What stands in the decoder's input, and what is asked for, if she forgot one thing?",
        "While it trains, the input of the decoder is the reference. What is it while it writes?",
        "The chapter changes one token of the input and looks at one prediction. Which token, and "
        "which prediction?",
    ),
    stub='''\
too_good_to_be_true = """

"""
''',
    solution='''\
too_good_to_be_true = """
The target was not shifted, so the token that is asked for stands in the decoder's input at the same
place, and the model learned to copy it. The causal mask lets a position see itself, so it hides
nothing here. With new sentences their reference is fed in just the same way, and copying works on
any text. When the model writes there is no reference in the input, only what it has written itself,
and there is nothing to copy. The test: change the answer where it stands in the decoder's input;
the prediction of it must not move.
"""
''',
    wrong={
        "too_good_to_be_true = 'It overfits.'": "at least 12 words",
        "too_good_to_be_true = None": "as a text in quotes",
        "too_good_to_be_true = 0.01": "as a text in quotes",
        '''\
too_good_to_be_true = """
After fifty steps the model has overfitted: it knows its sentences by heart. The mask hides the
future, so that is in order. A held-out set shows the truth.
"""
''': "Overfitting shows on new sentences",
        '''\
too_good_to_be_true = """
In training the decoder reads the reference and in writing its own words. This is exposure bias,
and scheduled sampling or a test with more sentences helps.
"""
''': "costs some quality",
    },
    right=(
        '''\
too_good_to_be_true = """
The model has not overfitted, since new sentences are as good. It copies: the target was not
shifted, and each position sees itself, whatever the causal mask hides. When it writes, nothing is
there to copy. Change one token of the decoder's input; the prediction of that token must stay.
"""
''',
        '''\
too_good_to_be_true = """
This is more than exposure bias. The answer stands in the decoder's input at its own place, for
training and for new sentences alike, and the mask lets a place see itself. Writing has no answer
to read. The test: replace the second token and see whether its own prediction moves.
"""
''',
    ),
    points=(
        "The target was not shifted (or the future is visible), so the model copies the "
        "answer from its input.",
        "The causal mask does not reveal it: a position may see itself.",
        "New sentences do not reveal it either: their reference is fed in, too.",
        "While it writes, the reference is not there, and nothing can be copied.",
        "A test that decides: change the answer in the decoder's input; its prediction must "
        "not move.",
    ),
    misconceptions=(
        (
            r"\b(model|it|translator|network) (has |is |was |had )?(simply |only )"
            r"?(over-?fit\w*|memori[sz]e[sd]? (the |all |its )?training)\b",
            "Overfitting shows on new sentences, and there the loss is at its floor as well.",
        ),
        (
            r"(?<!than )\bexposure bias\b",
            "Exposure bias costs some quality. It does not bring a loss to its floor after fifty "
            "steps.",
        ),
    ),
    rubric="""\
Each of the points above counts the same. Half a point for: a loss that falls far too fast is a
warning.""",
)
