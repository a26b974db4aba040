"""Copies of the notebooks that need no repository around them, and the links that open them."""

import base64
import io
import os
import re
import zipfile
from pathlib import Path

import lab
import nbformat
import pytest
from house_rules import NOTEBOOKS, ROOT
from nbclient import NotebookClient
from PIL import Image

import tutor
from course.build import alone
from course.build.__main__ import main
from course.build.notebooks import BuildError
from course.site.chapters import with_tools

COLAB = "https://colab.research.google.com/github/owner/name/blob/alone/"
BINDER = "https://mybinder.org/v2/gh/owner/name/HEAD?labpath=notebooks%2F"
RELATIVE = re.compile(r"\]\((?!https?:|#)([^)\s#]+\.\w+)(?:#[^)]*)?\)|src=\"(?!data:)")


@pytest.fixture
def undrawn(monkeypatch):
    """Pictures that cost nothing; `test_a_drawing_is_sharp_and_small` draws one."""
    monkeypatch.setattr(alone, "draw", lambda paths: dict.fromkeys(paths, 'src="data:image/png,"'))


def copies(folder):
    """Each copy below `folder`, read and valid, with the notebook that it is a copy of."""
    for path in sorted(folder.rglob("*.ipynb")):
        copy = nbformat.read(path, as_version=4)
        nbformat.validate(copy)
        name = path.relative_to(folder)
        yield name.as_posix(), copy, nbformat.read(NOTEBOOKS / name, as_version=4)


def texts(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_a_copy_leads_to_copies_and_keeps_its_outputs(tmp_path, monkeypatch, undrawn):
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/name")
    assert main(["alone", str(tmp_path)]) == 0
    seen = list(copies(tmp_path))
    copied = {name for name, *_ in seen}
    assert copied == {
        path.relative_to(NOTEBOOKS).as_posix()
        for folder in (NOTEBOOKS, NOTEBOOKS / "exercises")
        for path in folder.glob("*.ipynb")
    }
    for name, copy, original in seen:
        text = texts(copy)
        assert not RELATIVE.search(text), name
        title, line, *_ = text.split("\n\n")
        binder = BINDER + name.replace("/", "%2F")
        assert title.startswith("# ")
        assert line == f"[Open in Colab]({COLAB}{name}) · [Launch on Binder]({binder})"
        pictures = len(re.findall(r"!\[", texts(original)))
        assert text.count('<img alt="') == pictures and "![" not in text
        for target in re.findall(rf"\({re.escape(COLAB)}([^)]*)\)", text):
            assert (tmp_path / target).exists()
        for target in re.findall(r"https://github\.com/owner/name/blob/HEAD/([^)#]*)", text):
            assert (ROOT / target).exists()
            assert target.removeprefix("notebooks/") not in copied, "a copy is nearer"
        first = next(cell for cell in copy.cells if cell.cell_type == "code")
        assert "%pip install --quiet git+https://github.com/owner/name" in first.source
        kept = [cell for cell in copy.cells if cell.cell_type == "code" and cell is not first]
        assert kept == [cell for cell in original.cells if cell.cell_type == "code"]
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert page.count(COLAB) == len(seen)


def test_without_an_address_nothing_leads_out_of_the_folder(tmp_path, monkeypatch, undrawn):
    set_to(None, tmp_path, monkeypatch)
    assert main(["alone", str(tmp_path / "out")]) == 0
    for name, copy, _ in copies(tmp_path / "out"):
        text, folder = texts(copy), (tmp_path / "out" / name).parent
        assert "colab" not in text.lower() and "mybinder" not in text
        for target in filter(None, RELATIVE.findall(text)):
            assert (folder / target).exists(), (name, target)
    first = next(cell for cell in copy.cells if cell.cell_type == "code")
    exec(first.source)  # `tutor` is here: nothing to say
    hidden = first.source.replace('"tutor"', '"nowhere"')
    with pytest.raises(ModuleNotFoundError, match="Install the course first"):
        exec(hidden)


def set_to(address, folder, monkeypatch):
    """Let pyproject.toml name this address, or none."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    settings = folder / "pyproject.toml"
    line = f'Repository = "{address}"' if address else "# Repository ="
    settings.write_text(f"[project.urls]\n{line}\n", encoding="utf-8")
    monkeypatch.setattr(alone, "PACKAGE_SETTINGS", settings)


def test_the_address_has_one_place(tmp_path, monkeypatch):
    set_to(None, tmp_path, monkeypatch)
    assert alone.repository() is None and alone.opened_at("00_start_here.ipynb") == {}
    for address in ("https://github.com/owner/name", "https://github.com/owner/name.git"):
        set_to(address, tmp_path, monkeypatch)
        assert alone.repository() == "owner/name"
    set_to("https://example.org/owner/name", tmp_path, monkeypatch)
    with pytest.raises(BuildError, match="must be on github.com"):
        alone.repository()
    monkeypatch.setenv("GITHUB_REPOSITORY", "fork/name")
    assert alone.repository() == "fork/name"


def test_the_head_of_a_page_of_the_site_opens_its_notebook(monkeypatch):
    path = NOTEBOOKS / "06_the_decoder.ipynb"
    monkeypatch.setattr("course.build.alone.repository", lambda: None)
    assert "Colab" not in with_tools("# 05\n\nText", path)
    monkeypatch.setattr("course.build.alone.repository", lambda: "owner/name")
    line = with_tools("# 05\n\nText", path).split("\n\n")[1]
    assert f'<a href="{COLAB}06_the_decoder.ipynb">Open in Colab</a>' in line
    assert f'<a href="{BINDER}06_the_decoder.ipynb">Launch on Binder</a>' in line


def test_a_drawing_is_sharp_and_small():
    with lab.chromium() as browser:
        if browser is None:
            pytest.skip("Chromium or playwright is missing")
    path = ROOT / "images" / "reach.svg"
    found = re.fullmatch(r'width="900" src="data:image/png;base64,(.*)"', alone.draw([path])[path])
    png = base64.b64decode(found[1])
    assert Image.open(io.BytesIO(png)).size == (1800, 900) and len(png) < 100_000


# Takes out of a kernel's sight the course that these tests come from.
HIDE = """
import os, sys
sys.meta_path[:] = [f for f in sys.meta_path if "__editable__" not in getattr(f, "__module__", "")]
sys.path[:] = [
    p for p in sys.path if p == {target!r} or not os.path.isdir(os.path.join(p or ".", "tutor"))
]
"""


def test_the_first_cell_installs_what_is_missing(tmp_path, monkeypatch, undrawn):
    package = wheel(tmp_path / "a wheel's folder")
    assert main(["alone", str(tmp_path / "out"), "--package", str(package)]) == 0
    notebook = nbformat.read(tmp_path / "out" / "01_the_embedding_table.ipynb", as_version=4)
    target, hide, empty = (tmp_path / name for name in ("target", "hide", "empty"))
    for folder in (target, hide, empty):
        folder.mkdir()
    (hide / "sitecustomize.py").write_text(HIDE.format(target=str(target)), encoding="utf-8")
    environment = {"PIP_TARGET": target, "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}
    environment["PYTHONPATH"] = f"{hide}{os.pathsep}{target}"
    shown = "import tutor; print(tutor.__file__)"
    missing = "from importlib.util import find_spec; print(find_spec('tutor'))"
    notebook.cells = [
        nbformat.v4.new_code_cell(missing),
        notebook.cells[1],
        nbformat.v4.new_code_cell(shown),
    ]
    client = NotebookClient(notebook, resources={"metadata": {"path": str(empty)}})
    client.execute(env={**os.environ, **{key: str(value) for key, value in environment.items()}})
    before, _, after = (cell.outputs for cell in notebook.cells)
    assert before[0].text.strip() == "None"
    assert Path(after[0].text.strip()) == target / "tutor" / "__init__.py"


def wheel(folder):
    """The package as a wheel, packed by hand: pip's own way writes into the repository."""
    folder.mkdir()
    path, source = folder / "tutor-0-py3-none-any.whl", Path(tutor.__file__).parent
    with zipfile.ZipFile(path, "w") as archive:
        for file in source.rglob("*.py"):
            archive.write(file, Path("tutor", file.relative_to(source)))
        info = {
            "METADATA": "Metadata-Version: 2.1\nName: tutor\nVersion: 0\n",
            "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "RECORD": "",
        }
        for name, text in info.items():
            archive.writestr(f"tutor-0.dist-info/{name}", text)
    return path
