"""A small decoder layer."""

from tutor.check.exercise import PREDICT, Exercise

numbers_of_a_layer = Exercise(
    name="numbers_of_a_layer",
    chapter="11",
    section="Every parameter accounted for",
    kind=PREDICT,
    title="A small decoder layer",
    goal="Count the parameters of a PyTorch layer from its sizes.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
How many parameters has

    nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=32)

**Predict** the number on paper, before you build the layer: an int.""",
    hints=(
        "List the parts: two attentions, one feed-forward, three LayerNorms.",
        "An attention has four matrices of $8 \\times 8$, each with a bias of 8. How many heads "
        "there are does not matter.",
        "Attention $4 \\cdot 64 + 4 \\cdot 8 = 288$, twice; feed-forward "
        "$2 \\cdot 8 \\cdot 32 + 32 + 8 = 552$; a norm 16, three times.",
    ),
    stub="numbers_of_a_layer = None  # an int, such as 1000",
    solution="numbers_of_a_layer = 2 * (4 * 8 * 8 + 4 * 8) + (2 * 8 * 32 + 32 + 8) + 3 * (2 * 8)",
    because="Two attentions of 288, a feed-forward of 552 and three norms of 16 make 1176.",
    reference=1176,
    mistakes=(
        ("That is an encoder layer: a decoder layer attends twice and has three norms.", 872),
        ("One attention is missing: a decoder layer attends to itself and to the memory.", 888),
        ("The biases of the attentions are missing: PyTorch gives each matrix one.", 1112),
        ("The biases of the feed-forward are missing: 32 and 8.", 1136),
        ("The norms are missing.", 1128),
        ("A decoder layer has three norms, one for each sub-layer; you counted two.", 1160),
        ("A norm has a scale and a shift, 16 numbers; you counted one of the two.", 1152),
        ("Those are the matrices alone; biases and norms are parameters too.", 1024),
        ("An attention has four matrices: the way out, W_O, is missing.", 1032),
        (
            "You counted the attentions once for each head. Heads share the columns of the same "
            "matrices.",
            1752,
        ),
    ),
    wrong={
        "numbers_of_a_layer = 4 * 64 + 32 + 2 * 8 * 32 + 40 + 2 * 16": "an encoder layer",
        "numbers_of_a_layer = 288 + 552 + 48": "One attention is missing",
        "numbers_of_a_layer = 2 * 256 + 552 + 3 * 16": "biases of the attentions",
        "numbers_of_a_layer = 2 * 288 + 512 + 48": "biases of the feed-forward",
        "numbers_of_a_layer = 288 * 2 + 552": "norms are missing",
        "numbers_of_a_layer = 8 * 4 * 8 * 2 + 2 * 8 * 32": "matrices alone",
        "numbers_of_a_layer = 2 * (3 * 64 + 3 * 8) + 552 + 48": "the way out",
        "numbers_of_a_layer = 2 * 2 * 288 + 552 + 48": "each head",
        "numbers_of_a_layer = '1176'": "a number is wanted",
        "numbers_of_a_layer = 1000": "Look again at the section",
    },
    right=(
        """\
layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=32)
numbers_of_a_layer = sum(p.numel() for p in layer.parameters())
""",
        "numbers_of_a_layer = 8 * 8 * 8 + 2 * 4 * 8 + 2 * 8 * 32 + 32 + 8 + 6 * 8",
    ),
)
