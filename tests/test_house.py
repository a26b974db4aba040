"""The rules of the house, held by every chapter; and each rule shown a page that breaks it."""

import gzip
import json
import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import nbformat
import pytest
from house_rules import (
    COURSE_WORDS,
    MACHINE_PATH,
    NOTEBOOKS,
    ROOT,
    RULES,
    Page,
    comparison,
    package_definitions,
    rows_of,
)
from house_rules import SYMBOLS as SYMBOLS_FILE
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.build.minutes import count_words, exercise_minutes
from tutor.check import bank

CHAPTERS = sorted(NOTEBOOKS.glob("*.ipynb"))
RULE = {rule.__name__: rule for rule in RULES}


@pytest.fixture(scope="module", params=CHAPTERS, ids=lambda path: path.stem)
def chapter(request):
    return Page.load(request.param)


@pytest.mark.parametrize("rule", RULES, ids=RULE)
def test_chapter(chapter, rule):
    broken = rule(chapter)
    if broken:
        pytest.fail("\n  ".join([rule.__doc__.splitlines()[0], *broken]), pytrace=False)


def test_every_text_has_its_notebook_and_every_notebook_its_text():
    texts = {path.stem for path in (NOTEBOOKS / "source").glob("*.md")}
    assert texts == {path.stem for path in CHAPTERS}


def test_the_main_line_of_the_course_has_at_most_45_000_words():
    words = sum(count_words(nbformat.read(path, as_version=4)) for path in CHAPTERS)
    assert words <= COURSE_WORDS, f"{words:,} words outside folds, at most {COURSE_WORDS:,}"


def test_at_most_two_percent_of_the_cells_are_not_compared():
    counts = [comparison(nbformat.read(path, as_version=4)) for path in CHAPTERS]
    out = sum(out for _, out in counts)
    assert out <= 0.02 * sum(compared + out for compared, out in counts)


# ---- each rule sees the page that breaks it

OPENING = """# Pages

[Previous](01_before.ipynb) | [Next](03_after.ipynb)

**Question.** What is a page?

**You will be able to**

- read one
- write one
- burn one

**You need** eyes.

**Time** 5 minutes to read, 5 seconds to run on a CPU.
"""
SYMBOLS = """## Symbols

| symbol | code | shape | meaning |
|---|---|---|---|
| $Q$ | `Q` | $(T, d_k)$ | queries |
"""
FOLD = "<details><summary>More</summary>\n\nMore.\n\n</details>"
CLOSING = "## What can go wrong\n\n## Summary\n\n- Done.\n\n## Your turn\n\n## Sources"
ALT = "A line that rises from one to two, without a turn."
TEXT = f"""{OPENING}
+++

Now.

```{{code-cell}}
Y = A @ V  # (T, d_v)
```

{CLOSING}

+++

{SYMBOLS}
"""
NAME = "90_example"  # a chapter without exercises


def code(source, *outputs, tags=(), count=1):
    metadata = {"tags": list(tags)} if tags else {}
    return new_code_cell(source, outputs=list(outputs), metadata=metadata, execution_count=count)


def page(*middle, opening=OPENING, symbols=SYMBOLS, closing=CLOSING, **metadata):
    """A page that keeps every rule, unless one of the parts given breaks it."""
    texts = [new_markdown_cell(text) for text in (opening, "Now.", closing, symbols)]
    middle = middle or (code("Y = A @ V  # (T, d_v)"),)
    notebook = new_notebook(cells=texts[:2] + list(middle) + texts[2:], metadata=metadata)
    return Page(notebook, NAME, text=TEXT, chapters=["01_before", NAME, "03_after"])


def picture(alt=ALT, html=None, kind="image/png"):
    data = {kind: "iVBORw0KGgo="} | ({"text/html": html} if html else {})
    return new_output("display_data", data=data, metadata={kind: {"alt": alt}} if alt else {})


ERROR = new_output("error", ename="ValueError", evalue="no", traceback=[])


def shipped():
    """The code of some function of the package, without its docstring."""
    return next(iter(package_definitions()["causal_mask"].values()))


@pytest.mark.parametrize("rule", RULES, ids=RULE)
def test_good_page_keeps_every_rule(rule, tmp_path):
    good = page()
    good.folder = tmp_path
    for neighbour in ("01_before", "03_after"):
        (tmp_path / f"{neighbour}.ipynb").touch()
    assert rule(good) == []


@pytest.mark.parametrize(
    ("rule", "bad"),
    [
        ("same_as_text", page(code("Y = V @ A  # (T, d_v)"))),
        ("same_as_text", page(code("Y = A @ V  # (T, d_v)", tags=["nbval-skip"]))),
        ("same_as_text", page(closing=CLOSING + "\nMore.")),
        ("executed_in_order", page(code("a", count=None))),
        ("executed_in_order", page(code("a", count=2))),
        ("no_errors", page(code("f()", ERROR))),
        ("no_errors", page(code("f()", tags=["raises-exception"]))),
        ("compared", page(code("f()", tags=["nbval-skip"]))),
        ("compared", page(code("f()  # not compared: ", tags=["nbval-ignore-output"]))),
        ("compared", page(code("# NBVAL_SKIP\nf()"))),
        ("nbval_can_follow", page(code("plt.plot(x);"))),
        ("nbval_can_follow", page(code("out = widgets.Output()\nwith out:\n    print(1)"))),
        ("nbval_can_follow", page(code("interact(f, x=3)"))),
        ("short_cells", page(code("a\n" * 26), new_markdown_cell("b"), code("a"), code("a"))),
        ("short_cells", page(code("a\n" * 9))),
        ("prose_between", page(code("a"), code("b"))),
        ("opening", page(opening=OPENING.replace("# Pages", "Pages"))),
        ("opening", page(closing=CLOSING + "\n\n# Another title")),
        ("opening", page(opening=OPENING.replace("**Question.**", "Question:"))),
        ("opening", page(opening=OPENING.replace("- burn one", ""))),
        ("opening", page(opening=OPENING.replace("**You need**", "You need"))),
        ("opening", page(opening=OPENING.replace("5 seconds to run", "quick to run"))),
        ("opening", page(opening=OPENING.replace("(01_before.ipynb)", "(00_start.ipynb)"))),
        ("opening", page(opening=OPENING.replace("(03_after.ipynb)", "(04_later.ipynb)"))),
        ("symbol_table", page(symbols=SYMBOLS.replace("shape", "size"))),
        ("sections", page(closing=CLOSING.replace("## Your turn", "### Your turn"))),
        ("sections", page(closing=CLOSING.replace("## Summary", "") + "\n\n## Summary")),
        ("symbol_table", page(symbols=SYMBOLS.replace("queries", "questions"))),
        ("symbol_table", page(symbols="## Symbols")),
        ("space_after_folds", page(new_markdown_cell(f"{FOLD}\n\nAnd on."))),
        ("folded", page(code("a", tags=["hide-input"]))),
        ("length", page(closing="word " * 3001)),
        ("length", page(*(new_markdown_cell("b") for _ in range(45)))),
        ("length", page(closing=CLOSING.replace("- Done.", "- Done.\n" * 7))),
        ("minutes", page(closing="word " * 900)),
        ("minutes", page(opening=OPENING.replace("5 minutes", "10 minutes"))),
        ("small", page(code("a", new_output("stream", text="a" * 1_000_000)))),
        ("small", page(widgets={"state": {}})),
        ("plain_words", page(closing="Just do it.")),
        ("short_sentences", page(closing="word " * 36)),
        ("short_sentences", page(closing="- " + "word " * 20 + "\n  " + "$x$ " * 16)),
        ("native_english", page(closing="We wait. Who asks gets the answer alone.")),
        ("native_english", page(closing="Hold this map against the gold links.")),
        ("native_english", page(closing="## Decoder beside encoder")),
        ("native_english", page(closing="A large model is dear.")),
        ("native_english", page(closing="Equal but for rounding.")),
        ("alt_texts", page(closing="![](../images/a.svg)")),
        ("alt_texts", page(closing='<img src="a.svg" alt="">')),
        ("alt_texts", page(code("a", picture(alt=None)))),
        ("alt_texts", page(code("a", picture(alt="A line.")))),
        ("alt_texts", page(code("a", picture(html='<img src="data:,">')))),
        ("alt_texts", page(code("a", picture(html='<img src="data:," alt="A line.">')))),
        ("alt_texts", page(code("a", picture(alt=None, kind="image/svg+xml")))),
        ("no_remote_pictures", page(closing="![A line](https://example.org/a.png)")),
        ("no_remote_pictures", page(code("a", picture(html='<script src="//example.org/a.js">')))),
        ("no_machine_in_outputs", page(code("a", new_output("stream", text="in /" + "tmp/x.py")))),
        ("shapes_said", page(code("Y = A @ V"))),
        ("shapes_said", page(code("Y = A @ V  # the output"))),
        ("shapes_said", page(code("Y = (A  # (T, S)\n     @ V)"))),
        ("shapes_said", page(code("E = Q @ K.mT  # (T, S)\nX = X.reshape(2, 3)"))),
        ("shapes_said", page(code("print(X.T)"))),
        ("shapes_said", page(code("Y = torch.einsum('ts,sd->td', A, V)"))),
        ("same_definitions", page(code("def causal_mask(T):\n    return None"))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_page_is_seen(rule, bad):
    assert RULE[rule](bad)


@pytest.mark.parametrize(
    ("rule", "fine"),
    [
        ("no_errors", page(code("f()", ERROR, tags=["raises-exception"]))),
        ("compared", page(code("f()  # not compared: it shows the clock", tags=["nbval-skip"]))),
        ("alt_texts", page(code("a", picture()))),
        ("alt_texts", page(code("a", picture(alt=None, html=f'<img src="data:," alt="{ALT}">')))),
        ("shapes_said", page(code("@torch.no_grad()\ndef f(T):\n    return T"))),
        ("shapes_said", page(code("Y = f(\n    A @ V,\n)  # (T, d_v)"))),
        ("shapes_said", page(code("# A @ V\nprint('X.T and X.view(2)')"))),
        ("plain_words", page(closing="Adjust `just`; ```\njust\n``` and justify.")),
        (
            "native_english",
            page(closing="Who asks here? We know who asks, and *who* is asked."),
        ),
        ("prose_between", page(code("a", tags=["you-write"]), code("b", tags=["hide-input"]))),
        ("length", page(*(new_markdown_cell("b") for _ in range(44)))),
        ("length", page(closing=f"<details>{'word ' * 3001}</details>")),
        ("space_after_folds", page(new_markdown_cell(f"{FOLD}\n\n{FOLD}\n\n## On"))),
        ("short_sentences", page(closing="- " + "word " * 30 + "\n- " + "word " * 30)),
        ("short_sentences", page(closing="word " * 30 + "end. " + "Word " * 30)),
        ("same_definitions", page(code(shipped().replace(":", ':\n    "Another docstring."', 1)))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rules_do_not_cry_wolf(rule, fine):
    assert RULE[rule](fine) == []


@pytest.mark.parametrize(
    "closing", ["[a](nowhere.md#there)", '<img src="../images/nowhere.svg" alt="Nothing">']
)
def test_a_link_that_leads_nowhere_is_named(closing, tmp_path):
    bad = page(closing=closing)
    bad.folder = tmp_path
    for neighbour in ("01_before", "03_after"):
        (tmp_path / f"{neighbour}.ipynb").touch()
    (said,) = RULE["links_resolve"](bad)
    assert "nowhere" in said


def test_a_cell_that_is_missing_is_seen():
    short = page()
    del short.notebook.cells[-1]
    assert "4 cells, but 5 in the text" in RULE["same_as_text"](short)[0]


STUB = 'def twice(x):\n    """Two times x."""\n    ...\n\n\ncheck.twice(twice)'
ANSWER = "def twice(x):\n    return 2 * x  # doubled"
SAID = new_output("stream", text="Not yet. This is not written yet: put your lines in place.")


def writing(ask="**You write it:** twice.", stub=STUB, said=SAID, answer=ANSWER, fold=True):
    folded = code(answer, tags=["hide-input"] if fold else [])
    return page(new_markdown_cell(ask), code(stub, said, tags=["you-write"]), folded)


def test_places_to_write(monkeypatch):
    rule, names = RULE["places_to_write"], ["twice"]
    monkeypatch.setattr("house_rules.chapters_with_exercises", lambda: ["90"])
    monkeypatch.setattr("house_rules.on_page", lambda _: names)
    solution = SimpleNamespace(solution='def twice(x):\n    """Doubles."""\n    return 2 * x')
    monkeypatch.setattr("house_rules.find", lambda _: solution)
    assert rule(writing()) == []
    for bad in (
        writing(ask="Write it."),
        writing(stub=STUB.replace("...", "return 2 * x")),
        writing(stub=STUB.replace("check.twice(twice)", "check.twice(thrice)")),
        writing(said=new_output("stream", text="Right.")),
        writing(answer=ANSWER.replace("2 * x", "x + x")),
        writing(fold=False),
        page(),
    ):
        assert rule(bad)
    names.append("thrice")
    assert rule(writing())
    few = writing()
    few.name = "17_example"
    names.remove("thrice")
    monkeypatch.setattr("house_rules.chapters_with_exercises", lambda: ["17"])
    assert rule(few) == ["1 places to write, at least 2 are wanted"]


def test_the_table_of_symbols_gives_each_one_meaning():
    rows = [row.split(" | ") for row in rows_of(SYMBOLS_FILE.read_text(encoding="utf-8"))[2:]]
    for column in (0, 1):
        names = [name for row in rows for name in re.findall(r"[$`][^$`]+[$`]", row[column])]
        assert {name for name in names if names.count(name) > 1} == set()


def test_each_topic_of_the_seeds_leads_to_a_section():
    text = (NOTEBOOKS / "seeds.md").read_text(encoding="utf-8")
    topics = rows_of(text)
    links = re.findall(r"\[([^\]]+)\]\((\w+)\.ipynb#([^)]+)\)", text)
    assert text.count("\n## ") == 4 and len(links) >= len(topics) - 8 >= 50
    assert all(row.count(".ipynb#") or row in topics[:2] for row in topics)
    for words, page, place in links:
        number, _, heading = words.partition(" ")
        source = (NOTEBOOKS / "source" / f"{page}.md").read_text(encoding="utf-8")
        headings = [heading.strip() for heading in re.findall(r"^##+ (.+)$", source, re.M)]
        assert number == bank.number_and_slug(page)[0] and heading in headings, words
        assert unquote(place) == heading.replace("`", "").replace(" ", "-"), place


def test_count_of_compared_cells():
    cells = [code("a"), code("b", tags=["nbval-skip"]), code("c", tags=["raises-exception"])]
    assert comparison(page(*cells).notebook) == (2, 1)


# ---- the repository

FORBIDDEN = re.compile(
    r"\.(pt|pth|ckpt|bin|pkl|pickle|npy|npz|onnx|h5|gz|zip|tar|py[co]|DS_Store)$"
)


@pytest.fixture(scope="module")
def files():
    """What is committed, or would be."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if listing.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_file_that_hides_its_contents(files):
    """Weights are safetensors only; no archives, no caches, no pickles."""
    assert [path for path in files if FORBIDDEN.search(path.name)] == []


def test_a_wheel_holds_every_file_that_the_packages_read(files):
    settings = (ROOT / "pyproject.toml").read_text("utf-8").partition("package-data]")[2]
    for package in ("tutor", "course"):
        patterns = json.loads(re.search(rf"^{package} = (\[.*\])$", settings, re.M)[1])
        packed = {path for pattern in patterns for path in (ROOT / package).glob(pattern)}
        read = {path for path in files if ROOT / package in path.parents and path.suffix != ".py"}
        # Of the views' modules bundles are read.
        assert {path for path in read - packed if path.parent != ROOT / "tutor" / "views"} == set()


def test_no_machine_paths_in_the_files(files):
    found = [
        (path.relative_to(ROOT).as_posix(), match[0])
        for path in files
        if path.suffix not in (".png", ".safetensors", ".ipynb")  # outputs have their own rule
        for match in MACHINE_PATH.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_package_neither_pickles_nor_loads_pickles():
    """Opening a pickle runs whatever its author wrote; safetensors and JSON cannot."""
    pickles = re.compile(r"^\s*(import|from) c?pickle\b|\btorch\.(load|save)\b", re.M)
    sources = [path for name in ("tutor", "course") for path in (ROOT / name).rglob("*.py")]
    assert [path for path in sources if pickles.search(path.read_text(encoding="utf-8"))] == []


def test_no_caption_of_multi30k_is_in_the_files(files):
    """Its terms do not let us pass it on; captions under ten words could be anyone's."""
    if not os.environ.get("TUTOR_DATA"):
        pytest.skip("TUTOR_DATA names no folder with Multi30k")
    captions = {}  # by their first ten words
    for path in Path(os.environ["TUTOR_DATA"]).glob("*.gz"):
        for line in gzip.open(path, "rt", encoding="utf-8"):
            words = re.findall(r"\w+", line.lower())
            if len(words) >= 10:
                captions.setdefault(tuple(words[:10]), []).append(words)
    found = []
    for path in files:
        if path.suffix not in (".png", ".safetensors"):
            text = path.read_text(encoding="utf-8").replace(r"\n", " ").lower()
            words = re.findall(r"\w+", text)
            for i in range(len(words) - 9):
                for caption in captions.get(tuple(words[i : i + 10]), ()):
                    if words[i : i + len(caption)] == caption:
                        found.append((path.relative_to(ROOT).as_posix(), " ".join(caption)))
    assert captions and not found


def test_the_maps_name_the_same_minutes_as_the_chapters():
    """Those to read as the page says them, those of the exercises as the bank has them."""
    said = {}
    for page in (NOTEBOOKS / "source").glob("*.md"):
        read = re.search(r"\*\*Time\*\* (\d+) min", page.read_text(encoding="utf-8"))[1]
        said[page.stem] = (read, str(exercise_minutes(bank.number_and_slug(page.stem)[0]) or "–"))
    row = r"^\| \[.*?\((?:notebooks/)?(\w+)\.ipynb\) .*\| (\d+) \| (\d+|–) \|$"
    for path in (ROOT / "README.md", NOTEBOOKS / "source" / "00_start_here.md"):
        rows = re.findall(row, path.read_text(encoding="utf-8"), re.M)
        assert len(rows) >= len(said) - 1
        assert {name: minutes for name, *minutes in rows} == {
            name: list(said[name]) for name, *_ in rows
        }


def test_the_version_is_everywhere_the_same():
    said = {
        name: re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.M)[1]
        for name, pattern in {
            "pyproject.toml": r'^version = "(.*)"$',
            "CITATION.cff": r"^version: (.*)$",
            "CHANGELOG.md": r"^## ([\d.]+)$",
        }.items()
    }
    assert len(set(said.values())) == 1, said
