"""One forward pass with every number that it made, each under its name (chapter 06).

A sub-layer has a place: "encoder.0.self", "decoder.2.cross", "decoder.1.ff". Its heads have one,
too: "decoder.2.cross.head.3". A factor at a place scales what is added there to the residual
stream: at 0 it is switched off.
"""

import math
from contextlib import ExitStack, contextmanager

import torch

from tutor.attention import compute_attention_matrix, decoder_mask, padding_mask
from tutor.record import uncompiled
from tutor.transformer import check_ids

SUB_LAYER_NAMES = {"self": "self_attention", "cross": "cross_attention", "ff": "feed_forward"}
MAX_FACTOR = 100.0  # more would leave the numbers of float32 behind


def sub_layers(model):
    """Every sub-layer of a Transformer in the order of the pass: a dict from place to module."""
    return {
        f"{side}.{number}.{name}": getattr(layer, attribute)
        for side in ("encoder", "decoder")
        for number, layer in enumerate(getattr(model, side).layers)
        for name, attribute in SUB_LAYER_NAMES.items()
        if hasattr(layer, attribute)
    }


def heads_of(model, place):
    """The places of the heads of a sub-layer; none of a feed-forward one."""
    count = 0 if place.endswith("ff") else model.config.num_heads
    return [f"{place}.head.{head}" for head in range(count)]


def check_scales(model, scales):
    """`scales`, a dict from place to factor, as floats without those that are 1.

    Raises ValueError for a place that the model does not have, and for a factor that is not a
    number from -100 to 100.
    """
    if not isinstance(scales, dict):
        raise ValueError(f"scales must be a dict from place to factor, not {scales!r}.")
    places = sub_layers(model)
    there = {*places, *(head for place in places for head in heads_of(model, place))}
    for place, factor in scales.items():
        if place not in there:
            raise ValueError(
                f'This model has no place {place!r}: a place is like "encoder.0.self", '
                '"decoder.1.ff" or, with a head, "decoder.2.cross.head.3".'
            )
        number = isinstance(factor, int | float) and not isinstance(factor, bool)
        if not number or not abs(factor) <= MAX_FACTOR:  # NaN is not, either
            raise ValueError(
                f"The factor of {place} must be a number from -100 to 100, not {factor!r}."
            )
    return {place: float(factor) for place, factor in scales.items() if factor != 1}


def factors_of(model, place, scales):
    """The factors of a sub-layer's heads, (h,): that of the head times that of the sub-layer."""
    own = scales.get(place, 1.0)
    return [own * scales.get(head, 1.0) for head in heads_of(model, place)]


@contextmanager
def scaled(model, scales):
    """Inside the `with` block the model adds at the places of `scales` so many times as much.

    scales: a dict from place to factor; see `check_scales`. A head's weights are multiplied, which
    is the same as multiplying its rows of W_O. What `torch.compile` has compiled runs uncompiled
    inside the block. Source: Michel et al. 2019, section 2.3, for factors of 0.
    """

    def scale(factor):  # of the sum, or of each head
        return lambda module, args, X: X * factor.to(X)

    scales = check_scales(model, scales)
    with ExitStack() as stack:
        for place, sub_layer in sub_layers(model).items():
            own = {head: scales.get(head, 1.0) for head in heads_of(model, place)}
            if place in scales:  # what the work returns goes through dropout and is added
                hook = scale(torch.tensor(scales[place]))
                stack.callback(sub_layer.dropout.register_forward_hook(hook).remove)
            if own.keys() & scales.keys():
                hook = scale(torch.tensor(list(own.values()))[:, None, None])  # (h, 1, 1)
                stack.callback(sub_layer.attention.weights.register_forward_hook(hook).remove)
        stack.enter_context(uncompiled())
        yield


def attention_numbers(attention, read, memory, mask, factors):
    """The numbers of an attention sub-layer's work: a dict from name to (1, h, ...); see `trace`.

    factors: one for each head. Source: Vaswani et al. 2017, section 3.2.
    """
    Q = attention.project_queries(read)  # (1, h, T, d_k)
    K, V = attention.project_keys_values(memory)  # (1, h, S, d_k), (1, h, S, d_v)
    E = Q @ K.transpose(-2, -1) / math.sqrt(attention.d_k)  # (1, h, T, S)
    A = compute_attention_matrix(Q, K, mask)  # (1, h, T, S)
    Y = A @ V  # (1, h, T, d_v)
    W_O = attention.W_O.unflatten(0, (-1, attention.d_v))  # (h, d_v, d_model)
    parts = Y @ W_O * read.new_tensor(factors)[:, None, None]  # (1, h, T, d_model)
    return dict(Q=Q, K=K, V=V, E=E, A=A, Y=Y, parts=parts, adds=parts.sum(1))


def feed_forward_numbers(work, read, factor):
    """The numbers of a feed-forward sub-layer's work; see `trace`.

    Source: Vaswani et al. 2017, section 3.3, equation (2).
    """
    into, relu, out = work
    hidden = relu(into(read))  # (1, T, d_ff)
    return dict(hidden=hidden, adds=out(hidden) * factor)  # (1, T, d_model)


@torch.no_grad()
def trace(model, source_ids, target_ids, scales=None):
    """All numbers of one forward pass: a dict from name to tensor.

    source_ids, target_ids: lists of S and T ids, the target as the decoder reads it, [BOS] first.
    scales: factors by place. There is no dropout, even where the model is in training, and no
    batch axis. The names:

        source.embedding, source.positions, source.stream           (S, d_model); target: (T, ...)
        encoder.L.self: before, read, Q, K, V, E, A, Y, parts, adds, after    decoder.L: cross, too
        encoder.L.ff: before, read, hidden, adds, after                       decoder.L
        encoder.out (S, d_model), decoder.out (T, d_model), logits (T, vocab_size)

    before, adds, after: the residual stream before a sub-layer, what is added, the stream after it
    (T, d_model). read: what the sub-layer reads of `before`, its LayerNorm in pre-norm. Q, K, V:
    (h, T, d_k), (h, S, d_k), (h, S, d_v). E (h, T, S): scores, also those that the mask hides;
    A (h, T, S): weights; Y (h, T, d_v): the mix of values; parts (h, T, d_model): what each head
    adds. hidden (T, d_ff): after the ReLU. Raises ValueError for bad ids and scales.
    """
    numbers, scales = {}, check_scales(model, scales or {})
    device = next(model.parameters()).device
    source_ids = torch.tensor([source_ids], device=device)  # (1, S)
    target_ids = torch.tensor([target_ids], device=device)  # (1, T)
    source_mask, target_mask = padding_mask(source_ids), decoder_mask(target_ids)

    def keep(place, **tensors):
        numbers.update({f"{place}.{name}": X[0] for name, X in tensors.items()})

    def embed(side, ids):
        check_ids(ids, model.config.vocab_size)
        embedding = model.embedding(ids) * math.sqrt(model.config.d_model)  # (1, T, d_model)
        positions = model.positions(torch.zeros_like(embedding))  # (1, T, d_model)
        stream = embedding + positions  # (1, T, d_model)
        keep(side, embedding=embedding, positions=positions, stream=stream)
        return stream

    X = embed("source", source_ids)
    for place, sub_layer in sub_layers(model).items():
        if place == "decoder.0.self":
            memory = model.encoder.norm(X)  # (1, S, d_model)
            keep("encoder", out=memory)
            X = embed("target", target_ids)
        read = sub_layer.norm(X) if sub_layer.norm_first else X  # (1, T, d_model)
        if place.endswith("ff"):
            made = feed_forward_numbers(sub_layer.feed_forward, read, scales.get(place, 1.0))
        else:
            asked = memory if place.endswith("cross") else read  # (1, S, d_model)
            written = place.startswith("decoder") and place.endswith("self")
            mask = target_mask if written else source_mask  # (1, 1, 1 or T, S)
            factors = factors_of(model, place, scales)
            made = attention_numbers(sub_layer.attention, read, asked, mask, factors)
        after = X + made["adds"]  # (1, T, d_model)
        if not sub_layer.norm_first:
            after = sub_layer.norm(after)
        keep(place, before=X, read=read, **made, after=after)
        X = after
    keep("decoder", out=model.decoder.norm(X))
    numbers["logits"] = model.logits(numbers["decoder.out"])  # (T, vocab_size)
    return numbers


def added_parts(model, source_ids, target_ids):
    """The parts whose sum is the last vector of a pre-norm decoder, before its final norm.

    Returns a dict from names to (d_model): ("decoder", layer, head) and ("cross", layer, head), as
    in `tutor.evaluation.all_heads`; ("feed-forward", layer, 0); ("start", -1, 0), which layer 0
    reads. Source: Elhage et al. 2021, *A Mathematical Framework for Transformer Circuits*.
    """
    numbers = trace(model, source_ids, target_ids)
    parts = {("start", -1, 0): numbers["target.stream"][-1]}
    for layer in range(model.config.num_layers):
        for kind, name in (("decoder", "self"), ("cross", "cross")):
            for head, added in enumerate(numbers[f"decoder.{layer}.{name}.parts"]):
                parts[kind, layer, head] = added[-1]  # the last token's
        parts["feed-forward", layer, 0] = numbers[f"decoder.{layer}.ff.adds"][-1]
    return parts
