"""Better than the truth."""

from tutor.check.exercise import EXPLAIN, Exercise

# Parts of what the misconceptions look for.
_FLOOR = r"(the (entropy|floor)|19\.47)\b(?! of\b)"
_ABOVE = (
    rf"((above|over|higher than|more than|(not|isn['’]t) below) {_FLOOR}"
    r"|loss (is|looks) (normal|fine))"
)
_BELOW = rf"(below|under|past|lower than) {_FLOOR}"
_SOUND = (  # that run 2 is as it should be, and no more: not "is fine as far as one sees"
    r"((it|run 2|(its|the|run 2['’]s) (document )?(mask|packing)) (works|(is|must be) (sound|"
    r"correct|fine|ok|okay|all right|right))|(it|run 2) (does not|doesn['’]t) cheat|there is no "
    r"leak|nothing leaks|its (documents|captions) (do not|don['’]t|cannot) see (each other|one "
    r"another))(?=[.,]|$| (because|since|and|there|in run 2)\b)"
)
_MORE = (
    r"((more|further|enough) (data|parameters|layers|steps|training|epochs)|train(ed|ing|s)?( it| "
    r"run 2)? longer|longer training)\b"
)
_GAP = r"(?:(?!n['’]t\b|\b(not?|never|cannot|only|than)\b)[^;]){0,50}?"  # denies nothing
_UNEXPLAINED = (  # no word of the sentence tells of the answer, or of documents that help
    r"^(?!.*\b(run 4|see[ns]?|saw|seeing|cop(y|ies|ying)|reads?|reading|remember\w*|memor\w*|"
    r"heart|cheat\w*|leak\w*|answers?|future|test|trained on|books?|pages?|\w*dependent|nor|"
    r"neither|stays?|while|whereas|impossible|must)\b).*?"
)
_RUN_3 = (  # and nothing of run 4 alone
    r"\bruns? 3( and (run )?4)?\b(?:(?!\b(run 4|and|or|but|while|which|one|second|latter|other)\b)"
    r"[^.;:,]){0,40}?"
)

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
        '''\
below_the_floor = """
Run 3 sees the future and run 4 has seen the captions. As run 2 is not below the entropy, its
documents do not see each other.
"""
''': "about independent neighbours",
        '''\
below_the_floor = """
Run 3 sees the future and run 4 has seen the captions. Run 2 is fine because its loss is above the
entropy.
"""
''': "about independent neighbours",
        '''\
below_the_floor = """
Run 3 has learned the language so well that it beats the entropy. Run 4 comes second, run 2 last.
"""
''': "It knows the true probabilities",
        '''\
below_the_floor = """
Runs 3 and 4 cheat. If we train run 2 longer, it will also fall below the entropy.
"""
''': "No training leads below it",
        '''\
below_the_floor = """
Runs 3 and 4 cheat. 700 steps are not enough for run 2 to get below the floor.
"""
''': "No training leads below it",
        '''\
below_the_floor = """
Runs 3 and 4 show classic overfitting. Run 2 generalises better, so its loss is higher.
"""
''': "Overfitting raises",
        '''\
below_the_floor = """
Run 3 has memorised the captions, and so has run 4. The neighbours in run 2 are independent.
"""
''': "cannot know them by heart",
    },
    right=(
        '''\
below_the_floor = """
The floor is for unseen captions. Run 3 sees the next word and run 4 is overfitted to the 300, which
were in its training. Run 2's neighbours are independent. I would compare it with documents alone.
"""
''',
        '''\
below_the_floor = """
Runs 3 and 4 differ: the second overfits, the first reads ahead. Judging by the loss alone, nothing
is wrong with run 2. But its documents see each other, as a changed token shows.
"""
''',
        '''\
below_the_floor = """
Run 4 was tested on what it had learned: with more steps it gets further below the entropy. In run 3
the model knows the captions better than the grammar, because it reads them. Run 2's neighbours are
independent.
"""
''',
        '''\
below_the_floor = """
Run 3 copies and run 4 remembers. Run 2 is above the entropy, so there is no leak of information
about the caption, only of noise. Swap a neighbour to see it.
"""
''',
        '''\
below_the_floor = """
Run 3 copies and run 4 remembers. Even if we train run 2 longer, it will not fall below the entropy.
With the pages of one book, more steps would bring run 2 below the entropy of a single one.
"""
''',
        '''\
below_the_floor = """
To be below the floor, run 3 would need to be a model that knows the language better than the
grammar. It sees the answer. Run 4 has it in its weights. Run 2's loss is above the floor, so it
looks sound, and only a changed token shows that it is not.
"""
''',
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
            r"|(?P<own>(?<!alone )(?<!alone, )\bnothing is wrong with (run 2|it|its mask)\b"
            rf"|\b{_ABOVE}{_GAP}\b(so|thus|hence|therefore|which means( that)?),? {_SOUND}"
            rf"|\b{_ABOVE} and (so|thus|hence|therefore) (is )?(sound|correct|fine|all right)\b"
            rf"|\b(since|as|because) {_GAP}{_ABOVE}, {_SOUND}"
            rf"|\b{_SOUND} (because|since|as) {_GAP}{_ABOVE})",
            "A leak that tells only about independent neighbours cannot lower the loss: being "
            "above the floor proves nothing about the mask.",
        ),
        (
            rf"{_UNEXPLAINED}\b(?<!that )((knows?|learne?[dt]|understands?) (the |this )?(language|"
            r"english|captions) better than the (grammar|truth)|(found|became|is|are) a better "
            r"model [^;]{0,20}than the grammar|learne?[dt] (the |this )?(language|grammar|english) "
            r"so well that (it|they) (beats?|(is|are|gets?|falls?) below)|(learne?[dt]|knows?) "
            r"more about (the|this) language than the grammar|can predict better than the (grammar|"
            r"truth|true (distribution|probabilities)))\b",
            "No model predicts better than the grammar. It knows the true probabilities: a smaller "
            "loss comes from seeing or remembering the answer.",
        ),
        (
            rf"^(?=.*\b(runs? [12]|any model|every model)\b)"
            rf"{_UNEXPLAINED}(?P<own>(\bif (we|you|one|i|it|run 2) {_GAP})?\b{_MORE}{_GAP}"
            rf"\b(be|gets?|falls?|comes?|goe?s?|drops?|leads?) (also )?({_BELOW}|below it\b)"
            rf"|\b((would|will|could) )?(be|gets?|falls?|comes?|goe?s?|drops?) (also )?{_BELOW},? "
            rf"(if|with|after|given) {_GAP}{_MORE}"
            rf"|\bsteps (are|were) (not enough|too few) {_GAP}{_BELOW}"
            rf"|\b(not below (because|as|since) {_GAP}(too few steps|undertrained|not converged)"
            r"[^.]*)"
            rf"|\b(undertrained|not converged( yet)?|too few steps),? (so|therefore) {_GAP}\bnot "
            rf"{_BELOW})",
            "The entropy is a floor on new captions. No training leads below it, only an answer "
            "that is seen or remembered.",
        ),
        (
            rf"{_RUN_3}\b((are|is|have|has|were|was)( been)? (also )?over-?fitt(ed|ing)"
            r"|over-?fits?(?! or\b)|(is|are|shows?|due to|because of) ((a|classic|plain|clear|case|"
            r"sign|of) ){0,3}over-?fitting)\b"
            r"|\bboth( (models|runs))? (are|have)( been)? (also )?over-?fitt(ed|ing)\b",
            "Overfitting raises the loss on *new* captions. Run 3 sees the word that it has to "
            "predict; run 4 is tested on captions of its training.",
        ),
        (
            r"\brun 3 (has )?(also )?(memori[sz]ed|learne?[dt] (the|these|its) captions by heart)\b"
            r"|\bruns 3 and 4 (both )?(have )?(both )?memori[sz]ed the( test)? captions(?! or)\b",
            "Run 3 was not trained on these captions, so it cannot know them by heart. It sees the "
            "word that it has to predict.",
        ),
    ),
    rubric="""\
Each of the points above counts the same. For the last, any test counts that looks at what moves
between documents: a changed token, a gradient, a document read alone.""",
)
