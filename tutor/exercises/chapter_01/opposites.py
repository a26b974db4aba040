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
    points=(
        "*hot* and *cold* are followed by the same words.",
        "Equal answers mean nearly equal gradients, and these bring the rows together.",
        "Close means interchangeable for the task of training; it does not mean synonymous.",
        "A task that needs different answers (translation, a forecast) would part the rows.",
    ),
    misconceptions=(
        (
            r"\bbecause (their|the) ids are (close|near|similar|neighbou?r)",
            "An id is a name: words with neighbouring ids begin with unrelated random rows.",
        ),
        (
            r"(?<!only )\bbecause (they|the two|both|hot and cold) (often |both )?"
            r"(occur|stand|appear|are) (together )?in the same sentences?[.,;]",
            "The two need not share a sentence: it is enough that the same words follow them.",
        ),
    ),
    wrong={
        "opposites = 'They are used alike.'": "at least 12 words",
        "opposites = ['same words after both', 'same gradient']": "as a text in quotes",
        "opposites = ''": "at least 12 words",
        '''\
opposites = """
The rows of hot and cold are close because their ids are close, and rows that lie next to each other
in the table are pushed in the same direction.
"""
''': "An id is a name",
        '''\
opposites = """
Their rows are close because they occur in the same sentences, as in "hot and cold water". Words
that stand side by side attract each other.
"""
''': "need not share a sentence",
    },
    right=(
        '''\
opposites = """
It is not because their ids are close, for ids are names. The same words follow hot and cold, so the
model needs the same answers, the gradients agree and the rows meet. A translator would part them.
"""
''',
        '''\
opposites = """
One might say that they are close because they stand in the same sentences. They need not: water
follows hot here and cold there, and equal answers bring equal gradients. They are alike for this
task, not in meaning; a weather forecast would drive them apart.
"""
''',
    ),
)
