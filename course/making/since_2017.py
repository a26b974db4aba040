"""Train what results.json does not have yet, and write it: `python -m course.making.since_2017`."""

import json
import platform
import sys
import time
from functools import cache, partial

import torch

from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.models.since_2017 import (
    BATCH,
    EDGES,
    FOLDER,
    KINDS,
    LADDER,
    LONG,
    LONG_WARMUP,
    PATIENT,
    RATES,
    SEEDS,
    SHORT,
    STEPS,
    WARMUP,
    captions_in_batches,
    cut,
    load,
    nats_by_place,
    nats_per_caption,
    number_words,
    rung,
    shares_of_far_keys,
    texts,
    train,
)
from tutor.text.tokenizer import SPECIAL
from tutor.text.truth import generate_english, log_probability
from tutor.transformer import count_parameters

read, asked = generate_english(20_000, seed=0), generate_english(500, seed=1)
number = number_words(read + asked)
corpus, test = ([[number[word] for word in cut(c)] for c in part] for part in (read, asked))
vocab_size = len(SPECIAL) + len(number)
long = texts(test, 64, LONG + 1, seed=0)
truth = -sum(map(log_probability, asked)) / len(asked)
tokens = sum(len(ids) + 1 for ids in test) / len(test)  # of a caption, with its end
print(f"the grammar itself: {truth:.3f} nats a caption", flush=True)

results = {
    "command": "python -m course.making.since_2017",
    "seeds": SEEDS,
    "rates": RATES,
    "steps": STEPS,
    "warmup": WARMUP,
    "long_warmup": LONG_WARMUP,
    "torch": torch.__version__,
    "machine": f"{platform.system()} {platform.machine()}, {torch.get_num_threads()} CPU thread(s)",
    "truth": round(truth, 4),
    "tokens": round(tokens, 4),
    "ladder": {},
    "patient": {},
    "edges": {},
    "lengths": {},
    "far": {},
    "cpu_seconds": {},
}
if (FOLDER / "results.json").exists():
    known = load("results")
    if known["torch"] != torch.__version__:
        sys.exit(f"results.json was made with torch {known['torch']}: delete it to make all anew.")
    parts = ("ladder", "patient", "edges", "lengths", "far", "cpu_seconds")
    results |= {part: known[part] for part in parts if part in known}


def make(row, key, label, measure):
    """row[key]: the measurement of each seed, if it is not there yet; then all is written."""
    if key in row:
        return
    start = time.process_time()
    row[key] = [measure(seed) for seed in SEEDS]
    results["cpu_seconds"][label] = round(time.process_time() - start)
    (FOLDER / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"{label}:", row[key], flush=True)


def nats(settings, lr, warmup, seed):
    model = train(settings, captions_in_batches(corpus, seed), seed, lr, warmup)
    return round(nats_per_caption(model, test), 4)


@cache
def of_kind(kind, seed):
    settings = rung("SwiGLU") | KINDS[kind] | dict(vocab_size=vocab_size)
    short = texts(corpus, STEPS * BATCH // 2, SHORT + 1, seed).split(BATCH // 2)
    return train(settings, short, seed, RATES[0])


def by_place(kind, seed):
    return [round(nats, 4) for nats in nats_by_place(of_kind(kind, seed), long)]


def far(kind, seed):
    model = of_kind(kind, seed)
    return [round(share, 4) for share in shares_of_far_keys(model, long[:, :-1], SHORT)]


for part, names, warmup in (("ladder", LADDER, WARMUP), ("patient", PATIENT, LONG_WARMUP)):
    for name in names:
        settings = rung(name) | dict(vocab_size=vocab_size)
        parameters = count_parameters(LanguageModel(LanguageModelConfig(**settings)))
        start = {"d_ff": settings["d_ff"], "parameters": parameters}
        row = results[part].setdefault(name, start)
        for lr in RATES:
            label = f"{name}, {warmup} steps of warm-up, rate {lr}"
            make(row, f"nats at {lr}", label, partial(nats, settings, lr, warmup))

for name, lr in EDGES.items():
    settings = rung(name) | dict(vocab_size=vocab_size)
    row, label = results["edges"].setdefault(name, {}), f"{name}, rate {lr}"
    make(row, f"nats at {lr}", label, partial(nats, settings, lr, WARMUP))

for kind in KINDS:
    make(results["lengths"], kind, kind, partial(by_place, kind))
make(results["far"], "ALiBi", "ALiBi, keys far back", partial(far, "ALiBi"))
