"""What an exhibit of the museum is, and what the tests of exhibits share."""

import dataclasses
import inspect
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from itertools import chain

import torch
from torch import nn

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
    wrong, mended: two callables of one signature. judge: asks a candidate, with bare assertions;
    `strict` made it compare every answer with that of the mended code, too. task: what they
    compute, so that wrong answers to one exercise are found together; None if it is a thing of its
    own. Checks of one task stand in an order: the first whose own questions are answered wrongly
    names the mistake. crash: the exceptions that are the mistake's.
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

        What answers the questions rightly and differs from the mended code is told how. Any other
        exception is the candidate's own and passes through.
        """
        with sandbox():
            try:
                if self.judge(candidate) not in (None, True):  # a test may also return its verdict
                    raise AssertionError
            except Differs:
                raise
            except (AssertionError, *self.crash):
                raise AssertionError(self.mistake) from None

    @property
    def asked(self):
        """The judge as it is written and shown: its own questions, without the comparison."""
        return inspect.unwrap(self.judge)

    def blames(self, candidate):
        """Whether the questions of the judge alone find the mistake in `candidate`."""
        return not dataclasses.replace(self, judge=self.asked).passes(candidate)

    def passes(self, candidate):
        """Whether `check` ends without an exception, as the checks of tests have it."""
        try:
            self.check(candidate)
        except Exception:
            return False
        return True

    def demonstrate(self, candidate):
        """What happens when `candidate` runs: a line or two, the same on every machine."""
        with sandbox():
            return self.demo(candidate)

    def source(self, which):
        """The code of "wrong" or "mended" under the exhibit's name, or that of "check"."""
        if which == "check":
            return re.sub(r"^def judge\b", "def check", code_of(self.asked))
        return re.sub(rf"^def {which}\b", f"def {self.name}", code_of(getattr(self, which)))


def exhibit(symptom, seen, task=None, crash=()):
    """Turn a class, used as a name space, into an Exhibit. See any of them for the form.

    Its docstring is the mistake, a blank line, and the story. Its functions are plain functions:
    `wrong`, `mended`, `judge(candidate)` with bare assertions, and `demo(candidate)`. In place of
    `mended` there may be `mend`: pieces of the wrong code, each there once, and what they become.
    A function `view(result, *inputs)` says what of a result must be that of the mended code;
    `view = None`: nothing, the judge asks all.
    """

    def collect(body):
        mistake, _, story = inspect.getdoc(body).partition("\n\n")
        view = vars(body).get("view", lambda result, *inputs: result)
        mended = edited(body.wrong, body.mend) if hasattr(body, "mend") else body.mended
        return Exhibit(
            name=body.__name__,
            symptom=symptom,
            mistake=" ".join(mistake.split()),
            story=" ".join(story.split()),
            seen=seen,
            test=body.test,
            shows=body.shows,
            wrong=body.wrong,
            mended=mended,
            judge=strict(body.judge, mended, view) if view else body.judge,
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
    """The source text of a Page, of an edited function, or of another, at the left margin."""
    if hasattr(candidate, "text"):
        return candidate.text
    return inspect.cleandoc("\n" + inspect.getsource(candidate))


def edited(wrong, edits):
    """The function `mended`: `wrong` with each piece of its code replaced that `edits` names."""
    text = code_of(wrong).replace("def wrong", "def mended", 1)
    for old, new in edits.items():
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the code"
        text = text.replace(old, new)
    names = {}
    exec(compile(text, f"<{wrong.__module__}>", "exec"), wrong.__globals__, names)
    names["mended"].text = text
    return names["mended"]


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


# ---- the comparison that all judges share


class Differs(AssertionError):
    """A candidate answers the questions of a judge, and differs from the mended code."""


def strict(judge, mended, view):
    """A judge that also compares, for each question that it asks, with the mended code.

    Compared are values, gradients and the mode that a module is left in. Each question is asked
    again with every argument varied in turn, so that none can be ignored, and with each module in
    its other mode. view: from (result, *inputs) to what of a result must agree.
    """

    @wraps(judge)
    def asks(candidate):
        questions = []

        def noted(*inputs, **named):
            inputs = [list(x) if inspect.isgenerator(x) else x for x in inputs]
            result = candidate(*inputs, **named)
            questions.append((inputs, named))
            return result

        judge(noted)
        for inputs, named in questions:
            for varied in chain(variations(inputs), smaller(inputs, mended, named)):
                theirs = observed(mended, varied, named, view)
                ours = observed(candidate, varied, named, view)
                for what, right in theirs.items():
                    if not alike(ours[what], right):
                        raise Differs(f"{what} is wrong, but this is another mistake than ours.")

    return asks


def is_float(x):
    return isinstance(x, torch.Tensor) and x.is_floating_point()


def modules_in(inputs):
    """All modules among the inputs, and in the lists among them."""
    flat = [y for x in inputs for y in (x if isinstance(x, list) else [x])]
    return [part for x in flat if isinstance(x, nn.Module) for part in x.modules()]


def variations(inputs):
    """The inputs; with one tensor of numbers moved; with some of a mask; with the other mode."""
    yield inputs
    for i, x in enumerate(inputs):
        if is_float(x):
            yield [*inputs[:i], x.detach() + torch.rand_like(x), *inputs[i + 1 :]]
        elif isinstance(x, torch.Tensor) and x.dtype == torch.bool:
            yield [*inputs[:i], x & (torch.rand(x.shape) < 0.5), *inputs[i + 1 :]]
    modules = modules_in(inputs)
    for module in modules:
        module.training = not module.training
    if modules:
        yield inputs
    for module in modules:
        module.training = not module.training


def smaller(inputs, mended, named):
    """The inputs with each size of the first tensor cut, also in all others, where `mended` allows
    it: a batch of one, an odd width, T unlike S."""
    first = next((x for x in inputs if isinstance(x, torch.Tensor)), torch.ones(()))
    for size in sorted({*first.shape} - {1}):
        for less in sorted({1, size - 1}):
            cut = [
                x[tuple(slice(less if s == size else s) for s in x.shape)]  # (...)
                if isinstance(x, torch.Tensor)
                else x
                for x in inputs
            ]
            if has_an_answer(mended, cut, named):
                yield cut


def has_an_answer(mended, inputs, named):
    """Whether the mended code answers, and not with NaN, as the mean of no words is."""
    try:
        result = mended(*inputs, **named)
    except Exception:
        return False
    parts = result if isinstance(result, list | tuple) else [result]
    return not any(x.isnan().any() for x in filter(is_float, parts))


def observed(call, inputs, named, view):
    """What a call does: its result, its gradients, and the mode that it leaves modules in."""
    modules = modules_in(inputs)
    modes = [module.training for module in modules]
    probe = torch.ones((), requires_grad=True)  # it has a part in all that a function returns
    inputs = [given(x, probe) for x in inputs]
    leaves = [*filter(is_float, inputs), probe]
    leaves += [p for module in modules for p in module.parameters(recurse=False)]
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(1)
        results = view(call(*inputs, **named), *inputs)
    after = [module.training for module in modules]
    for module, mode in zip(modules, modes, strict=True):
        module.training = mode
    results = list(results) if isinstance(results, list | tuple) else [results]
    return {
        "The result": results,
        "The gradient": [g for Y in results for g in gradients(Y, leaves)],
        "The mode of the model": after,
    }


def given(x, probe):
    """An input as a leaf; a function as one whose results depend on `probe`."""
    if is_float(x):
        return x.detach().clone().requires_grad_()
    if callable(x) and not isinstance(x, nn.Module):

        def probed(*inputs):
            Y = x(*inputs)
            return Y * probe if is_float(Y) else Y

        return probed
    return x


def gradients(Y, leaves):
    """The gradients of all numbers in Y, each with a weight of its own; none if Y has none."""
    if not (isinstance(Y, torch.Tensor) and Y.requires_grad):
        return []
    weights = torch.arange(1.0, Y.numel() + 1).reshape(Y.shape)
    options = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
    return torch.autograd.grad(Y[Y.isfinite()] @ weights[Y.isfinite()], leaves, **options)


def alike(ours, right):
    """Are two lists of results the same but for rounding? Any number not 0 is True in a mask."""
    if not right:  # a gradient more than the mended code has does no harm
        return True
    return len(ours) == len(right) and all(map(same, ours, right))


def same(a, b):
    if isinstance(a, bool | int | float | torch.Tensor) and isinstance(b, float | torch.Tensor):
        a, b = torch.as_tensor(a).detach(), torch.as_tensor(b).detach()
        a = a != 0 if b.dtype == torch.bool else a
        return a.shape == b.shape and torch.allclose(a.double(), b.double(), 1e-8, 1e-8)
    return type(a) is type(b) and a == b


def what_happens(call):
    """What `call()` returns, as text, or the exception that it raises, without its traceback."""
    try:
        return str(call())
    except Exception as error:
        return f"{type(error).__name__}: {[*str(error).splitlines(), ''][0]}"


def moving_rows(run, X, t):
    """The rows of run(X), (..., T, d), that change when row t of X, (..., T, d), does.

    Random numbers are added to the row: a LayerNorm would remove a constant.
    """
    changed = X.clone()
    changed[..., t, :] += torch.randn_like(X[..., t, :])
    moved = ((run(changed) - run(X)).abs() > 1e-9).any(dim=-1)  # (..., T)
    return moved.reshape(-1, moved.shape[-1]).any(dim=0).nonzero().flatten().tolist()  # T at most


def to_digits(numbers, digits=2):
    """A tensor as nested lists of rounded numbers, for printing. No -0.0."""
    return (torch.round(numbers.detach(), decimals=digits) + 0.0).tolist()
