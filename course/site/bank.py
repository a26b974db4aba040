"""A page for each exercise and each exhibit of the museum."""

import re

from mdit_py_plugins.anchors.index import slugify

from course.build.exercises import ASKED, page_of, title_of
from course.build.notebooks import NOTEBOOKS
from course.museum import EXHIBITS, verdicts
from tutor.check.bank import find, of_chapter, on_page
from tutor.check.exercise import EXPLAIN

HINTS = ("First hint", "Second hint", "Third hint")


def write_exercises(chapters, folder):
    """Write the pages of these chapters' exercises, and a page for each chapter that lists them."""
    for chapter in chapters:
        page = page_of(chapter)
        chosen = of_chapter(chapter)
        mine = [find(name) for name in on_page(chapter)]
        lines = [f"# Exercises {title_of(page)}", ""]
        lines += [f"To the chapter: [{title_of(page)}](../notebooks/{page}.ipynb).", ""]
        if chosen:
            lines += [
                f'<p class="tools"><a class="button" href="{page}.ipynb" download>'
                "Download the exercise notebook</a></p>",
                "",
            ]
        lines += listed("In the exercise notebook", chosen)
        lines += listed("On the chapter's page", mine)
        lines += hidden_toctree(exercise.name for exercise in (*chosen, *mine))
        (folder / f"{chapter}.md").write_text("\n".join(lines), encoding="utf-8")
        for exercise in (*chosen, *mine):
            (folder / f"{exercise.name}.md").write_text(exercise_page(exercise), encoding="utf-8")
    lines = ["# Exercises", "", "A check answers each in the notebook and names the mistake.", ""]
    lines += [f"- [{title_of(page_of(c))}]({c}.md)" for c in chapters]
    lines += hidden_toctree(chapters)
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def listed(heading, exercises):
    """A heading and the exercises below it, as Markdown lines."""
    if not exercises:
        return []
    return [f"## {heading}", ""] + [
        f"- [{exercise.title}]({exercise.name}.md) · {ASKED[exercise.kind]}, "
        f"{exercise.minutes} minutes"
        for exercise in exercises
    ] + [""]  # fmt: skip


def hidden_toctree(names):
    """The lines that tell Sphinx which pages follow, without showing them."""
    return ["", "```{toctree}", ":hidden:", "", *names, "```", ""]


def exercise_page(exercise):
    """An exercise as Markdown: the task, hints folded one by one, the solution folded."""
    page = page_of(exercise.chapter)
    section = f"../notebooks/{page}.ipynb#{anchor(page, exercise.section)}"
    parts = [
        f"# {exercise.title}",
        f"**Goal.** {exercise.goal}" if exercise.goal else "",
        f"**Name** `{exercise.name}` · **kind** {ASKED[exercise.kind]} · "
        f"**difficulty** {exercise.difficulty} of 5 · **time** {exercise.minutes} minutes · "
        f"**needs** [{exercise.section}]({section})",
        exercise.text.strip(),
        code(f"{exercise.setup.strip()}\n\n\n{exercise.stub.strip()}".strip()),
        *(fold(name, hint) for name, hint in zip(HINTS, exercise.hints, strict=True)),
        fold("A solution", code(exercise.solution.strip()), exercise.because),
    ]
    if exercise.kind == EXPLAIN:
        points = "\n".join(f"- {point}" for point in exercise.points)
        parts.append(fold("What a good text says", points))
    return "\n\n".join(part for part in parts if part) + "\n"


def anchor(page, section):
    """The anchor of a heading on a chapter's page; what is a formula there does not count."""
    text = (NOTEBOOKS / "source" / f"{page}.md").read_text(encoding="utf-8")
    for heading in re.findall(r"^#+ (.+)$", text, re.M):
        if heading.replace("$", "") == section.replace("$", ""):
            return slugify(re.sub(r"\$[^$]+\$", "", heading))
    return slugify(section)


def write_exhibits(folder):
    """Write a page for each exhibit of the museum, and one that lists them by symptom."""
    lines = ["# All exhibits of the museum", ""]
    lines += ["Each is code that runs and is wrong. Find the mistake before you unfold it.", ""]
    for symptom in dict.fromkeys(thing.symptom for thing in EXHIBITS.values()):
        lines += [f"## {symptom[0].upper()}{symptom[1:]}", ""]
        here = [thing for thing in EXHIBITS.values() if thing.symptom == symptom]
        lines += [f"- [`{thing.name}`]({thing.name}.md)" for thing in here] + [""]
    lines += hidden_toctree(EXHIBITS)
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")
    for exhibit in EXHIBITS.values():
        (folder / f"{exhibit.name}.md").write_text(exhibit_page(exhibit), encoding="utf-8")


def exhibit_page(exhibit):
    """An exhibit as Markdown: its code; all that gives the mistake away is folded."""
    said = "\n".join(f"{who}: {verdict}" for who, verdict in verdicts(exhibit).items())
    return "\n\n".join(
        [
            f"# `{exhibit.name}`",
            f"From [the museum of bugs](../notebooks/{page_of('12')}.ipynb). What is wrong here?",
            code(exhibit.source("wrong")),
            fold("What happens", code(exhibit.demonstrate(exhibit.wrong), "text")),
            fold(
                "A test that catches it",
                f"{exhibit.test}.",
                code(exhibit.source("check")),
                code(said, "text"),
            ),
            fold(
                "The mistake and its mend",
                f"**{exhibit.mistake}** {exhibit.story}",
                code(exhibit.source("mended")),
                code(f"mended: {exhibit.demonstrate(exhibit.mended)}", "text"),
                f"Seen in: {exhibit.seen}.",
            ),
        ]
    ) + "\n"  # fmt: skip


def code(text, language="python"):
    """A fenced block; its fence is longer than any within."""
    fence = "`" * max([3, *(len(found) + 1 for found in re.findall(r"`{3,}", text))])
    return f"{fence}{language}\n{text}\n{fence}"


def fold(summary, *parts):
    """Markdown that is closed until a reader opens it."""
    inside = "\n\n".join(part for part in parts if part)
    return f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>"
