"""“It looked at *nurse*”."""

from tutor.check.exercise import EXPLAIN, Exercise

what_the_map_leaves_out = Exercise(
    name="what_the_map_leaves_out",
    chapter="10",
    section="What a heat map does not show",
    kind=EXPLAIN,
    title="“It looked at *nurse*”",
    goal="Say what a heat map does not show, and how one would find out.",
    difficulty=3,
    importance=5,
    minutes=15,
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
        "Two measurements of the chapter: replace the head's weights by even ones, or switch the "
        "head off, and translate many sentences again.",
    ),
    stub='''\
what_the_map_leaves_out = """

"""
''',
    solution='''\
what_the_map_leaves_out = """
The map does not show that these weights were needed. Replace them by even ones in 100 sentences,
translate again, and see how far exact match falls. Nor does it show that the head matters: switch
it off and count what is lost. Without the best aligner of the small model that was only a few
sentences; without another head with a worse map it was far more. A row has two names: it writes one
token and has read the one before, so one must first measure at which step this head aligns. The
column is called nurse, but its key and value come from the encoder, where all places have been
mixed. A weight does not say how long the vector is that comes in with it, nor what later layers
make of it. And one sentence proves nothing: choose the head on validation sentences, and report its
error rate on others.
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

- even weights, or the head switched off, over many sentences;
- the error rate at both steps, against gold links;
- choosing on validation and reporting on test, or an untrained model beside it;
- changing a neighbouring word and seeing the vectors move.

Take 1 point off for the claim that attention *never* explains anything: it has to be tested.""",
)
