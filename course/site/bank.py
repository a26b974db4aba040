"""A page for each exercise and each exhibit of the museum, from the templates beside."""

import re
from pathlib import Path

from course.build.alone import opened_at
from course.build.exercises import KIND_NAMES, page_of, title_of
from course.build.notebooks import NOTEBOOKS
from course.museum import EXHIBITS, verdicts
from course.site.answers import cases_of, in_page
from tutor.check.bank import find, number_and_slug, of_chapter, on_page, pages


def render(template, **values):
    """A template of `templates/` with these values in it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    helpers = {"code": code, "fold": fold, "table": table, "hidden_toctree": hidden_toctree}
    return environment.get_template(template).render(**helpers, **values) + "\n"


def code(text, language="python"):
    """A fenced block; its fence is longer than any within."""
    fence = "`" * max([3, *(len(found) + 1 for found in re.findall(r"`{3,}", text))])
    return f"{fence}{language}\n{text}\n{fence}"


def fold(summary, *parts):
    """Markdown that is closed until a reader opens it."""
    inside = "\n\n".join(part for part in parts if part)
    return f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>"


def table(head, rows):
    """A table of code."""
    lines = [head, ["---"] * len(head)]
    lines += [[f"`{cell}`".replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def hidden_toctree(names):
    """The lines that tell Sphinx which pages follow, without showing them."""
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])


def write_exercises(chapters, folder):
    """Write the pages of these chapters' exercises, and a page for each chapter that lists them."""
    for chapter in chapters:
        chosen = list(of_chapter(chapter))
        mine = [find(name) for name in on_page(chapter)]
        page = page_of(chapter)
        text = render(
            "exercises.md", page=page, title=title_of(page), chosen=chosen, on_page=mine,
            kinds=KIND_NAMES,
        )  # fmt: skip
        (folder / f"{number_and_slug(page)[1]}.md").write_text(text, encoding="utf-8")
        for exercise in (*chosen, *mine):
            text = render(
                "exercise.md", exercise=exercise, kind=KIND_NAMES[exercise.kind],
                answer=in_page(exercise), cases=cases_of(exercise),
                notebook=notebook_of(exercise, page),
                section=f"../notebooks/{page}.ipynb#{anchor(page, exercise.section)}",
            )  # fmt: skip
            (folder / f"{exercise.name}.md").write_text(text, encoding="utf-8")
    lines = ["# Exercises", "", "A check answers each in the notebook and names the mistake.", ""]
    slugs = {
        number_and_slug(page_of(chapter))[1]: title_of(page_of(chapter)) for chapter in chapters
    }
    lines += [f"- [{title}]({slug}.md)" for slug, title in slugs.items()]
    lines += ["", hidden_toctree(slugs), ""]
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def notebook_of(exercise, page):
    """Where an exercise can be worked on: its notebook, and the services that open it."""
    here = f"{page}.ipynb"
    path = here if exercise.name in on_page(exercise.chapter) else f"exercises/{here}"
    local = here if here != path else f"../notebooks/{path}"
    links = [f'<a href="{local}" download>download the notebook</a>']
    links += [f'<a href="{url}">{words}</a>' for words, url in opened_at(path).items()]
    return " · ".join(links)


def anchor(page, section):
    """The anchor of a heading on a chapter's page; what is a formula there does not count."""
    from mdit_py_plugins.anchors.index import slugify

    text = (NOTEBOOKS / "source" / f"{page}.md").read_text(encoding="utf-8")
    for heading in re.findall(r"^#+ (.+)$", text, re.M):
        if heading.replace("$", "") == section.replace("$", ""):
            return slugify(re.sub(r"\$[^$]+\$", "", heading))
    return slugify(section)


def write_exhibits(folder):
    """Write a page for each exhibit of the museum, and one that lists them by symptom."""
    by_symptom, museum = {}, page_of(pages()["the_museum_of_bugs"])
    for exhibit in EXHIBITS.values():
        by_symptom.setdefault(exhibit.symptom, []).append(exhibit)
        said = "\n".join(f"{who}: {verdict}" for who, verdict in verdicts(exhibit).items())
        text = render("exhibit.md", exhibit=exhibit, museum=museum, said=said)
        (folder / f"{exhibit.name}.md").write_text(text, encoding="utf-8")
    text = render("exhibits.md", by_symptom=by_symptom, names=EXHIBITS)
    (folder / "index.md").write_text(text, encoding="utf-8")
