"""Greedy and beam search with the cache, against plain searches without one.

    python tests/benchmarks/decoding.py [--quick] [--threads 1] [--alpha 1.0]

The model that ships translates test_2016_flickr where TUTOR_DATA names Multi30k, else captions of
the built-in corpus. The plain side reads the whole of each sentence again at every step, as
chapter 09 does, with every beam as a sentence of its own. The floor is the time of the bare matrix
products that the cached search made: the same shapes, nothing else. rounds.py measures these
ratios, on batches of 32 sentences, of the middle third by length. Sentences a second, BLEU and peak
memory (Linux) are those of a process that loads the model and translates everything. --quick: fewer
rounds, no single sentences, no growing length. The last line is one JSON object.
"""

import argparse
import json
import os
import platform
import subprocess
import sys

import torch
from rounds import HEAD, clock, ratios
from torch.utils._python_dispatch import TorchDispatchMode
from training import megabytes

from tutor import load_pretrained
from tutor.attention import padding_mask
from tutor.cache import Cache
from tutor.decoding import (
    ALPHA,
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
from tutor.translator import MAX_BATCH_SENTENCES

BEAMS = 5
TITLES = {1: "greedy", BEAMS: "beam5"}
SHORT = 32  # sentences of a batch that both sides search in turn


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


def whole(translator, sources, references, beams, alpha):
    """What a process of its own says: sentences a second, BLEU, peak memory in MB."""
    start = clock()
    written = translator.translate(sources, beams, alpha)
    speed, peak = len(sources) / (clock() - start), megabytes("VmHWM")
    return speed, scoring.moses_bleu(written, references).value, peak


class Products(TorchDispatchMode):
    """Notes the shapes of all matrix products."""

    def __init__(self):
        super().__init__()
        self.shapes = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name in ("mm", "bmm", "matmul", "addmm", "linear"):
            X, W = (args[0], args[1].mT) if name == "linear" else args[-2:]
            if W.dim() == 2:  # one product, whatever X looks like
                X = X.flatten(0, -2)
            elif W.dim() > 3:  # many small ones, in one row
                X, W = X.flatten(0, -3), W.flatten(0, -3)
            self.shapes.append((tuple(X.shape), tuple(W.shape)))
        return function(*args, **(kwargs or {}))


def against_floor(search, rounds):
    """Ratio: the bare products of a search, one after the other, against the search itself."""
    noted = []
    for number in range(rounds + 1):
        with Products() as products:
            done = search(number)
        noted.append((products.shapes, done))
    pairs = {pair for shapes, _ in noted for pair in shapes}
    left_and_right = {pair: [torch.randn(shape) for shape in pair] for pair in pairs}

    def floor(number):
        shapes, done = noted[number]
        for pair in shapes:
            torch.matmul(*left_and_right[pair])
        return done

    return ratios(floor, search, rounds)


def growth(model, T, rounds, N=16):
    """Ratio: to write N sentences of length T with a cache and without, in tokens a second."""
    source_ids, ids = torch.full((N, 12), 5), torch.randint(EOS + 1, 500, (N, T))
    ids[:, 0] = BOS
    memory, memory_mask = model.encode(source_ids), padding_mask(source_ids)

    def cached(number):
        cache = Cache(model, source_ids)
        for t in range(T):
            cache.step(ids[:, t : t + 1])
        return N * T

    def plain(number):
        for t in range(T):
            model.logits(model.decode(ids[:, : t + 1], memory, memory_mask)[:, -1])
        return N * T

    return ratios(cached, plain, rounds)


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
    parser.add_argument("--quick", action="store_true", help="12 rounds, and fewer rows")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--alpha", type=float, default=ALPHA)
    parser.add_argument("--whole", type=int, metavar="BEAMS", help=argparse.SUPPRESS)
    args = parser.parse_args()
    rounds = 12 if args.quick else args.rounds
    torch.set_num_threads(args.threads)
    name, sources, references = load(args.sentences)
    translator = load_pretrained()
    if args.whole:
        print(json.dumps(whole(translator, sources, references, args.whole, args.alpha)))
        return

    model, ids = translator.model, sorted(translator.encode(sources), key=len)

    def side(search, beams, size=SHORT):
        def work(number):
            third = len(ids) // 3  # sentences of like lengths, so that the rounds' ratios are alike
            at = third + number % rounds * max(0, third - size) // rounds
            return len(search(model, pad(ids[at : at + size]), beams, args.alpha))

        return work

    print(f"{name}, {len(sources)} sentences; the model that ships; alpha {args.alpha}")
    print(f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    print(HEAD.format(f"sentences/s, {rounds} rounds", "cached", "plain"))
    result = {}
    for beams, title in TITLES.items():
        for size in (SHORT,) if args.quick else (1, SHORT):
            sides = (side(search, beams, size) for search in (cached_search, plain_search))
            ratio = ratios(*sides, rounds if beams > 1 else 3 * rounds)  # greedy's are short
            print(ratio.row(f"{title}, batches of {size}"))
            result |= ratio.figures(f"{title}_speedup" if size > 1 else f"{title}_alone_speedup")
    for beams, title in TITLES.items():
        ratio = against_floor(side(cached_search, beams), rounds)
        print(ratio.row(f"bare products, {title}"))
        result |= ratio.figures(f"{title}_over_floor")
    if not args.quick:
        print(HEAD.format("\ntokens/s, 16 sentences", "cached", "plain"))
        with evaluating(model):
            for T in (10, 20, 40, 80, 160):
                print(growth(model, T, 5).row(f"{T} tokens"))

    children = [
        subprocess.Popen([sys.executable, *sys.argv, "--whole", str(beams)], stdout=subprocess.PIPE)
        for beams in TITLES
    ]
    peaks = []
    for title, child in zip(TITLES.values(), children, strict=True):
        speed, bleu, peak = json.loads(child.communicate()[0])
        print(
            f"{f'{title}, batches of {MAX_BATCH_SENTENCES}':30}{speed:10,.1f}   "
            f"BLEU {bleu:.2f}, {peak:.0f} MB"
        )
        result |= {f"{title}_sentences_per_s": round(speed, 1), f"bleu_{title}": round(bleu, 2)}
        peaks.append(peak)
    result["peak_mb"] = round(max(peaks))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
