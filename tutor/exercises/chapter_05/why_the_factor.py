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
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "why_the_factor = 'The numbers are too large.'": "at least 12 words",
        "why_the_factor = math.sqrt(512)": "as a text in quotes",
        "why_the_factor = ''": "at least 12 words",
    },
    rubric="""\
- 1 point: at the input the word (length 512) drowns the position (length 16).
- 1 point: at the output the logits are of size 22, so the untrained model has strong opinions, or
  its first loss is far above that of guessing.
- 1 point: the remedy is a small table, $\\sigma = 1/\\sqrt{d_{model}}$.
- 1 point: with the small table the factor has its reason: it makes the word as long as it was,
  while the logits, which are not multiplied, have size 1.""",
    points=(
        "At the input a word of length 512 drowns its place, which has a length of 16.",
        "At the output logits have a size of about 22: strong opinions before any training.",
        "The table should start with sigma = 1 / sqrt(512).",
        "Then logits have size 1, and the factor makes the word as long as it was at the input.",
    ),
    misconceptions=(
        (
            r"(?i)\blogits? (should|must|have to) (also |too )?be multiplied\b"
            r"|(?<!\bnot )(?<!n't )(?<!\bnever )\bmultiply (the )?logits?\b",
            "The logits get no factor: with a small table their size is about 1, and the factor "
            "would bring the old size back.",
        ),
        (
            r"(?i)(?<!\bnot )(?<!n't )(?<!\bnever )(?<!\bno )\b(multiply|scale) (the |all )?"
            r"(positions?|places)\b",
            "Positions have their size by their formula, 16 here. The words are what has to fit.",
        ),
        (
            r"(?i)(?<!\bnot )(?<!n't )(?<!\bnever )\bkeep (the )?sigma (at |of |= ?)?(1|one)\b"
            r"(?! ?/)",
            "Sigma 1 is what makes the logits too large at the other end. The table starts small.",
        ),
    ),
)
