"""Each page opened alone, where Colab's packages are and the repository is not.

    python tests/benchmarks/alone.py [--pages 00 01] [--torch torch==2.13.0] [--environment FOLDER]

Makes an environment of this Python with the versions in tests/colab.txt (with `--torch` for its
PyTorch, where that is not to be had), packs `tutor` as a wheel, writes the copies so that their
first cell installs that wheel, and executes each of them in an empty folder. What fails goes to
standard error. The last line is one JSON object; `changed` are the packages of Colab that the
first cell replaced.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from course.build.alone import write_alone

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ROOT / "tests" / "colab.txt"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", nargs="*", default=[""], help="beginnings of names (all)")
    parser.add_argument("--torch", help="what pip installs in place of Colab's PyTorch")
    parser.add_argument("--environment", type=Path, help="made if need be (default: a new one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        python = environment(options.environment or scratch / "venv", options.torch, scratch)
        before = installed(python)
        write_alone(scratch / "copies", str(wheel(scratch)))
        use(python, scratch)
        failed, seconds = [], {}
        for path in sorted((scratch / "copies").glob("*.ipynb")):
            if not path.name.startswith(tuple(options.pages)):
                continue
            began = time.perf_counter()
            if said := error_of(path, scratch / path.stem):
                failed.append(path.stem)
                print(f"{path.stem}: {said}", file=sys.stderr)
            seconds[path.stem] = round(time.perf_counter() - began, 1)
            print(path.stem, seconds[path.stem], file=sys.stderr)
        after = installed(python)
    changed = {name: [old, after.get(name)] for name, old in before.items()}
    print(json.dumps({
        "pages": len(seconds), "failed": failed, "seconds": seconds,
        "changed": {name: pair for name, pair in changed.items() if pair[0] != pair[1]},
        "python": ".".join(map(str, sys.version_info[:3])),
    }))  # fmt: skip
    return 1 if failed else 0


def environment(folder, torch, scratch):
    """The Python of an environment with Colab's versions and without `tutor`."""
    python = folder.absolute() / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        wanted = VERSIONS.read_text(encoding="utf-8")
        if torch:
            wanted = re.sub("^torch==.*", torch, wanted, flags=re.M)
        (scratch / "set.txt").write_text(wanted, encoding="utf-8")
        pip(python, "install", "--quiet", "-r", scratch / "set.txt")
    elif "tutor" in installed(python):  # from the run before
        pip(python, "uninstall", "--quiet", "--yes", "tutor")
    return python


def installed(python):
    """Name -> version of what is installed there."""
    listed = pip(python, "list", "--format=json", stdout=subprocess.PIPE).stdout
    return {package["name"]: package["version"] for package in json.loads(listed)}


def pip(python, *arguments, **how):
    return subprocess.run([python, "-m", "pip", *arguments], env=bare(), check=True, **how)


def bare():
    """The environment without what would show a page the course, its corpus or its progress."""
    hidden = ("PYTHONPATH", "MPLBACKEND", "TUTOR_DATA")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, "TUTOR_PROGRESS": ""}


def wheel(scratch):
    """The package, packed from a copy: setuptools writes beside what it packs."""
    source = scratch / "source"
    for name in ("tutor", "course"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip(sys.executable, "wheel", "--quiet", "--no-deps", "-w", scratch, source)
    return next(scratch.glob("tutor-*.whl"))


def use(python, scratch):
    """Let Jupyter find a kernel "alone" that is this Python."""
    spec = scratch / "jupyter" / "kernels" / "alone"
    spec.mkdir(parents=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel = {"argv": command, "display_name": "alone", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(kernel), encoding="utf-8")
    os.environ["JUPYTER_PATH"] = str(scratch / "jupyter")


def error_of(path, folder):
    """What goes wrong when the page is executed in this folder, which is empty, or None."""
    folder.mkdir()
    client = NotebookClient(
        nbformat.read(path, as_version=4), kernel_name="alone", timeout=3600,
        resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    try:
        client.execute(env=bare())
    except (CellExecutionError, DeadKernelError) as error:
        return str(error).strip()
    return None


if __name__ == "__main__":
    sys.exit(main())
