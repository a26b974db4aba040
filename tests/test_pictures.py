"""Pictures: what passes on another machine, what is caught, and what is said of it."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from house_rules import ROOT
from matplotlib.backends.backend_agg import RendererAgg

from course.build import compare as pictures
from course.build.notebooks import build, kept
from tutor import figures
from tutor.views.base import STATE

STEPS = np.arange(100)


def curves(move=0.0, x_label="training step", names=("trained", "untrained"), cut=100, axis=(0, 1)):
    """Two curves as the chapters draw them; the first moved by a share of the axis."""
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    falling = np.exp(-STEPS / 30) + move
    lines = {names[0]: (STEPS[:cut], falling[:cut]), names[1]: (STEPS, 0.9 - 0 * STEPS)}
    figures.curves(lines, x_label, "loss", "", "", ax=ax)
    ax.set_ylim(*axis)
    return figure


def heat_map(cmap="cividis", change=0.0, move=0.0):
    """Weights between 0 and 1 with a colour bar; one of them changed, or all moved a little."""
    A = np.random.default_rng(0).uniform(0, 0.9, (12, 12)) + move
    A[5, 7] += change
    figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    figure.colorbar(ax.imshow(A, cmap=cmap, vmin=0, vmax=1), label="weight")
    ax.set(xlabel="keys", ylabel="queries", title="head 0")
    return figure


def as_output(shown):
    """What the notebook keeps of something displayed."""
    data, metadata = shown._repr_html_(), {}
    if isinstance(data, tuple):
        data, metadata = data
    return {"data": {"text/html": data}, "metadata": {"text/html": metadata}}


@pytest.fixture
def shown(monkeypatch):
    """A function that shows a figure as a chapter does, and gives its picture's metadata, bytes."""
    outputs = []
    monkeypatch.setattr(figures.page, "display", outputs.append)
    # these tests draw both pictures themselves
    monkeypatch.setattr(pictures, "DRAWN_WITH", matplotlib.__version__)

    draw = figures.page.as_png

    def once(figure, ground):  # the dark one is not looked at, and takes as long
        if ground == figures.page.PAPER_COLOUR:
            once.drawn = draw(figure, ground)
        return once.drawn

    monkeypatch.setattr(figures.page, "as_png", once)

    def show(figure, varies=None):
        outputs.clear()
        figures.show(figure, "A caption.", "What the figure shows, in words.", varies)
        light, dark = pictures.pictures([as_output(*outputs)])
        return light

    return show


# ---- what passes


def noisy(picture):
    metadata, data = picture
    pixels = (255 * pictures.read(data)).round().astype(int)
    pixels += np.random.default_rng(0).integers(-2, 3, pixels.shape)
    return metadata, png(pixels.clip(0, 255))


def png(pixels):
    file = pictures.io.BytesIO()
    pictures.Image.fromarray(np.asarray(pixels, np.uint8)).save(file, "png")
    return file.getvalue()


@pytest.mark.parametrize("draw", [curves, heat_map])
@pytest.mark.parametrize("way", [(1, 0), (0, 1), (-1, 1)])
def test_text_a_pixel_further_passes(shown, draw, way, tmp_path, monkeypatch):
    before = shown(draw())
    draw_text = RendererAgg.draw_text

    def further(self, gc, x, y, *rest, **more):
        return draw_text(self, gc, x + way[0], y + way[1], *rest, **more)

    monkeypatch.setattr(RendererAgg, "draw_text", further)
    after = shown(draw())
    assert after[1] != before[1]
    assert pictures.differences(before, after, tmp_path / "text") == []


@pytest.mark.parametrize("draw", [curves, heat_map])
def test_small_differences_pass(shown, draw):
    metadata, data = before = shown(draw())
    pixels = pictures.read(data)
    altered = {
        "edges smoothed": pictures.gaussian(pixels, 0.6, channel_axis=-1),
        "a pixel wider": np.pad(pixels, ((0, 0), (1, 0), (0, 0)), constant_values=1),
    }
    after = {what: (metadata, png(255 * pixels)) for what, pixels in altered.items()}
    after |= {"the same": shown(draw()), "noise": noisy(before), "numbers": shown(draw(move=1e-4))}
    assert after["noise"][1] != data != after["numbers"][1]
    assert {
        what: pictures.differences(before, now) for what, now in after.items()
    } == dict.fromkeys(after, [])


# ---- what is caught


def without_label():
    """The label is missing, and all else where it was: a shorter picture is no help."""
    figure = curves()
    figure.axes[0].xaxis.label.set_alpha(0)
    return figure


def with_other_digit():
    figure = curves()
    ticks = [str(x) for x in (0, 20, 40, 60, 80, 100)]
    figure.axes[0].set_xticks([int(x) for x in ticks], ["0", "20", "40", "60", "90", "100"])
    return figure


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (heat_map, lambda: heat_map("viridis")),
        (heat_map, lambda: heat_map("cividis_r")),
        (heat_map, lambda: heat_map(change=0.1)),
        (curves, lambda: curves(move=0.05)),
        (curves, lambda: curves(move=0.02)),
        (curves, lambda: curves(cut=90)),
        (curves, lambda: curves(axis=(0, 1.05))),
        (curves, without_label),
        (curves, lambda: curves(x_label="")),
        (curves, lambda: curves(x_label="training steps")),
        (curves, with_other_digit),
        (curves, lambda: curves(names=("untrained", "trained"))),
    ],
)
def test_a_change_is_caught(shown, before, after, tmp_path):
    [said] = pictures.differences(shown(before()), shown(after()), tmp_path / "changed")
    assert "See" in said
    for name in ("committed", "now", "difference"):
        assert (tmp_path / f"changed-{name}.png").exists()


def test_a_mean_would_not_see_the_missing_label(shown, tmp_path):
    (_, before), (_, after) = shown(curves()), shown(without_label())
    similarity, _ = pictures.compare(pictures.read(before), pictures.read(after))
    assert similarity.mean() > 0.99 and similarity.min() < 0.1


def test_a_picture_that_is_gone_or_new_is_caught(shown, tmp_path):
    picture = shown(curves())
    assert pictures.differences(picture, None, tmp_path) == ["there is none any more."]
    assert pictures.differences(None, picture, tmp_path) == ["there is none in the notebook."]


# ---- what varies


def test_a_figure_that_varies_is_compared_by_what_is_stable(shown, tmp_path):
    before = shown(curves(), "training")
    assert pictures.differences(before, shown(curves(move=0.3), "training"), tmp_path / "v") == []
    [said] = pictures.differences(before, shown(curves(x_label=""), "training"), tmp_path / "v")
    assert said == ("stable, axes 0, labels was ['training step', 'loss'] and is ['', 'loss'].")


def scatter(names=("a", "b"), title="after 250 steps", panels=1, size=(6, 3), log=False, bars=3):
    figure, axes = plt.subplots(1, panels, squeeze=False, figsize=size, layout="constrained")
    for ax in axes[0]:
        ax.plot(STEPS, np.random.default_rng().uniform(1, 2, 100), label="line")
        ax.bar(range(bars), 1)
        ax.set_xticks(range(2), names)
        ax.set(title=title, yscale="log" if log else "linear")
    return figure


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({}, None),
        ({"title": "after 500 steps"}, None),  # numbers vary
        ({"title": "before 250 steps"}, "title"),
        ({"names": ("a", "c")}, "ticks"),
        ({"panels": 2}, "axes 1"),
        ({"size": (6, 4)}, "inches"),
        ({"log": True}, "scales"),
        ({"bars": 4}, "drawn"),
    ],
)
def test_what_is_stable_in_a_figure(shown, change, what, tmp_path):
    before, after = shown(scatter(), "time"), shown(scatter(**change), "time")
    assert before[1] != after[1]
    said = " ".join(pictures.differences(before, after, tmp_path / "varies"))
    assert (what in said) if what else not said


def test_a_picture_that_varies_keeps_about_its_size(shown, tmp_path):
    metadata, data = before = shown(curves(), "time")
    half = png(255 * pictures.read(data)[::2, ::2])
    [said] = pictures.differences(before, (metadata, half), tmp_path / "half")
    assert re.match(r"it was \d+ x \d+ pixels and is \d+ x \d+\. See ", said)


def test_a_figure_says_to_its_readers_that_it_varies(monkeypatch):
    outputs = []
    monkeypatch.setattr(figures.page, "display", outputs.append)
    figures.show(curves(), "A caption.", "Words.", varies="time")
    assert figures.VARIES["time"] in outputs[0].data
    figures.show(curves(), "A caption.", "Words.")
    assert all(note not in outputs[1].data for note in figures.VARIES.values())
    with pytest.raises(ValueError, match="varies is 'weather'; it can be model, training, chance"):
        figures.show(curves(), "A caption.", "Words.", varies="weather")


# ---- with another matplotlib, and in a run


def test_another_matplotlib_draws_other_pixels(shown, tmp_path, monkeypatch):
    before, after = shown(heat_map()), shown(heat_map("viridis"))
    monkeypatch.setattr(pictures, "DRAWN_WITH", "1.")
    assert pictures.differences(before, after, tmp_path / "old") == []


def test_the_matplotlib_that_drew_the_notebooks_is_the_tested_one():
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert re.search(r"^matplotlib==([\d.]+)", pins, re.M)[1].startswith(pictures.DRAWN_WITH)


PAGE = """# A page

```{code-cell}
from tutor import figures
figures.curves({"exact": ([0, 1, 2], [0, 1, 4])}, "x", "y", "A curve.", "A curve that bends.")
```

What varies:

```{code-cell}
import os
noise = list(os.urandom(50))
figures.curves({"noise": (range(50), noise)}, "x", "y", "Noise.", "Random bytes.", varies="time")
```

What a view holds, from another machine:

```{code-cell}
import base64, json
import numpy as np
from IPython.display import display
numbers = base64.b64encode(np.float32([1, 1e-5 * os.urandom(1)[0] / 255]).tobytes()).decode()
state = {"view": "V", "state": {"x": noise[0] * 1e-7, "weights": {"base64": numbers}}}
display({"text/plain": "V", "application/x-tutor-view": json.dumps(state)}, raw=True)
```
"""


@pytest.mark.skipif(
    not matplotlib.__version__.startswith(pictures.DRAWN_WITH),
    reason=f"pixels are compared with matplotlib {pictures.DRAWN_WITH}x",
)
def test_nbval_compares_the_pictures_of_a_notebook(tmp_path):
    """As in this repository: its configuration; a notebook, and two with one thing altered."""
    (tmp_path / "tests").mkdir()
    for name in ("pyproject.toml", "conftest.py", "tests/pictures.py", "tests/nbval_sanitize.cfg"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    good = build(tmp_path / "page.md", tmp_path)
    [drawn] = pictures.SVG.findall(figures.img(curves(), ""))
    for name, old, new in (
        ("good", "", ""),
        ("bad", pictures.SVG, f'src="data:image/svg+xml;base64,{drawn}"'),
        ("told", "A curve that bends", "A curve"),
    ):
        page = json.loads(good)
        data = page["cells"][1]["outputs"][0]["data"]
        data["text/html"] = re.sub(old, new, "".join(data["text/html"]))
        if name == "told":
            data = page["cells"][5]["outputs"][0]["data"]
            data[STATE] = data[STATE].replace('"base64": "AACAP', '"base64": "AACAQ')
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(page), encoding="utf-8")

    command = [sys.executable, "-m", "pytest", "-n0", "--color=no"]
    command += ["good.ipynb", "bad.ipynb", "told.ipynb"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "3 failed, 6 passed" in done.stdout, done.stdout + done.stderr
    assert "bad.ipynb, cell 0, picture 1: " in done.stdout
    assert 'alt="A curve that bends."' in done.stdout
    assert "told.ipynb, cell 2: a view holds something else" in done.stdout
    folder = tmp_path / "build" / "pictures"
    assert sorted(p.name for p in folder.iterdir()) == [
        f"bad-cell-00-picture-{i}-{name}.png"
        for i in (1, 2)
        for name in ("committed", "difference", "now")
    ]
    path = folder / "bad-cell-00-picture-2"  # the dark one
    assert f"See {path}-difference.png, -committed.png and -now.png." in done.stdout


def test_a_build_keeps_outputs_that_are_alike_and_no_others(shown):
    """So that a page that says the same has the same bytes, whichever machine built it."""

    def page(picture, said="4", source="f()", before="0"):
        about, data = picture
        image = {"image/png": base64.b64encode(data).decode()}
        outputs = [nbformat.v4.new_output("stream", text=said)]
        outputs.append(
            nbformat.v4.new_output("display_data", data=image, metadata={"image/png": about})
        )
        first = nbformat.v4.new_output("stream", text=before)
        cells = [
            nbformat.v4.new_code_cell("e()", outputs=[first], id="cell-000"),
            nbformat.v4.new_code_cell(source, outputs=outputs, id="cell-001"),
        ]
        return nbformat.writes(nbformat.v4.new_notebook(cells=cells))

    picture = shown(curves())
    old, alike = page(picture), page(noisy(picture))
    assert alike != old and kept(old, alike) == old
    others = page(picture, "5"), page(shown(curves(move=0.3))), page(noisy(picture), source="g()")
    for new in others:
        assert kept(old, new) == new
    assert kept(old, page(noisy(picture), before="1")) == page(picture, before="1")
    one, other = shown(curves(), varies="chance"), shown(curves(move=0.3), varies="chance")
    assert kept(page(one), page(other)) == page(one)
    assert kept(page(one), page(other, before="1")) == page(other, before="1"), "no longer true"
