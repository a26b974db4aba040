"""What chapter 14 says of torch.compile and FlexAttention, on a CPU."""

import shutil

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import flex_attention

from tutor.attention import compute_attention_matrix
from tutor.proof import equal


def explicit(Q, K, V):
    return compute_attention_matrix(Q, K) @ V  # (N, h, T, d_v)


def text_of(T, requires_grad=False):
    torch.manual_seed(0)
    return [torch.randn(1, 4, T, 32, requires_grad=requires_grad) for _ in "QKV"]


def no_future(score, sentence, head, query, key):
    return torch.where(query >= key, score, -torch.inf)


def kept_bytes(function, *inputs):
    put_away = {}

    def put(X):
        put_away[X.untyped_storage().data_ptr()] = X
        return X

    with torch.autograd.graph.saved_tensors_hooks(put, lambda X: X):
        function(*inputs)
    return sum(X.untyped_storage().nbytes() for X in put_away.values())


def test_flex_attention_is_right_and_warns_that_it_stores_all_scores():
    with pytest.warns(UserWarning, match="materializes the full scores matrix"):
        Y = flex_attention(*text_of(50), score_mod=no_future)  # (N, h, T, d_v)
    assert equal(Y, F.scaled_dot_product_attention(*text_of(50), is_causal=True))


@pytest.mark.skipif(torch.__version__ < (2, 13), reason="the chapter says it of PyTorch 2.13")
@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_flex_attention_has_no_backward_pass_on_a_cpu():
    with pytest.raises(NotImplementedError, match="backward on CPU"):
        flex_attention(*text_of(50, requires_grad=True), score_mod=no_future)


@pytest.mark.skipif(not shutil.which("g++"), reason="a C++ compiler is missing")
def test_a_compiled_attention_keeps_what_the_fused_one_keeps():
    given = text_of(1000, requires_grad=True)
    compiled = torch.compile(explicit)
    assert equal(compiled(*given), explicit(*given))
    kept = kept_bytes(compiled, *given)
    assert kept == kept_bytes(F.scaled_dot_product_attention, *given)
    assert 8 * kept < kept_bytes(explicit, *given)
