"""PyTorch's own modules with our weights, and the comparison of outputs and gradients.

`twins` says which of our parameters makes which of theirs; copying the weights and comparing the
gradients both follow from it. Everything is float64.
"""

import math
from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from tutor import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
)

PAD = 0


class Sizes(NamedTuple):
    N: int
    T: int
    S: int
    num_heads: int
    d_model: int
    seed: int


@st.composite
def sizes(draw):
    """Small sizes, 1 included, with T different from S."""
    T, S = draw(st.lists(st.integers(1, 5), min_size=2, max_size=2, unique=True))
    num_heads, width = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    return Sizes(
        draw(st.integers(1, 3)), T, S, num_heads, num_heads * width, draw(st.integers(0, 10_000))
    )


def random_tensors(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def random_ids(seed, N, T, vocab_size):
    """Ids (N, T), each row with at least one word, then padding."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, vocab_size, (N, T), generator=generator)
    lengths = torch.randint(1, T + 1, (N, 1), generator=generator)
    return ids.masked_fill(torch.arange(T) >= lengths, PAD)


def random_mask(seed, *shape):
    """About half True, with at least one False in every row (PyTorch gives NaN otherwise)."""
    (X,) = random_tensors(seed, shape)
    return (X > 0) & (X < X.amax(-1, keepdim=True))


def randomize(module, seed=0):
    """The module in float64, with random numbers everywhere, biases and norms included."""
    module.double()
    for p, values in zip(
        module.parameters(), random_tensors(seed, *(p.shape for p in module.parameters())),
        strict=True,
    ):  # fmt: skip
        p.data = 0.5 * values
    return module


def small_model(seed=0, **changes):
    config = dict(vocab_size=11, d_model=12, num_heads=3, d_ff=10, num_layers=2, dropout=0.0,
                  max_len=16)  # fmt: skip
    return randomize(Transformer(TransformerConfig(**config | changes)), seed)


class TransformerTwin(nn.Module):
    """`nn.Transformer` between an embedding and a projection of our own making."""

    def __init__(self, config, table):
        super().__init__()
        c = config
        self.E = nn.Parameter(torch.empty(c.vocab_size, c.d_model))
        self.P = nn.Parameter(table.clone())
        self.inside = nn.Transformer(
            c.d_model, c.num_heads, c.num_layers, c.num_layers, c.d_ff, dropout=0.0,
            batch_first=True, norm_first=c.norm_first,
        )  # fmt: skip
        if not c.norm_first:  # the paper has no norm after the stacks, PyTorch always does
            self.inside.encoder.norm = self.inside.decoder.norm = None

    def forward(self, source, target):
        X, Y = (
            F.embedding(ids, self.E) * math.sqrt(self.E.shape[1]) + self.P[: ids.shape[1]]
            for ids in (source, target)
        )
        T = target.shape[1]
        Y = self.inside(
            X, Y,
            tgt_mask=torch.tensor([[key > query for key in range(T)] for query in range(T)]),
            src_key_padding_mask=source == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target == PAD,
        )  # fmt: skip
        return F.linear(Y, self.E)


def twins(ours, theirs):
    """Yield (their parameter, a function that makes it from `part` of our parameters)."""
    if isinstance(ours, MultiHeadAttention):
        inputs = ours.W_Q, ours.W_K, ours.W_V
        yield theirs.in_proj_weight, lambda part: torch.cat([part(W).T for W in inputs])
        yield theirs.out_proj.weight, lambda part: part(ours.W_O).T
    elif isinstance(ours, EncoderLayer | DecoderLayer):
        cross = isinstance(ours, DecoderLayer)
        yield from twins(ours.self_attention.attention, theirs.self_attn)
        yield from twins(ours.self_attention.norm, theirs.norm1)
        if cross:
            yield from twins(ours.cross_attention.attention, theirs.multihead_attn)
            yield from twins(ours.cross_attention.norm, theirs.norm2)
        yield from twins(ours.feed_forward.norm, theirs.norm3 if cross else theirs.norm2)
        yield from twins(ours.feed_forward.feed_forward[0], theirs.linear1)
        yield from twins(ours.feed_forward.feed_forward[2], theirs.linear2)
    elif isinstance(ours, Encoder | Decoder):
        for layer, their_layer in zip(ours.layers, theirs.layers, strict=True):
            yield from twins(layer, their_layer)
        yield from twins(ours.norm, theirs.norm or nn.Identity())
    elif isinstance(ours, Transformer):
        yield theirs.E, lambda part: part(ours.embedding.weight)
        if isinstance(ours.positions.table, nn.Parameter):
            yield theirs.P, lambda part: part(ours.positions.table)
        yield from twins(ours.encoder, theirs.inside.encoder)
        yield from twins(ours.decoder, theirs.inside.decoder)
    else:  # the same kind of module on both sides
        for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
            yield q, lambda part, p=p: part(p)


def copy_weights(ours, theirs):
    """Give `theirs` our weights; its attentions get zeros as biases, because ours have none."""
    theirs.double()
    with torch.no_grad():
        for module in theirs.modules():
            if isinstance(module, nn.MultiheadAttention) and module.in_proj_bias is not None:
                module.in_proj_bias.zero_()
                module.out_proj.bias.zero_()
        for p, made_from in twins(ours, theirs):
            p.copy_(made_from(lambda ours: ours))
    return theirs


def output_and_gradients(run, inputs):
    """run(*inputs), and the gradients of a weighted sum of it with respect to the inputs."""
    inputs = [X.clone().requires_grad_() for X in inputs]
    Y = run(*inputs)
    Y.backward(torch.arange(1, Y.numel() + 1, dtype=Y.dtype).cos().view_as(Y))
    return Y.detach(), [torch.zeros_like(X) if X.grad is None else X.grad for X in inputs]


def assert_equal(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-10)


def assert_same(run, their_run, inputs=(), modules=None):
    """Same output and gradients: of the inputs and, with modules=(ours, theirs), of all weights."""
    Y, gradients = output_and_gradients(run, inputs)
    their_Y, their_gradients = output_and_gradients(their_run, inputs)
    assert_equal(Y, their_Y)
    assert_equal(gradients, their_gradients)
    if modules:
        compared = 0
        for p, made_from in twins(*modules):
            assert_equal(made_from(lambda ours: ours.grad), p.grad)
            compared += p.numel()
        assert compared == sum(p.numel() for p in modules[0].parameters())
