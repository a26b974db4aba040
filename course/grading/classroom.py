"""The exercises as assignments for nbgrader, the tool with which schools collect and grade.

A course's folder gets `nbgrader_config.py` and `source/NN_name/NN_name.ipynb`, with solutions and
hidden tests. Run nbgrader in it: `generate_assignment` leaves both out of what students get. How to
go on is told in notebooks/TEACHING.md. Needs the extra `classroom`.
"""

import os
import re

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.build.exercises import exercise_text, page_of, title_of
from course.build.notebooks import scrub, write_atomically
from tutor.check.bank import find, of_chapter, places
from tutor.check.exercise import EXPLAIN, SETUP

FEEDBACK_CHARACTERS = 20_000  # of a cell's output
NBGRADER_CONFIG = """\
# Settings of nbgrader for the exercises of this course; add your own below.
from course.grading.classroom import configure

c = get_config()
configure(c)
"""

# Autograding does not run this cell, but judges the answer apart (grading.py). What is hidden does
# the same, less safely, where a teacher runs the cells by hand.
TEST_CELL = """\
check.{name}({name})
### BEGIN HIDDEN TESTS
check.{name}({name}, grade=True, hidden=True)
### END HIDDEN TESTS
"""


def configure(c):
    """Set what nbgrader needs to know of these exercises, on the object that get_config() gives."""
    from nbgrader.converters.autograde import Autograde
    from nbgrader.converters.generate_assignment import GenerateAssignment
    from nbgrader.preprocessors import ClearSolutions, Execute, LimitOutput, OverwriteCells

    from course.grading.autograde import grading

    usual = GenerateAssignment.class_traits()["preprocessors"].default()
    c.GenerateAssignment.preprocessors = [blanks() if p is ClearSolutions else p for p in usual]
    usual = Autograde.class_traits()["sanitize_preprocessors"].default()
    at = usual.index(OverwriteCells)
    c.Autograde.sanitize_preprocessors = [*usual[:at], restoring(), *usual[at:]]
    c.OverwriteCells.add_missing_cells = True
    os.environ["TUTOR_PROGRESS"] = ""  # the tries of students are not the teacher's
    c.Execute.timeout = 60  # seconds a cell; a check stops an answer after five
    c.Execute.iopub_timeout = 60  # much output takes its time
    c.Execute.interrupt_on_timeout = False  # a loop may ignore it
    c.Execute.shutdown_kernel = "immediate"
    c.LimitOutput.max_lines = 200
    usual = Autograde.class_traits()["autograde_preprocessors"].default()
    at = usual.index(LimitOutput)
    steps = [*usual[:at], shortening(), *usual[at:]]
    c.Autograde.autograde_preprocessors = [grading() if p is Execute else p for p in steps]


def restoring():
    """A step that puts what was deleted back in its place: all that is locked, and an empty cell
    for an answer. nbgrader itself puts back tests alone.
    """
    from nbgrader.api import Gradebook
    from nbgrader.preprocessors import NbGraderPreprocessor

    class Restoring(NbGraderPreprocessor):
        def preprocess(self, notebook, resources):
            about = resources["nbgrader"]
            with Gradebook(about["db_url"]) as book:
                source = book.find_notebook(about["notebook"], about["assignment"])
                worth = {cell.name: cell.max_score for cell in source.grade_cells}
                solutions = {cell.name for cell in source.solution_cells}
                tasks = {cell.name for cell in source.task_cells}
                wanted = [(c.name, c.cell_type, c.source) for c in source.source_cells]
            place = 0
            for name, kind, text in wanted:
                there = [c.metadata.get("nbgrader", {}).get("grade_id") for c in notebook.cells]
                if name in there:
                    place = there.index(name) + 1
                elif name not in tasks:
                    text = "# This answer was deleted." if name in solutions else text
                    cell = {"code": new_code_cell, "markdown": new_markdown_cell}[kind](text)
                    cell = marked(cell, name, name in solutions, worth.get(name))
                    notebook.cells.insert(place, cell)
                    place += 1
            return notebook, resources

    return Restoring


def shortening():
    """A step that cuts what a cell printed: nbgrader's own counts lines, however long they are."""
    from nbgrader.preprocessors import NbGraderPreprocessor

    class Shortening(NbGraderPreprocessor):
        def preprocess_cell(self, cell, resources, index):
            for output in cell.get("outputs", []):
                if len(output.get("text", "")) > FEEDBACK_CHARACTERS:
                    output.text = output.text[:FEEDBACK_CHARACTERS] + "\n... and more"
            return cell, resources

    return Shortening


def blanks():
    """The step that replaces solutions by each exercise's own blank.

    ClearSolutions knows one blank for all; ours have typed shapes, or the bug to be mended. A
    teacher's own exercises are left to it.
    """
    from nbgrader.preprocessors import ClearSolutions
    from nbgrader.utils import is_solution

    class Blanks(ClearSolutions):
        def preprocess_cell(self, cell, resources, index):
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if not (is_solution(cell) and name in places()):
                return super().preprocess_cell(cell, resources, index)
            cell.source = find(name).stub.strip()
            return cell, resources

    return Blanks


def points(exercise):
    """What an exercise is worth: as many points as its difficulty."""
    return exercise.difficulty


def assignment(chapter):
    """The notebook of a chapter's exercises that a teacher keeps: with solutions and tests."""
    page = page_of(chapter)
    chosen = of_chapter(chapter)
    total = sum(points(exercise) for exercise in chosen)
    opening = (
        f"# Exercises {title_of(page)}\n\n"
        f"{len(chosen)} exercises, {total} points. Fill each blank, run its cell and the check "
        f"below it: it says what is wrong. `check.{chosen[0].name}.hint()` gives a hint to the "
        "exercise of that name, and one more at each call. Your work is graded with other numbers "
        "than you see here, so write what is right for all. Restart the kernel and run all cells "
        "before you hand in."
    )
    cells = [
        marked(new_markdown_cell(opening), "opening"),
        marked(new_code_cell(SETUP.strip()), "setup"),
    ]
    for number, exercise in enumerate(chosen, start=1):
        cells += assignment_cells(exercise, number, page)
    notebook = new_notebook(cells=cells)
    scrub(notebook)
    return notebook


def assignment_cells(exercise, number, page):
    name, manual = exercise.name, exercise.kind == EXPLAIN
    text = exercise_text(exercise, number, page).replace(
        "**Goal.**", f"*{worth(exercise)}*\n\n**Goal.**", 1
    )
    text = re.sub(r"\[([^\]]+)\]\(\.\./[^)]*\)", rf"chapter {exercise.chapter}, “\1”", text)
    cells = [marked(new_markdown_cell(text), f"{name}_text")]
    if exercise.setup:
        cells.append(marked(new_code_cell(exercise.setup.strip()), f"{name}_setup"))
    by_hand, by_test = (points(exercise), None) if manual else (None, points(exercise))
    test = f"check.{name}({name})" if manual else TEST_CELL.format(name=name).strip()
    answer = new_code_cell(exercise.solution.strip())
    cells.append(marked(answer, name, solution=True, points=by_hand))
    cells.append(marked(new_code_cell(test), f"{name}_check", points=by_test))
    return cells


def worth(exercise):
    many = points(exercise)
    by = ", graded by a person" if exercise.kind == EXPLAIN else ""
    return f"{many} point{'s' if many > 1 else ''}{by}"


def marked(cell, grade_id, solution=False, points=None):
    """A cell with what nbgrader wants to know: solutions are the students', the rest is locked."""
    cell.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade_id": grade_id,
        "locked": not solution,
        "solution": solution,
        "grade": points is not None,
        "task": False,
    }
    if points is not None:
        cell.metadata["nbgrader"]["points"] = points
    return cell


def write_course(folder, chapters):
    """Write the course; a `nbgrader_config.py` that is there is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "nbgrader_config.py"
    if not config.exists():
        write_atomically(config, NBGRADER_CONFIG)
        print(config)
    for chapter in chapters:
        name = page_of(chapter)
        target = folder / "source" / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, nbformat.writes(assignment(chapter)))
        print(target)
