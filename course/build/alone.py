"""Chapters and exercises as notebooks that need no repository around them, as Colab opens them."""

import base64
import html
import io
import os
import re
import shlex
import shutil
from pathlib import Path
from urllib.parse import quote

import nbformat
from nbformat.v4 import new_code_cell
from PIL import Image

from course.build.exercises import title_of
from course.build.notebooks import NOTEBOOKS, REPOSITORY, BuildError, write_atomically

PACKAGE_SETTINGS = REPOSITORY / "pyproject.toml"
BRANCH = "alone"  # where the workflow puts the copies
# Words, file and place of a Markdown link to a file of the repository; with a !, of a picture.
LINK = re.compile(
    r"(!?)\[((?:[^][]|\[[^][]*\])*)\]\(((?:\.\./)*[\w/]+\.(?:ipynb|md|py|svg))(#[^\s)]*)?\)"
)
INSTALL = """\
from importlib.util import find_spec

if not find_spec("tutor"):  # opened alone
    {}"""
UNKNOWN = """\
raise ModuleNotFoundError("Install the course first: python -m pip install . in its folder.")"""


def repository():
    """The repository on GitHub as "owner/name", or None: a workflow says it, else pyproject.toml.

    Raises:
        BuildError: the address in pyproject.toml is no repository on GitHub.
    """
    if in_workflow := os.environ.get("GITHUB_REPOSITORY"):
        return in_workflow
    address = re.search(r'^Repository = "(.*)"', PACKAGE_SETTINGS.read_text(encoding="utf-8"), re.M)
    if not address:
        return None
    found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git|/)?", address[1])
    if not found:
        raise BuildError(f"Repository = {address[1]!r} in pyproject.toml must be on github.com.")
    return found[1]


def opened_at(notebook):
    """Words and address of each service that opens a notebook; none while the address is unset.

    notebook: its path below notebooks/, "exercises/02_single_head_attention.ipynb".
    """
    if not (name := repository()):
        return {}
    place = quote(f"notebooks/{notebook}", safe="")
    return {
        "Open in Colab": f"https://colab.research.google.com/github/{name}/blob/{BRANCH}/{notebook}",
        "Launch on Binder": f"https://mybinder.org/v2/gh/{name}/HEAD?labpath={place}",
    }


def service_links(notebook):
    """The services that open a notebook as a line of Markdown, empty while the address is unset."""
    return " · ".join(f"[{words}]({url})" for words, url in opened_at(notebook).items())


def install_cell(package):
    """The cell that gets `tutor` where it is missing; package: what pip installs, or None."""
    line = f"%pip install --quiet {shlex.quote(package)}" if package else UNKNOWN
    return new_code_cell(INSTALL.format(line), id="install")


def copy_of(path, package, pictures):
    """The notebook `path` as one that is whole; pictures: the drawn ones, path -> <img>'s rest."""

    def resolve(link):
        shown, words, target, place = link.groups(default="")
        there = (path.parent / target).resolve()
        if shown:
            return f'<img alt="{html.escape(words)}" {pictures[there]}>'
        if there in pages():
            notebook = there.relative_to(NOTEBOOKS).as_posix()
            there = opened_at(notebook).get("Open in Colab", target + place)
            return f"[{words}]({there})"
        if name := repository():
            inside = there.relative_to(REPOSITORY).as_posix()
            return f"[{words}](https://github.com/{name}/blob/HEAD/{inside}{place})"
        return words

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(resolve, cell.source)
    if services := service_links(path.relative_to(NOTEBOOKS).as_posix()):
        opening = notebook.cells[0]
        opening.source = re.sub(
            r"^# .+$", rf"\g<0>\n\n{services}", opening.source, count=1, flags=re.M
        )
    notebook.cells.insert(1, install_cell(package))
    return notebook


def pages():
    """The notebooks that get a copy, in order."""
    return [*sorted(NOTEBOOKS.glob("[0-9]*.ipynb")), *sorted(NOTEBOOKS.glob("exercises/*.ipynb"))]


def draw(paths):
    """Each drawing (SVG) as PNG: path -> the attributes of its <img>.

    Colab shows in a text neither embedded SVG nor a cell's attachments (googlecolab/colabtools,
    issues 2092 and 3836). Twice as many pixels as the drawing is wide, for sharp letters.

    Raises:
        BuildError: playwright or its browser is missing.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BuildError("The copies need playwright: python -m pip install playwright.") from None
    drawn = {}
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or playwright.chromium.executable_path
        if not Path(chromium).exists():
            raise BuildError("The copies need Chromium: playwright install chromium.")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(device_scale_factor=2)
        for path in paths:
            page.goto(path.as_uri())
            drawing = page.locator("svg").first
            width = drawing.evaluate("svg => svg.width.baseVal.value")
            picture = Image.open(io.BytesIO(drawing.screenshot())).convert("RGB")
            png = io.BytesIO()
            picture.quantize(64, Image.Quantize.FASTOCTREE).save(png, "png")  # a third of the bytes
            data = base64.b64encode(png.getvalue()).decode("ascii")
            drawn[path] = f'width="{width:.0f}" src="data:image/png;base64,{data}"'
        browser.close()
    return drawn


def write_alone(out, package=None):
    """Write the copies and their list, README.md, to the folder `out`.

    package: what a copy gives to pip where `tutor` is missing (default: the repository).
    """
    if not package and (name := repository()):
        package = f"git+https://github.com/{name}"
    out = Path(out)
    (out / "exercises").mkdir(parents=True, exist_ok=True)
    pictures = draw(sorted((REPOSITORY / "images").glob("*.svg")))
    lines = ["# Each page alone", "", "Copies that open without the repository.", ""]
    for path in pages():
        notebook = path.relative_to(NOTEBOOKS).as_posix()
        write_atomically(out / notebook, nbformat.writes(copy_of(path, package, pictures)))
        kind = "Exercises " if "/" in notebook else ""
        line = f"- [{kind}{title_of(path.stem)}]({notebook}) {service_links(notebook)}"
        lines.append(line.rstrip())
    write_atomically(out / "README.md", "\n".join(lines) + "\n")
    print(f"{out}: {len(pages())} notebooks and their list, README.md")
    if not package:
        print("No address is set: their first cell only says that the course must be installed.")
