"""Open the course to work in: `python -m course.learn`, with options of `jupyter lab` if wanted.

Pages are run in `learn/`, a copy of `notebooks/` that git ignores, so that what a learner runs
never stands in the way of the next pull. Drawings and code are one folder up, as for the originals.
"""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_COPIED = {"source", ".ipynb_checkpoints"}


def copy_pages(notebooks, folder):
    """Bring the copies in `folder` up to date. Returns what to tell the learner, line by line.

    A page that the learner changed is never touched: its newer edition is put beside it, once.
    """
    record = folder / ".editions.json"  # page -> the digests of the editions that were copied
    editions = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    told, names = [], pages(notebooks)
    for name in names:
        page, mine, given = notebooks / name, folder / name, editions.setdefault(name, [])
        edition = digest(page)
        if given[-1:] == [edition] and mine.exists():
            continue
        if not mine.exists() or digest(mine) in (edition, *given):
            copy(page, mine)
        else:
            beside = mine.with_suffix(f".{edition[:6]}{mine.suffix}")
            told.append(f"You changed {name}; its newer edition is beside it: {beside.name}")
            if not beside.exists():
                copy(page, beside)
        given.append(edition)
    for name in editions.keys() - set(names):  # renamed or gone
        if (folder / name).exists() and digest(folder / name) in editions[name]:
            (folder / name).unlink()
        del editions[name]
    record.write_text(json.dumps(editions, indent=1), encoding="utf-8")
    return told


def pages(notebooks):
    """The files to copy, as they are named from `notebooks`, in order."""
    found = (path for path in notebooks.rglob("*") if path.is_file())
    names = (path.relative_to(notebooks).as_posix() for path in found)
    return sorted(name for name in names if not NOT_COPIED & {*name.split("/")})


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def copy(page, mine):
    """Copy a page, whole or not at all."""
    mine.parent.mkdir(parents=True, exist_ok=True)
    part = mine.with_name(f".{mine.name}.part")
    shutil.copyfile(page, part)
    os.replace(part, mine)


def main(options):
    if not (ROOT / "notebooks").is_dir():
        sys.exit("The pages are in the repository: clone it, and run this command there.")
    from jupyterlab.labapp import main as jupyter_lab

    for line in copy_pages(ROOT / "notebooks", ROOT / "learn"):
        print(line)
    os.chdir(ROOT)
    sys.exit(jupyter_lab(["--notebook-dir=.", "learn/00_start_here.ipynb", *options]))


if __name__ == "__main__":
    main(sys.argv[1:])
