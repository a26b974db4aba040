"""The house has floors: an import goes down, or along the floor, and never in a circle."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FLOORS = (  # from the ground up
    "tutor.attention tutor.positions tutor.encoder tutor.decoder tutor.transformer tutor.modern "
    "tutor.record tutor.trace tutor.devices tutor.proof tutor.text tutor.check",
    "tutor.cache tutor.ensemble tutor.decoding tutor.evaluation tutor.language_model tutor.views "
    "tutor.figures tutor.smaller",
    "tutor.translator tutor.training",
    "tutor.exchange tutor.models",
    "tutor.commands tutor.__main__ tutor.check.__main__",
    "course.museum course.making course.audit course.mutation course.build",
    "course.grading course.site",
    "course.build.__main__",
)
WITH_COURSE = ["15_the_museum_of_bugs.md"]  # the only page that imports what makes the course


def modules():
    """Name of each module of both packages -> its file."""
    found = {}
    for package in ("tutor", "course"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
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
    parts = module.split(".")
    for end in range(len(parts), 1, -1):
        for number, names in enumerate(FLOORS):
            if ".".join(parts[:end]) in names.split():
                return number
    raise AssertionError(f"{module} has no floor: add it to the table")


def upward(arrows):
    """The arrows that go up. The front doors, `__init__.py`, lead to every floor."""
    return sorted(
        (here, there)
        for here, all_there in arrows.items()
        for there in all_there
        if "." in here and ("." not in there or floor(here) < floor(there))
    )


def test_every_import_goes_down():
    assert upward(graph()) == []


def test_what_a_learner_reads_imports_nothing_of_what_makes_the_course():
    """`check` reads the bank as data."""
    package, pages = ROOT / "tutor", ROOT / "notebooks" / "source"
    found = [
        path.name
        for path in (*package.rglob("*.py"), *pages.glob("*.md"))
        if re.search(r"^ *(from|import) course\b", path.read_text("utf-8"), re.M)
    ]
    assert found == WITH_COURSE


def test_no_test_imports_another():
    """What two of them need stands in a file of its own beside them."""
    tests = {path.stem for path in (ROOT / "tests").glob("test_*.py")}
    files = (ROOT / "tests").glob("*.py")
    assert [path.name for path in files if imports(path.read_text("utf-8"), tests)] == []


def test_nothing_imports_in_a_circle():
    TopologicalSorter(graph()).prepare()


def test_the_map_shows_every_room():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    plan = text.partition("## The map of the house")[2].partition("## To add")[0]
    for name in " ".join(FLOORS).split():
        package, name, *inside = name.split(".")
        room = f"{name}/" if (ROOT / package / name).is_dir() else f"{name}.py"
        assert inside or f"`{room}`" in plan, room


def test_an_arrow_that_turns_round_is_seen():
    arrows = graph()
    arrows["tutor.attention"] = {"tutor.training.loop"}
    assert upward(arrows) == [("tutor.attention", "tutor.training.loop")]
    with pytest.raises(CycleError):
        TopologicalSorter(arrows).prepare()
    inside = "def late():\n    from tutor import figures\n    import tutor.text.grammar"
    assert imports(inside, modules()) == {"tutor.figures", "tutor.text.grammar"}
