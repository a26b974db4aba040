"""How many numbers does a layer learn?"""

from tutor.check.exercise import PREDICT, Exercise

parameters_of_a_layer = Exercise(
    name="parameters_of_a_layer",
    chapter="04",
    section="Equal to PyTorch, in both orders",
    kind=PREDICT,
    title="How many numbers does a layer learn?",
    goal="Count the parameters of an encoder layer, term by term.",
    difficulty=2,
    importance=3,
    minutes=8,
    text="""\
An encoder layer of this chapter has $d_{model} = 6$, $d_{ff} = 10$ and 3 heads, which share the
width. **Predict** how many numbers it learns: one whole number, on paper.""",
    hints=(
        "Four parts: attention, the two matrices of feed-forward, their biases, the LayerNorms.",
        "Attention has four matrices of $d_{model} \\times d_{model}$ and no biases. How many "
        "LayerNorms has a layer, and what does each of them learn?",
        "$4 \\cdot 36$, then $2 \\cdot 60$, then $10 + 6$, then $4 \\cdot 6$.",
    ),
    stub="parameters_of_a_layer = None  # a whole number",
    solution="parameters_of_a_layer = 304",
    because="144 for attention, 120 and 16 for feed-forward, 24 for the two LayerNorms.",
    reference=304,
    mistakes=(
        (
            "You gave the attention four biases; it has none, in the paper and here.",
            328,
        ),
        (
            "You counted three matrices of attention; the heads' results pass through a fourth.",
            268,
        ),
        (
            "You counted the attention once for each head; the heads cut the columns of the same "
            "four matrices.",
            592,
        ),
        (
            "The LayerNorms are missing; each of the two learns a scale and a shift.",
            280,
        ),
        (
            "You counted one LayerNorm, or a scale without a shift; each of the two has both.",
            292,
        ),
        (
            "The biases of feed-forward are missing.",
            288,
        ),
        (
            "You counted one matrix of feed-forward; there is a way in and a way out.",
            244,
        ),
        (
            "You counted the attention alone; feed-forward and two LayerNorms learn as well.",
            144,
        ),
    ),
    wrong={
        "parameters_of_a_layer = 4 * (36 + 6) + 2 * 60 + 16 + 24": "four biases",
        "parameters_of_a_layer = 3 * 36 + 136 + 24": "three matrices",
        "parameters_of_a_layer = 3 * 4 * 36 + 136 + 24": "once for each head",
        "parameters_of_a_layer = 4 * 36 + 2 * 60 + 10 + 6": "LayerNorms are missing",
        "parameters_of_a_layer = 4 * 36 + 2 * 60 + 10 + 6 + 2 * 6": "scale without a shift",
        "parameters_of_a_layer = 4 * 6**2 + 2 * 6 * 10 + 4 * 6": "biases of feed-forward",
        "parameters_of_a_layer = 144 + 60 + 16 + 24": "a way in and a way out",
        "parameters_of_a_layer = 4 * 6 * 6": "attention alone",
        "parameters_of_a_layer = [144, 136, 24]": "a number is wanted",
    },
    right=(
        """\
d, f = 6, 10
parameters_of_a_layer = 4 * d * d + 2 * d * f + f + d + 2 * (d + d)
""",
        """\
from tutor.encoder import EncoderLayer
parameters_of_a_layer = sum(p.numel() for p in EncoderLayer(6, 3, 10).parameters())
""",
    ),
)
