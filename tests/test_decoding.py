"""The cache against whole forward passes; the searches against plain ones that keep lists."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_twins import random_ids, small_model

from tutor.cache import Cache
from tutor.decoding import (
    ALPHA,
    Hypothesis,
    Pool,
    beam_search,
    best_of,
    greedy,
    length_penalty,
    most_probable,
    sample,
    settled,
    tokens_to_keep,
)
from tutor.ensemble import Ensemble
from tutor.text.tokenizer import BOS, EOS, PAD, UNK

SEEDS = st.integers(0, 10_000)


def lively_model(seed=0, **changes):
    """A random model whose translations differ in words and in length."""
    model = small_model(seed, **{"norm_first": True, "positions": "learned", **changes})
    with torch.no_grad():
        if model.config.norm_first:
            model.decoder.norm.bias.zero_()  # otherwise one word wins everywhere
            model.decoder.norm.weight.fill_(0.5)  # no word is certain ...
            model.encoder.norm.weight.fill_(2.0)  # ... and the source matters
        model.positions.table *= 4
        model.embedding.weight[EOS] *= 2  # so that some end early
    return model


def stubborn_model(*favourites):
    """Writes the first of the favourites, whatever it reads; the others come next."""
    model = small_model(norm_first=True)
    with torch.no_grad():
        model.decoder.norm.weight.zero_()
        model.embedding.weight.copy_(torch.eye(11, 12))
        for place, token in enumerate(favourites):
            model.decoder.norm.bias[token] = 50.0 - place
    return model


@torch.no_grad()
def next_log_probabilities(model, source, ids):
    """Of one sentence, by a whole forward pass without a cache."""
    E = model(source[None], torch.tensor([[BOS, *ids]]))[0, -1]
    E[[PAD, UNK, BOS]] = -torch.inf
    return E.log_softmax(-1)


def plain_greedy(model, source, max_len):
    ids = []
    while len(ids) < max_len:
        ids.append(next_log_probabilities(model, source, ids).argmax().item())
        if ids[-1] == EOS:
            return ids[:-1]
    return ids


def plain_beam_search(model, source, beams, alpha, max_len):
    """The pool as a sorted list, without a cache, to the end: until nothing is live."""

    def score(beam):
        ids, total = beam
        return total / length_penalty(len(ids), alpha)

    pool = [([], 0.0)]
    for _ in range(max_len):
        proposals = []
        for ids, total in pool:
            if ids[-1:] == [EOS]:
                proposals.append((ids, total))
                continue
            P = next_log_probabilities(model, source, ids)
            proposals += [([*ids, i], total + P[i].item()) for i in range(EOS, len(P))]
        pool = sorted(proposals, key=score, reverse=True)[:beams]
    pool = [(ids[-1] != EOS, -score((ids, total)), ids) for ids, total in pool]
    return [
        Hypothesis([i for i in ids if i != EOS], -loss, not cut) for cut, loss, ids in sorted(pool)
    ]


def assert_same_hypotheses(ours, theirs):
    assert [(h.ids, h.finished) for h in ours] == [(h.ids, h.finished) for h in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert math.isclose(a.score, b.score, rel_tol=1e-6)


# ---- the cache


@given(SEEDS, st.booleans(), st.sampled_from(["sinusoidal", "learned"]), st.sampled_from([1, 4]))
@settings(max_examples=25)
def test_cached_logits_equal_uncached_ones_at_every_step(seed, norm_first, kind, beams):
    model = small_model(seed, norm_first=norm_first, positions=kind, d_k=4, d_v=5)
    generator = torch.Generator().manual_seed(seed)
    source = random_ids(seed, 3, 5, 11)
    written = torch.full((len(source), beams, 1), BOS)  # (N, beams, t)
    with torch.no_grad():
        cache = Cache(model, source, beams)
        for _ in range(6):
            E = cache.step(written[..., -1])  # (N, beams, vocabulary)
            whole = model(source.repeat_interleave(beams, 0), written.flatten(0, 1))[:, -1]
            torch.testing.assert_close(E.flatten(0, 1), whole, rtol=0, atol=1e-10)
            parents = torch.randint(beams, E.shape[:2], generator=generator)
            cache.follow(parents)
            written = written.gather(1, parents[..., None].expand_as(written))
            new = torch.randint(EOS, 11, E.shape[:2], generator=generator)
            written = torch.cat([written, new[..., None]], dim=-1)
            if len(source) > 1 and torch.rand((), generator=generator) < 0.3:
                left = torch.randperm(len(source), generator=generator)[:-1]
                cache.keep(left)
                written, source = written[left], source[left]


def test_the_cache_shares_the_source_among_beams_and_says_what_it_holds():
    model, source = small_model(), random_ids(0, 2, 5, 11)
    with torch.no_grad():
        cache = Cache(model, source, beams=3)
        for _ in range(40 // 3):  # more than there was room for
            cache.step(torch.full((2, 3), 5))
    assert len(cache.layers) == 2
    for layer in cache.layers:
        assert layer.memory_K.shape == layer.memory_V.shape == (2, 3, 5, 4)  # (N, h, S, d_k)
        assert layer.K.shape == layer.V.shape == (2, 3, 13 * 3, 4)  # (N, h, t * beams, d_k)
    assert repr(cache) == (
        "Cache of 2 layers, tokens written: 13, K (2, 3, 39, 4), memory_K (2, 3, 5, 4), "
        "mask (2, 1, 3, 39)"
    )


# ---- the searches


@given(SEEDS)
@settings(max_examples=15)
def test_greedy_equals_a_plain_one_sentence_by_sentence(seed):
    model, source = lively_model(seed), random_ids(seed, 5, 6, 11)
    expected = [plain_greedy(model, row[row != PAD], 12) for row in source]
    written = greedy(model, source, 12)
    assert [h.ids for h in written] == expected
    assert [h.finished for h in written] == [len(ids) < 12 for ids in expected]


@given(SEEDS, st.integers(1, 4), st.sampled_from([0.0, 0.6, 1.5]), st.data())
@settings(max_examples=25)
def test_beam_search_equals_a_plain_one_sentence_by_sentence(seed, beams, alpha, data):
    n_best = data.draw(st.integers(1, beams))
    model, source = lively_model(seed), random_ids(seed, 4, 6, 11)
    for row, found in zip(source, beam_search(model, source, beams, alpha, n_best, 8), strict=True):
        plain = plain_beam_search(model, row[row != PAD], beams, alpha, 8)
        assert_same_hypotheses(found, plain[:n_best])


@given(SEEDS, st.integers(1, 4))
@settings(max_examples=15)
def test_an_ensemble_searches_by_the_mean_of_its_log_probabilities(seed, beams):
    models = [lively_model(seed), lively_model(seed + 1, num_layers=1)]

    def mean(*ids):
        return sum(model(*ids).log_softmax(-1) for model in models) / 2

    source = random_ids(seed, 4, 6, 11)
    found = beam_search(Ensemble(models), source, beams, 0.6, beams, 8)
    for row, best in zip(source, found, strict=True):
        assert_same_hypotheses(best, plain_beam_search(mean, row[row != PAD], beams, 0.6, 8))
    alone = greedy(Ensemble(models[:1]), source)
    assert_same_hypotheses(alone, greedy(models[0], source))


def test_an_ensemble_needs_one_vocabulary_and_reads_what_all_can_read():
    models = [small_model(max_len=9), small_model(max_len=7)]
    assert Ensemble(models).config.max_len == 7
    for wrong in ([], [small_model(), small_model(vocab_size=12)]):
        with pytest.raises(ValueError, match="models of one vocabulary"):
            Ensemble(wrong)


@given(SEEDS, st.booleans())
@settings(max_examples=15)
def test_one_beam_is_greedy(seed, norm_first):
    model, source = lively_model(seed, norm_first=norm_first), random_ids(seed, 5, 6, 11)
    found = beam_search(model, source, beams=1, alpha=0.0)
    assert_same_hypotheses([best for (best,) in found], greedy(model, source))


@given(SEEDS, st.sampled_from([0.0, 1.0]))
@settings(max_examples=10)
def test_a_beam_as_wide_as_the_space_finds_the_best_sentence_of_all(seed, alpha):
    model, source = lively_model(seed, vocab_size=6), random_ids(seed, 2, 4, 6)
    words, max_len = (4, 5), 4
    for row, found in zip(source, beam_search(model, source, 40, alpha, 3, max_len), strict=True):
        every = []
        for length in range(max_len):
            for ids in itertools.product(words, repeat=length):
                total = 0.0
                for t, token in enumerate([*ids, EOS]):
                    P = next_log_probabilities(model, row[row != PAD], list(ids[:t]))
                    total += P[token].item()
                every.append(Hypothesis(list(ids), total / length_penalty(length + 1, alpha), True))
        assert len(every) == 1 + 2 + 4 + 8
        assert_same_hypotheses(found, sorted(every, key=lambda h: -h.score)[:3])


def test_a_batch_of_one_with_a_source_of_one():
    model, source = lively_model(3), torch.tensor([[EOS]])
    assert greedy(model, source, 9)[0].ids == plain_greedy(model, source[0], 9)
    plain = plain_beam_search(model, source[0], 3, 0.6, 9)
    assert_same_hypotheses(beam_search(model, source, 3, 0.6, 3, 9)[0], plain)


# ---- where a translation ends


SOURCES = torch.tensor([[5, 6, EOS], [7, EOS, PAD]])


def test_a_model_that_ends_at_once():
    model = stubborn_model(EOS, 5)
    assert [(h.ids, h.finished) for h in greedy(model, SOURCES)] == [([], True)] * 2
    history = []
    found = beam_search(model, SOURCES, 3, alpha=0.0, history=history)
    assert [(best.ids, best.finished) for (best,) in found] == [([], True)] * 2
    assert len(history) == 1  # nothing that is live could win


def test_a_model_that_never_ends_is_stopped_at_each_sentences_own_limit():
    model = stubborn_model(5, 6)
    model.embedding.weight.data[EOS, 11], model.decoder.norm.bias.data[11] = -1e6, 1.0
    for search in (greedy, lambda *args, **k: [h for (h,) in beam_search(*args, 2, **k)]):
        for max_len, limit, lengths in [
            (None, 100, [53, 52]), (4, 100, [4, 4]), (None, 9, [9, 9]), (20, 9, [9, 9])
        ]:  # fmt: skip
            # The model's own limit is the size of its table of positions.
            model = lengthened(model, limit)
            written = search(model, SOURCES, max_len=max_len)
            assert [len(h.ids) for h in written] == lengths
            assert not any(h.finished for h in written)


def lengthened(model, max_len):
    """The same model with positions for max_len tokens."""
    longer = small_model(norm_first=True, max_len=max_len)
    longer.load_state_dict(model.state_dict())
    return longer


@pytest.mark.parametrize("special", [PAD, UNK, BOS])
def test_special_tokens_are_never_written(special):
    model = stubborn_model(special, 5, EOS)
    assert {*greedy(model, SOURCES, 4)[0].ids} == {5}
    for best in beam_search(model, SOURCES, 2, max_len=4)[0]:
        assert not {PAD, UNK, BOS} & {*best.ids}


def test_finished_sentences_cost_nothing_more(monkeypatch):
    sizes, step = [], Cache.step
    monkeypatch.setattr(Cache, "step", lambda self, ids: sizes.append(len(ids)) or step(self, ids))
    model, source = lively_model(10), random_ids(10, 6, 6, 11)
    lengths = [len(h.ids) + h.finished for h in greedy(model, source, 12)]
    assert len(set(lengths)) > 1
    assert sizes == [sum(length > t for length in lengths) for t in range(max(lengths))]


# ---- scores and samples


def test_log_probabilities_of_the_most_probable():
    E = torch.randn(4, 3, 11, dtype=torch.float64)
    P = E.clone()
    P[..., :EOS] = -torch.inf
    P = P.log_softmax(-1)
    step, ids = most_probable(E, 5)
    torch.testing.assert_close(step, P.topk(5).values, rtol=0, atol=1e-12)
    assert ids.equal(P.topk(5).indices)
    assert most_probable(P.clone(), 99)[0].shape == (4, 3, 11)


def test_length_penalty_of_the_formula():
    assert length_penalty(1, 0.6) == 1
    assert math.isclose(length_penalty(7, 0.6), 2**0.6)
    assert length_penalty(torch.tensor([3, 9]), 0).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("live", "n_best", "done"), [(-1.8, 1, False), (-2.4, 1, True), (-2.4, 2, False), (-9, 2, True)]
)
def test_a_search_goes_on_while_a_live_beam_could_win(live, n_best, done):
    # At 7 tokens and alpha 1 the penalty is 2: the live beam can hope for half of what it lost.
    total, ended = torch.tensor([[-1.2, -3.0, live]]), torch.tensor([[True, True, False]])
    pool = Pool(torch.zeros(1, 3, 2).long(), total, torch.ones(1, 3).long(), ended)
    assert settled(pool, torch.tensor([7]), 1.0, n_best).tolist() == [done]


def test_samples_come_as_often_as_the_model_says():
    model, source = lively_model(0), torch.tensor([[5, 6, EOS]])
    P = next_log_probabilities(model, source[0], []).exp()  # (vocabulary,)
    draws, generator = 4000, torch.Generator().manual_seed(0)
    for temperature, top_k in [(1.0, None), (0.5, None), (2.0, 3)]:
        wanted = P ** (1 / temperature)
        wanted[P < P.topk(top_k or 11).values[-1]] = 0
        wanted /= wanted.sum()
        written = sample(
            model, source.expand(draws, -1), temperature, top_k, max_len=1, generator=generator
        )
        firsts = torch.tensor([EOS if h.finished else h.ids[0] for h in written])
        shares = firsts.bincount(minlength=11) / draws
        # Four standard deviations of the largest share are 0.032.
        torch.testing.assert_close(shares.double(), wanted, rtol=0, atol=0.032)
    coldest = sample(model, source, top_k=1, max_len=9)
    assert_same_hypotheses(coldest, greedy(model, source, 9))


SHARES = torch.tensor([[0.5, 0.25, 0.125, 0.125], [0.75, 0.125, 0.125, 0.0]])


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ({}, [4, 4]),
        ({"top_p": 0.4}, [1, 1]), ({"top_p": 0.5}, [1, 1]), ({"top_p": 0.6}, [2, 1]),
        ({"top_p": 0.8}, [3, 2]), ({"top_p": 1.0}, [4, 3]),
        ({"min_p": 0.1}, [4, 3]), ({"min_p": 0.2}, [4, 1]), ({"min_p": 0.25}, [4, 1]),
        ({"min_p": 0.3}, [2, 1]), ({"min_p": 1.0}, [1, 1]),
        ({"top_p": 0.8, "min_p": 0.3}, [2, 1]),
    ],
)  # fmt: skip
def test_top_p_and_min_p_keep_the_first_tokens(rule, kept):
    wanted = torch.arange(4) < torch.tensor(kept)[:, None]
    assert tokens_to_keep(SHARES, **rule).equal(wanted)


def test_samples_keep_to_what_top_p_and_min_p_keep():
    model, source = lively_model(0), torch.tensor([[5, 6, EOS]])
    P, ids = next_log_probabilities(model, source[0], []).exp().sort(descending=True)
    for temperature, rule in [(1.0, {"top_p": 0.5}), (2.0, {"min_p": 0.5}), (1.0, {"min_p": 0.2})]:
        shares = P ** (1 / temperature) / (P ** (1 / temperature)).sum()
        allowed = {*ids[tokens_to_keep(shares, **rule)].tolist()}
        assert 1 < len(allowed) < 8
        written = sample(
            model, source.expand(500, -1), temperature, max_len=1, **rule,
            generator=torch.Generator().manual_seed(0),
        )  # fmt: skip
        assert {EOS if h.finished else h.ids[0] for h in written} == allowed
    for rule in ({"top_p": 1e-9}, {"min_p": 1.0}):
        coldest = sample(model, source, max_len=9, **rule)
        assert_same_hypotheses(coldest, greedy(model, source, 9))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_coldest_samples_are_greedy_and_the_hottest_are_any_word(dtype):
    model, source = lively_model(0).to(dtype), torch.tensor([[5, 6, EOS]])
    assert sample(model, source, temperature=1e-30)[0].ids == greedy(model, source)[0].ids
    written = sample(model, source.expand(2000, -1), temperature=1e30, max_len=1)
    firsts = torch.tensor([EOS if h.finished else h.ids[0] for h in written])
    counts = firsts.bincount(minlength=11)  # 250 of each are expected: 5 standard deviations are 74
    assert not counts[:EOS].any() and (counts[EOS:] - 250).abs().max() < 74


# ---- manners


@pytest.mark.parametrize("search", [greedy, beam_search, sample])
def test_no_sentences_are_no_translations(search):
    assert search(small_model(), SOURCES[:0]) == []


@pytest.mark.parametrize("search", [greedy, beam_search, sample])
def test_the_model_is_left_as_it_was(search):
    for training in (False, True):
        model = small_model(dropout=0.5).train(training)
        source, same = torch.tensor([[5, 6, EOS]]), []
        for _ in range(2):
            torch.manual_seed(0)
            same.append(search(model, source, max_len=4))
        assert same[0] == same[1]
        assert model.training == training
        assert all(p.grad is None for p in model.parameters())
        with pytest.raises(ValueError, match="between 0 and 10"):
            search(model, torch.tensor([[99]]))
        assert model.training == training


def test_dropout_is_off():
    model = small_model(dropout=0.5).train()
    source = torch.tensor([[5, 6, EOS]])
    assert len({tuple(greedy(model, source, 4)[0].ids) for _ in range(5)}) == 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: greedy(m, torch.tensor([5, 6, EOS])), r"shape \(N, T\).*\(3,\)"),
        (lambda m: greedy(m, SOURCES, 0), "max_len must be at least 1, not 0"),
        (lambda m: beam_search(m, SOURCES, 0), "beams must be .* at least 1, not 0"),
        (lambda m: beam_search(m, SOURCES, 2.5), "beams must be .* at least 1, not 2.5"),
        (lambda m: beam_search(m, SOURCES, 3, n_best=4), "n_best must lie between 1 and beams"),
        (lambda m: beam_search(m, SOURCES, 3, alpha=-1), "alpha must be at least 0, not -1"),
        (lambda m: beam_search(m, SOURCES, 3, alpha=math.nan), "alpha must be at least 0, not nan"),
        (lambda m: sample(m, SOURCES, temperature=0), "temperature must lie between .*, not 0;"),
        (lambda m: sample(m, SOURCES, temperature=-1), "temperature must lie between .*, not -1;"),
        (lambda m: sample(m, SOURCES, temperature="hot"), "temperature must lie .*, not 'hot';"),
        (lambda m: sample(m, SOURCES, math.inf), "temperature must lie between .*, not inf;"),
        (lambda m: sample(m, SOURCES, math.nan), "temperature must lie between .*, not nan;"),
        (lambda m: sample(m.float(), SOURCES, 1e39), "temperature must .*, not 1e\\+39;"),
        (lambda m: sample(m, SOURCES, top_k=0), "top_k must be None or at least 1, not 0"),
        (lambda m: sample(m, SOURCES, top_p=0), "top_p must be None or above 0 and at most 1, no"),
        (lambda m: sample(m, SOURCES, min_p=1.1), "min_p must be None or above 0 .*, not 1.1"),
    ],
)
def test_what_is_wrong_is_said(call, says):
    with pytest.raises(ValueError, match=says):
        call(small_model())


@pytest.mark.parametrize("search", [greedy, beam_search])
def test_a_model_whose_weights_are_no_numbers_is_named(search):
    model = lively_model()
    with torch.no_grad():
        model.decoder.layers[0].self_attention.attention.W_Q.fill_(math.nan)
    with pytest.raises(ValueError, match="not numbers"):
        search(model, torch.tensor([[5, 6, EOS], [5, EOS, PAD]]))


def test_history_holds_every_step_of_every_sentence_still_written():
    model, source, history = lively_model(10), random_ids(10, 6, 6, 11), []
    found = beam_search(model, source, 3, max_len=9, history=history)
    assert history[0][0].tolist() == [0, 1, 2, 3, 4, 5]
    for rows, pool, parents in history:
        assert len(rows) == len(pool.ids) == len(parents)
    for (rows, before, _), (later, pool, parents) in itertools.pairwise(history):
        assert {*later.tolist()} <= {*rows.tolist()}
        kept = [rows.tolist().index(n) for n in later.tolist()]
        for b in range(3):
            for n, row in enumerate(kept):
                assert before.ids[row, parents[n, b]].tolist() == pool.ids[n, b, :-1].tolist()
    last_rows, last, _ = history[-1]
    best = best_of(Pool(*(x[0] for x in last)), ALPHA)[0]
    assert found[last_rows[0]][0] == best
