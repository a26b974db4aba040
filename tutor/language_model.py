"""The decoder alone: one stream of tokens, each predicted from those before it (chapter 15)."""

import math
from dataclasses import dataclass

import torch
from torch import nn

from tutor.attention import PAD, causal_mask, padding_mask
from tutor.encoder import AttentionSubLayer, Dropout, FeedForwardSubLayer
from tutor.positions import Positions
from tutor.transformer import TransformerConfig, check_ids


@dataclass(frozen=True)
class LanguageModelConfig:
    """Sizes of a language model; the defaults are small. See TransformerConfig for the names."""

    vocab_size: int
    d_model: int = 128
    num_layers: int = 2
    num_heads: int = 4
    d_ff: int = 512
    max_len: int = 64
    dropout: float = 0.1
    positions: str = "learned"
    norm_first: bool = True

    def __post_init__(self):
        TransformerConfig(**vars(self))  # the same sizes, and the same sentences for wrong ones


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
            Q = attention.project_queries(X)  # (N, h, T, d_k)
            K, V = attention.project_keys_values(X)  # (N, h, T, d_k), (N, h, T, d_v)
            if kept is not None:
                K, V = kept.append(K, V)  # (N, h, S, d_k), (N, h, S, d_v)
            return attention.merge(attention.attend(Q, K, V, mask))  # (N, T, d_model)

        return self.feed_forward(self.self_attention.residual(X, work))  # (N, T, d_model)


class LanguageModel(nn.Module):
    """A stack of layers over one embedding table, which also gives the logits.

    Called as (ids, documents=None, cache=None): ids (N, T), begun by [BOS] and padded with id 0 on
    either side; returns the logits of the next token, (N, T, vocab_size). documents: (N, T), the
    number of the document that each token belongs to, where several stand in one row: a token sees
    those of its own document alone, and positions begin anew with each. cache: see `Cache`.
    Raises ValueError for an empty sentence, ids outside the table and positions beyond max_len.
    Source: Radford et al. 2018, section 3.1; the decoder without a source: Liu et al. 2018.
    """

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.positions = Positions(config.positions, config.max_len, config.d_model)
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(self.make_layer() for _ in range(config.num_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def make_layer(self):
        """One layer: the only place where its parts are chosen."""
        c = self.config
        return LanguageModelLayer(
            AttentionSubLayer(c.d_model, c.num_heads, c.dropout, c.norm_first),
            FeedForwardSubLayer(c.d_model, c.d_ff, c.dropout, c.norm_first),
        )

    def embed(self, ids, places):
        """Vectors of `ids` (N, T) at the positions `places` (N, T): (N, T, d_model)."""
        check_ids(ids, self.config.vocab_size)
        if places.max() >= self.config.max_len:
            raise ValueError(
                f"A document has {places.max() + 1} tokens, but the model has positions for "
                f"{self.config.max_len}: cut it or build the model with a larger max_len."
            )
        X = self.embedding(ids) * math.sqrt(self.config.d_model)  # (N, T, d_model)
        return self.dropout(X + self.positions.table[places])

    def read(self, ids, documents=None, cache=None):
        """The last layer's output for `ids` (N, T): (N, T, d_model)."""
        if cache is None:
            places, mask = places_of(ids, documents), stream_mask(ids, documents)
        else:
            places, mask = cache.read(ids)
        X = self.embed(ids, places)  # (N, T, d_model)
        for index, layer in enumerate(self.layers):
            X = layer(X, mask, places, cache and cache.layers[index])
        return self.norm(X)  # (N, T, d_model)

    def logits(self, Y):
        """Scores of every token of the vocabulary, from Y (N, T, d_model): (N, T, vocab_size)."""
        return Y @ self.embedding.weight.T  # (N, T, vocab_size)

    def forward(self, ids, documents=None, cache=None):
        return self.logits(self.read(ids, documents, cache))  # (N, T, vocab_size)


def stream_mask(ids, documents=None):
    """What each token of `ids` (N, T) may not see: the future, padding, and other documents.

    Shape (N, 1, T, T), True = may not be attended to.
    """
    mask = causal_mask(ids.shape[1], ids.device) | padding_mask(ids)  # (N, 1, T, T)
    if documents is None:
        return mask
    return mask | (documents[:, None, :, None] != documents[:, None, None, :])  # (N, 1, T, T)


def places_of(ids, documents=None):
    """The position of each token of `ids` (N, T) in its own document, from 0 on: (N, T).

    Padding in front of a sentence has no positions of its own.
    """
    if documents is None:
        return ((ids != PAD).cumsum(1) - 1).clamp(min=0)
    at = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)  # (N, T)
    first = torch.ones_like(documents, dtype=torch.bool)
    first[:, 1:] = documents[:, 1:] != documents[:, :-1]
    return at - (at * first).cummax(1).values  # (N, T)


class LayerCache:
    """Keys and values of all tokens that one layer has read: K (N, h, S, d_k), V (N, h, S, d_v)."""

    K = V = None

    def append(self, K, V):
        """Add those of the newest tokens; returns all."""
        self.K = K if self.K is None else torch.cat([self.K, K], dim=2)  # (N, h, S, d_k)
        self.V = V if self.V is None else torch.cat([self.V, V], dim=2)  # (N, h, S, d_v)
        return self.K, self.V


class Cache:
    """What a LanguageModel keeps of N texts that it reads piece by piece.

    `model(ids, cache=cache)` reads the next T tokens of each: first the prompt (prefill), then one
    token at a time (decode). `ids`: (N, S), everything read so far.
    """

    def __init__(self, model):
        self.layers = [LayerCache() for _ in model.layers]
        self.ids = None

    def read(self, ids):
        """Take the newest `ids` (N, T) in: their places (N, T) and their mask (N, 1, T, S)."""
        self.ids = ids if self.ids is None else torch.cat([self.ids, ids], dim=1)  # (N, S)
        new = slice(-ids.shape[1], None)
        return places_of(self.ids)[:, new], stream_mask(self.ids)[:, :, new]

    def keep(self, rows):
        """Keep the texts of which `rows` has the indices."""
        self.ids = self.ids[rows]
        for kept in self.layers:
            kept.K, kept.V = kept.K[rows], kept.V[rows]  # (N, h, S, d_k), (N, h, S, d_v)

    def size(self):
        """Bytes of all keys and values."""
        return sum(x.numel() * x.element_size() for kept in self.layers for x in (kept.K, kept.V))
