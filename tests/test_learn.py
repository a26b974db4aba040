"""The copies that a learner works in, made from a clone, with a pull in between."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from lab import serving

from course.learn import copy_pages

ROOT = Path(__file__).parents[1]
START, SECOND = "00_start_here.ipynb", "02_single_head_attention.ipynb"
EXERCISE = f"exercises/{SECOND}"


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def clone(tmp_path):
    """A clone of a small course with some of the real pages; what it was cloned from is `ours`."""
    ours = tmp_path / "ours"
    for name in (f"notebooks/{START}", f"notebooks/{SECOND}", f"notebooks/{EXERCISE}",
                 "course/__init__.py", "course/learn.py", ".gitignore"):  # fmt: skip
        (ours / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, ours / name)
    shutil.copytree(ROOT / "images", ours / "images")
    (ours / "notebooks/source").mkdir()
    (ours / "notebooks/source/text.md").write_text("for makers")
    git(ours, "init", "--quiet")
    git(ours, "add", ".")
    git(ours, "commit", "--quiet", "--message", "The course")
    git(tmp_path, "clone", "--quiet", "ours", "clone")
    return tmp_path / "clone"


def change(path, words):
    path.write_text(path.read_text(encoding="utf-8").replace("[", f"[{words}", 1), encoding="utf-8")


def release(clone, message):
    """What the authors changed is pulled, which git refuses where it would lose something."""
    git(clone.with_name("ours"), "commit", "--quiet", "--all", "--message", message)
    assert git(clone, "status", "--porcelain") == ""
    git(clone, "pull", "--quiet", "--ff-only")


def test_a_pull_after_work_keeps_the_work(clone):
    ours, mine = clone.with_name("ours") / "notebooks", clone / "learn"
    assert copy_pages(clone / "notebooks", mine) == []
    copied = {p.relative_to(mine).as_posix() for p in mine.rglob("*.*") if p.is_file()}
    assert copied == {START, SECOND, EXERCISE, ".editions.json"}
    change(mine / SECOND, "mine")
    (mine / "notes.ipynb").write_text("{}")
    work = (mine / SECOND).read_bytes()
    assert copy_pages(clone / "notebooks", mine) == []

    for page in (START, SECOND):
        change(ours / page, "newer")
    release(clone, "A newer edition")
    [told] = copy_pages(clone / "notebooks", mine)
    beside = mine / re.fullmatch(rf"You changed {SECOND}; .* beside it: (\S+)", told)[1]
    assert (mine / SECOND).read_bytes() == work
    assert beside.read_bytes() == (ours / SECOND).read_bytes()
    assert (mine / START).read_bytes() == (ours / START).read_bytes()
    change(beside, "this is mine too")
    work = beside.read_bytes()
    assert copy_pages(clone / "notebooks", mine) == [] and beside.read_bytes() == work

    # Back and forth: nothing of the learner's is written over.
    git(clone, "checkout", "--quiet", "HEAD~1")
    assert len(copy_pages(clone / "notebooks", mine)) == 1
    git(clone, "checkout", "--quiet", "-")
    assert len(copy_pages(clone / "notebooks", mine)) == 1 and beside.read_bytes() == work


def test_a_page_that_gets_another_name_takes_its_copy_along(clone):
    ours, mine = clone.with_name("ours") / "notebooks", clone / "learn"
    copy_pages(clone / "notebooks", mine)
    change(mine / EXERCISE, "mine")
    for page in (SECOND, EXERCISE):
        git(ours, "mv", page, page.replace("02", "03"))
    release(clone, "Another number")
    copy_pages(clone / "notebooks", mine)
    assert not (mine / SECOND).exists() and (mine / SECOND.replace("02", "03")).exists()
    assert (mine / EXERCISE).exists() and (mine / EXERCISE.replace("02", "03")).exists()
    (mine / START).unlink()  # thrown away, to begin anew
    copy_pages(clone / "notebooks", mine)
    assert (mine / START).exists()


def test_the_command_of_the_readme_opens_a_page_that_finds_its_pictures(clone, tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [module] = re.findall(r"requirements.txt && python -m (\S+)$", readme, re.M)
    page = (ROOT / "notebooks" / START).read_text(encoding="utf-8")
    pictures = set(re.findall(r"\.\./(images/\w+\.svg)", page))
    assert pictures
    with serving([], clone, tmp_path, module) as address:
        for file in (f"learn/{START}", *pictures):  # as the page asks for them
            request = Request(f"{address}/files/{file}", headers={"Referer": f"{address}/lab"})
            assert urlopen(request).status == 200
    assert git(clone, "status", "--porcelain") == ""


def test_without_a_clone_the_command_says_what_is_missing(tmp_path):
    (tmp_path / "course").mkdir()
    for name in ("__init__.py", "learn.py"):
        shutil.copy(ROOT / "course" / name, tmp_path / "course")
    said = subprocess.run(
        [sys.executable, "-m", "course.learn"], cwd=tmp_path, capture_output=True,
        text=True, env=os.environ | {"PYTHONPATH": ""},
    )  # fmt: skip
    assert said.returncode == 1 and "clone it" in said.stderr and not (tmp_path / "learn").exists()
