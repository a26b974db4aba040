"""BPE-dropout cuts words in other ways, into the same text, as seed and epoch alone decide."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.text.bpe_dropout import cut, pairs_by_epoch
from tutor.text.tokenizer import Tokenizer
from tutor.training import batches_forever

ENGLISH = ["A man is riding a horse in the snow.", "Two women are reading near the horse."] * 4
FRENCH = ["Un homme monte à cheval dans la neige.", "Deux femmes lisent près de l'homme."] * 4
TOKENIZER = Tokenizer.train([*ENGLISH, *FRENCH], 330)


def drawn(p, seed=0):
    return pairs_by_epoch(TOKENIZER, ENGLISH, FRENCH, p, seed)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=3))
@settings(max_examples=50)
def test_without_dropout_it_is_byte_pair_encoding(texts):
    ids = TOKENIZER.encode(texts)
    assert pairs_by_epoch(TOKENIZER, texts, texts, 0, seed=0)(0) == list(zip(ids, ids, strict=True))


@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
def test_every_cut_reads_as_the_same_text(p):
    pairs = drawn(p)
    for epoch in range(3):
        texts = zip(
            *[[TOKENIZER.decode(ids) for ids in pair] for pair in pairs(epoch)], strict=True
        )
        assert list(map(list, texts)) == [ENGLISH, FRENCH]


def test_the_more_is_dropped_the_shorter_are_the_pieces():
    lengths = [sum(len(ids) for pair in drawn(p)(0) for ids in pair) for p in (0, 0.1, 0.5, 1)]
    assert lengths == sorted(lengths) and len(set(lengths)) == 4
    assert lengths[-1] == sum(len(f" {text}".encode()) for text in [*ENGLISH, *FRENCH])


def test_epochs_and_seeds_differ_and_come_again():
    first, again, other = drawn(0.3), drawn(0.3), drawn(0.3, seed=1)
    assert first(2) == again(2)  # whichever epochs were drawn before
    assert len({str(pairs) for pairs in (first(0), first(1), first(2), other(0))}) == 4


def test_a_merge_is_dropped_with_the_probability_asked_for():
    rng, ranks = random.Random(0), {("a", "b"): 0, ("ab", "c"): 1}
    cuts = ["-".join(cut("abc", ranks, 0.3, rng)) for _ in range(10_000)]
    shares = [cuts.count(each) / len(cuts) for each in ("abc", "ab-c", "a-b-c")]
    assert shares == pytest.approx([0.49, 0.21, 0.3], abs=0.02)


@given(st.integers(0, 30), st.integers(0, 5))
@settings(max_examples=20)
def test_batches_can_be_taken_up_at_any_step(first, seed):
    def batches(count, first=0):  # the number of batches is not the same in every epoch
        found = itertools.islice(batches_forever(drawn(0.5), 60, seed, first), count)
        return [[ids.tolist() for ids in batch] for batch in found]

    assert batches(5, first) == batches(first + 5)[first:]
