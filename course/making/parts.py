"""What an encoder loses with a part: `python -m course.making.parts` (05 and 05b).

It trains what `results.json` does not have yet, and writes it after each run; without the file, all
is trained anew, in about half an hour on one thread. What it runs are the definitions of the pages
themselves, so that the two cannot differ.
"""

import ast
import json
import platform
from datetime import date
from functools import partial
from itertools import count

import jupytext
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from course.build.notebooks import NOTEBOOKS
from tutor.encoder import Encoder
from tutor.models.parts import CHANGES, FOLDER, SEEDS, UPDATES, WHOLE

DEFINITIONS = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
CONSTANTS = {"vocabulary", "AND", "LOOKS"}


def defined_by_the_page(slug="what_each_part_is_for"):
    """What the page imports and defines, and its CONSTANTS, as a dict from name to value."""
    (source,) = (NOTEBOOKS / "source").glob(f"*_{slug}.md")
    body = []
    for cell in jupytext.read(source, fmt="md:myst").cells:
        if cell.cell_type == "code" and "you-write" not in cell.metadata.get("tags", ()):
            body += [node for node in ast.parse(cell.source).body if wanted(node)]
    found = {}
    exec(compile(ast.Module(body, []), str(source), "exec"), found)
    return found


def wanted(node):
    """Whether a statement imports or defines something, or sets one of CONSTANTS."""
    if isinstance(node, ast.Assign):
        targets = ast.walk(node.targets[0])
        return any(isinstance(name, ast.Name) and name.id in CONSTANTS for name in targets)
    return isinstance(node, DEFINITIONS)


def train(pages, seed, steps, rate=3e-3, warm_up=0, norm_first=False, **settings):
    """Page 05's `learn`, at the rate and in the order of norm and residual that 05b compares."""
    page, depth = pages
    page["Encoder"], step = partial(Encoder, norm_first=norm_first), count()

    def set_rate(optimizer, *_):
        optimizer.param_groups[0]["lr"] = rate * depth["warm_up"](next(step), warm_up)

    hook = register_optimizer_step_pre_hook(set_rate)  # it is called before each step
    try:
        return page["learn"](seed, steps, **settings)
    finally:
        hook.remove()


def write(results):
    """Write the results, a line a run."""
    head = {
        "command": "python -m course.making.parts",
        "machine": f"{platform.machine()}, one thread, torch {torch.__version__}",
        "date": f"{date.today():%Y-%m-%d}",
    }
    text = json.dumps(results | head, indent=1)
    lines = text.replace("\n     ", " ").replace("\n    ]", "]").replace("[ ", "[")  # a line a run
    (FOLDER / "results.json").write_text(lines + "\n", encoding="utf-8")


def main():
    torch.set_num_threads(1)  # so that the same machine gives the same numbers
    page, path = defined_by_the_page(), FOLDER / "results.json"
    pages = page, defined_by_the_page("depth")
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    curves, looks = results.setdefault("curves", {}), results.setdefault("looks", [])
    for seed in SEEDS:
        for part, changes in CHANGES.items():
            for name, settings in changes.items():
                runs = curves.setdefault(part, {}).setdefault(name, [])
                if len(runs) > seed and (name != WHOLE or len(looks) > seed):
                    continue
                reader, curve = train(pages, seed, UPDATES[part], **settings)
                runs[seed:] = [[round(share, 2) for share in curve]]
                if name == WHOLE:
                    shares = (page["right_without"](x, reader, seed) for x in page["LOOKS"])
                    looks[seed:] = [[round(share, 2) for share in shares]]
                write(results)
        print(f"seed {seed} is done")


if __name__ == "__main__":
    main()
