"""It is only the tokenizer."""

from tutor.check.exercise import EXPLAIN, Exercise

only_the_tokenizer = Exercise(
    name="only_the_tokenizer",
    chapter="06",
    section="How large a vocabulary?",
    kind=EXPLAIN,
    title="It is only the tokenizer",
    goal="Explain why a vocabulary is learned from the training text alone.",
    difficulty=3,
    importance=3,
    minutes=8,
    text="""\
A team learns its merges from all sentences, training and test together. *It is only the tokenizer*,
they say, *it never sees a translation*. They report a loss per token on the test set.

**Explain** in three to five sentences what the tokenizer has seen all the same. What does that do
to the table, and to the test sentences? Can their number be compared with an honest team's?""",
    hints=(
        "Three things belong in it: pieces, tokens of a test sentence, and the number per token.",
        "Which merges does a tokenizer learn that has read the test text, and an honest one not?",
        "Take a word that occurs only in the test set. Into how many tokens does each of the two "
        "cut it, and how would a new word of next week fare?",
    ),
    stub='''\
only_the_tokenizer = """

"""
''',
    solution='''\
only_the_tokenizer = """
Merges are counts of text, so the vocabulary holds pieces that occur in test sentences only. Their
rows of the table are never looked up in training; they are random numbers, or learn only to be
avoided. The test sentences are cut into fewer tokens than new text would be, so they look more like
the training text than they are. A loss per token divides by the number of tokens, which is another
one now. It flatters, and it cannot be compared with that of a team whose tokenizer is honest.
"""
''',
    wrong={
        "only_the_tokenizer = 'It has seen the test set.'": "at least 12 words",
        "only_the_tokenizer = ['It has seen the test set.'] * 3": "as a text in quotes",
        "only_the_tokenizer = None": "as a text in quotes",
        '''\
only_the_tokenizer = """
The tokenizer counts pairs of letters and has learned nothing about French. This is harmless.
Their number can be compared with that of every other team.
"""
''': "It changes what is counted",
        '''\
only_the_tokenizer = """
The tokenizer has read the test sentences, so the model has learned the test set by heart. Their
loss is far too low and everything has to be trained again.
"""
''': "trained on no test sentence",
    },
    right=(
        '''\
only_the_tokenizer = """
That this is harmless is what the team thinks. But merges of the test text are in the vocabulary,
their rows get no gradient in training, and the test sentences become fewer tokens than fresh text
would. A loss per token then divides by another number.
"""
''',
        '''\
only_the_tokenizer = """
The model has not memorised the test set, it never saw it. Its tokenizer has: it owns pieces that
only the test text has. So test sentences are shorter in tokens than new ones, and the loss per
token cannot be set beside that of a team whose merges come from train.
"""
''',
    ),
    points=(
        "The vocabulary holds merges, or pieces, that come from the test text.",
        "The rows of such pieces are not trained, since no training sentence looks them up.",
        "Test sentences are cut into fewer tokens than text that is really new.",
        "A loss per token depends on the number of tokens, so it cannot be compared with an "
        "honest team's (or: it flatters).",
    ),
    misconceptions=(
        (
            r"\b(this|it|that|what they did|the tokenizer) (is|was|does|makes|did)"
            r" (?P<own>no )?(really |quite |completely )?(harmless|harm|difference|leak)\b",
            "It changes what is counted: test sentences become fewer tokens than new text would, "
            "so a loss per token flatters.",
        ),
        (
            r"\bmodel (has |had |thus |so |then )*(memori[sz]e[ds]?|learn(ed|t|s)) (the |all )"
            r"?test (set|sentences|translations|answers)\b",
            "The model was trained on no test sentence. The tokenizer knows their pieces, and "
            "that alone moves the number.",
        ),
    ),
)
