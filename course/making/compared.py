"""Count for BLEU what each search writes of human captions: `python -m course.making.compared`.

With `trainings` behind it, compare the small translators on captions of the built-in grammar.
"""

import hashlib
import json
import platform
import sys
from datetime import date
from itertools import combinations

import torch
from safetensors.torch import save_file

from tutor.evaluation import bleu_counts, bleu_of_counts
from tutor.models import PRETRAINED, load_pretrained
from tutor.models.compared import COUNTS, SEARCHES, TRAININGS
from tutor.models.small import SEEDS, load_small
from tutor.text.grammar import generate_pairs
from tutor.text.multi30k import load_multi30k
from tutor.training.checkpoint import WEIGHTS
from tutor.translator import Translator

TEST_SEEDS = range(10)  # test splits of 1,000 captions each


def count_searches():
    shipped = load_pretrained()
    # Without its list of words: what a search finds is asked here, not what a slip costs.
    translator = Translator(shipped.model, shipped.tokenizer, shipped.sentences)
    english, french = load_multi30k("test_2016_flickr")
    found = {}
    for name, settings in SEARCHES.items():
        found[name] = bleu_counts(translator.translate(english, **settings), french).byte()
        print(name, flush=True)
    note = {
        "command": "python -m course.making.compared",
        "machine": f"{platform.machine()}, one thread, torch {torch.__version__}",
        "date": f"{date.today():%Y-%m-%d}",
        "model": hashlib.sha256((PRETRAINED / WEIGHTS).read_bytes()).hexdigest(),
    }
    save_file(found, COUNTS, metadata=note)


def count_trainings():
    """Counts of each small translator on all splits: a dict from seed to (10,000, 10)."""
    found = {seed: [] for seed in SEEDS}
    for split in TEST_SEEDS:
        pairs = generate_pairs("test", 1000, seed=split)
        english, french = [pair.english for pair in pairs], [pair.french for pair in pairs]
        for seed in SEEDS:
            found[seed].append(bleu_counts(load_small(seed).translate(english), french))
    return {seed: torch.cat(rows) for seed, rows in found.items()}


def compare_trainings(counts, draws=1000):
    """BLEU of each seed less that of each lower one, on the first 1,000 captions and on the others.

    A dict from a name to [value, low, high]; intervals of 98.3 %, for there are three pairs.
    """
    found = {f"{b} less {a}": {} for a, b in combinations(counts, 2)}
    tails = torch.tensor([0.05 / 6, 1 - 0.05 / 6], dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    for part in (slice(0, 1000), slice(1000, None)):  # what raised a suspicion cannot confirm it
        size = len(counts[0][part])
        drawn = torch.randint(size, (draws, size), generator=generator)
        often = torch.stack([row.bincount(minlength=size) for row in drawn]).double()
        whole = {seed: bleu_of_counts(rows[part].sum(0)) for seed, rows in counts.items()}
        spread = {seed: bleu_of_counts(often @ rows[part]) for seed, rows in counts.items()}
        for a, b in combinations(counts, 2):
            ends = (spread[b] - spread[a]).quantile(tails).tolist()
            value = (whole[b] - whole[a]).item()
            found[f"{b} less {a}"][f"{size:,}"] = [round(x, 2) for x in (value, *ends)]
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)  # so that the same machine gives the same numbers
    if sys.argv[1:] == ["trainings"]:
        found = {"command": "python -m course.making.compared trainings"}
        found["gains"] = compare_trainings(count_trainings())
        TRAININGS.write_text(json.dumps(found, indent=1) + "\n")
    else:
        count_searches()
