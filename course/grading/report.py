"""What a class found hard: one page and one table out of nbgrader's graded submissions.

Points come from the gradebook, so a teacher's changes count; the mistakes are those that the checks
named in `autograded/`, and the tries those that the students' own checks counted in `submitted/`.
Whatever stands in a submission is data here: nothing of it is run, and all of it is escaped.
"""

import csv
import io
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import nbformat

from course.build.exercises import page_of, title_of
from course.build.notebooks import BuildError, write_atomically
from tutor.check.bank import of_chapter
from tutor.check.exercise import EXPLAIN
from tutor.check.guard import NotWritten, Unnamed
from tutor.check.progress import TRIES

SOLVED, BLANK, NAMED, NUMBERS_ONLY, WAITING, UNGRADED = OUTCOMES = (
    "solved",
    "left blank",
    "named mistake",
    "only numbers",  # wrong, and the check has no name for how
    "waits for a person",
    "not graded",
)
MESSAGE_LIMIT = 400  # characters
CONTROL = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f]")  # colours of a terminal, and worse
TEMPLATE = Path(__file__).with_name("class_report.html")


@dataclass
class Row:
    """What became of one exercise in a class."""

    exercise: object
    students: dict = field(default_factory=dict)  # student -> (outcome, message)
    tries: list = field(default_factory=list)  # of the students whose notebook tells them
    with_hints: int = 0  # of these students
    points: list = field(default_factory=list)

    def count(self, *outcomes):
        return sum(outcome in outcomes for outcome, _ in self.students.values())

    @property
    def judged(self):
        return len(self.students) - self.count(UNGRADED, WAITING)

    @property
    def share(self):
        """Of those who were graded, the share that solved it; None if nobody was."""
        return self.count(SOLVED) / self.judged if self.judged else None

    @property
    def usual_tries(self):
        return median(self.tries) if self.tries else None

    @property
    def unnamed(self):
        """Whether most of those who failed were told numbers only."""
        return self.count(NUMBERS_ONLY) > self.count(NAMED, NUMBERS_ONLY) / 2

    @property
    def mistakes(self):
        """(message, students) of what went wrong, the commonest first."""
        who = defaultdict(list)
        for student, (outcome, message) in sorted(self.students.items()):
            if outcome == NAMED:
                who[message].append(student)
        return sorted(who.items(), key=lambda item: -len(item[1]))

    def those(self, outcome):
        return sorted(s for s, (became, _) in self.students.items() if became == outcome)


def write_report(folder, chapters):
    """Write class-report.html and class-report.csv into a course's folder.

    Raises:
        BuildError: the folder is no course of nbgrader, or nothing in it has been graded.
    """
    if not (folder / "gradebook.db").is_file():
        raise BuildError(
            f"{folder} has no gradebook.db. Name the folder of an nbgrader course in which "
            "`nbgrader autograde` has been run."
        )
    parts = {c: rows for c in chapters if (rows := rows_of(folder, c))}
    if not parts:
        raise BuildError(
            f"Nothing in {folder} has been graded: run `nbgrader autograde` with the name of an "
            "assignment first."
        )
    for name, text in (("class-report.html", page(parts)), ("class-report.csv", table(parts))):
        write_atomically(folder / name, text)
        print(folder / name)


# ---- reading


def rows_of(folder, chapter):
    """A Row for each exercise of a chapter, [] if nobody has handed anything in."""
    from nbgrader.api import Gradebook

    assignment = page_of(chapter)
    rows = [Row(exercise) for exercise in of_chapter(chapter)]
    pattern = f"*/{assignment}"
    handed_in = {
        p.parent.name for f in ("submitted", "autograded") for p in (folder / f).glob(pattern)
    }
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        grades = {
            (submission.student.id, grade.name.removesuffix("_check")): grade
            for submission in book.assignment_submissions(assignment)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }
        for student in sorted(handed_in):
            graded = cells_of(folder / "autograded" / student / assignment, assignment)
            own = cells_of(folder / "submitted" / student / assignment, assignment)
            for row in rows:
                name = row.exercise.name
                grade = grades.get((student, name))
                row.students[student] = became(row.exercise, grade, graded)
                if grade is not None and not grade.needs_manual_grade:
                    row.points.append(grade.score)
                for counted in counted_in(own.get(f"{name}_check", {})):
                    row.tries.append(counted["tries"])
                    row.with_hints += counted["hints"] > 0
    return rows if handed_in else []


def cells_of(folder, assignment):
    """grade_id -> cell of one student's notebook; {} if it cannot be read."""
    try:
        notebook = nbformat.read(folder / f"{assignment}.ipynb", as_version=4)
        return {str(c.metadata.get("nbgrader", {}).get("grade_id")): c for c in notebook.cells}
    except Exception:  # whatever a student made of the file
        return {}


def counted_in(cell):
    """Yield the tries and hints that a check left in its outputs; what else stands there is none
    of ours."""
    for output in cell.get("outputs", []):
        counted = output.get("metadata", {}).get(TRIES)
        if isinstance(counted, dict) and counted.keys() == {"tries", "hints"}:
            if all(type(n) is int and 0 <= n < 10**6 for n in counted.values()):
                yield counted


def became(exercise, grade, cells):
    """(outcome, message) of one answer."""
    answer, check = cells.get(exercise.name), cells.get(f"{exercise.name}_check")
    if grade is None or answer is None or check is None:
        return UNGRADED, ""
    if answer.source.strip() == exercise.stub.strip():
        return BLANK, ""
    if exercise.kind == EXPLAIN:
        if grade.needs_manual_grade:
            return WAITING, ""
        return (SOLVED if grade.score == grade.max_score else NAMED), f"{grade.score:g} points"
    if grade.score == grade.max_score:
        return SOLVED, ""
    said = [output for output in check.get("outputs", []) if output.output_type == "error"]
    message = CONTROL.sub("", "".join(output.evalue for output in said)).strip()
    if any(output.ename == NotWritten.__name__ for output in said):
        return BLANK, ""
    named = message and all(output.ename != Unnamed.__name__ for output in said)
    return (NAMED if named else NUMBERS_ONLY), what_it_says(message)[:MESSAGE_LIMIT]


def what_it_says(message):
    """The line of a check's message that tells most: what differs comes before the reason."""
    lines = message.partition("\nExample: ")[0].splitlines() or [""]
    return lines[-1] if len(lines) == 2 else lines[0]


# ---- writing


def commonest(parts, many=5):
    """(row, message, students) of the mistakes that most students share, over all chapters."""
    found = [(row, *item) for rows in parts.values() for row in rows for item in row.mistakes]
    return sorted((f for f in found if len(f[2]) > 1), key=lambda f: -len(f[2]))[:many]


def page(parts):
    """The report as one HTML file, which asks for nothing outside it."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["code"] = with_code
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    students = {s for rows in parts.values() for row in rows for s in row.students}
    chapters = [(title_of(page_of(chapter)), rows) for chapter, rows in parts.items()]
    return template.render(
        chapters=chapters,
        students=students,
        commonest=commonest(parts),
        UNGRADED=UNGRADED,
        NUMBERS_ONLY=NUMBERS_ONLY,
        BLANK=BLANK,
        WAITING=WAITING,
        SOLVED=SOLVED,
    )


def with_code(message):
    """A message as safe HTML, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(message))))


def table(parts):
    """The counts as CSV: a line for each exercise and what became of it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["chapter", "exercise", "outcome", "message", "students", "of", "usual_tries"])
    for chapter, rows in parts.items():
        for row in rows:
            counts = Counter(row.students.values())
            tries = f"{row.usual_tries:g}" if row.tries else ""
            for (outcome, message), many in counts.most_common():
                line = [chapter, row.exercise.name, outcome, message, many, len(row.students)]
                writer.writerow([harmless(x) for x in line] + [tries])
    return out.getvalue()


def harmless(value):
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
