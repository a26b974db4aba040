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
    minutes=8,
    text="""\
A model arrives with this card: *"English-French translator. Transformer, 2.4 million parameters.
BLEU 61.6. Trained with care."* A hospital wants to translate notes for patients with it.

**Explain** in three to five sentences what the card leaves out. What would the number need, so
that somebody could get it again? And what should the hospital have been told?""",
    hints=(
        "On which sentences was 61.6 measured, and with which search? BLEU compares tokens: which "
        "ones, and do capitals count?",
        "What a model does not know stands in no number. On what was it trained?",
        "Our own card has a section *What it cannot do*: `tutor/models/pretrained/card.md`.",
    ),
    stub='''\
card_of_a_model = """

"""
''',
    solution='''\
card_of_a_model = """
The number lacks its test set, its search (beams, alpha) and how BLEU was computed: on which tokens,
with or without capitals, as its signature says. So nobody can compare it. The card does not say on
which data the model was trained, and under which terms. It was trained on photo captions, so notes
for patients are texts of another kind, and the number says nothing about them. Above all it leaves
out what the model cannot do: this one does not know negation, and a note that loses its "not" does
harm.
"""
''',
    wrong={
        "card_of_a_model = 'The data are missing.'": "at least 12 words",
        "card_of_a_model = None": "as a text in quotes",
        "card_of_a_model = ['test set', 'data', 'limits']": "as a text in quotes",
        '''\
card_of_a_model = """
The card leaves out the data. A BLEU of 61.6 means that 61.6 percent of the sentences are correct,
so the hospital should expect a bad note in three.
"""
''': "no share of right sentences",
        '''\
card_of_a_model = """
The card lacks the test set and the beams. Otherwise 61.6 is high enough, so the hospital can
start and should only be told to read a few of them.
"""
''': "another kind of text",
        '''\
card_of_a_model = """
The card names no data. The number 61.6 says that about 62 of 100 notes will be translated
correctly, so the hospital should have somebody read them all.
"""
''': "no share of right sentences",
        '''\
card_of_a_model = """
The card should name its test set. 61.6 is very good, nearly a human's, so the hospital can use
the model as it is.
"""
''': "another kind of text",
    },
    right=(
        '''\
card_of_a_model = """
BLEU 61.6 does not mean that 61.6 percent of sentences are right. To compute it again one needs
the test set, the beams and the signature. The card also leaves out the training data with its
terms, and above all what the model fails at: notes are no captions, and a lost negation harms.
"""
''',
        '''\
card_of_a_model = """
Nobody can tell whether 61.6 is high enough, since test set, search and flavour of BLEU are
missing. The data and their licence are missing too. The hospital had to know that it learned from
photo captions, and that it drops the word not.
"""
''',
    ),
    points=(
        "The number needs its test set, and the search or the settings of decoding.",
        "The number needs how BLEU was computed (which tokens, capitals or not), or its signature.",
        "The data of the training, and the terms under which they may be used.",
        "What the model cannot do, such as other kinds of text or negation. Here this matters "
        "more than the number.",
    ),
    misconceptions=(
        (
            r"\b(61\.6|bleu)\b[^.;,]{0,25}\b(means?|is|stands for|tells?|(?P<own>says?))\b"
            r"[^;,]{0,25}(\b6[12](\.6)? ?%|\bper ?cent\b|\b(out|6[12]) of (a )?(100|hundred)\b|"
            r"\b(sentences|translations|notes|words)"
            r" (are|is|will be) (translated )?(right|correct))",
            "BLEU is no share of right sentences: it counts runs of up to four words that stand "
            "in a reference, too.",
        ),
        (
            r"\b(61\.6|bleu|number|score) (of 61\.6 )?is (high|good) enough\b|\b(good|high)"
            r" enough for (the|a) hospital\b|\b(61\.6|bleu|score) (of 61\.6 )?is (a )?(very|really|"
            r"quite|so) (good|high)\b(?!.*\b(captions?|photos?|on|for|because|since)\b)|"
            r"^(?!.*\bcaptions?\b).*\b61\.6\b.{0,30}\b(nearly|almost|close to|as good as)\b.{0,9}"
            r"\bhuman",
            "The number was measured on another kind of text: it says nothing about notes for "
            "patients.",
        ),
    ),
)
