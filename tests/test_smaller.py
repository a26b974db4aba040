"""Few bits, latent attention and mixtures of experts, against `transformers` and arithmetic."""

import pytest
import torch
from pytorch_twins import random_tensors, randomize

from tutor.attention import causal_mask
from tutor.language_model import Cache, LanguageModel, LanguageModelConfig
from tutor.proof import agree, equal
from tutor.smaller import LatentAttention, MixtureOfExperts, RoundedCache, round_rows

LATENT = dict(d_model=12, num_heads=3, latent=10, d_k=4, d_turned=6, d_v=5)


def test_rows_are_rounded_to_half_a_step_and_zeros_stay():
    (X,) = random_tensors(0, (2, 3, 5))
    X[0, 1] = 0
    for bits in (8, 4, 2):
        kept, scale = round_rows(X, bits)
        most = 2 ** (bits - 1) - 1
        assert kept.dtype == torch.int8 and scale.shape == (2, 3, 1)
        assert kept.abs().amax(-1).tolist() == [[most, 0, most], [most] * 3]
        assert ((kept * scale - X).abs() <= scale / 2 + 1e-12).all()
        assert scale[0, 1] == 1  # nothing is divided by zero


@pytest.mark.parametrize("window", [None, 3])
def test_a_rounded_cache_reads_at_once_as_in_pieces(window):
    torch.manual_seed(0)
    sizes = dict(d_model=16, num_heads=2, d_ff=8, dropout=0.0, window=window, positions="rope")
    model, ids = LanguageModel(LanguageModelConfig(12, **sizes)).double(), torch.arange(4, 12)[None]
    cache = RoundedCache(model, 4)
    pieces = torch.cat([model(part, cache=cache) for part in ids.split([3, 1, 4], dim=1)], dim=1)
    Z = model(ids, cache=RoundedCache(model, 4))
    assert equal(pieces, Z) and not equal(Z, model(ids))
    assert equal_to(model(ids, cache=RoundedCache(model)), model(ids), 0.05)
    plain = Cache(model)
    model(ids, cache=plain)
    one, other = cache.size(), plain.size()
    assert one < other / 4 and cache.layers[0].K.dtype == torch.int8


def equal_to(a, b, allowed):
    return ((a - b).abs().max() / b.abs().max()).item() < allowed


@pytest.mark.parametrize("latent_Q", [None, 7])
def test_absorbed_latent_attention_is_the_expanded_one(latent_Q):
    layer = randomize(LatentAttention(**LATENT, latent_Q=latent_Q))
    (X,) = random_tensors(1, (2, 6, 12))
    places, mask = torch.arange(3, 9), causal_mask(6)
    agree(
        lambda m, X: m(X, places, mask, absorbed=True),
        lambda m, X: m(X, places, mask),
        X,
        module=layer,
    )
    layer.double()
    X = X.double()
    kept = torch.cat([layer.keep(X[:, :3], places[:3]), layer.keep(X[:, 3:], places[3:])], dim=1)
    late = layer(X[:, 3:], places[3:], mask[3:], kept, absorbed=True)
    assert equal(late, layer(X, places, mask)[:, 3:])
    assert kept.shape == (2, 6, 10 + 6)


@pytest.mark.parametrize("latent_Q", [None, 7])
def test_latent_attention_is_that_of_deepseek(latent_Q):
    pytest.importorskip("transformers")
    from llamas import latent_difference

    for interleave in (True, False):
        assert latent_difference(latent_Q, interleave) < 1e-10


def test_a_mixture_is_that_of_mixtral():
    pytest.importorskip("transformers")
    from llamas import mixture_difference

    assert mixture_difference() < 1e-10


def test_a_mixture_of_one_expert_is_that_expert():
    (X,) = random_tensors(0, (2, 3, 4))
    mixture = randomize(MixtureOfExperts(4, 6, experts=2, active=2))
    mixture.experts[1].load_state_dict(mixture.experts[0].state_dict())
    assert equal(mixture(X), mixture.experts[0](X))
