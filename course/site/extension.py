"""Our part of Sphinx: formulas, docstrings, links out, and which scripts a page gets."""

import html
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from docutils.nodes import SkipNode

LEAVES = re.compile(r'<a (?=[^>]*href="https?://([^/"]+))')
# Sheets that the first text of a page does not wait for: colours of code, views, extras.
LATE = re.compile("pygments|views/|furo-extensions")

# What a page is to somebody who searches; of a page that is none of these nothing is found.
PAGES_OF = {
    "chapter": re.compile(r"notebooks/\d"),
    "exercise": re.compile("exercises/(?!index)"),
    "exhibit": re.compile("museum/(?!index)"),
    "more": re.compile("notebooks/|reference/|examples/|about"),
}

# The parts of the sidebar; a page is in the first that it matches.
GROUPS = {
    "Chapters": re.compile(r"notebooks/\d"),
    "Beside the chapters": re.compile(r"(?!notebooks/\d)"),
}

WELCOME = (
    "Learn how a Transformer works by building one, from a table of eight embeddings to a working "
    "English-to-French translator, which runs in the page."
)


def setup(app):
    """Called by Sphinx."""
    app.add_config_value("course", {}, "env")  # what write_sources returns
    app.add_html_math_renderer("katex", (inline_formula, None), (formula, None))
    app.connect("builder-inited", dark_code)
    app.connect("autodoc-process-docstring", as_written)
    app.connect("autodoc-skip-member", undocumented)
    app.connect("html-page-context", mend)
    app.connect("html-page-context", sheets_and_scripts)
    app.connect("html-page-context", navigation, priority=100)  # before the theme's
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def dark_code(app):
    """Set what only the theme knows, which is loaded too late for the settings."""
    app.config.pygments_dark_style = "a11y-high-contrast-dark"


def inline_formula(writer, node):
    writer.body.append(f'<span class="tex">{html.escape(node.astext())}</span>')
    raise SkipNode


def formula(writer, node):
    writer.body.append(f'<div class="tex">{html.escape(node.astext())}</div>')
    raise SkipNode


def as_written(app, what, name, obj, options, lines):
    """A docstring as it stands in the code: its first paragraph as text, the rest line by line.

    Ours are written to be read in an editor; read as reStructuredText, shapes and stars would go.
    """
    text = "\n".join(lines).strip()
    first, _, rest = text.partition("\n\n")
    lines[:] = [re.sub(r"([\\`*_|<>:\[\]])", r"\\\1", line.strip()) for line in first.splitlines()]
    if rest.strip():
        lines += ["", "::", "", *(f"    {line}".rstrip() for line in rest.splitlines())]
    page, title = app.config.course.get("built", {}).get(name.rpartition(".")[2], (None, None))
    if page and what in ("class", "function") and name.startswith("tutor."):
        lines += ["", f"Built in chapter :doc:`{title} </notebooks/{page}>`."]
    lines.append("")


def undocumented(app, what, name, obj, skip, options):
    """Of a module all that it defines is shown, with a docstring or without."""
    if what == "module" and callable(obj) and not name.startswith("_"):
        return False


def mend(app, page, template, context, doctree):
    """What Sphinx leaves unsaid, or says in lists that no reader aloud can follow."""
    body = LEAVES.sub(r'<a title="On \1: needs the network" ', context.get("body") or "")
    if page == "_modules/index":  # its inner lists stand in no item
        head, _, items = body.partition("<ul>")
        body = f"{head}<ul>{re.sub('</?ul>', '', items)}</ul>"
    course = app.config.course
    # A section's name goes to its heading, at which a search lands too.
    body = re.sub(
        r'<section( class="[^"]*")? id="([^"]+)">\n(<h[2-6])(?! id)',
        r'<section\1>\n\3 id="\2"',
        body,
    )
    context["repository"], context["version"] = course.get("repository"), course.get("version")
    context["kind"] = next((kind for kind, pages in PAGES_OF.items() if pages.match(page)), None)
    context["description"] = course.get("questions", {}).get(page, WELCOME)
    body = body.replace('<th class="head"><p></p></th>', "<td></td>")
    # what a fold is called is what is seen on it
    context["body"] = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")


def sheets_and_scripts(app, page, template, context, doctree):
    """Give a page the sheets and scripts that it needs and no others."""
    context["comes_late"] = lambda css: LATE.search(str(css.filename))
    context["text_of"] = lambda css: text_of(Path(app.outdir, css.filename))
    body = context["body"]
    views = sorted(set(re.findall(r'data-view="(\w+)"', body)))
    for view in views:
        app.add_css_file(f"views/{view}.css")
        app.add_js_file(f"views/{view}.js", loading_method="defer")
    if "data-model=" in body:
        app.add_js_file("model/model.js", loading_method="defer")
    if page.startswith("exercises/"):
        app.add_js_file("answers.js", loading_method="defer")
    app.add_js_file("site.js", loading_method="defer", priority=900)


@cache
def text_of(sheet):
    """What a sheet says; MyST-NB puts its own in place only when all pages are written."""
    return (sheet if sheet.exists() else files("myst_nb.static") / "mystnb.css").read_text("utf-8")


def navigation(app, page, template, context, doctree):
    """Show in the sidebar all parts, and of each the pages that lead to this one.

    The theme would show every page of the course on every page, and take most of the build for it.
    """
    context.pop("toctree", None)
    children, titles, root = app.env.toctree_includes, app.env.titles, app.config.root_doc
    parents = {child: parent for parent, found in children.items() for child in found}
    way = [page]
    while way[-1] in parents:
        way.append(parents[way[-1]])

    def listed(names, level):
        lines = []
        for name in names:
            here = ' class="current"' * (name in way)
            current = ' aria-current="page"' * (name == page)
            link = html.escape(app.builder.get_relative_uri(page, name))
            title = html.escape(titles[name].astext())
            inner = listed(children.get(name, ()), level + 1) if here else ""
            lines.append(f'<li{here}><a href="{link}"{current}>{title}</a>{inner}</li>')
        return f'<ul class="level-{level}">{"".join(lines)}</ul>' if lines else ""

    def grouped(names):
        for title, inside in GROUPS.items():
            if found := [name for name in names if inside.match(name)]:
                yield f'<p class="caption">{title}</p>{listed(found, 1)}'

    context["course_navigation"] = "".join(grouped(children.get(root, ())))
