"""The museum of bugs: mistakes that circulate, as code that runs (chapter 12).

`EXHIBITS` maps a name to its Exhibit: the wrong code, the mended code, the test that tells them
apart, and where people make the mistake. `show` and `reveal` display them in a notebook.
"""

import re
from difflib import get_close_matches, unified_diff
from html import escape
from textwrap import wrap

from IPython.display import HTML, display
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Number, Operator, String

from tutor.museum import attention, costs, decoding, layers, learning, pages
from tutor.museum.exhibit import CRASHES, LUCKY, SLOW, SYMPTOMS, WRONG, Exhibit

__all__ = ["CRASHES", "EXHIBITS", "LUCKY", "SLOW", "SYMPTOMS", "WRONG", "Exhibit", "reveal", "show"]

EXHIBITS = {
    thing.name: thing
    for module in (pages, attention, layers, learning, decoding, costs)
    for thing in vars(module).values()
    if isinstance(thing, Exhibit)
}


def show(*names):
    """Display the wrong code of these exhibits, and nothing that gives the mistake away."""
    display(HTML("".join(map(covered, exhibits_named(names)))))


def reveal(*names):
    """Run these exhibits, put them to the test, and display the mistake; the mend is folded."""
    display(HTML("<hr>".join(map(uncovered, exhibits_named(names)))))


def exhibits_named(names):
    """The exhibits of these names. Raises ValueError for a name that is not there."""
    for name in names:
        if name not in EXHIBITS:
            near = get_close_matches(name, EXHIBITS, n=1) or sorted(EXHIBITS)[:1]
            raise ValueError(f"There is no exhibit {name!r}; there is {near[0]!r}, for example.")
    return [EXHIBITS[name] for name in names]


def covered(exhibit):
    """An exhibit as HTML, as a visitor first sees it."""
    return f"<p><b><code>{exhibit.name}</code></b></p>{python_html(exhibit.source('wrong'))}"


def uncovered(exhibit):
    """An exhibit as HTML: the mistake, its story, what happens, the test and the mend."""
    happens = []
    for title, candidate in (("as shown:", exhibit.wrong), ("mended:", exhibit.mended)):
        verdict = "the test passes" if exhibit.passes(candidate) else "the test fails"
        for line in (*exhibit.demonstrate(candidate).splitlines(), verdict):
            for part in wrap(line, width=76, subsequent_indent="  "):
                happens.append(f"{title:11}{part}")
                title = ""
    before, after = (exhibit.source(which).splitlines() for which in ("wrong", "mended"))
    diff = list(unified_diff(before, after, lineterm="", n=len(before)))[3:]  # without its header
    return (
        f"<p><b><code>{exhibit.name}</code>: {text_html(exhibit.mistake)}</b></p>"
        f"<p>{text_html(exhibit.story)}</p>"
        f"<pre>{escape(chr(10).join(happens))}</pre>"
        f"<details><summary>The test and the mend</summary>"
        f"<p>The test: {text_html(exhibit.test)}.</p>{python_html(exhibit.source('check'))}"
        f"<p>The mend:</p>{diff_html(diff)}<p>Seen in: {text_html(exhibit.seen)}.</p></details>"
    )


def text_html(text):
    """Text with `code`, *stress* and [links](https://...) as HTML."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    text = re.sub(r"\*(\w[^*]*)\*", r"<em>\1</em>", text)
    return re.sub(r"\[([^\]]+)\]\((https://[^)\s]+)\)", r'<a href="\2">\1</a>', text)


# How a kind of token is drawn: an element that is seen on every page, and, where the page allows
# it, a colour of the reader's own JupyterLab theme, light or dark.
TOKENS = {
    Keyword: ("b", "keyword"),
    Operator.Word: ("b", "keyword"),
    Comment: ("i", "comment"),
    String: ("span", "string"),
    Number: ("span", "number"),
}


def python_html(code):
    """Python code as HTML: keywords in bold, comments in italics."""
    drawn = []
    for kind, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(code):
        styles = [style for parent, style in TOKENS.items() if kind in parent]
        for element, colour in styles[:1]:
            style = f"color: var(--jp-mirror-editor-{colour}-color)"
            drawn.append(f'<{element} style="{style}">{escape(text)}</{element}>')
        if not styles:
            drawn.append(escape(text))
    return f"<pre>{''.join(drawn)}</pre>"


def diff_html(lines):
    """A diff as HTML: lines that go or come in bold, behind their - or +."""
    drawn = [escape(line) for line in lines]
    return f"<pre>{chr(10).join(f'<b>{d}</b>' if d[0] in '+-' else d for d in drawn)}</pre>"
