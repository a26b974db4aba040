"""Execute the text of a chapter and write it as a notebook.

`notebooks/source/NN_name.md` (jupytext, MyST Markdown) becomes `notebooks/NN_name.ipynb`. Two
builds on one machine give the same bytes: traces of the clock and of the machine are scrubbed.
"""

import base64
import os
import re
import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

REPOSITORY = Path(__file__).resolve().parents[2]
NOTEBOOKS = REPOSITORY / "notebooks"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
VIEW_MARK = re.compile(r' data-view="\w+"')  # joins a picture and its live view
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# What other programs go by, nbconvert with `--to script` too; no version, which the machine has.
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
# the clock and the rate behind a tqdm bar's counts
BAR_CLOCK = re.compile(r"(\d+%\|.*?\| *\d+/\d+) \[.*?\]")


class BuildError(Exception):
    """A notebook could not be built; the message names the file, the cell and the reason."""


def need_clone() -> None:
    """Raise BuildError where the texts of the course are missing, as beside an installed wheel."""
    if not (NOTEBOOKS / "source").is_dir():
        raise BuildError(
            "This command needs the texts of the course, which only a clone of the repository has: "
            "run `python -m pip install -e .` in a clone, then the command again."
        )


def build(source: Path, folder: Path, timeout: int = 600) -> str:
    """Execute one text and return the scrubbed notebook as JSON text; nothing is written.

    Args:
        source: a notebook in MyST Markdown.
        folder: where the notebook lives, hence the working directory of its cells.
        timeout: seconds that one cell may take.

    Raises:
        BuildError: the text cannot be read, or a cell raises, hangs or kills the kernel.
    """
    try:
        notebook = jupytext.read(source, fmt="md:myst")
    except Exception as error:
        raise BuildError(f"{source.name}: the text is not a notebook: {error}.") from error
    execute(notebook, source.name, folder, timeout)
    scrub(notebook)
    return nbformat.writes(notebook)


def execute(notebook, name: str, folder: Path, timeout: int, goes_on: bool = False) -> None:
    """Run all cells in a fresh kernel and store their outputs in place.

    goes_on: a cell that raises does not end it.
    """
    started = []
    # The kernel chooses its own inline backend, unless the caller's environment names another.
    environment = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
    environment["TUTOR_PROGRESS"] = ""  # what a build solves is nobody's progress
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=timeout,
        record_timing=False,
        allow_errors=goes_on,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=lambda cell, cell_index: started.append(cell_index),
    )
    try:
        client.execute(env=environment)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        cell = notebook.cells[started[-1]]
        first_line = cell.source.strip().splitlines()[0]
        if isinstance(error, CellExecutionError):
            reason = f"raised {error.ename}: {error.evalue}".splitlines()[0]
        elif isinstance(error, CellTimeoutError):
            reason = f"ran for more than {timeout} seconds"
        else:
            reason = "killed the kernel"
        raise BuildError(
            f"{name}, cell {started[-1]} ({first_line!r}) {reason.rstrip('.')}."
        ) from error


def scrub(notebook) -> None:
    """Remove, in place, what differs between two runs or tells of the machine."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": LANGUAGE,
        }
    )
    count = 0
    for index, cell in enumerate(notebook.cells):
        cell.id = f"cell-{index:03d}"
        keep = {key: cell.metadata[key] for key in ("tags", "nbgrader") if cell.metadata.get(key)}
        if "hide-input" in keep.get("tags", ()):  # JupyterLab folds the source, the site too
            keep["jupyter"] = {"source_hidden": True}
        cell.metadata = nbformat.from_dict(keep)
        if cell.cell_type != "code":
            continue
        if cell.execution_count is not None:  # empty cells are not executed
            count += 1
            cell.execution_count = count
        # A live view of `tutor.views` is nothing without its kernel: its picture stands before it.
        cell.outputs = [x for x in cell.outputs if set(x.get("data", ())) != {WIDGET_MIME}]
        for output in cell.outputs:
            _scrub_output(output, count)


def _scrub_output(output, count: int) -> None:
    if output.output_type == "stream":
        output.text = BAR_CLOCK.sub(r"\1", output.text)
    elif output.output_type == "error":
        # The whole traceback names files of this machine; its last line is what readers need.
        output.traceback = [f"{output.ename}: {output.evalue}"]
    else:
        if output.output_type == "execute_result":
            output.execution_count = count
        if "text/html" in output.data:
            output.data["text/html"] = VIEW_MARK.sub("", output.data["text/html"])
        if "image/png" in output.data:
            output.data.pop(WIDGET_MIME, None)
            png = base64.b64decode(output.data["image/png"])
            output.data["image/png"] = base64.b64encode(strip_png_text(png)).decode("ascii")


def strip_png_text(png: bytes) -> bytes:
    """Return the picture without its text chunks, which name the version of the program."""
    if not png.startswith(PNG_SIGNATURE):
        return png
    kept, position = [PNG_SIGNATURE], len(PNG_SIGNATURE)
    while position < len(png):
        # a chunk: 4 bytes of length, 4 of type, the data, 4 of checksum
        end = position + 12 + int.from_bytes(png[position : position + 4], "big")
        if png[position + 4 : position + 8] not in (b"tEXt", b"iTXt", b"zTXt"):
            kept.append(png[position:end])
        position = end
    return b"".join(kept)


def write_atomically(path: Path, text: str) -> None:
    """Write a whole file or nothing: an interrupted build leaves the old notebook as it was."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".tmp")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # mkstemp makes private files
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def select(names: list[str], folder: Path) -> list[Path]:
    """Return the texts in `folder`/source whose names begin with one of `names` (all, if none)."""
    sources = sorted((folder / "source").glob("*.md"))
    chosen = [s for s in sources if not names or s.stem.startswith(tuple(names))]
    for name in names:
        if not any(source.stem.startswith(name) for source in sources):
            there = ", ".join(source.stem for source in sources) or "none"
            raise BuildError(
                f"No text in {folder / 'source'} begins with {name!r}; there: {there}."
            )
    if not sources:
        raise BuildError(f"There are no texts (*.md) in {folder / 'source'}.")
    return chosen


def write(folder, name, text, check, again):
    """Write the notebook `name` in `folder` if it differs, and say so.

    check: write nothing, and return whether it is out of date; `again` is the command that mends.
    """
    target = folder / name
    old = target.read_text(encoding="utf-8") if target.exists() else None
    if old:
        text = kept(old, text)
    if old == text:
        print(f"{name}: up to date")
    elif check:
        print(f"{name}: differs from its text; run {again}")
        return True
    else:
        target.parent.mkdir(exist_ok=True)
        write_atomically(target, text)
        print(f"{name}: written")
    return False


def kept(old, new):
    """The notebook `new` with the outputs of `old` in cells that give the same, or alike ones.

    A picture that varies is compared by its size alone. So it stays only where all cells are alike:
    where one is not, it may show what the others no longer say.
    """
    from course.build.compare import alike_outputs, pictures  # they load scikit-image

    old, new = nbformat.reads(old, as_version=4), nbformat.reads(new, as_version=4)
    before = {cell.source: cell.outputs for cell in old.cells if "outputs" in cell}
    cells = [cell for cell in new.cells if "outputs" in cell]
    alike = [alike_outputs(before.get(cell.source), cell.outputs) for cell in cells]
    for cell, same in zip(cells, alike, strict=True):
        varies = any("varies" in about for about, _ in pictures(cell.outputs))
        if same and (all(alike) or not varies):
            cell.outputs = before[cell.source]
    return nbformat.writes(new)


def write_chapters(names, folder, check):
    """Build the chapters whose names begin so (all, if none); how many could not be, or differ."""
    bad = 0
    for source in select(names, folder):
        target = folder / f"{source.stem}.ipynb"
        try:
            text = build(source, folder)
        except BuildError as error:
            bad += 1
            print(f"{error} {target.name} was left as it was.", file=sys.stderr)
            continue
        bad += write(folder, target.name, text, check, "python -m course.build")
    return bad
