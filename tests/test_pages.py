"""The pages as a browser lays them out: no long stretch without a picture, none without alt."""

import nbformat
import pytest
from house_rules import MIN_ALT, NOTEBOOKS
from nbconvert import HTMLExporter
from nbconvert.preprocessors import TagRemovePreprocessor
from traitlets.config import Config

SCREEN, SCREENS, WIDTH = 1000, 4, 1100  # pixels
PICTURE = 80  # pixels; what is lower is a badge or a rule
PAGES = sorted(NOTEBOOKS.glob("*.ipynb"))

# Top and bottom of every picture, and where the main line ends: at the summary.
MEASURE = """() => {
  const place = (element) => { const box = element.getBoundingClientRect();
    return [box.top + scrollY, box.bottom + scrollY]; };
  const pictures = [...document.querySelectorAll('img, main svg, .jp-OutputArea svg')].map(place);
  const summary = [...document.querySelectorAll('h2')].find(h => h.innerText.startsWith('Summary'));
  return [pictures, summary ? place(summary)[0] : document.documentElement.scrollHeight];
}"""


# nbconvert gives this to a picture that has no alt of its own.
NO_ALT = "No description has been provided for this image"
ALTS = """() => [...document.querySelectorAll('.jp-OutputArea img')]
  .map(picture => picture.getAttribute('alt') || '')"""


def as_html(path):
    """The page as HTML with folded cells folded, without scripts and anything from elsewhere."""
    config = Config()
    config.HTMLExporter.preprocessors = [TagRemovePreprocessor(remove_input_tags={"hide-input"})]
    exporter = HTMLExporter(config=config, mathjax_url="", require_js_url="", jquery_url="")
    html = exporter.from_notebook_node(nbformat.read(path, as_version=4))[0]
    images = (path.parent.parent / "images").as_uri()  # nbconvert embeds nothing from above
    return html.replace('src="../images/', f'src="{images}/')


def gaps(pictures, end):
    """Lengths, in screens, of the stretches of a page that show no picture."""
    found, here = [], 0
    for top, bottom in sorted(pictures):
        if bottom - top >= PICTURE and top < end:
            found.append(max(0, top - here) / SCREEN)
            here = max(here, bottom)
    return [*found, max(0, end - here) / SCREEN]


def test_gaps():
    assert gaps([], 5000) == [5]
    assert gaps([(3000, 3010), (1000, 1400), (4400, 4600), (9000, 9900)], 5000) == [1, 3, 0.4]


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_pictures_come_often_and_with_alt(path, browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(as_html(path), encoding="utf-8")
    page = browser.new_page(viewport={"width": WIDTH, "height": SCREEN})
    page.route("**/*", lambda route, request: (
        route.continue_() if request.url.startswith(("file:", "data:")) else route.abort()
    ))  # fmt: skip
    page.goto(file.as_uri())
    lengths = gaps(*page.evaluate(MEASURE))
    alts = page.evaluate(ALTS)
    page.close()
    assert [alt for alt in alts if len(alt) < MIN_ALT or alt == NO_ALT] == []
    assert max(lengths) <= SCREENS, " ".join(f"{length:.1f}" for length in lengths)
