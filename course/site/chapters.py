"""A chapter's notebook as Sphinx reads it: outputs as HTML, links to pages, views alive."""

import ast
import base64
import html
import re
import struct

import nbformat
from nbformat.v4 import new_markdown_cell

from course.build.alone import opened_at
from course.build.minutes import exercise_minutes
from course.build.notebooks import NOTEBOOKS
from course.site import alive
from tutor.check.bank import number_and_slug

INLINE = re.compile(r'src="data:image/(png|svg\+xml);base64,([^"]+)"')
ON_THE_SITE = (
    "**You read this on the site**, where no cell can be run and all views answer. To run and "
    "change cells, [install the course](../index.md#run-it-yourself)."
)


def chapters():
    """The notebooks of the course, in order."""
    return sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))


def write_chapter(path, folder, pictures, defined):
    """Write one chapter for Sphinx.

    path: its notebook. folder: where the page's text goes. pictures: where its pictures go.
    defined: name -> module, what the package defines. Returns the names that the page builds.
    """
    notebook = nbformat.read(path, as_version=4)
    keep = Pictures(path.stem, pictures)
    built, cells = [], []
    for c, cell in enumerate(notebook.cells):
        cells.append(cell)
        if cell.cell_type == "markdown":
            cell.source = with_pages(cell.source)
            if c == 0:
                cell.source = with_tools(cell.source, path)
            continue
        for output in cell.outputs:
            to_html(output, keep, alive.state(output, path.name))
        names = [name for name in definitions(cell) if name in defined]
        built += names
        if names:
            cells.append(new_markdown_cell(in_package(names, defined)))
    notebook.cells = cells
    for i, cell in enumerate(cells):
        cell.id = f"cell-{i}"
    (folder / path.name).write_text(nbformat.writes(notebook), encoding="utf-8")
    return built


class Pictures:
    """Writes the pictures of a page as files, so that the page's text comes first."""

    def __init__(self, name, folder):
        self.name, self.folder, self.count = name, folder, 0

    def source(self, text, kind="png"):
        """Write a picture (base64), "png" or "svg"; its attributes `src`, `width` and `height`."""
        data = base64.b64decode(text)
        self.count += 1
        file = f"{self.name}-{self.count}.{kind}"
        (self.folder / file).write_bytes(data)
        if kind == "svg":  # whoever made it says how large it is
            return f'src="../{self.folder.name}/{file}"'
        width, height = struct.unpack(">II", data[16:24])  # after the signature and a chunk's head
        return f'src="../{self.folder.name}/{file}" width="{width}" height="{height}"'


def to_html(output, keep, shown):
    """Turn, in place, what a notebook displays into HTML; a view, if `shown`, is alive."""
    data = output.get("data", {})
    if "text/html" in data:
        text = INLINE.sub(lambda found: keep.source(found[2], found[1][:3]), data["text/html"])
    elif "image/png" in data:
        alt = output.metadata.get("image/png", {}).get("alt", "")
        text = f'<img {keep.source(data["image/png"])} alt="{html.escape(alt)}">'
    else:
        return
    output.data = nbformat.from_dict({"text/html": alive.as_html(shown, text) if shown else text})
    output.metadata = nbformat.from_dict({})


def with_pages(text):
    """Links to files of the repository as links to pages of the site."""
    text = re.sub(r"\]\((?:\.\./)?exercises/\d\d[a-z]?_(\w+)\.ipynb", r"](../exercises/\1.md", text)
    text = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](../examples/\1.md)", text)
    return re.sub(
        r"\[([^\]]+)\]\(\.\./tutor/([\w/]+)\.py\)",
        lambda found: f'<a href="../_modules/tutor/{found[2]}.html">{found[1]}</a>',
        text,
    )


def with_tools(text, path):
    """The opening with a line below its title: the notebook, who opens it, and its exercises."""
    chapter, slug = number_and_slug(path.stem)
    tools = [f'<a class="button" href="{path.name}" download>Download the notebook</a>']
    tools += [f'<a href="{url}">{words}</a>' for words, url in opened_at(path.name).items()]
    if minutes := exercise_minutes(chapter):
        tools.append(f'<a href="../exercises/{slug}.html">Exercises, {minutes} minutes</a>')
    line = f'<p class="tools">{" · ".join(tools)}</p>'
    if chapter == "00":
        line += f"\n\n{ON_THE_SITE}"
    return re.sub(r"^(# .+)$", rf"\1\n\n{line}", text, count=1, flags=re.M)


def definitions(cell):
    """The public classes and functions that a cell defines, if it is not a stub."""
    if "you-write" in cell.metadata.get("tags", ()):
        return []
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:  # a magic
        return []
    kinds = (ast.ClassDef, ast.FunctionDef)
    return [n.name for n in body if isinstance(n, kinds) and not n.name.startswith("_")]


def in_package(names, defined):
    """A line that leads from definitions on a page to those of the package."""
    links = ", ".join(f"{{py:obj}}`{name} <{defined[name]}.{name}>`" for name in names)
    return f":::{{container}} in-package\nIn the package: {links}\n:::"
