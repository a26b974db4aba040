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
    minutes=11,
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
sentences. The best aligners of the small models cost 2, 5 and 13 sentences in a hundred, and in
each model a head with a worse map costs more.
The column is called nurse, but the vector at that place comes from the encoder and holds its
neighbours too. Put the vector of that place from a run with another profession into this run, layer
by layer, and see where the translation turns; a vector from a run that differs in something else is
the control. A row has two names: it writes one token and has read the one before. A weight does not
say how long the vector is that comes in with it, nor what later layers make of it. And one sentence
proves nothing: choose the head on validation sentences, and report its cost on others.
"""
''',
    wrong={
        "what_the_map_leaves_out = 'The map shows only one head.'": "at least 12 words",
        "what_the_map_leaves_out = ['rows', 'columns']": "as a text in quotes",
        "what_the_map_leaves_out = None": "as a text in quotes",
        '''\
what_the_map_leaves_out = """
The map shows only a single sentence. A bright column proves that the head is important here. With
more sentences one can see in how many of them.
"""
''': "does not make a head important",
        '''\
what_the_map_leaves_out = """
Attention never explains anything, as researchers have shown with shuffled weights. So the map can
be thrown away, and so can all the others.
"""
''': "has to be tested",
    },
    right=(
        '''\
what_the_map_leaves_out = """
A bright cell does not prove that the head is important: switch it off on many sentences and
count. The vector in the column nurse has read its neighbours in the encoder, so put in one from
another run and see. And the head was picked on this one sentence, so choose on validation data.
"""
''',
        '''\
what_the_map_leaves_out = """
Some say that attention never explains anything; this has to be tested. The map does not tell
whether other weights do as well, what the vector under nurse holds, nor how long its value is. I
make the weights even on the test set, and I swap the vector of nurse, with a control.
"""
''',
    ),
    points=(
        "Not shown: whether the weights were needed. A good map does not make a head important.",
        "Not shown: what stands behind the column. The encoder has mixed that vector with its "
        "neighbours.",
        "Not shown, a third thing: which token the row reads, how long the value is, what "
        "later layers make of it, or how this sentence was picked.",
        "A measurement: the head switched off, or its weights made even, over many sentences.",
        "Another one: vectors of another run put in at one place, with a control; or the head "
        "chosen on validation sentences and reported on others.",
    ),
    misconceptions=(
        (
            r"\b(bright|large|high) (weights?|cells?|columns?|entry|entries) (shows?|proves?|"
            r"means?|tells?)( us)? (that )?(the|this) head (is|was) (important|needed|"
            r"necessary)\b",
            "A bright cell does not make a head important: switch the head off over many "
            "sentences, and count what is lost.",
        ),
        (
            r"\battention( weights?| maps?)? (can )?(?P<own>(never|not ever)) (can )"
            r"?explains? (anything|a|the|why|what)\b",
            "That it never does is a claim, too: it has to be tested, case by case, by an "
            "intervention.",
        ),
    ),
    rubric="""\
Points 1 to 3 stand for any three things that the map does not show, points 4 and 5 for any two
measurements that fit. Also good are:

- the error rate at both steps of a row, against gold links;
- an untrained model beside it;
- changing a neighbouring word and seeing the vectors move.

Take 1 point off for the claim that attention *never* explains anything: it has to be tested.""",
)
