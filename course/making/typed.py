"""What people type, for the translator that ships: `python -m course.making.typed FOLDER`.

Writes into FOLDER, for `python -m tutor train --more`: `train`, the captions of Multi30k with what
the teachers make of them; `slips`, the same with slips of the fingers; and `grammar`, fragments,
captions and negations of the built-in grammar, all from the training splits. Of a teacher's five
best translations the one nearest to the real one is taken (Kim and Rush 2016, section 3.3).
"""

import argparse
import random
import re
import warnings
from pathlib import Path

from sacrebleu.metrics import CHRF

from tutor.commands.common import load_together
from tutor.text import grammar
from tutor.text.grammar import Caption, generate_pairs, held_out
from tutor.text.lexicon import SETTINGS, WHERE
from tutor.text.multi30k import load_multi30k

SLIPS = ("transposed", "missing", "doubled", "wrong")
REPEATED = {1: 10, 2: 4}  # times that a fragment of so many words is written: there are few
NEIGHBOURS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # rows of keys


def misspell(text, slip, rng):
    """`text` with one slip in one of its words of three letters or more; as it is without any.

    slip: "transposed" (two different neighbours change places), "missing", "doubled" or "wrong" (a
    key beside the right one); rng: a random.Random.
    """
    words = [m for m in re.finditer(r"[^\W\d_]{3,}", text)]
    rng.shuffle(words)
    for word in words:
        at = list(range(word.start(), word.end() - (slip == "transposed")))
        rng.shuffle(at)
        for i in at:
            a, b = text[i], text[i + 1 : i + 2]
            if slip == "transposed" and a.lower() != b.lower():
                return text[:i] + match_case(a, b) + match_case(b, a) + text[i + 2 :]
            if slip == "missing":
                return text[:i] + text[i + 1 :]
            if slip == "doubled":
                return text[:i] + a + a.lower() + text[i + 1 :]
            if slip == "wrong" and (near := beside(a.lower())):
                return text[:i] + match_case(a, rng.choice(near)) + text[i + 1 :]
    return text


def match_case(model, letter):
    return letter.upper() if model.isupper() else letter.lower()


def beside(letter):
    """The keys left and right of a letter's key; "" for a letter that has no key of its own."""
    row = next((row for row in NEIGHBOURS if letter in row), "")
    at = row.find(letter)
    return row[max(at - 1, 0) : at] + row[at + 1 : at + 2]


def hurried(english, french, rng):
    """A pair as typed in a hurry: no capitals and, every other time, no final stop."""
    english, french = english.lower(), french[:1].lower() + french[1:]
    if rng.random() < 1 / 2:
        english, french = (text.removesuffix(".").rstrip() for text in (english, french))
    return english, french


def slipped(captions, translations, seed):
    """Each caption with one slip, a sixth of them with two; a sixth typed in a hurry, too."""
    rng = random.Random(f"slips {seed}")
    for english, french in zip(captions, translations, strict=True):
        if rng.random() < 1 / 6:
            english, french = hurried(english, french, rng)
        for _ in range(1 + (rng.random() < 1 / 6)):
            english = misspell(english, rng.choices(SLIPS, (4, 4, 1, 2))[0], rng)
        yield english, french


def fragments(split, size, seed=0):
    """`size` different pairs of the grammar that are no sentences: "Two dogs.", "On the beach."

    As in `generate_pairs`, those of "test" hold a combination that is kept from training; one in
    twenty of the rest is "val", by a hash, and a tenth of those without any combination "test".
    """
    rng = random.Random(f"fragments {split} {seed}")
    pairs = {}
    while len(pairs) < size:
        caption = Caption(rng, None, testing=split == "test")
        write_fragment(caption)
        pair = caption.finish()
        if len(set(caption.nouns)) < len(caption.nouns):
            continue
        share = grammar._stable_hash(pair.english) % 100
        kept = held_out(pair.combinations) or not pair.combinations and share >= 90
        if split == ("test" if kept else "val" if share < 5 else "train"):
            pairs.setdefault(pair.english, pair)
    return list(pairs.values())


def write_fragment(caption):
    shape = caption.rng.random()
    if shape < 0.15:
        caption.subject(grammar._PEOPLE if caption.chance(0.7) else grammar._ANIMALS)
    elif shape < 0.35:
        caption.setting((caption.pick(tuple(SETTINGS)),))
    else:
        noun = caption.pick(grammar._DESCRIBED)
        plural = grammar._counts(noun) and caption.chance(0.45)
        bare = not plural and noun.number == "count" and caption.chance(0.15)
        caption.noun_phrase(noun, plural, "bare" if bare else "", adjectives=0.45)
        if noun.kind in WHERE and caption.chance(0.3):
            caption.setting((WHERE[noun.kind],), plural)


def is_negated(pair):
    return any(word in ("not", "no") for word in pair.english_words)


def grammar_pairs(seed, captions, pieces):
    """Pairs of str: captions, half of them negated; fragments, half of them typed in a hurry."""
    rng = random.Random(f"hurried {seed}")
    pairs = generate_pairs("train", 8 * captions, seed)
    negated = [pair for pair in pairs if is_negated(pair)][: captions // 2]
    others = [pair for pair in pairs if not is_negated(pair)][: captions // 2]
    for pair in negated + others:
        yield pair.english, pair.french
    for pair in fragments("train", pieces, seed):
        for _ in range(REPEATED.get(len(pair.english.split()), 1)):
            fast = rng.random() < 1 / 2
            yield hurried(pair.english, pair.french, rng) if fast else (pair.english, pair.french)


def nearest(translator, english, french, path):
    """Of five translations of each text the one nearest to the real one (chrF++); kept in path.

    A file that holds the first of them is gone on with.
    """
    score, warn = CHRF(word_order=2), warnings.catch_warnings()
    done = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    with path.open("a", encoding="utf-8") as file, warn:
        warnings.simplefilter("ignore")  # of those that do not end by themselves
        for i in range(len(done), len(english), 500):
            found = translator.translate(english[i : i + 500], beams=5, n_best=5)
            for each, real in zip(found, french[i : i + 500], strict=True):
                best = max(each, key=lambda one: score.sentence_score(one[0], [real]).score)
                done.append(best[0])
                file.write(best[0] + "\n")
            file.flush()
    return done


def write_pairs(path, pairs):
    """Write pairs of str into path.en and path.fr, a line each."""
    for ending, lines in zip((".en", ".fr"), zip(*pairs, strict=True), strict=True):
        text = "".join(f"{line}\n" for line in lines)
        path.with_suffix(ending).write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--teacher", action="append", metavar="FOLDER", help="a model folder")
    parser.add_argument("--seed", type=int, default=0, help="of slips and grammar")
    parser.add_argument("--slips", type=int, default=4, help="times each caption is misspelt (4)")
    parser.add_argument("--captions", type=int, default=20_000, help="of the grammar (20000)")
    parser.add_argument("--fragments", type=int, default=15_000, help="of the grammar (15000)")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    english, real = load_multi30k("train")
    taught = nearest(load_together(args.teacher), english, real, args.folder / "nearest.fr")
    write_pairs(args.folder / "train", list(zip(english, taught, strict=True)))
    targets = [taught] * (args.slips - 1) + [real]
    slips = [
        pair
        for i, french in enumerate(targets, 4 * args.seed)
        for pair in slipped(english, french, i)
    ]
    write_pairs(args.folder / "slips", slips)
    write_pairs(
        args.folder / "grammar", list(grammar_pairs(args.seed, args.captions, args.fragments))
    )


if __name__ == "__main__":
    main()
