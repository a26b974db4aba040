"""Two keys, one query."""

from tutor.check.exercise import PREDICT, Exercise

weights_of_two_keys = Exercise(
    name="weights_of_two_keys",
    chapter="02",
    section="Attention in three lines",
    kind=PREDICT,
    title="Two keys, one query",
    goal="Go from scores to weights on paper.",
    difficulty=2,
    importance=4,
    minutes=4,
    text="""\
A query of width $d_k = 4$ meets two keys. Its scores, before the scaling, are
$E = [0,\\; 2 \\ln 3]$; that is about $[0, 2.197]$.

**Predict** the two weights, on paper: a list of two numbers, good to two decimals. The number
$e^{\\ln 3}$ is 3.""",
    hints=(
        "Two steps lie between a score and a weight: scale, then softmax.",
        "The scaling divides by $\\sqrt{d_k} = 2$. What is left of $2 \\ln 3$?",
        "The scaled scores are $[0, \\ln 3]$, with exponentials 1 and 3. Divide each by the sum.",
    ),
    stub="weights_of_two_keys = None  # a list of two numbers, such as [0.1, 0.9]",
    solution="weights_of_two_keys = [0.25, 0.75]",
    because="The scaled scores are 0 and ln 3, their exponentials 1 and 3, and 1 + 3 = 4.",
    reference=[0.25, 0.75],
    tolerance=0.006,
    mistakes=(
        ("The scores were not scaled: divide them by the square root of d_k first.", [0.1, 0.9]),
        ("You divided by d_k = 4; the square root of it is 2.", [0.366, 0.634]),
        ("That is a share of the scores. The softmax takes the exponentials first.", [0.0, 1.0]),
        ("Those are the scaled scores. The softmax is still to come.", [0.0, 1.0986]),
        ("Those are exponentials. Divide them by their sum.", [1.0, 3.0]),
        ("The two weights are exchanged: the larger score gets more.", [0.75, 0.25]),
        (
            "The two weights are exchanged, and the scores were not scaled: divide them by the "
            "square root of d_k first.",
            [0.9, 0.1],
        ),
        ("Those are the scores as they came. Scale them; then comes the softmax.", [0.0, 2.197]),
        ("Equal weights belong to equal scores; these differ.", [0.5, 0.5]),
    ),
    wrong={
        "weights_of_two_keys = [1 / 10, 9 / 10]": "not scaled",
        "x = 3 ** 0.5\nweights_of_two_keys = [1 / (1 + x), x / (1 + x)]": "divided by d_k",
        "weights_of_two_keys = (0, 1)": "share of the scores",
        "weights_of_two_keys = [0, math.log(3)]": "still to come",
        "weights_of_two_keys = [3 / 4, 1 / 4]": "exchanged",
        "weights_of_two_keys = [0.9, 0.1]": "exchanged, and",
        "weights_of_two_keys = [0, 2 * math.log(3)]": "as they came",
        "weights_of_two_keys = 0.75": "a list is wanted",
        "weights_of_two_keys = [0.25, 0.25, 0.5]": "of length 3",
    },
    right=(
        "weights_of_two_keys = torch.tensor([0.0, math.log(3)]).softmax(0)",
        "weights_of_two_keys = (1 / 4, 3 / 4)",
    ),
)
