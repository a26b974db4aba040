"""PyTorch's own modules with our weights, and the comparison of outputs and gradients.

`tutor.exchange.pytorch` says which of our parameters makes which of theirs. A mistake there cannot
hide: on random numbers PyTorch would compute something else. Gradients are converted as if they
were weights. Everything is float64.
"""

import copy
import math
from typing import NamedTuple

import pytest
import torch
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from tutor import Transformer, TransformerConfig
from tutor.exchange.pytorch import to_pytorch
from tutor.trace import heads_of, sub_layers

PAD = 0
PAIRS = [
    ([4, 5, 6], [7, 8]),
    ([9], [10, 4, 5, 6]),
    ([6, 6], [5]),
    ([8, 7, 5], [9, 9, 10]),
]  # of ids, for `tiny`


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


def tiny(seed, dropout=0.1):
    torch.manual_seed(seed)
    return Transformer(TransformerConfig(
        11, d_model=32, num_heads=2, d_ff=32, num_layers=1, dropout=dropout, max_len=16,
        norm_first=True,
    ))  # fmt: skip


def compiled(model, way, *ids):
    """What to call, and the model to listen to; it has read `ids` once, so its code is made."""
    torch.compiler.reset()
    run = model
    if way == "around":
        run = model = torch.compile(model, backend="eager")
    elif way == "layers in place":
        for layer in (*model.encoder.layers, *model.decoder.layers):
            layer.compile(backend="eager")
    elif way == "inside a function":
        run = torch.compile(lambda *ids: model(*ids), backend="eager")
    run(*ids)
    return run, model


all_ways_to_compile = pytest.mark.parametrize(
    "way", ["around", "layers in place", "inside a function"]
)


class TransformerTwin(nn.Module):
    """Our stacks in an `nn.Transformer`, between an embedding and a projection written anew."""

    def __init__(self, ours):
        super().__init__()
        self.E = copy.deepcopy(ours.embedding.weight)
        self.P = copy.deepcopy(ours.positions.table)  # a parameter, if it is one of ours
        self.inside = to_pytorch(ours).inside

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


def output_and_gradients(run, inputs):
    """run(*inputs), and the gradients of a weighted sum of it with respect to the inputs."""
    inputs = [X.clone().requires_grad_() for X in inputs]
    Y = run(*inputs)
    Y.backward(torch.arange(1, Y.numel() + 1, dtype=Y.dtype).cos().view_as(Y))
    return Y.detach(), [torch.zeros_like(X) if X.grad is None else X.grad for X in inputs]


def assert_equal(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-10)


def both(run, their_run, inputs=(), modules=None):
    """What has to be equal: the pair of the outputs, and a list of pairs of gradients.

    Of the inputs and, with modules=(ours, theirs), of all weights.
    """
    Y, gradients = output_and_gradients(run, inputs)
    their_Y, their_gradients = output_and_gradients(their_run, inputs)
    pairs = list(zip(gradients, their_gradients, strict=True))
    if modules:
        ours, theirs = modules
        expected = copy.deepcopy(ours)  # gradients in the place of the weights
        for p, q in zip(expected.parameters(), ours.parameters(), strict=True):
            p.data = q.grad
        weights = zip(to_pytorch(expected).parameters(), theirs.parameters(), strict=True)
        trained = [(p.data, q.grad) for p, q in weights if q.requires_grad]
        assert sum(q.numel() for _, q in trained) == sum(map(torch.numel, ours.parameters()))
        pairs += trained
    return (Y, their_Y), pairs


def assert_same(*args):
    """Same output and gradients; see `both`."""
    outputs, gradients = both(*args)
    for actual, expected in (outputs, *gradients):
        assert_equal(actual, expected)


# The places of the small model, and their heads, as `tutor.trace` names them.
PLACES = list(sub_layers(small_model()))
HEADS = [head for place in PLACES for head in heads_of(small_model(), place)]
