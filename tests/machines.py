"""Machines that this machine can be: all notebooks, re-executed and compared under each.

python tests/machines.py            nine: three sets of instructions, each with 1, 2 and 4 threads
python tests/machines.py --extreme  the oldest with one thread, on pages that take under a minute
python tests/machines.py 02 05      these pages alone

What numbers come out depends on the order in which a processor adds them. A cell that differs here
prints what rounding or a training decides: say less, and assert the bound.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTRUCTIONS = {
    "SSE4.1": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "all": {},
}
THREADS = (1, 2, 4)
# A minute or more with the oldest instructions and one thread.
LONG = ("04", "06b", "08", "09", "12", "16", "17", "18")


def pages(beginnings=()):
    """The chapters whose names begin so; all, if none are named."""
    found = sorted((ROOT / "notebooks").glob("*.ipynb"))
    return [page for page in found if not beginnings or page.name.startswith(tuple(beginnings))]


def run_pytest(*arguments, python=sys.executable, environment=None):
    """(how many tests ran, a line for each that failed)."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        run = subprocess.run(
            [python, "-m", "pytest", "-q", f"--junitxml={report}", *map(str, arguments)],
            env=os.environ | (environment or {}), cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
        cases = list(ET.parse(report).iter("testcase")) if report.exists() else []
    failed = [case for case in cases if {"failure", "error"} & {part.tag for part in case}]
    if not cases or run.returncode != bool(failed):
        raise RuntimeError(run.stdout + run.stderr)
    return len(cases), [f"{case.get('classname')} {case.get('name')}" for case in failed]


def differing(instructions, threads, chosen):
    """Run pages as another machine; (cells that ran, a line for each that differed)."""
    environment = INSTRUCTIONS[instructions] | {"OMP_NUM_THREADS": str(threads)}
    return run_pytest(*chosen, environment=environment)


def configurations(extreme=False):
    return [("SSE4.1", 1)] if extreme else [(i, t) for i in INSTRUCTIONS for t in THREADS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", help="such as 02 (default: all)")
    parser.add_argument("--extreme", action="store_true", help="SSE4.1, one thread, short pages")
    options = parser.parse_args()
    chosen = pages(options.pages)
    if options.extreme:
        chosen = [page for page in chosen if not page.name.startswith(LONG)]
    bad = ran = 0
    for instructions, threads in configurations(options.extreme):
        cells, lines = differing(instructions, threads, chosen)
        print(f"{instructions}, threads: {threads}: {cells} cells, {len(lines)} differ", flush=True)
        print("".join(f"  {line}\n" for line in lines), end="", flush=True)
        bad, ran = bad + len(lines), ran + cells
    print(f"{ran - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
