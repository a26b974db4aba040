"""BPE-dropout: words that are cut into other tokens in every epoch of a training, for `train`."""

import json
import random
from collections import Counter

DRAWN = 64  # cuts of a word that are drawn ahead, at most


def cut(word, ranks, p, rng):
    """The pieces of `word` if every merge is passed over with probability `p`, at each step anew.

    ranks: {(left, right): place in the list of merges}. With p = 0 it is byte-pair encoding.
    Source: Provilkov et al. 2020, algorithm 1.
    """
    pieces = list(word)
    while True:
        found = [
            (ranks[pair], i)
            for i, pair in enumerate(zip(pieces, pieces[1:], strict=False))
            if pair in ranks and rng.random() >= p
        ]
        if not found:
            return pieces
        i = min(found)[1]
        pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]


def pairs_by_epoch(tokenizer, sources, targets, p, seed):
    """A function from the number of an epoch to all pairs, with their words cut anew.

    sources, targets: lists of str of the same length. p: of `cut`, for both sides. A pair is
    (source ids, target ids), without special tokens, as `train` takes them. For a word that occurs
    n times, min(n, 64) cuts are drawn once; every epoch then draws among them.
    """
    learned = json.loads(tokenizer.model.to_str())["model"]
    ranks = {tuple(pair): rank for rank, pair in enumerate(learned["merges"])}
    split = tokenizer.model.pre_tokenizer.pre_tokenize_str
    sides = [
        [[word for word, _ in split(" " + text)] for text in texts] for texts in (sources, targets)
    ]
    counts = Counter(word for side in sides for words in side for word in words)
    rng = random.Random(seed)
    cuts = {
        word: [
            [learned["vocab"][piece] for piece in cut(word, ranks, p, rng)]
            for _ in range(min(count, DRAWN))
        ]
        for word, count in counts.items()
    }

    def pairs(epoch):
        rng = random.Random(f"{seed} {epoch}")

        def draw(words):
            return [i for word in words for i in rng.choice(cuts[word])]

        return [(draw(source), draw(target)) for source, target in zip(*sides, strict=True)]

    return pairs
