"""The diagrams are what their code draws, well-formed, and described in words."""

import re
import runpy
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

IMAGES = Path(__file__).resolve().parents[1] / "images"
DRAW = runpy.run_path(str(IMAGES / "draw.py"))
PICTURES = DRAW["PICTURES"]


def test_every_picture_has_its_code():
    assert {path.stem for path in IMAGES.glob("*.svg")} == set(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name):
    drawn = PICTURES[name]()
    assert (IMAGES / f"{name}.svg").read_text(encoding="utf-8") == drawn, "run images/draw.py"
    shapes = drawn.partition("</style>")[2]  # each of their colours has a partner on a dark page
    assert {*re.findall(r'fill="([^"]+)"', shapes)} <= {"none", *DRAW["DARK_FILL"]}
    # a white cross lies on what is hidden
    assert {*re.findall(r'stroke="([^"]+)"', shapes)} <= {"#ffffff", *DRAW["DARK_STROKE"]}
    root = ET.fromstring(drawn)
    space = {"svg": "http://www.w3.org/2000/svg"}
    assert len(root.find("svg:desc", space).text) >= 80
    width, height = float(root.get("width")), float(root.get("height"))
    ground = root.find("svg:rect", space)  # of its own, so that it is legible on a dark page
    assert ground.get("fill") == "#ffffff" and float(ground.get("width")) == width
    for rect in root.iterfind("svg:rect", space):
        x, y = float(rect.get("x", 0)), float(rect.get("y", 0))
        assert 0 <= x and x + float(rect.get("width")) <= width, "a box leaves the picture"
        assert 0 <= y and y + float(rect.get("height")) <= height, "a box leaves the picture"
