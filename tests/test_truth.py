"""The probabilities that the grammar gives its captions, against sums, counts and one another."""

import math
from collections import Counter

import pytest

from tutor.text.grammar import join_words
from tutor.text.lexicon import NOUNS
from tutor.text.truth import (
    Way,
    generate_english,
    is_grammatical,
    log_probability,
    ways,
)

FEW = tuple(NOUNS[name] for name in ("apple", "dog", "trousers"))


def write_few(caption):
    """A small grammar of the parts of the large one: "Two dogs are", "This dog is not now"."""
    noun, plural = caption.pick_noun(FEW, 0.4)
    caption.be(caption.noun_phrase(noun, plural, adjectives=0), caption.chance(0.25))
    if caption.chance(0.3) or caption.chance(0.3):  # two ways to one text
        caption.both("now", "maintenant")


@pytest.fixture(scope="module")
def drawn():
    return Counter(generate_english(40_000, seed=5, write=write_few))


def test_a_small_grammar_sums_to_one(drawn):
    assert math.isclose(sum(math.exp(log_probability(t, write_few)) for t in all_few()), 1)
    assert set(drawn) <= all_few()


def all_few():
    """Every text of the small grammar: its program run in every way, none given up."""

    class Free(Way):
        def emit(self, index, word):
            pass

    stack, texts = [[]], set()
    while stack:
        way = Free([], stack.pop(), stack)
        write_few(way)
        texts.add(join_words(way.english_words()))
    return texts


def test_it_agrees_with_counts(drawn):
    for text, count in drawn.most_common(25):
        p = math.exp(log_probability(text, write_few))
        assert abs(count / 40_000 - p) < 5 * (p / 40_000) ** 0.5, text


def test_ways_that_write_one_text_are_added():
    assert len(list(ways("The camel is eating a banana."))) > 1


def test_every_caption_is_grammatical_and_a_wrong_one_is_not():
    assert all(map(is_grammatical, generate_english(25, seed=9)))
    for text in ("The dog are red.", "A apple is on the table.", "the dog is red.", "The dog.", ""):
        assert not is_grammatical(text), text
        assert log_probability(text) == -math.inf


def test_captions_are_the_same_for_a_seed():
    assert generate_english(3, 1) == generate_english(5, 1)[:3] != generate_english(3, 2)
