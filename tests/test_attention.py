"""Attention against a plain loop, against PyTorch's, and its laws."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_twins import (
    assert_equal,
    assert_same,
    random_mask,
    random_tensors,
    randomize,
    sizes,
)
from torch.nn import functional as F

from tutor import (
    MultiHeadAttention,
    causal_mask,
    compute_attention_matrix,
    padding_mask,
    slice_vertically,
    unslice_vertically,
)
from tutor.exchange.pytorch import to_pytorch

few = settings(max_examples=25)


def loop_over_heads(X_Q, X_KV, W_Q, W_K, W_V, W_O, num_heads, mask):
    """Multi-head attention as the paper tells it: a sentence, a head, a query at a time."""
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    sentences = []
    for n in range(len(X_Q)):
        heads = []
        for h in range(num_heads):
            Q = X_Q[n] @ W_Q[:, h * d_k : (h + 1) * d_k]
            K = X_KV[n] @ W_K[:, h * d_k : (h + 1) * d_k]
            V = X_KV[n] @ W_V[:, h * d_v : (h + 1) * d_v]
            rows = []
            for i, query in enumerate(Q):
                allowed = [j for j in range(len(K)) if not mask[n, h, i, j]]
                row = torch.zeros_like(V[0])
                if allowed:
                    A = torch.stack([(query @ K[j] / d_k**0.5).exp() for j in allowed])
                    row = (A / A.sum()) @ V[allowed]
                rows.append(row)
            heads.append(torch.stack(rows))
        sentences.append(torch.cat(heads, dim=-1) @ W_O)
    return torch.stack(sentences)


@given(sizes(), st.integers(1, 4), st.integers(1, 4))
@few
def test_attention_matrix_is_pytorchs_with_the_opposite_mask(size, d_k, d_v):
    N, T, S, h, _, seed = size
    inputs = random_tensors(seed, (N, h, T, d_k), (N, h, S, d_k), (N, h, S, d_v))
    for mask in (None, random_mask(seed, N, h, T, S)):
        theirs = None if mask is None else ~mask
        assert_same(
            lambda Q, K, V, mask=mask: compute_attention_matrix(Q, K, mask) @ V,
            lambda Q, K, V, mask=theirs: F.scaled_dot_product_attention(Q, K, V, mask),
            inputs,
        )


@given(sizes(), st.integers(1, 4), st.integers(1, 4))
@few
def test_slices_equal_a_loop_over_heads(size, d_k, d_v):
    N, T, S, h, d_model, seed = size
    attention = randomize(MultiHeadAttention(d_model, h, d_k, d_v), seed)
    weights = [attention.W_Q, attention.W_K, attention.W_V, attention.W_O]
    mask = random_tensors(seed, (N, h, T, S))[0] > 0  # rows with nothing to attend to included
    inputs = random_tensors(seed, (N, T, d_model), (N, S, d_model), *(W.shape for W in weights))

    def sliced(X_Q, X_KV, *weights):
        names = ("W_Q", "W_K", "W_V", "W_O")
        named = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(attention, named, (X_Q, X_KV, mask))

    assert_same(sliced, lambda *inputs: loop_over_heads(*inputs, h, mask), inputs)


@given(sizes())
@few
def test_equals_pytorchs_multihead_attention(size):
    N, T, S, h, d_model, seed = size
    ours = randomize(MultiHeadAttention(d_model, h), seed)
    theirs = to_pytorch(ours)
    mask = random_mask(seed, N, h, T, S)
    assert_same(
        lambda X_Q, X_KV: ours(X_Q, X_KV, mask),
        lambda X_Q, X_KV: theirs(X_Q, X_KV, X_KV, attn_mask=mask.flatten(0, 1))[0],
        random_tensors(seed, (N, T, d_model), (N, S, d_model)),
        (ours, theirs),
    )


@given(sizes(), st.integers(1, 4))
@few
def test_slices_are_columns_and_go_back(size, width):
    N, T, _, h, _, seed = size
    (X,) = random_tensors(seed, (N, T, h * width))
    slices = slice_vertically(X, width)
    assert slices.shape == (N, h, T, width)
    for head in range(h):
        assert slices[:, head].equal(X[..., head * width : (head + 1) * width])
    assert unslice_vertically(slices).equal(X)


def test_rows_sum_to_one_and_masked_weights_are_exactly_zero():
    Q, K = random_tensors(0, (2, 3, 4, 5), (2, 3, 6, 5))
    mask = random_mask(1, 2, 1, 4, 6)  # one mask for all heads
    A = compute_attention_matrix(Q, K, mask)
    assert_equal(A.sum(-1), torch.ones(2, 3, 4, dtype=torch.float64))
    assert (A[mask.expand_as(A)] == 0).all() and (A[~mask.expand_as(A)] > 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_huge_scores_give_no_nan(dtype):
    Q = torch.tensor([[100.0, 0.0], [-100.0, 0.0]], dtype=dtype)
    A = compute_attention_matrix(Q, 2 * Q, causal_mask(2))
    assert A.equal(torch.eye(2, dtype=dtype))


def test_a_row_with_nothing_to_attend_to_is_zeros_with_finite_gradients():
    inputs = [X.requires_grad_() for X in random_tensors(0, (2, 4, 6), (2, 3, 6))]
    attention = randomize(MultiHeadAttention(6, 2))
    mask = torch.zeros(2, 1, 4, 3, dtype=torch.bool)
    mask[0, :, 1] = True
    with torch.autograd.set_detect_anomaly(True):
        Y = attention(*inputs, mask)
        Y.sum().backward()
    assert (Y[0, 1] == 0).all() and (Y[0, 0] != 0).any() and (Y[1] != 0).any()
    for X in (*inputs, *attention.parameters()):
        assert X.grad.isfinite().all() and (X.grad != 0).any()
    assert (inputs[0].grad[0, 1] == 0).all()  # the query that saw nothing


@given(st.integers(1, 6))
def test_causal_mask_hides_what_comes_later(T):
    expected = [[key > query for key in range(T)] for query in range(T)]
    assert causal_mask(T).tolist() == expected
    assert causal_mask(T).dtype == torch.bool


def test_padding_mask_hides_zeros_and_joins_with_the_causal_one():
    ids = torch.tensor([[5, 7, 0], [0, 1, 2]])
    assert padding_mask(ids).tolist() == [[[[False, False, True]]], [[[True, False, False]]]]
    joined = causal_mask(3) | padding_mask(ids)
    assert joined.shape == (2, 1, 3, 3)
    assert joined[0, 0].int().tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 1]]


def test_the_steps_can_be_called_apart():
    attention = randomize(MultiHeadAttention(6, 2, d_k=4, d_v=5))
    X_Q, X_KV = random_tensors(0, (2, 3, 6), (2, 4, 6))
    Q, (K, V) = attention.project_queries(X_Q), attention.project_keys_values(X_KV)
    assert Q.shape == (2, 2, 3, 4) and K.shape == (2, 2, 4, 4) and V.shape == (2, 2, 4, 5)
    assert_equal(attention.merge(attention.attend(Q, K, V)), attention(X_Q, X_KV))


def attend(mask):
    return compute_attention_matrix(*random_tensors(0, (2, 3, 4, 5), (2, 3, 6, 5)), mask)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: attend(torch.zeros(6, 4).bool()), ValueError, r"\(6, 4\).*\(2, 3, 4, 6\)"),
        (lambda: attend(torch.zeros(1, 2, 3, 4, 6).bool()), ValueError, "does not broadcast"),
        (lambda: attend(torch.zeros(3, 3, 4, 6).bool()), ValueError, "does not broadcast"),
        (lambda: attend(torch.zeros(4, 6)), TypeError, r"float32.*torch\.bool.*True = may not"),
        (lambda: MultiHeadAttention(10, 4), ValueError, "d_model=10.*num_heads=4.*divides"),
        (lambda: MultiHeadAttention(10, 4, d_k=3), ValueError, "both d_k and d_v"),
        (lambda: MultiHeadAttention(10, 0), ValueError, "num_heads=0"),
        (lambda: slice_vertically(torch.ones(2, 6), 4), ValueError, "6 columns.*slices of 4"),
        (lambda: padding_mask(torch.tensor([1, 2])), ValueError, r"shape \(N, S\).*\(2,\)"),
    ],
)
def test_bad_input_is_named(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
