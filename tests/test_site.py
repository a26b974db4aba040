"""The site: built once, then every page as a browser shows it, from disk and over http."""

import functools
import http.server
import re
import threading

import lab
import nbformat
import pytest
import site_walk

from tutor.publish import vendor
from tutor.publish.notebooks import BuildError
from tutor.publish.site import finish
from tutor.publish.site.alive import as_html, classes
from tutor.publish.site.chapters import chapters, with_pages

FIRST_TEXT = 1.0  # seconds, at
SPEED = 1.6e6 / 8  # bytes a second
LARGEST = 1500  # kilobytes of a page without the model


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    from tutor.publish.site.write import write_site

    try:
        vendor.fetch("katex")
    except ConnectionError as error:
        pytest.skip(str(error))
    out = tmp_path_factory.mktemp("site") / "course"
    write_site(out)
    return out


@pytest.fixture(scope="module")
def browser():
    with lab.chromium() as browser:
        if browser is None:
            pytest.skip("Chromium or playwright is missing")
        yield browser


@pytest.fixture(scope="module")
def address(site):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=site)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_links(site):
    assert site_walk.dead_links(site) == []


def test_every_page(site, browser):
    found, kilobytes = site_walk.walk(browser, site, site_walk.pages(site), lab.axe())
    assert {kind: lines for kind, lines in found.items() if lines} == {}
    assert max(kilobytes.values()) < LARGEST


def test_every_view_of_the_notebooks_is_alive(site):
    for path in chapters():
        notebook = nbformat.read(path, as_version=4)
        shown = sum(
            output.get("data", {}).get("text/plain", "").startswith(tuple(classes()))
            for cell in notebook.cells
            for output in cell.get("outputs", ())
        )
        page = (site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert page.count("data-view=") == shown, path.name


def test_search_finds_symbols_chapters_and_exercises(site, browser):
    page = browser.new_page()
    for words, wanted in (
        ("causal_mask", "reference/tutor.attention.html#tutor.attention.causal_mask"),
        ("slice_vertically", "notebooks/03_multi_head_attention.html"),
        ("choose_alike", "exercises/choose_alike.html"),
    ):
        page.goto(f"{(site / 'search.html').as_uri()}?q={words}")
        page.locator(f"#search-results a[href*='{wanted}']").first.wait_for(timeout=10_000)
    page.close()


def test_first_text_on_a_slow_line(site, address, browser):
    slowest = max((site / "notebooks").glob("*.html"), key=lambda path: path.stat().st_size)
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    line = context.new_cdp_session(page)
    line.send("Network.enable")
    line.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 0, "downloadThroughput": SPEED, "uploadThroughput": SPEED},
    )
    page.goto(f"{address}/notebooks/{slowest.name}", wait_until="commit")
    paint = page.wait_for_function(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    ).json_value()
    context.close()
    assert paint < 1000 * FIRST_TEXT


def test_read_once_then_without_network(site, address, browser):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}/index.html")
    page.evaluate("navigator.serviceWorker.ready")
    context.set_offline(True)
    page.goto(f"{address}/notebooks/00_start_here.html")
    page.locator(".course-view .tutor-view").wait_for()
    page.goto(f"{address}/museum/look_up_words.html")
    assert page.locator("h1").inner_text().startswith("look_up_words")
    context.close()


def test_paper_shows_what_is_folded(site, browser):
    page = browser.new_page()
    page.goto((site / "exercises" / "choose_alike.html").as_uri())
    assert not page.locator("details p").first.is_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details").count() == page.locator("details[open]").count() > 3
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
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
    from tutor.publish.site.write import write_site

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
    text = as_html({"view": "MaskView", "state": {"rows": ["</script><b>"]}}, "")
    assert len(re.findall("</script>", text)) == 1
