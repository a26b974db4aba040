"""JourneyView in a real browser: with a kernel in JupyterLab, and as a saved page without one.

Skipped, by name, where Debian's Chromium is missing. What is shown is compared with the trace.
"""

import lab
import pytest

from tutor import load_pretrained
from tutor.views import JourneyView

TEXT = "A man is riding a white horse."
SETUP = f"""
import torch
from tutor import load_pretrained
from tutor.views import JourneyView

torch.set_num_threads(1)
view = JourneyView(load_pretrained(), {TEXT!r}, step=2)
"""
CELLS = [SETUP, "view"]


@pytest.fixture(scope="module")
def expected():
    return JourneyView(load_pretrained(), TEXT, step=2)


@pytest.fixture
def page(notebook):
    """At the whole model, step 2, nothing changed; afterwards nothing was complained of."""
    page, watch = notebook
    if page.locator(".journey-changed").count():
        page.get_by_role("button", name="Undo all").click()
        page.locator(".journey-changed").wait_for(state="detached")
    if page.locator(".tutor-asking input").input_value() != TEXT:
        ask(page, TEXT)
    crumb = page.locator('[data-key="crumb:0"]')
    if crumb.count():
        crumb.click()
    key(page, "step:2").click()
    page.locator(".journey-crumbs b", has_text="Whole model").wait_for()
    yield page
    assert (watch.errors, watch.outside) == ([], [])


def key(page, name):
    return page.locator(f'[data-key="{name}"]')


def ask(page, text):
    page.locator(".tutor-asking input").fill(text)
    page.keyboard.press("Enter")
    page.wait_for_function(
        "(text) => document.querySelector('.tutor-view').ariaLabel.includes(text)", arg=text
    )


def shown(locator):
    return float(locator.inner_text().replace("\N{MINUS SIGN}", "-"))


def where(page):
    return page.locator(".journey-crumbs").inner_text().split(" › ")


def focus_in(page, locator):
    """Wait until something within it has the focus; its key."""
    locator.locator(":focus").wait_for()
    return page.evaluate("document.activeElement.dataset.key")


def chance(page):
    """The probability that is shown for the token that is written."""
    return shown(page.locator(".journey-chosen .journey-number"))


def below(page):
    """How far below the view's top edge the map and the opened panel stand."""
    return page.evaluate(
        """['.tutor-view', '.journey-map', '.journey-panel'].map(
          (name) => document.querySelector(name).getBoundingClientRect().top
        ).map((y, i, all) => y - all[0])"""
    )


def test_keys_lead_down_to_a_number_and_up_again(page, expected):
    panel = page.locator(".journey-inner")
    key(page, "decoder.2").focus()
    page.keyboard.press("Enter")
    assert focus_in(page, panel) == "panel:decoder.2.self"
    assert where(page) == ["Whole model", "decoder layer 2"]
    for name in ("ArrowRight", "ArrowRight", "Enter"):  # past the switch
        page.keyboard.press(name)
    page.locator(".journey-factor span", has_text="This sub-layer counts").wait_for()
    assert focus_in(page, panel) == "panel:decoder.2.cross"  # where the reader was
    for name in ("ArrowDown", "ArrowDown"):
        page.keyboard.press(name)
    assert focus_in(page, panel) == "panel:decoder.2.cross.head.1"
    page.keyboard.press("Enter")
    key(page, "number:E:0").wait_for()
    assert where(page)[-1] == "head 1"
    E = expected.numbers("decoder.2.cross.E")[1, 2]
    A = expected.numbers("decoder.2.cross.A")[1, 2]
    for s, (score, weight) in enumerate(zip(E.tolist(), A.tolist(), strict=True)):
        assert shown(key(page, f"number:E:{s}")) == pytest.approx(score, abs=0.0051)
        number = key(page, f"number:A:{s}").locator(".journey-number")
        assert shown(number) == pytest.approx(weight, abs=0.0051)
    focus_in(page, panel)
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert focus_in(page, panel) == "number:E:3"
    page.keyboard.press("Enter")
    assert focus_in(page, panel) == "slot:0"
    assert where(page)[-1] == "a score"
    page.keyboard.press("ArrowRight")
    q = expected.numbers("decoder.2.cross.Q")[1, 2]
    k = expected.numbers("decoder.2.cross.K")[1, 3]
    marked = panel.locator(".journey-slot.journey-now")  # what the note speaks of
    assert marked.get_attribute("data-key") == "slot:1"
    told = page.locator(".journey-note").inner_text().replace("\N{MINUS SIGN}", "-")
    assert told.startswith(f"feature 1: {q[1]:.2f} × {k[1]:.2f} = {q[1] * k[1]:.2f}")
    assert told.endswith(f"{(q * k)[:2].sum():.2f}.")
    assert page.locator(".journey-formula").inner_text().endswith(f"= {E[3]:.2f}")
    for level, stop in [
        ("head 1", "number:E:3"),
        ("cross-attention", "panel:decoder.2.cross.head.1"),
        ("decoder layer 2", "panel:decoder.2.cross"),
        ("Whole model", "decoder.2"),
    ]:
        page.keyboard.press("Escape" if level != "decoder layer 2" else "Backspace")
        page.wait_for_function("(k) => document.activeElement.dataset.key === k", arg=stop)
        assert where(page)[-1] == level
    key(page, "decoder.3").focus()
    page.keyboard.press("ArrowRight")  # nothing is further to the right
    assert page.evaluate("document.activeElement.dataset.key") == "decoder.3"


def test_the_map_shows_the_lengths_of_the_run(page, expected):
    for place, lengths in expected.facts["lengths"].items():
        adds = lengths["adds"][0 if place.startswith("encoder") else 2]
        number = key(page, place).locator(".journey-number")
        assert shown(number) == pytest.approx(adds, abs=0.051 if adds < 100 else 0.51)
    size = page.viewport_size
    page.set_viewport_size({"width": 1100, "height": 1000})
    tops = "(bars) => bars.map((bar) => bar.getBoundingClientRect().top)"
    for sub in ("encoder .journey-is-self", "decoder .journey-is-cross"):
        bars = page.locator(f".journey-map .journey-{sub} .journey-meter")
        assert len(set(bars.evaluate_all(tops))) == 1  # bars of one row at one height
    page.set_viewport_size(size)


def test_what_is_off_is_said_and_can_be_undone(page, expected):
    before = chance(page)
    top = below(page)
    key(page, "decoder.3.cross").click()
    key(page, "switch:decoder.3.cross").click()
    undo = key(page, "undo:decoder.3.cross")
    undo.wait_for()
    assert below(page) == top  # nothing jumps
    changed = JourneyView(expected.translator, TEXT, scales={"decoder.3.cross": 0}, step=2)
    assert page.locator(".journey-banner b").inner_text() == changed.facts["translation"]
    assert page.locator(".journey-banner i").inner_text() == expected.facts["translation"]
    assert chance(page) == pytest.approx(changed._shares(1)[0][1], abs=0.0051) != before
    effect = page.locator(".journey-effect").inner_text()  # beside the switches, too
    assert effect.endswith(f" · translation: {changed.facts['translation']}")
    written, share = changed._shares(1)[0]
    was = dict(expected._shares(12))[written]
    assert effect.startswith(f"Now: {written} ({share:.2f}, before {was:.2f})")
    assert key(page, "switch:decoder.3.cross.head.0").inner_text() == "off"
    assert key(page, "switch:decoder.3.cross.head.0").is_disabled()
    outlined = page.locator(".journey-stop", has_text="_monte").locator(".journey-had")
    assert outlined.evaluate("(n) => Number(n.style.getPropertyValue('--was'))") == pytest.approx(
        before, abs=0.0051
    )
    key(page, "switch:decoder.3.self").click()
    key(page, "undo:decoder.3.self").wait_for()
    undo.focus()
    page.keyboard.press("Enter")
    undo.wait_for(state="detached")
    assert key(page, "undo:decoder.3.self").count() == 1
    focus_in(page, page.locator(".tutor-journey"))  # what had the focus is gone
    page.get_by_role("button", name="Undo all").click()
    page.locator(".journey-changed").wait_for(state="detached")
    assert chance(page) == before


# Of the lines of a sub-layer: how far down each is, and the room between the focus ring of the
# first one's switch and the frame of the second.
LINES = """(box) => {
  const lines = [...box.querySelectorAll(".journey-line")];
  const edge = (node) => {
    const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(node);
    return outlineStyle === "none" ? 0 : parseFloat(outlineWidth) + parseFloat(outlineOffset);
  };
  const [ring, next] = [lines[0].querySelector(".journey-switch"), lines[1]];
  ring.focus();
  const [above, below] = [ring.getBoundingClientRect().bottom, next.getBoundingClientRect().top];
  return [
    lines.map((line) => line.getBoundingClientRect().top - lines[0].getBoundingClientRect().top),
    edge(ring),
    below - above - edge(ring) - edge(next),
  ];
}"""


def test_a_head_goes_with_its_sub_layer(page):
    """Its square on the map is crossed; in the panel nothing moves, and no focus ring is cut."""
    place = "decoder.2.cross.head.1"
    square = key(page, place)
    key(page, "decoder.2.cross").focus()
    page.keyboard.press("Enter")
    box = page.locator(".journey-panel .journey-is-cross.journey-box")
    box.wait_for()
    before = box.evaluate(LINES)
    key(page, f"switch:{place}").press("Enter")
    page.locator(f'.journey-off[data-key="{place}"]').wait_for()
    tops, ring, room = box.evaluate(LINES)
    assert (tops, ring > 2, room >= 0) == (before[0], True, True)
    key(page, f"undo:{place}").click()
    key(page, f"undo:{place}").wait_for(state="detached")
    for factor, name, says in (("0.5", "scaled", "0.50 times"), ("0", "off", "switched off")):
        page.locator(f'[data-factor="{factor}"]').click()
        page.locator(f'.journey-{name}[data-key="{place}"]').wait_for()
        assert says in square.get_attribute("aria-label")
        crosses = square.evaluate("(node) => getComputedStyle(node).backgroundImage")
        assert crosses.count("linear-gradient") == (2 if name == "off" else 0)


def test_a_head_can_count_double(page, expected):
    place = "decoder.3.cross.head.0"
    key(page, place).click()
    page.locator('[data-factor="2"]').click()
    key(page, f"undo:{place}").wait_for()
    changed = JourneyView(expected.translator, TEXT, scales={place: 2}, step=2)
    assert chance(page) == pytest.approx(changed._shares(1)[0][1], abs=0.0051)


def test_another_token_and_another_sentence(page, expected):
    stop = page.locator(".journey-candidates .journey-stop", has_text="_monte")
    other = int(stop.get_attribute("data-id"))
    stop.click()
    key(page, "undo:token:2").wait_for()
    ids = [*expected.facts["target_ids"][:2], other]
    changed = JourneyView(expected.translator, TEXT, written=ids)
    assert page.locator(".journey-banner b").inner_text() == changed.facts["translation"]
    assert page.locator(".journey-banner i").inner_text() == expected.facts["translation"]
    assert key(page, "undo:token:2").inner_text().startswith("you chose")
    key(page, "decoder.0.self").click()
    key(page, "switch:decoder.0.self.head.0").click()  # compared with the same token, and says so
    key(page, "undo:decoder.0.self.head.0").wait_for()
    assert "the same choice of tokens and nothing" in page.locator(".journey-banner").inner_text()
    key(page, "undo:decoder.0.self.head.0").click()
    key(page, "undo:decoder.0.self.head.0").wait_for(state="detached")
    page.get_by_role("button", name="Draw a token").click()
    page.locator(".journey-reading", has_text="Token 4 of").wait_for()  # it goes on to the next
    assert key(page, "undo:token:2").inner_text().startswith("drawn")
    stop = page.locator(".journey-candidates .journey-stop:not(.journey-chosen)").first
    stop.click()
    key(page, "undo:token:3").wait_for()
    banner = page.locator(".journey-banner")
    assert banner.evaluate("(node) => node.scrollWidth <= node.clientWidth")
    key(page, "undo:token:3").click()  # takes back that one alone
    key(page, "undo:token:3").wait_for(state="detached")
    assert key(page, "undo:token:2").inner_text().startswith("drawn")
    ask(page, "Two dogs play.")
    found = expected.translator.translate(["Two dogs play."])
    assert page.locator(".journey-banner b").inner_text() == found[0]
    assert page.locator(".journey-changed").count() == 0


def test_temperature_and_its_friends_act_at_once(page, expected):
    Z = expected.numbers("logits.2")[3:]
    page.get_by_label("temperature").fill("2")
    share = (Z / 2).softmax(0).max().item()
    page.locator(".journey-shaped", has_text="tokens left").wait_for()
    assert chance(page) == pytest.approx(share, abs=0.0051)
    rest = 1 - (Z / 2).softmax(0).topk(8).values.sum().item()  # nothing is lost from sight
    assert shown(page.locator(".journey-others .journey-number")) == pytest.approx(rest, abs=0.0051)
    page.get_by_label("top-k").fill("2")
    share = (Z.topk(2).values / 2).softmax(0)[0].item()
    assert chance(page) == pytest.approx(share, abs=0.0051)
    assert page.locator(".journey-out").count() == 6
    effect = page.locator(".journey-effect")  # says what the sliders made of it, not what was
    assert f"({share:.2f} by the sliders)" in effect.inner_text()
    page.get_by_role("button", name="Reset").click()
    assert chance(page) == pytest.approx(expected._shares(1)[0][1], abs=0.0051)
    assert "by the sliders" not in effect.inner_text()


def test_a_dead_kernel_is_told(browser, notebook, expected, tmp_path):
    """And in a saved page what needs a kernel says so, while all numbers are there."""
    expected.save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    watch = lab.Watch(page)
    page.goto(f"file://{tmp_path}/page.html")
    key(page, "decoder.2.cross.head.1").click()
    E = expected.numbers("decoder.2.cross.E")[1, 2, 3].item()
    assert shown(key(page, "number:E:3")) == pytest.approx(E, abs=0.0051)
    dead = page.locator(".journey-factor button, .journey-factor input, .journey-candidates button")
    assert dead.count() > 10 and all(one.is_disabled() for one in dead.all())
    page.locator(".journey-effect", has_text="needs the kernel").wait_for()
    key(page, "number:A:3").click()  # the pointer now rests on a bar; the note is of the weight
    page.locator(".journey-note", has_text=expected.facts["source"][3]).wait_for()
    key(page, "decoder.2.self.head.1").click()
    key(page, "number:E:3").click()  # of a token that is not read yet
    page.locator(".journey-formula", has_text="hidden by the mask").wait_for()
    assert "the mask hides this score" in page.locator(".journey-story").inner_text()
    assert (watch.errors, watch.outside) == ([], [])
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark", "forced"])
def test_every_level_is_accessible_and_fits(browser, expected, scheme, tmp_path):
    axe = lab.axe()
    expected.save(tmp_path / "page.html")
    dark = {"color_scheme": "light" if scheme == "light" else "dark"}
    forced = {"forced_colors": "active"} if scheme == "forced" else {}
    page = browser.new_page(**dark, **forced)
    page.goto(f"file://{tmp_path}/page.html")
    for place in ("", "decoder.2", "decoder.2.ff", "decoder.1.self.head.0", "number:E:1"):
        if place:
            key(page, place).click()
        for width in (400, 700, 1400) if place in ("", "decoder.1.self.head.0") else (400,):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if axe:
                assert lab.violations(page, axe) == []
    page.close()
