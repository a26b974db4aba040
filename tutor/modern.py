"""What changed since 2017: RoPE, ALiBi, RMSNorm, SwiGLU, grouped queries, windows (chapter 20)."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tutor.attention import MultiHeadAttention, causal_mask, slice_vertically


def rotate(X, places, base=10_000.0):
    """RoPE: each pair of columns of X (..., T, d_k), turned in proportion to its token's place.

    Column i goes with column i + d_k / 2 (the layout of transformers; Meta's own files of Llama
    pair neighbours); the pair turns by place / base^(2i / d_k) radians. places: (T,), or what
    broadcasts to (..., T). The angles are float64, whatever X is. Raises ValueError for an odd d_k.
    Source: Su et al. 2021, section 3.2.2; pairs of halves: GPT-NeoX (Black et al. 2022).
    """
    d_k = X.shape[-1]
    if d_k % 2:
        raise ValueError(f"d_k is {d_k}, but rotation takes columns in pairs: choose an even d_k.")
    even = torch.arange(0, d_k, 2, dtype=torch.float64, device=X.device)  # the 2i of the formula
    return turn_pairs(X, places[..., None] * base ** (-even / d_k))  # (..., T, d_k)


def turn_pairs(X, angle):
    """Turn column i of X (..., T, d_k) with column i + d_k / 2 by angle (..., T, d_k / 2)."""
    cos, sin = angle.cos().to(X.dtype), angle.sin().to(X.dtype)  # (..., T, d_k / 2) each
    left, right = X.chunk(2, dim=-1)  # (..., T, d_k / 2) each
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


def scaled_speeds(d_k, base, scaling, length=1, device=None):
    """Speeds at which a model reads further than it was trained: (d_k / 2,), float64.

    A speed is by how many radians a pair of columns turns from a place to the next. scaling: a dict
    with the names of transformers: "rope_type", "factor" and, except for "linear",
    "original_max_position_embeddings", the length of the training. "linear" divides all speeds by
    the factor. "dynamic" takes a larger base if `length`, that of the text, is beyond the
    training's. "llama3" and "yarn" leave fast pairs, divide slow ones and mix between: llama3 by
    how often a pair turns within the training's length (from low_freq_factor to high_freq_factor),
    yarn by its number, from the pair that turns beta_fast times to the one that turns beta_slow
    times, in whole numbers if `truncate`.
    Source: linear: Chen et al. 2023, section 2.3; dynamic and yarn: Peng et al. 2023, sections 3.3
    and 3.2; llama3: Meta's code for Llama 3.1.
    """
    i = torch.arange(d_k // 2, dtype=torch.float64, device=device)
    kind, trained = scaling["rope_type"], scaling.get("original_max_position_embeddings")
    if kind == "dynamic":
        longer = 1 + scaling["factor"] * max(float(length) / trained - 1, 0.0)
        base = base * longer ** (d_k / (d_k - 2))  # divides the slowest speed by `longer`
        return base ** (-2 * i / d_k)
    speeds = base ** (-2 * i / d_k)
    if kind == "linear":
        share = torch.zeros_like(i)  # of the old speed
    elif kind == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        share = (trained * speeds / (2 * math.pi) - low) / (high - low)
    elif kind == "yarn":
        fast, slow = (
            d_k / 2 * math.log(trained / (2 * math.pi * scaling[turns]), base)
            for turns in ("beta_fast", "beta_slow")
        )
        if scaling["truncate"]:
            fast, slow = math.floor(fast), math.ceil(slow)
        fast, slow = max(fast, 0), min(slow, d_k - 1)
        share = 1 - (i - fast) / (slow - fast or 0.001)
    else:
        raise ValueError(f"rope_type is {kind!r}: choose linear, dynamic, yarn or llama3.")
    share = share.clamp(0, 1)
    return share * speeds + (1 - share) * speeds / scaling["factor"]


def interleave(X):
    """Columns of X (..., d_k) from halves to pairs: 0, d_k/2, 1, d_k/2 + 1, ...

    The paper pairs columns 2i and 2i + 1. `interleave(rotate(X, places))` is the paper's rotation
    of `interleave(X)`: the same machine with its columns in another order.
    Source: Su et al. 2021, equation (34).
    """
    return torch.stack(X.chunk(2, dim=-1), dim=-1).flatten(-2)  # (..., d_k)


class Rope:
    """Positions by rotation: queries and keys are turned, values are not.

    scaling: see `scaled_speeds`; its attention_factor (YaRN) makes queries and keys longer.
    """

    def __init__(self, base=10_000.0, scaling=None):
        self.base, self.scaling = base, scaling

    def of_queries(self, Q, places):
        if self.scaling is None:
            return rotate(Q, places, self.base)  # (N, h, T, d_k)
        longest = places.max() + 1
        speeds = scaled_speeds(Q.shape[-1], self.base, self.scaling, longest, Q.device)
        longer = self.scaling.get("attention_factor", 1.0)
        return turn_pairs(Q, places[..., None] * speeds) * longer  # (N, h, T, d_k)

    of_keys = of_queries


class Alibi:
    """Positions by distance: head number i of h lowers a score by 2^(-8 i / h) for each token of
    distance, i from 1. (The paper has other slopes where h is no power of two.)

    Softmax ignores what a whole row has in common. So -slope * (query's place - key's place) may
    be + slope * key's place: one more column of queries (the slope) and of keys (the place).
    Source: Press, Smith and Lewis 2022, section 3.
    """

    def of_queries(self, Q, places):
        h, T, d_k = Q.shape[-3:]
        i = torch.arange(1, h + 1, dtype=Q.dtype, device=Q.device)[:, None, None]  # (h, 1, 1)
        slope = (2 ** (-8 * i / h)).expand(*Q.shape[:-1], 1)  # (N, h, T, 1)
        # Scores will be divided by sqrt(d_k + 1).
        return torch.cat([Q / math.sqrt(d_k), slope], dim=-1) * math.sqrt(d_k + 1)

    def of_keys(self, K, places):
        column = places.to(K.dtype)[..., None].expand(*K.shape[:-1], 1)  # (N, h, S, 1)
        return torch.cat([K, column], dim=-1)  # (N, h, S, d_k + 1)


class RMSNorm(nn.Module):
    """Each vector divided by the root of its mean square, then scaled: no mean, no shift.

    Called as (X) with X: (..., d_model). Source: Zhang and Sennrich 2019, equation (4).
    """

    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, X):
        exact = X.to(torch.promote_types(X.dtype, torch.float32))  # a sum of squares must be long
        mean_square = exact.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return (exact / (mean_square + self.eps).sqrt()).to(X.dtype) * self.weight


class SwiGLU(nn.Module):
    """A feed-forward layer with a gate: down(silu(gate(X)) * up(X)), silu(x) = x * sigmoid(x).

    Called as (X) with X: (N, T, d_model); d_ff is the width in the middle. There are no biases. It
    has three matrices: with 2/3 of the d_ff it has the parameters of the paper's two.
    Source: Shazeer 2020, equation (6).
    """

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, X):
        return self.down(F.silu(self.gate(X)) * self.up(X))  # (N, T, d_model)


def repeat_heads(K, times):
    """Keys or values (N, h_kv, S, d) for h_kv * times heads: each `times` times in succession.

    Heads 0 to times - 1 share the first, and so on. Source: Ainslie et al. 2023, section 2.2.
    """
    return K.repeat_interleave(times, dim=-3)  # (N, h, S, d)


class GroupedQueryAttention(MultiHeadAttention):
    """Attention in which groups of heads share keys and values; all else is optional.

    Called as (X_Q, X_KV, mask=None, places=None): as MultiHeadAttention, with the places of the
    tokens, (T,) or (N, T), where `positions` is given (a Rope or an Alibi; self-attention only).
    num_kv_heads: None means one for each head; it must divide num_heads. qk_norm: each query and
    each key passes an RMSNorm of its own before it is turned, as in Qwen3, or with "joint" those of
    all heads pass one together, as in OLMo 2. bias: of Q, K and V, as in Qwen2.
    Keys and values have num_kv_heads heads until `attend`: that is what a cache has to keep.
    Source: Ainslie et al. 2023, section 2.2; qk_norm: Dehghani et al. 2023, section 2,
    with LayerNorm.
    """

    def __init__(
        self, d_model, num_heads, num_kv_heads=None, d_k=None, positions=None, qk_norm=False,
        eps=1e-6, bias=False,
    ):  # fmt: skip
        super().__init__(d_model, num_heads, d_k, d_k)
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(
                f"num_kv_heads={num_kv_heads} does not divide num_heads={num_heads}: each of them "
                "serves a group of heads, and all groups have one size."
            )
        self.group = num_heads // num_kv_heads  # heads in a group
        self.positions = positions
        if isinstance(positions, Rope) and self.d_k % 2:
            raise ValueError(f"d_k is {self.d_k}, but rotation needs pairs: choose an even d_k.")
        if self.group > 1:
            for name in ("W_K", "W_V"):
                W = nn.Parameter(torch.empty(d_model, num_kv_heads * self.d_k))
                setattr(self, name, nn.init.xavier_uniform_(W))
        self.joint, widths = qk_norm == "joint", (self.W_Q.shape[1], self.W_K.shape[1])
        self.norm_Q, self.norm_K = (
            RMSNorm(width if self.joint else self.d_k, eps) if qk_norm else nn.Identity()
            for width in widths
        )
        self.b_Q, self.b_K, self.b_V = (
            nn.Parameter(torch.zeros(W.shape[1])) if bias else 0.0
            for W in (self.W_Q, self.W_K, self.W_V)
        )

    def in_heads(self, X, norm):
        """X (N, T, h * d_k), normalised and cut into heads: (N, h, T, d_k)."""
        if self.joint:
            return slice_vertically(norm(X), self.d_k)  # (N, h, T, d_k)
        return norm(slice_vertically(X, self.d_k))  # (N, h, T, d_k)

    def project_queries(self, X_Q, places=None):
        Q = self.in_heads(X_Q @ self.W_Q + self.b_Q, self.norm_Q)  # (N, h, T, d_k)
        return self.positions.of_queries(Q, by_head(places)) if self.positions else Q

    def project_keys_values(self, X_KV, places=None):
        K = self.in_heads(X_KV @ self.W_K + self.b_K, self.norm_K)  # (N, h_kv, S, d_k)
        V = slice_vertically(X_KV @ self.W_V + self.b_V, self.d_v)  # (N, h_kv, S, d_k)
        return self.positions.of_keys(K, by_head(places)) if self.positions else K, V

    def attend(self, Q, K, V, mask=None):
        if self.group > 1:
            K, V = repeat_heads(K, self.group), repeat_heads(V, self.group)  # (N, h, S, d_k) each
        return super().attend(Q, K, V, mask)

    def forward(self, X_Q, X_KV, mask=None, places=None):
        Q = self.project_queries(X_Q, places)  # (N, h, T, d_k)
        K, V = self.project_keys_values(X_KV, places)  # (N, h_kv, S, d_k) each
        return self.merge(self.attend(Q, K, V, mask))  # (N, T, d_model)


def by_head(places):
    """Places (T,) or (N, T) so that they broadcast over heads: (T,) or (N, 1, T)."""
    return places if places is None or places.dim() == 1 else places[:, None]


def window_mask(T, window, device=None):
    """True for the future, and for what lies `window` tokens back or more. Shape (T, T).

    A token sees `window` tokens, itself among them. Source: Beltagy, Peters and Cohan 2020,
    section 3.1; in a decoder: Jiang et al. 2023 (Mistral 7B), section 2.
    """
    if window < 1:
        raise ValueError(f"window is {window}: a token sees at least itself, so take 1 or more.")
    old = torch.ones(T, T, dtype=torch.bool, device=device).tril(diagonal=-window)
    return causal_mask(T, device) | old  # (T, T)
