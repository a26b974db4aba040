"""What changed since 2017, proved against PyTorch and arithmetic (chapters 20, 20b)."""

from functools import partial
from statistics import fmean, median

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_twins import random_tensors, randomize
from torch import nn

from course.making import since_2017
from tutor.attention import causal_mask
from tutor.language_model import Cache, LanguageModel, LanguageModelConfig
from tutor.models import since_2017 as since_2017_data
from tutor.modern import (
    Alibi,
    GroupedQueryAttention,
    RMSNorm,
    Rope,
    SwiGLU,
    interleave,
    repeat_heads,
    rotate,
    scaled_speeds,
    window_mask,
)
from tutor.proof import agree, equal
from tutor.text.tokenizer import SPECIAL
from tutor.text.truth import generate_english

N, T, D_MODEL = 2, 6, 16


def normal(*shape, seed=0):
    return random_tensors(seed, shape)[0]


def turned_complex(X, places, base=10_000.0):
    """Rotation as a product of complex numbers: another way than `rotate`'s."""
    d_k = X.shape[-1]
    pairs = torch.complex(X[..., : d_k // 2], X[..., d_k // 2 :])
    speed = torch.tensor([base ** (-2 * i / d_k) for i in range(d_k // 2)], dtype=torch.float64)
    pairs = pairs * torch.polar(torch.ones(()).double(), places[..., None] * speed)
    return torch.cat([pairs.real, pairs.imag], dim=-1)


@settings(max_examples=20)
@given(half=st.integers(1, 5), first=st.integers(0, 10**6), base=st.sampled_from([100.0, 1e4, 1e6]))
def test_a_rotation_is_a_complex_product(half, first, base):
    places = first + torch.arange(T)
    agree(
        lambda X: rotate(X, places, base),
        lambda X: turned_complex(X, places, base),
        normal(N, 2, T, 2 * half),
    )


def test_the_papers_pairs_are_the_halves_in_another_order():
    X, places = normal(N, 3, T, 8), torch.arange(T)
    angle = places[:, None] * 10_000.0 ** (-torch.arange(0, 8, 2).double() / 8)
    pairs = torch.view_as_complex(interleave(X).unflatten(-1, (-1, 2)).contiguous())
    theirs = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)
    assert equal(interleave(rotate(X, places)), theirs)
    assert not equal(rotate(interleave(X), places), theirs)


@settings(max_examples=20)
@given(shift=st.integers(-1000, 1000))
def test_scores_depend_on_the_distance_alone(shift):
    Q, K, places = normal(T, 8), normal(T, 8, seed=1), torch.arange(T)
    E = rotate(Q, places) @ rotate(K, places).T
    assert equal(rotate(Q, places + shift) @ rotate(K, places + shift).T, E)


def test_rms_norm():
    def theirs(m, X):
        return F.rms_norm(X, (D_MODEL,), m.weight, eps=1e-5)

    norm = randomize(RMSNorm(D_MODEL, eps=1e-5))
    agree(lambda m, X: m(X), theirs, normal(N, T, D_MODEL), module=norm)


def test_rms_norm_sums_in_long_numbers():
    X = normal(64, 512).bfloat16()
    short = RMSNorm(512).bfloat16()(X)
    long = F.rms_norm(X.float(), (512,), eps=1e-6).bfloat16()
    assert (short == long).double().mean() > 0.99


def test_swiglu_on_paper():
    def on_paper(m, X):
        G = X @ m.gate.weight.T
        return (G / (1 + (-G).exp()) * (X @ m.up.weight.T)) @ m.down.weight.T

    agree(lambda m, X: m(X), on_paper, normal(N, T, 8), module=randomize(SwiGLU(8, 12)))


@pytest.mark.parametrize("num_kv_heads", [1, 2, 4])
def test_grouped_queries_with_a_mask(num_kv_heads):
    mask = causal_mask(T) | (torch.arange(T) >= torch.tensor([[T], [4]]))[:, None, None]
    attention = GroupedQueryAttention(D_MODEL, 4, num_kv_heads)

    def theirs(m, X):
        Q, (K, V) = m.project_queries(X), m.project_keys_values(X)
        Y = F.scaled_dot_product_attention(Q, K, V, attn_mask=~mask, enable_gqa=True)
        return Y.transpose(1, 2).flatten(-2) @ m.W_O

    agree(lambda m, X: m(X, X, mask), theirs, normal(N, T, D_MODEL), module=randomize(attention))


def test_repeated_keys_stand_beside_each_other():
    K = torch.arange(3.0).reshape(1, 3, 1, 1)
    assert repeat_heads(K, 2).flatten().tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("qk_norm", [False, True])
def test_attention_with_all_parts_equals_its_formula(qk_norm):
    """Sequences of their own places; keys are normalised, then turned; values are neither."""
    places = torch.stack([torch.arange(T), torch.arange(T) + 7])  # (N, T)
    attention = GroupedQueryAttention(
        D_MODEL, 4, 2, d_k=6, positions=Rope(500.0), qk_norm=qk_norm, eps=1e-5
    )
    mask = window_mask(T, 3)

    def on_paper(m, X):
        heads = []
        for head in range(4):
            own, shared = slice(6 * head, 6 * head + 6), slice(6 * (head // 2), 6 * (head // 2) + 6)
            Q, K, V = X @ m.W_Q[:, own], X @ m.W_K[:, shared], X @ m.W_V[:, shared]
            if qk_norm:
                Q = F.rms_norm(Q, (6,), m.norm_Q.weight, eps=1e-5)
                K = F.rms_norm(K, (6,), m.norm_K.weight, eps=1e-5)
            Q, K = turned_complex(Q, places, 500.0), turned_complex(K, places, 500.0)
            heads.append(F.scaled_dot_product_attention(Q, K, V, attn_mask=~mask))
        return torch.cat(heads, dim=-1) @ m.W_O

    X = normal(N, T, D_MODEL)
    agree(lambda m, X: m(X, X, mask, places), on_paper, X, module=randomize(attention))


def test_alibi_is_a_distance_under_the_softmax():
    h, d_k, mask = 4, 5, causal_mask(T)
    places = torch.arange(T) + 3
    distance = (places[:, None] - places).double()  # (T, T)
    slope = torch.tensor([2.0**-2, 2**-4, 2**-6, 2**-8]).double()[:, None, None]

    def ours(Q, K):
        alibi = Alibi()
        Q, K = alibi.of_queries(Q, places), alibi.of_keys(K, places)
        return F.scaled_dot_product_attention(Q, K, torch.eye(T).double(), attn_mask=~mask)

    def theirs(Q, K):
        E = Q @ K.transpose(-2, -1) / d_k**0.5 - slope * distance
        return E.masked_fill(mask, -torch.inf).softmax(-1)

    agree(ours, theirs, normal(N, h, T, d_k), normal(N, h, T, d_k, seed=1))


@settings(max_examples=30)
@given(length=st.integers(1, 9), window=st.integers(1, 12))
def test_a_window_counts_itself(length, window):
    seen = [[j for j in range(length) if i - window < j <= i] for i in range(length)]
    rows = [(~row).nonzero()[:, 0].tolist() for row in window_mask(length, window)]
    assert rows == seen


TODAY = dict(
    positions="rope", norm="rms", feed_forward="swiglu", bias=False, num_kv_heads=1, d_k=6,
    qk_norm=True, tied=False, scale_embedding=False,
)  # fmt: skip
LLAMA_3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
               original_max_position_embeddings=8192)  # fmt: skip
MODELS = {
    "today": TODAY,
    "window": TODAY | dict(window=3),
    "layers that differ": TODAY
    | dict(
        window=3,
        unwindowed=(1,),
        unturned=(1,),
        qk_norm="joint",
        norm_out=True,
        qkv_bias=True,
        rope_scaling=LLAMA_3,
    ),
    "alibi": dict(positions="alibi", num_kv_heads=2, window=2, pad=11),
    "2017": dict(norm_first=False, positions="sinusoidal"),
}


def language_model(**changes):
    torch.manual_seed(0)
    sizes = dict(d_model=8, num_layers=2, num_heads=4, d_ff=12, max_len=16, dropout=0.0)
    return LanguageModel(LanguageModelConfig(12, **sizes | changes)).double().eval()


@pytest.fixture(params=MODELS)
def model(request):
    return language_model(**MODELS[request.param])


@torch.no_grad()
def test_a_cache_goes_on_where_it_was(model):
    """In pieces of any length, with padding in front: places go on, and the window moves along."""
    pad = model.config.pad
    ids = torch.tensor([[4, 5, 6, 7, 8, 9, 10, 4, 5], [pad, pad, 3, 4, 3, 9, 8, 8, 6]])
    whole, cache, start = model(ids), Cache(model), 0
    for length in (3, 1, 1, 3, 1):
        new = slice(start, start + length)
        start += length
        Z, keep = model(ids[:, new], cache=cache), ids[:, new] != pad
        assert equal(Z[keep], whole[:, new][keep])
    heads = model.config.num_kv_heads or model.config.num_heads
    kept = model.config.window or ids.shape[1]
    assert cache.layers[0].K.shape[1:3] == (heads, kept)


@torch.no_grad()
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_on_either_side_changes_nothing(model, side):
    pad, alone = model.config.pad, torch.tensor([[4, 5, 6, 7]])
    fill = torch.full((1, 3), pad)
    parts = [fill, alone] if side == "left" else [alone, fill]
    found = model(torch.cat(parts, dim=1))
    assert equal(found[:, 3:] if side == "left" else found[:, :4], model(alone))


def test_the_caller_says_what_is_padding():
    model, ids = language_model(**TODAY), torch.tensor([[9, 9, 4, 0, 5]])
    found = model(ids, padding=torch.tensor([[True, True, False, False, False]]))[:, 2:]
    assert equal(found, model(ids[:, 2:], padding=torch.zeros(1, 3, dtype=torch.bool)))
    assert not equal(found, model(ids)[:, 2:])


def test_scaled_speeds_on_paper():
    """Llama 3.1: the fastest pair stays, the slowest is 8 times slower, one stands between."""
    speeds = 5e5 ** (-torch.arange(64).double() / 64)
    scaled = scaled_speeds(128, 5e5, LLAMA_3)
    assert equal(scaled[0], speeds[0]) and equal(scaled[-1], speeds[-1] / 8)
    i = next(i for i in range(64) if 2 * torch.pi / speeds[i] > 8192 / 4)  # 3.2 turns in 8192
    share = (8192 * speeds[i] / (2 * torch.pi) - 1) / 3
    assert 0 < share < 1
    assert equal(scaled[i], share * speeds[i] + (1 - share) * speeds[i] / 8)
    dynamic = dict(rope_type="dynamic", factor=4.0, original_max_position_embeddings=100)
    for length, slower in ((50, 1.0), (100, 1.0), (200, 5.0)):
        found = scaled_speeds(8, 1e4, dynamic, length)[[0, -1]]
        assert equal(found, torch.tensor([1.0, 1e-3 / slower], dtype=torch.float64))


def test_packed_documents_stay_apart():
    model = language_model(**TODAY)
    ids = torch.tensor([[4, 5, 6, 7, 8, 9]])
    documents = torch.tensor([[0, 0, 0, 1, 1, 1]])
    packed = model(ids, documents)
    assert equal(packed[:, 3:], model(ids[:, 3:]))
    X = model.embedding.weight
    leak = torch.autograd.grad(packed[:, 3:].square().sum(), X)[0][4:7]
    assert not leak.any()


def test_what_a_window_cannot_reach():
    """Two layers of a window of 3 reach four tokens back, and no further."""
    model, ids = language_model(**TODAY | dict(window=3)), torch.arange(3, 11)[None]
    X = model.embedding.weight
    G = torch.autograd.grad(model(ids)[0, -1].square().sum(), X)[0].any(dim=1)[3:11]
    assert G.tolist() == [False] * 3 + [True] * 5


def test_without_padding_every_id_is_a_word():
    model = language_model(**TODAY | dict(pad=None))
    Z = model(torch.tensor([[0, 4, 0]]))
    assert not equal(Z, model(torch.tensor([[5, 4, 0]])))


def test_the_defaults_are_the_model_of_chapter_15():
    names = set(language_model().state_dict())
    plain = {"W_Q", "W_K", "W_V", "W_O", "weight", "bias", "table"}
    assert {name.rpartition(".")[2] for name in names} == plain
    for parts in (dict(norm="rms"), dict(feed_forward="swiglu"), dict(bias=False)):
        assert set(language_model(**parts).state_dict()) != names


@pytest.mark.parametrize(
    "wrong, said",
    [
        (lambda: rotate(normal(T, 3), torch.arange(T)), "even d_k"),
        (lambda: GroupedQueryAttention(8, 4, 3), "does not divide"),
        (lambda: GroupedQueryAttention(8, 4, 0), "does not divide"),
        (lambda: window_mask(4, 0), "at least itself"),
        (lambda: language_model(norm="root"), 'norm must be "layer" or "rms"'),
        (lambda: language_model(feed_forward="gelu"), 'feed_forward must be "relu" or "swiglu"'),
        (lambda: language_model(positions="none"), "positions must be"),
        (lambda: language_model(num_kv_heads=3), "does not divide"),
        (lambda: language_model(window=0), "window must be"),
        (lambda: language_model(qk_norm="wide"), "qk_norm must be"),
        (lambda: language_model(rope_scaling=dict(rope_type="long")), "rope_type is 'long'"),
        (lambda: language_model(rope_scaling=dict(rope_type="yarn")), "not complete"),
        (lambda: language_model(positions="rope", d_k=3), "even d_k"),
    ],
)
def test_wrong_parts_and_sizes_are_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        wrong()


def test_the_rungs_have_one_budget():
    """Every model of the ladder has the parameters of the first, within one per cent."""
    counts = [row["parameters"] for row in since_2017.load("results")["ladder"].values()]
    assert max(counts) < 1.01 * min(counts)
    for name, row in since_2017.load("results")["ladder"].items():
        settings = since_2017.rung(name)
        assert settings["d_ff"] == row["d_ff"]


def test_an_interval_is_students_over_the_seeds_that_both_have():
    mean, low, high = since_2017_data.gain([3.0, 5.0, 4.0, 9.0], [1.0, 2.0, 3.0])
    assert mean == pytest.approx(2) and high - mean == pytest.approx(mean - low)
    assert high - mean == pytest.approx(4.303 / 3**0.5)


def test_the_chapter_says_what_the_ladder_measured():
    found = since_2017_data.gains(0.01)
    assert min(found["RoPE"][1], found["QK-norm"][1]) > 0
    low, high = found["grouped queries"][1:]
    assert -0.08 < low < 0 < high
    for name in since_2017.LADDER:
        seeds = 10 if name in since_2017.MANY else 3
        assert len(since_2017_data.above_truth(name, 0.01)) == seeds
    rises = {
        name: fmean(since_2017_data.above_truth(name, 0.03))
        - fmean(since_2017_data.above_truth(name, 0.01))
        for name in ("2017", "norm first")
    }
    assert [round(rise, 1) for rise in rises.values()] == [4.7, 0.7]


@pytest.mark.parametrize("seed", range(0, 15, 5))
def test_gates_learn_the_product_and_relu_the_larger_number(seed):
    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.up, self.down = nn.Linear(2, 8), nn.Linear(2, 8), nn.Linear(8, 1)

        def forward(self, X):
            return self.down(self.gate(X) * self.up(X))

    def relu():
        return nn.Sequential(nn.Linear(2, 14), nn.ReLU(), nn.Linear(14, 1))

    for target, better, worse in ((torch.mul, Gated, relu), (torch.maximum, relu, Gated)):
        low, high = (
            median(since_2017_data.error_of(make, target, seed + i) for i in range(5))
            for make in (better, worse)
        )
        assert 3 * low < high


def test_the_chapter_says_what_longer_texts_cost():
    """Mean of three seeds; a stretch is 32 tokens, and the first is as long as the training."""
    runs = torch.tensor(since_2017.load("results")["lengths"]["RoPE"])  # (seeds, stretches)
    assert runs.shape == (3, 8)
    trained, *_, last = runs.mean(dim=0).tolist()
    assert last > trained + 1


def test_the_chapter_says_what_muon_measured():
    runs = since_2017.load("muon")
    assert [int(steps) for steps in runs["steps"]] == list(since_2017.RACES)
    for row in runs["steps"].values():
        ours = [one["nats"] for one in (row["AdamW"], row["Muon"])]
        assert since_2017_data.gain(*ours)[1] > 0
        for one in (row["AdamW"], row["Muon"]):  # the best rate has a rate tried on either side
            assert runs["tried"][0] < one["rate"] < runs["tried"][-1]
            assert one["rate"] == runs["tried"][one["tried"].index(min(one["tried"]))]
            assert len(one["nats"]) == 10


def test_a_race_that_is_run_again_fits_the_ten():
    """Seed 0 with 50 steps, on the captions and at the rates of muon.json."""
    read, asked = generate_english(20_000, seed=0), generate_english(500, seed=1)
    number = since_2017.number_words(read)
    corpus, test = (
        [[number[word] for word in since_2017.cut(caption)] for caption in part]
        for part in (read[:-500], asked)
    )
    settings = since_2017.rung("QK-norm") | dict(vocab_size=len(SPECIAL) + len(number))
    batches = since_2017.captions_in_batches(corpus, 0, since_2017.RACE_BATCH, 50)
    row = since_2017.load("muon")["steps"]["50"]
    muon = partial(since_2017.muon, lr_rest=row["AdamW"]["rate"])
    for name, make in (("AdamW", since_2017.adamw), ("Muon", muon)):
        model = since_2017.train(settings, batches, 0, row[name]["rate"], 10, make)
        found = since_2017.nats_per_caption(model, test)
        assert found == pytest.approx(row[name]["nats"][0], abs=0.5), name


def test_a_race_with_muon_trains():
    settings = since_2017.rung("QK-norm") | dict(vocab_size=12)
    ids = [[4, 5, 6, 7], [8, 9], [5, 5, 6]]
    batches = since_2017.captions_in_batches(ids, 0, 3, 20)
    make = partial(since_2017.muon, lr_rest=0.01)
    ends = [
        since_2017.nats_per_caption(
            since_2017.train(settings, batches[:steps], 0, 0.02, 2, make), ids
        )
        for steps in (1, 20)
    ]
    assert ends[1] < ends[0] / 2


def test_results_stand_for_what_the_code_does_today():
    """A few steps of each rung: it trains, and the same seed gives the same losses."""
    ids = [[4, 5, 6, 7], [8, 9], [5, 5, 6]]
    for name in since_2017.LADDER:
        settings = since_2017.rung(name) | dict(vocab_size=12)
        batches = since_2017.captions_in_batches(ids, seed=0)[:3]
        models = [since_2017.train(settings, batches, 0, 0.01) for _ in range(2)]
        first, second = (since_2017.nats_per_caption(model, ids) for model in models)
        assert first == second < 20
