"""Put the judges of the museum to the test: `python -m course.museum` counts what slips."""

import json
import sys
from collections import Counter

from course.museum import EXHIBITS, lazy
from course.museum.styles import styles_of


def audit():
    """How many answers were tried, passed rightly, slipped and were refused; and which."""
    counts = Counter(exhibits=len(EXHIBITS), allowed=0, slipped=0, refused=0)
    for exhibit in EXHIBITS.values():
        for make in (lazy.candidates, lazy.nearly_right, lazy.mutants):
            counts[make.__name__] += len(make(exhibit))
            for name in lazy.passed(exhibit, make):
                slipped = not lazy.allowed(exhibit, name)
                counts["slipped" if slipped else "allowed"] += 1
                if slipped:
                    print(f"{exhibit.name}: slipped, {name}")
        for number, answer in enumerate(styles_of(exhibit), start=1):
            counts["styles"] += 1
            if not exhibit.passes(answer):
                counts["refused"] += 1
                print(f"{exhibit.name}: refused, style {number}")
    return counts


if __name__ == "__main__":
    counts = audit()
    print(json.dumps(counts))
    sys.exit(bool(counts["slipped"] or counts["refused"]))
