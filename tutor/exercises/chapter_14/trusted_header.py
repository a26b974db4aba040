"""A header that lies."""

import json

from tutor.check.exercise import WRITE, Exercise

WIDTH = {"F32": 4, "F16": 2}
TESTS = ("short", "length", "json", "order", "inside", "size", "overlap")


def _trusts(data, tests=TESTS, fail=False):
    """Is the file sound? `tests` are those that are done; `fail` is returned by the others."""
    if len(data) < 8:
        return fail if "short" in tests else True
    length = int.from_bytes(data[:8], "little")
    if 8 + length > len(data) and "length" in tests:
        return fail
    try:
        header = json.loads(data[8 : 8 + length])
    except ValueError:
        return fail if "json" in tests else True
    numbers, taken = len(data) - 8 - length, []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        size = WIDTH[entry["dtype"]]
        for n in entry["shape"]:
            size *= n
        if "order" in tests and not 0 <= first <= last:
            return fail
        if "inside" in tests and last > numbers:
            return fail
        if "size" in tests and last - first != size:
            return fail
        taken.append((first, last))
    pairs = zip(sorted(taken), sorted(taken)[1:], strict=False)
    return not ("overlap" in tests and any(one[1] > other[0] for one, other in pairs))


def _without(*left_out):
    tests = [test for test in TESTS if test not in left_out]
    return lambda data: _trusts(data, tests)
