"""Which vector of the memory tells monte from fait, by seed: python tests/benchmarks/swaps.py 0 1 2

Runs the cells of the page on writing until its translator is trained, once a seed, and
exchanges vectors of the horse's memory for those of the bicycle's. A line a seed: the
translations, and the verb after each exchange; the last line is one JSON object, {seed: verbs}.
With one thread a seed takes about 20 seconds. The counts on the page were made in this way.
"""

import json
import re
import sys
from pathlib import Path

import jupytext
import matplotlib
import torch

PAGE = Path(__file__).resolve().parents[2] / "notebooks" / "source" / "06b_writing.md"


def edits(space, size=100):
    """Word edits of the model's own translations, and its errors under teacher forcing."""
    pairs = space["short_captions"]("val", 3000)
    known = [p for p in pairs if {*" ".join(p).split()} <= {*space["all_words"]}][:size]
    own, taught = 0, 0
    for english, french in known:
        words = space["translate"](space["translator"], english).removesuffix(" [EOS]").split()
        own += distance(words, french.split())
        ids = [space["to_ids"]([line], space["all_words"])
               for line in (f"{english} [EOS]", f"[BOS] {french} [EOS]")]  # fmt: skip
        read, asked = ids[1][:, :-1], ids[1][:, 1:]
        taught += (space["translator"](ids[0], read).argmax(dim=-1) != asked).sum().item()
    return own, taught


def distance(a, b):
    """How many words must be put in, taken out or exchanged to make `b` of `a`."""
    row = list(range(len(b) + 1))
    for i, word in enumerate(a, 1):
        last, row = row, [i]
        for j, other in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (word != other)))
    return row[-1]


@torch.no_grad()
def verbs(space):
    """The verb with the horse's memory as it is, and with the bicycle's *riding*, or *bicycle*."""
    model, to_ids, words = space["translator"], space["to_ids"], space["all_words"]
    horse, bike = (model.encode(to_ids([f"{space[name]} [EOS]"], words))
                   for name in ("white_horse", "bicycle"))  # fmt: skip
    result = []
    for here, there in (([], []), (3, 3), (6, 5)):  # the places of what is exchanged
        memory = horse.clone()
        memory[0, here] = bike[0, there]
        Y = model.decode(to_ids(["[BOS] un homme"], words), memory, None)  # no padding
        result.append(words[model.logits(Y)[0, -1].argmax()])
    return result


def verbs_of(seed):
    """The verb as it is, and after each exchange, in the order of the page's lines."""
    space = {}
    for cell in jupytext.read(PAGE, fmt="md:myst").cells:
        if cell.cell_type == "code" and "you-write" not in cell.metadata.get("tags", []):
            try:
                exec(re.sub(r"^SEED = \d+", f"SEED = {seed}", cell.source, flags=re.M), space)
            except AssertionError as error:  # a claim that this seed does not hold
                print("not so:", error)
        if "losses" in space and "cheval blanc" in cell.source:  # the cell of the translations
            print(f"seed {seed}: {edits(space)} edits when it writes, and errors when it is taught")
            return verbs(space)


def main():
    matplotlib.use("Agg")
    print(json.dumps({int(seed): verbs_of(seed) for seed in sys.argv[1:]}))


if __name__ == "__main__":
    main()
