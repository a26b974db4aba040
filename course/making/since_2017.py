"""What the changes since 2017 are worth: `python -m course.making.since_2017` (chapters 20, 20b).

It trains what `results.json` and `muon.json` do not have yet, seed by seed, and writes them after
each row. So their rows may come from several sittings; without the files, all are trained anew.
`python -m course.making.since_2017 muon` makes the second alone: AdamW and Muon on the last rung of
the ladder, for several lengths of training. Each has the best of `RACE_RATES` rates at each length,
chosen on captions and a seed of their own; the AdamW that Muon keeps for tables and norms has the
rate that is best for AdamW alone. All models read the English of the built-in grammar, one word a
token, with one budget of parameters and steps. `POSITION_KINDS` differ in positions and window
alone, are trained on short texts and tested on long ones.
"""

import json
import platform
import random
import sys
import time
from functools import partial

import torch
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR

from tutor.attention import PAD
from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.models.since_2017 import FEW, FOLDER, LADDER, MANY, SEEDS, load
from tutor.text.batches import pad
from tutor.text.tokenizer import BOS, EOS, SPECIAL
from tutor.text.truth import generate_english, log_probability
from tutor.training import Recipe, make_optimizers
from tutor.training.optimizers import warmup_cosine
from tutor.transformer import count_parameters

LADDER_STEPS, BATCH = 500, 64
RATES = (0.01, 0.03)  # highest learning rates; every rung is trained with both
WARMUP = 50  # steps in which the learning rate rises
RACES = (50, 100, 200)  # steps of a training with AdamW and with Muon
RACE_RATES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16)  # rates of both
RACE_BATCH, CHOOSING_SEED = 32, 10  # captions in a batch; the seed that chooses the rates
SHORT, LONG = 32, 256  # tokens of a text in training and in the test of lengths
PAPER = dict(
    d_model=64, num_layers=2, num_heads=4, d_ff=256, dropout=0.0, max_len=LONG,
    positions="sinusoidal", norm_first=False,
)  # fmt: skip
POSITION_KINDS = {
    "learned": dict(positions="learned"),
    "sinusoidal": dict(positions="sinusoidal"),
    "RoPE": dict(positions="rope"),
    "ALiBi": dict(positions="alibi"),
    "RoPE, window of 16": dict(positions="rope", window=16),
}


def cut(caption):
    """The words of a caption, the full stop apart."""
    return caption.removesuffix(".").replace(",", " ,").split() + ["."]


def number_words(captions):
    """Word -> id, one for each word of the captions (a list of str), after the special tokens."""
    words = sorted({word for caption in captions for word in cut(caption)})
    return {word: number for number, word in enumerate(words, start=len(SPECIAL))}


def rung(name):
    """The settings of LADDER[name], with those of all the rungs before it."""
    settings = dict(PAPER)
    for here, changes in LADDER.items():
        settings |= changes
        if here == name:
            return settings
    raise ValueError(f"There is no rung {name!r}: take one of {', '.join(LADDER)}.")


def losses(model, ids):
    """Nats of each next token of ids (N, T), 0 where it is padding: (N, T - 1)."""
    Z = model(ids[:, :-1])  # (N, T - 1, vocab_size)
    return F.cross_entropy(Z.transpose(1, 2), ids[:, 1:], ignore_index=PAD, reduction="none")


def adamw(model, lr):
    """AdamW for all parameters, in a list."""
    return [
        torch.optim.AdamW(
            model.parameters(), lr=lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True
        )
    ]


def muon(model, lr, lr_rest):
    """Muon for the matrices of the layers, and AdamW for the rest."""
    return make_optimizers(model, Recipe(steps=1, lr=lr, lr_rest=lr_rest))


def train(settings, batches, seed, lr, warmup=WARMUP, make=adamw):
    """A LanguageModel after one step on each of `batches`, ids (N, T) each.

    The learning rate rises to lr in `warmup` steps and falls along a cosine.
    """
    torch.manual_seed(seed)
    model = LanguageModel(LanguageModelConfig(**settings))
    optimizers = make(model, lr)
    factor = partial(warmup_cosine, steps=len(batches), warmup=warmup)
    schedules = [LambdaLR(optimizer, factor) for optimizer in optimizers]
    for ids in batches:
        model.zero_grad()
        (losses(model, ids).sum() / (ids[:, 1:] != PAD).sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for each in (*optimizers, *schedules):
            each.step()
    return model.eval()


def captions_in_batches(ids, seed, size=BATCH, steps=LADDER_STEPS):
    """`steps` batches of `size` captions each, padded; ids: a list of lists of int."""
    rng = random.Random(seed)
    return [pad([[BOS, *rng.choice(ids), EOS] for _ in range(size)]) for _ in range(steps)]


def texts(ids, number, length, seed):
    """`number` texts of `length` tokens, cut from captions in random order: (number, length)."""
    rng = random.Random(seed)
    stream = []
    while len(stream) < (number + 1) * length:
        stream += [*rng.choice(ids), EOS]
    return torch.tensor(stream[: number * length]).reshape(number, length)


@torch.no_grad()
def nats_per_caption(model, ids):
    """Mean over captions of -log p of all their words and the end; ids: a list of lists of int."""
    return losses(model, pad([[BOS, *caption, EOS] for caption in ids])).sum(dim=1).mean().item()


@torch.no_grad()
def nats_by_place(model, ids, parts=8):
    """Mean nats a token in each of `parts` equal stretches of the texts ids (N, T)."""
    per_place = losses(model, ids).mean(dim=0)  # (T - 1,)
    return [part.mean().item() for part in per_place.tensor_split(parts)]


@torch.no_grad()
def race(corpus, chosen_by, test, vocab_size):
    """AdamW and Muon for several lengths of training; writes muon.json after each length."""
    settings = rung(list(LADDER)[-1]) | dict(vocab_size=vocab_size)
    found = {
        "command": "python -m course.making.since_2017 muon",
        "seeds": SEEDS,
        "tried": RACE_RATES,
        "captions": RACE_BATCH,
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"),
        "steps": {},
    }
    if (FOLDER / "muon.json").exists():
        found["steps"] = load("muon")["steps"]

    def nats(steps, make, seed, lr, captions):
        batches = captions_in_batches(corpus, seed, RACE_BATCH, steps)
        model = train(settings, batches, seed, lr, steps // 5, make)
        return round(nats_per_caption(model, captions), 4)

    for steps in RACES:
        if str(steps) in found["steps"]:
            continue
        row, make = {}, adamw
        for name in ("AdamW", "Muon"):
            tried = {lr: nats(steps, make, CHOOSING_SEED, lr, chosen_by) for lr in RACE_RATES}
            best = min(tried, key=tried.get)
            ends = [nats(steps, make, seed, best, test) for seed in SEEDS]
            row[name] = {"rate": best, "tried": list(tried.values()), "nats": ends}
            make = partial(muon, lr_rest=best)
        found["steps"][str(steps)] = row
        (FOLDER / "muon.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(steps, "steps:", row, flush=True)


def main():
    read, asked = generate_english(20_000, seed=0), generate_english(500, seed=1)
    number = number_words(read)  # the words that are asked for are all among them
    corpus, test = ([[number[word] for word in cut(c)] for c in part] for part in (read, asked))
    vocab_size = len(SPECIAL) + len(number)
    if sys.argv[1:] == ["muon"]:
        race(corpus[:-500], corpus[-500:], test, vocab_size)
        return
    long = texts(test, 64, LONG + 1, seed=0)
    truth = -sum(map(log_probability, asked)) / len(asked)
    tokens = sum(len(ids) + 1 for ids in test) / len(test)  # of a caption, with its end
    print(f"the grammar itself: {truth:.3f} nats a caption", flush=True)

    threads = torch.get_num_threads()
    results = {
        "command": "python -m course.making.since_2017",
        "seeds": SEEDS,
        "rates": RATES,
        "steps": LADDER_STEPS,
        "warmup": WARMUP,
        "torch": torch.__version__,
        "machine": f"{platform.system()} {platform.machine()}, {threads} CPU thread(s)",
        "truth": round(truth, 4),
        "tokens": round(tokens, 4),
        "ladder": {},
        "lengths": {},
        "cpu_seconds": {},
    }
    if (FOLDER / "results.json").exists():
        known = load("results")
        if known["torch"] != torch.__version__:
            sys.exit(
                f"results.json was made with torch {known['torch']}: delete it to make all anew."
            )
        parts = ("ladder", "lengths", "cpu_seconds")
        results |= {part: known[part] for part in parts if part in known}

    def make(row, key, label, measure, seeds=FEW):
        """row[key]: the measurement of each seed that is not there yet; then all is written."""
        known = row.get(key, [])
        if len(known) >= len(seeds):
            return
        start = time.process_time()
        row[key] = known + [measure(seed) for seed in seeds[len(known) :]]
        spent = results["cpu_seconds"].get(label, 0) + time.process_time() - start
        results["cpu_seconds"][label] = round(spent)
        (FOLDER / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(f"{label}:", row[key], flush=True)

    def nats(settings, lr, seed):
        model = train(settings, captions_in_batches(corpus, seed), seed, lr)
        return round(nats_per_caption(model, test), 4)

    def by_place(kind, seed):
        settings = rung("SwiGLU") | POSITION_KINDS[kind] | dict(vocab_size=vocab_size)
        short = texts(corpus, LADDER_STEPS * BATCH // 2, SHORT + 1, seed).split(BATCH // 2)
        model = train(settings, short, seed, RATES[0])
        return [round(nats, 4) for nats in nats_by_place(model, long)]

    for name in LADDER:
        settings = rung(name) | dict(vocab_size=vocab_size)
        parameters = count_parameters(LanguageModel(LanguageModelConfig(**settings)))
        start = {"d_ff": settings["d_ff"], "parameters": parameters}
        row = results["ladder"].setdefault(name, start)
        for lr in RATES:
            seeds = SEEDS if lr == RATES[0] and name in MANY else FEW
            make(row, f"nats at {lr}", f"{name}, rate {lr}", partial(nats, settings, lr), seeds)

    for kind in POSITION_KINDS:
        make(results["lengths"], kind, kind, partial(by_place, kind))


if __name__ == "__main__":
    main()
