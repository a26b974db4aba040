"""`python -m course.build`: same bytes twice, one sentence for a failing cell, whole files only."""

import base64
import re
import struct
import zlib

import nbformat
import pytest
from nbconvert import ScriptExporter

from course.build.__main__ import main
from course.build.minutes import count_words, reading_minutes, write_maps
from course.build.notebooks import NOTEBOOKS, scrub, strip_png_text

TEXT = """# A page

```{code-cell}
import sys
for i in range(3):
    print(i, file=sys.stderr if i % 2 else sys.stdout)
```

An error that is meant:

```{code-cell}
:tags: [raises-exception]

{}["key"]
```

A picture:

```{code-cell}
import matplotlib.pyplot as plt
_ = plt.plot([1, 2])
```
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "01_page.md").write_text(TEXT, encoding="utf-8")
    return tmp_path


def run(folder, *arguments):
    return main([*arguments, "--folder", str(folder)])


def test_build_twice_check_and_failure(folder, capsys):
    source, notebook = folder / "source" / "01_page.md", folder / "01_page.ipynb"
    assert run(folder) == 0
    first = notebook.read_bytes()
    built = nbformat.read(notebook, as_version=4)
    nbformat.validate(built)
    assert [cell.get("execution_count") for cell in built.cells] == [None, 1, None, 2, None, 3]
    assert built.cells[1].outputs[0].text == "0\n2\n"
    assert built.cells[3].outputs[0].traceback == ["KeyError: 'key'"]
    assert b"\r" not in first
    assert b"tEXt" not in base64.b64decode(built.cells[5].outputs[0].data["image/png"])

    notebook.unlink()
    assert run(folder, "01") == 0
    assert notebook.read_bytes() == first
    assert run(folder, "--check") == 0

    source.write_text(TEXT.replace("range(3)", "range(4)"), encoding="utf-8")
    assert run(folder, "--check") == 1
    assert "01_page.ipynb: differs" in capsys.readouterr().out
    assert notebook.read_bytes() == first

    source.write_text(TEXT.replace("range(3)", "range(-1 / 0)"), encoding="utf-8")
    assert run(folder) == 1
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert "01_page.md, cell 1 ('import sys') raised ZeroDivisionError" in said
    assert notebook.read_bytes() == first
    assert sorted(path.name for path in folder.iterdir()) == ["01_page.ipynb", "source"]


def test_unknown_name_lists_the_texts(folder, capsys):
    assert run(folder, "7") == 2
    assert "there: 01_page" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["", "--check 02", "exercises 02", "classroom out 02", "class-report out",
                "minutes", "site out"],
)  # fmt: skip
def test_without_a_clone_it_says_so_and_leaves_nothing(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("course.build.notebooks.NOTEBOOKS", tmp_path / "notebooks")
    monkeypatch.setattr("course.build.__main__.NOTEBOOKS", tmp_path / "notebooks")
    assert main(command.split()) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "needs the texts of the course, which only a clone of the repository has" in line
    assert list(tmp_path.iterdir()) == []


def chunk(kind, data):
    length, checksum = struct.pack(">I", len(data)), struct.pack(">I", zlib.crc32(kind + data))
    return length + kind + data + checksum


def test_png_loses_its_text_alone():
    head, end = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(13)), chunk(b"IEND", b"")
    pixels = chunk(b"IDAT", b"tEXt inside the pixels")
    named = head + chunk(b"tEXt", b"Software\0Someone") + pixels + chunk(b"iTXt", b"") + end
    assert strip_png_text(named) == head + pixels + end


def test_scrub_leaves_no_clock_no_kernel_and_no_widget_beside_a_picture():
    widget = "application/vnd.jupyter.widget-view+json"
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunk(b"IEND", b"")).decode()
    bar = "100%|██████████| 30/30 [00:01<00:00, 25.3it/s, loss=1.2]\n"
    outputs = [
        nbformat.v4.new_output("stream", name="stderr", text=bar),
        nbformat.v4.new_output("display_data", {widget: {}, "image/png": png}),
        nbformat.v4.new_output("display_data", {widget: {}, "text/plain": "Slider"}),
        nbformat.v4.new_output("display_data", {"text/html": '<div class="a" data-view="0f">'}),
        nbformat.v4.new_output("display_data", {widget: {}}),
    ]
    cell = nbformat.v4.new_code_cell("f()", outputs=outputs, execution_count=7)
    cell.metadata = {"tags": ["wide"], "collapsed": True}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}})
    scrub(notebook)
    assert (cell.id, cell.execution_count, cell.metadata) == ("cell-000", 1, {"tags": ["wide"]})
    bar, *shown = cell.outputs
    assert bar.text == "100%|██████████| 30/30\n"
    assert [output.data for output in shown] == [
        {"image/png": png},
        {widget: {}, "text/plain": "Slider"},
        {"text/html": '<div class="a">'},
    ]
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert "version" not in notebook.metadata.language_info  # of the machine
    script, resources = ScriptExporter().from_notebook_node(notebook)
    assert resources["output_extension"] == ".py" and compile(script, "page.py", "exec")


def test_scrub_folds_the_answers():
    answer = nbformat.v4.new_code_cell("1", metadata={"tags": ["hide-input"], "jupyter": {"x": 1}})
    shown = nbformat.v4.new_code_cell("2", metadata={"jupyter": {"source_hidden": True}})
    scrub(nbformat.v4.new_notebook(cells=[answer, shown]))
    assert answer.metadata == {"tags": ["hide-input"], "jupyter": {"source_hidden": True}}
    assert shown.metadata == {}


def test_minutes_are_counted(capsys):
    """320 words take 2 minutes, 12 lines 1, two prompts 2; folds and the reader's cell nothing."""
    text = "**Question.** Why? **Predict:** it. **By hand:** " + "word " * 314
    cells = [
        nbformat.v4.new_markdown_cell(text),
        nbformat.v4.new_markdown_cell("<details><summary>More</summary>\n\nfolded\n\n</details>"),
        nbformat.v4.new_code_cell("x\n\n" * 12),
        nbformat.v4.new_code_cell("x\n" * 99, metadata={"tags": ["you-write"]}),
        nbformat.v4.new_code_cell("x\n" * 99, metadata={"tags": ["hide-input"]}),
    ]
    page = nbformat.v4.new_notebook(cells=cells)
    assert count_words(page) == 320 and reading_minutes(page, "90") == 5
    cells[0].source += " word" * 8
    assert reading_minutes(page, "90") == 10
    assert reading_minutes(page, "02") > 10  # what its reader writes on the page
    assert main(["minutes", "00"]) == 0
    assert "00_start_here: " in capsys.readouterr().out


def test_pages_and_minutes_are_written_wherever_they_stand(tmp_path):
    ours, names = NOTEBOOKS.parent, ["README.md", "course/pages.txt"]
    names += [f"notebooks/{chapter}.ipynb" for chapter in ("00_start_here", "04_the_encoder")]
    names += [str(path.relative_to(ours)) for path in NOTEBOOKS.glob("source/*.md")]
    for name in names:
        text = (ours / name).read_text(encoding="utf-8")
        text = re.sub(r"(\*\*Time\*\*) .*? (minutes to read)", r"\1 1000 \2", text)
        text = re.sub(r"(\.ipynb\) \|[^|\n]*\|) \d+ \| [\d–]+ \|", r"\1 7 | 7 |", text)
        text = text.replace("06_the_decoder\n", "")
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    write_maps(tmp_path)
    for name in names:
        assert (tmp_path / name).read_bytes() == (ours / name).read_bytes(), name
