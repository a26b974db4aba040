"""How good the site is, page by page, and how far its model is from the one in PyTorch.

    python tests/benchmarks/site.py [--sentences 1000]

Builds the site and visits every page in Debian's Chromium; what it finds wrong goes to standard
error, and the exit status is 1. Then compares on the built-in corpus, and on Multi30k's test
captions where they are. The last line is one JSON object.
"""

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from course.site.write import write_site
from tutor.models import PRETRAINED, load_pretrained, small
from tutor.text.grammar import generate_pairs
from tutor.text.multi30k import load_multi30k

sys.path.insert(0, str(Path(__file__).parents[1]))

import lab  # noqa: E402
import machines  # noqa: E402
import site_walk  # noqa: E402
from page_model import PageModel, equal, logits_difference, write_page  # noqa: E402

KINDS = (
    "outside_requests", "axe_violations", "console_errors", "dead_links", "dead_views", "too_wide",
)  # fmt: skip
SENTENCE = "A man is riding a white horse on the beach."
OWN = "Two cats are sleeping."
STOPWATCH = """async (text) => {
  const began = performance.now();
  await model.translate([text]);
  return performance.now() - began;
}"""


def measure(browser, sentences, folder):
    """The numbers, pair by pair; so many `sentences` are compared of each corpus."""
    translator = load_pretrained()
    page = opened(browser, folder / "shipped", PRETRAINED)
    yield "first_translate_ms", page.page.evaluate(STOPWATCH, SENTENCE)  # with the loading
    times = [page.page.evaluate(STOPWATCH, SENTENCE) for _ in range(20)]
    yield "translate_ms", statistics.median(times)
    yield "model_megabytes", (folder / "shipped" / "weights.js").stat().st_size / 1e6
    builtin = [pair.english for pair in generate_pairs("test", sentences)]
    difference, size = logits_difference(page, translator, builtin[:200])
    yield "logits_difference", difference
    yield "logits_size", size
    yield "translations_equal", equal(page, translator, builtin)
    yield "beams_equal", equal(page, translator, builtin[:100], beams=5)
    other = opened(browser, folder / "small", Path(small.__file__).with_name("seed0"))
    yield "small_translations_equal", equal(other, small.load_small(0), builtin)
    try:
        captions, _ = load_multi30k("test_2016_flickr")
    except OSError:  # no file and no network
        print("Multi30k is not here: only the built-in corpus was compared.", file=sys.stderr)
        return
    yield "multi30k_logits_difference", logits_difference(page, translator, captions[:200])[0]
    yield "multi30k_translations_equal", equal(page, translator, captions[:sentences])
    yield "multi30k_beams_equal", equal(page, translator, captions[:100], beams=5)


def measure_site(browser, out):
    """The numbers of the pages, pair by pair."""
    start = time.perf_counter()
    write_site(out)
    yield "build_s", time.perf_counter() - start
    paths = site_walk.pages(out)
    yield "pages", len(paths)
    found, kilobytes = site_walk.walk(browser, out, paths, lab.axe(), paths)
    found["dead_links"] = site_walk.dead_links(out)
    for kind in KINDS:
        print(*found[kind], sep="\n", end="", file=sys.stderr)
        yield kind, len(found[kind])
    yield "page_kilobytes", max(kilobytes.values())
    yield "code_cut", site_walk.code_cut(browser, out)
    labels = [line for line in found["axe_violations"] if "label-content-name-mismatch" in line]
    yield "label_mismatches", len(labels)
    small = site_walk.small_targets(browser, out)
    print(*small, sep="\n", end="", file=sys.stderr)
    yield "touch_targets_small", len(small)
    with site_walk.served(out) as address:
        page = browser.new_page()
        yield "search_right", len(site_walk.TAUGHT) - len(site_walk.not_found(page, address))
    yield "first_text_s", site_walk.first_text(browser, out)
    french = load_pretrained().translate([OWN])[0]
    yield "first_sentence_s_slow", site_walk.first_sentence(browser, out, OWN, french)
    yield "first_screen_interactive", passes("test_the_first_screen_is_the_model_itself")
    yield "update_offline_ok", passes("test_read_once_then_without_network or new_version")


def passes(tests):
    """1 if these tests of the site pass, which take a site of their own; else 0."""
    ran, failed = machines.run_pytest("-n0", "tests/test_site.py", "-k", tests)
    print(*failed, sep="\n", end="", file=sys.stderr)
    return int(ran > 0 and not failed)


def opened(browser, folder, model):
    folder.mkdir()
    return PageModel(browser, write_page(folder, model).as_uri())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=1000, help="of each corpus")
    sentences = parser.parse_args().sentences
    result = {"sentences": sentences}
    with lab.chromium() as browser, tempfile.TemporaryDirectory() as folder:
        if browser is None:
            sys.exit("Debian's Chromium is not installed.")
        found = (
            measure_site(browser, Path(folder, "site")),
            measure(browser, sentences, Path(folder)),
        )
        for name, value in itertools.chain(*found):
            result[name] = float(f"{value:.3g}") if isinstance(value, float) else value
            print(name, result[name], file=sys.stderr, flush=True)
    print(json.dumps(result))
    return 1 if any(result[kind] for kind in KINDS) else 0


if __name__ == "__main__":
    sys.exit(main())
