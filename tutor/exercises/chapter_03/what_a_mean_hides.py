"""A heat map of no head."""

from tutor.check.exercise import EXPLAIN, Exercise

what_a_mean_hides = Exercise(
    name="what_a_mean_hides",
    chapter="03",
    section="The same matrices, three ways",
    kind=EXPLAIN,
    title="A heat map of no head",
    goal="Say what averaged attention weights do not show.",
    difficulty=3,
    importance=3,
    minutes=7,
    text="""\
A blog shows one heat map per layer, made with `nn.MultiheadAttention(...)(X, X, X)[1]` on a model
of eight heads, and writes: "each word attends a little to everything, so attention does not select
anything." **Explain** in three to five sentences what the map is, give an example of eight heads
that select and still make it look so, and say how to ask PyTorch for what the author wanted.""",
    hints=(
        "Which shape does the second result have by default, and which dimension is not there?",
        "Take eight heads, each of which looks at one word only, no two at the same one.",
        "The argument is named in the section: `average_attn_weights`.",
    ),
    stub='''\
what_a_mean_hides = """

"""
''',
    solution='''\
what_a_mean_hides = """
By default nn.MultiheadAttention returns weights of shape (N, T, S): the mean over the heads, which
no head has computed. If each of eight heads gives all its weight to one of eight words, and no two
to the same, their mean gives an eighth to every word: it looks like an even spread. So the map
cannot tell sharp heads from flat ones. With average_attn_weights=False the shape is (N, h, T, S),
and each head can be looked at by itself.
"""
''',
    wrong={
        "what_a_mean_hides = 'It is the mean.'": "at least 12 words",
        "what_a_mean_hides = ['It is the mean', 'of all the heads']": "as a text in quotes",
        "what_a_mean_hides = ''": "at least 12 words",
        '''\
what_a_mean_hides = """
The map has one row per word and a column per key, and all the weights are small. So attention
does not select anything in this model, as one can see in each layer.
"""
''': "A flat mean says nothing",
        '''\
what_a_mean_hides = """
The call returns the weights of the last head in each layer. With average_attn_weights=False the
author gets the map of every head and sees which of them are sharp.
"""
''': "the mean over all heads",
        '''\
what_a_mean_hides = """
The map is the mean over the heads, which hides that each head is sharp. The author has to use
average_attn_weights=True to get one map for each of the heads.
"""
''': "is the default",
    },
    right=(
        '''\
what_a_mean_hides = """
The blog concludes that attention does not select anything, and this does not follow. The map is
the mean of eight heads. When the first head looks only at the verb and the second only at the
noun, the mean gives each one half. average_attn_weights=False returns one map for each head.
"""
''',
        '''\
what_a_mean_hides = """
What is drawn is neither the map of the first head nor that of the last head: it is their mean.
Eight heads that each choose another word have an even mean, just as eight flat heads do. Ask for
average_attn_weights=False, which has the shape (N, h, T, S).
"""
''',
    ),
    points=(
        "The map is the mean over the eight heads, and no head has computed it.",
        "An example of sharp heads with a flat mean: each looks at one word only, but not at "
        "the same one.",
        "The conclusion does not follow: flat heads and sharp heads can have the same mean.",
        "`average_attn_weights=False` gives one map a head, of shape (N, h, T, S).",
    ),
    misconceptions=(
        (
            r"\b(attention|the model|the heads?|heads) (?P<own>(does not|do not|doesn't|don't|"
            r"does not really)) select( anything| any|\b)",
            "A flat mean says nothing about the heads: eight sharp heads that look at different "
            "words have one, too.",
        ),
        (
            r"\b(shows?|is|are|returns?|comes? from|belongs? to|gives?)( only)?( (the )?(map|"
            r"weights|attention|matrix)( of| from)?)?( only)? (the )?(first|last) head\b",
            "By default PyTorch returns the mean over all heads, not the map of one of them.",
        ),
        (
            r"\b(set|with|use|pass|say|write)\b (the argument )?`?average_attn_weights ?= ?True"
            r"`?,? (to (get|see|have|show)|and (you|we) (get|see|have)) (one|a|each|every|all)\b",
            "`average_attn_weights=True` is the default and gives the mean.",
        ),
    ),
)
