"""Where does an entry go?"""

from tutor.check.exercise import PREDICT, Exercise

place_of_15 = Exercise(
    name="place_of_15",
    chapter="03",
    section="One product, cut into slices",
    kind=PREDICT,
    title="Where does an entry go?",
    goal="Follow an entry through the cut, without running it.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
A matrix `P` has 2 rows and 8 columns, and its entries are 10 · row + column: the first row is 0, 1,
..., 7, the second 10, 11, ..., 17. It is cut with `slice_vertically(P, 2)`.

**Predict** where 15 stands: a list of three numbers, slice, row and column, all counted from 0.""",
    hints=(
        "A word keeps its row. Which row is 15 in?",
        "Slices of width 2: columns 0 and 1 make slice 0, columns 2 and 3 make slice 1.",
        "15 is in row 1 and column 5 of `P`. Divide 5 by the width: the quotient is the slice, the "
        "remainder the column within it.",
    ),
    stub="place_of_15 = None  # [slice, row, column]",
    solution="place_of_15 = [2, 1, 1]",
    because="Column 5 is 2 · 2 + 1: slice 2, column 1. The row stays.",
    reference=[2, 1, 1],
    mistakes=(
        (
            "That is what `P.view(4, 2, 2)` gives: it reads in the order of memory, so that a row "
            "is torn apart. The cut keeps every row.",
            [3, 0, 1],
        ),
        ("You named the row first. After the swap the slice comes first.", [1, 2, 1]),
        ("That would be two slices of width 4. The 2 is the width, not the number.", [1, 1, 1]),
        ("You counted from 1; the course counts from 0.", [3, 2, 2]),
        ("That is row 0 of its slice, but 15 is a number of the second word, row 1.", [2, 0, 1]),
        ("The slice is right; within it, columns are counted anew.", [2, 1, 5]),
        ("That is the place in `P`, before the cut, with a slice of 0 in front.", [0, 1, 5]),
        (
            "You numbered the slices as if there were two of them, and kept the column of `P`. A "
            "slice is 2 columns wide, and within it columns are counted anew.",
            [1, 1, 5],
        ),
    ),
    wrong={
        "place_of_15 = [3, 0, 1]": "order of memory",
        "s, r, c = 2, 1, 1\nplace_of_15 = [r, s, c]": "row first",
        "place_of_15 = [5 // 4, 1, 5 % 4]": "two slices of width 4",
        "place_of_15 = [2 + 1, 1 + 1, 1 + 1]": "counted from 1",
        "place_of_15 = [2, 1, 5]": "columns are counted anew",
        "place_of_15 = [15 // 10, 1, 5]": "as if there were two",
        "place_of_15 = [2, 1]": "of length 2; 3 is wanted",
    },
    right=(
        "place_of_15 = (5 // 2, 1, 5 % 2)",
        """\
P = 10 * torch.arange(2)[:, None] + torch.arange(8)
place_of_15 = (torch.stack(P.split(2, dim=1)) == 15).nonzero()[0]
""",
    ),
)
