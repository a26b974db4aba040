"""Collecting the attention matrices of a forward pass."""

import sys
import threading
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

import torch

DOUBT = "This is unlike the texts that the model was trained on: do not trust its translation."
TURN = threading.RLock()  # one thread records; for all models, as the stance below is for all


class Recording(NamedTuple):
    """A translation with the attention matrices that made it, h heads a layer.

    source: its S tokens, ending with "[EOS]"; target: the T tokens that were written. attention:
    a dict from kind to a list with one matrix a layer, "encoder" (h, S, S), "decoder" (h, T, T)
    and "cross" (h, T, S). Row t of the last two belongs to the step that wrote target[t]. What was
    read at that step is the token before it, so the columns of "decoder" are `inputs`. A fourth
    kind may be there, "length" (h, T, S): see `shares_of_length`. doubted: whether the text was
    stranger than what the model was trained on.
    """

    text: str
    translation: str
    source: list[str]
    target: list[str]
    attention: dict
    doubted: bool = False

    @property
    def inputs(self):
        return ["[BOS]", *self.target[:-1]]


@torch.no_grad()
def value_lengths(model, memory):
    """How long the vector is that each source token adds to cross-attention at weight 1.

    memory: (N, S, d_model), what the encoder returned. Returns ||v_s W_O|| with the W_O of the
    head, for all L layers: (L, N, h, S). Source: Kobayashi et al. 2020, the norm-based analysis.
    """
    lengths = []
    for layer in model.decoder.layers:
        cross = layer.cross_attention.attention
        _, V = cross.project_keys_values(memory)  # (N, h, S, d_v)
        W_O = cross.W_O.unflatten(0, (-1, cross.d_v))  # (h, d_v, d_model)
        lengths.append((V @ W_O).norm(dim=-1))  # (N, h, S)
    return torch.stack(lengths)


def shares_of_length(A, lengths):
    """Cross-attention weights A (..., T, S) times `value_lengths` (..., S): rows that sum to 1.

    An entry is the share of a token in the lengths of all vectors that a step adds up.
    """
    products = A * lengths[..., None, :]  # (..., T, S)
    return products / products.sum(-1, keepdim=True)


def uncompiled():
    """A context in which compiled models run as they are written: compiled code calls no hooks."""
    if "torch._dynamo" not in sys.modules:  # nothing is compiled, and loading it takes a second
        return nullcontext()
    return torch.compiler.set_stance("force_eager")


@contextmanager
def record_attention(model):
    """Collect the attention matrices that `model` computes inside the `with` block.

        with record_attention(model) as attention:
            model(source_ids, target_ids)
        attention["cross"][0]                      # layer 0: (N, h, T, S)

    Yields a dict from kind ("encoder", "decoder", "cross") to a list with one matrix a layer. They
    are those of the very forward pass, detached; a second pass replaces those of the first. What
    `torch.compile` has compiled runs uncompiled inside the block.

    Safe in threads: only passes of the block's own thread are collected, and while a block is open
    the block of another thread waits. So do not wait inside it for a thread that records.
    """
    thread = threading.get_ident()
    attention = {"encoder": [], "decoder": [], "cross": []}
    hooks = []

    def listen(kind, sub_layer):
        index = len(attention[kind])
        attention[kind].append(None)

        def keep(module, args, A):
            if threading.get_ident() == thread:
                attention[kind][index] = A.detach()

        hooks.append(sub_layer.attention.weights.register_forward_hook(keep))

    with TURN:
        for layer in model.modules():
            if hasattr(layer, "cross_attention"):
                listen("decoder", layer.self_attention)
                listen("cross", layer.cross_attention)
            elif hasattr(layer, "self_attention"):
                listen(getattr(layer, "kind", "encoder"), layer.self_attention)
        try:
            with uncompiled():
                yield attention
        finally:
            for hook in hooks:
                hook.remove()
