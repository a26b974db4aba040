"""What people type, for the translator that ships: `python -m course.making.typed FOLDER`.

Writes into FOLDER, for `python -m tutor train --more`: captions of Multi30k with slips of the
fingers, and fragments, captions and negations of the built-in grammar, from its training split.
FOLDER must hold `together.fr`, what the teachers make of the training split (see the model's card).
"""

import argparse
import random
import re
from pathlib import Path

from tutor.text import grammar
from tutor.text.grammar import Caption, generate_pairs, held_out
from tutor.text.lexicon import SETTINGS, WHERE
from tutor.text.multi30k import load_multi30k

SLIPS = ("transposed", "missing", "doubled", "wrong")
NEIGHBOURS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # rows of keys
CAPTIONS, FRAGMENTS = 20_000, 15_000  # of the grammar; half of its captions are negated


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


def capitalized(text):
    return text[:1].upper() + text[1:]


def slipped(captions, seed):
    """Each caption with one slip, a sixth of them with two; an eighth of them lower-cased first."""
    rng = random.Random(f"slips {seed}")
    found = []
    for text in captions:
        if rng.random() < 1 / 8:
            text = capitalized(text.lower())
        for _ in range(1 + (rng.random() < 1 / 6)):
            text = misspell(text, rng.choices(SLIPS, (4, 4, 1, 2))[0], rng)
        found.append(text)
    return found


def fragments(split, size, seed=0):
    """`size` different pairs of the grammar that are no sentences: "Two black dogs.", "On the beach."

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


def grammar_pairs():
    pairs = generate_pairs("train", 8 * CAPTIONS)
    negated = [pair for pair in pairs if is_negated(pair)][: CAPTIONS // 2]
    others = [pair for pair in pairs if not is_negated(pair)][: CAPTIONS // 2]
    return negated + others + fragments("train", FRAGMENTS)


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    english, real = load_multi30k("train")
    together = (folder / "together.fr").read_text(encoding="utf-8").splitlines()
    write_lines(folder / "train.en", english)
    slips = [slipped(english, seed) for seed in range(4)]
    write_lines(folder / "slips.en", sum(slips, []))
    write_lines(folder / "slips.fr", together * 3 + real)
    pairs = grammar_pairs()
    write_lines(folder / "grammar.en", [pair.english for pair in pairs])
    write_lines(folder / "grammar.fr", [pair.french for pair in pairs])


if __name__ == "__main__":
    main()
