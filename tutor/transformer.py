"""The whole model: configuration, embedding, encoder, decoder, logits (chapter 06)."""

import math
from dataclasses import dataclass

import torch
from torch import nn

from tutor.attention import decoder_mask, head_width, padding_mask
from tutor.decoder import Decoder
from tutor.encoder import Encoder
from tutor.positions import Positions


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes of a Transformer; the defaults are the paper's base model (table 3, first row).

    vocab_size: rows of the embedding table, shared by source, target and output (section 3.4).
    d_k, d_v: None means d_model // num_heads. positions: "sinusoidal" or "learned".
    norm_first: False is the paper's order (post-norm), True is pre-norm.
    """

    vocab_size: int
    d_model: int = 512
    num_heads: int = 8
    d_ff: int = 2048
    num_layers: int = 6
    dropout: float = 0.1
    max_len: int = 256
    norm_first: bool = False
    positions: str = "sinusoidal"
    d_k: int | None = None
    d_v: int | None = None

    def __post_init__(self):
        for name in ("vocab_size", "d_model", "num_heads", "d_ff", "num_layers", "max_len"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}.")
        for name in ("d_k", "d_v"):
            value = getattr(self, name)
            if value is None:
                head_width(self.d_model, self.num_heads)
            elif not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be None or a whole number above 0, not {value!r}.")
        number = isinstance(self.dropout, int | float) and not isinstance(self.dropout, bool)
        if not number or not 0 <= self.dropout < 1:
            raise ValueError(
                f"dropout must be a number of at least 0 and below 1, not {self.dropout!r}."
            )
        if not isinstance(self.norm_first, bool):  # "False", which is true, would pass for True
            raise ValueError(f"norm_first must be True or False, not {self.norm_first!r}.")
        if self.positions not in ("sinusoidal", "learned"):
            raise ValueError(
                f'positions must be "sinusoidal" or "learned", not {self.positions!r}.'
            )

    def stack_sizes(self):
        """What `Encoder` and `Decoder` want to know, as keyword arguments."""
        names = "num_layers d_model num_heads d_ff dropout norm_first d_k d_v"
        return {name: getattr(self, name) for name in names.split()}


class Transformer(nn.Module):
    """Encoder and decoder over one embedding table.

    Called as (source_ids, target_ids), (N, S) and (N, T), padded with id 0; returns the logits of
    the next token, (N, T, vocab_size). The three steps can be called apart: `encode`, `decode`,
    `logits`. Raises ValueError for an empty sentence, ids outside the table, sentences longer
    than max_len, and source and target of different batch sizes.
    Source: Vaswani et al. 2017, sections 3.1 and 3.4.
    """

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        # Small, because embed() multiplies by sqrt(d_model) and logits() does not.
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.positions = Positions(config.positions, config.max_len, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(**config.stack_sizes())
        self.decoder = Decoder(**config.stack_sizes())

    def embed(self, ids, start=0):
        """Vectors of `ids` (N, T) with positions from `start` on: (N, T, d_model)."""
        check_ids(ids, self.config.vocab_size)
        X = self.embedding(ids) * math.sqrt(self.config.d_model)  # (N, T, d_model)
        return self.dropout(self.positions(X, start))

    def encode(self, source_ids):
        """The encoder's output ("memory") for source_ids (N, S): (N, S, d_model)."""
        return self.encoder(self.embed(source_ids), padding_mask(source_ids))

    def decode(self, target_ids, memory, memory_mask):
        """The decoder's output for target_ids (N, T): (N, T, d_model).

        memory: what `encode` returned; memory_mask: the source's padding_mask, (N, 1, 1, S).
        """
        X = self.embed(target_ids)  # (N, T, d_model)
        check_pairs(memory, X)
        return self.decoder(X, memory, decoder_mask(target_ids), memory_mask)  # (N, T, d_model)

    def logits(self, Y):
        """Scores of every token of the vocabulary, from Y (N, T, d_model): (N, T, vocab_size)."""
        return Y @ self.embedding.weight.T  # (N, T, vocab_size)

    def forward(self, source_ids, target_ids):
        Y = self.decode(target_ids, self.encode(source_ids), padding_mask(source_ids))
        return self.logits(Y)  # (N, T, vocab_size)


def check_ids(ids, vocab_size):
    """Raise unless `ids` is a tensor (N, T), T above 0, of whole numbers below `vocab_size`."""
    if not isinstance(ids, torch.Tensor):
        raise TypeError(f"ids must be a tensor of shape (N, T), not {type(ids).__name__}.")
    if ids.dim() != 2 or ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(
            f"ids must be whole numbers of shape (N, T), one row a sentence, not {ids.dtype} of "
            f"shape {tuple(ids.shape)}."
        )
    if ids.shape[1] == 0:
        raise ValueError("The sentence is empty: give at least one id.")
    # On CUDA this look would make the host wait in every step; there the embedding checks itself.
    # On meta, while a graph is being made, and in an empty batch there are no numbers to look at.
    look = ids.device.type not in ("cuda", "meta") and not torch.compiler.is_compiling()
    if look and len(ids) and not 0 <= ids.min() <= ids.max() < vocab_size:
        raise ValueError(
            f"ids must lie between 0 and {vocab_size - 1}, the rows of the embedding table; "
            f"found {ids.min().item()} to {ids.max().item()}."
        )


def check_pairs(memory, X):
    """Raise unless memory (N, S, d_model) and X (N, T, d_model) have one N."""
    if X.shape[0] != memory.shape[0]:  # not len(), which a graph would freeze
        raise ValueError(
            f"The source has {len(memory)} sentences and the target {len(X)}: give one target "
            "for each source."
        )


def count_parameters(model):
    """Number of trained numbers in `model`."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
