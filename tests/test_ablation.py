"""A head that is off adds nothing and leaves the rest alone; and the small models are whole."""

import copy
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pytorch_twins import all_ways_to_compile, compiled, small_model

from tutor import record_attention
from tutor.evaluation.ablation import (
    all_heads,
    attention_of,
    instead,
    patched,
    places_of,
    record_vectors,
    same_length,
    without_heads,
)
from tutor.evaluation.scoring import exact_match
from tutor.models import small as small_models
from tutor.models.small import (
    SEEDS,
    SMALL_SIZES,
    load_small,
    train_small,
    untrained,
)
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import BOS

SOURCE = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0]])
TARGET = torch.tensor([[2, 6, 9], [2, 5, 0]])
MODEL = small_model(d_k=4, d_v=5)  # 2 layers of 3 heads on each side
HEADS = all_heads(MODEL)


OTHER = torch.tensor([[4, 10, 6, 7, 3], [8, 9, 5, 3, 0]])  # another source of the same shape
OTHER_TARGET = torch.tensor([[2, 4, 9], [2, 7, 8]])


def hooks(model):
    return sum(
        len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules()
    )


def vectors_of(model, source, target):
    with record_vectors(model) as vectors:
        model(source, target)
    return vectors


def test_every_head_is_listed_once_and_found():
    assert len(HEADS) == len(set(HEADS)) == 3 * 2 * 3
    found = {id(attention_of(MODEL, kind, layer)) for kind, layer, _ in HEADS}
    assert len(found) == 3 * 2
    assert attention_of(MODEL, "encoder", 1) is MODEL.encoder.layers[1].self_attention.attention
    assert attention_of(MODEL, "decoder", 1) is MODEL.decoder.layers[1].self_attention.attention
    assert attention_of(MODEL, "cross", 1) is MODEL.decoder.layers[1].cross_attention.attention


@given(st.sets(st.sampled_from(HEADS)))
def test_a_head_that_is_off_has_no_rows_in_W_O(heads):
    other = copy.deepcopy(MODEL)
    with torch.no_grad():
        for kind, layer, head in heads:
            attention_of(other, kind, layer).W_O[5 * head : 5 * head + 5] = 0.0
    with without_heads(MODEL, heads):
        silenced = MODEL(SOURCE, TARGET)
    torch.testing.assert_close(silenced, other(SOURCE, TARGET), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_weights_of_other_heads_stay(kind):
    with record_attention(MODEL) as whole, without_heads(MODEL, [(kind, 0, 1)]):
        MODEL(SOURCE, TARGET)  # who listens first hears the weights as they were
    with without_heads(MODEL, [(kind, 0, 1)]), record_attention(MODEL) as attention:
        MODEL(SOURCE, TARGET)
    before, after = whole[kind][0], attention[kind][0]  # (N, h, T, S)
    assert (after[:, 1] == 0).all() and (before[:, 1] > 0).any()
    assert after[:, [0, 2]].equal(before[:, [0, 2]])


def test_nothing_stays_behind():
    whole = MODEL(SOURCE, TARGET)
    with without_heads(MODEL, HEADS):
        assert hooks(MODEL) == len(HEADS)
        assert not MODEL(SOURCE, TARGET).equal(whole)
    assert hooks(MODEL) == 0
    assert MODEL(SOURCE, TARGET).equal(whole)


def test_nothing_stays_behind_after_an_error():
    with pytest.raises(ZeroDivisionError), without_heads(MODEL, HEADS):
        raise ZeroDivisionError
    assert hooks(MODEL) == 0
    with pytest.raises(IndexError), without_heads(MODEL, [("cross", 0, 0), ("cross", 7, 0)]):
        pass  # there is no such layer: the head before it is given back as well
    assert hooks(MODEL) == 0


@all_ways_to_compile
def test_a_compiled_model_feels_it_as_well(way):
    model, heads = small_model(num_layers=1), [("encoder", 0, 1), ("cross", 0, 2)]
    whole = model(SOURCE, TARGET)
    with without_heads(model, heads):
        expected = model(SOURCE, TARGET)
    run, model = compiled(model, way, SOURCE, TARGET)
    with without_heads(model, heads):
        assert torch.allclose(run(SOURCE, TARGET), expected)
    assert torch.allclose(run(SOURCE, TARGET), whole) and not torch.allclose(expected, whole)


def test_greedy_decoding_feels_it_at_every_step():
    translator = load_small(0)
    with without_heads(translator.model, [("cross", 1, 2), ("decoder", 0, 3)]):
        recording = translator.record("A dog is eating.")
    for kind, layer, head in (("cross", 1, 2), ("decoder", 0, 3)):
        rows = recording.attention[kind][layer].sum(-1)  # (h, T)
        assert (rows[head] == 0).all()
        others = [other for other in range(4) if other != head]
        torch.testing.assert_close(rows[others], torch.ones_like(rows[others]))


@pytest.mark.parametrize("head", [("cross", 1, 2), ("encoder", 0, 0)])
def test_a_head_that_never_ran_is_no_finding(head):
    with pytest.raises(RuntimeError, match="Nothing was switched off at"):
        with without_heads(MODEL, [head]):
            MODEL.embed(SOURCE)
    assert hooks(MODEL) == 0


@pytest.mark.parametrize("head", HEADS)
def test_zeros_that_stand_in_for_a_head_switch_it_off(head):
    whole = MODEL(SOURCE, TARGET)
    with without_heads(MODEL, [head]):
        expected = MODEL(SOURCE, TARGET)
    with instead(MODEL, head, lambda A, V, Y: torch.zeros_like(Y)):
        assert torch.allclose(MODEL(SOURCE, TARGET), expected)
    with instead(MODEL, head, lambda A, V, Y: A @ V):
        assert torch.allclose(MODEL(SOURCE, TARGET), whole)
    with pytest.raises(ZeroDivisionError), instead(MODEL, head, lambda A, V, Y: 1 / 0):
        MODEL(SOURCE, TARGET)
    assert torch.equal(MODEL(SOURCE, TARGET), whole)


def test_a_stand_in_that_was_never_asked_is_no_finding():
    with pytest.raises(RuntimeError, match="Nothing was exchanged at"):
        with instead(MODEL, ("cross", 1, 2), lambda A, V, Y: Y):
            MODEL.embed(SOURCE)


def test_batches_of_one_length_hold_no_padding():
    tokenizer, pairs = load_small(0).tokenizer, generate_pairs("val", 100)
    batches = same_length(tokenizer, pairs, least=1)
    assert sum(len(batch.source) for batch in batches) == 100
    assert all((side != 0).all() for batch in batches for side in batch)
    assert all(len(batch.source) >= 5 for batch in same_length(tokenizer, pairs, least=5))


# ---- vectors of one run in another


def test_recorded_vectors_are_those_of_the_layers():
    vectors = vectors_of(MODEL, SOURCE, TARGET)
    assert {side: len(each) for side, each in vectors.items()} == {"encoder": 3, "decoder": 3}
    assert vectors["encoder"][0].equal(MODEL.embed(SOURCE))
    assert vectors["decoder"][0].equal(MODEL.embed(TARGET))
    assert MODEL.encoder.norm(vectors["encoder"][-1]).equal(MODEL.encode(SOURCE))
    layer = MODEL.decoder.layers[1]
    assert all(not X.requires_grad for each in vectors.values() for X in each)
    with record_vectors(MODEL) as again:
        X = torch.randn(1, 4, 12, dtype=torch.float64)
        layer(X, X)
    assert again["decoder"][1].equal(X) and again["encoder"][0] is None


@given(st.sets(st.tuples(st.sampled_from(["encoder", "decoder"]), st.integers(0, 2),
                         st.integers(0, 2))))  # fmt: skip
def test_a_runs_own_vectors_change_nothing(places):
    vectors = vectors_of(MODEL, SOURCE, TARGET)
    with patched(MODEL, vectors, places):
        again = MODEL(SOURCE, TARGET)
    assert again.equal(MODEL(SOURCE, TARGET))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("layer", [0, 1, 2])
def test_all_vectors_of_a_layer_make_the_other_run(layer, norm_first):
    model = small_model(norm_first=norm_first)
    vectors = vectors_of(model, SOURCE, OTHER_TARGET)  # the same padding, so the same masks
    source, target = SOURCE.where(SOURCE == 0, 10 - SOURCE), OTHER_TARGET.flip(1)
    both = [("encoder", layer, s) for s in range(5)] + [("decoder", layer, t) for t in range(3)]
    with patched(model, vectors, both):
        patched_run = model(source, target)
    assert patched_run.equal(model(SOURCE, OTHER_TARGET))
    assert not model(source, target).equal(patched_run)


def test_one_vector_is_replaced_and_the_rest_computes_on():
    vectors = vectors_of(MODEL, OTHER, TARGET)
    with patched(MODEL, vectors, [("encoder", 1, 2)]), record_vectors(MODEL) as seen:
        MODEL(SOURCE, TARGET)
    whole = vectors_of(MODEL, SOURCE, TARGET)
    assert seen["encoder"][0].equal(whole["encoder"][0])
    X = whole["encoder"][1].clone()
    X[:, 2] = vectors["encoder"][1][:, 2]
    assert seen["encoder"][1].equal(X)  # who listens last hears what was put in
    assert not seen["encoder"][2][:, 0].equal(whole["encoder"][2][:, 0])  # others hear it
    assert seen["decoder"][0].equal(whole["decoder"][0])


def test_later_tokens_alone_feel_a_patch_in_the_decoder():
    vectors = vectors_of(MODEL, SOURCE, OTHER_TARGET)
    with patched(MODEL, vectors, [("decoder", 1, 1)]):
        there = MODEL(SOURCE, TARGET)
    whole = MODEL(SOURCE, TARGET)
    assert there[:, 0].equal(whole[:, 0]) and not there[0, 1:].equal(whole[0, 1:])


def test_after_the_block_nothing_is_patched_and_vectors_are_not_changed():
    whole, vectors = MODEL(SOURCE, TARGET), vectors_of(MODEL, OTHER, TARGET)
    kept = copy.deepcopy(vectors)
    with patched(MODEL, vectors, [("encoder", 0, 1), ("encoder", 0, 2)]):
        assert hooks(MODEL) == 2
        assert not MODEL(SOURCE, TARGET).equal(whole)
    with pytest.raises(ZeroDivisionError), patched(MODEL, vectors, [("encoder", 0, 1)]):
        raise ZeroDivisionError
    assert hooks(MODEL) == 0 and MODEL(SOURCE, TARGET).equal(whole)
    assert all(x.equal(y) for side in kept for x, y in zip(kept[side], vectors[side], strict=True))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (("cross", 0, 0), "A side is 'encoder' or 'decoder', not 'cross'"),
        (("encoder", 3, 0), "There is no layer 3: 0 to 2"),
        (("encoder", -1, 0), "There is no layer -1"),
        (("encoder", 0, 5), "There is no position 5: the other run has 5"),
        (("decoder", 0, -1), "There is no position -1"),
    ],
)
def test_a_place_that_is_not_there_is_refused(place, message):
    vectors = vectors_of(MODEL, SOURCE, TARGET)
    with pytest.raises(ValueError, match=message):
        with patched(MODEL, vectors, [("encoder", 0, 0), place]):
            pass
    assert hooks(MODEL) == 0


def test_runs_that_do_not_fit_are_refused():
    vectors = vectors_of(MODEL, SOURCE, TARGET)
    with pytest.raises(ValueError, match="as many sentences and tokens"):
        with patched(MODEL, vectors, [("encoder", 0, 0)]):
            MODEL(SOURCE[:, :3], TARGET)
    with record_vectors(MODEL) as half:
        MODEL.encode(SOURCE)
    with pytest.raises(ValueError, match="has no vectors of the decoder"):
        with patched(MODEL, half, [("decoder", 0, 0)]):
            pass
    assert hooks(MODEL) == 0


def test_a_patch_that_never_ran_is_no_finding():
    translator = load_small(0)
    source = torch.tensor(translator.encode(["A dog is eating."]))
    vectors = vectors_of(translator.model, source, torch.tensor([[2, 6]]))
    with pytest.raises(RuntimeError, match=r"Nothing was patched at \('decoder', 1, 1\)"):
        with patched(translator.model, vectors, [("encoder", 0, 0), ("decoder", 1, 1)]):
            translator.translate(["A dog is eating."])  # with a cache, which passes layers by
    assert hooks(translator.model) == 0


@all_ways_to_compile
def test_a_compiled_model_is_patched_and_recorded_as_well(way):
    model = small_model(num_layers=1)
    vectors, places = vectors_of(model, OTHER, TARGET), [("encoder", 1, 1), ("decoder", 0, 2)]
    with patched(model, vectors, places):
        expected = model(SOURCE, TARGET)
    run, model = compiled(model, way, SOURCE, TARGET)
    with patched(model, vectors, places), record_vectors(model) as seen:
        assert torch.allclose(run(SOURCE, TARGET), expected)
    assert len(places_of(model, "encoder")) == len(seen["encoder"]) == 2
    assert seen["encoder"][1][:, 1].equal(vectors["encoder"][1][:, 1])


# ---- the small models


def verbs(translator, beginning, texts, off=()):
    """The logit of `monte` less that of `fait` after the beginning, for each text."""
    monte, fait = (ids[0] for ids in translator.tokenizer.encode(["monte", "fait"]))
    target = [[BOS, *translator.tokenizer.encode(beginning)]] * len(texts)
    with without_heads(translator.model, off):
        Z = translator.model(torch.tensor(translator.encode(texts)), torch.tensor(target))[:, -1]
    return Z[:, monte] - Z[:, fait]  # (N,)


def left(translator, beginning, texts, others, off):
    """Which share of the difference between the texts and the others is left without heads."""
    whole, rest = (
        verbs(translator, beginning, texts, heads) - verbs(translator, beginning, others, heads)
        for heads in ((), off)
    )
    return rest / whole


# As the exercise `shares_of_heads` tells it.
@pytest.mark.parametrize("seed, first, second", [(0, 3, 2), (1, 0, 3), (2, 2, 3)])
@torch.no_grad()
def test_two_heads_carry_the_object_to_riding(seed, first, second):
    translator = load_small(seed)
    texts = "A man is riding a horse.", "A man is riding a bicycle."
    table = {
        (a, b): left(translator, "Un homme", texts[:1], texts[1:],
                     [("encoder", 0, a), ("encoder", 1, b)]).item()
        for a, b in product(range(4), repeat=2)
    }  # fmt: skip
    assert table.pop((first, second)) < 0.1
    assert min(table.values()) > 0.4
    pairs = list(product(("a horse", "a donkey", "a camel", "an elephant"), ("bicycle", "scooter")))
    riders = {"woman": "Une femme", "boy": "Un garçon", "girl": "Une fille", "king": "Un roi"}
    for rider, beginning in riders.items():  # 32 pairs in all
        clean = [f"A {rider} is riding {animal}." for animal, _ in pairs]
        corrupted = [f"A {rider} is riding a {vehicle}." for _, vehicle in pairs]
        heads = [("encoder", 0, first), ("encoder", 1, second)]
        assert left(translator, beginning, clean, corrupted, heads).abs().max() < 0.15
        for here, there in ((corrupted, clean), (clean, corrupted)):
            with record_vectors(translator.model) as vectors:
                goal = verbs(translator, beginning, there)
            start = verbs(translator, beginning, here)
            with patched(translator.model, vectors, [("encoder", 2, 3)]):
                moved = (verbs(translator, beginning, here) - start) / (goal - start)
            assert moved.min() > 0.9


def test_small_models_have_the_sizes_they_claim_and_differ_in_their_weights_alone():
    translators = [load_small(seed) for seed in SEEDS]
    fresh = untrained(translators[0].tokenizer, 0)
    first = translators[0].model.state_dict()
    for translator in translators:
        assert translator.model.config == fresh.config
        assert SMALL_SIZES.items() <= vars(translator.model.config).items()
        assert not translator.model.training
        assert translator.tokenizer.model.to_str() == translators[0].tokenizer.model.to_str()
    for translator in translators[1:]:
        other = translator.model.state_dict()
        assert not any(other[name].equal(first[name]) for name in first if "W_" in name)
    for seed in SEEDS:
        [weights] = (small_models.FOLDER / f"seed{seed}").glob("*.safetensors")
        assert weights.stat().st_size < 1_500_000


@pytest.mark.parametrize("seed", SEEDS)
def test_small_models_translate(seed):
    pairs = generate_pairs("val", 50)
    written = load_small(seed).translate([pair.english for pair in pairs])
    assert exact_match(written, [pair.french for pair in pairs]) >= 0.9


def test_the_seed_decides_the_first_weights_and_the_training(monkeypatch):
    monkeypatch.setattr(small_models, "BUILTIN_PAIRS", 200)
    once, again, other = (train_small(seed, steps=2) for seed in (1, 1, 2))
    start = untrained(once.tokenizer, 1)
    for name, p in once.model.state_dict().items():
        assert p.equal(again.model.state_dict()[name])
        if "W_" in name:
            assert not p.equal(start.state_dict()[name])
            assert not p.equal(other.model.state_dict()[name])
    first, second = (untrained(once.tokenizer, seed).embedding.weight for seed in (1, 2))
    assert first.equal(start.embedding.weight) and not second.equal(first)


def test_small_models_take_little_room():
    sizes = [path.stat().st_size for path in small_models.FOLDER.rglob("*") if path.is_file()]
    assert sum(sizes) < 5_000_000
