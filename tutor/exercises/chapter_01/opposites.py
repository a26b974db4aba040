"""Opposites side by side."""

from tutor.check.exercise import EXPLAIN, Exercise

opposites = Exercise(
    name="opposites",
    chapter="01",
    section="Rows that learn",
    kind=EXPLAIN,
    title="Opposites side by side",
    goal="Say what it means that two rows are close, and what it does not mean.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A table was trained to guess the next word of English sentences. A friend finds that the rows of
*hot* and *cold* are nearly the same, closer than *hot* and *warmth*. "They are opposites," she
says. "The table has learned nothing about temperature."

**Explain** in three to five sentences why training brought the two rows together, what closeness in
this table stands for, and with which kind of task the two rows would have to part.""",
    hints=(
        "Which words can follow *hot*? And *cold*?",
        "On the page, *white* and *black* ended side by side. Which gradient did the two get?",
        "Rows are close if the model needs the same answer after both words. Name a task in which "
        "*hot* and *cold* need different answers.",
    ),
    stub='''\
opposites = """

"""
''',
    solution='''\
opposites = """
After "hot" and after "cold" stand the same words: water, day, soup. The table was trained to guess
them, so both rows are asked for the same answers, get nearly the same gradients, and end side by
side. Closeness says that two words keep the same company and are interchangeable for this task; it
does not say that they mean the same. After "warmth" other words stand, so its row is elsewhere. A
task with different answers for the two, such as translating them into French or telling whether to
wear a coat, would drive the rows apart.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    rubric="""\
- 1 point: *hot* and *cold* stand before the same words (they keep the same company).
- 1 point: therefore the same answers, or nearly the same gradients, pull their rows together.
- 1 point: close rows are alike for the training task; that is not the same meaning.
- 1 point: a task in which the two need different answers, such as translation.""",
    points=(
        "*hot* and *cold* are followed by the same words.",
        "Equal answers mean nearly equal gradients, and these bring the rows together.",
        "Close means interchangeable for the task of training; it does not mean synonymous.",
        "A task that needs different answers (translation, a forecast) would part the rows.",
    ),
    misconceptions=(
        (
            r"(?<!not )(?<!n't )because (their|the) ids are (close|near|similar|neighbou?r)",
            "Your text makes it a matter of ids. An id is a name: words with neighboring ids "
            "begin with unrelated random rows.",
        ),
        (
            r"(?<!not )(?<!n't )(?<!only )because (they|the two|both|hot and cold) (often |both )?"
            r"(occur|stand|appear|are) (together )?in the same sentences?[.,;]",
            "Your text says that the two come together because they share sentences. It is enough "
            "that the same words follow them, in different sentences.",
        ),
    ),
    wrong={
        "opposites = 'They are used alike.'": "at least 12 words",
        "opposites = ['same words after both', 'same gradient']": "as a text in quotes",
        "opposites = ''": "too short",
    },
)
