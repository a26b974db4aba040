"""How long the pages are, and how they read: `python tests/benchmarks/pages.py [02 03]`.

A row a page: words of the main line, cells, prompts, folds; then the mean length of its sentences,
the share under seven words, and the joints (because, so that, ...) in 1,000 words. The last line is
one JSON object with the sums.
"""

import json
import re
import sys
from pathlib import Path

import nbformat

from course.build.minutes import FOLD, PROMPT, count_words, main_line

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
JOINTS = re.compile(
    r"\b(because|since|so that|therefore|for example|for instance|that is|which is why|although|"
    r"while|whereas|however|instead|as soon as|until|unless|if|then|hence|thus)\b",
    re.I,
)


def sentences(text):
    """The sentences of the paragraphs and lists of a page; tables, headings and pictures go."""
    lines = [line for line in text.splitlines() if not re.match(r"\s*(\||#|!\[|<)", line)]
    text = re.sub(r"[*_]|^\s*(?:[-+]|\d+\.)\s", "", "\n".join(lines), flags=re.M)
    found = re.split(r"(?<=[.!?:])[\"')]*\s+|\n\s*\n", text)
    return [s.split() for s in found if len(s.split()) > 1]


def measure(path):
    """A dict of what is counted on a page."""
    notebook = nbformat.read(path, as_version=4)
    text = main_line(notebook)
    whole = "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    lengths = [len(sentence) for sentence in sentences(text)]
    words = count_words(notebook)
    return {
        "words": words,
        "cells": len(notebook.cells),
        "prompts": len(PROMPT.findall(text)) - 1,
        "folds": len(FOLD.findall(whole)),
        "mean": round(sum(lengths) / len(lengths), 1),
        "short": round(sum(n < 7 for n in lengths) / len(lengths), 2),
        "joints": round(1000 * len(JOINTS.findall(text)) / words, 1),
    }


def main():
    beginnings = tuple(sys.argv[1:]) or ("",)
    pages = [p for p in sorted(NOTEBOOKS.glob("*.ipynb")) if p.name.startswith(beginnings)]
    rows = {page.stem: measure(page) for page in pages}
    print(f"{'':28}", *(f"{name:>8}" for name in rows[pages[0].stem]))
    for name, row in rows.items():
        print(f"{name:28}", *(f"{value:8}" for value in row.values()))
    print(json.dumps({"pages": len(rows), "words": sum(row["words"] for row in rows.values())}))


if __name__ == "__main__":
    main()
