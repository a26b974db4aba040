"""What an exercise is made of, and how its code becomes an answer."""

import ast
import itertools
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PREDICT, WRITE, MEND, TEST, EXPLAIN = KINDS = ("predict", "write", "mend", "test", "explain")

# The first cell of every exercise notebook; the bank's code runs after it too.
SETUP = """\
import math

import torch
import torch.nn.functional as F
from torch import nn

from tutor import check
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Exercise:
    """One exercise: what the learner reads, what is right, and what people get wrong.

    `stub`, `solution`, the keys of `wrong` and the items of `right` are the code of a cell that
    defines `name`: a function (or class) to write or mend, a test, a value to predict, a string to
    explain.
    """

    name: str  # unique in the course, a Python name
    chapter: str  # "02"
    section: str  # the heading of the chapter's page that the exercise needs
    kind: str  # one of KINDS
    title: str
    goal: str  # one sentence: what the learner can do afterwards
    difficulty: int  # 1 to 5
    importance: int  # 1 to 5
    minutes: int
    text: str  # Markdown
    hints: tuple[str, str, str]  # of growing help
    stub: str
    solution: str
    because: str = ""  # said after "Right."

    # Kinds predict, write and mend. To predict, `reference` and the mistakes are values.
    reference: Any = None  # a callable that is right
    raises: str = ""  # the class of the exception that is right in some cases
    cases: Callable = lambda: [()]  # yields tuples of arguments, smallest first, freshly drawn
    # (message, a callable that makes the mistake). What it raises must say the same as the answer's
    # exception; without a message any of that class is meant, as a bare Exception means any at all.
    # Of several that fit, the one that leaves least open is named; of two such, none.
    mistakes: tuple[tuple[str, Any], ...] = ()
    wrong: dict[str, str] = field(default_factory=dict)  # code: words that its message must hold
    right: tuple[str, ...] = ()  # other code that is right
    equivalent: dict[str, str] = field(default_factory=dict)  # mutants as right as it: why

    # Kind test: the functions on which the answer is tried. The words follow on "a function that ".
    # `cases` yields one tuple: what a test is given besides the function.
    twins: dict[str, Callable] = field(default_factory=dict)  # right, each written in its own way
    mutants: dict[str, Callable] = field(default_factory=dict)  # by what each does wrong

    # Rarely needed.
    # (message, a callable that takes the answer): what it returns must be as with `reference`.
    properties: tuple[tuple[str, Callable], ...] = ()
    call: Callable | None = None  # how to use an answer: (answer, *arguments) -> result
    gradient: bool = False  # compare gradients too, of all float tensors and parameters of modules
    draws: bool = False  # the answer may draw random numbers (always from the same seed)
    tolerance: float = 1e-4  # of floats: absolute, and relative to what is right
    forbidden: tuple[Callable, ...] = ()  # functions an answer may not call, besides `reference`
    # More imports or definitions, shown before the stub; none of the bank, closed in grading.
    setup: str = ""

    # Kind explain: what a good text says, three to five points that the learner ticks; the question
    # that each of them answers; and what people write that is wrong: (words to look for, as a
    # regular expression, what is told), the usual one first. `explain.py` says which sentences are
    # looked at.
    points: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    misconceptions: tuple[tuple[str, str], ...] = ()
    rubric: str = ""  # how a teacher grades, if not by the points alone; Markdown

    def use(self, answer, *arguments):
        """What an answer makes of the arguments of one case."""
        if self.kind == PREDICT:
            return answer
        return self.call(answer, *arguments) if self.call else answer(*arguments)


def edited(code, *changes):
    """`code` with some places changed, for answers that are wrong: pairs of the old text and the
    new. Raises ValueError for an old text that does not stand there exactly once.
    """
    for old, new in changes:
        if code.count(old) != 1:
            raise ValueError(f"{old!r} stands {code.count(old)} times in the code, not once.")
        code = code.replace(old, new)
    return code


_numbers = itertools.count()


def evaluate(exercise, code):
    """Run the code of a cell and return what it defines under the exercise's name."""
    namespace = {"__name__": "answer"}
    set_up(exercise, namespace)
    run_cell(code, namespace)
    return namespace[exercise.name]


def set_up(exercise, namespace):
    """Run what stands before an answer, but for the lines that only show something."""
    tree = ast.parse(SETUP + exercise.setup)
    tree.body = [node for node in tree.body if not isinstance(node, ast.Expr)]
    exec(compile(tree, "<setup>", "exec"), namespace)


def run_cell(code, namespace):
    """Run the code of a cell so that messages find its lines."""
    file = f"<answer {next(_numbers)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    exec(compile(code, file, "exec"), namespace)
