"""Compare an answer with the reference and name the mistake."""

import dataclasses
import functools
import inspect
import itertools
import math
import random
import re
import sys
import time
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch

from tutor.check import guard
from tutor.check.exercise import EXPLAIN, PREDICT, TEST
from tutor.check.explain import misconception
from tutor.check.guard import (
    ChangedInPlace,
    NotWritten,
    Outcome,
    Raised,
    Trouble,
    Unnamed,
    attempt,
    is_float,
    run_guarded,
)
from tutor.check.plain import plainly
from tutor.check.reasons import reason

CASES_SEED, HIDDEN_SEED = 20, 1706
LEAST_WORDS = 12  # that an explanation has at least
CRASHED = ""  # how a test fails a function by another exception than its own
# What equals its like alone; other objects in a known mistake may stand for many values.
DATA = (int, float, complex, str, bytes, dict, set, Fraction, Decimal)
DATA += (torch.Tensor, torch.dtype, torch.nn.Module, np.ndarray, np.generic)
SMALL = 24  # numbers of all tensors together, if a message shows them in full


def examine(exercise, answer, hidden=False, run=run_guarded):
    """Return what is wrong with an answer in plain words, or None if it is right.

    hidden: draw the inputs from another seed. The caller's random state is left alone.
    run: what runs the answer, here or elsewhere. All that is compared is the plain data it returns.
    """
    trouble = trouble_with(exercise, answer, hidden, run)
    return None if trouble is None else str(trouble)


def trouble_with(exercise, answer, hidden=False, run=run_guarded):
    """The Trouble with an answer; Unnamed if no mistake is named. None if it is right."""
    looks = {EXPLAIN: look_at_words, PREDICT: look_at_prediction, TEST: look_at_test}
    look = looks.get(exercise.kind, look_at_behaviour)
    try:
        look(exercise, answer, HIDDEN_SEED if hidden else CASES_SEED, run)
    except Trouble as trouble:
        gap = guard.has_gap(answer)
        return NotWritten(guard.NOT_WRITTEN.format("...")) if gap else trouble
    return None


def look_at_words(exercise, answer, seed, run):
    """An explanation is graded by a person; we see that there is one, and what nobody doubts."""
    if not isinstance(answer, str):
        raise Trouble(f"Write your explanation as a text in quotes; this is {a_kind(answer)}.")
    if not answer.strip():
        raise NotWritten(
            f"This is not written yet: explain between the quotes, in at least {LEAST_WORDS} words."
        )
    if len(re.findall(r"\w+", answer)) < LEAST_WORDS:
        raise Trouble(f"This is too short: explain in at least {LEAST_WORDS} words.")
    told = misconception(exercise, answer)
    if told:
        raise Trouble(told)


def look_at_prediction(exercise, answer, seed, run):
    """A value is right, or a known wrong guess, or neither; what is right is not told."""
    if answer is None:
        raise NotWritten("There is no prediction yet: put yours in place of None.")
    right = put_plainly(exercise.reference, exercise.reference)
    answer, tolerance = put_plainly(plainly(answer), right), exercise.tolerance
    form = another_form(answer, right, guessed=True)
    if form:
        raise Trouble(f"Your prediction is {form}.")
    if another_value(answer, right, tolerance):
        fitting = []
        for message, guess in exercise.mistakes:
            guess = put_plainly(guess, right)
            if alike(Outcome(answer), Outcome(guess), tolerance):
                fitting.append((openness(guess), message))
        if fitting:
            raise named(fitting)
        raise Unnamed(
            "That is not it. Look again at the section "
            f"“{exercise.section}” of chapter {exercise.chapter}."
        )


def put_plainly(answer, right):
    """A prediction in Python's own numbers and lists, and texts without what does not matter."""
    if isinstance(answer, torch.Tensor | np.ndarray | np.generic):
        several = isinstance(right, list | tuple) or math.prod(answer.shape) != 1
        answer = answer.tolist() if several else answer.item()
    if isinstance(right, list | tuple) and isinstance(answer, list | tuple):
        pairs = itertools.zip_longest(answer, right[: len(answer)])
        return (tuple if isinstance(answer, tuple) else list)(put_plainly(*pair) for pair in pairs)
    if isinstance(right, dict) and isinstance(answer, dict):
        return {key: put_plainly(item, right.get(key)) for key, item in answer.items()}
    if type(answer) is int and isinstance(right, float):
        return float(answer)
    return answer.strip().lower() if isinstance(answer, str) else answer


def look_at_behaviour(exercise, answer, seed, run):
    """Run an answer on all cases, smallest first, and name the mistake that behaves the same.

    Of an answer without a name, the first wrong result is told; only if there is none, the first
    wrong gradient.
    """
    refuse_what_is_no_function(exercise, answer)
    cases, names = draw(exercise, seed), argument_names(exercise)
    seconds, wrong, outcomes = guard.SECONDS, None, []
    for case in cases:
        if wrong is None or wrong.in_gradient:
            expected = expect(exercise, case, names)
        start, modules = time.monotonic(), len(sys.modules)
        outcomes.append(run(exercise, answer, case, max(0.1, seconds), names))
        if len(sys.modules) == modules:  # what PyTorch imports at first use is not the answer's
            seconds -= time.monotonic() - start
        if wrong is None or wrong.in_gradient:
            leaves = guard.leaf_names(names, case)
            found = difference(outcomes[-1], expected, exercise.tolerance, leaves)
            if found and (wrong is None or not found.in_gradient):
                wrong, example = found, f"Example: with {describe(names, case)}"
    if wrong:
        fitting = mistakes_that_fit(exercise, cases, outcomes, seed)
        if fitting:
            raise named(fitting, f"\n{example}, {wrong.words}.")
        said = f"{wrong.words[0].upper()}{wrong.words[1:]}."
        said = "\n".join(filter(None, [said, wrong.reason, f"{example}."]))
        raise (Trouble if wrong.named else Unnamed)(said)
    if not exercise.gradient:
        look_for_traps(exercise, answer, cases, seconds, run)
    for message, shows in exercise.properties:
        asked = dataclasses.replace(exercise, call=shows, draws=True, gradient=False)
        wanted = attempt(asked, exercise.reference, ())
        if not alike(run(asked, answer, ()), wanted, exercise.tolerance):
            raise Trouble(message)


@functools.lru_cache(maxsize=1)
def outcomes_seen(exercise, seed):
    """(mistake, case) by number -> Outcome, as far as they were asked for."""
    return {}


def outcome_of_mistake(exercise, number, seed, place, case):
    """What a known mistake makes of a case, both also by their numbers; computed once."""
    seen = outcomes_seen(exercise, seed)
    if (number, place) not in seen:
        seen[number, place] = attempt(exercise, exercise.mistakes[number][1], case)
    return seen[number, place]


def mistakes_that_fit(exercise, cases, outcomes, seed):
    """(how much it leaves open, message) of each known mistake that behaves the same."""
    fitting = []
    for number, (message, _) in enumerate(exercise.mistakes):
        left_open = 0
        for place, (case, outcome) in enumerate(zip(cases, outcomes, strict=True)):
            known = outcome_of_mistake(exercise, number, seed, place, case)
            if not alike(outcome, known, exercise.tolerance):
                break
            left_open = max(left_open, openness(known.value))
        else:
            fitting.append((left_open, message))
    return fitting


def openness(value):
    """How much a known mistake leaves open: its exception, or items that equal many values, as
    `unittest.mock.ANY` does. A mistake that leaves less open goes before the others."""
    if isinstance(value, Raised):
        return 0 if value.message else 1 + (value.kind == "Exception")
    if isinstance(value, list | tuple):
        return sum(map(openness, value))
    return 0 if value is None or isinstance(value, DATA) else 1


def named(fitting, example=""):
    """The Trouble of an answer that behaves as these mistakes do: of several we guess none."""
    least = min(left_open for left_open, _ in fitting)
    messages = list(dict.fromkeys(said for left_open, said in fitting if left_open == least))
    if len(messages) == 1:
        return Trouble(messages[0] + example)
    either = "\n".join(f"- {message}" for message in messages)
    return Unnamed(f"Several mistakes look like this one:\n{either}{example}")


def look_for_traps(exercise, answer, cases, seconds, run):
    """Gradients are not asked for here. But what is right must not make training crash either."""
    asked = dataclasses.replace(exercise, gradient=True)
    for case in cases:
        start = time.monotonic()
        try:
            run(asked, answer, case, max(0.1, seconds))
        except ChangedInPlace:
            raise
        except Trouble:
            return  # such as a way that knows no gradients, which is allowed
        seconds -= time.monotonic() - start


def refuse_what_is_no_function(exercise, answer):
    if not callable(answer):
        raise Trouble(
            f"Hand over `{exercise.name}` itself, without brackets behind it; "
            f"this is {a_kind(answer)}."
        )


def look_at_test(exercise, answer, seed, run):
    """Try a test on every twin, which it must pass, and on every mutant, which it must fail."""
    refuse_what_is_no_function(exercise, answer)

    try:
        names = list(inspect.signature(answer).parameters)
    except (TypeError, ValueError):
        names = []

    def use(answer, function, *others):
        torch.default_generator.manual_seed(seed)
        calls, verdict = [], None
        try:
            verdict = answer(disguised(function, calls), *others)
        except AssertionError:
            if calls:
                raise
        if not calls and not guard.is_blank(answer):
            name = names[0] if names else "the function"
            raise Trouble(f"Your test never calls `{name}`, which is what it has to test.")
        return verdict

    asked = dataclasses.replace(exercise, call=use, draws=True)
    (others,) = draw(exercise, seed)
    functions = list((exercise.twins | exercise.mutants).items())
    if run is not run_guarded:  # who counts the calls learns nothing
        random.SystemRandom().shuffle(functions)
    seconds, crashes = guard.SECONDS, {}
    failed = {}  # words of a function -> how the test failed it
    for words, function in functions:
        start, modules = time.monotonic(), len(sys.modules)
        value = run(asked, answer, (function, *others), max(0.1, seconds), names).value
        if len(sys.modules) == modules:
            seconds -= time.monotonic() - start
        crashed = isinstance(value, Raised) and value.kind != "AssertionError"
        if words in exercise.twins and crashed:
            crashes[words] = value
        if isinstance(value, Raised):
            stops = f"in the line `{value.line}`" if value.line else "with AssertionError"
            failed[words] = CRASHED if crashed else f"It stops {stops}."
            continue
        verdict = plain(squeezed(value))
        if not (verdict is None or isinstance(verdict, bool)):
            raise Trouble(
                f"Your test returns {a_kind(value)}. A test raises AssertionError, as `assert` "
                "does, or it returns True or False."
            )
        if verdict is False:
            failed[words] = "It returns False."
    for words in exercise.twins:
        if words in crashes:
            kind = Trouble if reason(crashes[words]) else Unnamed
            raise kind(crash_on(words, crashes[words]))
    said = misjudged(exercise, failed)
    if said:
        raise Trouble(said)


def disguised(function, calls):
    """The function without its name, by which a test could know it; notes its calls."""

    def function_under_test(*arguments, **options):
        calls.append(function)
        return function(*arguments, **options)

    return function_under_test


def crash_on(words, raised):
    """What to say of a test that raises another exception on what is right."""
    if "Boolean value of Tensor with more than one value" in raised.message:
        return (
            f"The line `{raised.line}` asks whether a whole tensor is true, and PyTorch cannot "
            "tell: `==` and `<` compare number by number. Use `torch.equal(a, b)`, "
            "`torch.allclose(a, b)` or `.all()`."
        )
    said = f"Your test crashes on a right function, one that {words}: it raises {raised.said}."
    return f"{said} {reason(raised)}".rstrip()


def misjudged(exercise, failed):
    """What is right and yet failed, or wrong and yet passed, in words; None if nothing."""
    refused = [words for words in exercise.twins if words in failed]
    slipped = [words for words in exercise.mutants if words not in failed]
    caught = [words for words in exercise.mutants if failed.get(words, CRASHED) != CRASHED]
    where = failed[refused[0]] if refused else ""
    if len(refused) == len(exercise.twins):
        if slipped and not caught:
            return "Your test is turned over: it fails what is right and passes what is wrong."
        if not slipped:
            return (
                f"Your test fails whatever it is given, also what is right. {where} Print both "
                "sides of the comparison: NaN, for example, equals nothing, not even NaN."
            )
        return f"Your test fails what is right. {where} And it passes a function that {slipped[0]}."
    if refused:
        return (
            f"Your test fails a right function, one that {refused[0]}. {where} It passes another "
            "right one: they may differ in rounding, and wherever nothing is promised."
        )
    if slipped:
        many, of = len(slipped), len(exercise.mutants)
        some = f"all {of}" if many == of else f"{many} of {of}"
        one = "It is one that" if many == 1 else "One of them"
        return f"Your test lets {some} wrong functions pass. {one} {slipped[0]}."
    return None


def draw(exercise, seed):
    """The cases of an exercise, freshly drawn from a seed."""
    with guard.restored_state():
        torch.default_generator.manual_seed(seed)
        return list(exercise.cases())


def expect(exercise, case, names):
    """The Outcome of the reference.

    Raises:
        Trouble: the reference raises what the exercise does not announce.
    """
    outcome = attempt(exercise, exercise.reference, case)
    raises = isinstance(outcome.value, Raised)
    if raises and outcome.value.kind != exercise.raises:
        raise Trouble(
            f"This is no mistake of yours: with {describe(names, case)}, the solution of the check "
            f"itself raises {outcome.value.said}; please report it."
        )
    return outcome


def argument_names(exercise):
    """What the arguments of a case are called."""
    if exercise.call:
        called = list(inspect.signature(exercise.call).parameters.values())[1:]
        if not called or called[-1].kind != inspect.Parameter.VAR_POSITIONAL:
            return [parameter.name for parameter in called]
    return list(inspect.signature(exercise.reference).parameters)


# ---- comparing


class Difference(NamedTuple):
    """Where a result is not the wanted one."""

    words: str  # follow on "with these inputs, "
    named: bool = False  # whether they tell what is wrong, and not only numbers
    reason: str = ""
    in_gradient: bool = False


CUT_OFF = (
    "Something on the way cuts it off, as `.detach()`, `.data`, `.item()` and `torch.no_grad()` do."
)


def alike(got, mistaken, tolerance):
    """Whether an Outcome is that of a known mistake."""
    if isinstance(got.value, Raised) and isinstance(mistaken.value, Raised):
        return got.value.like(mistaken.value)
    return not difference(got, mistaken, tolerance)


def difference(got, wanted, tolerance, names=()):
    """The Difference of an Outcome from the wanted one; None if they are equal. `names` are those
    of the leaves that have gradients."""
    if isinstance(got.value, Raised) or isinstance(wanted.value, Raised):
        kind = getattr(wanted.value, "kind", None)
        if not isinstance(got.value, Raised):
            return Difference(
                f"your answer returns a result where it must raise {kind}", named=True
            )
        if kind != got.value.kind:
            why = reason(got.value)
            return Difference(f"your answer raises {got.value.said}", bool(why), why)
        return None
    form = another_form(got.value, wanted.value)
    if form:
        return Difference(f"your result is {form}", named=True)
    value = another_value(got.value, wanted.value, tolerance)
    if value:
        return Difference(f"your result {value}")
    for i, (ours, theirs) in enumerate(zip(got.gradients, wanted.gradients, strict=True)):
        name = f"the gradient of `{names[i]}`" if names else "a gradient"
        if ours is None and theirs is None:
            continue
        # no gradient trains as little as one of zeros
        value = another_value(*filled(ours, theirs), tolerance)
        said = f"the result is right, but {name}"
        if value and ours is None:
            return Difference(f"{said} is missing", named=True, reason=CUT_OFF, in_gradient=True)
        if value:
            value = "should not be there" if theirs is None else value
            return Difference(f"{said} {value}", in_gradient=True)
    return None


def filled(*gradients):
    """Gradients as dense tensors, with zeros for None; at least one of two is no None."""
    some = next(g for g in gradients if g is not None)
    return [torch.zeros_like(some) if g is None else g for g in gradients]


def another_form(got, wanted, guessed=False):
    """Words for a result of another type, shape or dtype than wanted; None if it has the same.

    guessed: a number is a number, whole or not
    """
    if isinstance(wanted, torch.Tensor):
        if not isinstance(got, torch.Tensor):
            return f"{a_kind(got)}; {a_kind(wanted)} is wanted"
        if got.shape != wanted.shape:
            return f"of shape {tuple(got.shape)}; {tuple(wanted.shape)} is wanted"
        if sort_of(got) != sort_of(wanted):
            return f"a tensor of {got.dtype}; {sort_of(wanted)} is wanted"
    elif isinstance(wanted, list | tuple):
        if not isinstance(got, list | tuple):
            return f"{a_kind(got)}; {a_kind(wanted)} is wanted"
        if len(got) != len(wanted):
            return f"{a_kind(got)} of length {len(got)}; {len(wanted)} is wanted"
    elif isinstance(wanted, bool | str | dict | set) or wanted is None:
        if a_kind(got) != a_kind(wanted):
            return f"{a_kind(got)}; {a_kind(wanted)} is wanted{how_to_be_plain(got)}"
    elif isinstance(wanted, int | float):
        if isinstance(got, bool) or not isinstance(got, int | float):
            return f"{a_kind(got)}; a number is wanted{how_to_be_plain(got)}"
        if isinstance(wanted, int) and isinstance(got, float) and not guessed:
            return "a float; a whole number, an int, is wanted"
    if guessed and isinstance(wanted, dict):
        return None  # what stands for a key is told by its own mistakes
    for name, ours, theirs in items(got, wanted):
        form = another_form(ours, theirs, guessed)
        if form:
            return f"{a_kind(got)} whose {name} is {form}"
    return None


def items(got, wanted):
    """The items of two lists of one length, or of two dicts with the same keys, by name."""
    if isinstance(wanted, dict) and got.keys() == wanted.keys():
        return [(f"item {key!r}", got[key], wanted[key]) for key in wanted]
    if isinstance(wanted, list | tuple):
        return [(item(wanted, i), *pair) for i, pair in enumerate(zip(got, wanted, strict=True))]
    return []


def another_value(got, wanted, tolerance):
    """Words for the first place where a result of the right form differs; None if nowhere."""
    if isinstance(wanted, torch.Tensor):
        ours, theirs = got.detach().double(), wanted.detach().double()
        margin = tolerance if is_float(wanted) else 0.0
        same = torch.isclose(ours, theirs, rtol=margin, atol=margin, equal_nan=True)
        if same.all():
            return None
        place = (~same).nonzero()[0].tolist()
        at = f"at {place} " if place else ""
        return f"{at}is {not_the_same(got[tuple(place)], wanted[tuple(place)])}"
    pairs = items(got, wanted)
    for name, ours, theirs in pairs:
        value = another_value(ours, theirs, tolerance)
        if value:
            return f"in {name} {value}"
    if pairs:
        return None
    try:
        if isinstance(wanted, float):
            same = (
                got == wanted or abs(got - wanted) <= tolerance * max(1.0, abs(wanted)) < math.inf
            )
            same = same or (math.isnan(got) and math.isnan(wanted))
        else:
            same = bool(plain(got) == wanted)
    except (ArithmeticError, RuntimeError, TypeError, ValueError):  # 10**400, or tensors in a dict
        same = False
    return None if same else f"is {not_the_same(got, wanted)}"


def squeezed(value):
    """A tensor or array of one number without its dimensions; all else as it is."""
    one = isinstance(value, torch.Tensor | np.ndarray) and math.prod(value.shape) == 1
    return value.reshape(()) if one else value


def plain(value):
    """A number of whatever kind as Python's own; all else as it is."""
    if isinstance(value, Fraction | Decimal):
        return float(value)
    single = isinstance(value, torch.Tensor | np.ndarray) and value.ndim == 0
    return value.item() if single or isinstance(value, np.generic) else value


# ---- saying


def a_kind(value):
    """What sort of thing a value is, with its article."""
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, torch.Tensor):
        return "a tensor"
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if isinstance(value, np.generic):
        return f"NumPy's {type(value).__name__}"
    names = {bool: "True or False", int: "an int", str: "a text", dict: "a dict"}
    return names.get(type(value), f"a {type(value).__name__}")


def how_to_be_plain(value):
    """What makes Python's own number of one number in a tensor or of NumPy's, in brackets."""
    array = isinstance(value, torch.Tensor | np.ndarray) and math.prod(value.shape) == 1
    return " (`.item()` makes one of it)" if array or isinstance(value, np.generic) else ""


def sort_of(tensor):
    """The sort of number in a tensor: widths of floats and ints do not matter."""
    if tensor.dtype == torch.bool:
        return "torch.bool"
    if tensor.is_complex():
        return "a complex dtype"
    return "a float dtype" if tensor.is_floating_point() else "an integer dtype"


def item(wanted, i):
    """What an item of a result is called: by its name where the reference returns a NamedTuple."""
    fields = getattr(wanted, "_fields", None)
    return f"`{fields[i]}`" if fields else f"item {i}"


def not_the_same(got, wanted):
    """Two values with as many digits as it takes to see that they differ."""
    for digits in (4, 8, 17):
        said = number_of(got, digits), number_of(wanted, digits)
        if said[0] != said[1]:
            break
    return "{}, not {}".format(*said)


def number_of(value, digits=4):
    """A value, short."""
    value = plain(value.detach() if isinstance(value, torch.Tensor) else value)
    if isinstance(value, float):
        return f"{value + 0.0:.{digits}g}"  # no -0
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def describe(names, case):
    """The arguments of a case: tensors in full if they are small, else by their shapes."""
    numbers = sum(argument.numel() for argument in case if isinstance(argument, torch.Tensor))
    said = []
    for name, argument in zip(names, case, strict=False):
        if isinstance(argument, torch.Tensor) and numbers > SMALL:
            said.append(f"{name} of shape {tuple(argument.shape)}")
        elif isinstance(argument, torch.Tensor):
            said.append(f"{name} = {rounded(argument.tolist())}")
        elif isinstance(argument, list | tuple) and holds_tensors(argument):
            said.append(f"{name} = {with_shapes(argument)}")
        elif callable(argument):
            said.append(f"a {type(argument).__name__} as {name}")
        else:
            said.append(f"{name} = {number_of(argument)}")
    return ", ".join(said) or "no arguments"


def holds_tensors(value):
    if isinstance(value, list | tuple):
        return any(map(holds_tensors, value))
    return isinstance(value, torch.Tensor)


def with_shapes(value):
    """Lists of tensors: floats by their shapes, one of them or a few whole numbers in full."""
    if isinstance(value, list | tuple):
        inside = ", ".join(map(with_shapes, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if not isinstance(value, torch.Tensor):
        return number_of(value)
    if value.numel() > (1 if is_float(value) else SMALL):
        return f"a tensor of shape {tuple(value.shape)}"
    return rounded(value.tolist())


def rounded(numbers):
    if isinstance(numbers, list):
        return f"[{', '.join(map(rounded, numbers))}]"
    return f"{numbers + 0.0:.4g}" if isinstance(numbers, float) else repr(numbers)
