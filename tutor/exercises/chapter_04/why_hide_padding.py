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
    minutes=7,
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
    wrong={
        "why_hide_padding = 'Padding is bad for attention.'": "at least 12 words",
        "why_hide_padding = ['attention', 'softmax']": "as a text in quotes",
        "why_hide_padding = None": "as a text in quotes",
        '''\
why_hide_padding = """
LayerNorm averages over all the places of a batch, so longer sentences change the numbers.
Attention lets the padding in as well. The mask helps against both.
"""
''': "LayerNorm lets nothing in",
        '''\
why_hide_padding = """
Attention mixes the words of a sentence with the padding. The mask sets the padded vectors to
zero, and vectors of zeros leave the sum as it is.
"""
''': "changes no vector",
        '''\
why_hide_padding = """
Only attention looks at other places. The mask sets the scores of padded keys to zero, so that
the softmax passes them over, and the rest of the encoder works on each word.
"""
''': "A score of 0 hides nothing",
    },
    right=(
        '''\
why_hide_padding = """
Only attention looks at several places. LayerNorm does not average over places, its mean is taken
over the features of one word; feed-forward and residual see one word, too. The mask gives padded
keys a weight of 0 and the others share 1. What is computed at padded places is never read.
"""
''',
        '''\
why_hide_padding = """
LayerNorm takes the mean of each position by itself and lets no padding in. Attention does: it
gives padded keys some weight. The mask sets their weights to 0. It does not set their vectors to
0, but no query reads them in any layer, and the loss skips those positions.
"""
''',
    ),
    points=(
        "Only attention carries something from one place to another.",
        "The other parts work on each place alone; two of them are named (feed-forward, "
        "LayerNorm, residual connections, dropout).",
        "The mask makes the weights of padded keys exactly 0, and the real words share the whole.",
        "Nobody reads the vectors of padded places: every layer hides them as keys, and the "
        "loss or the decoder's mask leaves them out.",
    ),
    misconceptions=(
        (
            r"^(?!.*\b(features?|each|every|own|alone|itself|single|separately|independently)"
            r"\b).*\b(layer ?norm|normali[sz]ation|norms?)\b[^.;,]{0,40}\b(mix\w*|averag\w*|"
            r"mean|lets?)\b[^.;,]{0,40}\b(padding|padded|places|positions|words|tokens|"
            r"sentences?|batch)\b",
            "LayerNorm lets nothing in: it takes mean and variance of one place, over its "
            "features.",
        ),
        (
            r"\bmask (sets?|makes?|turns?) (the |all |their |those )?(padded |pad )?(vectors?|"
            r"outputs?|embeddings?|inputs?)\b[^.;,]{0,30}\b(0|zeros?)\b",
            "The mask changes no vector. It makes the weights of padded keys 0, so that nobody "
            "reads their vectors, which are not 0.",
        ),
        (
            r"\b(mask|masking)\b.{0,20} sets? (the |their )?(scores?|logits?)\b"
            r"[^.;,]{0,30} to (0|zero)\b",
            "A score of 0 hides nothing, for the softmax makes a weight of it. The weights become "
            "0; for that, the scores become minus infinity, or as good as that.",
        ),
    ),
)
