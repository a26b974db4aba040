"""Which row of the memory tells monte from fait, by seed: python tests/benchmarks/swaps.py 0 1 2

Runs the cells of the page on the decoder up to that experiment, once a seed. A line a seed: the
translations, and the verb after each exchange; the last line is one JSON object, {seed: verbs}.
With one thread a seed takes about 20 seconds. The table on the page was made in this way.
"""

import json
import re
import sys
from pathlib import Path

import jupytext
import matplotlib

PAGE = Path(__file__).resolve().parents[2] / "notebooks" / "source" / "06_the_decoder.md"


def verbs_of(seed):
    """The verbs with the row riding exchanged and with the row horse exchanged."""
    space = {}
    for cell in jupytext.read(PAGE, fmt="md:myst").cells:
        if cell.cell_type == "code" and "you-write" not in cell.metadata.get("tags", []):
            try:
                exec(re.sub(r"^SEED = \d+", f"SEED = {seed}", cell.source, flags=re.M), space)
            except AssertionError as error:  # a claim that this seed does not hold
                print("not so:", error)
        if "verbs" in space:
            after = space["verbs"](space["translator"])
            return [max(after[row], key=after[row].get) for row in ("riding", "horse")]


def main():
    matplotlib.use("Agg")
    print(json.dumps({int(seed): verbs_of(seed) for seed in sys.argv[1:]}))


if __name__ == "__main__":
    main()
