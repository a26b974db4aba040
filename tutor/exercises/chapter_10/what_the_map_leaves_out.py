"""“It looked at *nurse*”."""

from tutor.check.exercise import EXPLAIN, Exercise

# A sentence that claims what follows here: it does not deny it first, ask, or report it.
CLAIMED = (
    r"(?is)(?:^|[.!?]\s+)"
    r"(?:(?!\bnot\b|n't|\bnever\b|\bno\b|wrong|false|\bif\b|sa(?:y|id))[^.!?])*?"
)

what_the_map_leaves_out = Exercise(
    name="what_the_map_leaves_out",
    chapter="10",
    section="What a heat map does not show",
    kind=EXPLAIN,
    title="“It looked at *nurse*”",
    goal="Say what a heat map does not show, and how one would find out.",
    difficulty=3,
    importance=5,
    minutes=10,
    text="""\
A colleague shows you one head's map of one sentence. In the row of *infirmière* the column *nurse*
is bright. “So this is why the model wrote *infirmière*”, she says, “and this is its most important
head.” **Explain** in four to seven sentences what the map does not show. Name at least three
things, and for two of them a measurement that would tell.""",
    hints=(
        "Four paths lead away from her claim: what the row stands for, what the column stands for, "
        "whether the weights were needed, and how this head and sentence were chosen.",
        "Which two names does a row have? What has happened to the vector at the place of *nurse* "
        "before the decoder sees it?",
        "Two measurements of the chapter: switch the head off and translate many sentences again; "
        "or put vectors of another run, with another word, in at one place after the other.",
    ),
    stub='''\
what_the_map_leaves_out = """

"""
''',
    solution='''\
what_the_map_leaves_out = """
The map does not show that the head matters: switch it off and count what is lost on many test
sentences. The best aligners of the small models cost little, and heads with worse maps cost more.
The column is called nurse, but the vector at that place comes from the encoder and holds its
neighbours too. Put the vector of that place from a run with another profession into this run, layer
by layer, and see where the translation turns; a vector from a run that differs in something else is
the control. A row has two names: it writes one token and has read the one before. A weight does not
say how long the vector is that comes in with it, nor what later layers make of it. And one sentence
proves nothing: choose the head on validation sentences, and report its cost on others.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "what_the_map_leaves_out = 'The map shows only one head.'": "at least 12 words",
        "what_the_map_leaves_out = ['rows', 'columns']": "as a text in quotes",
        "what_the_map_leaves_out = None": "as a text in quotes",
    },
    rubric="""\
3 points at most for what is not shown, 1 for each:

- the weights may not have been needed: other weights, same translation;
- a good map does not make a head important;
- a row writes one token and reads another;
- the encoder has mixed the column's vector with its neighbours;
- the length of the value and what later layers do are not seen;
- one sentence and one head were picked, so luck is reported too.

2 points at most for measurements that fit, 1 for each:

- the head switched off, or its weights made even, over many sentences;
- vectors of another run put in at one place, with a control;
- the error rate at both steps, against gold links;
- choosing on validation and reporting on test, or an untrained model beside it;
- changing a neighbouring word and seeing the vectors move.

Take 1 point off for the claim that attention *never* explains anything: it has to be tested.""",
    points=(
        "A bright weight may not have been needed: switch the head off, over many sentences.",
        "The column is called nurse, but the encoder has mixed other words into its vector: patch "
        "it from another run, with a control.",
        "The row writes one token and has read another: measure both steps against gold links.",
        "A weight says nothing of the length of the value, nor of what later layers make of it.",
        "One head and one sentence were picked: choose on some sentences, report on others.",
    ),
    misconceptions=(
        (
            CLAIMED
            + r"\battention (?:never explains|(?:is never|can never be) (?:an )?explanation)"
            r"[^?]*?[.!\n]",
            "Whether attention explains something depends on the claim, and has to be tested. On "
            "the page, one claim held and others did not.",
        ),
        (
            CLAIMED + r"\b(?:bright|high|large|strong) weights? (?:proves?|shows?) that the "
            r"(?:head|model) need(?:s|ed)[^?]*?[.!\n]",
            "A high weight says where the head looks. Whether the model needs it shows when it is "
            "taken away.",
        ),
        (
            CLAIMED + r"\bvector (?:of|at|for) nurse (?:holds|contains) (?:only|nothing but) "
            r"[^?]*?[.!\n]",
            "The vector at the place of nurse comes from the encoder, which has mixed its "
            "neighbours in.",
        ),
    ),
)
