"""Two merges on paper."""

from tutor.check.exercise import PREDICT, Exercise

second_merge = Exercise(
    name="second_merge",
    chapter="06",
    section="Byte-pair encoding by hand",
    kind=PREDICT,
    title="Two merges on paper",
    goal="Count pairs and merge, twice, as byte-pair encoding does.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
Four words, and how often each occurs: *banana* 2, *band* 3, *ban* 1, *nab* 1.

**Predict** the first two merges, on paper: the piece that the first one makes and the count of its
pair, then the same of the second. That is a list of four, such as `["th", 7, "the", 5]`.""",
    hints=(
        "Write each word as letters with its count beside it, and count each pair of neighbours. "
        "How many pairs of neighbours does *banana* have?",
        "*a n* stands twice in *banana*, which occurs twice, three times in all *band* together, "
        "and once in *ban*.",
        "After the first merge the words are *b an an a*, *b an d*, *b an* and *n a b*. Count the "
        "pairs of these pieces anew.",
    ),
    stub='second_merge = None  # a list of four, such as ["th", 7, "the", 5]',
    solution='second_merge = ["an", 8, "ban", 6]',
    because="a n: 2·2 + 3 + 1 = 8. Then b an: 2 + 3 + 1 = 6, and an d, the next, only 3.",
    reference=["an", 8, "ban", 6],
    mistakes=(
        (
            "*banana* holds the pair *a n* twice. Every place counts, not every word once.",
            ["an", 6, "ban", 6],
        ),
        (
            "A pair counts as often as its word occurs: *band* adds 3, not 1.",
            ["an", 4, "ban", 3],
        ),
        (
            "The first merge is right. But *b a* does not exist after it: wherever an *a* stood "
            "behind a *b* and before an *n*, there is now the piece *an*.",
            ["an", 8, "ba", 6],
        ),
        (
            "The first merge is right. Then count anew: most of the *n a* of *banana* are gone, "
            "because their letters are in pieces now.",
            ["an", 8, "na", 5],
        ),
        (
            "That is the pair which comes first in the words. The one that occurs most often is "
            "merged first.",
            ["ba", 6, "ban", 6],
        ),
        (
            "The pieces are right. The second count is made anew too: count how often *b* stands "
            "before *an*.",
            ["an", 8, "ban", 8],
        ),
        (
            "*an* stands before *an* only in *banana*, and that occurs twice. Another pair occurs "
            "more often.",
            ["an", 8, "anan", 2],
        ),
        (
            "*an* before *d* occurs three times. Another pair occurs more often.",
            ["an", 8, "and", 3],
        ),
        ("*ban* counts too: *b* stands before *an* in banana, band and ban.", ["an", 8, "ban", 5]),
        ("The first count misses a word: *ban* holds *a n* too.", ["an", 7, "ban", 6]),
        (
            "Write a piece without a space in it: the pair *t h* becomes *th*.",
            ["a n", 8, "b an", 6],
        ),
    ),
    wrong={
        'second_merge = ["an", 2 + 3 + 1, "ban", 2 + 3 + 1]': "Every place counts",
        'second_merge = ("an", 4, "ban", 3)': "as often as its word occurs",
        'second_merge = ["an", 8, "ba", 2 + 3 + 1]': "does not exist after it",
        'second_merge = ["an", 8, "na", 2 * 2 + 1]': "count anew",
        'second_merge = ["ba", 6, "ban", 6]': "comes first in the words",
        'second_merge = ["an", 8, "and", 3]': "more often",
        'second_merge = ["an", 8]': "of length 2",
        'second_merge = ["an", "ban", 8, 6]': "a number is wanted",
        'second_merge = ["an", 8, "ban", 2 + 3]': "*ban* counts too",
        'second_merge = ["a n", 8, "b an", 6]': "without a space",
    },
    right=(
        'second_merge = ("an", 2 * 2 + 3 + 1, "ban", 2 + 3 + 1)',
        'second_merge = ["An", 8, "Ban", 6.0]',
    ),
)
