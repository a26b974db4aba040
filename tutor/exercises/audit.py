"""Are the checks themselves right? Each is given the whole bank of right and wrong answers."""

import time

from tutor.check import examine
from tutor.check.exercise import EXPLAIN, evaluate

ZERO = ("slipped", "unnamed", "rejected", "blank_passes")


def trials(exercise):
    """Yield (sort, number, code, words): every piece of code that an exercise brings along.

    The sorts: "blank", "solution", "right", "wrong"; `words` are what a message must hold.
    """
    yield "blank", 0, exercise.stub, ""
    yield "solution", 0, exercise.solution, ""
    for number, code in enumerate(exercise.right):
        yield "right", number, code, ""
    for number, (code, words) in enumerate(exercise.wrong.items()):
        yield "wrong", number, code, words


def verdict(exercise, sort, code, words, hidden=False):
    """The count of the audit that this trial belongs to, None if all is well, and the message."""
    message = examine(exercise, evaluate(exercise, code), hidden=hidden)
    if sort in ("solution", "right"):
        return message and "rejected", message
    if message is None:
        return "blank_passes" if sort == "blank" else "slipped", message
    return None if words.lower() in message.lower() else "unnamed", message


def audit(chosen, say=print, messages=False):
    """Run the whole bank of these exercises, say what is amiss, and return the counts.

    messages: also say what each wrong answer is told.
    """
    counts = dict.fromkeys(("exercises", "wrong_answers", "alternatives", "mutants", *ZERO), 0)
    slowest = (0.0, "")
    for exercise in chosen:
        counts["exercises"] += 1
        counts["wrong_answers"] += len(exercise.wrong)
        counts["alternatives"] += len(exercise.right)
        counts["mutants"] += len(exercise.mutants)
        for sort, number, code, words in trials(exercise):
            start = time.perf_counter()
            amiss, message = verdict(exercise, sort, code, words)
            slowest = max(slowest, (time.perf_counter() - start, exercise.name))
            if messages and sort in ("blank", "wrong"):
                say(f"---- {exercise.name}, {sort} {number}\n{code.strip()}\n>> {message}")
            if amiss:
                counts[amiss] += 1
                say(f"{exercise.name}, {sort} {number}: {amiss}; the message was: {message}")
        if exercise.kind != EXPLAIN and len(exercise.wrong) < 3:
            say(f"{exercise.name}: {len(exercise.wrong)} wrong answers, at least 3 are wanted")
    say(f"slowest check: {slowest[0]:.2f} s ({slowest[1]})")
    return counts
