"""Words that a translator knows: `python -m course.making.words FOLDER`.

Writes the words that the translator that ships was trained on into the words.txt of a model folder,
those of the captions first, by their number, then what the built-in grammar has besides.
"""

import sys
from collections import Counter

from tutor.text.grammar import generate_pairs
from tutor.text.multi30k import load_multi30k
from tutor.text.normalize import WORD, normalize
from tutor.training.checkpoint import write_words

GRAMMAR_PAIRS = 20_000  # enough for all of its words


def count_words(texts):
    return Counter(word.lower() for text in texts for word in WORD.findall(normalize(text)))


def main(folder):
    counts = count_words(load_multi30k("train")[0])
    grammar = count_words(pair.english for pair in generate_pairs("train", GRAMMAR_PAIRS))
    words = sorted(counts | grammar, key=lambda word: (-counts[word], word))
    write_words(folder, words)
    print(f"{folder} knows {len(words):,} words")


if __name__ == "__main__":
    main(sys.argv[1])
