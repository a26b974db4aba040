"""The factor without its reason."""

from tutor.check.exercise import EXPLAIN, Exercise

why_the_factor = Exercise(
    name="why_the_factor",
    chapter="05",
    section="One table, three places",
    kind=EXPLAIN,
    title="The factor without its reason",
    goal="Explain why a tied table starts small and is multiplied on the way in.",
    difficulty=3,
    importance=3,
    minutes=8,
    text="""\
A friend reads that embeddings are multiplied by $\\sqrt{d_{model}}$. She takes `nn.Embedding` as it
comes, with $\\sigma = 1$ and $d_{model} = 512$, multiplies by $\\sqrt{512}$ and adds the positions.
The same table makes the logits. **Explain** in three to five sentences what goes wrong at each of
the two ends, with numbers, and how she should start the table.""",
    hints=(
        "What is the length of a row of 512 numbers of size 1? And multiplied by $\\sqrt{512}$?",
        "Compare the length of a word with that of a position, and the size of a logit with 1.",
        "With which $\\sigma$ is $\\sigma \\sqrt{512}$ a good size for a logit? What does the "
        "factor then do at the input?",
    ),
    stub='''\
why_the_factor = """

"""
''',
    solution='''\
why_the_factor = """
With sigma 1 a row of 512 numbers has a length of about 22.6, and 512 after the multiplication. A
position has a length of 16, so the word is 32 times as long and drowns it. At the output a logit
has a size of about 22.6: the softmax gives nearly all probability to one arbitrary word before
anything was learned, and the first loss is many times that of guessing. She should start the table
with sigma 1 / sqrt(512). Then logits have size 1, and the factor on the way in brings a word back
to a length of 22.6, beside the position's 16.
"""
''',
    wrong={
        "why_the_factor = 'The numbers are too large.'": "at least 12 words",
        "why_the_factor = math.sqrt(512)": "as a text in quotes",
        "why_the_factor = ''": "at least 12 words",
        '''\
why_the_factor = """
With sigma 1 the words have a length of 512 and the positions 16, so the order of the words is
lost. She should leave out the factor: then a word has length 22.6 and all is well.
"""
''': "never touched them",
        '''\
why_the_factor = """
The factor makes up for the division of the attention scores by the root, so both together are 1.
Her table has sigma 1 and is fine as it is.
"""
''': "for another reason",
        '''\
why_the_factor = """
With sigma 1 a word drowns its position. She should scale the positions by the root of 512 as
well, and then both have the same length again.
"""
''': "Positions have their size",
    },
    right=(
        '''\
why_the_factor = """
Leaving out the factor would mend the input, but not the output, where logits of size 22.6 remain.
She should start the table with sigma 1 / sqrt(512). Logits then have size 1, and the factor
brings a word to length 22.6, next to a position of length 16. With sigma 1 it drowned it, with
512.
"""
''',
        '''\
why_the_factor = """
The factor has nothing to do with the root in the attention scores. A word of length 512 hides a
position of length 16, and logits of size 22.6 make a sure and wrong guess. She should not drop
the factor; she should make the table small, with entries of size 1 / 22.6.
"""
''',
    ),
    points=(
        "At the input the word, of length 512, drowns the position, of length 16.",
        "At the output the logits have a size of about 22.6: strong opinions before anything "
        "was learned, and a first loss far above that of guessing.",
        "The remedy is a small table: sigma = 1 / sqrt(d_model).",
        "With it the factor has its reason: it makes the word as long as it was, while the "
        "logits, which are not multiplied, have size 1.",
    ),
    misconceptions=(
        (
            r"\b(should|must|can|needs? to|has to) (then |therefore )?(leave out|drop|omit|"
            r"remove|skip) (the |her |this )?(factor|multiplication|root|scaling)\b",
            "Without the factor the logits are as large as before, since it never touched them. "
            "The table has to start small.",
        ),
        (
            r"^(?!.*\b(other|another|different)\b).*\b(factor|root|multiplication)"
            r"\b[^.;]{0,40}\b(attention (scores?|weights?)|queries)\b",
            "This factor stands at the embeddings. The root that divides the scores of attention "
            "is that of d_k, for another reason.",
        ),
        (
            r"\b(should|must|can|has to|needs to) (multiply|scale) (the |all )?"
            r"(positions?|places|logits?)\b",
            "Positions have their size by their formula, and logits get no factor. The words have "
            "to fit, by a table that starts small.",
        ),
    ),
)
