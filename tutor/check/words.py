"""Words for the learner: Markdown in a notebook, plain text everywhere else."""

import re

from IPython.display import display

SIGNS = {
    "sqrt": "√", "cdot": "·", "times": "×", "infty": "∞", "top": "T", "sigma": "σ", "alpha": "α",
    "varepsilon": "ε", "text": "", "ln": "ln", "log": "log",
}  # fmt: skip


class Words:
    """A text in Markdown that can be read on a terminal too."""

    def __init__(self, markdown):
        self.markdown = markdown

    def __repr__(self):
        return plain(self.markdown)

    def _repr_markdown_(self):
        return self.markdown


def show(markdown):
    display(Words(markdown))


def plain(markdown):
    """A text in Markdown without its marks; code keeps its backquotes, formulas become letters."""
    parts = re.split(r"(`[^`]*`|\$[^$]*\$)", markdown)  # text, then code or formula, in turn
    said = [re.sub(r"(\*\*?)(\S|\S.*?\S)\1", r"\2", part) for part in parts[::2]]
    marked = [part if part[0] == "`" else plain_formula(part[1:-1]) for part in parts[1::2]]
    return "".join(x for pair in zip(said, [*marked, ""], strict=True) for x in pair)


def plain_formula(latex):
    """`\\sqrt{d_k}` as √d_k; whatever has no sign here keeps its name."""
    latex = re.sub(r"\s*\\[,;:! ]\s*", " ", latex)
    latex = re.sub(r"\\(sqrt|text)\s*(?=\{)", lambda m: SIGNS[m[1]], latex)
    latex = re.sub(r"\\([a-zA-Z]+)", lambda m: SIGNS.get(m[1], m[1]), latex)
    latex = re.sub(r"\{(\w+)\}", r"\1", latex)  # a name or a number needs no brackets
    return latex.replace("{", "(").replace("}", ")")
