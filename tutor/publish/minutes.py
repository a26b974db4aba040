"""How long a chapter takes: its words, its lines of code, its prompts, its exercises."""

import math
import re

import jupytext

from tutor.check.bank import chapters, find, of_chapter, on_page
from tutor.publish.notebooks import NOTEBOOKS, select

WORDS_A_MINUTE = 160
SECONDS_A_LINE = 5
MINUTES_A_PROMPT = 1
PROMPT = re.compile(
    r"\*\*(?:Predict|Guess|By hand|Question|Before you read on|Ask yourself|Think|Try)\b"
)
FOLD = re.compile(r"<details>.*?</details>", re.S)


def prose(text):
    """The words of a text in Markdown: without code, formulas and comments; line breaks kept."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1", "", text, flags=re.M | re.S)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"(?<!\\)\$[^$\n]+\$|`+[^`]+`+", "x", text)  # a formula counts as one word
    return re.sub(r"(!?\[[^\]]*\])\([^)]*\)", r"\1", text)


def main_line(notebook):
    """The prose of all text cells, without what is folded."""
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return prose(FOLD.sub("", text))


def count_words(notebook):
    """Words of the main line."""
    return sum(bool(re.search(r"\w", word)) for word in main_line(notebook).split())


def reading_minutes(notebook, chapter):
    """Minutes to read a page and to write what it asks for, rounded up to a multiple of 5."""
    shown = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code"
        and not {"you-write", "hide-input"} & {*cell.metadata.get("tags", [])}
    ]
    lines = sum(bool(line.strip()) for cell in shown for line in cell.source.splitlines())
    prompts = len(PROMPT.findall(main_line(notebook))) - 1  # the opening asks the page's question
    minutes = count_words(notebook) / WORDS_A_MINUTE + lines * SECONDS_A_LINE / 60
    minutes += max(prompts, 0) * MINUTES_A_PROMPT
    if chapter in chapters():
        minutes += sum(find(name).minutes for name in on_page(chapter))
    return 5 * math.ceil(minutes / 5)


def exercise_minutes(chapter):
    """Minutes that the exercise notebook of a chapter takes; 0 if it has none."""
    if chapter not in chapters():
        return 0
    return sum(exercise.minutes for exercise in of_chapter(chapter))


def print_minutes(names):
    """Print, for the chapters whose names begin so (all, if none), their words and minutes."""
    for source in select(names, NOTEBOOKS):
        notebook = jupytext.read(source, fmt="md:myst")
        chapter = source.stem[:2]
        print(
            f"{source.stem}: {count_words(notebook):,} words, {len(notebook.cells)} cells, "
            f"{reading_minutes(notebook, chapter)} minutes to read, "
            f"{exercise_minutes(chapter)} minutes for the exercises"
        )
