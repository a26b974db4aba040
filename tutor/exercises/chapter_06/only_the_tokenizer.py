"""It is only the tokenizer."""

from tutor.check.exercise import EXPLAIN, Exercise

# The beginning of a sentence that denies nothing and speaks of nobody else.
_PLAIN = (
    r"(?i)(?:^|[.!?]\s+)(?![^.!?]*(?:\b(?:no|not|never|nor|if|as if|honest|other|would|than|"
    r"without|wrong|cannot)\b|n't))[^.!?]*"
)

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
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "only_the_tokenizer = 'It has seen the test set.'": "at least 12 words",
        "only_the_tokenizer = ['It has seen the test set.'] * 3": "as a text in quotes",
        "only_the_tokenizer = None": "as a text in quotes",
    },
    rubric="""\
- 1 point: the vocabulary holds pieces, or merges, that come from the test text.
- 1 point: rows of such pieces are not trained, since no training sentence looks them up.
- 1 point: test sentences are cut into fewer tokens than text that is really new.
- 1 point: a number per token depends on the number of tokens, so it cannot be compared with others
  (or: it flatters).""",
    points=(
        "The vocabulary holds pieces, or merges, that come from the test text.",
        "No training sentence looks up the rows of such pieces, so they are not trained.",
        "The test sentences are cut into fewer tokens than text that is really new.",
        "A loss per token divides by the number of tokens, which is another for another team.",
    ),
    misconceptions=(
        (
            rf"{_PLAIN}\bmodel (has|had) (already )?(seen|read|memori[sz]ed) the test ",
            "You write that the model has seen the test sentences. It has not: only the tokenizer "
            "has. What did it take from them?",
        ),
        (
            rf"{_PLAIN}\btest (text|words|sentences) (is|are) (cut|split) into more ",
            "You write that the test sentences are cut into more tokens. Merges that were learned "
            "from them make fewer of them.",
        ),
    ),
)
