"""Who gets which gradient?"""

from tutor.check.exercise import PREDICT, Exercise

gradient_of_rows = Exercise(
    name="gradient_of_rows",
    chapter="01",
    section="Which rows learn?",
    kind=PREDICT,
    title="Who gets which gradient?",
    goal="Say which rows of a table learn from a sentence, and how much.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
A table of 4 rows and 2 columns is asked for the ids `[3, 1, 3]`. From above arrive
$G_0 = [1, 0]$, $G_1 = [0, 2]$ and $G_2 = [4, 1]$.

**Predict** the gradient of the table, on paper: a list of four rows of two numbers each.""",
    hints=(
        "Each position hands its gradient to the row that it came from.",
        "Position 0 and position 2 both came from row 3. Rows are counted from 0.",
        "Row 3 gets $G_0 + G_2$. Two rows were not asked for.",
    ),
    stub="gradient_of_rows = None  # four rows, such as [[0, 0], [0, 0], [0, 0], [0, 0]]",
    solution="gradient_of_rows = [[0, 0], [0, 2], [0, 0], [5, 1]]",
    because="Row 3 was asked for twice and gets both gradients; rows 0 and 2 get nothing.",
    reference=[[0.0, 0.0], [0.0, 2.0], [0.0, 0.0], [5.0, 1.0]],
    mistakes=(
        (
            "Row 3 was asked for twice; you gave it the later gradient alone. The two add up.",
            [[0, 0], [0, 2], [0, 0], [4, 1]],
        ),
        (
            "Row 3 was asked for twice; you gave it the earlier gradient alone. The two add up.",
            [[0, 0], [0, 2], [0, 0], [1, 0]],
        ),
        (
            "You took the mean of the two gradients of row 3. They add up.",
            [[0, 0], [0, 2], [0, 0], [2.5, 0.5]],
        ),
        (
            "Those are the gradients in the order of the sentence. The ids say to which row each "
            "one goes.",
            [[1, 0], [0, 2], [4, 1], [0, 0]],
        ),
        (
            "You counted the rows from 1. The first row is row 0, so id 3 is the last of four.",
            [[0, 2], [0, 0], [5, 1], [0, 0]],
        ),
        (
            "You counted how often each row was asked for. That is the gradient if all numbers "
            "from above are ones; here they are not.",
            [[0, 0], [1, 1], [0, 0], [2, 2]],
        ),
        (
            "Those are ones at the rows that were asked for. Each row gets the gradients that "
            "arrive from above.",
            [[0, 0], [1, 1], [0, 0], [1, 1]],
        ),
    ),
    wrong={
        "gradient_of_rows = [[0, 0], [0, 2], [0, 0], (4, 1)]": "later gradient alone",
        "gradient_of_rows = [[0, 0], [0, 2], [0, 0], [1, 0]]": "earlier gradient alone",
        """\
a, b = torch.tensor([1.0, 0.0]), torch.tensor([4.0, 1.0])
gradient_of_rows = [[0, 0], [0, 2], [0, 0], ((a + b) / 2).tolist()]
""": "the mean of the two",
        "gradient_of_rows = torch.tensor([[1, 0], [0, 2], [4, 1], [0, 0]])": "order of the sent",
        "gradient_of_rows = [[0, 2], [0, 0], [1 + 4, 0 + 1], [0, 0]]": "counted the rows from 1",
        """\
W = torch.zeros(4, 2, requires_grad=True)
W[[3, 1, 3]].sum().backward()
gradient_of_rows = W.grad
""": "how often each row",
        "gradient_of_rows = [[1, 0], [0, 2], [4, 1]]": "length 3",
        "gradient_of_rows = [0, 2, 0, 6]": "a list is wanted",
    },
    right=(
        """\
W = torch.zeros(4, 2, requires_grad=True)
(W[[3, 1, 3]] * torch.tensor([[1.0, 0.0], [0.0, 2.0], [4.0, 1.0]])).sum().backward()
gradient_of_rows = W.grad
""",
        "gradient_of_rows = ((0, 0), (0, 2), (0, 0), (1 + 4, 0 + 1))",
        """\
a, b = torch.tensor([1.0, 0.0]), torch.tensor([4.0, 1.0])
gradient_of_rows = [[0, 0], torch.tensor([0, 2]), torch.zeros(2), a + b]
""",
    ),
)
