"""The bank of exercises: `course/exercises/<chapter's slug>/<name>.md` holds the exercise `name`.

A text begins with lines `key: value` between two `---`; the task follows, and then sections:

    # Hints        a list of three
    # Setup        more imports, shown before the stub
    # Stub         # Solution       # Because
    # Cases        Python that defines `cases`, and where wanted `call`, `properties`, `forbidden`,
                   `mistakes` that no program shows; for a test, `twins` and `mutants`
    # Right        other programs that are right
    # Mistakes     what is told, then the programs that are told it
    # Wrong        words of what is told by itself, then programs that are
    # Equivalent   why a change of the solution is as right as it, then the programs so changed
    # Points       # Misconceptions       # Rubric       of an explanation

A program is an edit of the solution, in a line `- `old` -> `new``, of several places with commas
between them; `- stub: ...` and `- right 2: ...` edit the stub and the second right program, and
`- stub` is the stub as it is. Or it is a fenced block: ```python holds all of it, ```diff (```diff
stub, ```diff right 2) the lines to take away (-) and to put in their place (+), with a line without
a sign between two places.
"""

import ast
import dataclasses
import importlib.util
import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from tutor.check.exercise import KINDS, PREDICT, Exercise, edited, evaluate, run_cell, set_up

INTEGERS = ("place", "difficulty", "importance", "minutes")
REQUIRED = ("section", "kind", "title", "goal", *INTEGERS)
OPTIONS = {"gradient": bool, "draws": bool, "tolerance": float, "on_page": bool, "raises": str}
NEEDED = ("Hints", "Stub", "Solution")
SECTIONS = (*NEEDED, "Setup", "Because", "Cases", "Right", "Mistakes", "Wrong")
SECTIONS += ("Equivalent", "Points", "Misconceptions", "Rubric")
MODULE = "<the bank>"  # of what a text defines, which no other process can import
EDIT = re.compile(r"`([^`]+)` -> `([^`]+)`")
DEFINED = ("cases", "call", "properties", "forbidden", "reference", "twins", "mutants")


class TextError(ValueError):
    """A text of the bank that cannot be read: file, line, what is wrong."""

    def __init__(self, path, line, said):
        super().__init__(f"{path}, line {line}: {said}")


def folder():
    """Where the bank lies, found without importing it."""
    course = importlib.util.find_spec("course")
    if course is None:  # installed before there was one
        raise ModuleNotFoundError("The exercises are missing: run `python -m pip install -e .`.")
    return Path(course.submodule_search_locations[0], "exercises")


@cache
def pages():
    """Slug -> number of each page that there is, in order: `depth` -> "05b"."""
    names = (folder().parent / "pages.txt").read_text(encoding="utf-8").split()
    return {slug: number for number, slug in map(number_and_slug, names)}


def number_and_slug(name):
    """The two parts of a page's name: `05b_depth` -> ("05b", "depth")."""
    number, _, slug = name.partition("_")
    return number, slug


def chapters():
    """The numbers of the chapters that have exercises, as "02"."""
    return [number for slug, number in pages().items() if (folder() / slug).is_dir()]


def texts(chapter):
    """(whether it is on the page, path) of each exercise of a chapter, in order."""
    slug = {number: slug for slug, number in pages().items()}[chapter]
    found = {}
    for path in sorted((folder() / slug).glob("*.md")):
        fields, _ = front_matter(path, path.read_text(encoding="utf-8").splitlines())
        at = fields.get("on_page", False), fields["place"]
        if at in found:
            said = f"{found[at].stem} has the place {at[1]}, too; the last one taken is"
            raise TextError(path, 2, f"{said} {max(place for on, place in found if on == at[0])}.")
        found[at] = path
    return [(on, path) for (on, _), path in sorted(found.items())]


@cache
def order(chapter):
    """The names of the exercises in a chapter's exercise notebook, in order."""
    return tuple(path.stem for on, path in texts(chapter) if not on)


@cache
def on_page(chapter):
    """The names of the exercises that the reader writes on the chapter's page."""
    return tuple(path.stem for on, path in texts(chapter) if on)


@cache
def places():
    """Name of each exercise -> its chapter. Raises ValueError if two have one name."""
    found = {}
    for chapter in chapters():
        for name in (*on_page(chapter), *order(chapter)):
            if name in found:
                raise ValueError(f"Two exercises are named {name!r}; rename one of them.")
            found[name] = chapter
    return found


@cache
def find(name):
    """The exercise of this name. Raises KeyError, with the nearest name, if there is none."""
    if name not in places():
        near = get_close_matches(name, places(), n=1, cutoff=0)[0]
        raise KeyError(f"There is no exercise {name!r}; the nearest name is {near!r}.")
    return read(next(path for _, path in texts(places()[name]) if path.stem == name))


def of_chapter(chapter):
    """The exercises of a chapter's exercise notebook, in order."""
    return [find(name) for name in order(chapter)]


def exercises():
    """All exercises by name, in the order of the chapters."""
    return {name: find(name) for name in places()}


# ---- reading one


def front_matter(path, lines):
    """The fields at the head of a text, and the number of lines that they take."""
    if not lines or lines[0] != "---" or "---" not in lines[1:]:
        raise TextError(path, 1, "begin with lines `key: value` between two `---`.")
    end, fields = lines.index("---", 1), {}
    for number, line in enumerate(lines[1:end], start=2):
        key, colon, value = line.partition(": ")
        try:
            if key in INTEGERS:
                fields[key] = int(value)
            elif OPTIONS.get(key) is bool:
                fields[key] = {"yes": True, "no": False}[value]
            elif key in OPTIONS:
                fields[key] = OPTIONS[key](value)
            elif key in REQUIRED and value:
                fields[key] = value
            else:
                raise ValueError
        except (KeyError, ValueError):
            raise TextError(path, number, f"{line!r} is no field of an exercise.") from None
    if missing := set(REQUIRED) - set(fields):
        raise TextError(path, end + 1, f"the field {min(missing)} is missing.")
    if fields["kind"] not in KINDS:
        raise TextError(path, end + 1, f"kind is one of {', '.join(KINDS)}.")
    return fields, end + 1


def entries(lines, start):
    """[(line, words, [(line, how, code)])]: text, and the edits and fenced blocks below it."""
    found, fence = [(start, [], [])], None
    for number, line in enumerate(lines, start=start):
        opening, blocks = re.match(r"(`{3,})(.*)", line), found[-1][2]
        if fence and line != fence:
            blocks[-1][2].append(line)
        elif fence:
            fence = None
        elif opening:
            fence = opening[1]
            blocks.append((number, opening[2].strip(), []))
        elif re.match(r"- (?:(?:stub|right \d+)(?:: `|$)|`)", line):
            blocks.append((number, "edit", [line[2:]]))
        elif blocks and line.startswith("  "):
            blocks[-1][2].append(line.strip())
        elif line.strip():
            if blocks or not found[-1][1]:
                found.append((number, [], []))
            found[-1][1].append(line.strip())
    return [
        (at, " ".join(words), [(n, how, "\n".join([*code, ""])) for n, how, code in blocks])
        for at, words, blocks in found
        if words or blocks
    ]


def sections(path, lines, start):
    """The task, and by heading the first line and the lines of each section."""
    found, fence, now = {"": (start + 1, [])}, None, ""
    for number, line in enumerate(lines[start:], start=start + 1):
        opening = re.match(r"`{3,}", line)
        if opening and (fence is None or line == fence):
            fence = None if fence else opening[0]
        if fence is None and line.startswith("# "):
            now = line[2:]
            if now not in SECTIONS or now in found:
                raise TextError(path, number, f"{now!r} stands twice, or is none of {SECTIONS}.")
            found[now] = (number + 1, [])
        else:
            found[now][1].append(line)
    for heading in NEEDED:
        if heading not in found:
            raise TextError(path, len(lines), f"the section {heading} is missing.")
    return found


def items(lines):
    """The items of a list, each in one line."""
    text = "\n".join(lines)
    return tuple(" ".join(item.split()) for item in re.split(r"^- ", text, flags=re.M)[1:])


def read(path):
    """The exercise that a text holds. Raises TextError, with file and line."""
    path = Path(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    fields, start = front_matter(path, lines)
    parts = sections(path, lines, start)

    def found(heading):
        return entries(parts[heading][1], parts[heading][0]) if heading in parts else []

    def programs(heading):
        return [block for _, _, blocks in found(heading) for block in blocks]

    def code(heading):
        blocks = programs(heading)
        if heading in parts and len(blocks) != 1:
            raise TextError(path, parts[heading][0], f"{heading} is one fenced block.")
        return blocks[0][2] if blocks else ""

    bases = {"stub": code("Stub"), "": code("Solution")}
    for line, how, right in programs("Right"):
        bases[f"right {len(bases) - 1}"] = whole(path, line, how, right, bases)
    points = [item.partition("? ") for item in items(parts.get("Points", (0, ()))[1])]
    if not all(point for _, _, point in points):
        raise TextError(path, parts["Points"][0], "each of the Points begins with its question.")
    exercise = Exercise(
        name=path.stem,
        chapter=pages()[path.parent.name],
        text="\n".join(parts[""][1]).strip(),
        hints=items(parts["Hints"][1]),
        stub=bases["stub"],
        solution=bases[""],
        right=tuple(bases.values())[2:],
        because=" ".join(words for _, words, _ in found("Because")),
        setup=code("Setup"),
        questions=tuple(f"{question}?" for question, _, _ in points),
        points=tuple(point for _, _, point in points),
        rubric="\n".join(parts["Rubric"][1]).strip() if "Rubric" in parts else "",
        **{key: value for key, value in fields.items() if key not in ("place", "on_page")},
    )
    told, mistakes, misconceptions, equivalent = {}, [], [], {}
    for heading in ("Mistakes", "Misconceptions", "Wrong", "Equivalent"):
        for number, words, blocks in found(heading):
            if heading == "Misconceptions" and blocks:
                expression = blocks.pop(0)[2].replace("\n", "")
                misconceptions.append((expression, words))
            if not (words and blocks):
                raise TextError(path, number, "words stand here, and a program that is told them.")
            for line, how, text in blocks:
                program = split(exercise, whole(path, line, how, text, bases))
                if heading == "Equivalent":
                    equivalent |= dict.fromkeys(program, words)
                    continue
                told |= dict.fromkeys(program, words)
                if heading == "Mistakes":
                    mistakes += [(words, one) for one in program]
    try:
        helpers = {"__name__": MODULE}
        set_up(exercise, helpers)
        run_cell(code("Cases"), helpers)
        given = {name: helpers[name] for name in DEFINED if name in helpers}
        given.setdefault("reference", evaluate(exercise, exercise.solution))
        behaviours = [(words, evaluate(exercise, program)) for words, program in mistakes]
    except Exception as error:
        raise TextError(path, parts.get("Cases", (1,))[0], f"this fails: {error!r}") from error
    return dataclasses.replace(
        exercise,
        wrong=told,
        equivalent=equivalent,
        mistakes=(*behaviours, *helpers.get("mistakes", ())),
        misconceptions=tuple(misconceptions),
        **given,
    )


def split(exercise, code):
    """The programs of a block: of predictions, each statement that sets the name ends one."""
    if exercise.kind != PREDICT:
        return [code]
    lines, programs, start = code.splitlines(keepends=True), [], 0
    for statement in ast.parse(code).body:
        targets = getattr(statement, "targets", [])
        if any(getattr(target, "id", "") == exercise.name for target in targets):
            programs.append("".join(lines[start : statement.end_lineno]))
            start = statement.end_lineno
    return programs


def whole(path, line, how, code, bases):
    """A program in full: as it stands, or as an edit of another one."""
    language, _, base = how.partition(" ")
    if language == "python":
        return code
    if language == "edit":
        head, _, rest = code.replace("\n", " ").partition("`")
        base, pairs = head.strip(" :"), EDIT.findall(f"`{rest}")
        if base not in bases:
            raise TextError(path, line, f"there is no {base!r} here, only {[*bases]}.")
        if not rest:  # as it is
            return bases[base]
        if pairs and not EDIT.sub("", f"`{rest}").strip(" ,"):
            return changed(path, line, bases[base], pairs)
        raise TextError(path, line, "edits are written `old` -> `new`, with commas.")
    if language != "diff" or base not in bases:
        names = ", ".join(f"`diff {name}`".replace(" `", "`") for name in bases)
        raise TextError(path, line, f"{how!r} is neither `python` nor one of {names}.")
    places, before = [], ""
    for text in code.splitlines():
        sign = text[:1]
        if sign == "-" != before or not places:
            places.append(([], []))
        if sign in ("-", "+"):
            places[-1][sign == "+"].append(text[1:])
        before = sign
    pairs = [("\n".join(old), "\n".join(new)) for old, new in places]
    return changed(path, line, bases[base], pairs)


def changed(path, line, code, pairs):
    try:
        return edited(code, *pairs)
    except ValueError as error:
        raise TextError(path, line, str(error)) from None
