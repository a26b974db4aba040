"""The same on every machine: what fails on machines, versions and loads other than this one's.

    python tests/benchmarks/machines.py [PART ...]

The parts: `configurations`, all notebooks on nine processors (hours); `emulated`, the checks on a
GPU that is emulated; `lower_bounds` and `newest`, the unit tests in an environment of their own
with the oldest and the newest of everything (`--oldest`, `--newest`: their Pythons); `loaded`, all
of pytest beside three busy processes; `alone`, each page without the repository. Without PART all.
A part that was measured on the very files of this checkout is not measured again: its result lies
in build/machines/. What failed goes to standard error; the last line is one JSON object.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import machines  # noqa: E402

RESULTS = ROOT / "build" / "machines"
BUSY = 3  # processes that only count


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def checkout():
    """A name for the state of all files that git knows or would add."""
    named = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
    files = [ROOT / os.fsdecode(name) for name in sorted(named) if name]
    parts = [str(path).encode() + path.read_bytes() for path in files if path.is_file()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def failures(*arguments, python=sys.executable):
    """Run pytest; (tests that ran, those that failed)."""
    ran, failed = machines.run_pytest(*arguments, python=python)
    print(*failed, sep="\n", file=sys.stderr)
    return ran, len(failed)


def configurations(options):
    found = {}
    for instructions, threads in machines.configurations():
        _, lines = machines.differing(instructions, threads, machines.pages())
        print(*lines, sep="\n", file=sys.stderr)
        found[f"{instructions}, {threads}"] = len(lines)
    return {"configurations": len(found), "cells_differing": sum(found.values())}


def emulated(options):
    checks, failed = failures("-n0", "tests/test_emulated.py")
    return {"emulated_checks": checks, "emulated_failures": failed}


def bounds():
    """The requirements of pyproject.toml, each at its lower bound."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return [f"{name}=={bound}" for name, bound in re.findall(r'"([a-z0-9-]+)>=([\d.]+)', text)]


def environment(python, constraints, extras, folder):
    """The Python of a new environment with the package, held to `constraints`."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    made = str(Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python")
    held = Path(folder, "constraints.txt")
    held.write_text("\n".join(constraints), encoding="utf-8")
    wanted = ["-c", str(held), "-e", f"{ROOT}[{extras}]"]
    subprocess.run([made, "-m", "pip", "install", "--quiet", *wanted], check=True)
    return made


def lower_bounds(options):
    with tempfile.TemporaryDirectory() as folder:
        python = environment(options.oldest, bounds(), "dev,classroom,export", folder)
        return {"lower_bounds_failed": failures("tests", python=python)[1]}


def newest(options):
    with tempfile.TemporaryDirectory() as folder:
        extras = "dev,classroom,export,huggingface,site"
        python = environment(options.newest, [], extras, folder)
        return {"newest_failed": failures("tests", python=python)[1]}


def loaded(options):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        return {"loaded_failed": failures()[1]}
    finally:
        for process in busy:
            process.kill()


def alone(options):
    command = [sys.executable, ROOT / "tests" / "benchmarks" / "alone.py"]
    if options.torch:
        command += ["--torch", options.torch]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    found = json.loads(run.stdout.splitlines()[-1])
    return {"alone_pages": found["pages"], "alone_failed": len(found["failed"])}


PARTS = {
    part.__name__: part for part in (configurations, emulated, lower_bounds, newest, loaded, alone)
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (all)")
    parser.add_argument("--oldest", default="python3.10", help="a Python for the lower bounds")
    parser.add_argument("--newest", default=sys.executable, help="a Python for the newest")
    parser.add_argument("--torch", help="for `alone`: what pip installs in place of Colab's")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}: choose from {', '.join(PARTS)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    found, state = {}, checkout()
    for name in options.parts or PARTS:
        kept = RESULTS / f"{name}-{state}.json"
        if not kept.exists():
            kept.write_text(json.dumps(PARTS[name](options)), encoding="utf-8")
        found |= json.loads(kept.read_text("utf-8"))
    print(json.dumps(found))
    bad = ("differing", "failures", "failed")
    return 1 if any(n for name, n in found.items() if name.endswith(bad)) else 0


if __name__ == "__main__":
    sys.exit(main())
