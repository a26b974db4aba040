"""The house has floors: an import goes down, or along the floor, and never in a circle."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tutor

PACKAGE = Path(tutor.__file__).parent

FLOORS = (  # from the ground up
    "attention positions encoder decoder transformer modern record trace devices proof text check",
    "cache ensemble decoding evaluation language_model views figures",
    "translator training",
    "exchange models museum publish",
    "commands __main__ build check.__main__",
)


def modules(folder=PACKAGE):
    """Name of each module of the package -> its file."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = ("tutor", *path.relative_to(folder).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(source, there):
    """The modules among `there` that a source imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "name the whole module in an import"
            names = [
                f"{node.module}.{alias.name}"
                if f"{node.module}.{alias.name}" in there
                else node.module
                for alias in node.names
            ]
        else:
            continue
        found |= {name for name in names if name in there}
    return found


def graph():
    there = modules()
    return {name: imports(path.read_text("utf-8"), there) for name, path in there.items()}


def floor(module):
    """The floor that a module lives on, found by the longest name in the table."""
    parts = module.split(".")[1:]
    for end in range(len(parts), 0, -1):
        for number, names in enumerate(FLOORS):
            if ".".join(parts[:end]) in names.split():
                return number
    raise AssertionError(f"{module} has no floor: add it to the table")


def upward(arrows):
    """The arrows that go up. The front door, tutor/__init__.py, leads to every floor."""
    return sorted(
        (here, there)
        for here, all_there in arrows.items()
        for there in all_there
        if here != "tutor" and (there == "tutor" or floor(here) < floor(there))
    )


def test_every_import_goes_down():
    assert upward(graph()) == []


def test_what_a_learner_reads_imports_nothing_of_what_makes_the_course():
    """`check` reads the bank as data."""
    pages = sorted((PACKAGE.parent / "notebooks" / "source").glob("*.md"))
    for path in (*modules().values(), *pages):
        assert not re.search(r"^ *(from|import) course\b", path.read_text("utf-8"), re.M), path


def test_nothing_imports_in_a_circle():
    TopologicalSorter(graph()).prepare()


def test_the_map_shows_every_room():
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8")
    plan = text.partition("## The map of the house")[2].partition("## To add")[0]
    for name in " ".join(FLOORS).replace("check.__main__", "").split():
        room = f"{name}/" if (PACKAGE / name).is_dir() else f"{name}.py"
        assert f"`{room}`" in plan, room


def test_an_arrow_that_turns_round_is_seen():
    arrows = graph()
    arrows["tutor.attention"] = {"tutor.training.loop"}
    assert upward(arrows) == [("tutor.attention", "tutor.training.loop")]
    with pytest.raises(CycleError):
        TopologicalSorter(arrows).prepare()
    inside = "def late():\n    from tutor import figures\n    import tutor.text.grammar"
    assert imports(inside, modules()) == {"tutor.figures", "tutor.text.grammar"}
