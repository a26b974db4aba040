"""What the course claims of more than one run, tried with ten seeds.

    python tests/benchmarks/claims.py [--seeds 10] [--keep FOLDER] [02 03]

Executes each page that sets a SEED once a seed (hours, for all pages) and prints each claim that
holds for fewer than nine tenths of them. With --keep, what was found of a page stays in FOLDER, and
a page whose text and package are the same is not executed again. The last line is one JSON object.
Fails where a page does not say itself for how many seeds such a claim holds.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from pathlib import Path

import jupytext

from course.build.claims import SEED_LINE, claims_of

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"


def sets_seed(source):
    """Whether a page's first code cell sets the SEED that all its chance comes from."""
    cells = jupytext.read(source, fmt="md:myst").cells
    return bool(SEED_LINE.search(next(cell.source for cell in cells if cell.cell_type == "code")))


def state(source, seeds):
    """A hash of all that a page's claims depend on."""
    package = sorted((ROOT / "tutor").rglob("*.py"))
    text = b"".join(path.read_bytes() for path in (source, *package))
    return hashlib.sha256(text + str(seeds).encode()).hexdigest()[:16]


def measured(source, seeds, keep):
    """Of each claim [cell, text, seeds that hold, whether the page says so], and the seconds."""
    kept = keep / f"{source.stem}-{state(source, seeds)}.json" if keep else None
    if kept and kept.is_file():
        return json.loads(kept.read_text(encoding="utf-8"))
    start = time.perf_counter()
    claims = [
        [claim.cell, " ".join(claim.text.split()), len(claim.held), claim.told]
        for claim in claims_of(source, NOTEBOOKS, range(seeds))
    ]
    found = {"claims": claims, "seconds": round(time.perf_counter() - start, 1)}
    if kept:
        keep.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found), encoding="utf-8")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="beginnings of names (default: all)")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    sources = sorted((NOTEBOOKS / "source").glob("*.md"))
    sources = [s for s in sources if s.name.startswith(tuple(args.pages or [""])) and sets_seed(s)]
    result = {
        "pages": len(sources),
        "claims": 0,
        "seeds": args.seeds,
        "claims_below_nine_tenths": 0,
    }
    result |= {"claims_told_with_their_share": 0, "seconds": 0.0}
    for source in sources:
        found = measured(source, args.seeds, args.keep)
        told = [claim for claim in found["claims"] if claim[3]]
        below = [c for c in found["claims"] if c not in told and c[2] < 0.9 * args.seeds]
        print(f"{source.stem}: {len(found['claims'])} claims, {found['seconds']} s", flush=True)
        for cell, text, held, _ in below:
            print(f"  cell {cell}, {held} of {args.seeds}: {text}")
        result["claims"] += len(found["claims"])
        result["claims_below_nine_tenths"] += len(below)
        result["claims_told_with_their_share"] += len(told)
        result["seconds"] += found["seconds"]
    result["threads"] = os.environ.get("OMP_NUM_THREADS", os.cpu_count())
    print(json.dumps(result))
    return 1 if result["claims_below_nine_tenths"] else 0


if __name__ == "__main__":
    sys.exit(main())
