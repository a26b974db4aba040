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
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "too_good_to_be_true = 'It overfits.'": "at least 12 words",
        "too_good_to_be_true = None": "as a text in quotes",
        "too_good_to_be_true = 0.01": "as a text in quotes",
    },
    rubric="""\
- 1 point: the target is not shifted (or the future is visible), so the model copies its input.
- 1 point: the causal mask does not help, since a position sees itself; new sentences do not help,
  since their reference is fed in too.
- 1 point: in writing, the reference is not there and nothing can be copied.
- 1 point: a test that decides: change the answer in the decoder's input, and see whether its
  prediction moves. (Half a point for: a loss that falls far too fast is a warning.)""",
    points=(
        "The target is not shifted: what is asked for stands in the input, at the same place.",
        "The causal mask lets a place see itself, so it hides nothing here.",
        "New sentences are fed in with their reference too, so copying works on them as well.",
        "When the model writes, there is no reference in its input, and nothing to copy.",
        "The test: change the answer in the decoder's input; its prediction must not move.",
    ),
    misconceptions=(
        (
            r"(?i)(?:^|[.!?]\s+)(?![^.!?]*(?:\b(?:no|not|never|nor|neither|if|would|could|might|"
            r"rather|instead|unlike|without|wrong|cannot|than)\b|n't))"
            r"[^.!?]*\b(?:overfit(?:s|ted|ting)?|memori[sz]e[sd]?|by heart)\b",
            "You write that the model knows its sentences by heart. But its loss is as good on new "
            "sentences, which nobody can know by heart.",
        ),
    ),
)
