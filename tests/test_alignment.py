"""Alignments read from attention: by hand, against plain loops, and on corners of the text."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pytorch_twins import assert_equal, small_model

from tutor import record_attention
from tutor.evaluation.alignment import (
    STEPS,
    aligned_batch,
    at_rest,
    best_head,
    best_links,
    cross_attention,
    error_rates,
    measure,
    pieces,
    same_sort,
    word_maps,
    words_of_tokens,
)
from tutor.evaluation.scoring import alignment_error_rate
from tutor.record import shares_of_length, value_lengths
from tutor.text.batches import EOS, Batch
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import Tokenizer

PAIRS = generate_pairs("val", 30)
TEXTS = [text for pair in PAIRS for text in (pair.english, pair.french)]
TOKENIZER = Tokenizer.train(TEXTS, 400)  # few merges: most words are cut


@given(st.sampled_from(PAIRS), st.sampled_from(["english", "french"]))
def test_tokens_spell_their_words(pair, language):
    text, words = getattr(pair, language), getattr(pair, f"{language}_words")
    owners = words_of_tokens(TOKENIZER, text, words)
    assert owners == sorted(owners) and set(owners) == set(range(len(words)))
    ids = TOKENIZER.encode(text)
    for i, word in enumerate(words):
        spelt = TOKENIZER.decode([id for id, owner in zip(ids, owners, strict=True) if owner == i])
        assert spelt.strip().lower() == word.lower()


def test_letters_of_several_tokens_and_marks_inside_a_word():
    words = ["L'", "œuf", "d'", "aujourd'hui", "🥐", "."]
    text = "L'œuf d'aujourd'hui 🥐."
    owners = words_of_tokens(TOKENIZER, text, words)
    assert set(owners) == set(range(6)) and owners == sorted(owners)
    assert owners.count(4) > 1  # the croissant is four bytes, and none of them was ever merged


def test_words_of_another_text_are_refused():
    with pytest.raises(ValueError, match="is not written with the words"):
        words_of_tokens(TOKENIZER, "A cat.", ["A", "dog", "."])


def test_columns_are_added_up_and_rows_averaged():
    aligned = aligned_batch(TOKENIZER, PAIRS[:5])
    N, S = aligned.batch.source.shape
    A = torch.rand(2, N, 3, aligned.batch.target_in.shape[1], S)
    for shift, step in enumerate(("output", "input")):
        M = word_maps(A, aligned, step)
        for n, pair in enumerate(PAIRS[:5]):
            columns = words_of_tokens(TOKENIZER, pair.english, pair.english_words)
            rows = words_of_tokens(TOKENIZER, pair.french, pair.french_words)
            for j in range(len(pair.french_words)):
                steps = [t + shift for t, owner in enumerate(rows) if owner == j]
                for i in range(len(pair.english_words)):
                    keys = [s for s, owner in enumerate(columns) if owner == i]
                    expected = A[:, n][:, :, steps][..., keys].sum(-1).mean(-1)
                    torch.testing.assert_close(M[:, n, :, j, i], expected)
            assert (M[:, n, :, len(pair.french_words) :] == 0).all()
            assert (M[:, n, :, :, len(pair.english_words) :] == 0).all()


def test_gold_is_that_of_the_pairs():
    aligned = aligned_batch(TOKENIZER, PAIRS)
    links = {(n, i, j) for n, j, i in aligned.gold.nonzero().tolist()}
    assert links == {(n, i, j) for n, pair in enumerate(PAIRS) for i, j in pair.links}


def test_best_links_by_hand():
    M = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.0, 0.0, 0.0]])
    assert best_links(M).int().tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]


@given(st.integers(0, 2**32 - 1))
def test_error_rates_equal_those_of_the_links(seed):
    torch.manual_seed(seed)
    gold = torch.rand(3, 5, 4) < 0.4
    gold[0, 0, 0] = True  # at least one, or the rate is undefined
    links = torch.rand(2, 3, 2, 5, 4) < 0.3
    rates = error_rates(links, gold)
    assert rates.shape == (2, 2)
    for layer in range(2):
        for head in range(2):
            found, sure = (
                {tuple(link) for link in each.nonzero().tolist()}
                for each in (links[layer, :, head], gold)
            )
            assert rates[layer, head].item() == pytest.approx(alignment_error_rate(found, sure))


def test_norms_are_those_of_the_vectors_that_are_added_up():
    model = small_model(d_k=4, d_v=5, max_len=64)
    aligned = aligned_batch(TOKENIZER, [PAIRS[0]])
    ids = [each % model.config.vocab_size for each in aligned.batch]  # the model is a toy
    batch = type(aligned.batch)(*ids)
    found = cross_attention(model, batch)
    with record_attention(model) as attention:
        memory = model.encode(batch.source)
        model(batch.source, batch.target_in)
    for layer, block in enumerate(model.decoder.layers):
        cross = block.cross_attention.attention
        assert_equal(found["weight"][layer], attention["cross"][layer])
        for head in range(3):
            V = memory[0] @ cross.W_V[:, 5 * head : 5 * head + 5]
            for s, v in enumerate(V):
                vectors = found["weight"][layer, 0, head, :, s, None] * (
                    v @ cross.W_O[5 * head : 5 * head + 5]
                )
                assert_equal(found["norm"][layer, 0, head, :, s], vectors.norm(dim=-1).detach())


def test_shares_of_length_are_norms_as_rows_that_sum_to_one():
    model = small_model(d_k=4, d_v=5, max_len=64)
    ids = torch.tensor([[4, 5, 6, 3]])
    found = cross_attention(model, Batch(ids, ids, ids))
    shares = shares_of_length(found["weight"], value_lengths(model, model.encode(ids)))
    assert_equal(shares, found["norm"] / found["norm"].sum(-1, keepdim=True))


def test_a_word_meets_a_word_and_a_sign_a_sign():
    same = same_sort(PAIRS)
    for n, pair in enumerate(PAIRS):
        for j, french in enumerate(pair.french_words):
            for i, english in enumerate(pair.english_words):
                assert same[n, j, i] == ((french in ".,") == (english in ".,"))
        assert not same[n, len(pair.french_words) :].any()
        assert not same[n, :, len(pair.english_words) :].any()


def test_measure_holds_to_the_step_the_weights_and_the_rule():
    aligned = aligned_batch(TOKENIZER, PAIRS)
    perfect = {}  # tokens that look evenly at the tokens of their words' partners, at one step
    for step in STEPS:
        perfect[step] = aligned.of_target[step].mT @ aligned.gold.float() @ aligned.of_source.mT
    A = perfect["input"][None, :, None]  # (L=1, N, h=1, T, S)
    rates = measure({"weight": A, "norm": perfect["output"][None, :, None]}, aligned)
    linked = aligned.gold.any(-1).sum()
    floor = 1 - 2 * linked / (linked + aligned.gold.sum())
    assert rates["input", "weight"] == rates["output", "norm"] == floor
    assert rates["output", "weight"] > floor and rates["input", "norm"] > floor
    none = torch.zeros_like(aligned.gold)
    assert measure({"weight": A}, aligned, none)["input", "weight"] == 1


def test_best_head():
    assert best_head(torch.tensor([[0.5, 0.4, 0.9], [0.3, 0.2, 0.6]])) == (1, 1)


def test_first_and_later_pieces_of_words():
    batch = aligned_batch(TOKENIZER, PAIRS[:8]).batch
    names = [TOKENIZER.readable(row) for row in batch.target_out.tolist()]
    first, later = pieces(TOKENIZER, batch)
    assert not (first & later).any() and first.any() and later.any()
    for n, row in enumerate(names):
        for t, name in enumerate(row):
            assert first[n, t] == name.startswith("_")
            after = t > 0 and row[t - 1][-1].isalpha()
            assert later[n, t] == (after and name.isalpha())


def test_what_rests_on_the_end_by_loops():
    batch = aligned_batch(TOKENIZER, PAIRS[:5]).batch
    N, S = batch.source.shape
    A = torch.rand(2, N, 3, batch.target_in.shape[1], S, dtype=torch.float64)
    lengths = torch.rand_like(A)
    found = at_rest(TOKENIZER, batch, {"weight": A, "norm": lengths})
    for rows, kind in zip(pieces(TOKENIZER, batch), found, strict=True):
        for n in range(N):
            end = batch.source[n].tolist().index(EOS)
            last = slice(end - 1, end + 1)  # the full stop and [EOS]
            at = [t for t in range(len(rows[n])) if rows[n, t]]
            weights = [A[1, n, 2, t, last].sum() for t in at]
            arrives = [lengths[1, n, 2, t].sum() for t in at]
            from_end = [lengths[1, n, 2, t, last].sum() for t in at]
            for values, means in zip((weights, arrives, from_end), kind, strict=True):
                if values:
                    assert_equal(means[1, 2, n], torch.stack(values).mean())
                else:
                    assert means[1, 2, n].isnan()
