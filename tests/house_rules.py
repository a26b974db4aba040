"""The rules of the house that a machine can hold, one function each.

A rule takes a `Page` and returns one sentence for every place that breaks it, none for a good page.
Cells are counted from 0, all kinds together, as in the error messages of `course.build`.
"""

import ast
import difflib
import io
import re
import tokenize
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median

import jupytext
import nbformat

from course.build.minutes import count_words, exercise_minutes, prose, reading_minutes
from tutor.check.bank import chapters as chapters_with_exercises
from tutor.check.bank import find, on_page

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
UNCOMPARED = {"nbval-skip", "nbval-ignore-output"}
SYMBOL_TABLE = "| symbol | code | shape | meaning |"
SYMBOLS = NOTEBOOKS / "symbols.md"  # the one table of the course
SECTIONS = ("What can go wrong", "Summary", "Your turn", "Sources", "Symbols")
MAX_LINES, MEDIAN_LINES, MAX_WORDS, MIN_ALT, MAX_BYTES = 25, 8, 35, 30, 1_000_000
PAGE_WORDS, COURSE_WORDS, PAGE_CELLS, SUMMARY_LINES = 2_200, 45_000, 48, 6


@dataclass
class Page:
    """A notebook and what the rules need to know of its surroundings."""

    notebook: nbformat.NotebookNode
    name: str = "02_example"
    text: str = ""  # its MyST source
    folder: Path = NOTEBOOKS  # where its links start
    chapters: list[str] = field(default_factory=list)  # the names of all chapters, in order

    @classmethod
    def load(cls, path: Path) -> "Page":
        source = path.parent / "source" / f"{path.stem}.md"
        return cls(
            notebook=nbformat.read(path, as_version=4),
            name=path.stem,
            text=source.read_text(encoding="utf-8") if source.exists() else "",
            folder=path.parent,
            chapters=chapters(),
        )

    @property
    def chapter(self) -> str:
        return self.name.partition("_")[0]

    @property
    def is_start(self) -> bool:
        return self.name.startswith("00")

    def cells(self, kind: str):
        return [(i, c) for i, c in enumerate(self.notebook.cells) if c.cell_type == kind]


def chapters() -> list[str]:
    """The names of the notebooks that are there, in order."""
    return sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))


def tags(cell) -> set[str]:
    return set(cell.metadata.get("tags", []))


def comparison(notebook) -> tuple[int, int]:
    """How many code cells nbval compares strictly, and how many are tagged out."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    out = sum(bool(tags(cell) & UNCOMPARED) for cell in code)
    return len(code) - out, out


# ---- what is executed


def same_as_text(page: Page) -> list[str]:
    """The notebook holds the cells of its text: kind, source and tags."""
    text = jupytext.reads(page.text, fmt="md:myst")
    here, there = (
        [(c.cell_type, c.source.strip(), sorted(tags(c))) for c in nb.cells]
        for nb in (page.notebook, text)
    )
    for i, (cell, wanted) in enumerate(zip(here, there, strict=False)):
        if cell != wanted:
            return [f"cell {i} differs from the text; run python -m course.build {page.name}"]
    if len(here) != len(there):
        return [f"{len(here)} cells, but {len(there)} in the text; run python -m course.build"]
    return []


def executed_in_order(page: Page) -> list[str]:
    """Every code cell was executed, from top to bottom, in one go, and none is empty."""
    return [
        f"cell {i} has execution count {cell.execution_count}, expected {count}"
        for count, (i, cell) in enumerate(page.cells("code"), start=1)
        if cell.execution_count != count
    ]


def no_errors(page: Page) -> list[str]:
    """Only cells tagged `raises-exception` end in an error, and those do."""
    said = []
    for i, cell in page.cells("code"):
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed and "raises-exception" not in tags(cell):
            said.append(f"cell {i} ends in an error; mend it or tag it raises-exception")
        if not failed and "raises-exception" in tags(cell):
            said.append(f"cell {i} is tagged raises-exception but raises nothing")
    return said


def compared(page: Page) -> list[str]:
    """A cell that is not compared says why: `# not compared: <reason>`."""
    said = []
    for i, cell in page.cells("code"):
        if tags(cell) & UNCOMPARED and not re.search(r"# not compared: \w+", cell.source):
            said.append(f"cell {i} is tagged out without a comment `# not compared: <reason>`")
        if re.search(r"^\s*#\s*(NBVAL|PYTEST_VALIDATE)_", cell.source, re.M):
            said.append(f"cell {i} steers nbval with a comment; use a tag, which is counted")
    return said


def nbval_can_follow(page: Page) -> list[str]:
    """None of the forms whose output nbval reads otherwise than Jupyter shows it."""
    said = []
    for i, cell in page.cells("code"):
        if cell.source.rstrip().endswith(";"):
            said.append(f"cell {i} ends with ';', which nbval ignores; assign the value to `_`")
        if re.search(r"\b(Output|interact|interact_manual|interactive_output)\(", cell.source):
            said.append(f"cell {i} prints into a widget, which nbval cannot compare")
    return said


# ---- the shape of the page


def short_cells(page: Page) -> list[str]:
    """At most 25 non-blank lines in a code cell, and at most 8 in the median cell."""
    lengths = [
        (i, sum(bool(line.strip()) for line in cell.source.splitlines()))
        for i, cell in page.cells("code")
    ]
    said = [f"cell {i} has {n} lines, at most {MAX_LINES}" for i, n in lengths if n > MAX_LINES]
    if lengths and median(n for _, n in lengths) > MEDIAN_LINES:
        said.append(f"the median code cell is longer than {MEDIAN_LINES} lines")
    return said


def prose_between(page: Page) -> list[str]:
    """No two code cells without prose between them, but a stub and its folded answer."""
    cells = page.notebook.cells
    return [
        f"cells {i} and {i + 1} are code with no prose between them"
        for i, (one, other) in enumerate(zip(cells, cells[1:], strict=False))
        if one.cell_type == other.cell_type == "code"
        and not ("you-write" in tags(one) and "hide-input" in tags(other))
    ]


def space_after_folds(page: Page) -> list[str]:
    """No text stands directly behind a fold in one cell: JupyterLab leaves no space there."""
    return [
        f"cell {i} goes on behind a fold; begin a new cell there (+++)"
        for i, cell in page.cells("markdown")
        if re.search(r"</details>\s*\n(?!#|<details)\S", cell.source)
    ]


def folded(page: Page) -> list[str]:
    """A cell with the tag `hide-input` is folded in JupyterLab too."""
    return [
        f"cell {i} has the tag hide-input and is not folded; build it with python -m course.build"
        for i, cell in page.cells("code")
        if ("hide-input" in tags(cell))
        != (cell.metadata.get("jupyter", {}).get("source_hidden") is True)
    ]


def places_to_write(page: Page) -> list[str]:
    """Stubs are asked for, untouched, and answered at once; 01 to 08, 13, 15, 16 have two or more.

    The text before asks with **You write it:**. The stub, tagged `you-write`, holds `...` and ends
    with `check.name(name)`; its output says that nothing is written yet. The next cell, tagged
    `hide-input`, has the code of the exercise's solution, docstrings aside.
    """
    cells, said, names = page.notebook.cells, [], []
    for i, cell in page.cells("code"):
        if "you-write" not in tags(cell):
            continue
        call = re.fullmatch(r"check\.(\w+)\(\1\)", cell.source.strip().splitlines()[-1])
        if not call or "..." not in cell.source:
            said.append(f"cell {i} has no `...` or does not end with check.name(name)")
            continue
        name = call[1]
        names.append(name)
        if cells[i - 1].cell_type != "markdown" or "**You write it:**" not in cells[i - 1].source:
            said.append(f"cell {i} is not asked for with **You write it:**")
        if not "".join(o.get("text", "") for o in cell.outputs).startswith(NOT_WRITTEN):
            said.append(f"cell {i} does not say {NOT_WRITTEN!r}")
        answer = cells[i + 1] if i + 1 < len(cells) else None
        if answer is None or "hide-input" not in tags(answer):
            said.append(f"cell {i} has no folded answer directly after it")
        elif name in on_page(page.chapter) and bare(answer.source) != bare(find(name).solution):
            said.append(f"cell {i + 1} differs from the solution of the exercise {name}")
    wanted = on_page(page.chapter) if page.chapter in chapters_with_exercises() else ()
    if sorted(names) != sorted(wanted):
        said.append(f"the page has the stubs {names}, but ON_PAGE names {list(wanted)}")
    if "01" <= page.chapter[:2] <= "22" and len(names) < 2:
        said.append(f"{len(names)} places to write, at least 2 are wanted")
    return said


def bare(source: str) -> str:
    """The code of a cell without its docstrings and comments."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


NOT_WRITTEN = "Not yet. This is not written yet"


def length(page: Page) -> list[str]:
    """At most 2,200 words outside folds, 48 cells, and a summary of six lines."""
    words, cells = count_words(page.notebook), len(page.notebook.cells)
    text = "\n".join(cell.source for _, cell in page.cells("markdown"))
    summary = re.search(r"^## Summary\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    lines = len(re.findall(r"^- ", summary[1], re.M)) if summary else 0
    said = [f"{words:,} words, at most {PAGE_WORDS:,}"] if words > PAGE_WORDS else []
    said += [f"{cells} cells, at most {PAGE_CELLS}"] if cells > PAGE_CELLS else []
    said += [f"a summary of {lines} lines, at most 6"] if lines > SUMMARY_LINES else []
    return said


def minutes(page: Page) -> list[str]:
    """The opening cell names the minutes that `python -m course.build minutes` computes."""
    wanted = f"{reading_minutes(page.notebook, page.chapter)} minutes to read, "
    if exercise_minutes(page.chapter):
        wanted += f"{exercise_minutes(page.chapter)} minutes for the exercises, "
    if f"**Time** {wanted}" not in page.notebook.cells[0].source:
        return [f"the opening cell does not say **Time** {wanted}"]
    return []


def opening(page: Page) -> list[str]:
    """The opening cell: one H1, then paragraphs that begin as below, then the neighbours' links.

    **Question.** ...            the question that the chapter answers
    **You will be able to**      followed by a list of 3 to 5 items, `- verb ...`
    **You need** ...             what the chapter assumes
    **Time** ...                 minutes to read, and seconds (or minutes) to run on a CPU
    [...](NN_previous.ipynb) and [...](NN_next.ipynb), where there are such chapters
    """
    cell = page.notebook.cells[0] if page.notebook.cells else None
    if cell is None or cell.cell_type != "markdown":
        return ["the first cell is not text"]
    said = []
    titles = [
        i for i, c in page.cells("markdown") for _ in re.findall(r"^# .+", prose(c.source), re.M)
    ]
    if titles != [0]:
        said.append(f"one H1 is wanted, in cell 0; there are H1 in cells {titles}")
    for start in ("**Question.**", "**You will be able to**", "**You need**", "**Time**"):
        if not re.search("^" + re.escape(start), cell.source, re.M):
            said.append(f"the opening cell has no line that begins with {start}")
    able = cell.source.partition("**You will be able to**")[2].partition("**You need**")[0]
    items = len(re.findall(r"^[-*] ", able, re.M))
    if not 3 <= items <= 5:
        said.append(f"the opening cell lists {items} things to be able to do, 3 to 5 are wanted")
    time = re.search(r"^\*\*Time\*\*.*?(?:\n\s*\n|\Z)", cell.source, re.M | re.S)
    if time and not re.search(r"\d+ min\w* to read.*\d+ (s|min)\w* to run", time[0], re.S):
        said.append("**Time** does not say '<n> minutes to read' and '<n> seconds to run'")
    if page.name in page.chapters:
        at = page.chapters.index(page.name)
        for neighbour in page.chapters[max(at - 1, 0) : at] + page.chapters[at + 1 : at + 2]:
            if f"]({neighbour}.ipynb)" not in cell.source:
                said.append(f"the opening cell does not link to its neighbour {neighbour}.ipynb")
    return said


def symbol_table(page: Page) -> list[str]:
    """`## Symbols` ends the page with rows of the course's one table, word for word (not in 00).

    The table is notebooks/symbols.md.
    """
    if page.is_start:
        return []
    text = "\n".join(cell.source for _, cell in page.cells("markdown"))
    rows = rows_of(text.partition("\n## Symbols\n")[2])
    if not rows or rows[0] != SYMBOL_TABLE:
        return [f"there is no table with the header {SYMBOL_TABLE} under ## Symbols"]
    known = rows_of(SYMBOLS.read_text(encoding="utf-8"))
    return [f"not in notebooks/symbols.md: {row}" for row in rows[2:] if row not in known]


def rows_of(text: str) -> list[str]:
    """The rows of the tables in a text, spaces evened out."""
    return [re.sub(r"\s+", " ", line.strip()) for line in text.splitlines() if line[:1] == "|"]


def sections(page: Page) -> list[str]:
    """The closing sections are there, in order: headings of the second level (not in 00)."""
    if page.is_start:
        return []
    text = "\n".join(prose(cell.source) for _, cell in page.cells("markdown"))
    found = [h for h in re.findall(r"^## (.+?)\s*$", text, re.M) if h in SECTIONS]
    said = [f"there is no section '## {name}'" for name in SECTIONS if name not in found]
    if not said and found[1 - len(SECTIONS) :] != list(SECTIONS[1:]):
        said.append(f"the page does not end with {', '.join(SECTIONS[1:])}, in this order")
    return said


def small(page: Page) -> list[str]:
    """The file is under 1 MB and carries no widget state."""
    said = []
    size = len(nbformat.writes(page.notebook).encode("utf-8"))
    if size >= MAX_BYTES:
        said.append(f"the notebook takes {size:,} bytes, at most {MAX_BYTES:,}")
    if "widgets" in page.notebook.metadata:
        said.append("the notebook carries widget state; build it with python -m course.build")
    return said


# ---- the prose


def sentences(cell) -> list[str]:
    """The sentences of a text cell; each heading, list item and table cell stands alone."""
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)]|#+|>) )|\||\n(?=\*\*)", prose(cell.source))
    joined = (" ".join(block.split()) for block in blocks)
    return [s for block in joined for s in re.split(r"(?<=[.!?])[*_\")]* ", block) if s]


def plain_words(page: Page) -> list[str]:
    """No word that tells readers that what they find hard is easy."""
    return [
        f"cell {i} says {word!r}"
        for i, cell in page.cells("markdown")
        for word in re.findall(r"\b(?:simply|just|obviously)\b", prose(cell.source), re.I)
    ]


def short_sentences(page: Page) -> list[str]:
    """No sentence is longer than 35 words (aim at 25)."""
    return [
        f"cell {i}: a sentence of {len(words)} words: '{' '.join(words[:8])} ...'"
        for i, cell in page.cells("markdown")
        for words in ([w for w in s.split() if re.search(r"\w", w)] for s in sentences(cell))
        if len(words) > MAX_WORDS
    ]


# English that is a translation; a pattern and what to write instead.
GERMANISMS = (
    (r"(?<![\w,;] )\bWho [a-z]+s\b(?![^.!?]*\?)", "If you ..., or: Whoever ..."),
    (r"\b[Hh](?:o|e)ld(?:s|ing)? [^.!?]{1,60} against\b", "compare ... with"),
    (r"^#+ .*\bbeside\b", "next to"),
    (r"\b(?:is|are|too|very|so) dear\b", "expensive"),
    (r"\b1 times\b", "once"),
    (r"\bshall (?:start|begin)\b", "starts, should start"),
    (r"\bleaves? alone\b", "leaves ... unchanged"),
    (r"\bmore cares\b", "more things to watch"),
    (r"\bbut for\b", "except for"),
    (r"\bmakes? sense of it that\b|\bis no (?:other|more) than\b", "is only"),
    (r"\b(?:what|which) [^.!?,]{1,40} nobody reads\b", "nobody reads what ..."),
)


def native_english(page: Page) -> list[str]:
    """None of the patterns that tell of a translation (a small list, from readers' reports)."""
    return [
        f"cell {i} says {found[0]!r}; better: {better}"
        for i, cell in page.cells("markdown")
        for pattern, better in GERMANISMS
        for found in re.finditer(pattern, prose(cell.source), re.M)
    ]


def links_resolve(page: Page) -> list[str]:
    """Links and pictures that are files of the repository exist."""
    said = []
    for i, cell in page.cells("markdown"):
        targets = re.findall(r"\]\(\s*<?([^)\s>]+)", cell.source)
        targets += re.findall(r"(?:src|href)=[\"']([^\"']+)", cell.source)
        for target in targets:
            path = target.partition("#")[0]
            if path and not re.match(r"[a-z]+:", path) and not (page.folder / path).exists():
                said.append(f"cell {i} links to {target}, which is not there")
    return said


# ---- the pictures


def alt_texts(page: Page) -> list[str]:
    """Every picture has a text for those who cannot see it.

    In text cells `![words](file)` or `<img alt="words">`. In outputs at least 30 characters, in an
    `alt="..."` of the output's text/html (`tutor.figures.img`): no browser is shown those of
    `output.metadata["image/png"]["alt"]`, which is the place for a picture without HTML.
    """
    said = []
    for i, cell in page.cells("markdown"):
        if re.search(r"!\[\s*\]\(|<img(?![^>]*\balt=[\"']\s*[^\"'\s])", cell.source):
            said.append(f"cell {i} shows a picture without alt text")
    for i, output in outputs(page):
        html = output.get("data", {}).get("text/html", "")
        alts = [a or b for a, b in re.findall(r"\balt=(?:\"([^\"]*)\"|'([^']*)')", html)]
        if sum(len(alt.strip()) >= MIN_ALT for alt in alts) < html.count("<img"):
            said.append(f"cell {i}: its output shows a picture without {MIN_ALT} characters of alt")
        for kind in output.get("data", {}):
            words = [output.metadata.get(kind, {}).get("alt", ""), *alts]
            if kind.startswith("image/") and max(len(w.strip()) for w in words) < MIN_ALT:
                said.append(f"cell {i}: its {kind} has no alt text of {MIN_ALT} characters")
    return said


def no_remote_pictures(page: Page) -> list[str]:
    """Nothing on the page is loaded from another machine."""
    said = []
    for i, cell in page.cells("markdown"):
        if re.search(r"!\[[^\]]*\]\(\s*<?(https?:)?//|src=[\"']?(https?:)?//", cell.source):
            said.append(f"cell {i} loads something from the network")
    for i, output in outputs(page):
        if re.search(r"src=[\"']?(https?:)?//", output.get("data", {}).get("text/html", "")):
            said.append(f"cell {i}: its output loads something from the network")
    return said


def outputs(page: Page):
    return [(i, output) for i, cell in page.cells("code") for output in cell.outputs]


# ---- the code


def no_machine_in_outputs(page: Page) -> list[str]:
    """No output names a folder of the machine that made it."""
    return [
        f"cell {i}: its output names a folder of this machine: {found}"
        for i, output in outputs(page)
        for kind, text in [("text", output.get("text", "")), *output.get("data", {}).items()]
        if kind.startswith("text")
        for found in MACHINE_PATH.findall(text)
    ]


# Written apart, so that the files that look for such paths do not contain them.
MACHINE_PATH = re.compile(
    r"(?<![\w./])/" + r"(?:work|root|home|Users|tmp)/\w+|[A-Z]:\\+Users\\+\w+"
)

RESHAPERS = {
    *("transpose", "reshape", "view", "unflatten", "flatten", "permute"),
    *("einsum", "matmul", "bmm"),
}


def shapes_said(page: Page) -> list[str]:
    """Every product, transpose and reshape says its shape: `Y = A @ V  # (N, T, d_v)`.

    The comment stands on the same line, or on the last line of the same statement. Meant are `@`,
    `.T`, `.mT`, `.transpose(`, `.reshape(`, `.view(`, `.flatten(`, `.unflatten(`, `.permute(`,
    `einsum(`, `matmul(`, `bmm(`.
    """
    said = []
    for i, cell in page.cells("code"):
        lines: set[int] = set()  # of the statement so far, those that need a shape
        shaped: set[int] = set()  # ... and those that say one
        before = ""  # the token before, within the statement
        tokens = tokens_of(cell.source)
        for token, after in zip(tokens, tokens[1:], strict=False):
            row = token.start[0]
            if token.string in ("@", "@=") and before:  # else it begins a decorator
                lines.add(row)
            elif token.string in ("T", "mT") and before == ".":
                lines.add(row)
            elif token.string in RESHAPERS and after.string == "(" and before != "def":
                lines.add(row)
            elif token.type == tokenize.COMMENT and re.match(r"#\s*\(", token.string):
                shaped.add(row)
            before = token.string.strip() or before
            if token.type == tokenize.NEWLINE:  # the end of a statement
                if row not in shaped:
                    said += [
                        f"cell {i}, line {line} has no shape comment `# (...)`"
                        for line in sorted(lines - shaped)
                    ]
                lines, shaped, before = set(), set(), ""
    return said


def tokens_of(source: str) -> list[tokenize.TokenInfo]:
    """The tokens of a cell; a cell that is not Python (a deliberate mistake) has none."""
    try:
        return list(tokenize.generate_tokens(io.StringIO(without_magics(source)).readline))
    except (tokenize.TokenError, SyntaxError):
        return []


def without_magics(source: str) -> str:
    return re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.M)


def same_definitions(page: Page) -> list[str]:
    """A class or function with a public name of `tutor` has the same code, docstrings aside.

    There is no exemption: a simplified or deliberately wrong version gets a name of its own.
    """
    said = []
    for i, cell in page.cells("code"):
        if "you-write" in tags(cell):  # a stub, which the reader fills in
            continue
        try:
            here = definitions(without_magics(cell.source))
        except SyntaxError:
            continue
        for name, code in here.items():
            shipped = package_definitions().get(name, {})
            if shipped and code not in shipped.values():
                module, other = next(iter(shipped.items()))
                said.append(
                    f"cell {i}: {name} differs from {module}: {first_difference(code, other)}"
                )
    return said


def definitions(source: str) -> dict[str, str]:
    """Public classes and functions at the top of a source -> their code without docstrings.

    `ast.unparse` gives equal text for equal trees, and is what a message can show.
    """
    return {
        node.name: bare(ast.unparse(node))
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    }


@cache
def package_definitions() -> dict[str, dict[str, str]]:
    """Public name -> {file: code without docstrings}; command lines teach nothing."""
    found: dict[str, dict[str, str]] = {}
    paths = [*(ROOT / "tutor").rglob("*.py"), *(ROOT / "course" / "museum").rglob("*.py")]
    for path in sorted(paths):
        if path.name == "__main__.py" or "commands" in path.parts:
            continue
        for name, code in definitions(path.read_text(encoding="utf-8")).items():
            found.setdefault(name, {})[path.relative_to(ROOT).as_posix()] = code
    return found


def first_difference(here: str, there: str) -> str:
    changed = [
        line
        for line in difflib.ndiff(there.splitlines(), here.splitlines())
        if line.startswith(("- ", "+ "))
    ]
    return " | ".join(line[:2] + line[2:].strip() for line in changed[:2])


RULES = (
    same_as_text,
    executed_in_order,
    no_errors,
    compared,
    nbval_can_follow,
    short_cells,
    prose_between,
    space_after_folds,
    folded,
    places_to_write,
    length,
    minutes,
    opening,
    symbol_table,
    sections,
    small,
    plain_words,
    short_sentences,
    native_english,
    links_resolve,
    alt_texts,
    no_remote_pictures,
    no_machine_in_outputs,
    shapes_said,
    same_definitions,
)
