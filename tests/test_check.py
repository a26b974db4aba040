"""The checks of the exercises, themselves checked: the bank, hostile answers, the notebooks."""

import ast
import dataclasses
import functools
import importlib
import json
import re
import signal
import sys
import textwrap
import threading
import time
from decimal import Decimal
from fractions import Fraction
from unittest.mock import ANY

import house_rules
import nbformat
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from house_rules import Page

import tutor
from course.audit import ONE_IN, ZERO, audit, enough_named, main
from course.build import __main__ as build
from course.build import exercises as notebooks
from tutor import check
from tutor.check import examine, guard
from tutor.check.bank import exercises, on_page, order
from tutor.check.examine import CASES_SEED, describe, draw
from tutor.check.exercise import (
    EXPLAIN,
    KINDS,
    MEND,
    PREDICT,
    TEST,
    WRITE,
    Exercise,
    evaluate,
    run_cell,
)
from tutor.check.explain import misconception

ALL = list(exercises().values())
CHAPTERS = sorted({exercise.chapter for exercise in ALL})
each = pytest.mark.parametrize("exercise", ALL, ids=[f"ch{e.chapter}-{e.name}" for e in ALL])


# ---- the bank


@functools.cache  # two tests ask for the same, and it takes minutes
def audited(exercise):
    """(what the audit counts, what it says) of an exercise; its mutants are tried at night."""
    said = []
    return audit([exercise], said.append, mutate=False), "\n".join(said)


@each
def test_bank(exercise, monkeypatch):
    """Right answers pass, blank ones fail, and wrong ones are told their mistake."""
    monkeypatch.setattr(guard, "SECONDS", 60.0)  # a busy machine may take its time
    counts, said = audited(exercise)
    assert not any(counts[defect] for defect in ZERO), said


def test_few_wrong_answers_are_told_only_numbers():
    counts = [audited(exercise)[0] for exercise in ALL]
    assert enough_named(
        {key: sum(each[key] for each in counts) for key in ("generic", "wrong_answers")}
    )


@each
def test_answers_are_written_apart(exercise):
    assert all(exercise.wrong.values())
    if exercise.kind == TEST:
        assert len(exercise.mutants) <= 10
        assert not exercise.twins.keys() & exercise.mutants.keys()
    codes = [exercise.solution, *exercise.right, *exercise.wrong]
    bodies = set(map(house_rules.bare, codes))
    assert len(bodies) == len(codes)


# ---- the texts


@each
def test_what_the_learner_reads(exercise):
    assert exercise.kind in KINDS and exercise.name.isidentifier()
    assert exercise.name not in {*check.__all__, "exercise", "explain", "guard", "words"}
    if exercise.name not in on_page(exercise.chapter):  # a page may arrive at the package's own
        assert exercise.name not in tutor.__all__
    assert exercise.difficulty in range(1, 6) and exercise.importance in range(1, 6)
    assert 1 <= exercise.minutes <= 60 and exercise.goal.endswith(".")
    assert len(exercise.hints) == 3
    if exercise.kind == EXPLAIN:
        assert 3 <= len(exercise.points) <= 5 and exercise.misconceptions
        assert len(set(exercise.questions)) == len(exercise.points)
        told = [message for _, message in exercise.misconceptions]
        assert all(said.endswith(".") for said in (*exercise.points, *told))
        # printed as it is, and to those as well who do not hold it
        assert not any(said.startswith("Your") or "$" in said for said in told)
    else:
        assert not (exercise.points or exercise.misconceptions or exercise.rubric)
    for message, _ in (*exercise.mistakes, *exercise.properties):
        assert message.endswith(".") and len(message) < 250
    if exercise.kind in (WRITE, TEST):
        assert re.search(r"raise NotImplementedError|\.\.\.", exercise.stub)
    if exercise.kind in (WRITE, MEND, TEST):
        code = ast.parse(exercise.stub)
        function = next(n for n in code.body if getattr(n, "name", "") == exercise.name)
        assert ast.get_docstring(function)


@each
def test_what_is_forbidden_is_announced(exercise):
    """Functions of `tutor` by the opening of the notebook, those of PyTorch by the task."""
    names = [
        function.__qualname__.split(".")[0]
        for function in exercise.forbidden
        if not (function.__module__ or "torch").startswith("tutor")
    ]
    assert not names or any(name in exercise.text + exercise.stub for name in names), names
    opening = notebooks.opening("02_single_head_attention", [exercise], solved=False)
    assert "does not call what `tutor` has for the same purpose" in opening


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: f"ch{chapter}")
def test_chapter_has_five_to_twelve_exercises(chapter):
    """Those on the page are among the five; at least two stand in the notebook."""
    assert 2 <= len(order(chapter)) <= 12 and len(order(chapter)) + len(on_page(chapter)) >= 5
    assert not {*order(chapter)} & {*on_page(chapter)}


# ---- the notebooks

PAGES = [(chapter, folder) for chapter in CHAPTERS for folder in ("exercises", "solutions")]
pages = pytest.mark.parametrize(
    ("chapter", "folder"), PAGES, ids=[f"ch{chapter}-{folder}" for chapter, folder in PAGES]
)
RULES = (
    *(house_rules.small, house_rules.plain_words, house_rules.short_sentences),
    *(house_rules.links_resolve, house_rules.alt_texts, house_rules.no_remote_pictures),
    *(house_rules.no_machine_in_outputs, house_rules.shapes_said, house_rules.nbval_can_follow),
)


def load(chapter, folder):
    path = house_rules.NOTEBOOKS / folder / f"{notebooks.page_of(chapter)}.ipynb"
    return Page(nbformat.read(path, as_version=4), name=path.stem, folder=path.parent)


@pages
def test_notebook_is_made_from_the_module(chapter, folder):
    here = load(chapter, folder).notebook
    there = notebooks.chapter_notebook(chapter, solved=folder == "solutions")
    nbformat.validate(here)
    cells = [[(c.cell_type, c.id, c.source, c.metadata) for c in n.cells] for n in (here, there)]
    assert cells[0] == cells[1], f"run python -m course.build exercises {chapter}"
    assert here.metadata == there.metadata
    code = [cell for cell in here.cells if cell.cell_type == "code"]
    if folder == "exercises":
        assert not any(cell.outputs or cell.execution_count for cell in code)
    else:  # nbval executes it and compares
        assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
        checks = [cell for cell in code if cell.source.startswith("check.")]
        well = ("Right.", "Noted.", "Compare.")
        assert checks and all(cell.outputs[0].text.startswith(well) for cell in checks)


@pages
def test_notebook_keeps_the_rules(chapter, folder):
    page = load(chapter, folder)
    assert [said for rule in RULES for said in rule(page)] == []
    for _, cell in page.cells("code"):
        assert len(cell.source.splitlines()) <= house_rules.MAX_LINES


def test_build_sees_what_is_out_of_date_and_refuses_a_wrong_solution(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "02_page.md").write_text("# 02 · A page\n", encoding="utf-8")
    sample = make(stub="triple = None", solution="triple = 4", kind=PREDICT, reference=3)
    monkeypatch.setattr(notebooks, "of_chapter", lambda chapter: [sample])

    def execute(notebook, *_, **__):
        for cell in notebook.cells[1:]:
            if cell.cell_type == "code":
                cell.outputs = [nbformat.v4.new_output("stream", text="Not yet. That is not it.")]

    monkeypatch.setattr(notebooks, "execute", execute)
    assert build.main(["exercises", "02"]) == 1
    assert [path.parent.name for path in tmp_path.rglob("*.ipynb")] == ["exercises"]
    assert "Not yet. That is not it. The notebook was left as it was." in capsys.readouterr().err
    assert build.main(["exercises", "02", "--check"]) == 1  # the solutions are missing
    assert "exercises/02_page.ipynb: up to date" in capsys.readouterr().out


# ---- the engine: a small exercise of its own


def make(**fields):
    """An exercise: three times a tensor."""
    filled = dict(
        name="triple", chapter="02", section="In code", kind=WRITE, title="Three times", goal="Go.",
        difficulty=1, importance=1, minutes=1, text="", hints=("", "", ""),
        stub="def triple(X): raise NotImplementedError",
        solution="def triple(X): return 3 * X",
        reference=lambda X: 3 * X,
        cases=lambda: [(torch.tensor([1.0, 2.0]),), (torch.randn(2, 3),)],
        mistakes=(("You doubled.", lambda X: 2 * X), ("You cubed.", lambda X: X**3)),
    )  # fmt: skip
    return Exercise(**(filled | fields))


TRIPLE = make()
GLOBAL = torch.zeros(2)


def program(code, name="triple", argument="X"):
    """The function with this body, or of this cell; an answer that is no text as it is."""
    if not isinstance(code, str):
        return code
    body = textwrap.indent(code, "    ")
    namespace = dict(globals())
    whole = code.startswith(f"def {name}(")
    run_cell(code if whole else f"def {name}({argument}):\n{body}", namespace)
    return namespace[name]


class DotsInAMethod:
    def __init__(self, X):
        self.X = X

    def shape(self): ...


never_ends = program("while True: pass")
blank = program("raise NotImplementedError")
HOSTILE = {
    blank: "put your lines in place of `raise NotImplementedError`",
    '"""Three times X."""\n...  # one line': "put your lines in place of `...`",
    "Y = ...  # Y is X, three times\nreturn Y + X": "put your lines in place of `...`",
    "Y = X + X\nreturn ...": "put your lines in place of `...`",
    "Y = 2 * X\n...\nreturn Y": "put your lines in place of `...`",
    "def once(Y): ...\nreturn once(X) * 3": "put your lines in place of `...`",
    DotsInAMethod: "put your lines in place of `...`",
    "sys.exit(0)": "leaves the program",
    never_ends: "was stopped after 0.3 seconds",
    "while True:\n    try:\n        while True: pass\n    except: pass": "was stopped after 0.3 s",
    "while True:\n    try: time.sleep(9)\n    except BaseException: pass": "was stopped after 0.3",
    "return triple(X)": "calls itself without end",
    "while True: print('word ' * 1000)": "prints more than 20,000 characters",
    "while True:\n    try: print('word ' * 1000)\n    except: continue": "was stopped after 0.3 s",
    "sys.stderr.write('word' * 1_000_000)\nreturn 3 * X": "prints more than 20,000 characters",
    "X *= 3\nreturn X": "changes its argument `X`",
    "torch.manual_seed(7)\nreturn 3 * X": "changes the random state of PyTorch",
    "import random\nrandom.random()\nreturn 3 * X": "changes the random state of Python",
    "np.random.rand()\nreturn 3 * X": "changes the random state of NumPy",
    "torch.set_default_dtype(torch.float64)\nreturn 3 * X": "changes the default dtype",
    "torch.set_grad_enabled(False)\nreturn 3 * X": "changes whether gradients are computed",
    "GLOBAL.add_(1)\nreturn 3 * X": "changes the global tensor `GLOBAL`",
    "return TRIPLE.reference(X)": "calls the solution of this check",
    "return X[7] * 3": "IndexError: index 7 is out of bounds for dimension 0 with size 2, in the "
    "line `return X[7] * 3`",
    "raise GeneratorExit": "raises GeneratorExit",
    lambda X: None: "is a `return` missing",
    lambda X: X.tolist(): "a list; a tensor is wanted",
    lambda X: 3 * X.numpy(): "a NumPy array; a tensor is wanted",
    lambda X: (3 * X).long(): "torch.int64; a float dtype is wanted",
    lambda X: 3 * X[None]: "of shape (1, 2); (2,) is wanted",
    lambda X: X / 0: "at [0] is inf, not 3",
    lambda X: X * torch.nan: "at [0] is nan, not 3",
    lambda X, Y: X: "missing 1 required positional argument: 'Y'",
    lambda X: 2 * X: "You doubled.\nExample: with X = [1, 2], your result at [0] is 2, not 3.",
    lambda X: X**3: "You cubed.\nExample: with X = [1, 2], your result at [0] is 1, not 3.",
    lambda X: 3 * X + (X.dim() > 1): "with X = [[",  # the first case is right
    lambda X: 4 * X: "Your result at [0] is 4, not 3.\nExample: with X = [1, 2].",
    torch.ones(2): "Hand over `triple` itself, without brackets behind it; this is a tensor",
    None: "Hand over `triple` itself",
}


@pytest.mark.parametrize("answer", HOSTILE, ids=[f"{i:02}" for i in range(len(HOSTILE))])
def test_hostile_answer_becomes_one_message_and_leaves_no_trace(answer, monkeypatch, capsys):
    if "was stopped" in HOSTILE[answer]:
        monkeypatch.setattr(guard, "SECONDS", 0.3)
    streams, profile, before = (sys.stdout, sys.stderr), sys.getprofile(), guard.state()
    check.Check(TRIPLE)(program(answer))
    assert HOSTILE[answer] in capsys.readouterr().out
    assert (sys.stdout, sys.stderr) == streams and sys.getprofile() is profile
    assert not guard.changed(before, guard.state())
    time.sleep(0.06)  # no interrupt is on its way


def test_imports_do_not_count_as_time_of_the_answer(monkeypatch, tmp_path):
    """The first optimiser or padding mask of a process imports for seconds; here 1.4 s each."""
    for i in range(3):
        (tmp_path / f"slow_{i}.py").write_text("import time; time.sleep(1.4)", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(guard, "SECONDS", 1.2)
    slow = iter(range(3))

    def imports_first(X):
        if X.dim() == 1:
            __import__(f"slow_{next(slow)}")
        return 3 * X

    def rests(X):
        time.sleep(0.7)
        return 3 * X

    assert examine(make(reference=imports_first), lambda X: 3 * X) is None
    assert examine(TRIPLE, imports_first) is None
    assert "was stopped" in examine(TRIPLE, lambda X: never_ends(imports_first(X)))
    assert "was stopped" in examine(TRIPLE, rests)  # the cases share the time


def test_a_late_signal_does_not_disturb_the_end_of_the_clock(monkeypatch):
    """In the middle of `join` it would leave a lock locked, and the next `join` would wait."""
    joined = []

    class Clock(threading.Thread):
        def join(self):
            joined.append(self)
            if len(joined) == 1:
                signal.raise_signal(signal.SIGINT)
            super().join()

    monkeypatch.setattr(guard.threading, "Thread", Clock)
    monkeypatch.setattr(guard, "SECONDS", 0.3)
    assert "was stopped after 0.3 seconds" in examine(TRIPLE, never_ends)
    assert len(joined) == 1


def test_time_limit_without_posix_signals(monkeypatch):
    monkeypatch.delattr("signal.pthread_kill", raising=False)
    monkeypatch.setattr(guard, "SECONDS", 0.3)
    assert "was stopped after 0.3 seconds" in examine(TRIPLE, never_ends)


class Shell:
    """What the guard needs to know of a notebook's IPython."""

    def __init__(self):
        self.display_pub = Publisher()

    def ask_exit(self):
        pytest.fail("the kernel ends")


class Publisher:
    def publish(self, data):
        pytest.fail("the page shows it")


def test_a_notebook_neither_ends_nor_fills_up(monkeypatch):
    shell = Shell()
    monkeypatch.setattr(guard, "get_ipython", lambda: shell)
    assert "leaves the program" in examine(TRIPLE, lambda X: shell.ask_exit())
    big = {"text/plain": "word" * 10_000}
    assert "prints more" in examine(TRIPLE, lambda X: shell.display_pub.publish(big))
    assert list(vars(shell)) == ["display_pub"] and vars(shell.display_pub) == {}


def test_interruption_by_the_learner_is_not_swallowed():
    def interrupted(X):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        examine(TRIPLE, interrupted)


def test_answers_that_differ_in_nothing_that_matters_pass():
    def talks(X):
        print("looking at", X)
        return 3 * X

    rest = (
        lambda X: 3 * X.double(),
        lambda X: X + X + X,
        program("...\nreturn 3 * X[..., :]"),
        torch.nn.Identity(),
    )
    for answer in (talks, *rest):
        wanted = make(reference=lambda X: X) if isinstance(answer, torch.nn.Module) else TRIPLE
        assert examine(wanted, answer) is None


def test_every_pass_sees_the_same_inputs_and_hidden_ones_are_others():
    seen = []

    def answer(X):
        seen.append(X.detach().clone())
        return 3 * X

    for hidden in (False, False, True):
        examine(make(gradient=True), answer, hidden=hidden)
    visible, again, others = seen[1::2]
    assert torch.equal(visible, again) and not torch.equal(visible, others)


def test_gradients_of_several_results_are_compared():
    exercise = make(reference=lambda X: (X, 2 * X), mistakes=(), gradient=True)
    assert examine(exercise, lambda X: [X * 1, X + X]) is None
    for cut in (lambda X: (X.detach(), 2 * X), lambda X: (X, 2 * X.detach())):
        assert "the gradient of `X`" in examine(exercise, cut)


def test_a_view_that_a_loop_gave_is_told_where_gradients_flow():
    def doubles(X):
        Y = X.clone()
        for y in Y:
            y *= 2
        return Y

    exercise = make(reference=lambda X: 2 * X, mistakes=())
    assert examine(exercise, doubles) is None
    said = examine(dataclasses.replace(exercise, gradient=True), doubles)
    assert "Write into the tensor itself" in said


@pytest.mark.parametrize("answer", [3.0, np.float64(3)])
def test_a_float_is_no_whole_number_but_in_a_prediction(answer):
    exercise = make(reference=lambda X: 3, mistakes=())
    assert "a whole number, an int, is wanted" in examine(exercise, lambda X: answer)
    assert examine(make(kind=PREDICT, reference=3, mistakes=()), answer) is None


def test_gradients_are_compared():
    exercise = make(gradient=True)
    assert examine(exercise, lambda X: 3 * X) is None
    said = examine(exercise, lambda X: 3 * X.detach())
    assert "the gradient of `X` is missing" in said
    said = examine(exercise, lambda X: X + 2 * X.detach())
    assert "the gradient of `X` at [0] is" in said
    assert "changes its argument" in examine(exercise, lambda X: X.mul_(3))


def test_all_results_are_compared_before_any_gradient():
    """A wrong gradient of the first case says less than a wrong result of the last."""
    exercise = make(gradient=True, mistakes=())

    def answer(X):
        return 3 * X.detach() + (X.dim() > 1)

    assert "your result at [0, 0] is" in examine(exercise, answer).lower()


@pytest.mark.parametrize("wanted", [3.0, torch.inf, torch.nan])
@pytest.mark.parametrize("got", [3.0, torch.inf, -torch.inf, torch.nan])
@pytest.mark.parametrize("of", [torch.tensor, list])
def test_nan_and_inf_equal_only_themselves_in_the_same_place(of, got, wanted):
    exercise = make(reference=lambda X: of([1.0, wanted]), mistakes=())
    assert (examine(exercise, lambda X: of([1.0, got])) is None) == (str(got) == str(wanted))
    assert examine(exercise, lambda X: of([got, 1.0]))


class NoWayBack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, X):
        return 3 * X

    @staticmethod
    def backward(ctx, G):
        raise ValueError("no way back")


IN_PLACE = {
    "A = X.softmax(-1)\nA *= 3\nreturn A": "You change the result of `softmax` in the line "
    "`A *= 3`, and PyTorch still",
    "A = X.softmax(-1)\nA[..., 0] = 0\nreturn A": "of `softmax` in the line `A[..., 0] = 0`",
    "A = torch.softmax(X, -1)\nreturn A.masked_fill_(X > 1, 0.0)": "the result of `softmax` in the "
    "line `return A.masked_fill_(X > 1, 0.0)`",
    "E = X.exp()\nE /= E.sum(-1, keepdim=True)\nreturn E": "the result of `exp` in the line "
    "`E /= E.sum(-1, keepdim=True)`",
    "X = X.tanh()\nX *= 2\nreturn X": "the result of `tanh` in the line `X *= 2`",
    "log_p = X.log_softmax(-1)\nlog_p[X > 1] = 0\nreturn log_p": "the result of `log_softmax` in "
    "the line `log_p[X > 1] = 0`",
    "E = 3 * X\nY = E**2\nE += 1\nreturn Y": "a tensor that an earlier step used in the line "
    "`E += 1`",
    "A = X.sigmoid()\nF.relu(A, inplace=True)\nreturn A": "PyTorch still needs it to compute the "
    "gradient: make a new tensor",
}


@pytest.mark.parametrize("answer", IN_PLACE, ids=[f"{i:02}" for i in range(len(IN_PLACE))])
@pytest.mark.parametrize("gradient", [True, False], ids=["compared", "not compared"])
def test_a_result_without_backward_pass_is_told_its_line(answer, gradient):
    """Autograd raises long after the answer has returned; here even where nobody asks for it."""
    change = program(answer)
    plain = make(reference=lambda X: change(X.detach()), mistakes=(), gradient=gradient)
    assert IN_PLACE[answer] in examine(plain, change)


def test_a_backward_pass_that_fails_otherwise_is_told_too():
    exercise = make(gradient=True, mistakes=())
    assert "`backward` fails on your result: ValueError: no way back." in examine(
        exercise, NoWayBack.apply
    )
    exercise = make(gradient=True, mistakes=(), reference=lambda X: (X**2).sum())
    takes_it = program("loss = (X**2).sum()\nloss.backward()\nreturn loss")
    assert "calls `backward` itself" in examine(exercise, takes_it)


def test_ways_that_know_no_gradients_pass_where_nobody_compares_them():
    def with_numpy(X):
        return torch.from_numpy(3 * X.numpy())

    assert examine(TRIPLE, with_numpy) is None
    assert "NumPy knows no gradients" in examine(make(gradient=True), with_numpy)


def test_sparse_gradients_are_compared_and_sparse_results_named():
    ids = torch.tensor([0, 2, 2])
    exercise = make(
        reference=lambda W: W[ids], cases=lambda: [(torch.randn(4, 3),)], mistakes=(),
        gradient=True,
    )  # fmt: skip
    assert examine(exercise, lambda W: F.embedding(ids, W, sparse=True)) is None
    assert "the gradient of `W` at [0, 0]" in examine(
        exercise, lambda W: F.embedding(ids, W, sparse=True) * 2 - W[ids].detach()
    )
    assert "a sparse tensor (`.to_dense()` makes an ordinary one); a tensor" in examine(
        exercise, lambda W: W[ids].to_sparse()
    )


def test_gradients_of_parameters_are_compared():
    exercise = make(
        reference=lambda layer, X: layer(X), mistakes=(), gradient=True,
        cases=lambda: [(torch.nn.Linear(2, 2), torch.randn(1, 2))],
    )  # fmt: skip
    assert examine(exercise, lambda layer, X: F.linear(X, layer.weight, layer.bias)) is None
    assert "the gradient of `layer.weight` is missing" in examine(
        exercise, lambda layer, X: F.linear(X, layer.weight.detach(), layer.bias)
    )


def test_settings_of_a_module_are_no_answers_to_change():
    """Also those of its parts, as `batch_first` of the attention in a layer."""

    def turned(layer, X):
        layer[0].batch_first = False
        return X

    layer = torch.nn.Sequential(torch.nn.MultiheadAttention(2, 1, batch_first=True))
    exercise = make(
        reference=lambda layer, X: X, cases=lambda: [(layer, torch.ones(2))], mistakes=()
    )
    for answer in (turned, lambda layer, X: layer.eval() and X):
        said = examine(exercise, answer)
        assert "changes its argument `layer`. The caller still needs it: leave its param" in said


def test_no_gradient_is_as_good_as_one_of_zeros():
    exercise = make(reference=lambda X: torch.ones_like(X), mistakes=(), gradient=True)
    assert examine(exercise, lambda X: 0 * X + 1) is None
    said = examine(exercise, lambda X: X / X.detach())
    assert "the gradient of `X` should not be there" in said
    exercise = make(reference=lambda X: 0 * X + 1, mistakes=(), gradient=True)
    assert examine(exercise, lambda X: torch.ones(X.shape)) is None


def test_lengths_that_pytorch_does_not_compare_are_told_before_it_reads_behind_the_end():
    """With four dimensions F.scaled_dot_product_attention reads whatever lies behind V."""

    def attends(X):
        Q, K, V = torch.ones(1, 2, 3, 4), torch.ones(1, 2, 5, 4), torch.ones(1, 2, 2, 4)
        return F.scaled_dot_product_attention(Q, K, value=V)

    said = examine(make(mistakes=()), attends)
    assert "ValueError: keys and values have different lengths, 5 and 2" in said
    assert "in the line `return F.scaled_dot_product_attention(Q, K, value=V)`" in said
    named = make(mistakes=(("Two lengths.", attends),))
    assert examine(named, attends).startswith("Two lengths.\n")


def test_mistakes_that_raise_are_told_apart_by_what_they_say():
    def bare(X):
        raise RuntimeError

    turned = ("`.T` turns.", lambda X: X @ torch.ones(7, 1))
    one = make(mistakes=(turned,))
    assert examine(one, lambda X: X @ torch.ones(7, 1)).startswith("`.T` turns.")
    assert examine(one, lambda X: torch.mm(X, X)).startswith("Your answer raises RuntimeError")
    for raises, named in ((bare, True), (lambda X: {}[1], False)):
        said = examine(make(mistakes=(("As it may be.", bare),)), raises)
        assert said.startswith("As it may be.") == named


def test_what_a_known_mistake_prints_is_not_shown(capsys):
    loud = make(mistakes=(("You double.", lambda X: print("X", file=sys.stderr) or 2 * X),))
    assert examine(loud, lambda X: 2 * X).startswith("You double.")
    assert capsys.readouterr() == ("", "")


def test_of_several_mistakes_that_fit_none_is_guessed():
    two = (*TRIPLE.mistakes, ("You added it twice.", lambda X: X + X))
    said = examine(make(mistakes=two), lambda X: 2 * X)
    assert said.startswith(
        "Several mistakes look like this one:\n- You doubled.\n- You added it twice.\nExample: "
    )
    once = (*TRIPLE.mistakes, ("You doubled.", lambda X: X + X))
    assert examine(make(mistakes=once), lambda X: 2 * X).startswith("You doubled.\nExample: ")
    guesses = make(kind=PREDICT, reference=3, mistakes=(("A.", 4), ("B.", 4.0), ("C.", 5)))
    assert examine(guesses, 4) == "Several mistakes look like this one:\n- A.\n- B."
    assert examine(guesses, 5) == "C."


def test_a_mistake_that_leaves_less_open_goes_before_the_others(capsys):
    """Such as those with ANY, which equals everything, for what is told of all other guesses."""
    exercise = make(
        kind=PREDICT, reference=[4, 6], solution="triple = [4, 6]", stub="triple = None",
        mistakes=(
            ("Both.", [ANY, ANY]), ("Not 8.", [8, ANY]), ("The width.", [4, ANY]),
            ("Turned.", [6, 4]),
        ),
    )  # fmt: skip
    for guess, message in [([6, 4], "Turned."), ([8, 6], "Not 8."), ([4, 8], "The width.")]:
        assert examine(exercise, guess) == message
    assert examine(exercise, [1, 2]) == "Both." and examine(exercise, [4, 6]) is None
    assert audit([exercise])["ambiguous"] == 0
    overlap = make(kind=PREDICT, reference=[4, 6], mistakes=(("A.", [1, ANY]), ("B.", [ANY, 2])))
    assert "- A.\n- B." in examine(overlap, [1, 2])


def test_a_mistake_with_a_certain_exception_goes_before_any_exception():
    def raising(*error):
        def fail(X):
            raise error[0](*error[1:])

        return fail

    any_at_all = ("Any.", raising(Exception))
    any_value = ("Any value.", raising(ValueError))
    certain = ("This value.", raising(ValueError, "this"))
    exercise = make(mistakes=(any_at_all, any_value, certain))
    for error, message in [
        ((ValueError, "this"), "This value."),
        ((ValueError, "that"), "Any value."),
        ((KeyError, "this"), "Any."),
    ]:
        assert examine(exercise, raising(*error)).startswith(f"{message}\n")


REASONS = {
    "N, T, d = X.shape\nreturn 3 * X": "The left side has 3 names and only 1 came.",
    (lambda X: [a for a, b in [(1, 2, 3)]]): "the tensor may have more dimensions in front",
    (lambda X: torch.ones(2, 3) @ torch.ones(2, 3)): "The left matrix is 2x3, the right one 2x3",
    (lambda X: torch.ones(2, 2, 3) @ torch.ones(2, 2, 3)): "should be [2, 3] and is [2, 2]",
    (lambda X: X + torch.ones(5)): "The two sides have 2 and 5 numbers in dimension 0",
    (lambda X: X.double() @ X): "give both one dtype",
    (lambda X: X.double()[None] @ torch.ones(2, 2)): "give both one dtype",
    (lambda X: 3 * X if X > 0 else X): "`torch.equal(a, b)`, `.all()` or `.any()`",
    (lambda X: torch.ones(2, 3).mT.view(6)): "use `reshape`, or `contiguous()` first",
    (lambda X: print(X).shape): "Something in that line is None",
    (lambda X: print(X) * X): "Something in that line is None",
    (lambda X: torch.sqrt(3) * X): "use `math.sqrt`",
    (lambda X: torch.relu([1.0])): "this is of type list",
    (lambda X: [x for x in 3]): "put it into a list",
    (lambda X: len(3)): "and this is of type int",
    (lambda X: {}[("a", "b")]): "has no entry for ('a', 'b')",
    (lambda X: [1][3]): "a loop that reads `x[i + 1]` stops one step earlier",
    (lambda X: X[7]): "Dimension 0 has 2 entries, counted from 0, so there is no place 7",
    (lambda X: X.sum(3)): "has no dimension 3",
    (lambda X: F.embedding(torch.tensor([9]), torch.ones(2, 2))): "too large for the table",
    (lambda X: torch.mm(X[None, None], X)): "`@` also works with more dimensions",
    "Y = X.requires_grad_() @ X\nY.backward()\nY.backward()": "Compute the result anew before the",
    (lambda X: torch.ones(2).sum().backward()): "has cut it off",
    (lambda X: X[X]): "`.long()` makes ids",
    (lambda X: [1] & [2]): "make `set(...)` of each",
    (lambda X: X + (1,)): "does not work between the types Tensor and tuple",
    (lambda X, Y: X): "A call leaves out 'Y'",
    (lambda: 1): "A call hands over more than the function takes",
    (lambda X: F.softmax(X, axes=1, dim=-1)): "has no argument named `axes`",
    (lambda X: X.foo): "Nothing is called `foo` there",
    (lambda X: [1].shape): "What has the type list has no `shape`",
    (lambda X: X(1)): "Brackets after a name call it",
    "Y = Z\nZ = X": "`Z` is used before it gets a value",
    (lambda X: undefined_name): "Nothing is called `undefined_name` here",  # noqa: F821
    (lambda X: torch.zeros(len(X) / 2)): "divide with `//`",
    (lambda X: range(2.0)): "divide with `//`",
    (lambda X: torch.tensor([[1, 2], [3]])): "The rows have different lengths, 2 and 1",
    (lambda X: torch.cat([X, X[None]])): "One tensor has 1 dimensions, the other 2",
    (lambda X: ~X): "A mask is a boolean tensor",
    (lambda X: X.masked_fill(X, 0)): "A mask is a boolean tensor",
    (lambda X: json.loads("{")): "no whole piece of JSON",
    (lambda X: 1 / 0): "",
}


def test_tensors_of_one_number_in_a_tuple_are_shown_as_numbers():
    """So that the example can be run again; longer ones are told by their shapes."""
    pair = (torch.tensor([[0.5]]), torch.tensor(-torch.inf), torch.zeros(2, 3))
    said = describe(["one"], (pair,))
    assert said == "one = ([[0.5]], -inf, a tensor of shape (2, 3))"


@pytest.mark.parametrize("answer", REASONS, ids=[f"{i:02}" for i in range(len(REASONS))])
def test_exceptions_are_told_what_they_mean(answer):
    """Where we know it; the line of the answer and the example stay."""
    said = examine(make(mistakes=()), program(answer))
    first, *rest = said.splitlines()
    assert first.startswith("Your answer raises ") and rest[-1].startswith("Example: with X = [1")
    assert len(rest) == 1 + bool(REASONS[answer])
    assert REASONS[answer].lower() in rest[0].lower() and len(rest[0].split()) < 45


def test_the_reason_stands_behind_what_a_test_raises():
    said = examine(TEST_OF_TRIPLE, lambda triple: triple(FIXED)[7])
    assert said.endswith("so there is no place 7: it may be another dimension that you mean.")


def test_what_is_changed_is_told_how_to_be_spared():
    def change(X):
        X.append(1)
        return 3

    exercise = make(reference=lambda X: 3, cases=lambda: [([1],)], mistakes=())
    assert "work on a copy, as `copy.deepcopy` makes" in examine(exercise, change)
    assert "a new tensor" not in examine(exercise, change)


def test_a_tensor_of_another_dtype_in_a_dict_is_a_change():
    def halve(tensors):
        tensors["x"] = tensors["x"].half()
        return 3

    exercise = make(reference=lambda d: 3, cases=lambda: [({"x": torch.ones(2)},)], mistakes=())
    assert "changes its argument" in examine(exercise, halve)


def test_values_are_shown_with_the_digits_that_tell_them_apart():
    exercise = make(reference=lambda: 0.89443, mistakes=(), cases=lambda: [()], tolerance=1e-6)
    assert "is 0.8944, not 0.8944" not in examine(exercise, lambda: 0.89442)
    assert "is 0.89442, not 0.89443." in examine(exercise, lambda: 0.89442)
    assert "is 10000000" in examine(exercise, lambda: 10**400)
    exercise = make(reference=lambda: {"a": 1}, mistakes=(), cases=lambda: [()])
    assert "is {'b': 1}, not {'a': 1}" in examine(exercise, lambda: {"b": 1})
    assert "in item 'a' is 2, not 1" in examine(exercise, lambda: {"a": 2})


def test_a_plain_number_is_no_tensor_but_in_a_prediction():
    right = {"a": (0.5, 2, True)}
    exercise = make(reference=lambda X: right, cases=lambda: [(1,)], mistakes=())
    assert examine(exercise, lambda X: {"a": [Fraction(1, 2), 2, True]}) is None
    for place, one in enumerate((torch.tensor(0.5), np.array([2]), np.bool_(True))):
        numbers = [*right["a"]]
        numbers[place] = one
        said = examine(exercise, lambda X, numbers=numbers: {"a": numbers})
        assert "is wanted (`.item()` makes one of it)" in said
        predicted = make(kind=PREDICT, reference=[*right["a"]], mistakes=())
        assert examine(predicted, numbers) is None
    said = examine(exercise, lambda X: {"a": (torch.ones(2), 2, True)})
    assert "item 'a' is a tuple whose item 0 is a tensor; a number is wanted." in said


def test_texts_must_be_equal_where_a_function_returns_them():
    exercise = make(reference=lambda X: ["Ab"], cases=lambda: [(1,)], mistakes=())
    assert examine(exercise, lambda X: ["Ab"]) is None
    assert "in item 0 is 'ab', not 'Ab'" in examine(exercise, lambda X: ["ab"])
    assert "in item 0 is 'Ab ', not 'Ab'" in examine(exercise, lambda X: ["Ab "])


def test_call_properties_draws_and_forbidden():
    one = torch.nn.Identity()
    built = make(
        reference=lambda: one, mistakes=(), call=lambda make, X: make()(X),
        properties=(("It must remember.", lambda make: make() is make()),),
    )  # fmt: skip
    assert examine(built, lambda: [one][0]) is None
    assert examine(built, lambda: torch.nn.Identity()) == "It must remember."
    drawn = dict(reference=lambda X: torch.rand(2), mistakes=(), cases=lambda: [(0,)])
    assert examine(make(**drawn, draws=True), lambda X: torch.rand(2)) is None
    assert "random state" in examine(make(**drawn), lambda X: torch.rand(2))
    for function in (F.relu, torch.relu, tutor.causal_mask):
        exercise = make(reference=lambda X: torch.relu(X), mistakes=(), forbidden=(function,))
        assert examine(exercise, lambda X: X.clamp(min=0)) is None
    exercise = make(forbidden=(torch.relu, F.relu, tutor.causal_mask))
    assert "calls `relu`" in examine(exercise, lambda X: torch.relu(X))
    assert "calls `relu`" in examine(exercise, lambda X: F.relu(X))
    built = make(reference=torch.nn.ReLU, mistakes=(), call=lambda make, X: make()(X))
    assert "calls `ReLU`" in examine(built, lambda: torch.nn.ReLU())
    assert "calls `causal_mask`" in examine(exercise, lambda X: tutor.causal_mask(2))
    assert "calls `causal_mask`" in examine(exercise, in_a_thread)


def in_a_thread(X):
    thread = threading.Thread(target=tutor.causal_mask, args=(2,))
    thread.start()
    thread.join()
    return 3 * X


# ---- the engine: a small test to write


TEST_OF_TRIPLE = make(
    name="test_triple", kind=TEST, reference=None, mistakes=(), cases=lambda: [()],
    stub="def test_triple(triple): raise NotImplementedError",
    solution="def test_triple(triple): assert torch.equal(triple(torch.eye(2)), 3 * torch.eye(2))",
    twins={"multiplies": lambda X: 3 * X, "adds two shares": lambda X: 1.1 * X + 1.9 * X},
    mutants={
        "doubles": lambda X: 2 * X, "cubes": lambda X: X**3,
        "forgets the sign": lambda X: 3 * X.abs(), "loses the last": lambda X: 3 * X[..., :-1],
    },
)  # fmt: skip
FIXED = torch.tensor([1.1, -2.3, 3.7])


GOOD = "assert torch.allclose(triple(FIXED), 3 * FIXED)"


def program_of_test(code):
    return program(code, "test_triple", "triple")


good_test = program_of_test(GOOD)
TESTS = {
    GOOD: None,
    GOOD.replace("assert", "return"): None,
    "return np.allclose(triple(FIXED), 3 * FIXED)": None,
    "return (triple(FIXED) - 3 * FIXED).abs().max() < 1e-5": None,  # a tensor of one
    "if not torch.allclose(triple(torch.ones(2)), torch.tensor(3.0)): raise ValueError('no')":
    "lets 2 of 4 wrong functions pass. One of them forgets the sign.",
    "assert torch.allclose(triple(torch.ones(3)), 3 * torch.ones(3))":
    "lets 1 of 4 wrong functions pass. It is one that forgets the sign.",
    "assert torch.equal(triple(FIXED), 3 * FIXED)": "fails a right function, one that adds two "
    "shares. It stops in the line `assert torch.equal(triple(FIXED), 3 * FIXED)`. It passes "
    "another right one",
    "assert torch.allclose(triple(FIXED), 2 * FIXED)": "fails what is right. It stops in the line "
    "`assert torch.allclose(triple(FIXED), 2 * FIXED)`. And it passes a function that doubles.",
    GOOD.replace("assert", "assert not"): "is turned over",
    "triple(FIXED)": "wrong functions pass. One of them doubles.",
    f"try: {GOOD}\nexcept Exception: pass": "wrong functions pass",
    "raise AssertionError": "never calls `triple`, which is what it has to test",
    "return triple is None": "never calls `triple`",
    "assert torch.allclose(FIXED, FIXED)": "never calls `triple`",
    "assert triple(FIXED) is not None and triple.__name__ == '<lambda>'":
    "fails whatever it is given, also what is right. It stops in the line",
    "assert triple(FIXED) == 3 * FIXED":
    "`assert triple(FIXED) == 3 * FIXED` asks whether a whole tensor is",
    "assert triple(FIXED, 3) is not None":
    "crashes on a right function, one that multiplies: it raises TypeError",
    "return triple(FIXED)": "Your test returns a tensor",
    "def test_triple(): assert True": "it raises TypeError: test_triple() takes 0 positional",
    "while True: triple(FIXED)": "was stopped after 0.3 seconds",
    '"""Three times X."""\n...': "put your lines in place of `...`",
    "pass": "put your lines in place of `pass`",
    "raise NotImplementedError": "put your lines in place of `raise NotImplementedError`",
    True: "Hand over `test_triple` itself",
    "sys.exit(0)": "leaves the program",
}  # fmt: skip


@pytest.mark.parametrize("answer", TESTS, ids=[f"{i:02}" for i in range(len(TESTS))])
def test_a_test_is_told_what_it_lets_pass_and_what_it_refuses(answer, monkeypatch):
    if "was stopped" in (TESTS[answer] or ""):
        monkeypatch.setattr(guard, "SECONDS", 0.3)
    for hidden in (False, True):
        said = examine(TEST_OF_TRIPLE, program_of_test(answer), hidden=hidden)
        assert said is None if TESTS[answer] is None else TESTS[answer] in said


def test_a_test_gets_what_the_exercise_draws_and_leaves_it_as_it_was():
    exercise = dataclasses.replace(TEST_OF_TRIPLE, cases=lambda: [(torch.randn(3),)])
    assert examine(exercise, lambda triple, X: torch.allclose(triple(X), X + 2 * X)) is None
    said = examine(exercise, lambda triple, X: torch.allclose(triple(X.neg_()), 3 * X))
    assert "changes its argument `X`" in said


def test_the_time_of_a_test_is_that_of_all_its_runs(monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 0.3)

    def rests(triple):
        time.sleep(0.12)
        good_test(triple)

    assert "was stopped" in examine(TEST_OF_TRIPLE, rests)


def refuse(X):
    raise ValueError("no")


def test_exceptions_can_be_what_is_wanted():
    exercise = make(reference=refuse, mistakes=(("You go on.", lambda X: X),), raises="ValueError")
    assert examine(exercise, refuse_otherwise) is None
    assert examine(exercise, lambda X: X).startswith("You go on.")
    assert "must raise ValueError" in examine(exercise, lambda X: 0)
    assert "your answer raises KeyError" in examine(exercise, lambda X: {}[1]).replace("Y", "y")


def test_a_check_that_fails_itself_says_so_and_blames_nobody():
    def broken(X):
        return {2: 3 * X}[X.dim()]  # no result for the first case

    said = (
        "This is no mistake of yours: with X = [1, 2], the solution of the check itself raises "
        "KeyError: 1; please report it."
    )
    for answer in (lambda X: 3 * X, lambda X: {}[1], blank):
        assert examine(make(reference=broken, mistakes=()), answer) == said


def refuse_otherwise(X):
    raise ValueError("other words")


class Reworded(ast.NodeTransformer):
    """Turns every word of every sentence of a module, and no two places alike: where one compares
    with the words of another, they differ. What others say (patterns) stays."""

    def keep(self, node):
        return node

    visit_Compare = keep  # `"..." in str(error)`

    def visit_Call(self, node):
        ours = not (isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "re")
        return self.generic_visit(node) if ours else node

    def visit_Constant(self, node):
        if not (isinstance(node.value, str) and " " in node.value):
            return node
        return ast.copy_location(ast.Constant(f"{node.lineno} {turned(node.value)}"), node)


def turned(sentence):
    """A sentence with each of its words turned around, but for what stands in braces."""
    return re.sub(
        r"\{[^}]*\}|[A-Za-z]+", lambda word: word[0][:: 1 if word[0][0] == "{" else -1], sentence
    )


MODULES = {f"tutor.check.{name}" for name in ("guard", "examine", "progress", "plain")}


@pytest.fixture
def reworded(monkeypatch):
    """`tutor.check` once more, with all its sentences reworded."""
    monkeypatch.setattr(tutor, "check", check)  # and the old one again afterwards
    for name in [name for name in sys.modules if name.partition(".check")[0] == "tutor"]:
        if name.startswith("tutor.check"):
            monkeypatch.delitem(sys.modules, name)
    loader = importlib.machinery.SourceFileLoader
    as_ever = loader.get_code

    def get_code(self, name):
        if name not in {*MODULES, "tutor.check"}:
            return as_ever(self, name)
        tree = Reworded().visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec")

    monkeypatch.setattr(loader, "get_code", get_code)
    fresh = importlib.import_module("tutor.check")
    reasons = sys.modules["tutor.check.reasons"]
    reasons.REASONS = [(pattern, turned(words)) for pattern, words in reasons.REASONS]
    return fresh


JUDGED = [
    *((TRIPLE, program(answer)) for answer in HOSTILE),
    *((make(gradient=True, mistakes=()), program(answer)) for answer in IN_PLACE),
    *((TEST_OF_TRIPLE, program_of_test(answer)) for answer in TESTS),
    *((make(kind=PREDICT, reference=42, mistakes=(("A.", 7),)), n) for n in (42, 7, 8, None, "x")),
    *((make(kind=EXPLAIN), text) for text in ("", "Too short.", "It is so. " * 12, 3)),
    *((make(reference=refuse, raises="ValueError"), answer) for answer in (refuse, blank)),
    (make(reference=lambda X: torch.rand(2), mistakes=(), draws=True), lambda X: torch.rand(2)),
]


def results(check, monkeypatch, path):
    """What each answer is judged, by type; how many tries they were; and the messages."""
    monkeypatch.setenv("TUTOR_PROGRESS", str(path))
    monkeypatch.setattr(sys.modules["tutor.check.guard"], "SECONDS", 0.5)
    wrong = [check.trouble_with(exercise, answer) for exercise, answer in JUDGED]
    for (exercise, answer), trouble in zip(JUDGED, wrong, strict=True):
        monkeypatch.setattr(check, "trouble_with", lambda *_, trouble=trouble, **__: trouble)
        check.Check(exercise)(answer)
    kept = json.loads(path.read_text(encoding="utf-8"))["exercises"]
    return [type(trouble).__name__ for trouble in wrong], kept, list(map(str, wrong))


def test_no_result_hangs_on_the_wording_of_a_message(reworded, monkeypatch, tmp_path):
    with monkeypatch.context() as patches:
        types, kept, said = results(reworded, patches, tmp_path / "reworded.json")
    monkeypatch.undo()
    as_ever = results(check, monkeypatch, tmp_path / "as_ever.json")
    assert (types, kept) == as_ever[:2]
    assert {"NoneType", "Trouble", "Unnamed", "NotWritten", "ChangedInPlace"} == set(types)
    changed = [one for one, other in zip(said, as_ever[2], strict=True) if one != other]
    named = [t for t, s in zip(types, said, strict=True) if t != "NoneType" and s != "A."]
    assert len(changed) == len(named), "all but the bank's own"


@pytest.mark.parametrize(
    ("right", "passes", "fails"),
    [
        (
            3,
            [3, 3.0, torch.tensor(3), np.int64(3), torch.tensor([[3]]), Fraction(3)],
            [4, "3", True, [3], None, torch.tensor([3, 3])],
        ),
        (0.5, [0.5, 1 / 2, torch.tensor(0.5), Fraction(1, 2), Decimal("0.5")], [0.6, "half"]),
        (True, [True, torch.tensor(True)], [False, 1, "True"]),
        ("rows", ["rows", " Rows "], ["columns", 1]),
        (
            [1, 0.5],
            [
                [1, 0.5],
                (1.0, Fraction(1, 2)),
                torch.tensor([1, 0.5]),
                [torch.tensor(1), torch.tensor([0.5])],
            ],
            [[0.5, 1], [1], 1, [1, "a"], [1, 0.5, 0], [[1, 0.5], 0.5]],
        ),
        ([[1], ["An", 2]], [[torch.tensor([1]), ("an", 2)], [np.ones(1), ["AN ", 2]]], [[1]]),
        ((2, 3), [(2, 3), [2, 3], torch.Size([2, 3])], [(3, 2), "(2, 3)"]),
    ],
    ids=str,
)
def test_predictions(right, passes, fails):
    exercise = make(kind=PREDICT, reference=right, mistakes=())
    assert [examine(exercise, value) for value in passes] == [None] * len(passes)
    assert all(examine(exercise, value) for value in fails)


def test_wrong_prediction_is_named_and_the_right_one_not_told():
    exercise = make(kind=PREDICT, reference=42, mistakes=(("That is the width.", 7),))
    assert examine(exercise, 7) == "That is the width."
    assert "“In code” of chapter 02" in examine(exercise, 8)
    assert not any("42" in examine(exercise, guess) for guess in (8, None, "x", [3]))


# ---- explanations

EXPLAINED = [e for e in ALL if e.kind == EXPLAIN]
explained = pytest.mark.parametrize("exercise", EXPLAINED, ids=[e.name for e in EXPLAINED])


@explained
def test_a_misconception_is_told_where_it_is_stated_and_nowhere_else(exercise):
    texts = [evaluate(exercise, code) for code in exercise.wrong]
    said = {text: misconception(exercise, text) for text in texts if isinstance(text, str)}
    for expression, message in exercise.misconceptions:
        stated = [text for text, told in said.items() if (told or "").endswith(message)]
        assert stated, f"no wrong answer is told {message}"
        text = " ".join(stated[0].split())
        sentence = next(s for s in re.split(r"(?<=[.!?]) ", text) if re.search(expression, s, re.I))
        for doubtful in (
            f"One might think: {sentence}", f"It is wrong that {sentence}",
            f"{sentence} But this is not so.", f"{sentence} That is a myth.",
        ):  # fmt: skip
            assert misconception(exercise, doubtful) is None, doubtful
    for other in EXPLAINED:
        for code in (other.solution, *other.right):
            assert misconception(exercise, evaluate(other, code)) is None
    assert not any(misconception(exercise, point) for point in exercise.points)


def test_an_expression_may_ask_for_a_word_of_doubt():
    sample = make(kind=EXPLAIN, misconceptions=((r"it (?P<own>never) works", "It does."),))
    assert (
        misconception(sample, "So it never\nworks. Yes.")
        == "You write “So it never works.” It does."
    )
    assert misconception(sample, "They say that it never works.") is None
    assert misconception(sample, "It works.") is None


# ---- what the learner and the teacher call


def test_check_prints_and_in_grading_raises(capsys):
    check_triple = check.Check(make(because="It is so."))
    check_triple(lambda X: 3 * X)
    check_triple(lambda X: 3 * X, grade=True, hidden=True)
    assert capsys.readouterr().out == "Right. It is so.\n" * 2
    check_triple(lambda X: 2 * X)
    assert capsys.readouterr().out.startswith("Not yet. You doubled.\n")
    with pytest.raises(AssertionError, match="^You doubled"):
        check_triple(lambda X: 2 * X, grade=True)
    check_triple()
    assert (
        capsys.readouterr().out == "Not yet. Hand over your answer, as in check.triple(triple).\n"
    )
    with pytest.raises(AttributeError, match="no exercise 'atend'; the nearest name is 'attend'"):
        check.atend  # noqa: B018
    assert {"attend", "examine"} <= set(dir(check))


def test_a_good_test_is_told_what_it_was_tried_on(capsys):
    check.Check(TEST_OF_TRIPLE)(good_test)
    assert capsys.readouterr().out == (
        "Right. It passes 2 right functions and catches all 4 mutants.\n"
    )


def test_audit_counts_every_sort_of_defect(capsys):
    bad = make(
        stub="def triple(X): return 3 * X",
        wrong={
            "def triple(X): return X + 2 * X": "slips",
            "def triple(X): return 5 * X": "by name",
            "def triple(X): return X * 2": "doubled",
        },
        right=("def triple(X): return 2.9 * X",),
    )
    counts = audit([bad])
    assert counts == {
        "exercises": 1, "wrong_answers": 3, "alternatives": 1, "mutants": 0, "generic": 1,
        "coincidences": 0, "slipped": 1, "unnamed": 1, "rejected": 1, "blank_passes": 1,
        "ambiguous": 0, "silent": 1, "too_few": 2, "no_section": 1, "gradients_unsaid": 1,
        "mutations": 5, "mutation_equivalent": 0, "mutation_survivors": 0, "mutation_idle": 0,
    }  # fmt: skip
    assert not enough_named(counts) and enough_named(counts | {"wrong_answers": ONE_IN})


def test_audit_tries_what_is_right_with_the_hidden_inputs_too(capsys):
    seen = draw(make(cases=lambda: [(torch.randn(1),)]), CASES_SEED)[0][0].item()
    by_heart = f"def triple(X): return 3 * X if abs(X.item() - {seen}) < 1e-6 else X"
    assert audit([make(cases=lambda: [(torch.randn(1),)], right=(by_heart,))])["rejected"] == 1


def test_audit_finds_mistakes_that_no_case_tells_apart(capsys):
    """Also where one of them is no mistake at all, as far as the cases go."""
    doubled = ("You added it twice.", lambda X: X + X)
    same = ("You added three.", lambda X: X + 2 * X)
    again = ("You doubled.", lambda X: X + X)
    assert audit([make(mistakes=(*TRIPLE.mistakes, again))])["ambiguous"] == 0
    assert audit([make(mistakes=(*TRIPLE.mistakes, doubled))])["ambiguous"] == 1
    assert "(You doubled.) and (You added it twice.)" in capsys.readouterr().out
    assert audit([make(mistakes=(*TRIPLE.mistakes, same))])["ambiguous"] == 1
    assert "(what is right) and (You added three.)" in capsys.readouterr().out
    numbers = make(kind=PREDICT, reference=7, mistakes=(("One.", 5), ("Two.", torch.tensor(5.0))))
    assert audit([numbers])["ambiguous"] == 1


def test_audit_lists_numbers_that_two_mistakes_make_together(capsys):
    """Of 7, one mistake takes 2 and one 3: whoever makes both is told of a third."""

    def count(*numbers, **fields):
        mistakes = tuple((f"That is {n}.", n) for n in numbers)
        return audit([make(kind=PREDICT, mistakes=mistakes, **fields)])["coincidences"]

    assert count(5, 4, 3, reference=7) == 0
    assert count(5, 4, 2, reference=7) == 1
    assert "both of (That is 5.) (That is 4.) give what (That is 2.) gives" in (
        capsys.readouterr().out
    )
    assert count(5, 4, 9, reference=7) == 1
    assert "the sum of (That is 5.) (That is 4.) is what (That is 9.)" in capsys.readouterr().out
    assert count([5, 1], [4, 1], [2, 1], reference=[7, 1]) == 1
    assert count([5, 1], [4, 1], [2, 2], reference=[7, 1]) == 0
    written = make(
        cases=lambda: [(1,), (2,)], reference=lambda n: 7 * n,
        mistakes=tuple((f"It is {k}.", lambda n, k=k: k * n) for k in (5, 4, 2)),
    )  # fmt: skip
    assert audit([written])["coincidences"] == 1


def test_audit_counts_mutants():
    counts = audit([TEST_OF_TRIPLE, TRIPLE])  # the solution lets a mutant pass
    assert counts["mutants"] == 4 and counts["rejected"] == 1


def test_audit_command_line(monkeypatch, capsys):
    bank = {f"def triple(X): return {n}": "" for n in ("4", "5", "2 * X", "X**3")}
    enough = dict(
        section="Padding masks",
        text="No gradients are asked for.",
        hints=("Count on your own fingers.",) * 3,
        right=(TRIPLE.solution,) * 2,
    )
    monkeypatch.setattr("course.audit.chapters", lambda: ["02"])
    monkeypatch.setattr("course.audit.places", lambda: {"triple": "02"})
    monkeypatch.setattr("course.audit.find", lambda _: make(wrong=bank, **enough))
    assert main(["--audit"]) == main(["--audit", "02"]) == 0
    counts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert counts["exercises"] == 1 and counts["wrong_answers"] == 4 and counts["slipped"] == 0
    bank["def triple(X): return X + X + X"] = ""
    assert main(["--audit", "--messages"]) == 1
    said = capsys.readouterr().out
    assert "return 5\n>> Your result is an int; a tensor is wanted." in said
    assert json.loads(said.splitlines()[-1])["slipped"] == 1
    del bank["def triple(X): return X + X + X"]
    bank["def triple(X): return 5 * X"] = ""
    assert main(["--audit"]) == 1
    assert "1 wrong answers are told no mistake by name, one in 15" in capsys.readouterr().out
