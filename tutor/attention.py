"""Attention: scores, softmax, masks, slices and many heads (chapters 02 and 03).

One mask polarity everywhere: boolean, True = may not be attended to. Masks broadcast to
(N, h, T, S): N sentences, h heads, T queries, S keys. They are joined with `|`.
"""

import math

import torch
from torch import nn

PAD = 0  # the id that fills a batch up; no word ever has it


def causal_mask(T, device=None):
    """True above the diagonal: position t may attend to 0..t. Shape (T, T).

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    return torch.ones(T, T, dtype=torch.bool, device=device).triu(diagonal=1)


def padding_mask(ids):
    """True where `ids` (N, S) is padding, for every head and query. Shape (N, 1, 1, S)."""
    if ids.dim() != 2:
        raise ValueError(f"ids must have shape (N, S), one row a sentence, not {tuple(ids.shape)}.")
    return (ids == PAD)[:, None, None, :]


def decoder_mask(ids):
    """What a target `ids` (N, T) may not see of itself: future or padding. Shape (N, 1, T, T)."""
    return causal_mask(ids.shape[1], ids.device) | padding_mask(ids)  # (N, 1, T, T)


def check_mask(mask, shape):
    """Raise unless `mask` is boolean and broadcasts to `shape`, (..., T, S)."""
    if mask.dtype != torch.bool:
        raise TypeError(
            f"The mask has dtype {mask.dtype}; it must be torch.bool, with True = may not attend."
        )
    theirs = mask.shape[::-1]
    fits = len(theirs) <= len(shape) and all(
        m in (1, s) for m, s in zip(theirs, shape[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"A mask of shape {tuple(mask.shape)} does not broadcast to the scores' shape "
            f"{tuple(shape)}: the last two sizes are queries (T) and keys (S)."
        )


def compute_attention_matrix(Q, K, mask=None):
    """Attention weights A = softmax(Q K^T / sqrt(d_k)).

    Q: (..., T, d_k) and K: (..., S, d_k). mask: boolean, broadcastable to (..., T, S), True = may
    not be attended to. Returns A: (..., T, S); its rows sum to 1, and a row with nothing to attend
    to is zeros, with zero gradient.
    Source: Vaswani et al. 2017, section 3.2.1, equation (1).
    """
    E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., T, S)
    if mask is None:
        return E.softmax(dim=-1)
    check_mask(mask, E.shape)
    # The lowest number, not -inf: where a whole row is masked, -inf would give 0 / 0.
    A = torch.where(mask, torch.finfo(E.dtype).min, E).softmax(dim=-1)
    return A * ~mask


def slice_vertically(X, width):
    """Cut the columns of X (..., T, h * width) into h slices: (..., h, T, width).

    The field also says: split heads. Raises ValueError if `width` does not divide the columns.
    Source: M. Kosmider, Transformer Tutorial with PyTorch.
    """
    if X.shape[-1] % width:
        raise ValueError(
            f"{X.shape[-1]} columns cannot be cut into slices of {width}: choose a width that "
            "divides the number of columns."
        )
    return X.unflatten(-1, (-1, width)).transpose(-3, -2)  # (..., h, T, width)


def unslice_vertically(X):
    """Put the slices of X (..., h, T, width) side by side again: (..., T, h * width).

    The field also says: merge heads. Source: M. Kosmider, Transformer Tutorial with PyTorch.
    """
    return X.transpose(-3, -2).flatten(-2)  # (..., T, h * width)


def head_width(d_model, num_heads):
    """Columns of a head when d_model is shared out evenly: d_model / num_heads."""
    if num_heads < 1 or d_model % num_heads:
        raise ValueError(
            f"d_model={d_model} cannot be shared evenly by num_heads={num_heads}: choose a number "
            "of heads that divides d_model, or give both d_k and d_v."
        )
    return d_model // num_heads


class MultiHeadAttention(nn.Module):
    """h attentions side by side, on packed projections (chapter 03).

    Called as (X_Q, X_KV, mask=None) with X_Q: (N, T, d_model), X_KV: (N, S, d_model) and mask
    broadcastable to (N, h, T, S); returns (N, T, d_model). Self-attention: X_KV is X_Q. The
    columns of W_Q, W_K (d_model, h * d_k) and W_V (d_model, h * d_v) belong to the heads in order,
    as do the rows of W_O (h * d_v, d_model). There are no biases, as in the paper.
    `project_queries`, `project_keys_values`, `attend` and `merge` are its steps, for callers that
    keep keys and values (a cache). The attention matrix passes through `weights`, an identity that
    exists to be observed: see `tutor.record`.
    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, d_model, num_heads, d_k=None, d_v=None):
        super().__init__()
        self.d_k = head_width(d_model, num_heads) if d_k is None else d_k
        self.d_v = head_width(d_model, num_heads) if d_v is None else d_v
        self.W_Q = nn.Parameter(torch.empty(d_model, num_heads * self.d_k))
        self.W_K = nn.Parameter(torch.empty(d_model, num_heads * self.d_k))
        self.W_V = nn.Parameter(torch.empty(d_model, num_heads * self.d_v))
        self.W_O = nn.Parameter(torch.empty(num_heads * self.d_v, d_model))
        for W in self.parameters():
            nn.init.xavier_uniform_(W)
        self.weights = nn.Identity()

    def project_queries(self, X_Q):
        return slice_vertically(X_Q @ self.W_Q, self.d_k)  # (N, h, T, d_k)

    def project_keys_values(self, X_KV):
        K = slice_vertically(X_KV @ self.W_K, self.d_k)  # (N, h, S, d_k)
        V = slice_vertically(X_KV @ self.W_V, self.d_v)  # (N, h, S, d_v)
        return K, V

    def attend(self, Q, K, V, mask=None):
        A = self.weights(compute_attention_matrix(Q, K, mask))  # (N, h, T, S)
        return A @ V  # (N, h, T, d_v)

    def merge(self, Y):
        return unslice_vertically(Y) @ self.W_O  # (N, T, d_model)

    def forward(self, X_Q, X_KV, mask=None):
        Q = self.project_queries(X_Q)  # (N, h, T, d_k)
        K, V = self.project_keys_values(X_KV)  # (N, h, S, d_k), (N, h, S, d_v)
        return self.merge(self.attend(Q, K, V, mask))  # (N, T, d_model)
