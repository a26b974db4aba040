"""Exercises that answer at once, in a notebook: what is wrong, by name, with a small example.

    from tutor import check

    check.scores(scores)        # prints "Right." or what is wrong; never raises

There is one such function for each exercise, with the exercise's name.
For grading, `check.scores(scores, grade=True)` raises AssertionError with the message if the answer
is wrong, and `hidden=True` draws other inputs than the learner has seen.

How it works, in the order of reading: an `Exercise` (exercise.py) holds a reference, inputs and
known mistakes; `run_guarded` (guard.py) runs an answer so that nothing it does reaches the
notebook; `examine` (examine.py) compares it with the reference and finds the mistake that behaves
the same. An answer that is a test itself is tried on right functions and on mutants, wrong ones.
The exercises themselves are in `tutor.exercises`. `python -m tutor.check --audit` puts all of them
to the test.
"""

from tutor.check.examine import examine
from tutor.check.exercise import EXPLAIN, TEST, Exercise

__all__ = ["Check", "Exercise", "examine"]

MISSING = object()


class Check:
    """The check of one exercise, called with the learner's answer."""

    def __init__(self, exercise):
        self.exercise = exercise
        self.__doc__ = f"Check an answer to exercise {exercise.name}: {exercise.title}."

    def __repr__(self):
        return f"<check of the exercise {self.exercise.name}>"

    def __call__(self, answer=MISSING, *, grade=False, hidden=False):
        """Print "Right." ("Noted." of an explanation) or one message that says what is wrong.

        answer: the function, class or value that the exercise asks for.
        grade: raise AssertionError with the message in place of printing it.
        hidden: draw the inputs from another seed.
        """
        name = self.exercise.name
        if answer is MISSING:
            wrong = f"Hand over your answer, as in check.{name}({name})."
        else:
            wrong = examine(self.exercise, answer, hidden=hidden)
        if wrong is None:
            said = ["Noted." if self.exercise.kind == EXPLAIN else "Right."]
            if self.exercise.kind == TEST:
                right, wrongs = len(self.exercise.twins), len(self.exercise.mutants)
                said.append(f"It passes {right} right functions and catches all {wrongs} mutants.")
            print(" ".join(filter(None, [*said, self.exercise.because])))
        elif grade:
            raise AssertionError(wrong)
        else:
            print(f"Not yet. {wrong}")


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    from tutor.exercises import find  # the bank is opened when somebody asks for an exercise

    try:
        return Check(find(name))
    except KeyError as error:
        raise AttributeError(error.args[0]) from None


def __dir__():
    from tutor.exercises import places

    return [*__all__, *places()]
