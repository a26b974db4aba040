"""The decoder alone: one stream of tokens, each predicted from those before it (chapter 18)."""

import math
from dataclasses import dataclass

import torch
from torch import nn

from tutor.attention import PAD, causal_mask
from tutor.encoder import FeedForwardSubLayer, SubLayer
from tutor.modern import (
    Alibi,
    GroupedQueryAttention,
    RMSNorm,
    Rope,
    SwiGLU,
    scaled_speeds,
    window_mask,
)
from tutor.positions import Positions
from tutor.text.tokenizer import EOS
from tutor.transformer import TransformerConfig, check_ids

TURNED = ("rope", "alibi")  # positions that enter queries and keys, not the embedding


@dataclass(frozen=True)
class LanguageModelConfig:
    """Sizes of a language model; the defaults are small. See TransformerConfig for the names.

    From norm on, what chapter 20 adds; the defaults are those of 2017. positions: "learned",
    "sinusoidal", "rope" or "alibi"; the last two have no table, so that max_len sets no limit.
    norm: "layer" or "rms", with eps under its root. feed_forward: "relu" or "swiglu", which has no
    biases; bias: those of "relu" and of the norms. num_kv_heads: None means num_heads; d_k: None
    means d_model // num_heads. qk_norm: an RMSNorm for each query and key. window: how many tokens
    a token sees, itself among them; None means all. rope_base: the base of the angles. tied: the
    logits come from the embedding table. scale_embedding: by sqrt(d_model). pad: the id that fills
    a batch up, or None if every id is a word.
    From rope_scaling on, what models that others trained ask for (`tutor.exchange.llama`):
    rope_scaling: None, or see `scaled_speeds`. qkv_bias: biases of Q, K and V. norm_out: with
    norm_first, X + norm(work(X)). unwindowed, unturned: the numbers of layers without the window,
    and without positions.
    """

    vocab_size: int
    d_model: int = 128
    num_layers: int = 2
    num_heads: int = 4
    d_ff: int = 512
    max_len: int = 64
    dropout: float = 0.1
    positions: str = "learned"
    norm_first: bool = True
    norm: str = "layer"
    feed_forward: str = "relu"
    bias: bool = True
    num_kv_heads: int | None = None
    d_k: int | None = None
    qk_norm: bool = False
    window: int | None = None
    rope_base: float = 10_000.0
    eps: float = 1e-5
    tied: bool = True
    scale_embedding: bool = True
    pad: int | None = PAD
    rope_scaling: dict | None = None
    qkv_bias: bool = False
    norm_out: bool = False
    unwindowed: tuple[int, ...] = ()
    unturned: tuple[int, ...] = ()

    def __post_init__(self):
        names = "vocab_size d_model num_layers num_heads d_ff max_len dropout norm_first d_k"
        sizes = {name: getattr(self, name) for name in names.split()}
        table = "learned" if self.positions in TURNED else self.positions
        TransformerConfig(**sizes, positions=table)  # one sentence for each wrong size
        for name, known in (("norm", ("layer", "rms")), ("feed_forward", ("relu", "swiglu"))):
            if getattr(self, name) not in known:
                raise ValueError(
                    f'{name} must be "{known[0]}" or "{known[1]}", not {getattr(self, name)!r}.'
                )
        for name in ("num_kv_heads", "window"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise ValueError(f"{name} must be None or a whole number above 0, not {value!r}.")
        if self.qk_norm not in (False, True, "joint"):
            raise ValueError(f'qk_norm must be False, True or "joint", not {self.qk_norm!r}.')
        if self.rope_scaling is not None:
            width = self.d_k or self.d_model // self.num_heads
            try:
                scaled_speeds(width, self.rope_base, self.rope_scaling)
            except (KeyError, TypeError, ZeroDivisionError) as error:
                raise ValueError(f"rope_scaling is not complete ({error!r}).") from None

    def window_of(self, layer):
        """The window of layer number `layer`, or None."""
        return None if layer in self.unwindowed else self.window


class SubLayerNormOut(SubLayer):
    """A sub-layer that normalises what it adds. Source: OLMo et al. 2024 (OLMo 2), section 3.3."""

    def residual(self, X, work):
        return X + self.dropout(self.norm(work(X)))  # (N, T, d_model)


class FeedForwardNormOut(SubLayerNormOut, FeedForwardSubLayer):
    """A feed-forward layer that normalises what it adds."""


class LanguageModelLayer(nn.Module):
    """Self-attention, then feed-forward: a decoder layer that has no source to ask.

    Called as (X, mask, places, kept=None): X (N, T, d_model), mask broadcastable to (N, h, T, S),
    places (N, T). kept: a LayerCache, whose keys and values of earlier tokens are used as well.
    """

    kind = "decoder"  # the name under which `record_attention` keeps its matrices

    def __init__(self, self_attention, feed_forward):
        super().__init__()
        self.self_attention = self_attention
        self.feed_forward = feed_forward

    def forward(self, X, mask, places, kept=None):
        def work(X):
            attention = self.self_attention.attention
            Q = attention.project_queries(X, places)  # (N, h, T, d_k)
            K, V = attention.project_keys_values(X, places)  # (N, h_kv, T, d_k) each
            if kept is not None:
                K, V = kept.append(K, V)  # (N, h_kv, S, d_k) each
            Y = attention.attend(Q, K, V, mask[..., -K.shape[2] :])  # a window keeps the last keys
            return attention.merge(Y)  # (N, T, d_model)

        return self.feed_forward(self.self_attention.residual(X, work))  # (N, T, d_model)


class LanguageModel(nn.Module):
    """A stack of layers over one embedding table, which also gives the logits.

    Called as (ids, documents=None, cache=None, padding=None): ids (N, T), begun by [BOS] and padded
    on either side; returns the logits of the next token, (N, T, vocab_size). documents: (N, T), the
    number of the document that each token belongs to, where several stand in one row: a token sees
    those of its own document alone, and positions begin anew with each. cache: see `Cache`.
    padding: (N, T), True where `ids` is no word; None means where it is config.pad.
    Raises ValueError for an empty sentence, ids outside the table and positions beyond max_len.
    Source: Radford et al. 2018, section 3.1; the decoder without a source: Liu et al. 2018.
    """

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        turned = config.positions in TURNED
        self.positions = (
            None if turned else Positions(config.positions, config.max_len, config.d_model)
        )
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(self.make_layer(number) for number in range(config.num_layers))
        self.norm = self.make_norm() if config.norm_first else nn.Identity()
        self.output = (
            None if config.tied else nn.Linear(config.d_model, config.vocab_size, bias=False)
        )

    def make_norm(self):
        c = self.config
        if c.norm == "rms":
            return RMSNorm(c.d_model, c.eps)
        return nn.LayerNorm(c.d_model, c.eps, bias=c.bias)

    def make_layer(self, number):
        """Layer `number`: the only place where its parts are chosen."""
        c = self.config
        outer = (SubLayerNormOut, FeedForwardNormOut)
        one, other = outer if c.norm_out else (SubLayer, FeedForwardSubLayer)
        attention = one(c.d_model, c.dropout, c.norm_first)
        turn = {"rope": Rope(c.rope_base, c.rope_scaling), "alibi": Alibi()}.get(c.positions)
        turn = None if number in c.unturned else turn
        attention.attention = GroupedQueryAttention(
            c.d_model, c.num_heads, c.num_kv_heads, c.d_k, turn, c.qk_norm, c.eps, c.qkv_bias
        )
        feed_forward = other(c.d_model, c.d_ff, c.dropout, c.norm_first)
        if c.feed_forward == "swiglu":
            feed_forward.feed_forward = SwiGLU(c.d_model, c.d_ff)
        elif not c.bias:
            feed_forward.feed_forward[0].bias = feed_forward.feed_forward[2].bias = None
        attention.norm, feed_forward.norm = self.make_norm(), self.make_norm()
        return LanguageModelLayer(attention, feed_forward)

    def embed(self, ids, places):
        """Vectors of `ids` (N, T) at the positions `places` (N, T): (N, T, d_model)."""
        check_ids(ids, self.config.vocab_size)
        X = self.embedding(ids)  # (N, T, d_model)
        if self.config.scale_embedding:
            X = X * math.sqrt(self.config.d_model)
        if self.positions is None:
            return self.dropout(X)
        if not torch.compiler.is_compiling() and places.max() >= self.config.max_len:
            raise ValueError(
                f"A document has {places.max() + 1} tokens, but the model has positions for "
                f"{self.config.max_len}: cut it or build the model with a larger max_len."
            )
        return self.dropout(X + self.positions.table[places])  # (N, T, d_model)

    def read(self, ids, documents=None, cache=None, padding=None):
        """The last layer's output for `ids` (N, T): (N, T, d_model)."""
        c = self.config
        if padding is None:
            padding = ids == (-1 if c.pad is None else c.pad)  # (N, T)
        if cache is None:
            places = places_of(ids, documents, padding)  # (N, T)
            mask = stream_mask(ids, documents, padding)  # (N, 1, T, T)
        else:
            places, mask = cache.read(ids, padding)
        X = self.embed(ids, places)  # (N, T, d_model)
        near = mask
        if c.window is not None:
            near = mask | window_mask(mask.shape[-1], c.window, ids.device)[-ids.shape[1] :]
        for number, layer in enumerate(self.layers):
            seen = mask if number in c.unwindowed else near  # (N, 1, T, S)
            X = layer(X, seen, places, cache and cache.layers[number])
        return self.norm(X)  # (N, T, d_model)

    def logits(self, Y):
        """Scores of every token of the vocabulary, from Y (N, T, d_model): (N, T, vocab_size)."""
        if self.output is not None:
            return self.output(Y)  # (N, T, vocab_size)
        return Y @ self.embedding.weight.T  # (N, T, vocab_size)

    def forward(self, ids, documents=None, cache=None, padding=None):
        return self.logits(self.read(ids, documents, cache, padding))  # (N, T, vocab_size)


def stream_mask(ids, documents=None, padding=None):
    """What each token of `ids` (N, T) may not see: the future, padding and other documents.

    padding: (N, T), True where `ids` is no word; None means where it is 0. Shape (N, 1, T, T),
    True = may not be attended to.
    """
    padding = ids == PAD if padding is None else padding
    mask = causal_mask(ids.shape[1], ids.device) | padding[:, None, None, :]  # (N, 1, T, T)
    if documents is None:
        return mask
    return mask | (documents[:, None, :, None] != documents[:, None, None, :])  # (N, 1, T, T)


def places_of(ids, documents=None, padding=None):
    """The position of each token of `ids` (N, T) in its own document, from 0 on: (N, T).

    Padding in front of a sentence has no positions of its own. padding: see `stream_mask`.
    """
    if documents is None:
        return ((ids != PAD if padding is None else ~padding).cumsum(1) - 1).clamp(min=0)
    at = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)  # (N, T)
    first = torch.ones_like(documents, dtype=torch.bool)
    first[:, 1:] = documents[:, 1:] != documents[:, :-1]
    return at - (at * first).cummax(1).values  # (N, T)


class LayerCache:
    """Keys and values of the tokens that one layer has read, (N, h_kv, S, d_k) each.

    window: how many of the newest are kept; None means all.
    """

    K = V = None

    def __init__(self, window=None):
        self.window = window

    def append(self, K, V):
        """Add those of the newest tokens; returns these and all that was kept."""
        if self.K is not None:
            K, V = torch.cat([self.K, K], dim=2), torch.cat([self.V, V], dim=2)
        newest = slice(None if self.window is None else -self.window, None)
        self.K, self.V = K[:, :, newest], V[:, :, newest]  # (N, h_kv, S, d_k) each
        return K, V


class Cache:
    """What a LanguageModel keeps of N texts that it reads piece by piece.

    `model(ids, cache=cache)` reads the next T tokens of each: first the prompt (prefill), then one
    token at a time (decode). `ids`: (N, S), everything read so far.
    """

    def __init__(self, model):
        windows = map(model.config.window_of, range(len(model.layers)))
        self.layers = [LayerCache(window) for window in windows]
        self.ids = self.padding = None

    def read(self, ids, padding=None):
        """Take the newest `ids` (N, T) in: their places (N, T) and their mask (N, 1, T, S)."""
        new = slice(-ids.shape[1], None)
        padding = ids == PAD if padding is None else padding
        if self.ids is not None:
            ids, padding = torch.cat([self.ids, ids], 1), torch.cat([self.padding, padding], 1)
        self.ids, self.padding = ids, padding  # (N, S) each
        mask = stream_mask(ids, padding=padding)  # (N, 1, S, S)
        return places_of(ids, padding=padding)[:, new], mask[:, :, new]

    def keep(self, rows):
        """Keep the texts of which `rows` has the indices."""
        self.ids, self.padding = self.ids[rows], self.padding[rows]  # (N, S) each
        for kept in self.layers:
            kept.K, kept.V = kept.K[rows], kept.V[rows]  # (N, h, S, d_k), (N, h, S, d_v)

    def size(self):
        """Bytes of all keys and values."""
        return sum(x.numel() * x.element_size() for kept in self.layers for x in (kept.K, kept.V))


@torch.no_grad()
def write_on(model, ids, choose, longest):
    """What a LanguageModel writes behind `ids` (N, T): N lists of ids, each until its [EOS].

    choose(Z) makes of logits (N, vocab_size) each text's next token, with its log-probability:
    (N, 1) each. longest: the most tokens that are written, [EOS] included.
    """
    cache, written = Cache(model), ids[:, :0]  # (N, t)
    while written.shape[1] < longest and not (written == EOS).any(1).all():
        _, ids = choose(model(ids, cache=cache)[:, -1])  # prefill, then a token at a time
        written = torch.cat([written, ids], dim=1)
    rows = [[*row, EOS] for row in written.tolist()]
    return [row[: row.index(EOS)] for row in rows]
