"""JourneyView in a real browser: with a kernel in JupyterLab, and as a saved page without one.

Skipped, by name, where Debian's Chromium is missing. What is shown is compared with the trace.
"""

import math
import os
import tempfile
from pathlib import Path

import lab
import pytest

from tutor import load_pretrained
from tutor.views import JourneyView

TEXT = "A man is riding a white horse."
# While this file is there, the kernel answers nobody.
BUSY = Path(tempfile.gettempdir(), f"tutor-busy-{os.getpid()}")
SETUP = f"""
import time
from pathlib import Path
import torch
from tutor import load_pretrained
from tutor.views import JourneyView

torch.set_num_threads(1)
at_once = JourneyView.answer


def answer(view, content):
    while Path({str(BUSY)!r}).exists():
        time.sleep(0.1)
    at_once(view, content)


JourneyView.answer = answer
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


def go_to(page, place):
    """Open a layer by its band; in it, at its place, a sub-layer and a head."""
    parts = place.split(".")
    for end in (2, 3, 5):
        if len(parts) >= end:
            key(page, ".".join(parts[:end])).click()


def switch_off(page):
    page.locator('[data-factor="0"]').click()


def below(page):
    """How far below the view's top edge the river and the opened panel stand."""
    return page.evaluate(
        """['.tutor-view', '.journey-river', '.journey-panel'].map(
          (name) => document.querySelector(name).getBoundingClientRect().top
        ).map((y, i, all) => y - all[0])"""
    )


def test_keys_lead_down_to_a_number_and_up_again(page, expected):
    river, panel = page.locator(".journey-river"), page.locator(".journey-inner")
    key(page, "decoder.2").focus()
    page.keyboard.press("Enter")
    key(page, "decoder.2.cross").wait_for()  # open, at its place
    assert focus_in(page, river) == "decoder.2"
    assert where(page) == ["Whole model", "decoder layer 2"]
    for name in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(name)
    page.locator(".journey-factor span", has_text="This sub-layer counts").wait_for()
    assert focus_in(page, river) == "decoder.2.cross"  # where the reader was
    key(page, "decoder.2.cross.head.0").focus()
    page.keyboard.press("ArrowRight")
    assert focus_in(page, river) == "decoder.2.cross.head.1"
    page.keyboard.press("Enter")
    page.locator(".journey-crumbs b", has_text="head 1").wait_for()
    E = expected.numbers("decoder.2.cross.E")[1, 2]
    A = expected.numbers("decoder.2.cross.A")[1, 2]
    for s, (score, weight) in enumerate(zip(E.tolist(), A.tolist(), strict=True)):
        assert shown(key(page, f"number:E:{s}")) == pytest.approx(score, abs=0.0051)
        number = key(page, f"number:A:{s}").locator(".journey-number")
        assert shown(number) == pytest.approx(weight, abs=0.0051)
    key(page, "number:E:0").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert focus_in(page, river) == "number:E:3"
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
        ("cross-attention", "decoder.2.cross.head.1"),
        ("decoder layer 2", "decoder.2.cross"),
        ("Whole model", "decoder.2"),
    ]:
        page.keyboard.press("Escape" if level != "decoder layer 2" else "Backspace")
        page.wait_for_function("(k) => document.activeElement.dataset.key === k", arg=stop)
        assert where(page)[-1] == level


def test_every_layer_shows_the_lengths_of_the_run(page, expected):
    for place, lengths in expected.facts["lengths"].items():
        if place.endswith("self"):
            key(page, place.removesuffix(".self")).click()
        adds = lengths["adds"][0 if place.startswith("encoder") else 2]
        number = key(page, place).locator(".journey-number")
        assert shown(number) == pytest.approx(adds, abs=0.051 if adds < 100 else 0.51)
    for m, adds in enumerate(expected.facts["heads"]["decoder.3.cross"]):
        number = key(page, f"decoder.3.cross.head.{m}").locator(".journey-number")
        assert shown(number) == pytest.approx(adds[2], abs=0.51)


def test_what_is_off_is_said_and_can_be_undone(page, expected):
    before = chance(page)
    key(page, "decoder.3.cross").click()
    top = below(page)
    switch_off(page)
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
    key(page, "decoder.3.cross.head.0").click()
    assert key(page, "decoder.3.cross.head.0").locator(".journey-number").inner_text() == "off"
    assert page.locator('[data-factor="2"]').is_disabled()  # nothing would come of it
    outlined = page.locator(".journey-stop", has_text="_monte").locator(".journey-had")
    assert outlined.evaluate("(n) => Number(n.style.getPropertyValue('--was'))") == pytest.approx(
        before, abs=0.0051
    )
    key(page, "decoder.3.self").click()
    switch_off(page)
    key(page, "undo:decoder.3.self").wait_for()
    undo.focus()
    page.keyboard.press("Enter")
    undo.wait_for(state="detached")
    assert key(page, "undo:decoder.3.self").count() == 1
    focus_in(page, page.locator(".tutor-journey"))  # what had the focus is gone
    page.get_by_role("button", name="Undo all").click()
    page.locator(".journey-changed").wait_for(state="detached")
    assert chance(page) == before


def test_a_head_goes_with_its_sub_layer(page):
    """Its place in the river is crossed."""
    place = "decoder.2.cross.head.1"
    square = key(page, place)
    go_to(page, place)
    switch_off(page)
    page.locator(f'.journey-off[data-key="{place}"]').wait_for()
    key(page, f"undo:{place}").click()
    key(page, f"undo:{place}").wait_for(state="detached")
    key(page, "decoder.2.cross").click()
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
    go_to(page, "decoder.0.self.head.0")
    switch_off(page)  # compared with the same token, and says so
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


def test_a_view_is_drawn_while_the_kernel_is_at_work(page):
    """After *Run All* a later cell may train for minutes: what is drawn first waits for nobody."""
    BUSY.touch()
    try:
        page.evaluate("document.querySelector('.tutor-view').remove()")
        page.evaluate("void jupyterapp.commands.execute('notebook:run-cell')")
        page.locator(".journey-river path.journey-share").nth(20).wait_for(state="attached")
    finally:
        BUSY.unlink()


def test_a_dead_kernel_is_told(browser, notebook, expected, tmp_path):
    """And in a saved page what needs a kernel says so, while all numbers are there."""
    expected.save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    watch = lab.Watch(page)
    page.goto(f"file://{tmp_path}/page.html")
    go_to(page, "decoder.2.cross.head.1")
    E = expected.numbers("decoder.2.cross.E")[1, 2, 3].item()
    assert shown(key(page, "number:E:3")) == pytest.approx(E, abs=0.0051)
    dead = page.locator(".journey-factor button, .journey-factor input, .journey-candidates button")
    assert dead.count() > 10 and all(one.is_disabled() for one in dead.all())
    page.locator(".journey-effect", has_text="needs the kernel").wait_for()
    key(page, "number:A:3").click()  # the pointer now rests on a bar; the note is of the weight
    page.locator(".journey-note", has_text=expected.facts["source"][3]).wait_for()
    go_to(page, "decoder.2.self.head.1")
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
        page.set_viewport_size({"width": 1400, "height": 900})
        if place.startswith("number"):
            key(page, place).click()
        elif place:
            go_to(page, place)
        for width in (400, 700, 1400) if place in ("", "decoder.1.self.head.0") else (400,):
            page.set_viewport_size({"width": width, "height": 900})
            # The view draws itself anew in the frame after the window has changed.
            lab.comes(page, f"document.documentElement.scrollWidth <= {width}")
            if axe:
                assert lab.violations(page, axe) == []
    page.close()


# ---- the river, on a saved page


@pytest.fixture(scope="module")
def saved(expected, tmp_path_factory):
    path = tmp_path_factory.mktemp("journey") / "page.html"
    expected.save(path)
    return f"file://{path}"


@pytest.fixture
def river(browser, saved):
    """A page of 1280 x 800; afterwards nothing was complained of."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    watch = lab.Watch(page)
    page.goto(saved)
    page.locator("[data-line^='mix']").first.wait_for(state="attached")
    yield page
    assert (watch.errors, watch.outside) == ([], [])
    page.close()


def widths(page):
    """Of each line its width, by its name."""
    return page.locator("[data-line]").evaluate_all(
        """(lines) => Object.fromEntries(
            lines.map((line) => [line.dataset.line, Number(line.getAttribute("stroke-width"))]))"""
    )


def head_of(page):
    return int(page.locator(".journey-heads [aria-pressed=true]").inner_text())


def test_lines_are_as_wide_as_the_shares(river, expected):
    """Of one head in all layers: its weights; in the open one, too; at the end, the chances."""
    for head in (head_of(river), 0):
        key(river, f"head:{head}").click()
        shares = {}
        for sub, _ in expected.facts["heads"].items():
            A = expected.numbers(f"{sub}.A")[head]
            if sub == "decoder.3.cross":
                shares |= {f"mix.{k}": a for k, a in enumerate(A[2].tolist())}
            elif sub != "decoder.3.self":
                rows = range(len(A)) if sub.startswith("encoder") else [2]
                shares |= {f"{sub}.{q}.{k}": A[q, k].item() for q in rows for k in range(len(A[q]))}
        top, whole = expected.facts["top"][2][:8], expected.facts["log_sum_exp"][2]
        shares |= {f"next.{i}": math.exp(z - whole) for _, i, z in top}
        found = widths(river)
        assert set(found) <= set(shares)
        assert {name for name, share in shares.items() if share > 0.006} <= set(found)
        for name, width in found.items():
            assert width == pytest.approx(14 * shares[name], abs=0.006)


# Of the open band and of all else: where they are.
PLACES = """() => {
  const middle = (node) => {
    const { top, height } = node.getBoundingClientRect();
    return top + height / 2;
  };
  const rows = [...document.querySelectorAll(".journey-keys .journey-score")].map(middle);
  const bands = [...document.querySelectorAll(".journey-band")].map(
    (node) => node.getBoundingClientRect().width);
  const chips = (name) => [...document.querySelectorAll(`[data-key^="${name}:"]`)].map(middle);
  return { rows, bands, source: chips("source"), read: chips("read") };
}"""


@pytest.mark.parametrize("sub", ["encoder.1.self", "decoder.0.self", "decoder.2.cross"])
def test_a_head_opens_at_its_place(river, sub):
    """Each of its rows stands at that of its token, in the one band that is wide."""
    go_to(river, sub)
    side, layer, kind = sub.split(".")
    river.locator(f".journey-inside.journey-{side}.journey-is-{kind}").wait_for(state="attached")
    found = river.evaluate(PLACES)
    keys = found["read" if (side, kind) == ("decoder", "self") else "source"]
    assert found["rows"] == pytest.approx(keys, abs=2) and len(keys) > 7
    assert found["bands"].index(max(found["bands"])) == int(layer) + 4 * (side == "decoder")
    assert sorted(found["bands"])[-2] < max(found["bands"]) / 3  # all others are there, and narrow


def test_a_walk_lights_its_parts_and_goes_on_with_the_next_token(river):
    said = set()
    for n in range(1, 10):
        river.locator(".journey-onward").click()
        pressed = river.locator(".journey-way [aria-pressed=true]")
        assert pressed.inner_text().startswith(f"{n} ")
        name = pressed.inner_text().split()[1]
        lit = river.locator(".journey-lit")
        assert lit.count() and {each.get_attribute("data-at") for each in lit.all()} == {name}
        said.add(river.locator(".journey-says").inner_text())
        river.locator(".journey-hidden" if name == "think" else ".journey-q").wait_for()
    assert len(said) == 9 and min(map(len, said)) > 40
    river.locator(".journey-onward").click()
    river.locator(".journey-reading", has_text="Token 4 of").wait_for()
    assert river.locator(".journey-way [aria-pressed=true]").inner_text() == "2 ask"
    river.get_by_role("button", name="Back", exact=True).click()
    assert river.locator(".journey-way [aria-pressed=true]").inner_text() == "1 read"


def test_it_plays_along_the_tokens(river, expected):
    river.clock.install()
    river.get_by_role("button", name="Play").click()
    river.clock.run_for(1600)
    river.locator(".journey-reading", has_text="Token 4 of").wait_for()
    river.clock.run_for(20_000)
    count = len(expected.facts["target"])
    river.locator(".journey-reading", has_text=f"Token {count} of {count}").wait_for()
    assert river.get_by_role("button", name="Play").is_visible()  # at rest


SMALL = """() => [...document.querySelectorAll(".tutor-view :is(button, input, summary)")].filter(
  (node) => node.checkVisibility({ visibilityProperty: true })).map((node) => {
    const { width, height } = node.getBoundingClientRect();
    return [node.dataset.key ?? node.textContent, width, height];
  }).filter(([, width, height]) => width < 24 || height < 24)"""


def test_fingers_find_everything_on_a_phone(browser, saved, expected):
    """Closed bands, what is open beneath them; nothing is smaller than a finger or breaks."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    page = context.new_page()
    page.goto(saved)
    key(page, "decoder.2").tap()
    page.locator(".journey-crumbs b", has_text="decoder layer 2").wait_for()
    head = head_of(page)
    E = expected.numbers("decoder.2.cross.E")[head, 2]
    for s, score in enumerate(E.tolist()):
        assert shown(key(page, f"number:E:{s}")) == pytest.approx(score, abs=0.0051)
    sizes = page.locator(".journey-score").evaluate_all("(all) => all.map((n) => n.offsetHeight)")
    assert max(sizes) < 30  # one line each
    beneath = page.evaluate("""['.journey-river', '.journey-panel'].map(
        (name) => document.querySelector(name).getBoundingClientRect())""")
    assert 0 <= beneath[1]["top"] - beneath[0]["bottom"] < 20
    assert beneath[1]["width"] == pytest.approx(beneath[0]["width"], abs=1)
    for opens in ("number:E:3", "decoder.2.ff", "decoder.2.self", "decoder.2.self.head.1"):
        assert page.evaluate(SMALL) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        key(page, opens).tap()
    page.locator(".journey-crumbs b", has_text="head 1").wait_for()
    assert page.evaluate(SMALL) == []
    context.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_a_long_sentence_stays_within_the_view(browser, expected, width, tmp_path):
    """Of many tokens that were read, the earlier ones are one row."""
    text = "A group of young people in bright clothes are standing in front of an old brick house."
    view = JourneyView(expected.translator, text)
    view.step = len(view.facts["target"]) - 1
    view.save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"file://{tmp_path}/page.html")
    page.locator("[data-key='number:E:0']").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("[data-key^='read:']").count() == 4 < view.step
    assert page.locator(".journey-text.journey-chip").inner_text() == f"{view.step - 3} before"
    page.close()


def test_above_the_bars_lines_are_as_wide_as_what_it_looks_at(browser, expected, tmp_path):
    JourneyView(expected.translator, TEXT, step=2, bars=True).save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(f"file://{tmp_path}/page.html")
    lines = page.locator(".journey-seen path")
    for step, token in ((2, "_homme"), (4, "_un")):
        key(page, f"step:{step}").click()
        page.locator(".journey-wrote > .journey-chip", has_text=token).wait_for()
        shares = expected.numbers("decoder.3.cross.A")[:, step].mean(dim=0).tolist()
        widths = [float(line.get_attribute("stroke-width")) for line in lines.all()]
        assert widths == pytest.approx([16 * share for share in shares], abs=0.006)
        assert page.locator(".journey-wrote > b").inner_text() == expected.facts["target"][step]
        said = page.locator(".journey-seen").get_attribute("aria-label")
        most = expected.facts["source"][shares.index(max(shares))]
        assert said.startswith(f"At {token} it looks most at {most} {max(shares):.2f}, ")
    page.close()
