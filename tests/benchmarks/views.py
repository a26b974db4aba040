"""How fast the views answer, in a real browser or in the kernel, what they cost, what has no alt.

    python tests/benchmarks/views.py [--presses 60]

Starts JupyterLab and Debian's Chromium. A redraw is counted from the time stamp of the key press to
the end of the first frame painted after it; the larger of two medians is reported, that of moves in
the map and that of moves from head to head. The last line is one JSON object.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tutor.evaluation.alignment import aligned_batch, best_head, cross_attention, measure, same_sort
from tutor.models import load_pretrained
from tutor.models.small import SEEDS, load_small
from tutor.text.grammar import generate_pairs
from tutor.views import JourneyView

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import lab  # noqa: E402

SETUP = """
import torch
from tutor import Recording, load_pretrained
from tutor.views import AttentionView

def recording(tokens, layers=6, heads=8):
    words = [f"token{i}" for i in range(tokens)]
    A = torch.randn(3, layers, heads, tokens, tokens).mul(3).softmax(dim=-1)
    A = dict(zip(("encoder", "decoder", "cross"), map(list, A)))
    return Recording("one", "two", words, words, A)

translator = load_pretrained()
"""
OWN = """
own = translator.record("A man is riding a white horse on the beach.")
AttentionView(own, run=translator.record)
"""
OWN_SENTENCES = (  # none of them twice running
    "Two dogs are running on the beach.",
    "A woman in a red coat is singing.",
    "Children play in the snow near a tree.",
    "A man is riding a horse.",
)
JOURNEY = """
import torch
from tutor import load_pretrained
from tutor.views import JourneyView

translator = load_pretrained()
text = " ".join(["A man is riding a white horse on the beach"] * 4)
[ids] = translator.encode([text])
JourneyView(translator, text, written=ids[:40])
"""
# Every key press is stamped by the browser; a message posted from an animation frame is delivered
# once that frame is painted.
STOPWATCH = """() => {
  window.pressed = [];
  window.addEventListener("keydown", (event) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.pressed.push(performance.now() - event.timeStamp);
    channel.port2.postMessage(null);
  }), true);
}"""
# From a key to the frame after a part of the view was drawn again.
WAIT_FOR_PART = """(view, [part, within]) => {
  const begin = (event) => { window.began = event.timeStamp; };
  view.addEventListener("keydown", begin, { once: true, capture: true });
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { window.took = performance.now() - window.began; };
      channel.port2.postMessage(null);
    });
  });
  window.took = 0;
  const what = { childList: true, subtree: within, attributes: within };
  watch.observe(view.querySelector(part), what);
}"""
ALL_RENDERED = """(outputs) =>
  document.querySelectorAll(".jp-CodeCell .jp-RenderedHTML").length >= outputs"""
ALTS = """() => [...document.querySelectorAll(".jp-CodeCell .jp-OutputArea img")]
  .map((picture) => (picture.getAttribute("alt") || "").trim())"""


def presses(page, target, count):
    """Milliseconds from key press to painted frame, for moves from `target`, there and back."""
    page.evaluate("window.pressed = []")
    target.focus()
    for i in range(count):
        page.keyboard.press("ArrowLeft" if i // 5 % 2 else "ArrowRight")
        page.wait_for_timeout(20 + 7 * (i % 5))  # out of step with the frames
    page.wait_for_function(f"window.pressed.length === {count}")
    return page.evaluate("window.pressed")


def redraw(page, view, count):
    """The larger median of two: moves in the map, and moves from head to head."""
    medians = []
    for name, target in (("cell to cell", ".tutor-map"), ("head to head", "[role=listbox]")):
        times = presses(page, view.locator(target), count)
        medians.append(statistics.median(times))
        print(f"  {name}: {min(times):.1f} to {max(times):.1f} ms, median {medians[-1]:.1f}")
    return max(medians)


def own_sentences(page, view):
    """Milliseconds from Enter to the painted picture, median over some sentences."""
    times = []
    for text in OWN_SENTENCES:
        view.locator("input").fill(text)
        view.evaluate(WAIT_FOR_PART, [".tutor-pair", False])
        page.keyboard.press("Enter")
        page.wait_for_function("window.took > 0")
        times.append(page.evaluate("window.took"))
    print("  own sentences:", ", ".join(f"{time:.0f}" for time in times), "ms")
    return statistics.median(times)


def alt_missing(page, address, folder):
    """How many pictures in the outputs of all pages, as committed, JupyterLab shows without alt."""
    for name in ("notebooks", "images"):
        shutil.copytree(ROOT / name, Path(folder, name))
    missing = 0
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        page.goto(address.replace("page.ipynb", f"notebooks/{path.name}"))
        page.locator(".jp-OutputArea-output").first.wait_for()
        page.wait_for_function(ALL_RENDERED, arg=path.read_text("utf-8").count('"text/html": ['))
        alts = page.evaluate(ALTS)
        without = sum(not alt for alt in alts)
        print(f"  {path.stem}: {len(alts)} pictures in outputs, {without} without alt")
        missing += without
    return missing


def journey_in_browser(browser):
    """A journey in the notebook: ms for an own sentence, ms of the slowest step at 40 tokens."""

    def took(key, part):
        page.locator(".tutor-journey").evaluate(WAIT_FOR_PART, [part, True])
        page.keyboard.press(key)
        page.wait_for_function("window.took > 0")
        times = page.evaluate("window.took")
        page.wait_for_timeout(50)
        return times

    def at(key):
        page.locator(f'[data-key="{key}"]').focus()

    with tempfile.TemporaryDirectory() as folder, lab.jupyterlab(folder, [JOURNEY]) as address:
        page = browser.new_page(viewport={"width": 1300, "height": 1000})
        lab.run_all(page, address)
        page.locator(".tutor-journey").wait_for()
        steps = {name: [] for name in ("step", "source", "head", "score", "feature", "temperature")}
        at("step:0")
        steps["step"] = [took("]", ".journey-reading") for _ in range(20)]
        at("source:0")
        steps["source"] = [took("ArrowDown", ".journey-in-place") for _ in range(20)]
        for layer in range(4):
            for kind in ("decoder.{}.self", "decoder.{}.cross", "encoder.{}.self"):
                place = kind.format(layer)
                page.locator(f'[data-key="{place.rpartition(".")[0]}"]').click()
                page.locator(f'[data-key="{place}"]').click()
                at(f"{place}.head.1")  # its numbers are asked for now
                page.wait_for_timeout(100)
                steps["head"].append(took("Enter", ".journey-in-place"))
                at("number:E:3")
                steps["score"].append(took("Enter", ".journey-inner"))
                steps["feature"].append(took("ArrowRight", ".journey-note"))
                for _ in range(4):
                    took("Escape", ".journey-crumbs")
        page.get_by_label("temperature").focus()
        took("ArrowRight", ".journey-candidates")  # asks for the logits
        steps["temperature"] = [took("ArrowRight", ".journey-candidates") for _ in range(12)]
        medians = {name: statistics.median(times) for name, times in steps.items()}
        print("  40 tokens:", ", ".join(f"{n} {ms:.0f}" for n, ms in medians.items()), "ms")
        own = []
        for text in 5 * OWN_SENTENCES:
            page.locator(".tutor-asking input").fill(text)
            own.append(took("Enter", ".journey-written"))
        print(f"  a journey of one's own: {min(own):.0f} to {max(own):.0f} ms")
        page.close()
    return round(statistics.median(own)), round(max(medians.values()), 1)


def kilobytes():
    """What the largest view adds to a notebook that is saved: all but the live widget itself."""
    scope = {}
    exec(SETUP, scope)
    return len(scope["AttentionView"](scope["recording"](60)).still()) / 1000


def journey():
    """What a journey costs the kernel: milliseconds a sentence, and a saved page's megabytes."""
    view, times = JourneyView(load_pretrained(), OWN_SENTENCES[-1]), []
    view.send = lambda content, buffers: None  # what it would send is made, but goes nowhere
    for text in 5 * OWN_SENTENCES:
        start = time.perf_counter()
        view.answer({"ask": "", "begin": {"text": text}})
        times.append(1000 * (time.perf_counter() - start))
    print(f"  a journey in the kernel: {min(times):.0f} to {max(times):.0f} ms")
    view.begin("A man is riding a white horse slowly.")  # ten tokens
    with tempfile.TemporaryDirectory() as folder:
        view.save(Path(folder) / "page.html")
        size = (Path(folder) / "page.html").stat().st_size
    return round(statistics.median(times), 1), round(size / 1e6, 2)


def aer_chosen_head():
    """Mean over seeds of the test error rate of the head chosen on validation (chapter 11b)."""
    splits = generate_pairs("val", 300), generate_pairs("test", 500)
    found = []
    for translator in map(load_small, SEEDS):
        rates = []
        for pairs in splits:
            aligned = aligned_batch(translator.tokenizer, pairs)
            maps = cross_attention(translator.model, aligned.batch)
            rates.append(measure(maps, aligned, same_sort(pairs))["input", "weight"])
        on_val, on_test = rates
        head = best_head(on_val)
        found.append(on_test[head].item())
        print(f"  error rate of cross-attention head {head}, input step: {found[-1]:.4f}")
    return statistics.mean(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presses", type=int, default=60)
    count = parser.parse_args().presses
    cells = [SETUP, OWN, *(f"AttentionView(recording({tokens}))" for tokens in (20, 60))]
    result = {}
    with tempfile.TemporaryDirectory() as folder, lab.chromium() as browser:
        if browser is None:
            sys.exit("This needs Debian's Chromium.")
        with lab.jupyterlab(folder, cells) as address:
            page = browser.new_page(viewport={"width": 1300, "height": 1000})
            watch = lab.Watch(page)
            lab.run_all(page, address)
            views = page.locator(".tutor-view")
            views.nth(2).wait_for()
            page.evaluate(STOPWATCH)
            for i, tokens in enumerate((20, 60), start=1):
                print(f"6 layers of 8 heads, {tokens} x {tokens} tokens")
                result[f"redraw_ms_{tokens}"] = round(redraw(page, views.nth(i), count), 1)
            result["own_sentence_ms"] = round(own_sentences(page, views.first))
            axe = lab.axe()
            found = None if axe is None else lab.violations(page, axe)
            result["alt_missing"] = alt_missing(page, address, folder)
            page.close()
        result["journey_own_sentence_ms"], result["journey_step_ms"] = journey_in_browser(browser)
    print("\n".join([*(found or ()), *watch.errors, *watch.outside]))
    result["kilobytes"] = round(kilobytes())
    result["journey_kernel_ms"], result["journey_megabytes"] = journey()
    result["outside_requests"] = len(watch.outside)
    result["axe_violations"] = None if found is None else len(found)
    result["aer_chosen_head"] = round(aer_chosen_head(), 4)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
