"""The company a sentence keeps."""

from tutor.check.exercise import EXPLAIN, Exercise

why_hide_padding = Exercise(
    name="why_hide_padding",
    chapter="04",
    section="Padding changes nothing",
    kind=EXPLAIN,
    title="The company a sentence keeps",
    goal="Explain which parts of an encoder can let padding in, and which cannot.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A friend forgets the padding mask. Her encoder gives *it sleeps* one set of vectors when the
sentence is alone, and another in a batch with longer sentences. No error is raised. **Explain** in
three to five sentences:

- which part of the encoder lets the padding in, and why the other parts cannot;
- what the mask does to that one part;
- why the vectors at the padded places do no harm, though they are computed.""",
    hints=(
        "Name all parts of a layer. Which of them looks at more than one place?",
        "The mask sets the weights of padded keys to 0. What happens to the other weights of a "
        "row?",
        "A padded place asks, too, and gets a vector. Who reads it in the next layer?",
    ),
    stub='''\
why_hide_padding = """

"""
''',
    solution='''\
why_hide_padding = """
Only attention carries something from one place to another: feed-forward, LayerNorm, residual
connections and dropout work on each place alone. Without a mask every word gives some of its
weight to padded places, and their number depends on the longest sentence of the batch. The mask
sets the weights of padded keys to exactly 0 and shares the whole among the real words, as if the
sentence were alone. Padded places still ask and get vectors, but nobody reads them: in the next
layer the same mask hides them as keys, and the loss leaves them out.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "why_hide_padding = 'Padding is bad for attention.'": "at least 12 words",
        "why_hide_padding = ['attention', 'softmax']": "as a text in quotes",
        "why_hide_padding = None": "as a text in quotes",
    },
    rubric="""\
- 1 point: only attention moves something between places.
- 1 point: the other parts (at least two are named) work on each place alone.
- 1 point: the mask makes the weights of padded keys 0, and the rest of a row sums to 1.
- 1 point: the vectors of padded places are read by nobody: as keys they are hidden in every layer,
  and the loss (or the decoder's mask) leaves them out.""",
    points=(
        "Only attention carries something from one place to another.",
        "Feed-forward, LayerNorm and residual connections work on each place alone.",
        "The mask makes the weights of padded keys 0, and the real words share the whole.",
        "Padded places still ask and get vectors, but nobody reads them.",
    ),
    misconceptions=(
        (
            r"(?i)\bmask(ing)?\b((?!\bnot\b|\bnever\b|n't)[^.]){0,30}"
            r"\bsets? (the |their )?(scores?|logits?)( of [^.]{0,20})? to (0|zero)\b",
            "A score of 0 hides nothing: the softmax makes a weight above 0 of it. The weights "
            "become 0, and for that the scores become minus infinity, or as good as that.",
        ),
        (
            r"(?i)\bpadd(ing|ed)\b((?!\bnot\b|\bnever\b|\bno\b|n't)[^.]){0,40}"
            r"(\b(gets?|receives?|has|have) (a |the )?zero vectors?"
            r"|\bvectors? (is|are|becomes?|stays?) (all )?(0|zeros?))\b",
            "Padded places do not get zeros. They ask as any place does and get ordinary vectors; "
            "these do no harm because nobody reads them.",
        ),
        (
            r"(?i)(?<!\bnot )(?<!\bnever )\b(removes|deletes|cuts (away|off))"
            r" (the )?(padding|padded (words|tokens|places|rows))\b"
            r"(?![^.]*\b(keys?|weights?|softmax|attention|sums?|scores?)\b)",
            "The mask removes no places: the batch keeps its shape, and padded places ask and get "
            "vectors. It hides them as keys.",
        ),
    ),
)
