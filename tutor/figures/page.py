"""From a matplotlib figure to the page: light and dark, with its caption and the same in words."""

import base64
import html
import inspect
import io
import re
import textwrap

import matplotlib.pyplot as plt
from IPython.display import HTML, display
from matplotlib.collections import Collection
from matplotlib.colors import ListedColormap, to_hex, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator
from PIL import Image  # comes with matplotlib

PAPER_COLOUR, INK, LINE_COLOUR = "#ffffff", "#000000", "#44546a"
SEEN, HIDDEN = "#f7ecb5", LINE_COLOUR  # what a mask shows and hides
# At least 3:1 on white and on the dark page; about equally bright, so each has a style of its own.
COLOURS = ["#0077bb", "#c44e00", "#00876c", "#a6559d", "#767676"]
STYLES = ["-", "--", "-.", ":", (0, (6, 1))]  # so that no line is told by its colour alone

# What becomes of a colour on a dark page; others stay as they are.
DARK_PAPER, DARK_INK, DARK_LINE = "#111111", "#f0f0f0", "#9fb0c8"
DARK_TEXT = {INK: DARK_INK}
DARK_EDGE = {INK: DARK_INK, PAPER_COLOUR: DARK_PAPER, LINE_COLOUR: DARK_LINE}
DARK_FILL = {INK: DARK_INK, PAPER_COLOUR: DARK_PAPER, SEEN: "#6b5a10", HIDDEN: "#2c3644"}
ON_COLOUR = "on colour"  # the gid of text that lies on a colour which stays, and so stays too

VARIES = {
    "model": "Drawn from a trained model, whose numbers another machine rounds differently.",
    "training": "Drawn from a training run, which comes out a little different on another machine.",
    "chance": "Drawn from random choices, a few of which may turn out differently elsewhere.",
    "rounding": "Drawn from numbers whose last digits differ between machines.",
    "time": "Drawn from measured time, which differs from run to run.",
}
THEMES = (
    ".dark{display:none}"
    "@media(prefers-color-scheme:dark){.light{display:none}.dark{display:inline}}"
)


def show(figure, caption, alt, varies=None):
    """Display a matplotlib figure, with its caption and, folded, the same in words.

    caption: the conclusion, one sentence. alt: what it shows, for a reader who cannot see it.
    varies: one of `VARIES` if the figure depends on that, so that other pixels are no mistake. Then
    a line below the caption says so, and the tests compare `what_is_stable` instead of pixels.
    """
    if varies not in (None, *VARIES):
        raise ValueError(f"varies is {varies!r}; it can be {', '.join(VARIES)} or None.")
    metadata = {"varies": varies, "stable": what_is_stable(figure)} if varies else None
    picture = img(figure, alt)
    plt.close(figure)
    note = f"<p><small>{VARIES[varies]}</small></p>" if varies else ""
    words = folded("The figure in words", html.escape(alt))
    display(
        HTML(f"{picture}<p><em>{html.escape(caption)}</em></p>{note}{words}", metadata=metadata)
    )


def row_of_axes(count, width, height, **options):
    """A figure of width x height inches with axes side by side: (figure, array of `count` axes).

    options: those of `plt.subplots`.
    """
    figure, axes = plt.subplots(
        1, count, squeeze=False, figsize=(width, height), layout="constrained", **options
    )
    return figure, axes[0]


def despine(*axes, **sides):
    """seaborn.despine. Loading seaborn takes a second, which a page without such figures saves."""
    import seaborn

    seaborn.despine(*axes, **sides)


def img(figure, alt):
    """A matplotlib figure as an `<img>` with its `alt`, which shows itself light or dark.

    Its source is an SVG that holds both as PNG. The browser tells it the colour scheme of the page
    around it, so that no style or script of ours is needed, which JupyterLab and GitHub would drop.
    Each has a ground of its own, and stays legible where a browser tells it wrong. The figure is
    left in its dark colours.
    """
    size, light = as_png(figure, PAPER_COLOUR)
    darken(figure)
    _, dark = as_png(figure, DARK_PAPER)
    area = 'width="{}" height="{}"'.format(*size)
    pictures = "".join(
        f'<image class="{name}" {area} href="data:image/png;base64,{png}"/>'
        for name, png in (("light", light), ("dark", dark))
    )
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {area}><style>{THEMES}</style>{pictures}</svg>'
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    return f'<img alt="{html.escape(alt)}" {area} src="{source}">'


def as_png(figure, ground):
    """(width, height) in pixels, and the PNG as base64."""
    drawn, png = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=110, bbox_inches="tight", facecolor=ground)
    # 256 colours are all that a heat map and its text need, in half of the bytes. This method
    # moves no colour by more than 3 of 255, and a little change of a figure changes it little.
    picture = Image.open(drawn).convert("RGB")
    picture = picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    picture.save(png, "png", optimize=True)
    return picture.size, base64.b64encode(png.getvalue()).decode()


def darken(figure):
    """Give a figure, in place, its colours for a dark page."""
    for artist in figure.findobj():
        if artist.get_gid() == ON_COLOUR:
            continue
        if isinstance(getattr(artist, "cmap", None), ListedColormap):
            artist.set_cmap(ListedColormap([other(c, DARK_FILL) for c in artist.cmap.colors]))
        if isinstance(artist, Text):
            artist.set_color(other(artist.get_color(), DARK_TEXT))
            if artist.get_bbox_patch():
                recolour(artist.get_bbox_patch())
        elif isinstance(artist, Line2D):
            artist.set_color(other(artist.get_color(), DARK_EDGE))
            artist.set_markeredgecolor(other(artist.get_markeredgecolor(), DARK_EDGE))
            artist.set_markerfacecolor(other(artist.get_markerfacecolor(), DARK_FILL))
        elif isinstance(artist, Patch):
            recolour(artist)
        elif isinstance(artist, Collection):
            artist.set_edgecolor([other(c, DARK_EDGE) for c in artist.get_edgecolor()])
            if artist.get_array() is None:  # else a map of colours
                artist.set_facecolor([other(c, DARK_FILL) for c in artist.get_facecolor()])


def recolour(patch):
    """Edge and fill of a patch for a dark page."""
    edge, fill = patch.get_edgecolor(), patch.get_facecolor()
    patch.set_edgecolor(other(edge, DARK_EDGE))
    if patch.get_fill():
        patch.set_facecolor(other(fill, DARK_FILL))


def other(colour, partners):
    """What a colour becomes, as opaque as it was."""
    if isinstance(colour, str) and colour.lower() in ("none", "auto"):
        return colour
    r, g, b, a = to_rgba(colour)
    return (*to_rgba(partners.get(to_hex((r, g, b)), (r, g, b)))[:3], a)


def what_is_stable(figure):
    """What a figure shows whatever its numbers are: a dict from what to how many or which names.

    Its size in inches; of each of its axes the title, labels, scales, names in the legend, names of
    ticks that were set, and how many lines, images, patches and collections. Numbers within names
    become "#".
    """

    def names(texts):
        return [re.sub(r"\d[\d.,]*", "#", text.get_text()) for text in texts]

    found = {"inches": [round(float(side), 2) for side in figure.get_size_inches()]}
    for i, ax in enumerate(figure.axes):
        found[f"axes {i}"] = {
            "title": names([ax.title]),
            "labels": names([ax.xaxis.label, ax.yaxis.label]),
            "scales": [ax.get_xscale(), ax.get_yscale()],
            "legend": names(ax.get_legend().get_texts()) if ax.get_legend() else [],
            "ticks": [
                names(axis.get_ticklabels())
                for axis in (ax.xaxis, ax.yaxis)
                if isinstance(axis.get_major_locator(), FixedLocator)
            ],
            "drawn": [len(x) for x in (ax.lines, ax.images, ax.patches, ax.collections)],
        }
    return found


def folded(title, content):
    """HTML that the reader opens by its title."""
    return (
        '<details style="margin-bottom: 1em">'
        f"<summary>{html.escape(title)}</summary>{content}</details>"
    )


def listing(title, *functions):
    """The code of functions of the package, folded until the reader opens it."""
    code = "\n".join(textwrap.dedent(inspect.getsource(function)) for function in functions)
    display(HTML(folded(title, f"<pre>{html.escape(code)}</pre>")))
