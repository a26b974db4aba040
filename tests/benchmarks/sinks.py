"""Where cross-attention rests on real captions: `sinks.py [--model FOLDER]`.

The head of chapter 11b whose weight on the full stop and [EOS] grows most, on 300 sentences of the
built-in validation split, from the first pieces of words to later ones; then this head on the first
400 captions of Multi30k's test set of 2016. Printed are the weight on these two, the length of all
that arrives, that of first pieces being 1, and the share of it that these two send to later pieces.
Then, at first and at later pieces, the number of heads in which that share is smaller than that of
the weight. The last line is one JSON object.
"""

import argparse
import json
from pathlib import Path

from tutor.evaluation import aligned_batch, cross_attention
from tutor.evaluation.alignment import at_rest
from tutor.models import PRETRAINED
from tutor.text.batches import make_batch
from tutor.text.grammar import generate_pairs
from tutor.text.multi30k import load_multi30k
from tutor.translator import Translator


def grown(translator, batch):
    """At the first and at the later pieces, as `at_rest` has it: (3, L h, N) each."""
    maps = cross_attention(translator.model, batch)
    return [kind.flatten(1, 2) for kind in at_rest(translator.tokenizer, batch, maps)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=PRETRAINED)
    translator = Translator.load(parser.parse_args().model)
    first, later = grown(
        translator, aligned_batch(translator.tokenizer, generate_pairs("val", 300)).batch
    )
    head = (later - first)[0].nanmean(-1).argmax().item()
    sides = (translator.tokenizer.encode(side[:400]) for side in load_multi30k("test_2016_flickr"))
    captions = make_batch(list(zip(*sides, strict=True)))
    means = [kind.nanmean(-1) for kind in grown(translator, captions)]  # (3, L h) each
    first, later = (kind[:, head] for kind in means)
    found = {
        "head": divmod(head, translator.model.config.num_heads),
        "weight": [round(kind[0].item(), 3) for kind in (first, later)],
        "arrives": round((later[1] / first[1]).item(), 3),
        "from the end": round((later[2] / later[1]).item(), 3),
        "shorter": [int((kind[2] / kind[1] < kind[0]).sum()) for kind in means],
    }
    print(f"head {found['head']}: weight on the end at first and later pieces {found['weight']}")
    print(
        f"all that arrives at later pieces: {found['arrives']}, {found['from the end']} from there"
    )
    print(f"heads with a smaller share of the length than of the weight: {found['shorter']}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
