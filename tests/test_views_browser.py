"""The views in a real browser: in JupyterLab with a kernel, and as saved pages without anything.

Skipped, by name, where Debian's Chromium is missing. What a view announces is compared with the
tensors, which this process computes once more.
"""

import re
from contextlib import ExitStack

import lab
import nbformat
import pytest
from matplotlib import colormaps
from nbconvert import HTMLExporter

from tutor.figures import HIDDEN, SEEN

SETUP = """
import torch
from tutor import Recording, beam_search, load_pretrained
from tutor.views import AttentionView, BeamView, MaskView, SlicingView, SoftmaxView

torch.set_num_threads(1)
text = "A man is riding a white horse near the beach."
translator = load_pretrained()
generator = torch.Generator().manual_seed(0)
found = beam_search(translator.model, torch.tensor(translator.encode([text])), 3)
"""
VIEWS = {
    "attention": """AttentionView(
        translator.record(text), run=translator.record, layer=2, head=1, alignment={(6, 4)})""",
    "mask": """MaskView(
        torch.randn(4, 4, generator=generator), rows=["le", "chat", "noir", "dort"],
        columns=["le", "chat", "noir", "[PAD]"])""",
    "slicing": """SlicingView(
        torch.arange(6.0).reshape(3, 2), torch.arange(8.0).reshape(2, 4) - 3, 2, list("abc"))""",
    "softmax": """SoftmaxView(
        torch.randn(9, 64, generator=generator), torch.randn(5, 64, generator=generator), d_k=4)""",
    "beam": "BeamView.search(translator, text, 3)",
}
CELLS = [SETUP, *(f"{name} = {code}\n{name}" for name, code in VIEWS.items())]


@pytest.fixture(scope="module")
def python():
    """What the notebook computes, computed here: name -> object."""
    scope = {}
    exec(SETUP, scope)
    for name, code in VIEWS.items():
        scope[name] = eval(code, scope)
    scope["beam"].step = len(scope["beam"].steps) - 1
    return scope


@pytest.fixture(scope="module")
def axe():
    """A function, so that all other checks of a test run where npm is missing, too."""
    text = lab.axe()

    def check(page, selector=".tutor-view"):
        if text is None:
            pytest.skip("npm cannot get axe-core")
        return lab.violations(page, text, selector)

    return check


@pytest.fixture
def page(notebook):
    """The notebook's page; afterwards nothing was complained of, and nothing left the machine."""
    page, watch = notebook
    yield page
    assert (watch.errors, watch.outside) == ([], [])


def view_of(page, name):
    return page.locator(".tutor-view").nth(list(VIEWS).index(name))


def readout(view):
    return view.locator(".tutor-readout").inner_text()


def announced(view):
    """(row, column, weight) of the cell that is read out first."""
    row, column, weight = re.search(r"A\[(\d+), (\d+)\] = (\d\.\d+)", readout(view)).groups()
    return int(row), int(column), float(weight)


def colours(A):
    """The colours of weights, row after row: [red, green, blue] each."""
    return colormaps["cividis"](A.numpy().flatten(), bytes=True)[:, :3].tolist()


def press(page, keys):
    for key in keys.split():
        page.keyboard.press(key)


def in_kernel(page, expression, expected):
    """Wait until the repr of an expression in the notebook's kernel is what is expected."""
    # What the reader does is sent while the kernel is not busy.
    lab.until(page, lambda: kernel_says(page, expression) == expected)
    assert kernel_says(page, expression) == expected


def kernel_says(page, expression):
    """The repr of an expression in the notebook's kernel."""
    return page.evaluate(
        """async (x) => {
          const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
          const request = kernel.requestExecute({ code: "", user_expressions: { x } });
          return (await request.done).content.user_expressions.x.data["text/plain"];
        }""",
        expression,
    )


# ---- attention


def test_keys_lead_through_the_map_and_the_heads(page, python):
    view, attention = view_of(page, "attention"), python["attention"].recording.attention["cross"]
    view.locator("select").last.focus()
    press(page, "Tab Tab")
    at = [0, 0]
    for keys, move in (("", (0, 0)), ("ArrowDown ArrowDown", (2, 0)), ("ArrowRight", (0, 1)),
                       ("End", (0, 99)), ("ArrowRight", (0, 1)), ("ArrowUp", (-1, 0))):  # fmt: skip
        press(page, keys)
        at = [at[0] + move[0], min(at[1] + move[1], 11)]
        row, column, weight = announced(view)
        assert [row, column] == at
        assert weight == pytest.approx(attention[2][1][row, column].item(), abs=6e-4)
    assert "Step 1 reads _Un and writes _homme." in readout(view)
    press(page, "Home")  # the token itself
    top = python["attention"].recording.source[attention[2][1][1].argmax()]
    assert readout(view).startswith(f"_homme looks most at {top} ")

    press(page, "ArrowRight ArrowRight Enter")  # pin a cell, and look at it in another head
    view.locator("[role=listbox]").focus()
    press(page, "ArrowUp ArrowRight")
    assert announced(view) == (1, 1, pytest.approx(attention[1][2][1, 1].item(), abs=6e-4))
    for i, thumb in enumerate(view.locator("[role=option]").all()):
        name = f"layer {i // 4}, head {i % 4}: {attention[i // 4][i % 4][1, 1]:.2f}"
        assert thumb.get_attribute("aria-label") == name
    in_kernel(page, "(attention.layer, attention.head)", "(1, 2)")

    press(page, "Shift+Tab d d")  # to JupyterLab that would mean: delete the cell
    assert page.locator(".jp-Cell").count() == 1 + len(VIEWS)
    press(page, "Escape")
    assert view.evaluate("(view) => view === document.activeElement")
    assert "Point at a token" in readout(view)


def test_the_keys_turn_weights_into_shares_of_the_length(page, python):
    view, attention = view_of(page, "attention"), python["attention"].recording.attention
    view.locator("select").nth(0).focus()
    press(page, "End")
    in_kernel(page, "attention.kind", "'length'")
    view.locator("[role=option]").nth(9).click()
    view.locator(".tutor-map").focus()
    press(page, "ArrowDown ArrowRight")
    found = re.search(r"share of the length\[1, 1\] = (\d\.\d+)", readout(view))
    assert float(found[1]) == pytest.approx(attention["length"][2][1][1, 1].item(), abs=6e-4)
    assert view.evaluate(PAINTED)["map"] == colours(attention["length"][2][1])
    assert view.locator(".tutor-legend").inner_text().startswith("share of the length")
    assert "by length, layer 2, head 1" in view.locator(".tutor-caption").inner_text()
    view.locator("select").nth(0).select_option("cross")
    assert view.locator(".tutor-legend").inner_text().startswith("weight")


def test_the_pointer_lights_up_cells_and_tokens(page, python):
    view, attention = view_of(page, "attention"), python["attention"].recording.attention
    view.locator("select").nth(0).select_option("cross")
    view.locator("select").nth(2).select_option("mean")
    A = attention["cross"][int(kernel_says(page, "attention.layer"))].mean(0)
    canvas = view.locator(".tutor-cells canvas")
    box = canvas.bounding_box()
    side = box["width"] / A.shape[1]
    for row, column in ((4, 6), (0, 0), (11, 11)):
        canvas.hover(position={"x": (column + 0.4) * side, "y": (row + 0.6) * side})
        assert announced(view) == (row, column, pytest.approx(A[row, column].item(), abs=6e-4))
        lit = [token.inner_text() for token in view.locator(".tutor-lit").all()]
        assert lit == [python["attention"].recording.source[column],
                       python["attention"].recording.target[row]]  # fmt: skip
        assert ("A true link." in readout(view)) == ((row, column) == (4, 6))
    view.locator(".tutor-columns span").nth(6).hover()
    top = python["attention"].recording.target[A[:, 6].argmax()]
    assert readout(view).startswith(f"_horse is looked at most by {top} ")
    view.locator("select").nth(3).select_option("read")  # links move to the step that reads
    canvas.hover(position={"x": 6.5 * side, "y": 5.5 * side})
    assert "A true link." in readout(view) and readout(view).startswith("_cheval looks at _horse")
    view.locator("select").nth(3).select_option("written")
    view.locator("select").nth(0).select_option("decoder")
    canvas.hover(position={"x": 4.5 * side, "y": 3.5 * side})
    assert "= 0.000, masked: not read yet" in readout(view)
    page.mouse.move(0, 0)


PAINTED = """(view) => {
  const [rows, columns] = [12, 12];
  const cells = [...Array(rows * columns).keys()];
  const pixel = (pen, x, y) => [...pen.getImageData(x, y, 1, 1).data.slice(0, 3)];
  const map = view.querySelector(".tutor-cells canvas");
  const [pen, side] = [map.getContext("2d"), map.width / columns];
  const at = (dx, dy) =>
    cells.map((i) => pixel(pen, (i % columns) * side + dx, Math.floor(i / columns) * side + dy));
  const copy = document.createElement("canvas").getContext("2d");
  const heads = [...view.querySelectorAll("[role=option] img")].map((image) => {
    copy.drawImage(image, 0, 0);
    return cells.map((i) => pixel(copy, i % columns, Math.floor(i / columns)));
  });
  return { map: at(6, 6), edges: at(3, side / 2), heads };
}"""


def test_what_is_painted(page, python):
    """The colour of every cell, of every small map, and the outline of the true link."""
    view, attention = view_of(page, "attention"), python["attention"].recording.attention["cross"]
    view.locator("select").nth(0).select_option("cross")
    view.locator("[role=option]").nth(9).click()
    painted = view.evaluate(PAINTED)
    assert painted["map"] == colours(attention[2][1])
    for i, head in enumerate(painted["heads"]):
        assert head == colours(attention[i // 4][i % 4])
    for rows, cell in (("read", (5, 6)), ("written", (4, 6))):
        view.locator("select").nth(3).select_option(rows)
        edges = view.evaluate(PAINTED)["edges"]
        white = [divmod(i, 12) for i, colour in enumerate(edges) if min(colour) > 150]
        assert white == [cell]


def test_a_square_root_scale_shows_small_weights(page, python):
    view, attention = view_of(page, "attention"), python["attention"].recording.attention["cross"]
    view.locator("select").nth(5).select_option("root")
    painted = view.evaluate(PAINTED)
    assert painted["map"] == colours(attention[2][1].sqrt())
    assert painted["heads"][3] == colours(attention[0][3].sqrt())
    legend = view.locator(".tutor-legend").inner_text()
    assert "square-root scale (its middle is 0.25)" in legend
    cell = view.locator(".tutor-map").evaluate(
        "(n) => parseInt(n.style.getPropertyValue('--cell'))"
    )
    assert ("no number: below 0.005" in legend) == (cell >= 30)
    view.locator("select").nth(5).select_option("linear")
    assert view.evaluate(PAINTED)["map"] == colours(attention[2][1])


def test_a_token_is_isolated_in_all_heads(page, python):
    """Pinned by the keys: each small map shows its row alone, and says what it looks at most."""
    view, recording = view_of(page, "attention"), python["attention"].recording
    view.locator(".tutor-map").focus()
    press(page, "Home ArrowDown ArrowDown Enter")  # row 2, the token itself
    for i, thumb in enumerate(view.locator("[role=option]").all()):
        row = recording.attention["cross"][i // 4][i % 4][2]
        top = recording.source[row.argmax()]
        assert thumb.inner_text() == top
        name = f"layer {i // 4}, head {i % 4}: {top} {row.max():.2f}"
        assert thumb.get_attribute("aria-label") == name
    strength = view.evaluate("""(view) => {
      const copy = document.createElement("canvas").getContext("2d");
      copy.drawImage(view.querySelector("[role=option] img"), 0, 0);
      return [...Array(12).keys()].map((row) => copy.getImageData(3, row, 1, 1).data[3]);
    }""")
    assert strength == [255 if row == 2 else 40 for row in range(12)]
    press(page, "Escape")
    assert view.locator("[role=option]").nth(5).inner_text() == "1"


# Whether each colour of a line is anywhere on the canvas, and, per row, at the left and right edge.
LINES = """(view, colours) => {
  const canvas = view.querySelector(".tutor-lines canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const [there, ends] = [colours.map(() => 0), [new Set(), new Set()]];
  const pitch = canvas.height / 12;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < 60) continue;
    const [x, y] = [(i / 4) % canvas.width, Math.floor(i / 4 / canvas.width)];
    const far = (hex) => [1, 3, 5].map((at, c) =>
      Math.abs(parseInt(hex.slice(at, at + 2), 16) - data[i + c])).reduce((a, b) => a + b);
    colours.forEach((hex, m) => { there[m] += far(hex) < 12; });
    if (x === 4) ends[0].add(Math.floor(y / pitch));
    if (x === canvas.width - 5) ends[1].add(Math.floor(y / pitch));
  }
  return [there.map((count) => count > 30), ...ends.map((found) => [...found])];
}"""


def test_lines_between_tokens(page, python):
    """All heads of a layer overlaid; one left out; one token isolated by the keys."""
    view, recording = view_of(page, "attention"), python["attention"].recording
    heads = recording.attention["cross"][2]
    view.locator("select").nth(4).focus()
    press(page, "End")  # a map -> lines
    view.locator("select").nth(2).select_option("mean")
    said = ["#0077bb", "#c44e00", "#00876c", "#a6559d"]  # figures.COLOURS
    assert view.evaluate(LINES, said)[0] == [True] * 4
    assert view.locator("[role=option][aria-selected=true]").count() == 4  # the mean is of these
    boxes = view.locator(".tutor-legend input")
    boxes.nth(1).focus()
    press(page, "Space")
    assert view.evaluate(LINES, said)[0] == [True, False, True, True]
    press(page, "Space")
    view.locator(".tutor-lines").focus()
    press(page, "ArrowDown ArrowDown Enter")
    row = max(heads[:, 2].max(0).values.tolist())
    _, left, right = view.evaluate(LINES, said)
    assert left == [2] and row > 0.9
    assert set(right) <= {s for s in range(12) if heads[:, 2, s].max() >= 0.02}
    for m in range(4):
        best = heads[m, 2].argmax()
        words = f"{recording.source[best]} {heads[m, 2, best]:.2f} (head {m})"
        assert words in readout(view)
    press(page, "ArrowRight")
    assert readout(view).startswith(f"{recording.source[2]} is looked at most by ")
    press(page, "Escape")
    view.locator("select").nth(4).select_option("map")
    view.locator("[role=option]").nth(9).click()


def test_every_small_map_can_be_enlarged(page, python):
    view = view_of(page, "attention")
    view.get_by_role("button", name="Larger cells").click()
    box = view.locator(".tutor-cells canvas").bounding_box()
    assert (box["width"], box["height"]) == (12 * 36, 12 * 36)
    view.get_by_role("button", name="Larger cells").click()


def test_copy_as_picture_and_as_numbers(page, python):
    view, A = view_of(page, "attention"), python["attention"].recording.attention["cross"][2][1]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    view.get_by_text("Copy numbers").click()
    view.get_by_text("The numbers are copied.").wait_for()
    name, columns, *rows = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert name == "Cross attention, layer 2, head 1"
    assert columns.split("\t") == ["", *python["attention"].recording.source]
    assert [row.split("\t")[1:] for row in rows] == [[f"{a:.4f}" for a in row] for row in A]
    view.get_by_text("Copy picture").click()
    view.get_by_text("The picture is copied.").wait_for()
    size = page.evaluate("""async () => {
      const [item] = await navigator.clipboard.read();
      const picture = await createImageBitmap(await item.getType("image/png"));
      return [picture.width, picture.height];
    }""")
    assert min(size) > 500
    # Where the page may not copy, the reader can.
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    view.get_by_text("Copy numbers").click()
    assert view.locator("textarea").input_value().split("\n") == [name, columns, *rows]
    view.get_by_text("Copy picture").click()
    assert view.locator(".tutor-by-hand img").get_attribute("alt") == name
    assert view.locator(".tutor-by-hand a").get_attribute("download") == "attention.png"
    view.get_by_text("Close").click()
    assert view.locator(".tutor-by-hand").is_hidden()


def test_own_sentence(page, python):
    view = view_of(page, "attention")
    view.locator("select").nth(0).select_option("cross")
    text = "Two dogs are running on the beach."
    view.locator("input").fill(text)
    press(page, "Enter")
    expected = python["translator"].record(text)
    view.locator(".tutor-pair", has_text=expected.translation).wait_for()
    assert [name.inner_text() for name in view.locator(".tutor-rows span").all()] == expected.target
    view.locator("[role=option]").nth(3).click()
    view.locator(".tutor-map").focus()
    press(page, "ArrowDown ArrowRight")
    A = expected.attention["cross"][0][3]
    assert announced(view) == (1, 1, pytest.approx(A[1, 1].item(), abs=6e-4))
    view.locator("input").fill("  ")
    view.get_by_text("Translate").click()
    view.locator("[role=status]", has_text="Write a sentence first.").wait_for()
    assert expected.translation in view.locator(".tutor-pair").inner_text()  # still there


# ---- the other views


def test_mask_view(page, python):
    view, mask = view_of(page, "mask"), python["mask"]
    view.get_by_text("causal", exact=True).click()
    view.locator("[role=application]").focus()
    press(page, "ArrowDown ArrowDown Enter ArrowRight Enter ArrowRight Enter")  # all of row 2
    mask.mask = [[s > t or t == 2 for s in range(4)] for t in range(4)]
    assert "noir has nothing to look at: its weights are all 0" in readout(view)
    assert view.locator(".tutor-note").all_inner_texts() == ["", "", "nothing left: zeros", ""]
    for t, keys in ((3, "ArrowDown"), (1, "ArrowUp ArrowUp")):
        press(page, keys)
        assert announced(view) == (t, 2, pytest.approx(mask.A[t, 2].item(), abs=6e-4))
    weights = view.locator(".tutor-matrix").nth(2).locator(".tutor-box").all_inner_texts()
    assert weights == [f"{a:.2f}" for a in mask.A.flatten()]
    in_kernel(page, f"mask.mask == {mask.mask}", "True")
    view.locator(".tutor-matrix").nth(1).locator(".tutor-box").nth(8).click()  # (2, 0) again
    in_kernel(page, "mask.A[2].tolist()", "[1.0, 0.0, 0.0, 0.0]")


def test_slicing_view(page, python):
    view, Q = view_of(page, "slicing"), python["slicing"].Q
    view.locator("[role=application]").focus()
    press(page, "ArrowDown ArrowDown ArrowRight ArrowRight")  # entry (2, 2)
    assert "Q[2, 2] = 4·(−1) + 5·3 = 11: c, column 0 of head 1." in readout(view) and Q[2, 2] == 11
    places = {"multiply": None, "cut": "[2, 1, 0]", "stack": "[1, 2, 0]", "swap back": "[2, 1, 0]"}
    assert (
        Q.unflatten(-1, (2, 2))[2, 1, 0] == Q.unflatten(-1, (2, 2)).transpose(0, 1)[1, 2, 0] == 11
    )
    for name, place in places.items():
        view.locator("[role=application]").focus()
        press(page, "ArrowDown ArrowDown ArrowRight ArrowRight")
        assert f", {name}." in view.locator(".tutor-caption").inner_text()
        assert place is None or readout(view).endswith(f"Here it is {place}.")
        view.get_by_text("Next").click()
    in_kernel(page, "slicing.step", "4")
    # Answers of the kernel that come late do not undo what the reader has done since.
    view.evaluate("""(view) => {
      window.said = [];
      const caption = view.querySelector(".tutor-caption");
      new MutationObserver(() => window.said.push(caption.textContent.slice(0, 6))).observe(
        caption, { childList: true });
    }""")
    for button in 3 * ["Back", "Back", "Next"]:
        view.get_by_role("button", name=button).click()
        page.wait_for_timeout(160)
    in_kernel(page, "slicing.step", "1")
    assert page.evaluate("window.said") == [f"Step {n}" for n in (4, 3, 4, 3, 2, 3, 2, 1, 2)]
    view.get_by_text("A mistake").click()
    view.locator("[role=application]").focus()
    press(page, "ArrowDown ArrowRight ArrowRight")
    assert readout(view).endswith("Here it is [1, 0, 0], where a should stand in head 1.")
    assert Q.view(2, 3, 2)[1, 0, 0] == 7


def test_softmax_view(page, python):
    view, softmax = view_of(page, "softmax"), python["softmax"]
    for slider, keys, name, value in ((0, "End", "step", 6), (1, "ArrowRight " * 10, "power", 0.5)):
        view.locator("input").nth(slider).focus()
        press(page, keys)
        setattr(softmax, name, value)
        weights = view.locator("table").nth(0).locator("td:nth-child(4)").all_inner_texts()
        assert weights == [f"{a:.3f}" for a in softmax.A()[0]]
        A = softmax.A()
        bits = -(A * A.clamp(min=1e-30).log2()).sum(-1)
        assert f"entropy {bits[0]:.2f} bits" in readout(view)
        shown = view.locator("table").nth(1).locator("[aria-current=true] td").nth(0)
        assert shown.inner_text() == f"{bits.mean():.2f}"
    in_kernel(page, "repr(softmax)", repr(repr(softmax)))


def test_beam_view(page, python):
    view, beam, best = view_of(page, "beam"), python["beam"], python["found"][0][0]
    opening = python["BeamView"].search(python["translator"], python["text"], 3).step
    view.get_by_text(f"Step {opening} of").wait_for()
    view.get_by_role("button", name="Play").click()  # a step after the other, to the end
    view.get_by_text(f"Step {beam.step} of").wait_for()
    view.get_by_role("button", name="Play").wait_for()  # at rest
    tokens = python["translator"].tokenizer.readable(best.ids)
    assert view.locator(".tutor-caption").inner_text().endswith(" ".join([*tokens, "[EOS]"]))
    for fate in ("live", "pruned", "finished", "best"):
        expected = [fate for step in beam.fates() for fate in step].count(fate)
        assert view.locator(f".tutor-node.tutor-{fate}:visible").count() == expected
    view.locator("[role=application]").focus()
    press(page, "ArrowRight ArrowRight")
    path, column = [0], 0  # the first child, twice
    for column in (1, 2):
        path.append(next(j for j, c in enumerate(beam.steps[column]) if c.parent == path[-1]))
    said = " ".join(beam.steps[i][j].token for i, j in enumerate(path))
    score = f"{beam.steps[2][path[2]].score:.2f}".replace("-", "−")
    assert readout(view).startswith(f"{said}: step 2, place {path[2]}, ")
    assert readout(view).endswith(f"the score is {score}.")
    for _ in range(len(beam.steps) - 1):
        view.get_by_text("Back").click()
    assert view.locator(".tutor-node:visible").count() == len(beam.steps[0])
    in_kernel(page, "beam.step", "0")
    view.get_by_label("Your sentence").fill("Two dogs.")
    press(page, "Enter")
    own = python["BeamView"].search(python["translator"], "Two dogs.", 3)
    wanted = " ".join(own.steps[i][j].token for i, j in own.path(*own.facts["winner"]))
    view.locator(".tutor-caption", has_text=f"Best: {wanted}").wait_for()
    assert view.locator(".tutor-node").count() == sum(map(len, own.steps))
    in_kernel(page, "beam.step", str(len(own.steps) - 1))
    view.get_by_label("Your sentence").fill(" ")
    view.get_by_text("Translate").click()
    view.locator("[role=status]", has_text="Write a sentence first.").wait_for()


# ---- manners


@pytest.mark.parametrize("theme", ["Light", "Dark", "Dark High Contrast"])
def test_themes(page, axe, theme):
    name = f"JupyterLab {theme}"
    page.evaluate(
        "(theme) => jupyterapp.commands.execute('apputils:change-theme', { theme })", name
    )
    page.wait_for_function(f"document.body.dataset.jpThemeName === '{name}'")
    ground = view_of(page, "attention").evaluate("(view) => getComputedStyle(view).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", ground)[:3])) / 3
    assert brightness > 240 if theme == "Light" else brightness < 40
    assert axe(page) == []


@pytest.mark.parametrize("name", VIEWS)
def test_saved_page_works_alone(browser, python, axe, tmp_path, name):
    """Opened from disk, offline, 400 pixels wide: no kernel, no request, no complaint."""
    python[name].save(tmp_path / "view.html")
    context = browser.new_context(
        offline=True, viewport={"width": 400, "height": 800}, reduced_motion="reduce"
    )
    page = context.new_page()
    watch = lab.Watch(page)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "view.html").as_uri())
    page.locator(".tutor-view").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.evaluate(
        "[...document.querySelectorAll('*')].every("
        "(node) => getComputedStyle(node).transitionDuration === '0s')"
    )
    stops = []
    while len(stops) < 40:  # Tab in, Tab out; the focus is always seen
        press(page, "Tab")
        here = page.evaluate("""() => {
          const seen = (node) => getComputedStyle(node).outlineStyle !== "none";
          const here = document.activeElement;
          return here === document.body ? null : seen(here) || seen(here.parentNode);
        }""")
        if here is None:
            break
        stops.append(here)
    assert 4 <= len(stops) < 40 and all(stops)
    before = readout(page)
    area = page.locator("[role=application]" if name != "softmax" else "input")
    area.first.focus()
    press(page, "ArrowLeft ArrowDown")
    assert readout(page) != before
    assert axe(page, "html") == []
    assert (watch.errors, requests[1:]) == ([], [])
    context.close()


LOOKS = [("light", "none"), ("dark", "none"), ("dark", "active")]
# What is drawn, whose place is to stay; and what sticks out of the view, though nothing scrolls.
OUTSIDE = """(view) => [...view.querySelectorAll("*")]
  .filter((node) => !node.closest(".tutor-scroll, .tutor-matrix, .tutor-side"))
  .filter((node) => node.getBoundingClientRect().right > view.getBoundingClientRect().right)
  .map((node) => node.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def many(python):
    """More to show: 40 tokens, a wide map, real numbers in three heads, 12 x 12 scores."""
    torch, generator = python["torch"], python["torch"].Generator().manual_seed(0)

    def attention(T, S, **more):
        A = torch.randn(2, 8, T, S, generator=generator).mul(3).softmax(-1)
        names = [f"token{i}" for i in range(S)]
        recording = python["Recording"]("one", "two", names, names[:T], {"cross": list(A)})
        return python["AttentionView"](recording, **more)

    numbers = 99 * torch.randn(4, 3, generator=generator)
    scores = torch.randn(12, 12, generator=generator)
    words = [f"word{i}" for i in range(8)]
    return {
        "forty": attention(40, 40, head=None),
        "wide": attention(16, 47),
        "slicing": python["SlicingView"](numbers, numbers.T.repeat(1, 3)[:, :6], 3),
        "mask": python["MaskView"](scores, mask="causal"),
        "wide mask": python["MaskView"](scores[:8, :8], words, words),
    }


@pytest.fixture
def opened(browser, tmp_path):
    """A function from a view to a page that holds it alone."""
    with ExitStack() as pages:

        def opened(view, **size):
            view.save(tmp_path / "view.html")
            page = browser.new_page(viewport={"width": 1100, "height": 800, **size})
            pages.callback(page.close)
            page.goto((tmp_path / "view.html").as_uri())
            return page

        yield opened


@pytest.mark.parametrize("name", VIEWS)
def test_every_look_and_width(opened, python, axe, name):
    """Nothing to complain of, nothing cut off, and nothing moves under the pointer."""
    page = opened(python[name])
    view = page.locator(".tutor-view")
    drawn = view.locator(".tutor-body, .tutor-matrices, .tutor-tree").first
    for width in (280, 400, 700, 1400):
        page.set_viewport_size({"width": width, "height": 1000})
        assert view.evaluate(OUTSIDE) == []
        top = "(node) => node.getBoundingClientRect().top + scrollY"
        place = drawn.evaluate(top)
        page.locator("[role=application]" if name != "softmax" else "input").first.focus()
        for key in ("ArrowDown", "ArrowRight", "Enter", "ArrowRight", "Escape"):
            press(page, key)
            assert drawn.evaluate(top) == place, (width, readout(view))
        for colours, forced in LOOKS if width > 280 else ():
            page.emulate_media(color_scheme=colours, forced_colors=forced)
            assert axe(page, "html") == [], (width, colours, forced)


def test_small_maps_keep_their_shape_and_the_mean_marks_its_heads(opened, many):
    page = opened(many["wide"])
    box = page.locator("[role=option] img").first.bounding_box()
    assert box["width"] / box["height"] == pytest.approx(47 / 16, rel=0.05)
    page = opened(many["forty"])
    assert page.locator("[role=option][aria-selected=true]").count() == 8
    # At 40 tokens no grid is painted over the weights.
    assert page.evaluate("""() => {
      const canvas = document.querySelector(".tutor-cells canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.every((value, i) => i % 4 < 3 || value === 255);
    }""")


def test_slices_are_told_apart_without_colour(opened, many):
    page = opened(many["slicing"])
    assert page.locator(".tutor-operator").all_inner_texts() == ["@", "="]
    fits = "(boxes) => boxes.every((box) => box.scrollWidth <= box.clientWidth)"
    assert page.locator(".tutor-box").evaluate_all(fits)
    heads = "(boxes) => boxes.map((box) => getComputedStyle(box, '::after').content)"
    page.emulate_media(forced_colors="active")
    found = page.locator(".tutor-moving").evaluate_all(heads)
    assert found == [f'"{c // 2}"' for _ in range(4) for c in range(6)]


def test_a_mask_too_wide_for_a_phone_scrolls_by_keyboard(opened, axe, many):
    page = opened(many["wide mask"], width=360)
    matrices = page.locator(".tutor-matrices")
    assert axe(page, "html") == []
    matrices.focus()
    press(page, "ArrowRight Control+End")
    assert matrices.evaluate("(node) => node.scrollLeft") > 0


def test_a_large_mask_is_small(opened, python, many):
    page = opened(many["mask"])
    assert page.locator(".tutor-matrices").bounding_box()["height"] < 900
    page = opened(python["mask"])
    page.emulate_media(forced_colors="active")
    grounds = "(boxes) => boxes.map((box) => getComputedStyle(box).backgroundColor)"
    shown = page.locator(".tutor-weight").evaluate_all(grounds)
    expected = [f"rgb({r}, {g}, {b})" for r, g, b in colours(python["mask"].A)]
    assert shown == expected
    line = "(box) => getComputedStyle(box).textDecorationLine"
    page.get_by_text("causal", exact=True).click()
    assert page.locator(".tutor-hidden").first.evaluate(line) == "none"


def test_a_mask_has_the_colours_of_the_figures(opened, python):
    """On a light page; on a dark one they are dark, as in the figures. And a choice is seen."""
    page = opened(python["mask"])
    page.get_by_text("causal", exact=True).click()
    cells = page.locator(".tutor-mask").filter(has_text="·"), page.locator("[data-hidden=true]")

    def grounds(*found):
        ground = "(node) => getComputedStyle(node).backgroundColor"
        numbers = [re.findall(r"[\d.]+", one.first.evaluate(ground)) for one in found]
        return [[255 * float(x) for x in rgb] for rgb in numbers]

    for ground, hex in zip(grounds(*cells), (SEEN, HIDDEN), strict=True):
        assert ground == pytest.approx(list(bytes.fromhex(hex[1:])), abs=1)
    page.emulate_media(color_scheme="dark")
    assert max(map(max, grounds(*cells))) < 110
    page.emulate_media(forced_colors="active")
    pressed, other = grounds(*(page.locator(f"[aria-pressed={is_}]") for is_ in ("true", "false")))
    assert pressed != other


def test_the_newest_step_and_the_winner_are_in_sight(opened, python):
    page, beam = opened(python["beam"], width=700), python["beam"]
    window = page.locator(".tutor-scroll", has=page.locator(".tutor-tree"))

    def seen(node):
        lab.drawn(page)
        box, around = node.bounding_box(), window.bounding_box()
        return around["x"] <= box["x"] and box["x"] + box["width"] <= around["x"] + around["width"]

    assert seen(page.locator(".tutor-node.tutor-best"))
    more = page.locator(".tutor-more")  # says what is not
    assert more.inner_text().startswith("← scroll: step")
    for _ in beam.steps[1:]:
        page.get_by_text("Back").click()
    assert more.inner_text() == ""
    for step in range(1, len(beam.steps) - 1):
        page.get_by_text("Next").click()
        assert seen(page.locator(f'.tutor-node[data-column="{step}"]').first)
    page.get_by_text("Next").click()  # the end, which shows the winner, finished perhaps before
    assert seen(page.locator(".tutor-node.tutor-best"))


def test_sixty_tokens_scroll(opened, python):
    words = [f"token{i}" for i in range(60)]
    A = python["torch"].eye(60).expand(2, 60, 60)
    long = python["Recording"]("", "", words, words, {"cross": [A]})
    page = opened(python["AttentionView"](long), width=400)
    page.locator(".tutor-map").focus()
    press(page, "Control+End")
    assert announced(page) == (59, 59, 1.0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    view, ring, lit = (
        page.locator(name).first.bounding_box()
        for name in (".tutor-scroll", ".tutor-ring:not(.tutor-pin)", ".tutor-rows .tutor-lit")
    )
    for box in (ring, lit):  # the cell is in sight, and so is its name
        assert view["x"] <= box["x"] and box["x"] + box["width"] <= view["x"] + view["width"] + 4
        assert view["y"] <= box["y"] and box["y"] + box["height"] <= view["y"] + view["height"] + 4


# ---- without a kernel


def test_a_saved_notebook_keeps_its_pictures(notebook, browser, python, tmp_path):
    """Saved, its kernel restarted, opened again; and as HTML. Last, for it ends the kernel."""
    page, watch = notebook
    stills = page.locator(".tutor-still img")
    assert (stills.count(), stills.locator("visible=true").count()) == (len(VIEWS), 0)
    alts = [image.get_attribute("alt") for image in stills.all()]
    assert alts[0] == python["attention"].describe() and min(map(len, alts)) > 60
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    view = view_of(page, "attention")
    view.locator(".tutor-asking input").fill("A dog.")
    told = view.get_by_text("The kernel does not answer: run the cell again.")
    assert lab.until(page, lambda: view.get_by_text("Translate").click() or told.count())
    assert told.is_visible() and watch.errors == []

    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    page.reload()
    stills.nth(len(VIEWS) - 1).wait_for()
    assert [image.get_attribute("alt") for image in stills.all()] == alts
    page.wait_for_function("document.querySelectorAll('.jupyter-widgets').length === 5")
    page.get_by_text("Error displaying widget").last.wait_for(state="hidden")
    assert stills.locator("visible=true").count() == len(VIEWS)
    watch.errors.clear()  # JupyterLab's own, that there is no such widget

    saved = page.evaluate("JSON.stringify(jupyterapp.shell.currentWidget.content.model.toJSON())")
    exported = HTMLExporter().from_notebook_node(nbformat.reads(saved, as_version=4))[0]
    (tmp_path / "page.html").write_text(exported, encoding="utf-8")
    alone = browser.new_page()
    alone.route("**/*", lambda route, request: (
        route.continue_() if request.url.startswith(("file:", "data:")) else route.abort()
    ))  # fmt: skip
    alone.goto((tmp_path / "page.html").as_uri())
    shown = alone.locator(".tutor-still img").locator("visible=true")
    assert [image.get_attribute("alt") for image in shown.all()] == alts
    assert shown.evaluate_all("(all) => all.every((image) => image.naturalWidth > 100)")
    alone.close()
