"""The texts of the bank: how one becomes an exercise, what a broken one is told, their Python."""

import re
import subprocess
import sys

import pytest

from tutor.check import bank, examine
from tutor.check.bank import TextError
from tutor.check.exercise import SETUP, evaluate

TEXT = """\
---
place: 1
section: In code
kind: write
title: Three times
goal: Go.
difficulty: 1
importance: 2
minutes: 3
tolerance: 0.01
---

Write `triple`.

# Hints

- Count on
  your fingers.
- Add.
- Multiply.

# Stub

```python
def triple(X):
    raise NotImplementedError
```

# Solution

```python
def triple(X):
    Y = X + X
    return Y + X
```

# Because

So it
is.

# Cases

```python
def cases():
    yield (2,)
    yield (5,)


mistakes = [(f"That is {n} times.", lambda X, n=n: n * X) for n in (7, 8)]
```

# Right

```diff
-    Y = X + X
-    return Y + X
+    return 3 * X
```

# Mistakes

You doubled.
- `return Y + X` -> `return Y`
- stub: `raise NotImplementedError` -> `return 2 * X`

You
cubed.
```python
def triple(X):
    return X**3
```

You added, and then you halved.
- `X + X` -> `X + X + X`, `Y + X` ->
  `Y / 2`
```diff right 1
-    return 3 * X
+    X = 3 * X

+    return X / 2
```

# Wrong

is a text
- right 1: `3 * X` -> `"6"`

not written
- stub
"""


@pytest.fixture
def read(tmp_path):
    """Read a text with some places changed."""
    path = tmp_path / "the_encoder" / "triple.md"
    path.parent.mkdir()

    def changed(*pairs):
        text = TEXT
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
        return bank.read(path)

    return changed


def test_a_text_becomes_an_exercise(read):
    triple = read(("+    X = 3 * X\n\n", "+    X = 3 * X\n"))
    assert (triple.name, triple.chapter, triple.section) == ("triple", "04", "In code")
    assert (triple.difficulty, triple.minutes, triple.tolerance) == (1, 3, 0.01)
    assert triple.text == "Write `triple`." and triple.because == "So it is."
    assert triple.hints == ("Count on your fingers.", "Add.", "Multiply.")
    assert triple.right == ("def triple(X):\n    return 3 * X\n",)
    *programs, last = [evaluate(triple, code) for code in triple.wrong]
    assert list(triple.wrong)[-1] == triple.stub and callable(last)
    assert [program(4) for program in programs] == [8, 8, 64, 6, 6, "6"]
    assert [said for said, _ in triple.mistakes] == [
        "You doubled.", "You doubled.", "You cubed.", *["You added, and then you halved."] * 2,
        "That is 7 times.", "That is 8 times.",
    ]  # fmt: skip
    assert examine(triple, lambda X: X + X).startswith("You doubled.\n")
    assert examine(triple, lambda X: 8 * X).startswith("That is 8 times.\n")
    assert examine(triple, lambda X: 3 * X) is None


def test_what_is_equivalent_is_no_mistake(read):
    triple = read(
        ("# Wrong", "# Equivalent\n\nSums know no order.\n- `Y + X` -> `X + Y`\n\n# Wrong")
    )
    assert [*triple.equivalent.values()] == ["Sums know no order."]
    assert "return X + Y" in [*triple.equivalent][0] and len(triple.wrong) == 7


def test_a_block_holds_several_predictions(read):
    guess = read(
        ("kind: write", "kind: predict"),
        (TEXT[TEXT.index("# Stub") : TEXT.index("# Because")],
         "# Stub\n\n```python\ntriple = None\n```\n\n# Solution\n\n```python\ntriple = 6\n```\n\n"),
        (TEXT[TEXT.index("# Cases") :],
         "# Mistakes\n\nMore.\n```python\ntriple = 7\nx = 2\ntriple = x**3\n```\n"),
    )  # fmt: skip
    assert guess.mistakes == (("More.", 7), ("More.", 8)) and guess.reference == 6
    assert list(guess.wrong) == ["triple = 7\n", "x = 2\ntriple = x**3\n"]


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("---\nplace", "place", 1, "between two `---`"),
        ("goal: Go.\n", "", 10, "the field goal is missing"),
        ("minutes: 3", "minutes: soon", 9, "'minutes: soon' is no field of an exercise"),
        ("kind: write", "kind: sing", 11, "kind is one of predict, write"),
        ("# Because", "# Becuase", 37, "'Becuase' stands twice, or is none of ('Hints'"),
        ("# Wrong", "# Right", 84, "stands twice"),
        ("# Because", "# Points\n\n- It is.\n\n# Because", 38, "Points begins with its question"),
        ("# Hints", "Hints", 90, "the section Hints is missing"),
        ("`return Y + X` ->", "`return Z + X` ->", 64, "'return Z + X' stands 0 times"),
        ("- `return Y + X` -> `return Y`", "- `return Y + X`", 64, "edits are written"),
        ("```diff right 1", "```diff right 2", 77, "neither `python` nor"),
        ("-    return Y + X\n", "-    return Y - X\n", 55, "stands 0 times"),
        ("- stub: ", "- right 4: ", 65, "there is no 'right 4' here, only ['stub', '', 'right 1']"),
        ("is a text\n", "", 85, "words stand here, and a program"),
        ("    yield (2,)", "    yield (2,", 43, "this fails: SyntaxError"),
    ],
)
def test_a_broken_text_is_told_its_line(read, old, new, line, said):
    with pytest.raises(TextError, match=re.escape(said)) as caught:
        read((old, new))
    assert f"triple.md, line {line}: " in str(caught.value)


def test_two_texts_with_one_place_are_told(read, monkeypatch, tmp_path):
    read(("", ""))
    (tmp_path / "the_encoder" / "other.md").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(bank, "folder", lambda: tmp_path)
    with pytest.raises(TextError, match=r"triple.md, line 2: other has the place 1, too; the last"):
        bank.texts("04")


def test_an_install_without_the_bank_is_told_what_to_do(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install -e"):
        bank.folder()


def programs():
    """(name, setup, code) of all Python in all texts."""
    for exercise in bank.exercises().values():
        path = next(bank.folder().glob(f"*/{exercise.name}.md"))
        for number, (_, code) in enumerate(
            re.findall(r"^(`{3,})python\n(.*?)^\1$", path.read_text("utf-8"), re.M | re.S)
        ):
            yield f"{exercise.name}_{number}", exercise.setup, code


def test_python_in_the_texts_is_formatted_and_knows_its_names(tmp_path):
    for name, setup, code in programs():
        if code != setup:  # whose tables are laid out by hand
            (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        (tmp_path / "names").mkdir(exist_ok=True)
        (tmp_path / "names" / f"{name}.py").write_text(SETUP + setup + code, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    apart = ["--isolated", "--line-length", "100"]
    for command in (
        [*ruff, "format", "--check", "-q", *apart, *map(str, tmp_path.glob("*.py"))],
        [*ruff, "check", "-q", *apart, "--select", "E9,F", "--ignore", "F401,F811,F841",
         str(tmp_path / "names")],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_pages_are_those_that_there_are():
    sources = bank.folder().parents[1] / "notebooks" / "source"
    assert list(bank.pages().values()) == [
        bank.number_and_slug(p.stem)[0] for p in sorted(sources.glob("*.md"))
    ]
    assert list(bank.pages()) == [
        bank.number_and_slug(p.stem)[1] for p in sorted(sources.glob("*.md"))
    ]
