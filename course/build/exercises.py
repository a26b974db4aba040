"""The exercises of a chapter as two notebooks: one with blanks, one solved and executed.

`course/exercises/<slug>` becomes `notebooks/exercises/NN_name.ipynb`, which is not executed, and
`notebooks/solutions/NN_name.ipynb`, which is.
"""

import re
import sys
from urllib.parse import quote

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.build.notebooks import NOTEBOOKS, BuildError, execute, scrub, write
from tutor.check.bank import of_chapter
from tutor.check.exercise import EXPLAIN, MEND, PREDICT, SETUP, TEST, WRITE

KIND_NAMES = {
    PREDICT: "predict before you run",
    WRITE: "write",
    MEND: "find the mistake and mend it",
    TEST: "write the test",
    EXPLAIN: "explain in words",
}


def page_of(chapter):
    """The name of a chapter's page, "02_single_head_attention"."""
    pages = sorted((NOTEBOOKS / "source").glob(f"{chapter}_*.md"))
    if len(pages) != 1:
        raise BuildError(f"Chapter {chapter} has {len(pages)} texts in notebooks/source, not one.")
    return pages[0].stem


def title_of(page):
    """The first heading of a chapter's page, without its mark."""
    text = (NOTEBOOKS / "source" / f"{page}.md").read_text(encoding="utf-8")
    return re.search(r"^# (.+)$", text, re.M)[1]


def chapter_notebook(chapter, solved):
    """The notebook of a chapter's exercises, not executed: with solutions, or with blanks."""
    page = page_of(chapter)
    chosen = of_chapter(chapter)
    cells = [new_markdown_cell(opening(page, chosen, solved)), new_code_cell(SETUP.strip())]
    for number, exercise in enumerate(chosen, start=1):
        cells += exercise_cells(exercise, number, page, solved)
    notebook = new_notebook(cells=cells)
    scrub(notebook)
    return notebook


def opening(page, chosen, solved):
    minutes = sum(exercise.minutes for exercise in chosen)
    other = "exercises" if solved else "solutions"
    if solved:
        how = "Each exercise with a solution that passes its check. There are other ways."
    else:
        how = (
            "Run the first code cell. Then fill each blank, run its cell and the check below it. A "
            "check says what is wrong and never stops the notebook. Stuck? "
            f"`check.{chosen[0].name}.hint()` gives a hint to the exercise of that name, and one "
            "more at each call. `check.progress()` shows what you have tried and solved. "
            "Unless a task says otherwise, what you write leaves its arguments as they are and "
            "lets gradients through. It does not call what `tutor` has for the same purpose."
        )
        if any(exercise.kind == TEST for exercise in chosen):
            how += " A test that you write says no by raising any error, or by returning False."
    return (
        f"# {'Solutions' if solved else 'Exercises'} {title_of(page)}\n\n"
        f"{how} {len(chosen)} exercises, about {minutes} minutes.\n\n"
        f"[The chapter](../{page}.ipynb) · [the {other}](../{other}/{page}.ipynb)"
    )


def exercise_cells(exercise, number, page, solved):
    """The cells of an exercise: its text, the answer, its check; if solved, how to grade words."""
    name = exercise.name
    cells = [new_markdown_cell(exercise_text(exercise, number, page))]
    if exercise.setup:
        cells.append(new_code_cell(exercise.setup.strip()))
    code = exercise.solution if solved else exercise.stub
    cells += [new_code_cell(code.strip()), new_code_cell(f"check.{name}({name})")]
    if solved and exercise.kind == EXPLAIN:
        cells.append(new_code_cell(f"check.{name}.points()"))
        how = "Each of the points above counts the same." if not exercise.rubric else ""
        cells.append(new_markdown_cell(f"**How to grade it.** {how}{exercise.rubric.strip()}"))
    return cells


def exercise_text(exercise, number, page):
    """What the learner reads: the task, its price, and the section it needs."""
    link = quote(exercise.section.replace(" ", "-"), safe="?,:")
    return (
        f"## {number}. {exercise.title}\n\n"
        f"**Goal.** {exercise.goal}\n\n"
        f"**Kind** {KIND_NAMES[exercise.kind]} · **difficulty** {exercise.difficulty} of 5 · "
        f"**importance** {exercise.importance} of 5 · **time** {exercise.minutes} minutes · "
        f"**needs** [{exercise.section}](../{page}.ipynb#{link})\n\n"
        f"{exercise.text.strip()}"
    )


def build_chapter(chapter, solved):
    """The JSON text of a chapter's notebook; solutions are executed.

    Raises:
        BuildError: a cell of a solution raises, or its check objects to the answer.
    """
    notebook = chapter_notebook(chapter, solved)
    if solved:
        folder = NOTEBOOKS / "solutions"
        folder.mkdir(exist_ok=True)
        execute(notebook, f"solutions/{page_of(chapter)}", folder, timeout=120)
        scrub(notebook)
        for cell in notebook.cells:
            if cell.source.startswith("check."):
                said = "".join(output.get("text", "") for output in cell.outputs)
                if not said.startswith(("Right.", "Noted.", "Compare.")):
                    raise BuildError(f"Chapter {chapter}, {cell.source}: {said.strip()}")
    return nbformat.writes(notebook)


def write_exercises(chapters, check):
    """Write both notebooks of these chapters; returns how many could not be, or differ."""
    bad = 0
    for chapter in chapters:
        for folder in ("exercises", "solutions"):
            try:
                text = build_chapter(chapter, solved=folder == "solutions")
            except BuildError as error:
                bad += 1
                print(f"{error} The notebook was left as it was.", file=sys.stderr)
                continue
            name = f"{folder}/{page_of(chapter)}.ipynb"
            bad += write(
                NOTEBOOKS, name, text, check, f"python -m course.build exercises {chapter}"
            )
    return bad
