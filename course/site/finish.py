"""What is left when Sphinx is done: old addresses lead on, and all works without network."""

import hashlib
import json
import os
from html import escape
from pathlib import Path

from course.build.node import run
from course.build.notebooks import BuildError
from course.site.bank import render

HERE = Path(__file__).parent
# What is not kept at the first visit: by its folder, and by the end of its name.
KEPT_WHEN_SEEN = ("_modules/", "pagefind/")
LEFT_OUT = (".map", ".inv", ".buildinfo", ".ipynb")


def moved():
    """The addresses that pages had and those that they have now, as moved.txt lists them."""
    lines = (HERE / "moved.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def lead_on(site):
    """Write at each old address a page that leads to the new one.

    Raises:
        BuildError: a page is at the old address, or none at the new one.
    """
    for old, new in moved().items():
        here, there = site / old, site / new
        if here.exists() or not there.is_file():
            raise BuildError(f"moved.txt leads from {old} to {new}: the first must be no page "
                             "of the site, the second must be one.")  # fmt: skip
        here.parent.mkdir(parents=True, exist_ok=True)
        link = escape(Path(os.path.relpath(there, here.parent)).as_posix())
        here.write_text(render("moved.html", link=link), encoding="utf-8")


def index(site):
    """Write what Pagefind searches over http: the articles that say their kind."""
    run("pagefind", "--site", site, "--exclude-selectors", ".tex, .headerlink, .toctree-wrapper")


def keep_offline(site):
    """Write `offline.js` at the root of the site, above all that it keeps."""
    (site / "_static" / "offline.js").unlink()
    run(
        "esbuild",
        HERE / "static" / "offline.js",
        "--bundle",
        "--minify",
        f"--outfile={site}/offline.js",
    )
    files, hashes = [], {}
    for path in sorted(site.rglob("*")):
        url = path.relative_to(site).as_posix()
        if not path.is_file() or url == "offline.js":
            continue
        revision = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        if url.endswith("weights.js"):
            hashes[url] = revision
        elif not url.startswith(KEPT_WHEN_SEEN) and not url.endswith(LEFT_OUT):
            files.append({"url": url, "revision": revision})
    worker = site / "offline.js"
    lists = f"self.keepFiles={json.dumps(files)};self.weightsHashes={json.dumps(hashes)};\n"
    worker.write_text(lists + worker.read_text("utf-8"), encoding="utf-8")
