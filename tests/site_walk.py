"""What a browser finds on every page of the site; used by test_site.py and benchmarks/site.py."""

import functools
import http.server
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import lab

SPEED = 1.6e6 / 8  # bytes a second
SLOW = dict(offline=False, latency=0, downloadThroughput=SPEED, uploadThroughput=SPEED)
PHONE = {"width": 360, "height": 740}
# Contrast is all that a theme changes. `axe` was given to the page before.
AXE_RUN = """async ([theme, rules]) => {
  document.body.dataset.theme = theme;
  const options = { resultTypes: ["violations"], preload: false };
  if (rules) options.runOnly = { type: "rule", values: rules };
  const found = (await axe.run(document, options)).violations;
  return found.flatMap((v) => v.nodes.map((node) => `${v.id}: ${node.html.slice(0, 150)}`));
}"""
# Of tokens of one kind, and of formulas, one stands for all: thousands would take axe minutes.
THIN = """() => {
  const seen = new Set();
  for (const token of document.querySelectorAll(".highlight span"))
    if (seen.has(token.className)) token.replaceWith(...token.childNodes);
    else seen.add(token.className);
  for (const formula of [...document.querySelectorAll(".tex")].slice(1)) formula.textContent = "x";
}"""
# What learners type, and the chapters that teach it.
TAUGHT = {
    "softmax": "02", "attention": "02", "mask": "02 06", "tokenizer": "07", "BLEU": "10",
    "cross-attention": "06", "GPT": "18", "KV cache": "09 19", "why sqrt": "02",
    "hallucination": "09 10", "beam": "09", "slice_vertically": "03", "RoPE": "20",
    "perplexity": "08 08b 18", "label smoothing": "08b", "padding": "02 06 07", "BPE": "07",
    "warmup": "05b 08", "layer norm": "04", "residual": "04", "positional encoding": "03b",
    "multi-head": "03", "embedding": "01", "teacher forcing": "06 06b", "temperature": "09b",
    "logit lens": "13",
}  # fmt: skip
DRAWN = """(view) => [view.innerHTML, ...[...view.querySelectorAll("canvas")].map(
  (canvas) => canvas.toDataURL())].join("")"""


class Anchors(HTMLParser):
    """The links of a page and the names in it that links can lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.add(values.get("id"))
        for key in ("href", "src"):
            if tag != "base" and values.get(key):
                self.links.append((values[key], values.get("title")))


def pages(site):
    """The pages of a site, in order; not those that only lead on to others."""
    found = sorted(Path(site).rglob("*.html"))
    return [path for path in found if 'http-equiv="refresh"' not in path.read_text("utf-8")[:200]]


def dead_links(site):
    """Links that lead to no file or no place on its page, or that leave and do not say so."""
    anchors = {path.resolve(): Anchors(path) for path in Path(site).rglob("*.html")}
    dead = []
    for path, page in anchors.items():
        for link, title in page.links:
            where, name = urldefrag(link)
            parts = urlparse(where)
            if parts.scheme in ("http", "https"):
                if "network" not in (title or ""):
                    dead.append(f"{path.name}: {link} does not say that it needs the network")
                continue
            if parts.scheme or where.startswith("//"):
                if parts.scheme not in ("data", "mailto"):
                    dead.append(f"{path.name}: {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                dead.append(f"{path.name}: {link}")
            elif name and target in anchors and unquote(name) not in anchors[target].names:
                dead.append(f"{path.name}: {link} (no such place)")
    return dead


def walk(browser, site, paths, axe, judged):
    """Visit pages from disk on a narrow screen; what is wrong, by kind, and kilobytes of each.

    axe: the text of axe-core, which goes over those of `paths` that are in `judged`.
    """
    found, kilobytes = defaultdict(list), {}
    context = browser.new_context(viewport=PHONE, color_scheme="light", reduced_motion="reduce")
    for path in paths:
        name = path.relative_to(site).as_posix()
        page = context.new_page()
        watch, loaded = lab.Watch(page), set()
        page.on("request", lambda request, loaded=loaded: loaded.add(request.url))
        page.goto(path.as_uri())
        lab.comes(page, "!document.querySelector('.tex:not(:has(.katex))')")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found["too_wide"].append(name)
        # Before a view is touched: its model comes with the first question.
        files = {Path(unquote(urlparse(url).path)) for url in loaded if url.startswith("file:")}
        kilobytes[name] = sum(file.stat().st_size for file in files if file.is_file()) / 1000
        for view in page.locator(".course-view").all():
            if problem := asleep(page, view):
                found["dead_views"].append(f"{name}: {problem}")
        if path in judged:
            page.evaluate(THIN)
            page.evaluate(axe)
            for theme, rules in (("light", None), ("dark", ["color-contrast"])):
                said = page.evaluate(AXE_RUN, [theme, rules])
                found["axe_violations"] += [f"{name}, {theme}: {line}" for line in said]
        found["console_errors"] += [f"{name}: {error}" for error in watch.errors]
        found["outside_requests"] += [f"{name}: {url}" for url in watch.outside]
        page.close()
    context.close()
    return found, kilobytes


def asleep(page, view):
    """Why a view is not alive, or None: a key must change what it shows."""
    areas = view.locator("[tabindex='0']"), view.locator("input[type='range']")
    area = next((area.first for area in areas if area.count()), None)
    if area is None:
        return "nothing was drawn"
    area.focus()
    before = view.evaluate(DRAWN)
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
        lab.drawn(page)
        if view.evaluate(DRAWN) != before:
            return None
    return "no key changes it"


def not_found(page, address):
    """Of TAUGHT what has no chapter that teaches it among its first two results."""
    missing = []
    for words, chapters in TAUGHT.items():
        page.goto(f"{address}/search.html?q={words}")
        found = page.locator("#search-results li > a")
        found.first.wait_for()
        names = [
            link.rpartition("/")[2].partition("_")[0]
            for link in found.evaluate_all("all => all.map((a) => a.href)")
        ]
        if not set(names[:2]) & set(chapters.split()):
            missing.append(f"{words}: {' '.join(names[:2])}")
    return missing


FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
CODE = """() => [...document.querySelectorAll("article div.highlight pre")]
  .filter((code) => code.offsetParent).map((code) => code.scrollWidth > code.clientWidth)"""
SMALL = """() => [...document.querySelectorAll(
    ".course-view :is(button, input, select, summary, a)")]
  .map((node) => [node.getBoundingClientRect(), node.outerHTML.slice(0, 100)])
  .filter(([{ width, height }]) => width && (width < 24 || height < 24)).map(([, html]) => html)"""


def code_cut(browser, site):
    """The share of the chapters' code blocks that must be scrolled sideways at 1,280 pixels."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    cut = []
    for path in (site / "notebooks").glob("[0-9]*.html"):
        page.goto(path.as_uri())
        cut += page.evaluate(CODE)
    page.close()
    return sum(cut) / len(cut)


def small_targets(browser, site):
    """What can be touched in a view of a phone and has fewer than 24 pixels, a line each."""
    page, small = browser.new_page(viewport=PHONE), []
    for path in (site / "notebooks").glob("[0-9]*.html"):
        page.goto(path.as_uri())
        small += [f"{path.stem[:2]}: {html}" for html in page.evaluate(SMALL)]
    page.close()
    return small


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that says nothing, and whose files a browser does not keep by itself."""

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *arguments):
        pass


@contextmanager
def served(site):
    """A server of the site; its address."""
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def slow_page(browser):
    """A page that nothing is kept for, behind a slow line."""
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    line = context.new_cdp_session(page)
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", SLOW)
    yield page
    context.close()


def first_text(browser, site):
    """Seconds until the largest chapter shows text over a slow line: the best of three visits."""
    with served(site) as root:
        largest = max((site / "notebooks").glob("*.html"), key=lambda path: path.stat().st_size)
        paints = []
        for _ in range(3):
            with slow_page(browser) as page:
                page.goto(f"{root}/notebooks/{largest.name}", wait_until="commit")
                lab.comes(page, FIRST_PAINT)
                paints.append(page.evaluate(FIRST_PAINT) / 1000)
    return min(paints)


def first_sentence(browser, site, text, french):
    """Seconds from a visit of the first page until it has translated `text`, over a slow line."""
    with served(site) as root, slow_page(browser) as page:
        start = time.perf_counter()
        page.goto(f"{root}/index.html", wait_until="commit")
        asking = page.get_by_label("Your sentence")
        asking.fill(text)
        asking.press("Enter")
        written = page.locator(".journey-written", has_text=french.split()[1])
        written.wait_for(timeout=120_000)
        return time.perf_counter() - start
