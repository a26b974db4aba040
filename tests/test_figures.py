"""Figures and diagrams are legible on a light and on a dark page."""

import io
import runpy

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from house_rules import ROOT
from matplotlib import colormaps
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from PIL import Image

from course.build import compare as pictures
from tutor.figures import maps, page

DRAW = runpy.run_path(str(ROOT / "images" / "draw.py"))


def contrast(one, two):
    """WCAG 2.2, contrast ratio of two colours, from 1 to 21."""
    bright = []
    for colour in (one, two):
        c = np.array(to_rgb(colour))
        linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        bright.append(linear @ [0.2126, 0.7152, 0.0722] + 0.05)
    return max(bright) / min(bright)


def test_contrast():
    assert contrast("black", "white") == pytest.approx(21)
    assert contrast("#767676", "white") == pytest.approx(4.54, abs=0.01)


def test_colours_of_figures():
    grounds = (page.PAPER_COLOUR, page.DARK_PAPER)
    for colour in page.COLOURS:  # lines and bars, on both pages
        assert min(contrast(colour, ground) for ground in grounds) >= 3, colour
    assert contrast(page.DARK_LINE, page.DARK_PAPER) >= 3
    for fill in (page.PAPER_COLOUR, page.SEEN):
        assert contrast(page.INK, fill) >= 4.5
        assert contrast(page.DARK_TEXT[page.INK], page.DARK_FILL[fill]) >= 4.5
    for hidden in (page.HIDDEN, page.DARK_FILL[page.HIDDEN]):  # with a white cross
        assert contrast("white", hidden) >= 4.5


def test_numbers_in_a_heat_map():
    figure, ax = plt.subplots()
    maps.write_numbers(ax, torch.linspace(0, 1, 1001)[None])
    for text in ax.texts:
        cell = colormaps["cividis"](text.get_position()[0] / 1001)
        assert contrast(text.get_color(), cell) >= 4.5, text.get_position()
    page.darken(figure)
    assert {text.get_color() for text in ax.texts} == {"black", "white"}  # the cells stay as well
    plt.close(figure)


def test_colours_of_diagrams():
    fills = [DRAW[name] for name in ("BLUE", "YELLOW", "GREY", "WHITE")]
    dark, strokes = DRAW["DARK_FILL"], DRAW["DARK_STROKE"]
    for fill in fills:
        assert contrast(DRAW["INK"], fill) >= 4.5
        assert contrast(dark[DRAW["INK"]], dark[fill]) >= 4.5
    assert contrast(DRAW["LINE"], "white") >= 3 <= contrast(strokes[DRAW["LINE"]], page.DARK_PAPER)


def everything():
    """A figure with a bit of all that the course draws."""
    figure, ax = plt.subplots(figsize=(3, 2), layout="constrained")
    ax.plot([0, 1], [0, 1], "k", label="line")
    ax.bar([0, 1], [1, 2], color="white", edgecolor="black", hatch="//")
    ax.scatter([0, 1], [2, 1], facecolors="none", edgecolors="black")
    ax.text(0, 1, "a", bbox=dict(fc="white"))
    ax.text(1, 1, "kept", gid=page.ON_COLOUR)
    ax.add_patch(Rectangle((0, 0), 1, 1, fc=page.SEEN, ec=page.HIDDEN))
    ax.set(xlabel="x", title="title")
    ax.legend()
    return figure


def test_nothing_black_is_left_on_a_dark_page():
    figure = everything()
    figure.savefig(io.BytesIO())  # which makes the ticks
    page.darken(figure)
    for text in figure.findobj(Text):
        assert (contrast(text.get_color(), page.DARK_PAPER) >= 4.5) == (text.get_text() != "kept")
    for line in figure.findobj(plt.Line2D):
        assert contrast(line.get_color(), page.DARK_PAPER) >= 3
    for patch in figure.findobj(plt.Rectangle):
        for colour in (patch.get_facecolor(), patch.get_edgecolor()):
            assert colour[3] == 0 or to_rgb(colour) not in {(1, 1, 1), (0, 0, 0)}, patch
    [dots] = figure.axes[0].collections
    assert dots.get_facecolor().size == 0 and contrast(dots.get_edgecolor()[0], "black") > 10
    plt.close(figure)


def test_the_page_around_it_chooses_the_picture(browser):
    """In a page of either scheme, on a machine of either: the page counts."""
    figure = everything()
    html = page.img(figure, 'A "text" for <readers>.')
    plt.close(figure)
    [(_, light), (_, dark)] = pictures.pictures([{"data": {"text/html": html}, "metadata": {}}])
    assert Image.open(io.BytesIO(light)).size == Image.open(io.BytesIO(dark)).size
    for machine in ("light", "dark"):
        tab = browser.new_page(color_scheme=machine)
        for scheme, ground in (("light", 255), ("dark", 17)):
            tab.set_content(f'<body style="margin: 0; color-scheme: {scheme}">{html}</body>')
            shot = tab.locator("img").screenshot()
            assert abs(255 * pictures.read(shot)[1, 1] - ground).max() < 3
        assert tab.locator("img").get_attribute("alt") == 'A "text" for <readers>.'
        tab.close()
