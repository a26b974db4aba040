"""What is left when Sphinx is done: old addresses lead on, and all works without network."""

import hashlib
import json
import os
from html import escape
from pathlib import Path

from course.build.notebooks import BuildError
from course.site.bank import render

HERE = Path(__file__).parent
LEFT_OUT = (".map", ".inv", ".buildinfo", ".ipynb", "weights.js")  # not kept at the first visit


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


def keep_offline(site):
    """Write `offline.js` at the root of the site, above all that it keeps."""
    worker = (HERE / "static" / "offline.js").read_text(encoding="utf-8")
    (site / "_static" / "offline.js").unlink()
    files, contents = [], hashlib.sha256()
    for path in sorted(site.rglob("*")):
        if path.is_file() and not path.name.endswith(LEFT_OUT):
            files.append(path.relative_to(site).as_posix())
            contents.update(files[-1].encode() + path.read_bytes())
    version = f"course {contents.hexdigest()[:12]}"
    text = f"const VERSION = {json.dumps(version)};\nconst FILES = {json.dumps(files)};\n{worker}"
    (site / "offline.js").write_text(text, encoding="utf-8")
