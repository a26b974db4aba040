"""The views of a page as they stand after running it, to be alive where no kernel is."""

import base64
import copy
import json
from concurrent.futures import ThreadPoolExecutor

import nbformat
from nbformat.v4 import new_code_cell

from tutor import views
from tutor.publish.notebooks import BuildError, execute, scrub
from tutor.views.base import EXPORT, View

STATE = "application/x-tutor-view+json"
# Runs before the page's first cell: each view that is shown leaves what it holds in the output.
HOOK = """\
from tutor.publish.site.alive import keep_states

keep_states()
del keep_states
"""


def keep_states():
    """Let each view that is shown leave its state in the output (called in the page's kernel)."""
    plain = View._repr_mimebundle_

    def with_state(view, **options):
        data, metadata = plain(view, **options)
        text = json.dumps(
            view.saved_state(),
            default=lambda data: {"base64": base64.b64encode(data).decode("ascii")},
        )
        state = {"view": type(view).__name__, "state": json.loads(text)}
        return data | {STATE: state}, metadata

    View._repr_mimebundle_ = with_state


def classes():
    """The classes of views, by name."""
    found = vars(views).items()
    return {name: c for name, c in found if isinstance(c, type) and issubclass(c, View)}


def script(view):
    """A class of views as a plain script, for modules are not loaded from disk."""
    code = view._esm.removesuffix(EXPORT)
    return (
        "(globalThis.tutorViews ??= {})"
        f"[{json.dumps(view.__name__)}] = (() => {{\n{code}\nreturn render;\n}})();\n"
    )


def last_view(notebook):
    """The number of the last cell that shows a view; -1 if none does."""
    shown = [
        c
        for c, cell in enumerate(notebook.cells)
        for output in cell.get("outputs", ())
        if output.get("data", {}).get("text/plain", "").startswith(tuple(classes()))
    ]
    return max(shown, default=-1)


def states(path):
    """Run a page up to its last view; (cell, output) -> {"view": class, "state": traits}.

    Raises:
        BuildError: a cell raises, or what it prints is not what the notebook shows.
    """
    notebook = nbformat.read(path, as_version=4)
    del notebook.cells[last_view(notebook) + 1 :]
    run = copy.deepcopy(notebook)
    run.cells.insert(0, new_code_cell(HOOK))
    execute(run, path.name, path.parent, timeout=600)
    del run.cells[0]
    found = {}
    for c, cell in enumerate(run.cells):
        for o, output in enumerate(cell.get("outputs", ())):
            if STATE in output.get("data", {}):
                found[c, o] = output.data.pop(STATE)
    scrub(run)
    for c, (ours, theirs) in enumerate(zip(run.cells, notebook.cells, strict=True)):
        if said(ours) != said(theirs):
            raise BuildError(
                f"{path.name}, cell {c}: the output differs from the notebook's; "
                f"run python -m tutor.build {path.stem[:2]}."
            )
    return found


def all_states(paths):
    """The views of these notebooks, two at a time: path -> what `states` gives."""
    wanted = [path for path in paths if last_view(nbformat.read(path, as_version=4)) >= 0]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(wanted, pool.map(states, wanted), strict=True))


def said(cell):
    """The outputs of a cell as text, pictures aside."""
    return [
        (output.output_type, output.get("text") or output.get("data", {}).get("text/plain"))
        for output in cell.get("outputs", ())
        if "nbval-ignore-output" not in cell.metadata.get("tags", ())
    ]


def as_html(shown, picture):
    """The place of a view on a page: its state, and a picture for readers without scripts."""
    state = json.dumps(shown["state"], ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<div class="course-view" data-view="{shown["view"]}">'
        f'<script type="application/json">{state}</script>'
        f"<noscript>{picture}</noscript></div>"
    )
