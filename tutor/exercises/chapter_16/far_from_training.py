"""A window, without training."""

from tutor.check.exercise import EXPLAIN, Exercise

# tutor/models/since_2017: the models of the test of lengths, seed 0, whose `config.window` was set
# after the training (the other seeds say the same).

far_from_training = Exercise(
    name="far_from_training",
    chapter="16",
    section="Train short, test long",
    kind=EXPLAIN,
    title="A window, without training",
    goal="Say what exactly is new to a model in a text that is longer than those of its training.",
    difficulty=3,
    importance=4,
    minutes=9,
    text="""\
Two models of the chapter were trained on texts of 32 tokens, and read texts of 256: captions, one
after another, of about ten words each. One has RoPE, the other a learned table of 256 rows. Then
their mask got a **window, and nothing was trained again**. Nats a token, in one real run:

| | positions | window | tokens 1 to 32 | 33 to 64 | 225 to 256 |
|---|---|---|---|---|---|
| 1 | RoPE | none | 2.16 | 2.37 | 3.44 |
| 2 | RoPE | 64 | 2.16 | 2.37 | 3.14 |
| 3 | RoPE | 32 | 2.16 | 2.08 | 2.14 |
| 4 | RoPE | 8 | 2.17 | 2.08 | 2.14 |
| 5 | learned | none | 2.19 | 3.47 | 3.41 |
| 6 | learned | 32 | 2.19 | 3.39 | 2.86 |

**Explain** in four to six sentences. What was new to the model with RoPE, and what does row 3 say
against the obvious guess? Why is 64 too many? Why does the window not rescue the learned table? And
why does row 4 not show that 8 tokens are enough for a language model?""",
    hints=(
        "With a window of 32, which places does a token at the end of the text have? And which "
        "distances to the keys that it still sees?",
        "Which distances does a window of 64 let in that no text of 32 tokens has? And what does "
        "the learned table add to token 200, whatever the mask is?",
        "For row 4: how far back must you look to continue a caption of ten words, after captions "
        "that have nothing to do with it? In which text is that different?",
    ),
    stub='''\
far_from_training = """

"""
''',
    solution='''\
far_from_training = """
With RoPE a score depends on the distance alone, so what was new are distances of 32 and more. In
row 3 the places still go up to 256 and nothing is lost, so the places were not the trouble. A
window of 32 leaves distances from 0 to 31, and all of these occurred in training; 64 lets those
from 32 to 63 in again. The learned table adds a row to each token before any mask is at work, and
rows from 32 on never got a gradient, so the window can at best keep some of them out of sight. Row
4 is about these texts: captions are short and have nothing to do with each other. In a story, or
with a question at the beginning, forgetting would cost something.
"""
''',
    wrong={
        "far_from_training = 'The window helps.'": "at least 12 words",
        "far_from_training = None": "as a text in quotes",
        "far_from_training = 32": "as a text in quotes",
        '''\
far_from_training = """
With a window of 32 the model learns to look at near tokens, and this is what it was made for. The
learned table is worse at it. Row 4 is a short window.
"""
''': "Nothing was trained",
        '''\
far_from_training = """
Positions beyond 32 are new to the rotation, and their angles are too large for the model. A window
makes them smaller again, and so the loss is good.
"""
''': "go up to 256",
        '''\
far_from_training = """
The distances are new, and a window of 32 keeps those out that were missing in training. The learned
table ends at 32. Tokens behind it get no position.
"""
''': "has 256 rows",
        '''\
far_from_training = """
The model with RoPE had never seen the big angles of the places after 32. The learned table has
rows that got no gradient. Captions are short, so 8 tokens are enough for these texts.
"""
''': "the angles are as large",
        '''\
far_from_training = """
The window rescues RoPE because it counts the places from its own start again. The learned table is
added before. Captions are short, so 8 tokens are enough for these texts.
"""
''': "keep their places",
        '''\
far_from_training = """
The distances are new, and 64 lets some of them in. Rows of the table were not trained. Row 4 does
not show that 8 tokens are enough because the experiment used only one seed.
"""
''': "Ask what these texts are",
        '''\
far_from_training = """
RoPE sees distances. Those from 32 on did not occur, and the window hides them. From row 4 it
follows that a language model needs only 8 tokens.
"""
''': "These captions",
    },
    right=(
        '''\
far_from_training = """
The obvious guess is that places beyond 32 are new to RoPE, but row 3 has the same places and no
loss. New are the distances: a window of 32 lets in only those that the training had, and 64 lets in
others. Each token beyond 32 brings a row of the table that was never trained, and a mask does not
take it away. Captions are independent and short, so 8 tokens are enough here and not in a novel.
"""
''',
        '''\
far_from_training = """
Distances above 31 never occurred in training. The window hides the keys at such distances, and with
64 they are back. The model did not learn anything from the window. The rows of the learned table
from 32 on hold their initial values, and these are added to the token itself. One cannot conclude
that 8 tokens are enough for every text: here no caption depends on another.
"""
''',
        '''\
far_from_training = """
With RoPE the scores know distances alone. Places up to 256 occur in row 3 as well, so what hurts
are the distances from 32 on, which a window of 32 hides and one of 64 does not. A learned table has
256 rows, but only 32 were trained, and the others are added to their tokens whatever the window is.
In a story the model needs more than 8 tokens; these captions are short.
"""
''',
    ),
    points=(
        "RoPE's scores depend on distances. New are distances of 32 and more, not the places: row "
        "3 has the same places.",
        "A window of 32 leaves only distances that occurred in training; 64 lets others in.",
        "Rows of the learned table from 32 on were never trained, and they are added to the tokens "
        "whatever the mask hides.",
        "Row 4 is about these texts: captions are short and independent. Where the beginning of a "
        "text matters, a window costs something.",
    ),
    misconceptions=(
        (
            r"^(?!.*\b(guess\w*|obvious\w*|expect\w*)\b).*\b(places|positions)\b[^.;,]{0,30} "
            r"(are|were) (all |still )?(new|unseen|unknown|untrained) (to|for|in) (the )?"
            r"(rope|rotat)",
            "In row 3 the places go up to 256 as well, and nothing is lost. Look at the distances.",
        ),
        (
            r"^(?!.*\brow (3|three)\b).*\b(has|had|have) (?P<own>never|not) (seen|met) (the |such |"
            r"these )?(big|large|high)\w* (angles|places|positions|rotations)\b",
            "In row 3 the angles are as large, and nothing is lost. Look at the distances.",
        ),
        (
            r"\bwindow\b[^.;]{0,40}\bcounts\b[^.;]{0,20}\b(places|positions)\b[^.;]{0,40}\bagain\b",
            "A window hides keys; all tokens keep their places. Look at the distances.",
        ),
        (
            r"^(?!.*\bcaptions?\b).*(?P<own>\b(does|do|can|could)( ?not|n['’]t) (show|prove|say)\b"
            r".*)\b(because|since|as)\b[^.;]*\b(one|a single) seed\b",
            "The other seeds say the same. Ask what these texts are.",
        ),
        (
            r"\bwith (a|the) (\w+ )?window\b[^.;,]{0,25} (models?|it|network) (learns to|adapts)\b"
            r"|\b(models?|it|network) (learn(s|ed)|adapt(s|ed)) (to )?(the|a) (\w+ )?window\b",
            "Nothing was trained with a window: the mask alone has changed.",
        ),
        (
            r"^(?!.*\b(trained|training|gradients?)\b).*\btable ((ends|stops) (at|after|behind|"
            r"with) (row |token |place )?(31|32)\b|(has|holds|had) (?P<own>(only |no more than ))"
            r"32 rows\b)",
            "The table has 256 rows. Ask which of them ever got a gradient.",
        ),
        (
            r"^(?!.*\b(here|these|this|such|captions?)\b).*\b(language models?|models?|any text|"
            r"every text) needs? (only |at most )?(the last )?(8|eight) (tokens|words)\b",
            "These captions have nothing to do with each other. Think of a text whose beginning "
            "matters.",
        ),
    ),
    rubric="Each of the points above counts the same; half a point where the reason is missing.",
)
