"""What all views share: one module, one picture, one table, one page that works alone."""

import base64
import html
import io
import json
import uuid
import warnings
from pathlib import Path
from string import Template
from typing import NamedTuple

import anywidget
import torch
from IPython.display import display
from matplotlib.figure import Figure
from PIL import Image  # comes with matplotlib
from traitlets import Unicode

from tutor.figures import img
from tutor.text.normalize import normalize

VIEWS_FOLDER = Path(__file__).parent
EXPORT = "export default tutorView.default;\n"  # what anywidget asks a module for
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/x-tutor-view"  # {"view": class, "state": traits}, from which the site lives
# Traits that the reader changes. The kernel does not answer with what it was told: such an answer,
# coming late, would undo what the reader has done since.
READERS = {"sync": True, "echo_update": False}
# Below a picture, for readers who are asked to press what only the live view has.
TO_RUN = (
    "<p><small>A still picture: run the cells up to this one, and a live view takes its place, for "
    "pointer and keyboard.</small></p>"
)
# In a notebook that is opened again, JupyterLab says "Error displaying widget" where the live view
# stood. The picture above it is enough.
NO_ERROR = (
    "<style>.jp-OutputArea-child:has(.tutor-still) + .jp-OutputArea-child > "
    ".jupyter-widgets:not(:has(*)) { display: none }</style>"
)


def read_file(name):
    """A file of this folder as text."""
    return (VIEWS_FOLDER / name).read_text(encoding="utf-8")


def script(name):
    """The whole JavaScript of a view as one module; `npm run build` makes the bundles."""
    return read_file(f"bundles/{name}.js") + EXPORT


class Table(NamedTuple):
    """Names of columns, and rows of cells; all are str. Shows itself as text or HTML."""

    columns: list
    rows: list

    def __repr__(self):
        lines = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.rjust, line, widths)).rstrip() for line in lines)

    def _repr_html_(self):
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in self.columns)
        body = ""
        for name, *cells in self.rows:
            numbers = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
            body += f'<tr><th scope="row">{html.escape(name)}</th>{numbers}</tr>'
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class View(anywidget.AnyWidget):
    """An interactive view that has all it needs within itself.

    A subclass sets `_esm = script("own")`, keeps what is shown in synchronised traits, and
    defines `title()`, `draw(figure)` (matplotlib), `describe()` (the same in words) and `table()`.
    """

    _css = read_file("view.css")
    _still = Unicode().tag(sync=True)  # the mark of the picture that the live view hides

    def __init__(self, **traits):
        super().__init__(_still=uuid.uuid4().hex, **traits)

    def picture(self):
        """The view as it stands, as a PNG (bytes), for readers who have no kernel."""
        figure, drawn, png = Figure(dpi=110, layout="constrained"), io.BytesIO(), io.BytesIO()
        self.draw(figure)
        figure.savefig(drawn, format="png", dpi=figure.get_dpi(), facecolor="white")
        # 256 colours are all that a heat map and its text need, in a third of the bytes.
        Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(png, "png")
        return png.getvalue()

    def still(self):
        """The view as it stands, as HTML that a saved notebook keeps: light and dark, with alt.

        The live view hides it, and so the line below it that says how to get one.
        """
        figure = Figure(layout="constrained")
        self.draw(figure)
        drawn = img(figure, self.describe())
        mark = f'class="tutor-still" data-view="{self._still}"'
        return f"<div {mark}>{drawn}{TO_RUN}</div>{NO_ERROR}"

    def _ipython_display_(self):
        """Two outputs: the picture, and the view, which hides it and which no file can keep."""
        # Of a subclass that saves more than its traits, too: the rest is what a model can say.
        state = as_json({"view": type(self).__name__, "state": View.saved_state(self)})
        shown = {"text/plain": repr(self), "text/html": self.still(), STATE: state}
        display(shown, raw=True)
        live = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        display({WIDGET_VIEW: live}, raw=True)

    def saved_state(self):
        """What a saved page knows: a dict from name to what JSON can say, or bytes."""
        ours = set(self.keys) - set(anywidget.AnyWidget.class_trait_names()) - {"_esm", "_css"}
        return {name: getattr(self, name) for name in sorted(ours) if not name.startswith("_")}

    def save(self, path, model=None):
        """Write the view as one HTML file that works offline and without a kernel.

        model: a translator as one script, from `tutor.exchange.page.program`. It makes the file
        6 MB larger, and answers the reader's own sentence where the view asks for one.
        """
        if model:
            model = model.replace("</script", r"<\/script")  # nothing in it ends its script
        page = Template(read_file("page.html")).substitute(
            title=html.escape(self.title()),
            style=self._css,
            state=as_json(self.saved_state()).replace("<", "\\u003c"),  # nothing ends the script
            model=f"<script>{model}</script>\n" if model else "",
            script=self._esm.removesuffix(EXPORT),
            picture=base64.b64encode(self.picture()).decode("ascii"),
            alt=html.escape(self.describe()),
            table=self.table()._repr_html_(),
        )
        Path(path).write_text(page, encoding="utf-8")


def asked(run, text):
    """Answer a reader's own sentence: (what `run(text)` returns, or None; what to say of it)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        try:
            if not normalize(text):
                raise ValueError("Write a sentence first.")
            return run(text), " ".join(str(warning.message) for warning in caught)
        except Exception as error:  # whatever it is, the reader should see it, and go on
            return None, str(error).partition("\n")[0] or type(error).__name__


def as_json(state):
    """What `saved_state` gives, as text: bytes as {"base64": ...}."""
    return json.dumps(
        state,
        default=lambda data: {"base64": base64.b64encode(data).decode("ascii")},
        ensure_ascii=False,
    )


def to_lists(X):
    """A tensor as nested lists, for the page."""
    return torch.as_tensor(X).detach().cpu().tolist()


def as_written(x):
    """A number as one would write it: whole numbers without decimals, others with two."""
    return (f"{x:.0f}" if x == int(x) else f"{x:.2f}").replace("-", "−")
