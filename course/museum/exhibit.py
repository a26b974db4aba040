"""What an exhibit of the museum is, and what the tests of exhibits share."""

import inspect
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

import torch

CRASHES = "it crashes"
WRONG = "it trains, but is wrong"
SLOW = "it is right, but slow"
LUCKY = "it is right by accident"
SYMPTOMS = (CRASHES, WRONG, SLOW, LUCKY)


@dataclass(frozen=True)
class Exhibit:
    """A mistake that people make, as code that runs. Made by the decorator `exhibit`.

    name: what the code is for; it does not give the mistake away. mistake: one sentence that does,
    and the message of a failed check. story: where people make it. seen: in which pages and
    threads, parted by "; ", each with a link and a date or commit (see places.py), or "classrooms"
    or "widespread". test: the test that catches it, in words. shows: a part of what
    `demonstrate(wrong)` returns.
    wrong, mended: two callables of one signature. task: what they compute, so that wrong answers to
    one exercise are found together; None if it is a thing of its own. Checks of one task stand in
    an order: the first that fails names the mistake. crash: the exceptions that are the mistake's.
    """

    name: str
    symptom: str
    mistake: str
    story: str
    seen: str
    test: str
    shows: str
    wrong: Callable
    mended: Callable
    judge: Callable
    demo: Callable
    task: str | None = None
    crash: tuple[type[Exception], ...] = ()

    def check(self, candidate):
        """Raise AssertionError, with the mistake as its message, if `candidate` makes it.

        Any other exception is the candidate's own and passes through.
        """
        with sandbox():
            try:
                self.judge(candidate)
            except (AssertionError, *self.crash):
                raise AssertionError(self.mistake) from None

    def passes(self, candidate):
        """Whether `check` has nothing to say about `candidate`."""
        try:
            self.check(candidate)
        except AssertionError:
            return False
        return True

    def demonstrate(self, candidate):
        """What happens when `candidate` runs: a line or two, the same on every machine."""
        with sandbox():
            return self.demo(candidate)

    def source(self, which):
        """The code of "wrong" or "mended" under the exhibit's name, or that of "check"."""
        if which == "check":
            return re.sub(r"^def judge\b", "def check", code_of(self.judge))
        return re.sub(rf"^def {which}\b", f"def {self.name}", code_of(getattr(self, which)))


def exhibit(symptom, seen, task=None, crash=()):
    """Turn a class, used as a name space, into an Exhibit. See any of them for the form.

    Its docstring is the mistake, a blank line, and the story. Its functions are plain functions:
    `wrong`, `mended`, `judge(candidate)` with bare assertions, and `demo(candidate)`.
    """

    def collect(body):
        mistake, _, story = inspect.getdoc(body).partition("\n\n")
        return Exhibit(
            name=body.__name__,
            symptom=symptom,
            mistake=" ".join(mistake.split()),
            story=" ".join(story.split()),
            seen=seen,
            test=body.test,
            shows=body.shows,
            wrong=body.wrong,
            mended=body.mended,
            judge=body.judge,
            demo=body.demo,
            task=task,
            crash=crash if isinstance(crash, tuple) else (crash,),
        )

    return collect


class Page:
    """Code as a page prints it. Called, it runs from top to bottom; returns the names it made."""

    def __init__(self, text):
        self.text = inspect.cleandoc(text)

    def __call__(self):
        names = {}
        exec(compile(self.text, "page", "exec"), names)
        return names


def code_of(candidate):
    """The source text of a Page, or of a function, moved to the left margin."""
    if isinstance(candidate, Page):
        return candidate.text
    return inspect.cleandoc("\n" + inspect.getsource(candidate))


@contextmanager
def sandbox():
    """Seed 0 and double precision inside, everything as it was afterwards."""
    dtype = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        torch.set_default_dtype(torch.float64)
        torch.random.default_generator.manual_seed(0)
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)


def what_happens(call):
    """What `call()` returns, as text, or the exception that it raises, without its traceback."""
    try:
        return str(call())
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def moving_rows(run, X, t):
    """The rows of run(X), (..., T, d), that change when row t of X, (..., T, d), does."""
    changed = X.clone()
    changed[..., t, :] += 1.0
    moved = (run(changed) - run(X)).abs() > 1e-9  # (..., T, d)
    return moved.any(dim=-1).flatten(0, -2).any(dim=0).nonzero().flatten().tolist()  # T at most


def to_digits(numbers, digits=2):
    """A tensor as nested lists of rounded numbers, for printing. No -0.0."""
    return (torch.round(numbers.detach(), decimals=digits) + 0.0).tolist()
