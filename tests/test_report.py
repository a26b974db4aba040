"""What a teacher sees of a class: four submissions and some broken ones, graded by nbgrader."""

import csv
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import house_rules
import lab
import nbformat
import pytest

from course.build import __main__ as build
from course.grading import report
from tutor.check.bank import of_chapter
from tutor.check.examine import trouble_with
from tutor.check.exercise import EXPLAIN, MEND, WRITE, evaluate
from tutor.check.guard import Unnamed
from tutor.check.progress import TRIES, HowFar

pytest.importorskip("nbgrader", reason="pip install -r tests/requirements.txt brings nbgrader")

CHAPTER, NAME = "02", "02_single_head_attention"
BANK = [e for e in of_chapter(CHAPTER) if e.kind != EXPLAIN]
STUDENTS = [f"student{number:02}" for number in range(1, 5)]
LOUD = "<script>alert(1)</script><img src=http://example.com/x>"


def walk():
    """The commands of TEACHING.md, from a clone to a report: before and after the class works."""
    text = (house_rules.NOTEBOOKS / "TEACHING.md").read_text(encoding="utf-8")
    before, after = re.findall(r"^```\n(.+?)^```", text, re.M | re.S)[:2]
    install, *before = before.splitlines()
    assert install.startswith("python -m pip install ")
    return before, after.splitlines()


def drawn_answers(student):
    """Answers as a class gives them: most right, some blank, and one mistake the common one."""
    draw = random.Random(student)
    answers = {}
    for exercise in BANK:
        wrong = list(exercise.wrong)
        choices = [exercise.solution, exercise.stub, wrong[0], draw.choice(wrong)]
        (answers[exercise.name],) = draw.choices(choices, weights=(10, 2, 5, 4))
    return answers


CLASS = {student: drawn_answers(student) for student in STUDENTS}


def run(command, folder):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-c", command]
    env = {**os.environ, "PATH": path}
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=3600
    )


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course in which four students and two troublemakers were graded, as TEACHING.md says."""
    root = tmp_path_factory.mktemp("class")
    folder = root / "school"
    before, after = walk()
    done = run("\n".join(["set -e", *before]), root)
    assert done.returncode == 0, done.stderr
    released = (folder / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    for student, answers in CLASS.items():
        hand_in(folder, student, released, answers)
    name = next(e.name for e in BANK if e.kind in (WRITE, MEND))
    shout = f"def {name}(*_):\n    raise ValueError({LOUD!r} + '\\x1b[31m')"
    hand_in(folder, "=shouts", released, {name: shout})
    place(folder, "no_json").write_text("{ this is no notebook")
    for command in after:  # the grading says at its end that one submission could not be read
        done = run(command, folder)
        assert done.returncode == 0 or "autograde" in command, done.stderr
    return folder


def place(folder, student):
    target = folder / "submitted" / student / NAME / f"{NAME}.ipynb"
    target.parent.mkdir(parents=True)
    return target


def hand_in(folder, student, released, answers):
    """The released notebook with some answers filled in, as a student's checks left it."""
    notebook = nbformat.reads(released, as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.nbgrader["grade_id"]
        cell.source = answers.get(name, cell.source)
        if name.endswith("_check"):
            line = HowFar("In whatever words.", tries=3, hints=1)
            data, metadata = line._repr_mimebundle_()
            cell.outputs = [
                nbformat.v4.new_output("stream", text="Right. Yes.\n"),
                nbformat.v4.new_output("display_data", data=data, metadata=metadata),
                nbformat.v4.new_output("display_data", metadata={TRIES: ["not", "ours"]}),
            ]
    nbformat.write(notebook, place(folder, student))


def rows_of(folder):
    with open(folder / "class-report.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_counts_are_those_of_the_checks(course):
    """Computed apart: each answer of the four is given to its check here."""
    said = {e.name: Counter() for e in BANK}
    for answers in CLASS.values():
        for exercise in BANK:
            code = answers[exercise.name]
            wrong = trouble_with(exercise, evaluate(exercise, code), hidden=True)
            message = wrong and report.what_it_says(str(wrong))
            if code == exercise.stub:
                message = report.BLANK
            elif isinstance(wrong, Unnamed):
                message = report.NUMBERS_ONLY
            said[exercise.name][message] += 1
    for exercise in BANK:
        rows = [row for row in rows_of(course) if row["exercise"] == exercise.name]
        solved = sum(int(row["students"]) for row in rows if row["outcome"] == report.SOLVED)
        assert solved == said[exercise.name][None] > 0
        unnamed = [int(row["students"]) for row in rows if row["outcome"] == report.NUMBERS_ONLY]
        assert sum(unnamed) - said[exercise.name][report.NUMBERS_ONLY] in (0, 1)  # the shouting one
        named = {r["message"]: int(r["students"]) for r in rows if r["outcome"] == report.NAMED}
        assert named and all(
            said[exercise.name][message] == many for message, many in named.items()
        )
        assert {row["usual_tries"] for row in rows} == {"3"}
        assert {row["of"] for row in rows} == {f"{len(STUDENTS) + 2}"}
    page = (course / "class-report.html").read_text(encoding="utf-8")
    assert page.count(" with hints</span>") >= len(BANK)


def test_broken_submissions_cost_the_others_nothing(course):
    ungraded = [row for row in rows_of(course) if row["outcome"] == report.UNGRADED]
    assert len(ungraded) == len(of_chapter(CHAPTER))
    assert {row["students"] for row in ungraded} == {"1"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_in_a_browser(course, scheme, browser):
    for width in (400, 1100):
        page = browser.new_page(viewport=dict(width=width, height=900), color_scheme=scheme)
        watch = lab.Watch(page)
        page.goto((course / "class-report.html").as_uri())
        text = page.locator("body").inner_text()
        assert "Where the next lesson could begin" in text
        assert f"{len(STUDENTS) + 2} students" in text
        assert page.locator("script, img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        axe = lab.axe()
        assert axe is None or lab.violations(page, axe, "body") == []
        assert watch.errors == watch.outside == []


def test_what_is_no_course_is_told(tmp_path, capsys):
    assert build.main(["class-report", str(tmp_path)]) == 2
    assert "Name the folder of an nbgrader course" in capsys.readouterr().err
