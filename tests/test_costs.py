"""What chapter 16 says and does not show: torch.compile, FlexAttention, autocast, on a CPU."""

import shutil

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import flex_attention

import tutor
from tutor.attention import compute_attention_matrix
from tutor.proof import equal
from tutor.text.batches import make_batch
from tutor.text.grammar import generate_pairs
from tutor.training import translation_loss


def explicit(Q, K, V):
    return compute_attention_matrix(Q, K) @ V  # (N, h, T, d_v)


def text_of(T, requires_grad=False):
    torch.manual_seed(0)
    return [torch.randn(1, 4, T, 32, requires_grad=requires_grad) for _ in "QKV"]


def no_future(score, sentence, head, query, key):
    return torch.where(query >= key, score, -torch.inf)


def kept(function, *inputs):
    put_away = {}

    def put(X):
        put_away[X.untyped_storage().data_ptr()] = X
        return X

    with torch.autograd.graph.saved_tensors_hooks(put, lambda X: X):
        function(*inputs)
    return list(put_away.values())


def bytes_of(tensors):
    return sum(X.untyped_storage().nbytes() for X in tensors)


def kept_bytes(function, *inputs):
    return bytes_of(kept(function, *inputs))


@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_flex_attention_computes_a_function_of_the_scores():
    Y = flex_attention(*text_of(50), score_mod=no_future)  # (N, h, T, d_v)
    assert equal(Y, F.scaled_dot_product_attention(*text_of(50), is_causal=True))


@pytest.mark.skipif(not shutil.which("g++"), reason="a C++ compiler is missing")
def test_a_compiled_attention_keeps_what_the_fused_one_keeps():
    given = text_of(1000, requires_grad=True)
    compiled = torch.compile(explicit)
    assert equal(compiled(*given), explicit(*given))
    kept = kept_bytes(compiled, *given)
    assert kept == kept_bytes(F.scaled_dot_product_attention, *given)
    assert 8 * kept < kept_bytes(explicit, *given)


def test_autocast_leaves_more_than_half_because_sums_stay_long():
    """Without what is still in float32, about half of the bytes would be left."""
    translator = tutor.load_pretrained()
    encode = translator.tokenizer.encode
    pairs = generate_pairs("val", 64, seed=0)
    batch = make_batch([(encode(p.english), encode(p.french)) for p in pairs])

    def loss(precise):
        with torch.autocast("cpu", torch.bfloat16, enabled=not precise):
            return translation_loss(translator.model, batch)

    full, mixed = kept(loss, True), kept(loss, False)
    still_long = [X for X in mixed if X.dtype == torch.float32]
    own = {p.untyped_storage().data_ptr() for p in translator.model.parameters()}
    assert round(bytes_of([X for X in full if X.untyped_storage().data_ptr() in own]) / 1e6) == 7
    assert bytes_of(mixed) > 0.6 * bytes_of(full)
    assert 0.1 < bytes_of(still_long) / bytes_of(full) < 0.25
    width = translator.model.config.d_model
    stream = [X for X in still_long if X.shape[-1] == width and X.dim() == 3]
    assert bytes_of(stream) > 0.5 * bytes_of(still_long)
