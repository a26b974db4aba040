"""The exercises in nbgrader: released, handed in by good and bad students, graded."""

import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from course.build import __main__ as build
from course.grading import classroom
from tutor.check.bank import of_chapter
from tutor.check.exercise import EXPLAIN

pytest.importorskip("nbgrader", reason="pip install -r tests/requirements.txt brings nbgrader")

CHAPTER = "02"
NAME = "02_single_head_attention"
BANK = {e.name: e for e in of_chapter(CHAPTER)}
GRADED = [e for e in BANK.values() if e.kind != EXPLAIN]
FULL = {e.name: classroom.points(e) for e in GRADED}
TAMPER = """
import tutor.check as module
module.Check.__call__ = lambda *answers, **options: print("Right.")
module.examine.__code__ = (lambda *answers, **options: None).__code__
torch.isclose = lambda a, b, **options: torch.ones(a.shape, dtype=torch.bool)
"""
# Cells that no answer needs; a kernel tries to change what is not its own.
VANDAL = """
import contextlib, os, subprocess, torch
for break_it in (
    lambda: os.remove("../../../gradebook.db"),
    lambda: open("../../../gradebook.db", "w"),
    lambda: getattr(torch, "save")(torch.ones(9), "../../../gradebook.db"),
    lambda: os.kill(os.getppid(), 9),
    lambda: subprocess.run(["touch", "../../../left-behind"]),
    lambda: print(open("../../../source/NAME/NAME.ipynb").read()),
):
    with contextlib.suppress(PermissionError, RuntimeError):
        break_it()
"""
STUBBORN = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass\n"
MESSAGE = """
shell = get_ipython()
shell.display_pub.publish(data={"text/plain": 3})
shell.kernel.session.send(shell.kernel.iopub_socket, "stream", {"name": 3}, shell.parent_header)
"""


def nbgrader(course, *arguments, status=0):
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=3600)
    assert done.returncode == status, done.stderr
    return done.stderr


def hand_in(course, student, answers, change=lambda notebook: None):
    """Put a submission in place: the released notebook with some answers filled in."""
    notebook = nbformat.read(course / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.nbgrader["grade_id"], cell.source)
    change(notebook)
    target = course / "submitted" / student / NAME / f"{NAME}.ipynb"
    target.parent.mkdir(parents=True)
    nbformat.write(notebook, target)


def add_own_exercise(course):
    """What a teacher adds: an answer and a test that nbgrader runs in the kernel."""
    path = course / "source" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    answer = new_code_cell("### BEGIN SOLUTION\nown = 3\n### END SOLUTION")
    test = new_code_cell("assert own == 3 and math.pi and torch.ones(1)")
    notebook.cells += [
        classroom.marked(answer, "own", solution=True),
        classroom.marked(test, "own_test", points=7),
    ]
    nbformat.write(notebook, path)


def with_cell(source):
    """A change that puts a student's own cell below the first."""
    return lambda notebook: notebook.cells.insert(1, new_code_cell(source))


def without(*ids):
    def change(notebook):
        cells = notebook.cells
        notebook.cells = [c for c in cells if c.metadata.nbgrader["grade_id"] not in ids]

    return change


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A graded course: {student: {exercise: points}}, {student: feedback page}, the folder, log."""
    folder = tmp_path_factory.mktemp("school")
    assert build.main(["classroom", str(folder), CHAPTER]) == 0
    add_own_exercise(folder)
    with open(folder / "nbgrader_config.py", "a") as config:
        config.write("c.Execute.timeout = 30\n")
    nbgrader(folder, "generate_assignment", NAME)
    solved = {e.name: e.solution for e in BANK.values()} | {"own": "own = 3"}
    functions = [e.name for e in GRADED if e.solution.lstrip().startswith("def ")]
    first, second = functions[:2]
    hand_in(folder, "solved", solved)
    hand_in(folder, "blank", {})
    hand_in(folder, "half", {name: solved[name] for name in list(FULL)[::2]})
    explained = next(e.name for e in BANK.values() if e.kind == EXPLAIN)
    gone = ("setup", first, f"{first}_check", f"{second}_check", explained)
    hand_in(folder, "deleted", solved, without(*gone))
    tests = {f"{name}_check": "print('Right.')" for name in FULL}
    hand_in(folder, "edited", {**tests, first: solved[first]})
    hand_in(folder, "tampered", {"weights_of_two_keys": TAMPER + "weights_of_two_keys = 1"})
    hand_in(folder, "vandal", solved, with_cell(VANDAL.replace("NAME", NAME)))
    hand_in(folder, "stubborn", {**solved, first: STUBBORN + solved[first]})
    hand_in(folder, "garbled", solved, with_cell(MESSAGE))
    loop = f"def {first}(*arguments):\n    while True:\n        pass"
    leave = f"def {second}(*arguments):\n    raise SystemExit"
    hand_in(folder, "endless", {**solved, first: loop, second: leave})
    loud = "for _ in range(200):\n    print('x' * 1_000_000)\nimport sys\nsys.exit()"
    copied = "from tutor.attention import compute_attention_matrix\n"
    copied += "def word_by_word(Q, K, V):\n"
    copied += "    return compute_attention_matrix(Q, K) @ V"
    [other] = {first, second} - {"word_by_word"}
    hand_in(folder, "loud", {**solved, other: loud, "word_by_word": copied})
    hand_in(folder, "killer", {**solved, first: "import os\nos._exit(0)"})
    log = nbgrader(folder, "autograde", NAME)
    nbgrader(folder, "generate_feedback", NAME)
    return folder, log, first, second


def scores(folder):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        return {
            student.id: {
                grade.name.removesuffix("_check"): grade.auto_score
                for submission in student.submissions
                for notebook in submission.notebooks
                for grade in notebook.grades
                if grade.name.removesuffix("_check") in {*FULL, "own_test"}
            }
            for student in book.students
        }


def feedback(folder, student):
    page = folder / "feedback" / student / NAME / f"{NAME}.html"
    return page.read_text(encoding="utf-8")


def test_everybody_gets_what_they_earned(course):
    folder, log, first, second = course
    got, nothing = scores(folder), dict.fromkeys(FULL, 0)
    assert {s: points.pop("own_test") for s, points in got.items()} == {
        **dict.fromkeys(got, 7), **dict.fromkeys(["blank", "half", "edited", "tampered"], 0)
    }  # fmt: skip
    assert got["solved"] == FULL
    assert got["blank"] == got["tampered"] == nothing
    assert got["half"] == {name: FULL[name] * (i % 2 == 0) for i, name in enumerate(FULL)}
    assert got["deleted"] == {**FULL, first: 0}  # a deleted test is put back
    assert got["edited"] == {**nothing, first: FULL[first]}  # edited ones too
    assert got["endless"] == {**FULL, first: 0, second: 0}
    [other] = {first, second} - {"word_by_word"}
    assert got["loud"] == {**FULL, other: 0, "word_by_word": 0}
    assert got["killer"] == got["stubborn"] == {**FULL, first: 0}
    assert got["vandal"] == got["garbled"] == FULL
    assert not (folder / "left-behind").exists()


def test_feedback_names_the_mistake(course):
    folder, *_ = course
    assert "compute_attention_matrix" in feedback(folder, "loud")
    assert "seconds" in feedback(folder, "endless")
    assert "This cell was stopped after 30 seconds" in feedback(folder, "stubborn")
    assert "This cell ended the kernel" in feedback(folder, "killer")
    assert "This cell shows more than" in feedback(folder, "loud")
    for student in ("solved", "blank", "loud"):
        assert len(feedback(folder, student)) < 2_000_000


def test_what_is_released_holds_no_solution(course):
    folder, *_ = course
    released = (folder / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "HIDDEN TESTS" not in released and "grade=True" not in released
    notebook = nbformat.reads(released, as_version=4)
    cells = {cell.metadata.nbgrader["grade_id"]: cell.source for cell in notebook.cells}
    for name, exercise in BANK.items():
        assert cells[name] == exercise.stub.strip() != exercise.solution.strip()
    assert "own = 3" not in cells["own"]
    assert "](../" not in released  # no link into a folder that students do not have


def test_a_course_that_is_there_keeps_its_settings(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("# mine")
    classroom.write_course(tmp_path, [CHAPTER])
    assert (tmp_path / "nbgrader_config.py").read_text() == "# mine"


def test_explanations_wait_for_a_person(course):
    from nbgrader.api import Gradebook

    folder, *_ = course
    explained = {e.name for e in BANK.values() if e.kind == EXPLAIN}
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        notebook = book.find_submission(NAME, "solved").notebooks[0]
        waiting = {grade.name for grade in notebook.grades if grade.needs_manual_grade}
    assert waiting == explained
