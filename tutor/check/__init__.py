"""Exercises that answer at once, in a notebook: what is wrong, by name, with a small example.

    from tutor import check

    check.scores(scores)        # prints "Right." or what is wrong; never raises

There is one such function for each exercise, with the exercise's name.
For grading, `check.scores(scores, grade=True)` raises AssertionError with the message if the answer
is wrong, and `hidden=True` draws other inputs than the learner has seen. Both run the answer in
this process; `nbgrader autograde` runs it in one of its own (apart.py).

How it works, in the order of reading: an `Exercise` (exercise.py) holds a reference, inputs and
known mistakes; `run_guarded` (guard.py) runs an answer so that nothing it does reaches the
notebook; `examine` (examine.py) compares it with the reference and finds the mistake that behaves
the same. An answer that is a test itself is tried on right functions and on mutants, wrong ones.
An explanation meets questions, and is then compared by the learner (explain.py). Tries and hints
are counted in a file of the learner's own (progress.py), which `check.progress()` shows.
What is compared is plain data (plain.py). For grading, an `Apart` (apart.py) takes the place of
`run_guarded`: a process behind a fence (confine.py).
The exercises themselves are texts in `course/exercises` (bank.py). `python -m tutor.check --audit`
puts all of them to the test.
"""

from IPython.display import display

from tutor.check import explain, words
from tutor.check import progress as kept
from tutor.check.examine import examine, trouble_with
from tutor.check.exercise import EXPLAIN, TEST, Exercise
from tutor.check.guard import NotWritten
from tutor.check.overview import Overview

__all__ = ["Check", "Exercise", "examine", "progress"]

MISSING = object()


class Check:
    """The check of one exercise, called with the learner's answer."""

    def __init__(self, exercise):
        self.exercise = exercise
        self.__doc__ = f"Check an answer to exercise {exercise.name}: {exercise.title}."

    def __repr__(self):
        return f"<check of the exercise {self.exercise.name}>"

    def __call__(self, answer=MISSING, *, grade=False, hidden=False):
        """Print "Right." or one message that says what is wrong.

        An explanation meets questions ("Noted."), the second text the points ("Compare.").

        answer: the function, class or value that the exercise asks for.
        grade: raise AssertionError with the message in place of printing it; count no try.
        hidden: draw the inputs from another seed.
        """
        exercise = self.exercise
        if answer is MISSING:
            wrong = f"Hand over your answer, as in check.{exercise.name}({exercise.name})."
        else:
            wrong = trouble_with(exercise, answer, hidden=hidden)
        if wrong and grade:
            raise AssertionError(str(wrong))
        if wrong:
            print(f"Not yet. {wrong}")
        elif exercise.kind != EXPLAIN:
            print(self.praise())
        elif grade:
            print("There is a text; a person grades it.")
        else:
            seen = kept.explained(exercise, answer)
            print(self.praise() if seen else words.plain(explain.ask(exercise)))
        if not grade and answer is not MISSING and not isinstance(wrong, NotWritten):
            right = wrong is None and exercise.kind != EXPLAIN
            print_lines(kept.tried(exercise, right))

    def praise(self):
        """What a right answer is told."""
        exercise = self.exercise
        if exercise.kind == EXPLAIN:
            return words.plain(explain.compare(exercise))
        said = ["Right."]
        if exercise.kind == TEST:
            right, wrongs = len(exercise.twins), len(exercise.mutants)
            said.append(f"It passes {right} right functions and catches all {wrongs} mutants.")
        return " ".join(filter(None, [*said, exercise.because]))

    def hint(self, number=None):
        """Show the next hint, or an earlier one: `hint(1)` is the first."""
        hints, name = self.exercise.hints, self.exercise.name
        if number is None:
            number = kept.next_hint(self.exercise)
        elif type(number) is not int or number not in range(1, kept.record(name)["hints"] + 1):
            print(f"You have not seen a hint {number} yet; check.{name}.hint() shows the next.")
            return
        if number:
            words.show(f"**Hint {number} of {len(hints)}:** {hints[number - 1]}")
        else:
            print(f"Those were all {len(hints)} hints; check.{name}.hint(1) shows the first again.")
            print(self.way_out())
        print_lines(kept.news())

    def way_out(self):
        """Where the solution is."""
        from tutor.check.bank import on_page

        chapter = self.exercise.chapter
        if self.exercise.name in on_page(chapter):
            return f"Our version is in the folded cell after yours, in chapter {chapter}."
        return f"A solution is in notebooks/solutions, in the notebook of chapter {chapter}."

    def points(self):
        """Show the points of a good explanation; before a second text, this counts as a hint."""
        name = self.exercise.name
        if not self.exercise.points:
            print(f"This exercise has none: check.{name}({name}) judges the answer.")
            return
        hint = kept.show_points(self.exercise)
        print(self.praise() + ("\nTo ask for them counts as a hint." if hint else ""))
        print_lines(kept.news())

    def tick(self, *numbers):
        """Note which points your explanation makes, by the numbers that the check shows."""
        name, points = self.exercise.name, self.exercise.points
        if not points:
            print(f"There is nothing to tick: check.{name}({name}) judges this answer.")
        elif not all(number in range(1, len(points) + 1) for number in numbers):
            print(f"Tick numbers from 1 to {len(points)}, as in check.{name}.tick(1, 2).")
        elif not kept.record(name)["tries"]:
            print(f"Write your text first, and run check.{name}({name}).")
        elif not kept.sees_points(kept.record(name)):
            print(
                f"Write a second text that answers the questions, and run check.{name}({name}); or "
                f"see the points: check.{name}.points()."
            )
        else:
            numbers = [n for n in range(1, len(points) + 1) if n in numbers]
            print(words.plain(explain.ticked(self.exercise, numbers)))
            print_lines(kept.tick(self.exercise, numbers))


def print_lines(lines):
    for line in lines:
        (display if isinstance(line, kept.HowFar) else print)(line)


def progress():
    """What you tried and solved: print it, or let it stand last in a notebook's cell."""
    from tutor.check.bank import chapters, on_page, order

    return Overview({chapter: (on_page(chapter), order(chapter)) for chapter in chapters()})


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    from tutor.check.bank import find  # the bank is opened when somebody asks for an exercise

    try:
        return Check(find(name))
    except KeyError as error:
        raise AttributeError(error.args[0]) from None


def __dir__():
    from tutor.check.bank import places

    return [*__all__, *places()]
