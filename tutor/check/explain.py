"""Explanations: a machine sees a misconception at most; the learner compares the rest."""

import re
import textwrap

# A sentence with such a word may deny a claim, or tell what others say: it is not judged.
HEDGE = re.compile(
    r"\b(no|not|never|nor|neither|none|nothing|nobody|cannot|without|hardly|wrong|wrongly|false|"
    r"mistake|mistaken|myth|misconception|misunderstanding|errors?|instead|rather|unlike|contrary|"
    r"if|as though|although|whether|why|doubt|confused?|would|might|could|"
    r"may|seems?|looks? like|appears?|thinks?|thought|believes?|says?|said|claims?|claimed|writes|"
    r"wrote|concludes?|conclusion|supposes?|assumes?|suggests?|denies|refutes?)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
# The next sentence takes back what was said.
TAKES_BACK = re.compile(
    r"(but|however|yet|no|wrong|false|in fact|actually|really|in truth)\b"
    r"|(that|this|it|which|the (claim|idea|reason|explanation)) "
    r"(is|was|would|cannot|can['’]t|has|does|isn['’]t|doesn['’]t)\b.{0,20}?"
    r"\b(not|no|wrong|false|mistake|mistaken|misconception|myth|nonsense|nothing)\b",
    re.IGNORECASE,
)


def misconception(exercise, text):
    """What to tell a text that states a known misconception in so many words; None if none does.

    A doubtful case passes, for a right text that is called wrong does more harm. If an expression
    itself asks for a word of `HEDGE`, that word stands in its group `own`.
    """
    sentences = [" ".join(said.split()) for said in re.split(r"(?<=[.!?])\s+|\n\s*\n", text)]
    for sentence, following in zip(sentences, [*sentences[1:], ""], strict=True):
        for expression, told in exercise.misconceptions:
            found = re.search(expression, sentence, re.IGNORECASE)
            if not found or TAKES_BACK.match(following):
                continue
            start, end = found.span("own") if "own" in found.re.groupindex else (0, 0)
            if not HEDGE.search(sentence[:start] + sentence[end:]):
                return f"You write “{textwrap.shorten(sentence, 120)}” {told}"
    return None


def ask(exercise):
    """What follows the first text that a machine has no objection to: the questions, no answers."""
    said = ["Noted. Does your text answer these questions?"]
    said += [f"{number}. {asked}" for number, asked in enumerate(exercise.questions, start=1)]
    said.append(
        "Add what is missing, and run the check again: a second text is shown our points. "
        f"`check.{exercise.name}.points()` shows them at once."
    )
    return "\n".join(said)


def compare(exercise):
    """What follows the second text: the points of a good one, to be ticked."""
    name, points = exercise.name, exercise.points
    said = ["Compare. Which of these does your text say?"]
    said += [f"{number}. {point}" for number, point in enumerate(points, start=1)]
    if exercise.misconceptions:
        said.append(f"Many get one thing wrong, perhaps not you. {exercise.misconceptions[0][1]}")
    said.append(f"Tick what it says, such as `check.{name}.tick(1, {len(points)})`.")
    return "\n".join(said)


def ticked(exercise, numbers):
    """What is told to a learner who found these points in their text."""
    points = exercise.points
    missing = [f"{n}. {point}" for n, point in enumerate(points, start=1) if n not in numbers]
    said = f"{len(numbers)} of {len(points)} points."
    if missing:
        said += " Missing:\n" + "\n".join(missing)
        said += f"\nRead “{exercise.section}” in chapter {exercise.chapter} again, and add it."
    return said
