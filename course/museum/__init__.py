"""The museum of bugs: mistakes that circulate, as code that runs (chapter 15).

`EXHIBITS` maps a name to its Exhibit: the wrong code, the mended code, the test that tells them
apart, and where people make the mistake. `show` displays them in a notebook.
"""

import re
from difflib import get_close_matches, unified_diff
from html import escape
from textwrap import wrap

from IPython.display import HTML, display
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Number, Operator, String

from course.museum import (
    attention,
    building,
    costs,
    decoding,
    layers,
    learning,
    modern,
    pages,
    rewards,
)
from course.museum.exhibit import CRASHES, LUCKY, SLOW, SYMPTOMS, WRONG, Exhibit

__all__ = ["CRASHES", "EXHIBITS", "LUCKY", "SLOW", "SYMPTOMS", "WRONG", "Exhibit", "show"]

EXHIBITS = {
    thing.name: thing
    for module in (pages, attention, layers, building, learning, decoding, costs, modern, rewards)
    for thing in vars(module).values()
    if isinstance(thing, Exhibit)
}


def show(*names):
    """Display the code of these exhibits. All that gives the mistake away is folded below it."""
    display(HTML("<hr>".join(map(as_html, exhibits_named(names)))))


def exhibits_named(names):
    """The exhibits of these names. Raises ValueError for a name that is not there."""
    for name in names:
        if name not in EXHIBITS:
            near = get_close_matches(name, EXHIBITS, n=1) or sorted(EXHIBITS)[:1]
            raise ValueError(f"There is no exhibit {name!r}; there is {near[0]!r}, for example.")
    return [EXHIBITS[name] for name in names]


def as_html(exhibit):
    """An exhibit as HTML: its code, and folded what happens, the test, the mistake and the mend."""
    before, after = (exhibit.source(which).splitlines() for which in ("wrong", "mended"))
    diff = list(unified_diff(before, after, lineterm="", n=len(before)))[3:]  # without its header
    return (
        f"<p><b><code>{exhibit.name}</code></b></p>{python_html(exhibit.source('wrong'))}"
        + fold("What happens", as_lines(exhibit.demonstrate(exhibit.wrong)))
        + fold(
            "A test that catches it",
            f"<p>{text_html(exhibit.test)}.</p>{python_html(exhibit.source('check'))}",
            as_lines("\n".join(f"{who}: {v}" for who, v in verdicts(exhibit).items())),
        )
        + fold(
            "The mistake and its mend",
            f"<p><b>{text_html(exhibit.mistake)}</b> {text_html(exhibit.story)}</p>",
            diff_html(diff),
            as_lines(f"mended: {exhibit.demonstrate(exhibit.mended)}"),
            f"<p>Seen in: {text_html(exhibit.seen)}.</p>",
        )
    )


def fold(summary, *parts):
    """HTML that is closed until a reader opens it, wherever the page is shown."""
    return f"<details><summary>{summary}</summary>{''.join(parts)}</details>"


def as_lines(text):
    """Printed text as HTML, in lines of at most 80 letters."""
    wrapped = (wrap(line, width=80, subsequent_indent="  ") for line in text.splitlines())
    return f"<pre>{escape(chr(10).join(part for parts in wrapped for part in parts))}</pre>"


def verdicts(exhibit):
    """What the test says of the code as shown, and of the mended code."""
    candidates = {"as shown": exhibit.wrong, "mended": exhibit.mended}
    return {
        who: "the test passes" if exhibit.passes(candidate) else "the test fails"
        for who, candidate in candidates.items()
    }


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
