"""What a learner tried and solved, kept in one small file of their own and sent nowhere.

The file is `transformer-progress.json` in the home folder. The environment variable TUTOR_PROGRESS
names another place; set and empty, it means that nothing is kept. A file that cannot be written
costs one sentence and nothing else: the checks work as before.
"""

import hashlib
import itertools
import json
import os
import tempfile
from pathlib import Path

from filelock import FileLock

NAME, VARIABLE, VERSION = "transformer-progress.json", "TUTOR_PROGRESS", 1
ABOUT = "Progress in the exercises of the Transformer course. Delete this file to begin anew."
PATIENCE = 10.0  # seconds to wait for another notebook that writes

TRIES = "tutor_tries"  # of an output's metadata: {"tries": 3, "hints": 1}

# Of one exercise. Tries are counted until it is solved; 0 in `solved_at_try`: not yet.
COUNTED = ("tries", "hints", "solved_at_try", "solved_with_hints")

ON_REQUEST = "on request"  # how a learner came to see an explanation's points

_here = {}  # the records that could not be kept, as long as the kernel lives
_said, _news = set(), []  # sentences about the file: all so far, and those still to be said


class HowFar:
    """The line below a check's message; a notebook keeps its numbers too, for a class report."""

    def __init__(self, line, tries, hints):
        self.line, self.numbers = line, {"tries": tries, "hints": hints}

    def __repr__(self):
        return self.line

    def _repr_mimebundle_(self, **_):
        return {"text/plain": self.line}, {TRIES: self.numbers}


class NotKept(Exception):
    """Why the file is left alone."""


TROUBLE = (NotKept, OSError, RuntimeError)  # RuntimeError: no home, or a disk that knows no locks


# ---- the file


def place():
    """The path of the file, None if nothing is to be kept.

    Raises:
        RuntimeError: nobody knows the home folder.
    """
    named = os.environ.get(VARIABLE)
    if named == "":
        return None
    path = Path(named or Path("~", NAME)).expanduser().resolve()
    return path / NAME if path.is_dir() else path


def change(name, how):
    """Apply `how` to the record of an exercise; returns the record and whether it was kept."""
    try:
        path = place()
        if path:
            with locked(path):
                new, course = not path.exists(), load(path)
                record = clean(course["exercises"].get(name))
                how(record)
                course["exercises"][name] = record
                write(path, course)
            if new:
                tell(f"Your progress is kept in {path}; `check.progress()` shows it.")
            _here.pop(name, None)
            return record, True
    except TROUBLE as error:
        tell(f"Your progress is not kept: {reason(error)}.")
    record = _here.setdefault(name, clean(None))
    how(record)
    return record, False


def records():
    """The record of each exercise that was tried, by name."""
    found = {}
    try:
        path = place()
        if path and path.exists():
            try:
                with locked(path):
                    found = load(path)["exercises"]
            except OSError:  # what cannot be written can still be read
                found = load(path)["exercises"]
    except TROUBLE as error:
        tell(f"Your progress cannot be read: {reason(error)}.")
    return {name: clean(record) for name, record in found.items()} | _here


def record(name):
    """The record of one exercise."""
    return records().get(name, clean(None))


def locked(path):
    """The right to read and write, which one process has at a time."""
    if not path.parent.is_dir():  # FileLock would make it
        raise NotKept(f"there is no folder {path.parent}")
    return FileLock(path.with_name(f".{path.name}.lock"), timeout=PATIENCE)


def load(path):
    """What the file holds; one that cannot be understood is put aside.

    Raises:
        NotKept: a newer version of the course wrote it.
    """
    try:
        course = json.loads(path.read_text(encoding="utf-8").strip() or "{}")
        if not isinstance(course, dict) or not isinstance(course.get("exercises", {}), dict):
            raise ValueError
    except FileNotFoundError:
        course = {}
    except (ValueError, RecursionError):
        course, aside = {}, beside(path)
        os.replace(path, aside)
        tell(f"{path} is damaged; it was renamed to {aside.name}, and a new one begun.")
    version = course.get("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        raise NotKept(f"a newer version of this course wrote {path}")
    return {"about": ABOUT, "version": VERSION, "exercises": {}} | course


def beside(path):
    """The first free name for a damaged file."""
    names = (path.with_name(f"{path.name}.broken{n or ''}") for n in itertools.count())
    return next(name for name in names if not name.exists())


def write(path, course):
    """Write the whole file or nothing."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".tmp")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(course, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def clean(record):
    """A record with every number that it should have, whatever stood in the file."""
    record = dict(record) if isinstance(record, dict) else {}
    for key in COUNTED:
        value = record.get(key)
        record[key] = value if type(value) is int and 0 <= value < 10**6 else 0
    return record


def reason(error):
    """Why something failed, without a full stop."""
    return (getattr(error, "strerror", None) or str(error)).rstrip(".")


def tell(sentence):
    """Have a sentence said below the next message, once."""
    if sentence not in _said:
        _said.add(sentence)
        _news.append(sentence)


def news():
    """The sentences that are still to be said."""
    said = list(_news)
    _news.clear()
    return said


def whereabouts():
    """Where the file is, and what can be done with it."""
    try:
        path = place()
    except TROUBLE as error:
        return f"Nothing is kept: {reason(error)}."
    if path is None:
        return f"Nothing is kept, because the environment variable {VARIABLE} is empty."
    lost = "What could not be written lasts as long as this kernel. " if _here else ""
    return lost + (
        f"Kept in {path}, on this machine alone. Delete that file to begin anew. The environment "
        f"variable {VARIABLE} names another place; if it is empty, nothing is kept."
    )


# ---- what happens to a record


def tried(exercise, right):
    """Count a try; the lines to say below the message, none where nothing is kept."""

    def count(record):
        if not record["solved_at_try"]:
            record["tries"] += 1
            if right:
                solve(record)

    record, kept = change(exercise.name, count)
    return [*news(), *([how_far(exercise.name, record, right)] if kept else [])]


def solve(record):
    if not record["solved_at_try"]:
        record["solved_at_try"] = record["tries"]
        record["solved_with_hints"] = record["hints"] + (record.get("points") == ON_REQUEST)


def how_far(name, record, right):
    """How far a learner is, in words; a HowFar, unless the exercise was solved before."""
    at, tries, hints = record["solved_at_try"], record["tries"], record["solved_with_hints"]
    if right:
        line = f"Solved at try {at}, with{some(hints, 'hint', 'out a hint')}."
        return HowFar(line, at, hints)
    if at:
        return f"(solved before, at try {at})"
    offer = f"; `check.{name}.hint()` helps" if tries > 1 and not record["hints"] else ""
    return HowFar(f"(try {tries}{offer})", tries, 0)


def some(number, word, none):
    """ " 1 hint", " 2 hints", or what to say for none."""
    return f" {number} {word}{'' if number == 1 else 's'}" if number else none


def next_hint(exercise):
    """Count one more hint and return its number, 0 if all were seen."""
    last, shown = len(exercise.hints), []

    def look(record):
        seen = min(record["hints"], last)  # the course may have changed
        shown.append(seen + 1 if seen < last else 0)
        record["hints"] = min(seen + 1, last)

    change(exercise.name, look)
    return shown[-1]


def explained(exercise, text):
    """Note a text; may its writer see the points? With the second one, or if they were shown."""
    said = "".join(filter(str.isalnum, text.lower()))
    mark = hashlib.sha256(said.encode()).hexdigest()[:16]

    def note(record):
        if record.setdefault("first_text", mark) != mark and not sees_points(record):
            record["points"] = "after a second text"

    return sees_points(change(exercise.name, note)[0])


def sees_points(record):
    return bool(record.get("points") or record["solved_at_try"])


def show_points(exercise):
    """Note that a learner asked for the points; is it a hint, since no second text was written?"""

    def note(record):
        if not sees_points(record):
            record["points"] = ON_REQUEST

    return change(exercise.name, note)[0].get("points") == ON_REQUEST


def tick(exercise, numbers):
    """Note which points an explanation makes; the lines to say, as `tried` has them.

    With all of them it is solved, by the learner's own word.
    """

    def note(record):
        record["ticked"] = numbers
        if complete:
            solve(record)

    complete = len(numbers) == len(exercise.points)
    record, kept = change(exercise.name, note)
    return [*news(), *([how_far(exercise.name, record, complete)] if kept and complete else [])]
