"""The site: built once, then its pages as a browser shows them, from disk and over http."""

import functools
import http.server
import json
import re
import threading

import lab
import nbformat
import pytest
import site_walk

from course.build.node import packages
from course.build.notebooks import BuildError
from course.site import alive, finish
from course.site.chapters import chapters, with_pages
from tutor.models import load_pretrained
from tutor.models.small import load_small
from tutor.views import BeamView, JourneyView
from tutor.views.base import View

LARGEST = 1500  # kilobytes of a page without the model
STRIDE = 24  # beside the chapters, one page of so many is visited; benchmarks/site.py visits all


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    from course.site.write import write_site

    try:
        packages()
    except ConnectionError as error:
        pytest.skip(str(error))
    out = tmp_path_factory.mktemp("site") / "course"
    write_site(out)
    return out


@pytest.fixture(scope="module")
def address(site):
    handler = functools.partial(site_walk.Quiet, directory=site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_links(site):
    assert site_walk.dead_links(site) == []


def test_every_chapter_and_a_sample_of_the_other_pages(site, browser):
    pages = sorted((site / "notebooks").glob("*.html"))
    judged = {*pages[::3], *site_walk.pages(site)[::STRIDE]}  # by axe, which takes seconds a page
    visited = sorted({*pages, *judged})
    found, kilobytes = site_walk.walk(browser, site, visited, lab.axe(), judged)
    assert {kind: lines for kind, lines in found.items() if lines} == {}
    assert max(kilobytes.values()) < LARGEST


BAD = """<!doctype html><html lang="en"><title>Bad</title><link rel="icon" href="data:,">
<body data-theme="light"><main><h1>Bad</h1><img src="http://nowhere.invalid/a.png">
<div class="course-view"><div tabindex="0">asleep</div></div><div style="width: 999px">wide</div>
<p style="color: #777; background: #888">unread</p><a href="gone.html">1</a> <a href="#gone">2</a>
<a href="https://nowhere.invalid">3</a></main><script>console.error("wrong")</script>"""


def test_a_bad_page_is_seen(browser, tmp_path):
    (tmp_path / "bad.html").write_text(BAD, encoding="utf-8")
    assert len(site_walk.dead_links(tmp_path)) == 4  # the picture is one
    path, axe = tmp_path / "bad.html", lab.axe()
    found, kilobytes = site_walk.walk(browser, tmp_path, [path], axe, [path] if axe else [])
    assert found["outside_requests"] == ["bad.html: http://nowhere.invalid/a.png"]
    assert found["too_wide"] == ["bad.html"] and "bad.html: wrong" in found["console_errors"]
    assert found["dead_views"] == ["bad.html: no key changes it"]
    rules = {line.partition(": <")[0] for line in found["axe_violations"]}
    if axe:
        assert {"bad.html, light: image-alt", "bad.html, dark: color-contrast"} <= rules
    assert kilobytes["bad.html"] == pytest.approx(path.stat().st_size / 1000)


def test_a_formula_that_grows_late_can_be_reached(site, browser):
    """The sheet of the formulas, and its fonts, may come after they were drawn."""
    page, held = browser.new_page(viewport=site_walk.PHONE), []
    page.route("**/katex.min.css", lambda route: held.append(route))
    with page.expect_request("**/katex.min.css"):
        page.goto((site / "notebooks/09_reading_attention.html").as_uri(), wait_until="commit")
    page.wait_for_function("""document.querySelector("div.tex .katex")
        && !document.querySelector(".tex:not(:has(.katex))")""")
    held[0].continue_()
    page.wait_for_function("""[...document.styleSheets].some((s) => s.href?.includes("katex"))
        && document.fonts.status === "loaded"
        && [...document.querySelectorAll("div.tex")].some((n) => n.scrollWidth > n.clientWidth)
        && [...document.querySelectorAll("div.tex")].every(
            (n) => n.scrollWidth <= n.clientWidth || n.tabIndex === 0)""")
    page.close()


def test_the_first_text_of_a_page_waits_for_little(site):
    """Of sheets above it, 70 kB are 0.35 s at 1.6 Mbit/s; a long page holds its own."""
    for path in site_walk.pages(site):
        head = path.read_text(encoding="utf-8").partition("</head>")[0]
        sheets = re.findall(r'<link rel="stylesheet"[^>]* href="([^"?]+)', head)
        assert path.parent.name != "notebooks" or (not sheets and "<style>" in head)
        assert sum((path.parent / sheet).stat().st_size for sheet in sheets) < 70_000, path.name
        assert not re.search(r"<script(?![^>]*(?:defer|async))[^>]* src=", head), path.name


def test_a_chapter_has_its_notebook_its_minutes_and_its_neighbours(site):
    front = (site / "index.html").read_text(encoding="utf-8")
    paths = chapters()
    for i, path in enumerate(paths):
        text = (site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert f'href="{path.name}" download' in text and f"notebooks/{path.stem}.html" in front
        assert (site / "notebooks" / path.name).read_bytes() == path.read_bytes()
        assert re.search(r"<strong>Time</strong> \d+ minutes to read", text)
        for rel, other in (("next", paths[i + 1 : i + 2]), ("prev", paths[max(i - 1, 0) : i])):
            for near in other:
                assert re.search(rf'rel="{rel}" href="{near.stem}.html"', text)


def test_every_view_of_the_notebooks_is_on_its_page_once(site):
    for path in chapters():
        shown = [
            alive.state(output, path.name)["view"]
            for cell in nbformat.read(path, as_version=4).cells
            for output in cell.get("outputs", ())
            if alive.state(output, path.name)
        ]
        page = (site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert re.findall(r'data-view="(\w+)"', page) == shown, path.name
        without_scripts = re.findall(r"<noscript>.*?</noscript>", page, re.S)
        assert sum("<img" in text for text in without_scripts) == len(shown), path.name


def test_a_view_without_its_state_is_refused():
    old = {"data": {"text/plain": "MaskView(3 x 3)", "image/png": ""}}
    with pytest.raises(BuildError, match="07.ipynb holds a view without its state"):
        alive.state(old, "07.ipynb")
    assert alive.state({"data": {"text/plain": "MaskViewer()"}}, "07.ipynb") is None


def test_own_sentence_without_kernel(site, browser):
    """The model in the page answers as the one in PyTorch does; it is loaded when it is asked."""
    page = browser.new_page()
    watch, loaded = lab.Watch(page), []
    page.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
    page.goto((site / "notebooks" / "00_start_here.html").as_uri())
    view = page.locator('.course-view[data-view="AttentionView"]')
    box = view.get_by_label("Your sentence")
    assert "model.js" in " ".join(loaded) and "pretrained.weights.js" not in loaded
    for text in ("Two dogs are playing in the snow.", "A woman reads a book."):
        box.fill(text)
        box.press("Enter")
        view.get_by_text(text, exact=True).wait_for()
        assert view.get_by_text(load_pretrained().translate([text])[0], exact=True).is_visible()
    box.fill(" ")
    box.press("Enter")
    view.get_by_text("Write a sentence first.").wait_for()
    assert loaded.count("pretrained.weights.js") == 1
    assert (watch.errors, watch.outside) == ([], [])
    page.close()


def test_own_search_without_kernel(site, browser):
    page = browser.new_page()
    page.goto((site / "notebooks" / "08_decoding.html").as_uri())
    view = page.locator('.course-view[data-view="BeamView"]')
    view.get_by_label("Your sentence").fill("A woman reads a book.")
    page.keyboard.press("Enter")
    expected = BeamView.search(load_pretrained(), "A woman reads a book.", beams=4, alpha=0.0)
    best = [expected.steps[i][j].token for i, j in expected.path(*expected.facts["winner"])]
    view.locator(".tutor-caption", has_text=f"Best: {' '.join(best)}").wait_for()
    page.close()


def test_an_opened_head_is_drawn_before_anything_is_loaded(site, browser):
    page = browser.new_page()
    loaded = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto((site / "notebooks" / "05_the_decoder.html").as_uri())
    view = page.locator('.course-view[data-view="JourneyView"]')
    state = json.loads(view.locator("script").inner_text())
    place, step = state["place"], state["step"]
    journey = JourneyView(load_pretrained(), state["facts"]["text"])
    sub_layer, _, head = place.rpartition(".head.")
    weights = journey.numbers(f"{sub_layer}.A")[int(head), step]
    shown = view.locator(".journey-weight .journey-number").all_inner_texts()
    assert list(map(float, shown)) == pytest.approx(weights.tolist(), abs=0.0051)
    assert not any("weights.js" in url for url in loaded)
    page.close()


def test_a_view_answers_with_the_model_that_made_it(site, browser):
    """Chapter 10 shows the third small model, not the one that ships as the translator."""
    page = browser.new_page()
    watch = lab.Watch(page)
    page.goto((site / "notebooks" / "10_switching_heads_off.html").as_uri())
    view = page.locator('.course-view[data-view="JourneyView"]')
    view.get_by_label("Your sentence").fill("A woman reads a book.")
    page.keyboard.press("Enter")
    [translation] = load_small(2).translate(["A woman reads a book."])
    assert translation != load_pretrained().translate(["A woman reads a book."])[0]
    view.locator(".journey-banner", has_text=translation).wait_for()
    assert (watch.errors, watch.outside) == ([], [])
    page.close()


def test_a_view_of_no_model_that_ships_is_refused():
    view = JourneyView(load_small(1), "A man is riding a white horse.")
    shown = {"view": "JourneyView", "state": View.saved_state(view)}
    assert alive.made_by(shown)[0].name == "seed1"
    shown["state"]["facts"]["log_sum_exp"][0] += 0.1
    with pytest.raises(BuildError, match="No model that ships made this JourneyView"):
        alive.made_by(shown)


def test_a_journey_uses_the_model_of_its_page(site, browser):
    view = JourneyView(load_pretrained(), "A man is riding a white horse.")
    place = alive.as_html({"view": "JourneyView", "state": View.saved_state(view)}, "")
    (site / "journey.html").write_text(
        f"""<!doctype html><html lang="en" data-content_root="./"><meta charset="utf-8">
<link rel="icon" href="data:,"><script src="_static/model/model.js"></script>
<script src="_static/views/JourneyView.js"></script><body>{place}
<script src="_static/site.js"></script>""",
        encoding="utf-8",
    )
    page = browser.new_page()
    watch = lab.Watch(page)
    page.goto((site / "journey.html").as_uri())
    page.locator(".course-view .tutor-view").wait_for()
    assert page.locator(".course-view").inner_text().count(view.facts["translation"])
    assert (watch.errors, watch.outside) == ([], [])
    page.close()
    (site / "journey.html").unlink()


def test_search_finds_symbols_chapters_and_exercises(site, browser):
    page = browser.new_page()
    for words, wanted in (
        ("causal_mask", "reference/tutor.attention.html#tutor.attention.causal_mask"),
        ("slice_vertically", "notebooks/03_multi_head_attention.html"),
        ("choose_alike", "exercises/choose_alike.html"),
    ):
        page.goto(f"{(site / 'search.html').as_uri()}?q={words}")
        page.locator(f"#search-results a[href*='{wanted}']").first.wait_for()
    page.close()


def test_read_once_then_without_network(site, address, browser):
    """All pages, and the model if it was asked, even before all was kept."""
    context = browser.new_context()
    page = context.new_page()

    def ask(text):
        view = page.locator('.course-view[data-view="AttentionView"]')
        view.get_by_label("Your sentence").fill(text)
        page.keyboard.press("Enter")
        view.get_by_text(load_pretrained().translate([text])[0], exact=True).wait_for()

    page.goto(f"{address}/notebooks/00_start_here.html")
    ask("Two dogs are playing in the snow.")
    weights = f"{address}/_static/model/pretrained.weights.js"
    kept = "async (url) => Boolean(await caches.match(url))"
    assert lab.until(page, lambda: page.evaluate(kept, weights))
    context.set_offline(True)
    page.reload()
    ask("A woman reads a book.")
    page.goto(f"{address}/museum/look_up_words.html")
    assert page.locator("h1").inner_text().startswith("look_up_words")
    page.goto(f"{address}/")
    assert page.locator("h1").inner_text().startswith("The Transformer")
    context.close()


def test_paper_shows_what_is_folded(site, browser):
    page = browser.new_page()
    page.goto((site / "exercises" / "choose_alike.html").as_uri())
    assert not page.locator("details p").first.is_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details").count() == page.locator("details[open]").count() > 3
    assert page.locator("details p").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    page.goto((site / "notebooks" / "14_shipping.html").as_uri())
    link = page.locator("article a.outside").first
    said = link.evaluate("(link) => getComputedStyle(link, '::after').content")
    assert link.get_attribute("href") in said
    assert not page.locator(".related-pages").is_visible()
    page.close()


def test_progress_is_remembered(site, browser):
    context = browser.new_context()
    page = context.new_page()
    page.goto((site / "notebooks" / "00_start_here.html").as_uri())
    page.evaluate("scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })")
    page.wait_for_function("Object.keys(localStorage).length > 0")
    page.reload()
    assert page.locator(".course-navigation a.read").inner_text().startswith("00")
    context.close()


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path):
    pytest.importorskip("sphinx")
    from course.site.write import write_site

    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BuildError, match="holds no site"):
        write_site(tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_links_are_led_to_pages():
    assert with_pages("[e](exercises/04_the_encoder.ipynb)") == "[e](../exercises/04.md)"
    assert "_modules/tutor/encoder.html" in with_pages("[`e`](../tutor/encoder.py)")
    text = finish.OUTSIDE.sub(finish.needs_network, '<a class="x" href="https://a.org/b">b</a>')
    assert text == (
        '<a class="outside x" href="https://a.org/b" title="On a.org: needs the network">b</a>'
    )


def test_nothing_in_a_state_ends_its_script():
    text = alive.as_html({"view": "MaskView", "state": {"rows": ["</script><b>"]}}, "")
    assert len(re.findall("</script>", text)) == 1
