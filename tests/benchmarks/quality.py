"""How good a translator becomes within a few minutes, on whatever machine this runs.

    python tests/benchmarks/quality.py --corpus multi30k --minutes 2 5 20 [--seed 0]

Trains with the command line, then translates the test split with the result. Multi30k needs
TUTOR_DATA or the network. The last line is one JSON object: for each number of minutes the steps
and the scores (BLEU in both flavours; exact match for the built-in corpus).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def tutor(*arguments):
    command = [sys.executable, "-m", "tutor", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", choices=("builtin", "multi30k"), default="multi30k")
    parser.add_argument("--minutes", type=float, nargs="+", default=[2.0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--beams", type=int, default=5)
    args = parser.parse_args()
    result = {"corpus": args.corpus, "seed": args.seed, "beams": args.beams}
    with tempfile.TemporaryDirectory() as scratch:
        for minutes in args.minutes:
            folder = Path(scratch, "model")
            tutor("train", "--corpus", args.corpus, "--minutes", minutes, "--seed", args.seed,
                  "--out", folder)  # fmt: skip
            record = json.loads((folder / "training.json").read_text(encoding="utf-8"))
            scores = json.loads(
                tutor("evaluate", "--corpus", args.corpus, "--model", folder, "--json",
                      "--beams", args.beams)
            )  # fmt: skip
            result[f"{minutes:g}"] = {
                "steps": record["steps"],
                "bleu": scores["bleu"]["score"],
                "moses_bleu": scores["moses_bleu"]["score"],
                "exact_match": scores.get("exact_match"),
            }
            result["machine"] = record["machine"]
            result["signatures"] = [scores[name]["signature"] for name in ("bleu", "moses_bleu")]
    print(f"{args.corpus}, seed {args.seed}, {result['machine']}")
    print(f"{'minutes':>8}{'steps':>8}{'BLEU':>8}{'Moses':>8}{'exact':>8}")
    for minutes in args.minutes:
        row = result[f"{minutes:g}"]
        exact = "" if row["exact_match"] is None else f"{row['exact_match']:.3f}"
        print(f"{minutes:8g}{row['steps']:8}{row['bleu']:8.2f}{row['moses_bleu']:8.2f}{exact:>8}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
