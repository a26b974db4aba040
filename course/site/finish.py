"""What is left when Sphinx is done: text comes first, links out say so, all works offline."""

import hashlib
import json
import re
from pathlib import Path

OUTSIDE = re.compile(r'<a (?P<rest>[^>]*href="https?://(?P<host>[^/"]+)[^>]*)>')
# What the theme and Sphinx leave unsaid for readers who listen.
MENDED = {
    '<aside class="sidebar-drawer"': '<aside class="sidebar-drawer" aria-label="The course"',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
    '<th class="head"><p></p></th>': "<td></td>",
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
}
# Sheets that the first text of a page does not wait for: colours of code, views, extras.
LATE = re.compile(r'\s*<link rel="stylesheet"[^>]*/(?:pygments|views/|furo-extensions)[^>]*>')
SHEET = re.compile(r'<link rel="stylesheet"[^>]* href="\.\./(_static/[^"?]+)[^>]*>')
UNUSED = "/* Font colors for 8-bit ANSI */"  # in MyST-NB's sheet, to its end: 32 of 43 kB
LEFT_OUT = (".map", ".inv", ".buildinfo", ".ipynb", "weights.js")  # not kept at the first visit


def finish(site):
    """Go over the pages of the built site, and write `offline.js` at its root."""
    for path in (site / "_static").glob("mystnb.*.css"):
        used = path.read_text(encoding="utf-8").partition(UNUSED)[0]
        path.write_text(used, encoding="utf-8")
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for theirs, ours in MENDED.items():
            text = text.replace(theirs, ours)
        late = "".join(LATE.findall(text))
        text = LATE.sub("", text).replace("</body>", f"{late}\n</body>")
        if path.parent.name == "notebooks":
            text = with_sheets(text, site)
        path.write_text(OUTSIDE.sub(needs_network, text), encoding="utf-8")
    flatten(site / "_modules" / "index.html")
    worker = (Path(__file__).parent / "static" / "offline.js").read_text(encoding="utf-8")
    (site / "_static" / "offline.js").unlink()  # it must lie above all that it keeps
    files, digest = [], hashlib.sha256()
    for path in sorted(site.rglob("*")):
        if path.is_file() and not path.name.endswith(LEFT_OUT):
            files.append(path.relative_to(site).as_posix())
            digest.update(files[-1].encode() + path.read_bytes())
    version = f"course {digest.hexdigest()[:12]}"
    text = f"const VERSION = {json.dumps(version)};\nconst FILES = {json.dumps(files)};\n{worker}"
    (site / "offline.js").write_text(text, encoding="utf-8")


def with_sheets(text, site):
    """A long page with its sheets in it: beside it, they would share a slow line with all of it."""
    head, end, body = text.partition("</head>")
    head = SHEET.sub(lambda link: f"<style>{(site / link[1]).read_text('utf-8')}</style>", head)
    return head + end + body


def flatten(path):
    """Make one list of Sphinx's list of modules, whose inner lists stand in no item."""
    head, _, rest = path.read_text(encoding="utf-8").partition("<ul><li>")
    items, _, foot = rest.partition("</article>")
    items, _, after = re.sub("</?ul>", "", items).rpartition("</li>")
    text = f"{head}<ul><li>{items}</li></ul>{after}</article>{foot}"
    path.write_text(text, encoding="utf-8")


def needs_network(link):
    """A link that leads out of the site, with a class and a title that say so."""
    rest = link["rest"]
    if 'class="' in rest:
        rest = rest.replace('class="', 'class="outside ', 1)
    else:
        rest += ' class="outside"'
    if 'title="' not in rest:
        rest += f' title="On {link["host"]}: needs the network"'
    return f"<a {rest}>"
