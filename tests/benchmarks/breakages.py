"""Does a test fail when what it guards is broken? Prints JSON.

python tests/benchmarks/breakages.py [--only WORD]

A line of breakages.tsv names a file, what stands there once, what takes its place, and the tests
that must then fail (arguments of pytest); `\n` is a line break. Each is tried in a copy of the
files that git knows. Unseen are those with which the tests still pass.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_suffix(".tsv")
NOT_UNDERSTOOD, NO_TESTS = 4, 5  # exit statuses of pytest


def copy_to(folder):
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    for name in names.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def seen(folder, name, old, new, tests):
    """Whether the tests fail; raises ValueError for a line that cannot be tried."""
    path = folder / name
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{name} has {text.count(old)} times {old!r}; once is wanted.")
    path.write_text(text.replace(old, new), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command + shlex.split(tests), cwd=folder, env=environment, stdout=subprocess.DEVNULL
        )
    finally:
        path.write_text(text, encoding="utf-8")
    if done.returncode in (NOT_UNDERSTOOD, NO_TESTS):
        raise ValueError(f"No test is called {tests}.")
    return done.returncode != 0  # a crash is a failure, too


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="those whose line contains this")
    only = parser.parse_args().only
    rows = [line for line in LIST.read_text("utf-8").splitlines() if line and only in line]
    start, unseen, untried = time.perf_counter(), [], []
    with tempfile.TemporaryDirectory() as folder:
        copy_to(Path(folder))
        for row in rows:
            name, old, new, tests = row.replace("\\n", "\n").split("\t")
            try:
                if not seen(Path(folder), name, old, new, tests):
                    unseen.append(row)
            except ValueError as error:
                untried.append(str(error))
            print(".", end="", file=sys.stderr, flush=True)
    seconds = round(time.perf_counter() - start)
    found = {"breakages": len(rows), "unseen": unseen, "untried": untried, "seconds": seconds}
    print(json.dumps(found, indent=1, ensure_ascii=False))
    return 1 if unseen or untried else 0


if __name__ == "__main__":
    sys.exit(main())
