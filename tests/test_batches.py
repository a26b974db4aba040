"""Every pair once, within the budget, of like length, the target shifted by one."""

import random
from collections import Counter

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.text.batches import bucket, make_batch
from tutor.text.tokenizer import BOS, EOS, PAD

sentences = st.lists(st.integers(4, 30), max_size=12)
corpora = st.lists(st.tuples(sentences, sentences), max_size=25)
budgets = st.integers(1, 60)
seeds = st.none() | st.integers(0, 100)


def pairs_of(batch):
    """The (source, target) pairs back from a batch, the shift by one checked on the way."""
    for rows in zip(*(ids.tolist() for ids in batch), strict=True):
        source, target_in, target_out = ([i for i in row if i != PAD] for row in rows)
        assert source.pop() == EOS
        assert target_in[0] == BOS and target_out[-1] == EOS
        assert target_in[1:] == target_out[:-1]
        yield tuple(source), tuple(target_out[:-1])


def test_a_batch_by_hand():
    batch = make_batch([([5, 6, 7], [8]), ([9], [10, 11])])
    assert batch.source.tolist() == [[5, 6, 7, EOS], [9, EOS, PAD, PAD]]
    assert batch.target_in.tolist() == [[BOS, 8, PAD], [BOS, 10, 11]]
    assert batch.target_out.tolist() == [[8, EOS, PAD], [10, 11, EOS]]
    assert all(ids.dtype == torch.int64 for ids in batch)
    assert {ids.device.type for ids in batch.to("meta")} == {"meta"}


@given(corpora, budgets, seeds)
@settings(max_examples=60)
def test_every_pair_once_within_the_budget(corpus, max_tokens, seed):
    before = repr(corpus)
    batches = bucket(corpus, max_tokens, seed)
    found = Counter(pair for batch in batches for pair in pairs_of(batch))
    assert found == Counter((tuple(source), tuple(target)) for source, target in corpus)
    for batch in batches:
        N = len(batch.source)
        longest = max(batch.source.shape[1], batch.target_in.shape[1])
        assert N == 1 or N * longest <= max_tokens
        assert batch.target_in.shape == batch.target_out.shape
        assert batch.source[:, -1].any() and batch.target_in[:, -1].any()  # no idle column
    assert repr(corpus) == before


@given(corpora, budgets)
@settings(max_examples=60)
def test_without_a_seed_lengths_ascend_and_batches_are_full(corpus, max_tokens):
    batches = bucket(corpus, max_tokens)
    sizes = [max(len(source), len(target)) + 1 for b in batches for source, target in pairs_of(b)]
    assert sizes == sorted(sizes)
    first = 0
    for batch in batches[:-1]:
        N, first = len(batch.source), first + len(batch.source)
        assert (N + 1) * sizes[first] > max_tokens  # the next pair had no room


def corpus_of(count):
    """Pairs with the lengths of real captions, every one different."""
    rng = random.Random(0)
    lengths = [max(4, round(rng.gauss(14, 4))) for _ in range(count)]
    return [
        ([4 + n] * length, [4 + n] * max(3, length + rng.randint(-2, 4)))
        for n, length in enumerate(lengths)
    ]


def test_the_seed_alone_decides_the_order():
    corpus = corpus_of(200)

    def order(seed):
        return [tuple(pairs_of(batch)) for batch in bucket(corpus, 128, seed)]

    assert order(1) == order(1) and order(None) == order(None)
    assert order(1) != order(2)
    assert order(1) != order(None)
    assert sorted(map(sorted, order(1))) != sorted(map(sorted, order(2)))  # other neighbours too
    lengths = [max(len(p) for pair in batch for p in pair) for batch in order(1)]
    assert lengths != sorted(lengths)  # long and short batches by turns


def test_little_of_a_batch_is_padding():
    def real(batches):
        ids = [tensor for batch in batches for tensor in batch]
        return sum((i != PAD).sum().item() for i in ids) / sum(i.numel() for i in ids)

    corpus = corpus_of(3000)
    at_random = [make_batch(corpus[i : i + 64]) for i in range(0, 3000, 64)]
    assert real(at_random) < 0.7
    assert real(bucket(corpus, 1024, seed=0)) > 0.93
