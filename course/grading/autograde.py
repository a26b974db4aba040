"""How nbgrader grades these exercises: each answer in a process of its own, judged in nbgrader's.

`grading()` takes the place of nbgrader's step `Execute`. A notebook still runs in a kernel from top
to bottom, for what its cells print and for tests that a teacher wrote. A check of an exercise of
ours does not run there: its answer gets a process (course/grading/apart.py), and what comes back is
compared here, where no line of a student's ever runs.
"""

import shutil
import tempfile
from pathlib import Path

from nbformat.v4 import new_output
from nbformat.v4.nbbase import validate

from course.grading.apart import Apart, MissingName
from course.grading.confine import landlock_version
from tutor.check import Check, bank
from tutor.check.bank import find, places
from tutor.check.examine import trouble_with
from tutor.check.exercise import EXPLAIN
from tutor.check.guard import NOT_WRITTEN, NotWritten, Trouble, Unnamed

OUTPUT = 10_000_000  # characters that a cell may show
DEAD = "This cell ended the kernel: it leaves the program, crashes it, or takes too much memory."
FLOOD = f"This cell shows more than {OUTPUT:,} characters."
BUSY = "This cell was stopped after {} seconds: is it very slow, or has a loop no end?"
BROKEN = "This cell's output is not what a notebook can show."
UNJUDGED = Unnamed("What your answer returns cannot be compared with what is wanted.")
UNFENCED = (
    "This system has no Landlock (Linux 5.13 or newer has): little more than an audit hook of "
    "Python's keeps an answer from your files. Grade in a container, as TEACHING.md says, if you "
    "do not know who hands in."
)
KERNEL_START = """\
import os, tempfile, torch, tutor.check
from course.grading.confine import confine, leave_checks_to_the_judge
torch.set_num_threads(1)
leave_checks_to_the_judge()
tempfile.tempdir = os.environ["TMPDIR"] = {folder!r}
confine([os.getcwd(), {folder!r}], {closed!r}, alone=False, memory=2**32)
del os, tempfile, torch, tutor, confine, leave_checks_to_the_judge
"""


def closed_folders(course=None):
    """What nobody may read while a student's code runs: solutions, and the course's other work."""
    solutions = Path(__file__).parents[2] / "notebooks" / "solutions"
    closed = [bank.folder(), solutions]
    if course:
        private = "source", "submitted", "autograded", "feedback", "gradebook.db"
        closed += [course / name for name in private]
    return [str(path) for path in closed]


def exercise_of(cell):
    """The exercise that a cell checks, None if it is no check of ours."""
    about = cell.metadata.get("nbgrader", {})
    identity = about.get("grade_id", "")
    name = identity.removesuffix("_check")
    ours = about.get("locked") and name != identity and name in places()
    return find(name) if ours and f"check.{name}(" in cell.source else None


def judged(exercise, alone, all_before, seconds, closed, log):
    """The Trouble with an answer, None if nothing is wrong.

    alone: the cells that it needs, as we see it. all_before: all of the notebook, for an answer
        that uses a name which the student defined in another cell.
    """
    for cells, limit in ((alone, None), (all_before, seconds)):
        try:
            with Apart(cells, exercise.name, closed, limit) as there:
                wrong = trouble_with(exercise, there.answer, hidden=True, run=there.run)
                missing = there.missing
                if wrong and there.gap:
                    wrong = NotWritten(NOT_WRITTEN.format("..."))
        except Trouble as trouble:
            wrong, missing = trouble, isinstance(trouble, MissingName)
        except Exception:
            log.exception("The exercise %s could not be judged.", exercise.name)
            return UNJUDGED
        if not (wrong and missing):
            break
    return wrong


def grading():
    """The step for nbgrader."""
    from nbclient.exceptions import CellControlSignal, CellTimeoutError, DeadKernelError
    from nbgrader.preprocessors import Execute

    class Grading(Execute):
        def preprocess(self, notebook, resources, **options):
            self.folder = tempfile.mkdtemp(prefix="kernel-")
            course = Path(resources["metadata"]["path"]).resolve().parents[2]
            self.closed = closed_folders(course)
            self.well = []  # the cells that the kernel has survived
            if not landlock_version():
                self.log.warning(UNFENCED)
            try:
                return super().preprocess(notebook, resources, **options)
            finally:
                shutil.rmtree(self.folder, ignore_errors=True)

        def preprocess_cell(self, cell, resources, index):
            exercise = exercise_of(cell) if cell.cell_type == "code" else None
            if exercise:
                cell.outputs = self.verdict(exercise, cell, index)
                return cell, resources
            try:
                self.shown = 0
                cell, resources = super().preprocess_cell(cell, resources, index)
                self.well.append(cell)
            except Exception as error:  # also what comes of messages that are none
                said = {CellTimeoutError: BUSY.format(self.timeout), DeadKernelError: DEAD}
                said = said.get(type(error), BROKEN)
                cell.outputs = [failure(said)]
                self.start_again()
            if self.shown > OUTPUT:
                cell.outputs = [failure(FLOOD)]
            if cell.cell_type == "code":
                try:
                    validate(cell, "code_cell")
                except Exception:
                    cell.outputs = [failure(BROKEN)]
            return cell, resources

        def verdict(self, exercise, check, index):
            """What stands below a check."""
            before = [c for c in self.nb.cells[:index] if c.cell_type == "code"]
            before = [c.source for c in before if any(c is well for well in self.well)]
            own = [c.source for c in self.nb.cells[:index] if needed(c, exercise.name)]
            wrong = judged(exercise, own, before, self.timeout, self.closed, self.log)
            if wrong is None:
                return [new_output("stream", text=Check(exercise).praise() + "\n")]
            if exercise.kind == EXPLAIN:  # a person grades it
                return [new_output("stream", text=f"Not yet. {wrong}\n")]
            return [failure(str(wrong), type(wrong).__name__)]

        # ---- the kernel

        def start_new_kernel_client(self, **options):
            client = super().start_new_kernel_client(**options)
            limit, self.timeout = self.timeout, None  # it holds for students' cells, not for this
            try:
                self.run_quietly(KERNEL_START.format(folder=self.folder, closed=self.closed))
            finally:
                self.timeout = limit
            return client

        def run_quietly(self, source):
            reply = self.wait_for_reply(self.kc.execute(source, silent=True))
            return reply and reply["content"]

        def start_again(self):
            """A new kernel in place of one that is dead or does not answer, brought as far."""
            self._cleanup_kernel()
            self.km = self.create_kernel_manager()
            self.start_new_kernel()
            self.start_new_kernel_client()
            for cell in list(self.well):
                try:
                    self.run_quietly(cell.source)
                except (CellTimeoutError, DeadKernelError):
                    self.well = [c for c in self.well if c is not cell]
                    return self.start_again()

        def process_message(self, msg, cell, cell_index):
            self.shown += len(str(msg["content"]))
            if self.shown > OUTPUT and msg["msg_type"] != "status":
                return None
            try:
                return super().process_message(msg, cell, cell_index)
            except CellControlSignal:  # it is the last one
                raise
            except Exception as error:
                self.log.warning("A message of the kernel is dropped: %r", error)

    return Grading


def needed(cell, name):
    """Whether a cell is an exercise's answer, or one of ours that prepares something."""
    about = cell.metadata.get("nbgrader", {})
    if cell.cell_type != "code":
        return False
    prepares = about.get("locked") and not about.get("grade") and not exercise_of(cell)
    return prepares or about.get("grade_id") == name


def failure(said, kind=Trouble.__name__):
    """An output that takes the points. Its kind tells the class report whether a name was found."""
    return new_output("error", ename=kind, evalue=said, traceback=[said])
