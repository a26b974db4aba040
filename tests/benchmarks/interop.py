"""Our layers against PyTorch's with the same weights: how far apart, and how fast.

    python tests/benchmarks/interop.py [--quick] [--threads 1] [--max-tokens 1024]

Distance: float64; attention, layers, stacks and the whole model, both orders of the norm, causal
and padding masks, source and target of different length. The largest absolute difference of the
outputs, and of the gradients of all inputs and weights.
Speed: float32; whole training steps, and encoding in eval mode, where PyTorch takes its fast path.
Batches are those of training.py. Both sides have the same weights, embedding, loss, optimizer and
places of dropout; the layers alone differ. rounds.py measures: above 1 ours is the faster.
The last line is one JSON object: worst_difference, worst_gradient_difference; training_ratio,
encoding_ratio, each the smaller one of the two orders, with its quartiles; exhibits, those of
`course.museum`.
"""

import argparse
import json
import platform
import sys
from pathlib import Path

import torch
from rounds import HEAD, ratios
from torch import nn
from training import SIZES, load

from course.museum import EXHIBITS
from tutor import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    causal_mask,
    padding_mask,
)
from tutor.attention import PAD
from tutor.exchange.pytorch import to_pytorch
from tutor.training import translation_loss

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytorch_twins import both  # noqa: E402

ORDERS = {"post-norm": False, "pre-norm": True}


def random_ids(N, T, vocab_size):
    """Ids (N, T); sentence n has n tokens fewer than the first, the rest is padding."""
    ids = torch.randint(4, vocab_size, (N, T))
    return ids.masked_fill(torch.arange(T) >= T - torch.arange(N)[:, None], PAD)


def cases(norm_first):
    """Yield (name, our module, how it is called, how PyTorch's is called, inputs)."""
    N, T, S, d = 4, 11, 13, SIZES["d_model"]
    source, target = random_ids(N, S, 50), random_ids(N, T, 50)
    X, memory = torch.randn(N, T, d), torch.randn(N, S, d)
    hidden, mask = padding_mask(source), causal_mask(T) | padding_mask(target)
    src, tgt = source == PAD, target == PAD
    sizes = (d, SIZES["num_heads"], SIZES["d_ff"], 0.0, norm_first)

    def decoded(ours):
        return lambda X, M: ours(X, M, mask, hidden)

    def their_decoded(theirs):
        masks = dict(tgt_mask=causal_mask(T), tgt_key_padding_mask=tgt)
        return lambda X, M: theirs(X, M, memory_key_padding_mask=src, **masks)

    yield (
        "attention", MultiHeadAttention(d, SIZES["num_heads"]),
        lambda ours: lambda X, M: ours(X, M, hidden),
        lambda theirs: lambda X, M: theirs(X, M, M, key_padding_mask=src, need_weights=False)[0],
        [X, memory],
    )  # fmt: skip
    layers = SIZES["num_layers"]
    for name, ours in (
        ("encoder layer", EncoderLayer(*sizes)),
        ("encoder", Encoder(layers, *sizes[:-1], norm_first=norm_first)),
    ):
        yield (
            name, ours, lambda ours: lambda M: ours(M, hidden),
            lambda theirs: lambda M: theirs(M, src_key_padding_mask=src), [memory],
        )  # fmt: skip
    for name, ours in (
        ("decoder layer", DecoderLayer(*sizes)),
        ("decoder", Decoder(layers, *sizes[:-1], norm_first=norm_first)),
    ):
        yield name, ours, decoded, their_decoded, [X, memory]
    config = TransformerConfig(50, **SIZES | dict(dropout=0.0, norm_first=norm_first))

    def called(model):
        return lambda: model(source, target)

    yield "whole model", Transformer(config), called, called, []


def distance(ours, call, their_call, inputs):
    """Largest absolute difference of the outputs and of all gradients."""
    for p in ours.parameters():
        if p.dim() == 1:  # biases are not zeros and scales not ones once a model has learned
            p.data += 0.3 * torch.randn_like(p)
    theirs = to_pytorch(ours)
    outputs, gradients = both(call(ours), their_call(theirs), inputs, (ours, theirs))
    far = [(a - b).abs().max().item() for a, b in (outputs, *gradients)]
    return far[0], max(far[1:])


def train(model, optimizer, batches):
    model.train()
    for batch in batches:
        translation_loss(model, batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


@torch.no_grad()
def encode(model, optimizer, batches):
    model.eval()
    for batch in batches:
        model.encode(batch.source)


def speed(config, batches, rounds, steps):
    """{work: Ratio}, in source tokens a second."""
    torch.manual_seed(0)
    ours = Transformer(config)
    theirs = to_pytorch(ours)

    def side(model, work, times):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

        def measured(number):
            part = batches[number * steps : (number + 1) * steps] * times
            work(model, optimizer, part)
            return sum(int((batch.source != PAD).sum()) for batch in part)

        return measured

    return {
        work: ratios(side(ours, work, times), side(theirs, work, times), rounds)
        for work, times in ((train, 1), (encode, 8))  # encoding once would be over too soon
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="16 rounds of a training step")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--steps", type=int, default=2, help="of training, in a round, each side")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-tokens", type=int, default=1024)
    args = parser.parse_args()
    rounds, steps = (16, 1) if args.quick else (args.rounds, args.steps)
    torch.set_num_threads(args.threads)
    print(f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}")

    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    worst = [0.0, 0.0]
    print(f"\n{'largest difference, float64':38}{'outputs':>12}{'gradients':>12}")
    for order, norm_first in ORDERS.items():
        for name, *case in cases(norm_first):
            found = distance(*case)
            print(f"{name + ', ' + order:38}{found[0]:12.1e}{found[1]:12.1e}")
            worst = list(map(max, worst, found))
    torch.set_default_dtype(torch.float32)

    corpus, vocab_size, batches = load(args.max_tokens)
    print(f"\n{rounds} rounds of {steps} batches of {args.max_tokens} tokens, {corpus}, seed 0")
    print(HEAD.format("source tokens/s, float32", "tutor", "PyTorch"))
    measured = {train: [], encode: []}
    for order, norm_first in ORDERS.items():
        config = TransformerConfig(vocab_size, **SIZES | dict(norm_first=norm_first))
        for work, ratio in speed(config, batches, rounds, steps).items():
            print(ratio.row(f"{work.__name__}, {order}"))
            measured[work].append(ratio)

    result = {
        "worst_difference": worst[0],
        "worst_gradient_difference": worst[1],
        **min(measured[train]).figures("training_ratio"),
        **min(measured[encode]).figures("encoding_ratio"),
        "exhibits": len(EXHIBITS),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
