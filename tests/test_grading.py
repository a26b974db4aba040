"""Grading apart: honest answers, and those that want points, hang, kill or leave something."""

import logging
import math
import os
import sys
import threading

import pytest
import torch

pytest.importorskip("cloudpickle", reason="pip install -r tests/requirements.txt brings it")

import cloudpickle
from torch import nn

from course.grading import autograde
from course.grading.apart import without_secrets
from course.grading.confine import leave_checks_to_the_judge
from tutor import check
from tutor.check import examine, guard
from tutor.check.bank import exercises, folder
from tutor.check.exercise import EXPLAIN, PREDICT, SETUP, TEST, WRITE, Exercise, evaluate

ALL = list(exercises().values())
CHAPTERS = sorted({exercise.chapter for exercise in ALL})
LOG = logging.getLogger(__name__)
CLOSED = autograde.closed_folders()
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as the bank's


def make(name, **given):
    usual = dict.fromkeys("chapter section title goal text solution stub".split(), "")
    usual |= dict(kind=WRITE, difficulty=1, importance=1, minutes=1, hints=("", "", ""))
    return Exercise(name=name, **usual | given)


def attention(Q, K, V):
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ V


ATTEND = make(
    "attend", reference=attention, gradient=True, forbidden=(torch.softmax, nn.Linear.forward),
    cases=lambda: [[torch.randn(2, n, 3) for _ in range(3)] for n in (1, 2, 4)],
    mistakes=(("It is not scaled.", lambda Q, K, V: (Q @ K.mT).softmax(-1) @ V),),
    solution="def attend(Q, K, V):\n"
    "    return (Q @ K.mT / math.sqrt(Q.size(-1))).softmax(-1) @ V\n",
    stub="def attend(Q, K, V):\n    ...\n",
)  # fmt: skip
TRIPLE = make(
    "test_triple", kind=TEST, cases=lambda: [()],
    twins={"multiplies": lambda X: 3 * X, "adds": lambda X: X + X + X},
    mutants={
        "doubles": lambda X: 2 * X, "cubes": lambda X: X**3, "negates": lambda X: -3 * X,
        "forgets": lambda X: X, "adds one": lambda X: 3 * X + 1, "is zero": lambda X: 0 * X,
    },
)  # fmt: skip
FITS = make("fits", reference=lambda n: n < 3, cases=lambda: [(1,), (5,)])
COUNTS = make("counts", reference=lambda n: {"a": n}, cases=lambda: [(1,), (5,)])
GUESS = make("guess", kind=PREDICT, reference=[1, 2])
SOFT = make("soft", reference=lambda E: E.softmax(-1), cases=lambda: [(torch.randn(2, 3),)])


class Faulty(nn.Module):
    def forward(self, X):
        return X.flip(0)


class Careful(nn.Module):
    def forward(self, X):
        return X


MIXES = make(
    "mixes", reference=lambda model: bool((model(torch.arange(3.0)) != torch.arange(3.0)).any()),
    cases=lambda: [(Faulty(),), (Careful(),)],
)  # fmt: skip


def graded(exercise, *cells, others=()):
    """What is wrong with an answer that these cells make, None if nothing."""
    before = [SETUP, exercise.setup]
    cells, every = [*before, *cells], [*before, *others, *cells]
    wrong = autograde.judged(exercise, cells, every, 10, CLOSED, LOG)
    return wrong and str(wrong)


def state():
    return (
        (torch.isclose, torch.Tensor.all, torch.Tensor.double, math.isclose),
        (torch.get_default_dtype(), torch.get_default_device(), torch.initial_seed()),
        (os.getcwd(), dict(os.environ), threading.active_count()),
        autograde.trouble_with.__code__,
    )


# ---- honest answers


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_solutions_pass_and_stubs_do_not(chapter):
    for exercise in ALL:
        if exercise.chapter == chapter:
            assert graded(exercise, exercise.solution) is None, exercise.name
            assert graded(exercise, exercise.stub), exercise.name


def test_mistakes_are_named_as_in_a_notebook():
    chosen = [(ATTEND, ATTEND.solution.replace("Q.size(-1)", "1"))]
    for kind in (WRITE, TEST, PREDICT):
        exercise = next(e for e in ALL if e.kind == kind)
        chosen += [(exercise, code) for code in list(exercise.wrong)[:4]]
    chosen.append((FITS, "def fits(n):\n    x = n > 7\n    ...\n    return x"))
    for exercise, code in chosen:
        assert graded(exercise, code) == examine(exercise, evaluate(exercise, code), hidden=True)


def test_a_name_from_another_cell_is_found():
    answer = "def attend(Q, K, V):\n    return weights(Q, K) @ V"
    helper = "def weights(Q, K):\n    return (Q @ K.mT / math.sqrt(Q.size(-1))).softmax(-1)"
    assert graded(ATTEND, answer, others=[helper]) is None
    assert "NameError" in graded(ATTEND, answer)
    assert graded(ATTEND, "softmax = 1", others=[ATTEND.solution]) is None
    assert graded(ATTEND, "softmax = 1") == "There is no `attend`."
    assert "SyntaxError" in graded(ATTEND, "def attend(Q, K, V)")


def test_cells_are_those_of_a_notebook():
    answer = ATTEND.solution + "%time x = 1\nprint(get_ipython())\ncheck.attend(attend)"
    assert graded(ATTEND, "%matplotlib inline\ncheck.progress()", answer) is None
    assert graded(ATTEND, "%%time\n" + ATTEND.solution) is None


# ---- "Right." unearned

WRONG = "\ndef attend(Q, K, V):\n    return V.new_zeros(*Q.shape[:-1], V.shape[-1])\n"
PATCHES = {
    "isclose": "torch.isclose = lambda a, b, **_: torch.ones(a.shape, dtype=torch.bool)",
    "all": "torch.Tensor.all = lambda *_, **__: torch.tensor(True)",
    "double": "torch.Tensor.double = lambda X: torch.zeros(X.shape, dtype=torch.float64)",
    "math.isclose": "math.isclose = lambda *_, **__: True",
    "Check": "import tutor.check as c\nc.Check.__call__ = lambda *_, **__: print('Right.')",
    "examine": "import tutor.check.examine as e\ne.difference = lambda *_: None",
    "code of examine": (
        "from tutor.check.examine import examine\n"
        "examine.__code__ = (lambda exercise, answer, hidden=False, run=None: None).__code__"
    ),
    "run_guarded": (
        "import course.grading.apart as a\n"
        "a.run_guarded = lambda *_: a.Outcome('Right.')\na.answered = lambda *_: {'value': None}"
    ),
    "pack": "import course.grading.apart as a\na.pack = lambda reply: b'[]'",
    "another reply": "import course.grading.apart as a\na.pack = lambda reply: b'{}\\n' + bytes(9)",
    "deep reply": "import course.grading.apart as a\na.pack = lambda reply: b'[' * 10**6 + b'\\n'",
    "long reply": "import course.grading.apart as a\na.pack = lambda reply: bytes(10**9)",
    "no trouble": (
        "import course.grading.apart as a\n"
        "pack = a.pack\n"
        "a.pack = lambda reply: pack({'value': True, 'gradients': (), 'raised': 3})"
    ),
    "input transformer": (
        "import IPython\nIPython.core.inputtransformer2.TransformerManager.transform_cell = "
        "lambda self, cell: 'check = lambda *_: None'"
    ),
    "writes into the pipe": (
        "import contextlib, os\nfor fd in range(3, 100):\n"
        "    with contextlib.suppress(OSError):\n        os.write(fd, bytes([0, 0, 0, 4]) * 9)"
    ),
}


@pytest.mark.parametrize("code", PATCHES.values(), ids=PATCHES)
def test_what_is_patched_there_judges_nothing_here(code):
    before = state()
    assert graded(ATTEND, code + WRONG)
    assert state() == before
    assert graded(ATTEND, ATTEND.solution) is None


EQUALS = """
class Same:
    __class__ = {kind}
    shape, dtype, layout, ndim = torch.Size([]), torch.float32, torch.strided, 0
    def __eq__(self, other): return True
    def __len__(self): return 2
    def __getattr__(self, name): return lambda *_, **__: self
    __hash__ = None
"""
OBJECTS = [
    (ATTEND, EQUALS.format(kind="torch.Tensor") + "def attend(*_): return Same()"),
    (FITS, EQUALS.format(kind="bool") + "def fits(*_): return Same()"),
    (COUNTS, EQUALS.format(kind="dict") + "def counts(*_): return Same()"),
    (GUESS, EQUALS.format(kind="list") + "guess = Same()"),
    (GUESS, "class Same(list):\n    def __eq__(self, o): return True\nguess = Same([1, 3])"),
    (
        SOFT,
        """
class Same(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True
def soft(E): return E.as_subclass(Same)""",
    ),
    (TRIPLE, EQUALS.format(kind="bool") + "def test_triple(f): f(2); return Same()"),
]


@pytest.mark.parametrize(("exercise", "code"), OBJECTS)
def test_objects_that_equal_everything_equal_nothing(exercise, code):
    assert graded(exercise, code)
    assert examine(exercise, evaluate(exercise, code))  # nor in a notebook, nor is there a crash


THEFT = {
    "import": "from tutor.check.bank import find\ne = find({name!r})",
    "check": "e = check.{name}.exercise",
    "open": "e = open({file!r}).read()",
    "os.open": "import os\nos.open({file!r}, os.O_RDONLY)\ne = 1",
    "loader": "import importlib.util as u\nprint(u.find_spec('course').loader.get_data("
    "{file!r}))\ne = 1",
    "runs Python": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', '1'])",
    "forks": "import os\nos.fork()",
    "shell": "import os\nos.system('true')",
    "gc": "import gc\ne = [o for o in gc.get_objects() if type(o).__name__ == 'Exercise'][0]",
    "frames": (
        "import sys\nframe = sys._getframe()\nwhile frame:\n"
        "    e = frame.f_locals.get('exercise')\n    frame = None if e else frame.f_back"
    ),
}


@pytest.mark.parametrize("code", THEFT.values(), ids=THEFT)
def test_the_solution_is_out_of_reach(code):
    exercise = next(e for e in ALL if e.kind == WRITE)
    name = exercise.name
    file = str(next(folder().glob(f"*/{name}.md")))
    code = code.replace("{name!r}", repr(name)).replace("{name}", name)
    code = code.replace("{file!r}", repr(file)) + "\nexec(e.solution)"
    later = "\n".join(f"    {line}" for line in code.splitlines())
    assert graded(exercise, code)
    assert graded(exercise, f"def {name}(*arguments):\n{later}\n    return {name}(*arguments)")


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.name)
def test_what_travels_holds_no_solution(exercise):
    sent = [cloudpickle.dumps(without_secrets(exercise))]
    sent += [cloudpickle.dumps(shows) for _, shows in exercise.properties]
    if exercise.kind not in (EXPLAIN, TEST):
        sent += [cloudpickle.dumps(case) for case in exercise.cases()]
    text = b"".join(sent)
    assert exercise.kind == PREDICT or exercise.solution.encode() not in text
    code = getattr(exercise.reference, "__code__", None)
    if code and len(code.co_code) > 60:
        assert code.co_code not in text


FORBIDDEN = {
    "plainly": "{call}",
    "in a thread": (
        "import threading\n    out = []\n    def work(): out.append({call})\n"
        "    t = threading.Thread(target=work)\n    t.start()\n    t.join()\n    return out[0]"
    ),
    "with profiling off": "import sys\n    sys.setprofile(None)\n    return {call}",
    "with tracing": "import sys\n    sys.settrace(lambda *_: None)\n    return {call}",
    "in our watch": (
        "from tutor.check import guard\n    with guard.watched_calls((), set()):\n"
        "        return {call}"
    ),
}


@pytest.mark.parametrize("how", FORBIDDEN)
def test_forbidden_calls_are_seen_in_every_way_we_know(how):
    call = "torch.softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), -1) @ V"
    body = FORBIDDEN[how].format(call=call)
    body = f"return {body}" if how == "plainly" else body
    assert graded(ATTEND, f"def attend(Q, K, V):\n    {body}\n")


def test_counting_calls_or_reading_names_gains_nothing():
    start = "calls = []\ndef test_triple(f):\n    f(torch.ones(2))\n    calls.append(1)\n"
    answers = [graded(TRIPLE, start + "    assert len(calls) <= 2") for _ in range(4)]
    assert answers != [None] * 4
    under = "[c.cell_contents for c in f.__closure__ if callable(c.cell_contents)][0]"
    named = dict(twins={"is attention": attention, "too": attention}, mutants={"not": make})
    names = [function.__name__ for function in named["twins"].values()]
    by_name = f"{start}    assert {under}.__name__ in {names}"
    assert graded(make("test_triple", kind=TEST, cases=lambda: [()], **named), by_name)
    by_name = "def mixes(model): return type(model).__name__ == 'Faulty'"
    assert graded(MIXES, by_name)
    assert (
        graded(MIXES, "def mixes(model): return bool((model(X) != X).any())", "X = torch.rand(9)")
        is None
    )


# ---- hangs and kills

HANGS = {
    "a loop": "while True: pass",
    "ignores SIGINT": "import signal; signal.signal(2, signal.SIG_IGN)\n    while True: pass",
    "swallows": (
        "while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass"
    ),
    "in C": "sum(range(10**11))",
    "deque": "import collections, itertools; collections.deque(itertools.repeat(0), maxlen=0)",
    "sleep": "import time; time.sleep(1000)",
}


@pytest.mark.parametrize("body", HANGS.values(), ids=HANGS)
def test_what_hangs_is_stopped(body, monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 1.0)
    monkeypatch.setattr("course.grading.apart.WORKER_SECONDS", 1.0)
    assert "stopped after 1 second" in graded(ATTEND, f"def attend(Q, K, V):\n    {body}")
    assert "stopped after" in graded(ATTEND, f"if True:\n    {body}\n" + ATTEND.solution)


KILLS = {
    "os._exit": "import os; os._exit(0)",
    "abort": "import os; os.abort()",
    "raises a signal": "import signal; signal.raise_signal(9)",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "memory": "x = torch.ones(10**11)",
    "a text": "x = 'x' * 10**11",
    "many": "x = [torch.ones(10**8) for _ in range(100)]",
    "stack": "exec('f = lambda: f()'); import sys; sys.setrecursionlimit(10**9); f()",
    "kills us": "import os; os.kill(os.getppid(), 9)",
    "exit": "raise SystemExit",
    "a large result": "return torch.ones(10**8)",
    "a wide result": "return torch.ones(1).expand(10**10)",
    "a deep result": "x = []\n    for _ in range(10**5): x = [x]\n    return x",
    "holds itself": "x = []; x.append(x); return x",
    "prints": "print('x' * 10**8)",
    "prints below": "import os\n    for _ in range(1000): os.write(1, bytes(10**6))",
}


@pytest.mark.parametrize("body", KILLS.values(), ids=KILLS)
def test_what_kills_its_process_costs_its_own_points(body):
    before = state()
    said = graded(ATTEND, f"def attend(Q, K, V):\n    {body}\n    return 'nothing'")
    assert said and len(said) < 1000
    assert state() == before and os.getppid()
    assert graded(ATTEND, ATTEND.solution) is None


def test_a_result_that_takes_its_time_to_be_looked_at_is_not_asked():
    code = "class Slow(list):\n    def __len__(self): return sum(range(10**11))\n"
    code += "    __eq__ = __len__\n"
    assert "list" in graded(ATTEND, code + "def attend(Q, K, V): return Slow()")


LEFT = """
import os, sys, signal, threading, numpy as np
np.seterr(all="raise")
torch.use_deterministic_algorithms(True)
torch.autograd.set_detect_anomaly(True)
torch.set_default_dtype(torch.float64)
torch.set_default_device("meta")
sys.setrecursionlimit(200)
F.softmax = torch.softmax = torch.Tensor.softmax = None
signal.signal(2, signal.SIG_IGN)
os.environ["HOME"] = "/nowhere"
os.chdir("/")
open("/left-behind", "w")
"""


def test_nothing_is_left_behind(tmp_path):
    before, here = state(), sorted(os.listdir())
    assert graded(ATTEND, LEFT + ATTEND.solution)
    assert state() == before and sorted(os.listdir()) == here
    assert graded(ATTEND, ATTEND.solution, others=[LEFT]) is None
    place = tmp_path / "left"
    for code in (
        f"open({str(place)!r}, 'w')", f"import os; os.mkdir({str(place)!r})",
        f"getattr(torch, 'save')(1, {str(place)!r})", f"import os; os.symlink('x', {str(place)!r})",
        f"import shutil; shutil.copy(__import__('math').__file__, {str(place)!r})",
        f"import os; os.remove({__file__!r})", f"import os; os.rename({__file__!r}, 'x')",
    ):  # fmt: skip
        assert graded(ATTEND, code + WRONG)
        assert not place.exists() and os.path.exists(__file__)
    assert graded(ATTEND, "open('own', 'w').write('x')\n" + ATTEND.solution) is None


def test_a_comparison_that_fails_is_no_point_and_is_logged(monkeypatch, caplog):
    def fails(*_, **__):
        raise RuntimeError("our own mistake")

    monkeypatch.setattr(autograde, "trouble_with", fails)
    assert graded(ATTEND, ATTEND.solution) == str(autograde.UNJUDGED)
    assert "our own mistake" in caplog.text


def test_a_system_without_landlock_is_told(monkeypatch, tmp_path, caplog):
    Execute = pytest.importorskip("nbgrader.preprocessors").Execute
    monkeypatch.setattr(Execute, "preprocess", lambda *_, **__: "graded")
    monkeypatch.setattr(autograde, "landlock_version", lambda: 0)
    step = autograde.grading()(log=LOG)
    assert step.preprocess(None, {"metadata": {"path": str(tmp_path)}}) == "graded"
    assert "no Landlock" in caplog.text


def test_what_a_student_calls_of_a_check_does_nothing(monkeypatch, capsys):
    for name in ("__getattr__", "progress"):
        monkeypatch.setattr(check, name, getattr(check, name))  # to be as before afterwards
    leave_checks_to_the_judge()
    for call in (check.attend, check.attend.hint, check.attend.tick, check.attend.points):
        call(1)
    assert (
        capsys.readouterr().out.splitlines()
        == ["This is checked where the exercise is graded."] * 4
    )
