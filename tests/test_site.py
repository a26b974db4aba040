"""The site: built once, then its pages as a browser shows them, from disk and over http."""

import functools
import http.server
import json
import re
import shutil
import threading

import lab
import nbformat
import pytest
import site_walk

from course.build.node import packages
from course.build.notebooks import BuildError
from course.site import alive, finish, write
from course.site.chapters import chapters, with_pages
from tutor.check.bank import find
from tutor.models import load_pretrained
from tutor.models.small import load_small
from tutor.record import DOUBT
from tutor.views import BeamView, JourneyView
from tutor.views.base import View

LARGEST = 1500  # kilobytes of a page without the model
STRIDE = 24  # beside the chapters, one page of so many is visited; all are at night
SENTENCES = ("Two dogs are playing in the snow.", "A woman reads a book.")


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
    with site_walk.served(site) as address:
        yield address


@pytest.fixture
def page(browser):
    """A page of its own context, which must not complain of anything or ask the network."""
    context = browser.new_context()
    page = context.new_page()
    watch, page.loaded = lab.Watch(page), []
    page.on("request", lambda request: page.loaded.append(request.url.rpartition("/")[2]))
    yield page
    assert (watch.errors, watch.outside) == ([], [])
    context.close()


@pytest.fixture
def visit(page, site):
    """Opens a page of the site from disk; returns the view of that class, if one is named."""

    def visit(name, view=None):
        page.goto((site / f"{name}.html").as_uri())
        return view and page.locator(f'.course-view[data-view="{view}"]')

    return visit


def ask(view, text):
    view.get_by_label("Your sentence").fill(text)
    view.get_by_label("Your sentence").press("Enter")


def translated(text):
    return load_pretrained().translate([text])[0]


def test_links(site):
    assert site_walk.dead_links(site) == []


def test_an_old_address_leads_on(site, visit, page):
    """Without scripts too, to a page that is there; what stood behind # goes along."""
    assert finish.moved()
    for old, new in finish.moved().items():
        text = (site / old).read_text(encoding="utf-8")
        [link] = set(re.findall(r'(?:url=|href=")([^"]+)"', text))
        assert (site / old).parent.joinpath(link).resolve() == (site / new).resolve()
        assert (site / new).read_text(encoding="utf-8").count("<article") == 1
    page.goto((site / "reference/tutor.museum.html").as_uri() + "#somewhere")
    page.wait_for_url("**/reference/course.museum.html#somewhere")


@pytest.mark.parametrize("line", ["index.html notebooks/TEACHING.html", "old.html nowhere.html"])
def test_an_address_that_leads_nowhere_or_is_in_use_is_refused(site, monkeypatch, line):
    monkeypatch.setattr(finish, "moved", lambda: dict([line.split()]))
    with pytest.raises(BuildError, match="moved.txt leads from"):
        finish.lead_on(site)


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


def test_a_formula_that_grows_late_can_be_reached(site, page):
    """The sheet of the formulas, and its fonts, may come after they were drawn."""
    held = []
    page.set_viewport_size(site_walk.PHONE)
    page.route("**/katex.min.css", lambda route: held.append(route))
    with page.expect_request("**/katex.min.css"):
        page.goto((site / "notebooks/11_reading_attention.html").as_uri(), wait_until="commit")
    lab.comes(
        page,
        """document.querySelector("div.tex .katex")
        && !document.querySelector(".tex:not(:has(.katex))")""",
    )
    held[0].continue_()
    lab.comes(
        page,
        """[...document.styleSheets].some((s) => s.href?.includes("katex"))
        && document.fonts.status === "loaded"
        && [...document.querySelectorAll("div.tex")].some((n) => n.scrollWidth > n.clientWidth)
        && [...document.querySelectorAll("div.tex")].every(
            (n) => n.scrollWidth <= n.clientWidth || n.tabIndex === 0)""",
    )


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
        cells = nbformat.read(path, as_version=4).cells
        outputs = [output for cell in cells for output in cell.get("outputs", ())]
        states = [state for output in outputs if (state := alive.state(output, path.name))]
        text = (site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert re.findall(r'data-view="(\w+)"', text) == [state["view"] for state in states]
        without_scripts = re.findall(r"<noscript>.*?</noscript>", text, re.S)
        assert sum("<img" in picture for picture in without_scripts) == len(states), path.name


def test_a_view_without_its_state_is_refused():
    old = {"data": {"text/plain": "MaskView(3 x 3)", "image/png": ""}}
    with pytest.raises(BuildError, match="07.ipynb holds a view without its state"):
        alive.state(old, "07.ipynb")
    assert alive.state({"data": {"text/plain": "MaskViewer()"}}, "07.ipynb") is None


@pytest.mark.parametrize("size", [{"width": 1280, "height": 800}, site_walk.PHONE])
def test_the_first_screen_is_the_model_itself(visit, page, size):
    """Its answer is drawn before any weights are there, and another is one click away."""
    page.set_viewport_size(size)
    view = visit("index", "JourneyView")
    for seen in (page.locator(".chips button").first, view.get_by_label("Your sentence"),
                 view.locator(".journey-candidates button").first):  # fmt: skip
        box = seen.bounding_box()
        assert box["y"] + box["height"] < size["height"]
    assert "pretrained.weights.js" not in page.loaded
    page.get_by_role("button", name="A man is riding a bicycle.").click()
    view.locator(".journey-said", has_text=re.compile("^$")).wait_for(state="attached")
    written = view.locator(".journey-written").inner_text().replace("\n", "")
    assert written.replace("_", " ").strip() == f"{translated('A man is riding a bicycle.')}[EOS]"
    page.get_by_role("button", name="Attention is all you need.").click()
    view.get_by_text(DOUBT).wait_for()


def test_every_page_says_what_it_is(site):
    for path in (site / "index.html", site / "notebooks/04_the_encoder.html"):
        head, _, body = path.read_text(encoding="utf-8").partition("</head>")
        [said] = re.findall(r'<meta name="description" content="([^"]{50,})">', head)
        assert f'<meta property="og:description" content="{said}">' in head
        assert re.search(r"""<a href="[./]*about.html">version \d""", body)
    assert "What does a layer need" in said
    assert "No such page" in (site / "404.html").read_text(encoding="utf-8")


def test_own_sentence_without_kernel(visit, page):
    """The model in the page answers as the one in PyTorch does; it is loaded when it is asked."""
    view = visit("notebooks/00_start_here", "AttentionView")
    assert "model.js" in " ".join(page.loaded) and "pretrained.weights.js" not in page.loaded
    for text in SENTENCES:
        ask(view, text)
        view.get_by_text(text, exact=True).wait_for()
        assert view.get_by_text(translated(text), exact=True).is_visible()
    ask(view, " ")
    view.get_by_text("Write a sentence first.").wait_for()
    assert page.loaded.count("pretrained.weights.js") == 1


def test_own_search_without_kernel(visit):
    view = visit("notebooks/09_decoding", "BeamView")
    ask(view, SENTENCES[1])
    expected = BeamView.search(load_pretrained(), SENTENCES[1], beams=4, alpha=0.0)
    best = [expected.steps[i][j].token for i, j in expected.path(*expected.facts["winner"])]
    view.locator(".tutor-caption", has_text=f"Best: {' '.join(best)}").wait_for()


def test_an_opened_head_is_drawn_before_anything_is_loaded(visit, page):
    view = visit("notebooks/06_the_decoder", "JourneyView")
    state = json.loads(view.locator("script").inner_text())
    journey = JourneyView(load_pretrained(), state["facts"]["text"])
    sub_layer, _, head = state["place"].rpartition(".head.")
    weights = journey.numbers(f"{sub_layer}.A")[int(head), state["step"]]
    shown = view.locator(".journey-weight .journey-number").all_inner_texts()
    assert list(map(float, shown)) == pytest.approx(weights.tolist(), abs=0.0051)
    assert not any("weights.js" in name for name in page.loaded)


def test_what_a_view_shows_can_be_linked_to(address, page):
    journey = f"{address}/notebooks/06_the_decoder.html"
    view = page.locator('.course-view[data-view="JourneyView"]')
    page.goto(f"{journey}?at=2,encoder.1.self.head.0")
    shown = view.locator(".journey-weight .journey-number")
    shown.first.wait_for()
    text = json.loads(view.locator("script").inner_text())["facts"]["text"]
    weights = JourneyView(load_pretrained(), text).numbers("encoder.1.self.A")[0, 0]
    assert list(map(float, shown.all_inner_texts())) == pytest.approx(weights.tolist(), abs=0.0051)
    view.get_by_role("button", name="One token on").click()
    assert page.url == f"{journey}?at=3,encoder.1.self.head.0"
    page.goto(f"{journey}?at=2,decoder.1,4")  # a layer, at a step of the walk
    pressed = view.locator(".journey-way [aria-pressed=true]")
    assert pressed.inner_text() == "4 mix"
    view.get_by_role("button", name="Next", exact=True).click()
    assert page.url == f"{journey}?at=2,decoder.1,5"
    for unknown in ("99,nowhere.9.self", "2,decoder.1.cross.head.4"):  # as if it said nothing
        page.goto(f"{journey}?at={unknown}")
        assert view.locator(".journey-crumbs").inner_text().endswith("head 0")


def test_a_journey_takes_the_room_of_the_contents(visit, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    view = visit("notebooks/06_the_decoder", "JourneyView")
    contents, text = page.locator(".toc-drawer"), page.locator("article p").first
    contents.wait_for(state="visible")
    view.scroll_into_view_if_needed()
    contents.wait_for(state="hidden")
    assert view.bounding_box()["width"] > text.bounding_box()["width"] + 150
    assert view.locator(".journey-products").first.is_visible()  # q × K has room, too
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_view_answers_with_the_model_that_made_it(visit):
    """Chapter 12 shows the third small model, not the one that ships as the translator."""
    view = visit("notebooks/12_switching_heads_off", "JourneyView")
    ask(view, SENTENCES[1])
    [translation] = load_small(2).translate([SENTENCES[1]])
    assert translation != translated(SENTENCES[1])
    view.locator(".journey-banner", has_text=translation).wait_for()


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


def test_search_finds_symbols_chapters_and_exercises(site, page):
    for words, wanted in (
        ("causal_mask", "reference/tutor.attention.html#tutor.attention.causal_mask"),
        ("slice_vertically", "notebooks/03_multi_head_attention.html"),
        ("choose_alike", "exercises/choose_alike.html"),
    ):
        page.goto(f"{(site / 'search.html').as_uri()}?q={words}")
        page.locator(f"#search-results a[href*='{wanted}']").first.wait_for()


def test_a_search_finds_the_chapter_that_teaches_it(address, page):
    """Over http, where Pagefind answers: at the section, with a line of its text."""
    assert site_walk.not_found(page, address) == []
    page.goto(f"{address}/search.html?q=softmax")
    line = page.locator("#search-results p", has=page.locator("mark")).first
    line.locator("a").click()
    assert re.search("02_single_head_attention.html#.", page.url)
    page.goto(f"{address}/search.html?q=ж")
    page.get_by_text("No page holds “ж”.").wait_for()


def test_an_exercise_without_code_is_answered_in_the_page(visit, page):
    visit("exercises/without_a_word")
    said, fields = page.locator(".said"), page.locator(".course-answer input")
    for words, answer in (
        ("fill in all fields", ["0", "", ""]),
        ("Write numbers as", ["0", "many", "1"]),
        ("B and C are exchanged.", ["0", "0.135", "3/25"]),
        ("Right. A ban must work before the choice", ["0", "3/25", "0,135"]),
    ):
        for i, text in enumerate(answer):
            fields.nth(i).fill(text)
        page.get_by_role("button", name="Check").click()
        assert words in said.inner_text()
    visit("exercises/decoding")
    assert "without_a_word" in page.locator("a.solved").get_attribute("href")

    visit("exercises/below_the_floor")
    exercise = find("below_the_floor")
    for text in ("Run 3 sees the future.", exercise.solution, f"{exercise.solution} And so on."):
        page.get_by_label("Your explanation").fill(text)
        page.get_by_role("button", name="Check").click()
        assert page.locator(".said").inner_text().startswith(("Not yet.", "Noted.", ""))
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.reload()
    solved = "() => JSON.parse(localStorage.getItem('exercises')).below_the_floor.solved"
    assert page.evaluate(solved)
    assert "And so on." in page.get_by_label("Your explanation").input_value()


def test_code_is_copied(browser, address):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}/exercises/attend.html")
    page.locator(".highlight").first.hover()
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").strip() == find("attend").stub.strip()
    context.close()


def test_the_reference_shows_what_a_learner_reads(site):
    """All that a module defines, and of a package where to import from; nothing that only makes."""
    for module, said in {
        "tutor.attention": "tutor.attention.causal_mask",
        "tutor.figures.curves": "tutor.figures.curves.curves",  # one name for two things
        "tutor": "#tutor.translator.Translator",
        "course.museum": "course.museum.show",
    }.items():
        text = (site / f"reference/{module}.html").read_text(encoding="utf-8")
        assert (
            f'{said}"' in text and f"{module}.html" in (site / "reference/index.html").read_text()
        )
    chapter = (site / "notebooks/06_the_decoder.html").read_text(encoding="utf-8")
    assert 'href="../reference/tutor.attention.html#tutor.attention.causal_mask"' in chapter
    assert "Built in chapter" in (site / "reference/tutor.attention.html").read_text("utf-8")
    assert not list(site.glob("reference/course.build*"))


def test_read_once_then_without_network(address, page):
    """All pages, and the model if it was asked, even before all was kept."""

    def asked(text):
        view = page.locator('.course-view[data-view="AttentionView"]')
        ask(view, text)
        view.get_by_text(translated(text), exact=True).wait_for()

    page.goto(f"{address}/notebooks/00_start_here.html")
    asked(SENTENCES[0])
    weights = f"{address}/_static/model/pretrained.weights.js"
    kept = "async (url) => Boolean(await caches.match(url, { ignoreSearch: true }))"
    assert lab.until(page, lambda: page.evaluate(kept, weights))
    page.context.set_offline(True)
    page.reload()
    asked(SENTENCES[1])
    page.goto(f"{address}/museum/look_up_words.html")
    assert page.locator("h1").inner_text().startswith("look_up_words")
    page.goto(f"{address}/")
    assert page.locator("h1").inner_text().startswith("The Transformer")


def test_a_new_version_is_offered_and_fetches_only_what_changed(site, browser, tmp_path):
    """Two copies under one origin; the first is published anew while it is being read."""
    parts = shutil.ignore_patterns("exercises", "museum", "reference", "_modules", "pagefind")
    for name in ("first", "second"):
        shutil.copytree(site, tmp_path / name, ignore=parts)
        publish(tmp_path / name)
    asked = []

    class Remembering(http.server.SimpleHTTPRequestHandler):
        def end_headers(self):
            self.send_header("Cache-Control", "max-age=600")
            super().end_headers()

        def log_message(self, *_):
            asked.append(self.path)

    handler = functools.partial(Remembering, directory=tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    page = browser.new_context().new_page()
    view = page.locator('.course-view[data-view="AttentionView"]')

    def asks(text):
        ask(view, text)
        view.get_by_text(translated(text), exact=True).wait_for()

    kept = "async () => (navigator.serviceWorker.controller ? await caches.keys() : []).join()"
    for name in ("second", "first"):
        page.goto(f"{address}/{name}/notebooks/00_start_here.html")
        asks(SENTENCES[0])
        cache = f"course-weights-{address}/{name}/"
        assert lab.until(page, lambda cache=cache: cache in page.evaluate(kept))
    text = (tmp_path / "first/notebooks/00_start_here.html").read_text(encoding="utf-8")
    changed = re.sub("(<h1[^>]*>).*?<", r"\1A new heading<", text, count=1)
    (tmp_path / "first/notebooks/00_start_here.html").write_text(changed, encoding="utf-8")
    publish(tmp_path / "first")
    asked.clear()
    page.reload()
    assert "A new heading" not in page.locator("h1").inner_text()
    page.get_by_text("There is a new version of the course.").wait_for()
    page.get_by_role("button", name="Reload").click()
    page.locator("h1", has_text="A new heading").wait_for()
    asks(SENTENCES[1])
    assert set(asked) == {"/first/offline.js", "/first/notebooks/00_start_here.html"}
    server.shutdown()
    server.server_close()
    for name in ("first", "second"):
        page.goto(f"{address}/{name}/notebooks/00_start_here.html")
        asks(SENTENCES[1])
    page.context.close()


def publish(site):
    shutil.copy(write.SITE_FOLDER / "static" / "offline.js", site / "_static")
    finish.keep_offline(site)


def test_paper_shows_what_is_folded(visit, page):
    visit("exercises/choose_alike")
    assert not page.locator("details p").first.is_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details").count() == page.locator("details[open]").count() > 3
    assert page.locator("details p").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    visit("notebooks/17_shipping")
    link = page.locator("article a[href^=http]").first
    said = link.evaluate("(link) => getComputedStyle(link, '::after').content")
    assert link.get_attribute("href") in said
    assert not page.locator(".related-pages").is_visible()


def test_progress_is_remembered(visit, page):
    visit("notebooks/00_start_here")
    page.evaluate("scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })")
    lab.comes(page, "Object.keys(localStorage).length > 0")
    page.reload()
    assert page.locator(".course-navigation a.read").inner_text().startswith("00")


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path):
    pytest.importorskip("sphinx")
    from course.site.write import write_site

    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BuildError, match="holds no site"):
        write_site(tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_links_are_led_to_pages():
    assert with_pages("[e](exercises/04_the_encoder.ipynb)") == "[e](../exercises/the_encoder.md)"
    assert "_modules/tutor/encoder.html" in with_pages("[`e`](../tutor/encoder.py)")


def test_nothing_in_a_state_ends_its_script():
    text = alive.as_html({"view": "MaskView", "state": {"rows": ["</script><b>"]}}, "")
    assert len(re.findall("</script>", text)) == 1
