"""An answer in a process of its own, for grading: who judges it never runs a line of it.

    with Apart(cells, "scores") as apart:
        wrong = examine(exercise, apart.answer, hidden=True, run=apart.run)

The process runs the cells, then the answer on what `examine` hands over, and gives back plain data
(plain.py). What goes there holds neither the solution nor what is right; it is a pickle, which the
judge wrote, and none comes back. The process is forked from one that has PyTorch loaded and has
never seen an answer, so that it starts at once (on Windows it has to load PyTorch). It stands
behind a fence (confine.py), and ends with the block.
"""

import contextlib
import dataclasses
import inspect
import math
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import types

import cloudpickle
from IPython.core.inputtransformer2 import TransformerManager
from torch import nn

from course.grading.confine import confine, leave_checks_to_the_judge
from tutor.check import bank, guard
from tutor.check.exercise import Exercise, run_cell
from tutor.check.guard import ChangedInPlace, Outcome, Raised, Trouble, run_guarded
from tutor.check.plain import LARGE, Unreadable, pack, plainly, unpack

START_SECONDS = 30.0  # that a process may take before the first cell
WORKER_SECONDS = 10.0  # seconds for all cells
MESSAGE_CHARACTERS = 2_000
DIED = (
    "Your answer ended the program in which it ran: it leaves it, crashes it, or takes more memory "
    "or returns more numbers than there may be."
)
GARBLED = "What came back is no result. Return numbers, texts, tensors, or lists and dicts of them."
USED_THERE = ("name", "kind", "call", "gradient", "draws", "forbidden", "reference")


class MissingName(Trouble):
    """The answer uses a name that no cell before it defines."""


def stand_in(parameters):
    """What the judge holds of a function or class that runs in the other process: its signature."""

    def answer(*arguments):
        raise NotImplementedError("it runs in its own process")

    with contextlib.suppress(TypeError, ValueError):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = [inspect.Parameter(name, kind) for name in parameters]
        answer.__signature__ = inspect.Signature(names)
    return answer


class Apart:
    """A process with what some cells define: `answer`, plain data or a stand-in, and `run`.

    closed: files and folders that it may not read. seconds: for all cells together.
    Raises Trouble where the cells do not define the answer, MissingName if a name was missing.
    """

    def __init__(self, cells, name, closed=(), seconds=None):
        self.missing = False  # whether the answer used a name that is nowhere
        self.gap = False  # whether `...` still stands in it
        self.folder = tempfile.mkdtemp(prefix="answer-")
        self.pipe, there = context().Pipe()
        arguments = there, self.folder, list(closed)
        self.process = context().Process(target=serve, args=arguments, daemon=True)
        try:
            start_without_main_module(self.process)
            there.close()
            self.ask(b"", START_SECONDS)
            found = self.ask(cloudpickle.dumps((list(cells), name)), seconds or WORKER_SECONDS)
            self.answer = self.read(found, lambda: found["value"])
            if "parameters" in found:
                self.answer = stand_in(found["parameters"])
                self.gap = found.get("gap") is True
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.pid:  # it has started
            self.kill()
            self.process.join()
        self.pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self):
        """End the process and all that it has started."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def run(self, exercise, answer, arguments, seconds=None, names=()):
        """As `run_guarded` does, over there; `answer` is the one that the cells define."""
        with nameless(arguments) as arguments:
            request = cloudpickle.dumps((without_secrets(exercise), arguments, list(names)))
        reply = self.ask(request, seconds or guard.SECONDS)

        def outcome():
            if "raised" in reply:
                self.missing = reply["raised"][0] == "NameError"
                said = (str(part)[:MESSAGE_CHARACTERS] for part in reply["raised"])
                return Outcome(Raised(*said))
            return Outcome(reply["value"], reply["gradients"])

        return self.read(reply, outcome)

    def ask(self, request, seconds):
        """The reply to a request; who gives none in time is stopped, whatever it does."""
        deadline = time.monotonic() + seconds
        clock = threading.Timer(seconds, self.kill)
        clock.start()
        try:
            self.pipe.send_bytes(request)
            return unpack(self.pipe.recv_bytes(2 * LARGE))
        except (EOFError, OSError):
            late = time.monotonic() >= deadline
            raise Trouble(guard.TOO_LONG.format(seconds) if late else DIED) from None
        except Unreadable:
            raise Trouble(GARBLED) from None
        finally:
            clock.cancel()
            clock.join()

    def read(self, reply, what):
        """What a reply says, or the Trouble that it tells of; it may be anything."""
        try:
            if "trouble" in reply:
                kinds = {"missing": MissingName, "in place": ChangedInPlace}
                raise kinds.get(reply["kind"], Trouble)(str(reply["trouble"])[:MESSAGE_CHARACTERS])
            return what()
        except (KeyError, TypeError):
            raise Trouble(GARBLED) from None


def context():
    """Where processes come from: a copy of one that is warm, or, on Windows, a new one."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    forked = multiprocessing.get_context("forkserver")
    forked.set_forkserver_preload(["course.grading.warm"])
    return forked


def start_without_main_module(process):
    """Start a process, which would else run the file of this program, with all that it imports."""
    main, sys.modules["__main__"] = sys.modules["__main__"], types.ModuleType("__main__")
    try:
        process.start()
    finally:
        sys.modules["__main__"] = main


def without_secrets(exercise):
    """The exercise with no more than what an answer's run takes."""
    used = {name: getattr(exercise, name) for name in USED_THERE}
    if not known_by_name(exercise.reference):
        used["reference"] = None
    others = [field.name for field in dataclasses.fields(Exercise) if field.name not in used]
    return Exercise(**used, **dict.fromkeys(others))


def known_by_name(function):
    """Whether a function travels as its name: one of the package or of PyTorch."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    return (
        not travels_as_code(function) and getattr(sys.modules.get(module), name, None) is function
    )


def travels_as_code(thing):
    """Whether a function or class is one of those that the other process does not have."""
    module = getattr(thing, "__module__", None)
    return module == bank.MODULE or module in cloudpickle.list_registry_pickle_by_value()


@contextlib.contextmanager
def nameless(arguments):
    """The arguments without the names by which an answer could know a mutant or a model."""
    classes = {type(a) for a in arguments if isinstance(a, nn.Module) and travels_as_code(type(a))}
    names = [(kind, kind.__name__) for kind in classes]
    for kind in classes:
        kind.__name__ = kind.__qualname__ = nn.Module.__name__
    try:
        yield [without_name(a) if travels_as_code(a) else a for a in arguments]
    finally:
        for kind, name in names:
            kind.__name__ = kind.__qualname__ = name


def without_name(thing):
    """A copy of a function that has no name of its own; all else as it is."""
    if not isinstance(thing, types.FunctionType):
        return thing
    code, named = thing.__code__, ("co_name", "co_qualname")
    code = code.replace(**{part: "function" for part in named if hasattr(code, part)})
    given = thing.__globals__, "function", thing.__defaults__, thing.__closure__
    copy = types.FunctionType(code, *given)
    copy.__kwdefaults__, copy.__module__ = thing.__kwdefaults__, thing.__module__
    return copy


# ---- in the other process


def serve(pipe, folder, closed):
    """Run cells, then what they define, on request."""
    if hasattr(os, "setsid"):
        os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    if hasattr(os, "fork"):  # what it has inherited leads to the processes of others
        os.closerange(3, pipe.fileno())
        os.closerange(pipe.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
    os.chdir(folder)
    tempfile.tempdir = folder
    leave_checks_to_the_judge()
    watch = guard.watched_calls.__wrapped__.__code__
    pipe.recv_bytes()
    confine([folder], closed, own=(watch, guard.time_limit.__wrapped__.__code__))
    pipe.send_bytes(pack(None))
    cells, name = cloudpickle.loads(pipe.recv_bytes())
    namespace = {"__name__": "__main__"}
    reply = defined(cells, name, namespace)
    answer = namespace.get(name)
    while True:
        try:
            reply = pack(reply)
        except Unreadable:
            reply = pack({"trouble": GARBLED, "kind": ""})
        pipe.send_bytes(reply)
        exercise, arguments, names = cloudpickle.loads(pipe.recv_bytes())
        reply = answered(exercise, answer, arguments, names)


def defined(cells, name, namespace):
    """Run cells as a notebook does and tell what they define as `name`."""
    namespace["get_ipython"] = lambda: Magics(namespace)
    stopped = None
    for cell in cells:
        try:
            run_cell(TransformerManager().transform_cell(cell), namespace)
        except BaseException as error:
            stopped = error
    if name not in namespace:
        why = f"There is no `{name}`. "
        if stopped:
            why += f"A cell before the check stops: {guard.raised(stopped, None).said}."
        kind = "missing" if stopped is None or isinstance(stopped, NameError) else ""
        return {"trouble": why.strip(), "kind": kind}
    if not callable(namespace[name]):
        return {"value": plainly(namespace[name])}
    try:
        parameters = [str(p) for p in inspect.signature(namespace[name]).parameters]
    except (TypeError, ValueError):
        parameters = []
    gap = guard.has_gap(namespace[name])
    return {"value": None, "parameters": parameters, "gap": gap}


class Magics:
    """Takes the place of a notebook's shell: magic lines do nothing, a cell below `%%time` runs."""

    def __init__(self, namespace):
        self.namespace = namespace

    def run_cell_magic(self, magic, line, body):
        if magic in ("time", "timeit", "capture", "prun"):
            run_cell(TransformerManager().transform_cell(body), self.namespace)

    def __getattr__(self, name):
        return lambda *_: None


def answered(exercise, answer, arguments, names):
    """What `run_guarded` finds, as plain data."""
    try:
        value, gradients = run_guarded(exercise, answer, arguments, math.inf, names)
    except Trouble as trouble:
        kind = "in place" if isinstance(trouble, ChangedInPlace) else ""
        return {"trouble": str(trouble), "kind": kind}
    except BaseException as error:
        return {"trouble": guard.raised(error, None).said, "kind": ""}
    if type(value) is Raised:
        return {"raised": tuple(value)}
    return {"value": value, "gradients": gradients}
