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
    minutes=8,
    text="""\
A blog shows one heat map per layer, made with `nn.MultiheadAttention(...)(X, X, X)[1]` on a model
of eight heads, and writes: "each word attends a little to everything, so attention does not select
anything." **Explain** in three to five sentences what the map is, give an example of two heads
that makes it look so, and say how to ask PyTorch for what the author wanted.""",
    hints=(
        "Which shape does the second result have by default, and which dimension is not there?",
        "Take two heads, each of which looks at one word only, but not at the same one.",
        "The argument is named in the section: `average_attn_weights`.",
    ),
    stub='''\
what_a_mean_hides = """

"""
''',
    solution='''\
what_a_mean_hides = """
By default nn.MultiheadAttention returns weights of shape (N, T, S): the mean over the heads, which
no head has computed. If one head gives all its weight to the word before and another all to the
noun, their mean gives half to each, and eight sharp heads can look like an even spread. So the map
cannot tell sharp heads from flat ones. With average_attn_weights=False the shape is (N, h, T, S),
and each head can be looked at by itself.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "what_a_mean_hides = 'It is the mean.'": "at least 12 words",
        "what_a_mean_hides = ['It is the mean', 'of all the heads']": "as a text in quotes",
        "what_a_mean_hides = ''": "too short",
    },
    points=(
        "The map is the mean over the heads; no head has computed it.",
        "An example: two sharp heads that look at different words have a flat mean.",
        "The conclusion does not follow: sharp heads and flat ones can have the same mean.",
        "`average_attn_weights=False` gives (N, h, T, S), a map for each head.",
    ),
    misconceptions=(
        (
            r"\b(set|with|use|pass|say|write)\b (the argument )?`?average_attn_weights ?= ?True"
            r"`?,? (to (get|see|have|show)|and (you|we) (get|see|have)) (one|a|each|every|all)\b",
            "Your text asks with `average_attn_weights=True`, which is the default and gives the "
            "mean.",
        ),
        (
            r"\bmap (is|shows) (that|the map|the weights) of the (first|last) head\b",
            "Your text takes the map for that of one head. It is the mean of all of them.",
        ),
    ),
    rubric="""\
- 1 point: the map is the mean over the heads, and no head has computed it.
- 1 point: an example in which sharp heads have a flat mean.
- 1 point: the conclusion does not follow; flat heads and sharp heads can have the same mean.
- 1 point: `average_attn_weights=False`, with the shape (N, h, T, S).""",
)
