"""Keys and values that are kept while a translation is written (chapter 09)."""

import torch

from tutor.attention import padding_mask


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

    def __init__(self, model, source_ids, beams=1):
        self.model, self.beams, self.length = model, beams, 0
        memory = model.encode(source_ids)  # (N, S, d_model)
        mask = padding_mask(source_ids)  # (N, 1, 1, S)
        self.memory_mask = mask if mask.any() else None  # a sentence alone has no padding
        self.layers = [LayerCache(layer, memory) for layer in model.decoder.layers]
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
