"""What an exception of Python or PyTorch means in plain words; `reasons.txt` says it of each."""

import re
from pathlib import Path


def read(text):
    """The reasons that a text lists: [(regular expression, words with its groups)]."""
    found = []
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        patterns = [line for line in lines if not line.startswith(" ")]
        if patterns:
            words = " ".join(line.strip() for line in lines if line.startswith(" "))
            found.append(("|".join(patterns), words))
    return found


REASONS = read(Path(__file__).with_name("reasons.txt").read_text(encoding="utf-8"))


def reason(raised):
    """What an exception means, in one or two sentences; "" if we do not know it."""
    said = f"{raised.kind}: {raised.message}"
    for pattern, words in REASONS:
        found = re.search(pattern, said)
        if found:
            return words.format(*(group for group in found.groups() if group is not None))
    return ""
