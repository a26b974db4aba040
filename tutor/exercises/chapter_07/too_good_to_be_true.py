"""Five measurements of a success that is none."""

from tutor.check.exercise import EXPLAIN, Exercise

# One run: generate_pairs("train", 3200, seed=0), a tokenizer of 1,500 ids; a model with d_model=64,
# num_heads=4, d_ff=128, num_layers=2, norm_first; target_in is target_out; AdamW, rate 0.004, betas
# (0.9, 0.98), warmup_cosine of 300 steps, clipping at 1; 32 random pairs a step; seeds 0. Measured:
# 0.0017, 0.0019, 0.0019, 0.0021 (random tokens: 0.85); shifted, as in writing: 14.1.

too_good_to_be_true = Exercise(
    name="too_good_to_be_true",
    chapter="07",
    section="What can go wrong",
    kind=EXPLAIN,
    title="Five measurements of a success",
    goal="Say of each measurement which cause it rules out.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A friend trains a small translator for 300 steps. Then she measures the loss of a token, with pairs
that are fed in as in training. *New* pairs are 200 that the model has not seen.

| | what the model gets | loss of a token |
|---|---|---|
| 1 | training pairs | 0.002 |
| 2 | new pairs | 0.002 |
| 3 | new pairs, each with the source of another | 0.002 |
| 4 | new pairs, the tokens of each reference in random order | 0.002 |
| 5 | the 200 sources alone; it writes | *ont ont ont ont* and the like; 0 of 200 right |

(Even chances would cost 7.3. All of it is one real run.)

**Explain** in four to six sentences. What does the second row rule out, what the third, what the
fourth? What has the model learned, and why can the causal mask not stop it? Why does writing
fail?""",
    hints=(
        "Name three things that a low loss could come from: sentences known by heart, the meaning "
        "of the source, the tokens before. Which row speaks against which of them?",
        "In the fourth row nobody can be sure of the next token, from the source or from the "
        "tokens before. From where can the model have it all the same?",
        "Which place of the decoder's input holds the answer, if nobody has shifted the target? "
        "Does a causal mask hide this place? And what stands there when the model writes?",
    ),
    stub='''\
too_good_to_be_true = """

"""
''',
    solution='''\
too_good_to_be_true = """
The second row rules out that it knows its sentences by heart: these are new. The third rules out
that it translates, since another source changes nothing. The fourth rules out that it guesses from
the tokens before, as a language model does: in random order there is nothing to guess.
So the answer itself stands in the input, because the target was not shifted, and the model copies
it. The causal mask lets a place see itself, and there it stands. When the model writes, no
reference is fed in, only its own tokens; it copies the last one again and again.
"""
''',
    wrong={
        "too_good_to_be_true = 'It overfits.'": "at least 12 words",
        "too_good_to_be_true = None": "as a text in quotes",
        "too_good_to_be_true = 0.01": "as a text in quotes",
        '''\
too_good_to_be_true = """
After 300 steps the model has overfitted: it knows its sentences by heart. The mask hides the
future, so that is in order. A held-out set shows the truth.
"""
''': "Overfitting shows on new sentences",
        '''\
too_good_to_be_true = """
In training the decoder reads the reference and in writing its own words. This is exposure bias,
and scheduled sampling or a test with more sentences helps.
"""
''': "costs some quality",
    },
    right=(
        '''\
too_good_to_be_true = """
New pairs are as good as old ones, so it has not overfitted. Another source changes nothing: it does
not translate. Tokens in random order cannot be guessed from those before, and yet the loss is as
low. So it copies: the target was not shifted, and each position sees itself, whatever the causal
mask hides. When it writes, nothing is there to copy.
"""
''',
        '''\
too_good_to_be_true = """
This is more than exposure bias. Row two: the sentences are new, nothing is remembered. Row three:
the source plays no part. Row four: no order of words is needed, so it is no language model either.
The answer stands in the decoder's input at its own place, and the mask lets a place see itself.
In writing that place holds the model's last token.
"""
''',
    ),
    points=(
        "Row two: the sentences are new, so nothing is known by heart.",
        "Row three: with another source the loss is the same, so the source is not used.",
        "Row four: random order cannot be guessed from the tokens before; it is no language model.",
        "The target is not shifted: the answer is in the input, and a causal mask shows a place "
        "itself.",
        "When the model writes, there is no reference in its input, and nothing to copy.",
    ),
    misconceptions=(
        (
            r"\b(model|it|translator|network) (has |is |was |had )?(simply |only )"
            r"?(over-?fit\w*|memori[sz]e[sd]? (the |all |its )?training)\b",
            "Overfitting shows on new sentences, and there the loss is as low.",
        ),
        (
            r"(?<!than )\bexposure bias\b",
            "Exposure bias costs some quality. It does not bring a loss near 0.",
        ),
    ),
    rubric="Each of the points above counts the same.",
)
