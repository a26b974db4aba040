"""`python -m tutor.check --audit`: are the checks themselves right?"""

import argparse
import json
import sys

from tutor.commands import streams
from tutor.exercises import chapters, find, places
from tutor.exercises.audit import ZERO, audit, enough_named


def main(arguments=None):
    streams.prepare()
    parser = argparse.ArgumentParser(prog="python -m tutor.check", description=__doc__)
    parser.add_argument("--audit", action="store_true", required=True, help="run the whole bank")
    parser.add_argument("--messages", action="store_true", help="print what each is told")
    parser.add_argument("chapters", nargs="*", help="such as 02 (default: every chapter)")
    options = parser.parse_args(arguments)
    unknown = set(options.chapters) - set(chapters())
    if unknown:
        parser.error(f"there are no exercises for {', '.join(sorted(unknown))}")
    wanted = options.chapters or chapters()
    chosen = [find(name) for name, chapter in places().items() if chapter in wanted]
    counts = audit(chosen, messages=options.messages)
    print(json.dumps(counts))
    return 1 if any(counts[key] for key in ZERO) or not enough_named(counts) else 0


if __name__ == "__main__":
    sys.exit(main())
