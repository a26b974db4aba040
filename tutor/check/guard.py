"""Run an answer so that nothing it does reaches the notebook, and say what it tried."""

import _thread
import contextlib
import copy
import io
import linecache
import random
import signal
import sys
import threading
import traceback
from typing import Any, NamedTuple

import numpy as np
import torch
from IPython import get_ipython
from torch import nn

SECONDS = 5.0  # for all cases of one check
CHARACTERS = 20_000  # that an answer may print on one case


class Trouble(Exception):
    """What an answer did that no answer may do; the message is for the learner."""


class Raised(NamedTuple):
    """An exception in place of a result."""

    kind: str
    said: str = ""


class Outcome(NamedTuple):
    """What a run gave: a result, and gradients by argument where the exercise compares them."""

    value: Any
    gradients: tuple = ()


class TimeIsUp(BaseException):
    pass


class PrintsTooMuch(BaseException):
    pass


def run_guarded(exercise, answer, arguments, seconds=None, names=()):
    """Use an answer on copies of the arguments and return its Outcome.

    An exception becomes the value `Raised`. `names` are those of the arguments, for messages.

    Raises:
        Trouble: it ran for too long, left the program, printed too much, changed an argument or a
            global state, or called a function that it should have written.
    """
    given, leaves = copies(arguments, exercise.gradient)
    globals_before = global_tensors(answer)
    called = set()
    with contextlib.ExitStack() as stack:
        stack.enter_context(restored_state())
        torch.manual_seed(0)
        before = state()
        stack.enter_context(silence())
        stack.enter_context(watched_calls((*exercise.forbidden, exercise.reference), called))
        try:
            with time_limit(seconds or SECONDS):
                value = exercise.use(answer, *given)
        except TimeIsUp:
            raise Trouble(
                f"Your answer was stopped after {seconds or SECONDS:.2g} seconds: does a loop in "
                "it have no end?"
            ) from None
        except SystemExit:
            raise Trouble(
                "Your answer leaves the program (sys.exit or quit). Return a result instead."
            ) from None
        except PrintsTooMuch:
            raise Trouble(
                f"Your answer prints more than {CHARACTERS:,} characters. Take the print away."
            ) from None
        except NotImplementedError as error:
            if str(error):
                value = raised(error, answer)
            else:
                raise Trouble(
                    "This is not written yet: `raise NotImplementedError` is still there."
                ) from None
        except RecursionError:
            raise Trouble("Your answer calls itself without end.") from None
        except KeyboardInterrupt:
            raise  # the learner's own
        except BaseException as error:
            value = raised(error, answer)
        after = state()
    if called:
        name = min(called)
        private = name.startswith("_") or "<" in name
        what = "the solution of this check" if private else f"`{name}`"
        raise Trouble(
            f"Your answer calls {what}, which is what you are asked to write. "
            "Write its steps yourself."
        )
    for name, argument, copied in zip(names, arguments, given, strict=False):
        if changed(argument, copied):
            raise Trouble(
                f"Your answer changes its argument `{name}`. The caller still needs it: work on a "
                "new tensor, and avoid operations in place (those that end in `_`, `+=`, `x[i] =`)."
            )
    for what in before:
        if changed(before[what], after[what]) and not (exercise.draws and "random" in what):
            raise Trouble(
                f"Your answer changes {what}, which everything else in the notebook uses too. "
                "Leave it as it was."
            )
    for name, (tensor, version) in global_tensors(answer).items():
        if name in globals_before and globals_before[name] != (tensor, version):
            raise Trouble(
                f"Your answer changes the global tensor `{name}`. Use the arguments and new "
                "tensors only."
            )
    return Outcome(value, gradients(value, leaves) if exercise.gradient else ())


def attempt(exercise, answer, arguments):
    """The Outcome of code of our own (a reference, a known mistake), without the guards."""
    given, leaves = copies(arguments, exercise.gradient)
    with restored_state():
        torch.manual_seed(0)
        try:
            value = exercise.use(answer, *given)
        except Exception as error:
            value = raised(error, None)
    return Outcome(value, gradients(value, leaves) if exercise.gradient else ())


# ---- what goes in and what comes out


def copies(arguments, with_gradient):
    """Copies of the arguments, and the leaves to which gradients of float tensors flow."""
    given, leaves = [], []
    for argument in arguments:
        copied = copy.deepcopy(argument)
        if with_gradient and is_float(copied):
            leaves.append(copied.requires_grad_())
            copied = copied.clone()  # no leaf, so that an answer may try to change it
        given.append(copied)
    return given, leaves


def is_float(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def gradients(value, leaves):
    """Gradients of a weighted sum of a float tensor: None where nothing flows, () if no tensor."""
    if not is_float(value):
        return ()
    if not value.requires_grad:
        return (None,) * len(leaves)
    # weights that differ from place to place, or a mean and a sum would look alike
    weights = torch.arange(1, value.numel() + 1, dtype=value.dtype).cos().reshape(value.shape)
    return torch.autograd.grad((value * weights).sum(), leaves, allow_unused=True)


def changed(before, after):
    """Whether a copy, or what it holds, is no longer what it was."""
    if isinstance(before, torch.Tensor):
        return before.shape != after.shape or not torch.allclose(
            before.detach(), after.detach(), rtol=0, atol=0, equal_nan=True
        )
    if isinstance(before, nn.Module):
        return before.training != after.training or changed(
            dict(before.state_dict()), dict(after.state_dict())
        )
    if isinstance(before, np.ndarray):
        return not np.array_equal(before, after)
    if isinstance(before, dict):
        return before.keys() != after.keys() or any(changed(before[k], after[k]) for k in before)
    if isinstance(before, list | tuple):
        return len(before) != len(after) or any(map(changed, before, after))
    if isinstance(before, int | float | str | torch.dtype | set):
        return before != after
    return False  # other objects are not ours to compare


def raised(error, answer):
    """An exception as a value, with the learner's line in which it arose."""
    said = str(error).strip().splitlines()[:1] or ["no message"]
    code = getattr(answer, "__code__", None) or getattr(
        getattr(answer, "__init__", None), "__code__", None
    )
    lines = [
        linecache.getline(frame.filename, frame.lineno).strip()
        for frame in traceback.extract_tb(error.__traceback__)
        if code and frame.filename == code.co_filename
    ]
    where = f", in the line `{lines[-1]}`" if lines and lines[-1] else ""
    return Raised(type(error).__name__, f"{type(error).__name__}: {said[0].rstrip('.')}{where}")


# ---- what an answer may not touch


def state():
    """The states that all code of a process shares."""
    return {
        "the default dtype": torch.get_default_dtype(),
        "whether gradients are computed": torch.is_grad_enabled(),
        "the random state of PyTorch": torch.random.get_rng_state(),
        "the random state of Python": random.getstate(),
        "the random state of NumPy": np.random.get_state(),
    }


@contextlib.contextmanager
def restored_state():
    """Gradients on at the start; everything that `state` tells as before at the end."""
    dtype, gradient, rng, python, numpy = state().values()
    torch.set_grad_enabled(True)
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradient)
        torch.random.set_rng_state(rng)
        random.setstate(python)
        np.random.set_state(numpy)


def global_tensors(answer):
    """The tensors that the code of an answer can reach by name, with their version counters."""
    function = answer if hasattr(answer, "__globals__") else getattr(answer, "__init__", None)
    return {
        name: (id(value), value._version)
        for name, value in list(getattr(function, "__globals__", {}).items())
        if isinstance(value, torch.Tensor) and not value.is_inference()
    }


class Paper(io.TextIOBase):
    """Takes what is printed, to a limit, and forgets it."""

    left = CHARACTERS

    def write(self, text):
        self.left -= len(text)
        if self.left < 0:
            raise PrintsTooMuch
        return len(text)


@contextlib.contextmanager
def silence():
    """Nothing is printed or displayed, and `exit()` in a notebook is no more than sys.exit()."""
    paper, shell = Paper(), get_ipython()
    with contextlib.redirect_stdout(paper), contextlib.redirect_stderr(paper):
        if shell is None:
            yield
            return
        shell.ask_exit = sys.exit  # else the kernel ends after the cell
        shell.display_pub.publish = lambda data, *_, **__: paper.write(str(data))
        try:
            yield
        finally:
            del shell.ask_exit, shell.display_pub.publish


@contextlib.contextmanager
def watched_calls(functions, called):
    """Add to the set `called` the names of those functions that are called meanwhile."""
    watched = {}
    for f in functions:
        name = getattr(f, "__name__", "_")
        if isinstance(f, type):
            f = vars(f).get("__init__", f)  # an inherited one is called for other classes too
        elif hasattr(f, "__code__"):
            name = f.__qualname__  # that of built-in functions is no name to tell
        watched[getattr(f, "__code__", f)] = name

    def look(frame, event, argument):
        if event == "call" and frame.f_code in watched:
            called.add(watched[frame.f_code])
        elif event == "c_call":
            called.update(name for function, name in watched.items() if function is argument)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)


@contextlib.contextmanager
def time_limit(seconds):
    """Raise TimeIsUp in the block once it has run for so long; works on Windows as well.

    A second thread interrupts the main one, as Ctrl-C does, until the block has ended. An answer
    may catch that (a bare `except` in a loop), so its next line raises again. In any other thread
    than the main one there is no limit. If modules were imported meanwhile, the time begins anew:
    the first optimiser or padding mask of a process loads hundreds, which can take seconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ended, late = threading.Event(), threading.Event()

    def watch():
        pause, modules = seconds, len(sys.modules)
        while not ended.wait(pause):
            if not late.is_set() and len(sys.modules) > modules:
                modules = len(sys.modules)
                continue
            late.set()
            pause = 0.05
            if hasattr(signal, "pthread_kill"):  # wakes a sleep, too
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            else:
                _thread.interrupt_main()

    def stop(number, frame):
        if not late.is_set():
            raise KeyboardInterrupt  # the learner's own
        while frame and frame.f_code is not run_guarded.__code__:
            if frame.f_code.co_filename != __file__:
                frame.f_trace = again
            frame = frame.f_back
        sys.settrace(lambda *_: None)  # turns on the tracing of the frames above
        raise TimeIsUp

    def again(frame, event, argument):
        if event != "exception":  # that is the first one, on its way to the answer's `except`
            raise TimeIsUp
        return again

    tracer, handler = sys.gettrace(), signal.signal(signal.SIGINT, stop)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        while watcher:
            with contextlib.suppress(TimeIsUp):  # one more may be on its way
                sys.settrace(tracer)
                ended.set()
                watcher.join()
                signal.signal(signal.SIGINT, handler)
                watcher = None
