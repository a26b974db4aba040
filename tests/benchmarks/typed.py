"""What a translator makes of what people type.

    python tests/benchmarks/typed.py [--model FOLDER] [--split val | test_2016_flickr]

The captions of a split as they are and as they are typed in a hurry, then fragments and negated
sentences of the built-in grammar, of which nothing stands in the training. BLEU is that of
lower-cased Moses tokens, greedy, final stops left out. Then what the door makes alike, the share
that is translated alike to the letter; and how many of the captions are doubted, and of 200 texts
that are none (others.json). The last line is one JSON object.
"""

import argparse
import json
import os
import random
import unicodedata
from pathlib import Path

from course.making.typed import fragments, is_negated, misspell
from tutor.evaluation.scoring import moses_bleu
from tutor.models import PRETRAINED
from tutor.text.grammar import generate_pairs
from tutor.text.multi30k import load_multi30k
from tutor.transformer import count_parameters
from tutor.translator import Translator

FRAGMENTS, NEGATIONS, ALIKE = 200, 100, 200
OTHERS = json.loads(Path(__file__).with_name("others.json").read_text(encoding="utf-8"))


def typed(captions):
    """The captions by what was done to them: a dict of lists of str."""
    rng = random.Random("typed")
    return {
        "as_is": captions,
        "lower_no_stop": [text.lower().removesuffix(".") for text in captions],
        "upper": [text.upper() for text in captions],
        "transposed": [misspell(text, "transposed", rng) for text in captions],
        "missing_letter": [misspell(text, "missing", rng) for text in captions],
    }


def alike(text):
    """What the door makes the same of as of `text`."""
    return [
        unicodedata.normalize("NFD", text),
        "\ufeff" + text,
        f" {text}\u00a0",
        text.replace(" ", "  "),
        text.replace("'", "\u2019").replace('"', "\u201c"),
    ]


def equal_share(translator, texts):
    """The share of variants that are translated to the letter as their text is."""
    written = translator.translate([v for text in texts for v in (text, *alike(text))])
    each = 1 + len(alike(""))
    groups = [written[i : i + each] for i in range(0, len(written), each)]
    return sum(one == first for first, *rest in groups for one in rest) / len(texts) / (each - 1)


def doubted_share(translator, texts):
    return sum(each.doubted for each in translator.translations(texts)) / len(texts)


def without_stop(texts):
    return [text.rstrip().removesuffix(".").rstrip() for text in texts]


def right(translator, pairs, wrong):
    written = translator.translate([pair.english for pair in pairs])
    for pair, text in zip(pairs, written, strict=True):
        if text != pair.french:
            wrong.append(f"{pair.english} | {text} | {pair.french}")
    return 1 - len(wrong) / len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=PRETRAINED)
    parser.add_argument("--split", choices=("val", "test_2016_flickr"), default="val")
    parser.add_argument("--beams", type=int, default=1)
    args = parser.parse_args()
    translator = Translator.load(args.model)
    captions, references = load_multi30k(args.split)
    references = without_stop(references)
    result = {"model": args.model.name, "split": args.split}
    for name, sources in typed(captions).items():
        written = without_stop(translator.translate(sources, beams=args.beams))
        result[name] = round(moses_bleu(written, references).value, 2)
    split = "test" if args.split.startswith("test") else "val"
    negated = [pair for pair in generate_pairs(split, 8 * NEGATIONS) if is_negated(pair)]
    for name, pairs in (("fragments", fragments(split, FRAGMENTS)),
                        ("negation", negated[:NEGATIONS])):  # fmt: skip
        wrong = []
        result[name] = round(right(translator, pairs, wrong), 3)
        print(*wrong[:12], sep="\n")
    result["spaces_equal"] = round(equal_share(translator, captions[:ALIKE]), 3)
    result["doubted_captions"] = round(doubted_share(translator, captions), 3)
    others = {kind: doubted_share(translator, texts) for kind, texts in OTHERS.items()}
    result["doubted_others"] = round(sum(others.values()) / len(others), 3)
    result |= {f"doubted_{kind}": round(share, 3) for kind, share in others.items()}
    result["parameters"] = count_parameters(translator.model)
    sizes = [os.path.getsize(args.model / name) for name in os.listdir(args.model)]
    result["megabytes"] = round(sum(sizes) / 1e6, 2)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
