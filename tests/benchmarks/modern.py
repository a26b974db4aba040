"""Is our language model what others run, and how far is it from the truth?

    python tests/benchmarks/modern.py

The last line is one JSON object. llama_difference, llama_gradient_difference, qwen_difference: the
largest difference of logits or gradients from transformers' models of random weights, in double
precision. nats_above_entropy: of the best small model that ships in results.json, a caption.
packing_leak: gradient from one packed document to another. seeds: of the ladder at its lower rate.
cache_equal: whether reading in pieces gives the logits of reading at once.
"""

import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from llamas import Precise

from tutor.exchange.llama import from_llama, to_llama
from tutor.language_model import Cache
from tutor.models import since_2017


def differences(kind, **changes):
    """The largest difference of logits and of gradients, one row padded on the left; our model."""
    theirs = Precise(kind, num_key_value_heads=2, pad_token_id=0, **changes)
    ours = from_llama(theirs.config, theirs.model.state_dict())
    ids = torch.tensor([[4, 5, 6, 7, 8], [0, 0, 9, 10, 11]])
    keep = ids != 0
    found, wanted = ours(ids)[keep], theirs(ids, attention_mask=keep.long()).logits[keep]
    for Z in (found, wanted):
        Z.square().sum().backward()
    gradients = dict(theirs.model.named_parameters())
    for p in ours.parameters():
        p.data, p.grad = p.grad, p.data
    apart = max(
        (grad - gradients[name].grad).abs().max().item() for name, grad in to_llama(ours).items()
    )
    for p in ours.parameters():
        p.data = p.grad
    return (found - wanted).abs().max().item(), apart, ours


def packing_leak(model):
    ids, documents = torch.arange(4, 12)[None], torch.tensor([[0] * 4 + [1] * 4])
    Z = model(ids, documents)[:, 4:]
    table = model.embedding.weight
    return torch.autograd.grad(Z.square().sum(), table)[0][4:8].abs().max().item()


@torch.no_grad()
def cache_equal(model):
    ids, cache = torch.arange(4, 12)[None], Cache(model)
    pieces = torch.cat([model(part, cache=cache) for part in ids.split([3, 1, 4], dim=1)], dim=1)
    return bool((pieces - model(ids)).abs().max() < 1e-10)


def main():
    llama, llama_gradient, model = differences("Llama")
    qwen, _, _ = differences("Qwen3", head_dim=6)
    results = since_2017.load("results")
    nats = [
        sum(row[f"nats at {lr}"]) / len(row[f"nats at {lr}"])
        for row in results["ladder"].values()
        for lr in results["rates"]
    ]
    print(
        json.dumps(
            {
                "llama_difference": llama,
                "llama_gradient_difference": llama_gradient,
                "qwen_difference": qwen,
                "nats_above_entropy": round(min(nats) - results["truth"], 3),
                "packing_leak": packing_leak(model),
                "seeds": len(results["seeds"]),
                "cache_equal": cache_equal(model),
            }
        )
    )


if __name__ == "__main__":
    main()
