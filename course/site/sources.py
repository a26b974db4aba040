"""The folder that Sphinx reads: chapters, exercises, exhibits, reference, appendices."""

import re
import shutil

import nbformat

from course.build.alone import repository
from course.build.exercises import title_of
from course.build.node import packages
from course.build.notebooks import NOTEBOOKS, REPOSITORY
from course.site import alive, bank, reference
from course.site.chapters import chapters, with_pages, write_chapter
from tutor.check.bank import chapters as chapters_with_exercises
from tutor.check.bank import exercises
from tutor.exchange import page

PARTS = ("notebooks", "exercises", "museum", "reference", "examples")
SENTENCES = (  # to try on the first page; the last one is no caption, and the model says so
    "A man is riding a white horse.",
    "A man is riding a bicycle.",
    "Two dogs are playing in the snow.",
    "a little girl eats ice cream",
    "A man is not smiling.",
    "Attention is all you need.",
)
EXTRA, STATIC = "extra", "static"  # what Sphinx copies as it is; to the site, and to _static


def write_sources(folder):
    """Write all that Sphinx reads to `folder`. Returns what `extension.py` has to know of it."""
    for part in (*PARTS, f"{EXTRA}/pictures", f"{EXTRA}/notebooks", f"{EXTRA}/exercises", STATIC):
        (folder / part).mkdir(parents=True)
    shutil.copytree(REPOSITORY / "images", folder / "images", ignore=shutil.ignore_patterns("*.py"))
    in_package, built = reference.defined(), {}
    pictures = folder / EXTRA / "pictures"
    for path in chapters():
        for name in write_chapter(path, folder / "notebooks", pictures, in_package):
            built.setdefault(name, (path.stem, title_of(path.stem)))
        shutil.copy(path, folder / EXTRA / "notebooks")
    for path in (NOTEBOOKS / "exercises").glob("*.ipynb"):
        shutil.copy(path, folder / EXTRA / "exercises")
    bank.write_exercises(chapters_with_exercises(), folder / "exercises")
    bank.write_exhibits(folder / "museum")
    reference.write_reference(folder / "reference")
    write_examples(folder / "examples")
    for name in ("symbols.md", "names.md", "TEACHING.md"):
        text = (NOTEBOOKS / name).read_text(encoding="utf-8")
        (folder / "notebooks" / name).write_text(with_pages(text), encoding="utf-8")
    (folder / "index.md").write_text(front_page(), encoding="utf-8")
    (folder / "about.md").write_text(about_page(), encoding="utf-8")
    write_static(folder / STATIC)
    questions = {f"notebooks/{path.stem}": opening(path)["question"] for path in chapters()}
    return {
        "built": built,  # name -> its chapter (page, title)
        "questions": questions,  # page -> what its chapter asks
        "repository": repository(),
        "version": cited("version"),
    }


def write_examples(folder):
    """Write a page for each script of `examples/`."""
    scripts = sorted((REPOSITORY / "examples").glob("*.py"))
    for path in scripts:
        code = bank.code(path.read_text(encoding="utf-8").strip())
        (folder / f"{path.stem}.md").write_text(f"# `{path.name}`\n\n{code}\n", encoding="utf-8")
    names = "\n".join(path.stem for path in scripts)
    (folder / "index.md").write_text(
        f"# Examples\n\nScripts that run without this package.\n\n```{{toctree}}\n{names}\n```\n",
        encoding="utf-8",
    )


def front_page():
    """The site's first page: the model itself, for whom the course is, and the way in."""
    title = (REPOSITORY / "README.md").read_text(encoding="utf-8").partition("\n\n")[0]
    paths = chapters()
    rows = [{"page": path.stem, "title": title_of(path.stem), **opening(path)} for path in paths]
    return bank.render(
        "front.md", title=title, chapters=rows, sentences=SENTENCES, view=first_view(paths[0]),
        exercises=len(exercises()), repository=repository(),
    )  # fmt: skip


def opening(path):
    """What the opening of a chapter says: {"question", "minutes"}."""
    text = (NOTEBOOKS / "source" / f"{path.stem}.md").read_text(encoding="utf-8")
    return {
        "question": re.search(r"^\*\*Question\.\*\* (.+)$", text, re.M)[1],
        "minutes": re.search(r"^\*\*Time\*\* (\d+) minutes", text, re.M)[1],
    }


def first_view(path):
    """The first view of a notebook, as it stands on the site's first page."""
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", ()):
            if shown := alive.state(output, path.name):
                return alive.as_html(shown, "")


def about_page():
    """What keeps the course true, who made it, and what may be done with it."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    lead, picture = readme.split("\n\n")[1:3]
    return bank.render(
        "about.md", lead=lead, picture=picture, repository=repository(),
        version=cited("version"), authors=cited("  - name"),
    )  # fmt: skip


def cited(key):
    """What CITATION.cff says at a key."""
    text = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    return re.search(f"^{key}: (.+)$", text, re.M)[1]


def write_static(folder):
    """Write the views' scripts and sheets, the models of the chapters' views, and what comes from
    npm with its licence.
    """
    (folder / "views").mkdir()
    for name, view in alive.classes().items():
        (folder / "views" / f"{name}.js").write_text(alive.script(view), encoding="utf-8")
        (folder / "views" / f"{name}.css").write_text(view._css, encoding="utf-8")
    (folder / "model").mkdir()
    (folder / "model" / "model.js").write_text(page.bundle(), encoding="utf-8")
    texts = "".join(path.read_text("utf-8") for path in (folder.parent / "notebooks").iterdir())
    for model in alive.MODELS:
        name = alive.weights_file(model)
        if name in texts:
            (folder / "model" / name).write_text(page.weights(model), encoding="utf-8")
    shutil.copy(page.BUNDLES / "LICENSE-tokenizers", folder / "model")
    katex = packages() / "katex"
    for pattern in ("LICENSE", "dist/katex.min.*s", "dist/fonts/*.woff2"):
        for path in katex.glob(pattern):
            copy = folder / "katex" / path.relative_to(katex)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
