"""A card that says too little."""

from tutor.check.exercise import EXPLAIN, Exercise

card_of_a_model = Exercise(
    name="card_of_a_model",
    chapter="14",
    section="What must leave together",
    kind=EXPLAIN,
    title="A card that says too little",
    goal="Say what a stranger has to know before using a model.",
    difficulty=2,
    importance=3,
    minutes=10,
    text="""\
A model arrives with this card: *"English-French translator. Transformer, 2.4 million parameters.
BLEU 61.6. Trained with care."* A hospital wants to translate notes for patients with it.

**Explain** in three to five sentences what the card leaves out. What would the number need, so
that somebody could get it again? And what should the hospital have been told?""",
    hints=(
        "On which sentences was 61.6 measured, with which search, and with which flavour of BLEU?",
        "What a model does not know stands in no number. On what was it trained?",
        "Our own card has a section *What it cannot do*: `tutor/models/pretrained/card.md`.",
    ),
    stub='''\
card_of_a_model = """

"""
''',
    solution='''\
card_of_a_model = """
The number lacks its test set, its search (beams, alpha) and its flavour of BLEU with the signature;
without them nobody can compute it again or compare it. The card does not say on which data the
model was trained, and under which terms. It was trained on photo captions, so notes for patients
are texts of another kind, and the number says nothing about them. Above all it leaves out what the
model cannot do: this one does not know negation, and a note that loses its "not" does harm.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "card_of_a_model = 'The data are missing.'": "at least 12 words",
        "card_of_a_model = None": "as a text in quotes",
        "card_of_a_model = ['test set', 'data', 'limits']": "as a text in quotes",
    },
    rubric="""\
- 1 point: the number needs its test set, and the search or the decoding settings.
- 1 point: the number needs the flavour of BLEU (tokens, case), or its signature.
- 1 point: the data of the training, and the terms under which they may be used.
- 1 point: what the model cannot do (other kinds of text, negation), which matters more than the
  number here.""",
)
