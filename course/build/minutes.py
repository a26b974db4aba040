"""How long a chapter takes: its words, its lines of code, its prompts, its exercises."""

import math
import re

import jupytext

from course.build.notebooks import NOTEBOOKS, select, write_atomically
from tutor.check.bank import chapters, find, number_and_slug, of_chapter, on_page

WORDS_A_MINUTE = 160
SECONDS_A_LINE = 5
MINUTES_A_PROMPT = 1
PROMPT = re.compile(
    r"\*\*(?:Predict|Guess|By hand|Question|Before you read on|Ask yourself|Think|Try)\b"
)
TIME = re.compile(r"(\*\*Time\*\* )\d+ minutes to read(?:, \d+ minutes for the exercises)?")
ROW = re.compile(r"(\((?:notebooks/)?(\w+)\.ipynb\) \|[^|\n]*\| )\d+ \| (?:\d+|–) \|")
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


def write_maps(root=NOTEBOOKS.parent):
    """Write what the texts say of each other: the list of the pages, and the minutes of each."""
    folder, told = root / "notebooks", {}
    for source in select([], folder):
        chapter, _ = number_and_slug(source.stem)
        read = reading_minutes(jupytext.read(source, fmt="md:myst"), chapter)
        told[source.stem] = read, exercise_minutes(chapter)

    def row(found):
        read, exercises = told[found[2]]
        return f"{found[1]}{read} | {exercises or '–'} |"

    changed = {root / "course" / "pages.txt": "".join(f"{name}\n" for name in told)}
    for path in (root / "README.md", *folder.glob("source/*.md"), *folder.glob("*.ipynb")):
        text = ROW.sub(row, path.read_text(encoding="utf-8"))
        if path.stem in told:
            read, exercises = told[path.stem]
            more = f", {exercises} minutes for the exercises" if exercises else ""
            text = TIME.sub(rf"\g<1>{read} minutes to read{more}", text)
        changed[path] = text
    for path, text in changed.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_atomically(path, text)
            print(f"{path.relative_to(root)}: written")


def print_minutes(names):
    """Print, for the chapters whose names begin so (all, if none), their words and minutes."""
    for source in select(names, NOTEBOOKS):
        notebook = jupytext.read(source, fmt="md:myst")
        chapter, _ = number_and_slug(source.stem)
        print(
            f"{source.stem}: {count_words(notebook):,} words, {len(notebook.cells)} cells, "
            f"{reading_minutes(notebook, chapter)} minutes to read, "
            f"{exercise_minutes(chapter)} minutes for the exercises"
        )
