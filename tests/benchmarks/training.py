"""Whole training steps: `tutor` as it trains, against `nn.Transformer` trained the usual way.

    python tests/benchmarks/training.py [--quick] [--threads 1] [--max-tokens 1024]

Same batches (Multi30k where TUTOR_DATA names it, else the built-in corpus), same sizes, same
embedding, tied output. PyTorch's side: F.cross_entropy over all logits with smoothing and
ignore_index, fused AdamW. rounds.py measures both in float32; ours in bfloat16, as `train` chooses
where that is faster, against PyTorch's in float32, in "medium" precision of its products, and in
bfloat16 (autocast), too. Peak memory is what training in float32 adds to a process of its own for
each side (Linux). The last line is one JSON object: ratio_fp32, ratio_bfloat16, ratio_over_medium,
ratio_both_bfloat16, with their quartiles; memory_ratio, tokens_per_s.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from rounds import HEAD, ratios
from torch import nn

from tutor import Transformer, TransformerConfig, causal_mask
from tutor.attention import PAD
from tutor.text.batches import bucket
from tutor.text.grammar import generate_pairs
from tutor.text.multi30k import load_multi30k
from tutor.text.tokenizer import Tokenizer
from tutor.training import Recipe, in_bfloat16, make_optimizers, translation_loss

SIZES = dict(d_model=128, num_heads=4, d_ff=256, num_layers=4, dropout=0.1, norm_first=True)


class TorchTranslator(nn.Module):
    """nn.Transformer with what it lacks: embedding, positions, tied output."""

    def __init__(self, config):
        super().__init__()
        donor = Transformer(config)
        self.embed, self.embedding = donor.embed, donor.embedding
        self.positions = donor.positions
        self.transformer = nn.Transformer(
            config.d_model, config.num_heads, config.num_layers, config.num_layers, config.d_ff,
            config.dropout, batch_first=True, norm_first=config.norm_first,
        )  # fmt: skip

    def forward(self, source, target_in):
        padding = source == PAD
        Y = self.transformer(
            self.embed(source), self.embed(target_in), tgt_mask=causal_mask(target_in.shape[1]),
            src_key_padding_mask=padding, memory_key_padding_mask=padding,
            tgt_key_padding_mask=target_in == PAD,
        )  # fmt: skip
        return Y @ self.embedding.weight.T  # (N, T, vocabulary)


def torch_loss(model, batch, smoothing=0.1):
    logits = model(batch.source, batch.target_in)
    return F.cross_entropy(
        logits.flatten(0, 1),
        batch.target_out.flatten(),
        ignore_index=PAD,
        label_smoothing=smoothing,
    )


def make_side(name, config, precision="highest"):
    """(model, loss function, optimizers) of one side."""
    mixed = in_bfloat16 if precision == "bfloat16" else lambda loss: loss
    torch.manual_seed(0)
    if name == "tutor":
        model = Transformer(config)
        return model, mixed(translation_loss), make_optimizers(model, Recipe(steps=1))
    model = TorchTranslator(config)
    rate = dict(lr=1e-3, betas=(0.9, 0.98), fused=True)
    return model, mixed(torch_loss), [torch.optim.AdamW(model.parameters(), **rate)]


def train(side, batches):
    """Train on the batches; returns their target tokens."""
    model, loss_of, optimizers = side
    model.train()
    for batch in batches:
        loss_of(model, batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    return sum(int((batch.target_out != PAD).sum()) for batch in batches)


def megabytes(name):
    """VmRSS (memory now) or VmHWM (its peak) of this process. Linux only."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024


def load(max_tokens):
    """Name of the corpus, vocabulary size, batches."""
    if os.environ.get("TUTOR_DATA"):
        name, (sources, targets) = "Multi30k en-fr", load_multi30k("train")
    else:
        pairs = generate_pairs("train", 30_000)
        name = "built-in"
        sources, targets = [p.english for p in pairs], [p.french for p in pairs]
    tokenizer = Tokenizer.train(sources + targets, 4000)
    ids = list(zip(tokenizer.encode(sources), tokenizer.encode(targets), strict=True))
    return name, len(tokenizer), bucket(ids, max_tokens, seed=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="16 rounds of a step")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--steps", type=int, default=2, help="of a round, on each side")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-tokens", type=int, default=1024)
    parser.add_argument("--memory-of", choices=("tutor", "torch"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    rounds, steps = (16, 1) if args.quick else (args.rounds, args.steps)
    torch.set_num_threads(args.threads)
    name, vocab_size, batches = load(args.max_tokens)
    config = TransformerConfig(vocab_size, **SIZES)

    if args.memory_of:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew, after the loading
        before = megabytes("VmRSS")
        train(make_side(args.memory_of, config), batches[:40])
        print(megabytes("VmHWM") - before)
        return

    def side(name, precision):
        trained = make_side(name, config, precision)
        if precision == "bfloat16":  # as after many steps: oneDNN's room for its shapes is full
            train(trained, batches[-40:])

        def work(number):
            torch.set_float32_matmul_precision("medium" if precision == "medium" else "highest")
            return train(trained, batches[number * steps : (number + 1) * steps])

        return work

    print(f"corpus: {name}, seed 0; {rounds} rounds of {steps} steps of {args.max_tokens} tokens")
    print(f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}")
    print(HEAD.format("target tokens/s", "tutor", "PyTorch"))
    result = {}
    for title, ours, theirs in (
        ("fp32", "highest", "highest"), ("bfloat16", "bfloat16", "highest"),
        ("over_medium", "bfloat16", "medium"), ("both_bfloat16", "bfloat16", "bfloat16"),
    ):  # fmt: skip
        ratio = ratios(side("tutor", ours), side("torch", theirs), rounds)
        print(ratio.row(title.replace("_", " ")))
        result |= ratio.figures(f"ratio_{title}")
        result.setdefault("tokens_per_s", round(ratio.speeds[0]))
    children = [
        subprocess.Popen([sys.executable, *sys.argv, "--memory-of", name], stdout=subprocess.PIPE)
        for name in ("tutor", "torch")
    ]
    memory = [float(child.communicate()[0]) for child in children]
    print("\npeak memory: tutor {:.0f} MB, nn.Transformer {:.0f} MB".format(*memory))
    result["memory_ratio"] = round(memory[0] / memory[1], 3)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
