"""Keys and values that are kept while a translation is written (chapter 08)."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tutor.attention import MultiHeadAttention, padding_mask
from tutor.decoder import Decoder, DecoderLayer
from tutor.encoder import AttentionSubLayer, Dropout, Encoder, EncoderLayer, FeedForwardSubLayer
from tutor.positions import Positions
from tutor.transformer import Transformer


class LayerCache:
    """What one decoder layer keeps between steps.

    K, V: keys and values of all tokens written so far, (N, h, t * beams, d_k and d_v).
    memory_K, memory_V: those of the source, (N, h, S, ...), computed once, shared by the beams.
    """

    def __init__(self, layer, memory):
        memory_K, memory_V = layer.cross_attention.attention.project_keys_values(memory)
        # Laid out head by head once, or every step would do it again.
        self.memory_K, self.memory_V = memory_K.contiguous(), memory_V.contiguous()
        # Room for keys and values to come: there is twice as much whenever it has run out.
        self.rooms = [x[:, :, :0] for x in (self.memory_K, self.memory_V)]
        self.used = 0

    @property
    def K(self):
        return self.rooms[0][:, :, : self.used]  # (N, h, t * beams, d_k)

    @property
    def V(self):
        return self.rooms[1][:, :, : self.used]  # (N, h, t * beams, d_v)

    def append(self, *newest):
        """Add keys and values, K and V, of the newest tokens, (N, h, beams, d_k and d_v)."""
        beams = newest[0].shape[2]
        start, self.used = self.used, self.used + beams
        for i, new in enumerate(newest):
            if self.used > self.rooms[i].shape[2]:
                more = new.new_empty(*new.shape[:2], max(start, 16 * beams), new.shape[3])
                self.rooms[i] = torch.cat([self.rooms[i], more], dim=2)  # (N, h, room, d)
            self.rooms[i][:, :, start : self.used] = new

    def keep(self, rows):
        """Keep the sentences of which `rows` has the indices."""
        self.memory_K = self.memory_K.index_select(0, rows)  # (N, h, S, d_k)
        self.memory_V = self.memory_V.index_select(0, rows)  # (N, h, S, d_v)
        self.rooms = [room.index_select(0, rows) for room in self.rooms]


class Cache:
    """Keys and values of N sentences that are being written, `beams` beams a sentence.

    The beams of a sentence are queries side by side: they share its memory, and the keys of all
    their tokens stand in one list. `mask`, (N, 1, beams, t * beams), says which of these keys are
    not a beam's own past. When beams are dropped and doubled, only this mask moves.
    """

    Layer = LayerCache

    def __init__(self, model, source_ids, beams=1):
        self.model, self.beams, self.length = model, beams, 0
        memory = model.encode(source_ids)  # (N, S, d_model)
        mask = padding_mask(source_ids)  # (N, 1, 1, S)
        self.memory_mask = mask if mask.any() else None  # a sentence alone has no padding
        self.layers = [self.Layer(layer, memory) for layer in model.decoder.layers]
        self.mask = mask.new_zeros(len(source_ids), 1, beams, 0)
        self.others = ~torch.eye(beams, dtype=torch.bool, device=mask.device)  # (beams, beams)

    def __repr__(self):
        first = self.layers[0]
        return (
            f"Cache of {len(self.layers)} layers, tokens written: {self.length}, "
            f"K {tuple(first.K.shape)}, memory_K {tuple(first.memory_K.shape)}, "
            f"mask {tuple(self.mask.shape)}"
        )

    def step(self, ids):
        """Read the newest tokens `ids` (N, beams): logits of the next, (N, beams, vocab_size)."""
        model, N = self.model, len(ids)
        X = model.embed(ids.reshape(-1, 1), start=self.length)  # (N * beams, 1, d_model)
        X = X.reshape(N, self.beams, -1)  # (N, beams, d_model)
        self.mask = torch.cat([self.mask, self.others.expand(N, 1, -1, -1)], dim=-1)
        self.length += 1
        for layer, kept in zip(model.decoder.layers, self.layers, strict=True):
            X = self.layer_step(layer, kept, X)
        X = X.reshape(N, self.beams, -1)  # (N, beams, d_model)
        return model.logits(model.decoder.norm(X))  # (N, beams, vocab_size)

    def layer_step(self, layer, kept, X):
        """A decoder layer for the newest tokens alone, X: (N, beams, d_model)."""

        def attend_to_past(X):
            attention = layer.self_attention.attention
            kept.append(*attention.project_keys_values(X))
            Q = attention.project_queries(X)  # (N, h, beams, d_k)
            mask = self.mask if self.beams > 1 else None  # one beam owns every key
            return attention.merge(attention.attend(Q, kept.K, kept.V, mask))

        def attend_to_source(X):
            attention = layer.cross_attention.attention
            Q = attention.project_queries(X)  # (N, h, beams, d_k)
            Y = attention.attend(Q, kept.memory_K, kept.memory_V, self.memory_mask)
            return attention.merge(Y)  # (N, beams, d_model)

        X = layer.self_attention.residual(X, attend_to_past)
        X = layer.cross_attention.residual(X, attend_to_source)
        return layer.feed_forward(X)  # (N, beams, d_model)

    def follow(self, parents):
        """Beam b of each sentence goes on from beam parents[n, b]; parents: (N, beams)."""
        parents = parents[:, None, :, None].expand_as(self.mask)
        self.mask = self.mask.gather(2, parents)  # (N, 1, beams, t * beams)

    def keep(self, rows):
        """Keep the sentences of which `rows` has the indices."""
        self.mask = self.mask[rows]
        if self.memory_mask is not None:
            self.memory_mask = self.memory_mask[rows]
        for kept in self.layers:
            kept.keep(rows)


# What `CacheOfOne` knows how to compute.
PARTS = {
    Transformer, Encoder, EncoderLayer, Decoder, DecoderLayer, AttentionSubLayer,
    FeedForwardSubLayer, MultiHeadAttention, Positions, Dropout, nn.Embedding, nn.LayerNorm,
    nn.Identity, nn.ModuleList, nn.Sequential, nn.Linear, nn.ReLU,
}  # fmt: skip


def untouched(model):
    """Whether all parts of `model` are as this package makes them, and nobody listens to one."""
    return all(
        type(part) in PARTS and not part._forward_hooks and not part._forward_pre_hooks
        for part in model.modules()
    )


class LayerOfOne:
    """What one decoder layer keeps for one sentence, with weights multiplied ahead.

    W: the self-attention's weights side by side, head by head, (d_model, h * (2 d_k + d_v)).
    memory_K, (d_model, h * S), and memory_V, (h * S, d_model): keys and values of the source, with
    the cross-attention's own W_Q and W_O multiplied in, because (x W_Q) K^T = x (W_Q K^T).
    There is one room for keys and values, side by side: (h, t * beams, d_k + d_v).
    """

    def __init__(self, layer, memory):
        own, cross = layer.self_attention.attention, layer.cross_attention.attention
        K, V = cross.project_keys_values(memory)  # (1, h, S, d_k), (1, h, S, d_v)
        self.heads, self.d_k = K.shape[1], own.d_k
        W = (own.W_Q / math.sqrt(own.d_k), own.W_K, own.W_V)
        self.W = torch.cat([each.unflatten(1, (self.heads, -1)) for each in W], dim=2).flatten(1)
        W_Q = cross.W_Q.unflatten(1, (self.heads, -1)).transpose(0, 1)  # (h, d_model, d_k)
        W_O = cross.W_O.unflatten(0, (self.heads, -1))  # (h, d_v, d_model)
        K = W_Q @ K[0].mT / math.sqrt(cross.d_k)  # (h, d_model, S)
        self.memory_K = K.transpose(0, 1).flatten(1)  # (d_model, h * S)
        self.memory_V = (V[0] @ W_O).flatten(0, 1)  # (h * S, d_model)
        self.room, self.used = V.new_empty(self.heads, 0, own.d_k + own.d_v), 0
        # To ask a module for its tensors takes longer than what a step does with some of them.
        self.W_O = own.W_O
        into, _, out = layer.feed_forward.feed_forward
        self.feed_forward = (into.bias, into.weight.T, out.weight.T, out.bias)
        norms = layer.self_attention.norm, layer.cross_attention.norm, layer.feed_forward.norm
        self.norms = [norm_of(norm) for norm in norms]
        self.norm_first = layer.self_attention.norm_first

    @property
    def K(self):
        return self.room[None, :, : self.used, : self.d_k]  # (1, h, t * beams, d_k)

    def append(self, new):
        """Add keys and values of the newest tokens, (h, beams, d_k + d_v); returns all so far."""
        start, self.used = self.used, self.used + new.shape[1]
        if self.used > self.room.shape[1]:
            more = new.new_empty(len(new), max(start, 16 * new.shape[1]), new.shape[2])
            self.room = torch.cat([self.room, more], dim=1)  # (h, room, d_k + d_v)
        self.room[:, start : self.used] = new
        return self.room[:, : self.used]  # (h, t * beams, d_k + d_v)

    def keep(self, rows):
        """There is one sentence: either it stays, or nothing is written any more."""


def norm_of(module):
    """What `layer_norm` takes of a LayerNorm; None of the Identity that ends a post-norm stack."""
    if isinstance(module, nn.LayerNorm):
        return module.normalized_shape, module.weight, module.bias, module.eps


class CacheOfOne(Cache):
    """A Cache of one sentence that calls about half as many operations for a step.

    So little is computed for one sentence that calling the operations takes longer. Here the
    products add biases and residuals, too. The numbers are those of Cache, up to rounding. It
    passes the modules by: what listens to them hears nothing (see `untouched`).
    """

    Layer = LayerOfOne

    def __init__(self, model, source_ids, beams=1):
        super().__init__(model, source_ids, beams)
        self.table, self.norm = model.embedding.weight, norm_of(model.decoder.norm)
        self.scale = math.sqrt(model.config.d_model)

    def step(self, ids):
        """As Cache.step; ids: (1, beams)."""
        X = F.embedding(ids.view(-1, 1), self.table) * self.scale  # (beams, 1, d_model)
        X = self.model.positions(X, self.length).view(self.beams, -1)  # (beams, d_model)
        self.length += 1
        if self.beams > 1:  # one beam owns every key
            self.mask = torch.cat([self.mask, self.others[None, None]], dim=-1)
        sub_layers = (self.attend_to_past, self.attend_to_source, self.feed_forward)
        for kept in self.layers:
            for norm, add in zip(kept.norms, sub_layers, strict=True):
                if kept.norm_first:
                    X = add(kept, X, F.layer_norm(X, *norm))  # (beams, d_model)
                else:
                    X = F.layer_norm(add(kept, X, X), *norm)  # (beams, d_model)
        if self.norm:
            X = F.layer_norm(X, *self.norm)  # (beams, d_model)
        return (X @ self.table.T)[None]  # (1, beams, vocab_size)

    # A sub-layer's sum: X (beams, d_model) and what it adds for what it reads, `read`.

    def attend_to_past(self, kept, X, read):
        QKV = (read @ kept.W).view(self.beams, kept.heads, -1).transpose(0, 1)
        Q, past = QKV[..., : kept.d_k], kept.append(QKV[..., kept.d_k :])
        E = torch.bmm(Q, past[..., : kept.d_k].mT)  # (h, beams, t * beams)
        if self.beams > 1:
            E.masked_fill_(self.mask[0], torch.finfo(E.dtype).min)
        Y = torch.bmm(E.softmax(dim=-1), past[..., kept.d_k :])  # (h, beams, d_v)
        return torch.addmm(X, Y.transpose(0, 1).flatten(1), kept.W_O)

    def attend_to_source(self, kept, X, read):
        E = (read @ kept.memory_K).view(self.beams, kept.heads, -1)  # (beams, h, S)
        if self.memory_mask is not None:
            E.masked_fill_(self.memory_mask[0], torch.finfo(E.dtype).min)
        return torch.addmm(X, E.softmax(dim=-1).flatten(1), kept.memory_V)

    def feed_forward(self, kept, X, read):
        first_bias, W_1, W_2, last_bias = kept.feed_forward
        hidden = torch.addmm(first_bias, read, W_1).relu_()  # (beams, d_ff)
        return torch.addmm(X, hidden, W_2).add_(last_bias)
