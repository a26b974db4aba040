"""How large the house is, as JSON: lines by room, and constants that share a name.

python tests/benchmarks/house.py [--names]

Lines are those of files that git knows, as they are formatted (100 columns); what a command
generates is left out. A constant is a name in capitals that a module of `tutor` or `course` gives
a value; two modules that give one name share it.
"""

import argparse
import ast
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = (".py", ".js", ".mjs", ".css")
CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+")


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return [Path(name) for name in names.stdout.splitlines() if (ROOT / name).is_file()]


def lines(path):
    return (ROOT / path).read_text(encoding="utf-8").count("\n")


def constants(path):
    """Names in capitals that a module assigns on its first level."""
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for part in getattr(target, "elts", [target]):
                if isinstance(part, ast.Name) and CAPITALS.fullmatch(part.id):
                    yield part.id


def measure():
    """Lines by room, and each constant's modules."""
    rooms, modules = defaultdict(int), defaultdict(set)
    for path in tracked():
        if path.parts[:2] == ("course", "exercises"):
            rooms["bank"] += lines(path) if path.suffix == ".md" else 0
        elif path.suffix in CODE and "bundles" not in path.parts:
            top, kind = path.parts[0], path.suffix[1:].replace("mjs", "js")
            rooms[top if top == "tests" else f"{top} {kind}"] += lines(path)
            if path.suffix == ".py" and top in ("tutor", "course"):
                for name in constants(path):
                    modules[name].add(path.as_posix())
    return dict(sorted(rooms.items())), modules


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--names", action="store_true", help="also say which names are shared")
    options = parser.parse_args()
    rooms, modules = measure()
    shared = {name: sorted(paths) for name, paths in sorted(modules.items()) if len(paths) > 1}
    found = {
        "lines": rooms,
        "code_outside_bank_and_tests": sum(
            number for room, number in rooms.items() if room not in ("bank", "tests")
        ),
        "constants": len(modules),
        "constants_that_share_a_name": len(shared),
    }
    print(json.dumps(found | ({"shared": shared} if options.names else {}), indent=1))


if __name__ == "__main__":
    main()
