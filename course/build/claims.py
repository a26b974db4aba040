"""Which claims of a page hold with other seeds: each `assert` of it, tried with each of them.

A page's first code cell sets `SEED`, and all that is random on the page comes from it. The page is
executed once a seed; an assertion that fails, or a cell that raises, ends neither cell nor page.
"""

import ast
import json
import os
import re
from pathlib import Path
from typing import NamedTuple

import jupytext
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.v4 import new_code_cell

from course.build.notebooks import BuildError, execute, select

SEED_LINE = re.compile(r"^SEED = \d+\b", re.M)
TOLD = re.compile(r"\b\d+ of (\d+|ten) seeds\b")  # a message that says for how many it holds
RAISES = "1000000"  # in place of a line: after all claims of the cell
RECORD = """\
try:
    pass
except AssertionError:
    _claims.setdefault({key!r}, []).append(False)
else:
    _claims.setdefault({key!r}, []).append(True)
"""


class Claim(NamedTuple):
    """A claim of a page: its cell (from 0, all kinds), what it says, and the seeds that hold."""

    cell: int
    text: str
    held: tuple
    tried: tuple

    @property
    def told(self):
        """Whether the page itself says for how many seeds it holds."""
        return bool(TOLD.search(self.text))

    @property
    def share(self):
        return len(self.held) / len(self.tried)


class Recorder(ast.NodeTransformer):
    """Turns each `assert` but those of tests into one that writes down whether it held."""

    def __init__(self, cell):
        self.cell, self.claims = cell, {}

    def visit_FunctionDef(self, node):
        """The asserts of a test that the page shows are its questions, no claims."""
        return node if node.name.startswith("test_") else self.generic_visit(node)

    def visit_Assert(self, node):
        key = f"{self.cell}.{node.lineno}.{node.col_offset}"
        said = node.msg or node.test
        self.claims[key] = said.value if isinstance(said, ast.Constant) else ast.unparse(said)
        (attempt,) = ast.parse(RECORD.format(key=key)).body
        attempt.body = [node]
        return attempt


def prepared(notebook, seed):
    """A page to be tried with a seed, in place; returns its claims, {key: what it says}."""
    claims = {}
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        recorder = Recorder(index)
        tree = ast.parse(
            TransformerManager().transform_cell(SEED_LINE.sub(f"SEED = {seed}", cell.source))
        )
        cell.source = ast.unparse(ast.fix_missing_locations(recorder.visit(tree)))
        claims |= recorder.claims
    notebook.cells.insert(0, new_code_cell("_claims = {}"))
    notebook.cells.append(new_code_cell("import json\nprint(json.dumps(_claims))"))
    return claims


def claims_of(source: Path, folder: Path, seeds) -> list[Claim]:
    """All claims of a page, in its order.

    Raises BuildError where the page sets no SEED, or does not come to its end.
    """
    texts, failed = {}, {}  # key -> what it says, the seeds for which it does not hold
    for seed in seeds:
        notebook = jupytext.read(source, fmt="md:myst")
        first = next(cell for cell in notebook.cells if cell.cell_type == "code")
        if not SEED_LINE.search(first.source):
            raise BuildError(f"{source.name}: no SEED is set in its first code cell.")
        texts |= prepared(notebook, seed)
        execute(notebook, source.name, folder, timeout=3600, goes_on=True)
        *cells, last = notebook.cells
        outcomes = json.loads(last.outputs[0].text) if last.outputs else {}
        for key in texts:
            if not all(outcomes.get(key, [key.endswith(RAISES)])):
                failed.setdefault(key, set()).add(seed)
        for index, cell in enumerate(cells, start=-1):  # one was put before the first
            for output in cell.get("outputs", ()):
                if output.output_type == "error":
                    key = f"{index}.{RAISES}"
                    texts.setdefault(key, f"runs without {output.ename}: {output.evalue}"[:200])
                    failed.setdefault(key, set()).add(seed)
    claims = []
    for key in sorted(texts, key=lambda key: [int(part) for part in key.split(".")]):
        held = tuple(seed for seed in seeds if seed not in failed.get(key, ()))
        claims.append(Claim(int(key.partition(".")[0]), texts[key], held, tuple(seeds)))
    return claims


def print_claims(names, folder, seeds):
    """Print a table of claims; returns how many hold for under nine tenths and do not say so."""
    threads = os.environ.get("OMP_NUM_THREADS", os.cpu_count())
    bad = 0
    for source in select(names, folder):
        print(f"{source.stem}, {len(seeds)} seeds, {threads} thread(s)")
        for claim in claims_of(source, folder, seeds):
            bad += claim.share < 0.9 and not claim.told
            held = f"{len(claim.held)} of {len(claim.tried)}"
            print(f"{claim.cell:5d}  {held:>8}  {' '.join(claim.text.split())}")
    return bad
