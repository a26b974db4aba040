"""Count for BLEU what each search writes of human captions: `python -m course.making.compared`."""

import hashlib
import platform
from datetime import date

import torch
from safetensors.torch import save_file

from tutor.evaluation import bleu_counts
from tutor.models import PRETRAINED, load_pretrained
from tutor.models.compared import COUNTS, SEARCHES
from tutor.text.multi30k import load_multi30k
from tutor.training.checkpoint import WEIGHTS

if __name__ == "__main__":
    torch.set_num_threads(1)  # so that the same machine gives the same numbers
    translator = load_pretrained()
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
