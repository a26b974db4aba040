"""How long nbgrader takes to grade a class: 30 submissions of one chapter's exercises.

    python tests/benchmarks/classroom.py [--chapter 02] [--submissions 30]

A third hands in solutions, a third blanks, a third wrong answers from the bank. Prints the time of
autograding and of writing feedback. The last line is one JSON object: submissions,
autograde_seconds, feedback_seconds, seconds_each.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from course.build.exercises import page_of
from course.grading import classroom
from tutor.check.bank import of_chapter
from tutor.check.exercise import EXPLAIN


def nbgrader(folder, *arguments):
    start = time.perf_counter()
    command = [sys.executable, "-m", "nbgrader", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def answers(chosen, number):
    """What student `number` writes: {exercise: code}."""
    if number % 3 == 0:
        return {e.name: e.solution for e in chosen}
    if number % 3 == 1:
        return {}
    pick = itertools.cycle
    wrong = {e.name: pick(e.wrong) for e in chosen if e.kind != EXPLAIN}
    return {name: next(itertools.islice(codes, number // 3, None)) for name, codes in wrong.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chapter", default="02")
    parser.add_argument("--submissions", type=int, default=30)
    args = parser.parse_args()
    name = page_of(args.chapter)
    chosen = of_chapter(args.chapter)
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        classroom.write_course(folder, [args.chapter])
        nbgrader(folder, "generate_assignment", name)
        released = folder / "release" / name / f"{name}.ipynb"
        for number in range(args.submissions):
            notebook = nbformat.read(released, as_version=4)
            written = answers(chosen, number)
            for cell in notebook.cells:
                cell.source = written.get(cell.metadata.nbgrader["grade_id"], cell.source)
            target = folder / "submitted" / f"student{number:02}" / name / f"{name}.ipynb"
            target.parent.mkdir(parents=True)
            nbformat.write(notebook, target)
        graded = nbgrader(folder, "autograde", name)
        told = nbgrader(folder, "generate_feedback", name)
    print(f"{args.submissions} submissions of {len(chosen)} exercises, chapter {args.chapter}")
    print(f"autograde {graded:.0f} s, feedback {told:.0f} s")
    result = {
        "submissions": args.submissions,
        "autograde_seconds": round(graded, 1),
        "feedback_seconds": round(told, 1),
        "seconds_each": round(graded / args.submissions, 2),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
