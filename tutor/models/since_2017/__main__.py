"""Train them all again and write the results: `python -m tutor.models.since_2017`."""

import json
import platform
import time

import torch

from tutor.models.since_2017 import (
    BATCH,
    FOLDER,
    KINDS,
    LADDER,
    LONG,
    RATES,
    SEEDS,
    SHORT,
    STEPS,
    captions_in_batches,
    cut,
    nats_by_place,
    nats_per_caption,
    number_words,
    rung,
    texts,
    train,
)
from tutor.text.tokenizer import SPECIAL
from tutor.text.truth import generate_english, log_probability
from tutor.transformer import count_parameters

start = time.process_time()
read, asked = generate_english(20_000, seed=0), generate_english(500, seed=1)
number = number_words(read + asked)
corpus, test = ([[number[word] for word in cut(c)] for c in part] for part in (read, asked))
vocab_size = len(SPECIAL) + len(number)
truth = -sum(map(log_probability, asked)) / len(asked)
print(f"the grammar itself: {truth:.3f} nats a caption", flush=True)

ladder = {}
for name in LADDER:
    settings = rung(name) | dict(vocab_size=vocab_size)
    ladder[name] = {"d_ff": settings["d_ff"]}
    for lr in RATES:
        nats = []
        for seed in SEEDS:
            model = train(settings, captions_in_batches(corpus, seed), seed, lr)
            nats.append(round(nats_per_caption(model, test), 4))
        ladder[name] |= {"parameters": count_parameters(model), f"nats at {lr}": nats}
        print(f"{name}, learning rate {lr}:", nats, flush=True)

lengths, long = {}, texts(test, 64, LONG + 1, seed=0)
for kind in KINDS:
    lengths[kind] = []
    for seed in SEEDS:
        short = texts(corpus, STEPS * BATCH // 2, SHORT + 1, seed).split(BATCH // 2)
        settings = rung("SwiGLU") | dict(positions=kind, vocab_size=vocab_size)
        model = train(settings, short, seed, RATES[0])
        lengths[kind].append([round(nats, 4) for nats in nats_by_place(model, long)])
    print(f"{kind}:", lengths[kind], flush=True)

results = {
    "command": "python -m tutor.models.since_2017",
    "seeds": SEEDS,
    "rates": RATES,
    "steps": STEPS,
    "torch": torch.__version__,
    "machine": f"{platform.system()} {platform.machine()}, {torch.get_num_threads()} CPU thread(s)",
    "minutes": round((time.process_time() - start) / 60, 1),
    "truth": round(truth, 4),
    "ladder": ladder,
    "lengths": lengths,
}
(FOLDER / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
