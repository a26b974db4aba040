"""Less to keep, less to compute: few bits, latent attention, mixtures of experts (chapter 21b)."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tutor.attention import compute_attention_matrix, slice_vertically, unslice_vertically
from tutor.language_model import Cache, LayerCache
from tutor.modern import RMSNorm, SwiGLU, by_head, rotate


def round_rows(X, bits):
    """X (..., d) in whole numbers of so many bits: (..., d) int8, and a scale for each row.

    The largest number of a row, in absolute value, becomes 2^(bits - 1) - 1; bits: from 2 to 8.
    The scales, (..., 1), have the dtype of X, and the product is nearly X.
    """
    most = 2 ** (bits - 1) - 1
    scale = X.abs().amax(dim=-1, keepdim=True) / most  # (..., 1)
    scale = torch.where(scale == 0, 1.0, scale)
    return (X / scale).round().to(torch.int8), scale


class RoundedLayerCache(LayerCache):
    """A LayerCache that keeps whole numbers and a scale a row: see `round_rows`.

    Even the newest keys and values are read as they are kept, so that a text has the same logits
    whether it is read at once or in pieces.
    """

    def __init__(self, bits, window=None):
        super().__init__(window)
        self.bits = bits

    def append(self, K, V):
        kept = [*round_rows(K, self.bits), *round_rows(V, self.bits)]
        if self.K is not None:
            kept = [torch.cat(both, dim=2) for both in zip(self.kept, kept, strict=True)]
        newest = slice(None if self.window is None else -self.window, None)
        self.kept = [X[:, :, newest] for X in kept]
        self.K, self.V = self.kept[0], self.kept[2]  # what `Cache.size` counts
        K, scale_K, V, scale_V = kept
        return K * scale_K, V * scale_V  # (N, h_kv, S, d_k) each


class RoundedCache(Cache):
    """A Cache of whole numbers. int8 in memory; fewer bits are rounded, not packed."""

    def __init__(self, model, bits=8):
        super().__init__(model)
        self.layers = [RoundedLayerCache(bits, kept.window) for kept in self.layers]


class LatentAttention(nn.Module):
    """Attention whose keys and values are all computed from one short vector a token (MLA).

    Called as (X, places, mask=None, kept=None, absorbed=False): X (N, T, d_model), places (T,) or
    (N, T), mask broadcastable to (N, h, T, S). kept: from `keep`; None means that of X. Queries and
    keys have d_k numbers without a place and d_turned that are turned; the turned part of a key is
    the same for all heads. latent: numbers of the short vector; latent_Q: those of one for queries,
    or None. absorbed: never compute keys and values, see `absorb`.
    Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1 and appendix C.
    """

    def __init__(self, d_model, num_heads, latent, d_k, d_turned, d_v, latent_Q=None, eps=1e-6):
        super().__init__()
        self.num_heads, self.d_k, self.d_turned = num_heads, d_k, d_turned
        narrow = nn.Linear(d_model, latent_Q, bias=False) if latent_Q else nn.Identity()
        self.down_Q = nn.Sequential(narrow, RMSNorm(latent_Q, eps)) if latent_Q else narrow
        self.norm = RMSNorm(latent, eps)
        shapes = {
            "W_Q": (latent_Q or d_model, num_heads * (d_k + d_turned)),
            "W_C": (d_model, latent + d_turned),
            "W_K": (latent, num_heads * d_k),
            "W_V": (latent, num_heads * d_v),
            "W_O": (num_heads * d_v, d_model),
        }
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(nn.init.xavier_uniform_(torch.empty(shape))))

    def keep(self, X, places):
        """What a cache keeps of X (N, S, d_model): the latent C and a turned key, end to end."""
        C, K = (X @ self.W_C).tensor_split([-self.d_turned], dim=-1)  # (N, S, latent or d_turned)
        return torch.cat([self.norm(C), rotate(K, places)], dim=-1)  # (N, S, latent + d_turned)

    def queries(self, X, places):
        """Queries without places and turned ones: (N, h, T, d_k), (N, h, T, d_turned)."""
        Q = slice_vertically(self.down_Q(X) @ self.W_Q, self.d_k + self.d_turned)  # (N, h, T, ...)
        Q, turned = Q.split([self.d_k, self.d_turned], dim=-1)
        return Q, rotate(turned, by_head(places))

    def expand(self, Q, turned, kept, mask):
        """Each head computes its keys and values from the latents: (N, h, T, d_v)."""
        C, K_turned = kept.tensor_split([-self.d_turned], dim=-1)
        K = slice_vertically(C @ self.W_K, self.d_k)  # (N, h, S, d_k)
        K_turned = K_turned[:, None].expand(-1, self.num_heads, -1, -1)  # (N, h, S, d_turned)
        V = C @ self.W_V  # (N, S, h * d_v)
        A = compute_attention_matrix(
            torch.cat([Q, turned], dim=-1), torch.cat([K, K_turned], dim=-1), mask
        )  # (N, h, T, S)
        return A @ slice_vertically(V, V.shape[-1] // self.num_heads)  # (N, h, T, d_v)

    def absorb(self, Q, turned, kept, mask):
        """The same, but queries go to the latents instead: q (C W_K)^T = (q W_K^T) C^T."""
        C = kept[:, None, :, : -self.d_turned]  # (N, 1, S, latent)
        W_K = slice_vertically(self.W_K, self.d_k)  # (h, latent, d_k)
        W_V = slice_vertically(self.W_V, self.W_V.shape[1] // self.num_heads)  # (h, latent, d_v)
        Q = torch.cat([Q @ W_K.mT, turned], dim=-1)  # (N, h, T, latent + d_turned)
        # Scores will be divided by the root of this width instead of that of d_k + d_turned.
        Q = Q * math.sqrt(Q.shape[-1] / (self.d_k + self.d_turned))
        A = compute_attention_matrix(Q, kept[:, None], mask)  # (N, h, T, S)
        return A @ C @ W_V  # (N, h, T, d_v)

    def forward(self, X, places, mask=None, kept=None, absorbed=False):
        kept = self.keep(X, places) if kept is None else kept  # (N, S, latent + d_turned)
        attend = self.absorb if absorbed else self.expand
        return unslice_vertically(attend(*self.queries(X, places), kept, mask)) @ self.W_O


class MixtureOfExperts(nn.Module):
    """Feed-forward networks of which a router chooses `active` for each token.

    Called as (X) with X: (N, T, d_model). Their results are weighted by the router's probabilities,
    which are made to sum to 1 among the chosen. `balance`, of the last call, is `active` if
    all experts are chosen and wanted alike, usually more if not: a training adds some to its loss.
    Source: Jiang et al. 2024 (Mixtral), section 2.1; balance: Fedus et al. 2021, section 2.2.
    """

    def __init__(self, d_model, d_ff, experts, active):
        super().__init__()
        self.router = nn.Linear(d_model, experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(experts))
        self.active = active

    def forward(self, X):
        p = self.router(X).softmax(dim=-1)  # (N, T, experts)
        share, chosen = p.topk(self.active, dim=-1)  # (N, T, active) each
        share = share / share.sum(dim=-1, keepdim=True)
        Y = torch.zeros_like(X)
        for number, expert in enumerate(self.experts):
            here = (chosen == number).any(dim=-1)  # (N, T)
            weight = (share * (chosen == number)).sum(dim=-1)[here]  # (tokens,)
            Y[here] += weight[:, None] * expert(X[here])  # (tokens, d_model)
        often = F.one_hot(chosen, len(self.experts)).to(p.dtype).sum(-2).mean((0, 1))  # (experts,)
        self.balance = len(self.experts) * (often * p.mean((0, 1))).sum()
        return Y  # (N, T, d_model)
