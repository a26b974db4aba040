"""Greedy and beam search with the cache, against plain searches without one.

    python tests/benchmarks/decoding.py [--sentences 1000] [--rounds 3] [--alpha 1.0]

The model that ships translates test_2016_flickr where TUTOR_DATA names Multi30k, else captions of
the built-in corpus. Both sides get the same batches, as `translate` makes them; rounds alternate
between them, times are medians. The plain side reads the whole of each sentence again at every
step, as chapter 05 does, with every beam as a sentence of its own. The floor is the time of the
bare matrix products that the cached search made: the same shapes, nothing else. Peak memory is
that of a process which loads the model and translates everything (Linux).
The last line is one JSON object.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from training import megabytes

from tutor import load_pretrained
from tutor.attention import padding_mask
from tutor.decoding import (
    ALPHA,
    Cache,
    Pool,
    beam_search,
    best_of,
    evaluating,
    greedy,
    grow,
    limits,
    most_probable,
)
from tutor.evaluation import scoring
from tutor.text.batches import pad
from tutor.text.grammar import generate_pairs
from tutor.text.multi30k import load_multi30k
from tutor.text.tokenizer import BOS, EOS
from tutor.translator import BATCH

BEAMS = 5


def plain_search(model, source_ids, beams, alpha):
    """The same search without a cache: whole passes, until every sentence of the batch has ended.

    One beam, alpha 0: greedy.
    """
    with evaluating(model):
        memory = model.encode(source_ids).repeat_interleave(beams, 0)  # (N * beams, S, d_model)
        memory_mask = padding_mask(source_ids).repeat_interleave(beams, 0)
        pool, limit = Pool.start(len(source_ids), beams), limits(model, source_ids, None)
        while not pool.ended.all() and pool.ids.shape[-1] <= limit.max():
            Y = model.decode(pool.ids.flatten(0, 1), memory, memory_mask)[:, -1]  # (N * beams, d)
            E = model.logits(Y).unflatten(0, (-1, beams))  # (N, beams, vocabulary)
            pool, _ = grow(pool, *most_probable(E, beams), alpha)
    return [best_of(Pool(*(x[n] for x in pool)), alpha)[:1] for n in range(len(source_ids))]


def cached_search(model, source_ids, beams, alpha):
    if beams == 1:
        return [[best] for best in greedy(model, source_ids)]
    return beam_search(model, source_ids, beams, alpha)


def translate(search, model, ids, beams, alpha, size=BATCH):
    """Hypotheses of all sentences, and the seconds that it took."""
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    written, start = [None] * len(ids), time.perf_counter()
    for at in range(0, len(order), size):
        batch = order[at : at + size]
        found = search(model, pad([ids[i] for i in batch]), beams, alpha)
        for i, (best, *_) in zip(batch, found, strict=True):
            written[i] = best
    return written, time.perf_counter() - start


class Products(TorchDispatchMode):
    """Notes the shapes of all matrix products."""

    def __init__(self):
        super().__init__()
        self.shapes = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name in ("mm", "bmm", "addmm"):
            self.shapes.append(tuple(tuple(x.shape) for x in args[-2:]))
        return function(*args, **(kwargs or {}))


def seconds_of(shapes):
    """Time of bare products of these shapes, one after the other."""
    left_and_right = {pair: [torch.randn(shape) for shape in pair] for pair in set(shapes)}
    start = time.perf_counter()
    for pair in shapes:
        torch.matmul(*left_and_right[pair])
    return time.perf_counter() - start


def growth(model, lengths, N=16):
    """Seconds to write N sentences of each length, with and without a cache."""
    source_ids = torch.full((N, 12), 5)
    with evaluating(model):
        memory, memory_mask = model.encode(source_ids), padding_mask(source_ids)
        rows = []
        for T in lengths:
            ids = torch.randint(EOS + 1, 500, (N, T))
            ids[:, 0] = BOS
            start, cache = time.perf_counter(), Cache(model, source_ids)
            for t in range(T):
                cache.step(ids[:, t : t + 1])
            middle = time.perf_counter()
            for t in range(T):
                model.logits(model.decode(ids[:, : t + 1], memory, memory_mask)[:, -1])
            rows.append((T, middle - start, time.perf_counter() - middle))
    return rows


def load(sentences):
    """Name of the corpus, sources, references."""
    if os.environ.get("TUTOR_DATA"):
        name, (sources, references) = "Multi30k test_2016_flickr", load_multi30k("test_2016_flickr")
    else:
        pairs = generate_pairs("test", sentences)
        name = "built-in, test"
        sources, references = [p.english for p in pairs], [p.french for p in pairs]
    return name, sources[:sentences], references[:sentences]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alpha", type=float, default=ALPHA)
    parser.add_argument("--memory-of", type=int, metavar="BEAMS", help=argparse.SUPPRESS)
    args = parser.parse_args()
    name, sources, references = load(args.sentences)
    translator = load_pretrained()
    model, ids = translator.model, translator.encode(sources)

    if args.memory_of:
        translate(cached_search, model, ids, args.memory_of, args.alpha)
        print(megabytes("VmHWM"))
        return

    print(f"{name}, {len(sources)} sentences; the model that ships; alpha {args.alpha}")
    print(f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    print(f"{'':24}{'cached':>10}{'plain':>10}{'ratio':>8}   sentences/s, batches of {BATCH}")
    result, seconds = {}, {}
    for beams, title in ((1, "greedy"), (BEAMS, f"beam{BEAMS}")):
        times = {cached_search: [], plain_search: []}
        for number in range(args.rounds + 1):
            for search, measured in times.items():
                # The first round warms up; of the plain side a part is enough for that.
                part = ids[:100] if not number else ids
                written, took = translate(search, model, part, beams, args.alpha)
                if number:
                    measured.append(took)
                    if search is cached_search:
                        hypotheses = [translator.tokenizer.decode(h.ids) for h in written]
        cached, plain = (statistics.median(measured) for measured in times.values())
        seconds[title] = cached
        result[f"{title}_speedup"] = round(plain / cached, 2)
        result[f"{title}_sentences_per_s"] = round(len(ids) / cached, 1)
        result[f"bleu_{title}"] = round(scoring.moses_bleu(hypotheses, references).value, 2)
        rates = f"{len(ids) / cached:10.1f}{len(ids) / plain:10.1f}"
        print(f"{title:24}{rates}{plain / cached:8.1f}   BLEU {result[f'bleu_{title}']}")

    with Products() as products:
        translate(cached_search, model, ids, BEAMS, args.alpha)
    floor = statistics.median(seconds_of(products.shapes) for _ in range(args.rounds))
    result["beam5_over_floor"] = round(seconds["beam5"] / floor, 2)
    print(f"\nbare products of the same steps: {floor:.2f} s, search: {seconds['beam5']:.2f} s")

    print(f"\n{'sentences/s by batch':24}{'cached':>10}{'plain':>10}")
    for size, part in ((1, ids[:40]), (100, ids[:400])):
        for beams in (1, BEAMS):
            rates = [
                len(part) / translate(search, model, part, beams, args.alpha, size)[1]
                for search in (cached_search, plain_search)
            ]
            title = f"batch {size}, {'greedy' if beams == 1 else f'beam {beams}'}"
            print(f"{title:24}{rates[0]:10.1f}{rates[1]:10.1f}")

    print(f"\n{'length, 16 sentences':24}{'cached':>10}{'plain':>10}   milliseconds a token")
    for T, cached, plain in growth(model, (10, 20, 40, 80, 160)):
        print(f"{T:<24}{1000 * cached / T:10.2f}{1000 * plain / T:10.2f}")

    peaks = []
    for beams in (1, BEAMS):
        command = [sys.executable, __file__, "--memory-of", str(beams)]
        command += ["--sentences", str(args.sentences)]
        peaks.append(float(subprocess.check_output(command).split()[-1]))
    result["peak_mb"] = round(max(peaks))
    print(f"\npeak memory: greedy {peaks[0]:.0f} MB, beam {BEAMS} {peaks[1]:.0f} MB")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
