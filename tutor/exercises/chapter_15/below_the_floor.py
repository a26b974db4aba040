"""Better than the truth."""

from tutor.check.exercise import EXPLAIN, Exercise

# Real runs: the model, tokenizer, recipe (700 steps) and 300 test captions of the page, seed 0.
# Run 2: packed rows, 16 of 64 tokens a step, whose `documents` are 1 throughout, in training and
# in the test. Run 3: `stream_mask` without `causal_mask`. Run 4: 700 of the captions and the 300.

below_the_floor = Exercise(
    name="below_the_floor",
    chapter="15",
    section="Training, with the floor in sight",
    kind=EXPLAIN,
    title="Better than the truth",
    goal="Say what a loss below the entropy proves, and what one above it does not.",
    difficulty=4,
    importance=4,
    minutes=9,
    text="""\
Four runs of this chapter's model, 700 steps each, and what they need for the same 300 captions. The
captions were drawn independently of each other; the grammar itself needs 19.47 nats for one.

| run | | nats a caption |
|---|---|---|
| 1 | as on the page | 20.94 |
| 2 | rows packed **without** the document mask, positions that run on through a row, in training \
and in the test | 21.59 |
| 3 | no causal mask | 0.03 |
| 4 | trained on 1,000 captions, the 300 among them | 7.23 |

**Explain** in four to six sentences. No model can be below the entropy: so why are runs 3 and 4?
Run 2 also sees what it should not see: why is it *not* below? Its loss would alarm nobody, so by
what would you find its fault? (Why run 2 is a little above run 1 is not asked.)""",
    hints=(
        "The floor holds under two conditions: what may the model have seen of this caption when "
        "it predicts a word, and what in its training?",
        "What does one caption tell about the next one in the row, if both were drawn "
        "independently? And if they were two pages of one book?",
        "The page proves that packed documents are apart without looking at a loss. What does it "
        "change, and what does it look at?",
    ),
    stub='''\
below_the_floor = """

"""
''',
    solution='''\
below_the_floor = """
The entropy is a floor for predicting new captions from the words before, and for nothing else. Run
3 sees the word that it has to predict, so it copies it. Run 4 has learned these very captions by
heart; it need only tell which of 1,000 comes, and log 1000 is 6.9 nats. A loss below the floor
therefore proves a fault of the measurement. Run 2 sees its neighbours, but these are independent of
the caption and tell nothing about it, so the leak cannot help. On documents that belong together
the same leak would lower the loss. To find it, change one token of a document and look whether
anything moves in another one, or compare with each document read alone.
"""
''',
    wrong={
        "below_the_floor = 'Run 3 sees the future.'": "at least 12 words",
        "below_the_floor = 3": "as a text in quotes",
        "below_the_floor = None": "as a text in quotes",
        '''\
below_the_floor = """
Run 3 sees the future and run 4 has memorised. Run 2 is above the entropy, which proves that its
documents are kept apart, so it is all right.
"""
''': "about independent neighbours",
        '''\
below_the_floor = """
Runs 3 and 4 know the language better than the grammar, as they were trained well. Run 2 needs
more steps until it gets there too.
"""
''': "It knows the true probabilities",
        '''\
below_the_floor = """
Run 3 copies the word. Run 4 knows the captions by heart. With more training, run 1 will also get
below the entropy, and run 2 after it.
"""
''': "No training leads below it",
        '''\
below_the_floor = """
The entropy was measured on 300 captions only, so runs can be below by luck. Run 2 is above, so its
mask works. I would look at a larger test set.
"""
''': "about independent neighbours",
        '''\
below_the_floor = """
Run 3 sees the future. Run 4 has seen the captions. Run 2 has the causal mask, so it cannot cheat.
Nothing is wrong with run 2 at all, the loss is fine.
"""
''': "about independent neighbours",
        '''\
below_the_floor = """
Run 3 and 4 are below because they are overfitted. I would look at the training curve of run 2.
"""
''': "Overfitting raises",
        '''\
below_the_floor = """
Runs 3 and 4 cheat. Run 2 is not below because it was trained for too few steps; with more steps it
would be lower. I would look at the training curve.
"""
''': "No training leads below it",
        '''\
below_the_floor = """
Runs 3 and 4 cheat. Run 2 needs more steps, with which it would be lower than the entropy too.
"""
''': "No training leads below it",
    },
    right=(
        '''\
below_the_floor = """
Being above the floor does not prove that documents are kept apart. Run 3 reads the answer, run 4
remembers it, and the floor only holds for unseen captions and for what stands before a word.
Run 2's neighbours are independent, so they carry no information. I would perturb one document and
see whether the logits of its neighbour move.
"""
''',
        '''\
below_the_floor = """
Entropy bounds the prediction of a fresh caption from its past. In run 3 the future is visible, in
run 4 the captions are not fresh. One might think that run 2 knows the language better than the
grammar; but its extra words tell nothing about this caption, so nothing is gained. A gradient that
is zero between documents would show that they are apart.
"""
''',
    ),
    points=(
        "The floor holds for new captions, predicted from the words before alone.",
        "Run 3 sees the word that it has to predict.",
        "Run 4 has met these captions in training, and knows them by heart.",
        "Run 2's neighbours are independent of the caption: they tell nothing about it, so seeing "
        "them cannot lower the loss.",
        "Run 2's fault is found by a test, not by a loss: change one document and see whether "
        "another moves, or compare with each read alone.",
    ),
    misconceptions=(
        (
            r"\b(above|over) the (floor|entropy)\b[^.;]{0,30}\b(shows?|proves?|means?) that "
            r"(it|run 2|its|the) [^.;]{0,40}\b(kept apart|is (sound|correct|all right|"
            r"right|fine))\b"
            r"|\b(so|thus|hence|therefore),? (its|the|run 2['’]s) (document )?mask "
            r"(works|is (sound|correct|all right|right|fine))\b"
            r"|(?P<own>\bnothing is wrong with (run 2|it|its mask)\b)",
            "A leak that tells only about independent neighbours cannot lower the loss: being "
            "above the floor proves nothing about the mask.",
        ),
        (
            r"\b(they|it|runs? [34]( and [34])?|(the|these|both) (models?|runs?)) (knows?|learned|"
            r"understands?) (the |this )?(language|english|captions) better than the "
            r"(grammar|truth)\b",
            "No model predicts better than the grammar. It knows the true probabilities: a smaller "
            "loss comes from seeing or remembering the answer.",
        ),
        (
            r"\b(more|longer) (training|steps)\b[^.;]{0,50}\b(gets?|falls?|comes?|goes?|leads?|be) "
            r"(also )?(below|under) (it|the (floor|entropy))\b"
            r"|(?P<own>\bmore (steps|training)\b[^.;]{0,30}\b(would|will|could) (also )?"
            r"(be|get|fall|come) (lower than|below|under) the (entropy|floor)\b"
            r"|\brun 2\b[^.]{0,30}\bnot below (because|as|since)\b[^.]{0,40}"
            r"\btoo few steps\b[^.]*)",
            "The entropy is a floor on new captions. No training leads below it, only an answer "
            "that is seen or remembered.",
        ),
        (
            r"\b(run 3|runs 3 and 4|run 3 and (run )?4|both|they)\b[^.;]{0,40}"
            r"\b(are|is|have|has|were|was)( been)? (also )?over-?fit(ted)?\b",
            "Overfitting raises the loss on *new* captions. Run 3 sees the word that it has to "
            "predict; run 4 is tested on captions of its training.",
        ),
    ),
    rubric="""\
Each of the points above counts the same. For the last, any test counts that looks at what moves
between documents: a changed token, a gradient, a document read alone.""",
)
