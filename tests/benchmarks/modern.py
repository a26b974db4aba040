"""Is our language model what others run, and how far is it from the truth?

    python tests/benchmarks/modern.py

The last line is one JSON object. families: those of transformers whose models of random weights
ours equals in logits and gradients, with padding, in double precision, and by how much each of the
two differs at most (worst_..._difference). families_refused: those that are refused in a sentence
that says how near they are. speeds_difference: from their scaled speeds, relative. mla_difference,
mixture_difference: our latent attention from their DeepseekV3Attention, and a model with our
mixture of experts from their MixtralForCausalLM, gradients included. folders_read: in which forms
their folders were read with equal logits. lm_roundtrip: whether a language model's logits came
back the same from all that lm_roundtrip_covers names: its folder and, where onnxscript and
onnxruntime are there, its step.onnx, which reads a token at a time with a cache.
nats_above_entropy: of the best small model that ships in results.json, a caption.
packing_leak: gradient from one packed document to another. seeds: of the ladder at its lower rate.
cache_equal: whether reading in pieces gives the logits of reading at once.
"""

import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from llamas import (
    FOLDERS,
    KINDS,
    SCALINGS,
    SIZES,
    Precise,
    gradients_apart,
    latent_difference,
    lifted,
    mixture_difference,
    write_folder,
)

from tutor.exchange.llama import NEAR, config_from, from_llama, load
from tutor.exchange.onnx import LANGUAGE_FILES, export_language_model
from tutor.language_model import Cache
from tutor.models import since_2017
from tutor.modern import scaled_speeds
from tutor.text.tokenizer import Tokenizer
from tutor.training.checkpoint import load_language_model, save_language_model

IDS = torch.tensor([[4, 5, 6, 7, 8], [9, 0, 0, 10, 11]])


def differences(kind, **changes):
    """The largest difference of logits and of gradients, one row padded on the left; our model."""
    theirs = Precise(kind, **changes)
    ours = from_llama(theirs.config, theirs.model.state_dict())
    keep = torch.ones_like(IDS)
    keep[1, :2] = 0
    found = ours(IDS, padding=keep == 0)[keep == 1]
    wanted = theirs(IDS, attention_mask=keep).logits[keep == 1]
    apart = (found - wanted).abs().max().item()
    return apart, gradients_apart(ours, theirs, found, wanted), ours


def refused():
    """The families whose refusal says what stands between."""
    names = []
    for name, near in NEAR.items():
        try:
            config_from(transformers.CONFIG_MAPPING[name]())
        except ValueError as error:
            if near in str(error):
                names.append(name)
    return names


def speeds_difference():
    worst = 0.0
    for kind, rope in SCALINGS.items():
        config = transformers.LlamaConfig(**SIZES | dict(head_dim=64, rope_parameters=rope))
        ours = config_from(config)
        for length in (16, 64, 100, 5000):
            with lifted():
                wanted, _ = ROPE_INIT_FUNCTIONS[kind.split()[0]](config, seq_len=length)
            found = scaled_speeds(64, ours.rope_base, ours.rope_scaling, length)
            worst = max(worst, (found / wanted - 1).abs().max().item())
    return worst


@torch.no_grad()
def folders_read():
    names = []
    for kind in FOLDERS:
        with tempfile.TemporaryDirectory() as folder:
            write_folder(kind, Path(folder))
            theirs = transformers.AutoModelForCausalLM.from_pretrained(folder).float()
            if (load(folder).float()(IDS) - theirs(IDS).logits).abs().max() < 1e-5:
                names.append(kind)
    return names


@torch.no_grad()
def lm_roundtrip(model):
    """For each form that a language model is written in: whether its logits came back the same."""
    with tempfile.TemporaryDirectory() as folder:
        save_language_model(Path(folder, "model"), model)
        again, _ = load_language_model(Path(folder, "model"))
        same = {"folder": again.config == model.config and torch.equal(again(IDS), model(IDS))}
        if find_spec("onnxscript") and find_spec("onnxruntime"):
            export_language_model(again, Tokenizer.train([], 260), Path(folder, "onnx"))
            apart = onnx_difference(model, Path(folder, "onnx", LANGUAGE_FILES[0]))
            same["onnx"] = bool(apart < 1e-5)  # it is in float32
    return same


def onnx_difference(model, path):
    """The largest difference of logits between a model and its step.onnx, over words alone."""
    from onnxruntime import InferenceSession

    step, ids, apart = InferenceSession(path), IDS[:1], 0.0
    K, V = (
        np.zeros([{"N": 1, "t": 0}.get(size, size) for size in each.shape], np.float32)
        for each in step.get_inputs()[1:]
    )
    for t, Z in enumerate(model(ids)[0]):  # (vocab_size)
        feed = {"ids": ids[:, t : t + 1].numpy(), "past_K": K, "past_V": V}
        found, K, V = step.run(["logits", "K", "V"], feed)
        apart = max(apart, abs(found[0] - Z.numpy()).max())
    return apart


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
    apart = {name: differences(kind, **changes) for name, (kind, changes) in KINDS.items()}
    model = apart["Llama"][2]
    returned = lm_roundtrip(model)
    results = since_2017.load("results")
    nats = [
        sum(row[f"nats at {lr}"]) / len(row[f"nats at {lr}"])
        for row in results["ladder"].values()
        for lr in results["rates"]
    ]
    print(
        json.dumps(
            {
                "families": [name for name, (*both, _) in apart.items() if max(both) < 1e-10],
                "families_refused": refused(),
                "worst_logit_difference": max(one for one, _, _ in apart.values()),
                "worst_gradient_difference": max(one for _, one, _ in apart.values()),
                "speeds_difference": speeds_difference(),
                "mla_difference": max(
                    latent_difference(latent_Q, interleave)
                    for latent_Q in (None, 7)
                    for interleave in (True, False)
                ),
                "mixture_difference": mixture_difference(),
                "folders_read": folders_read(),
                "lm_roundtrip": all(returned.values()),
                "lm_roundtrip_covers": list(returned),
                "nats_above_entropy": round(min(nats) - results["truth"], 3),
                "packing_leak": packing_leak(model),
                "seeds": len(results["seeds"]),
                "cache_equal": cache_equal(model),
            }
        )
    )


if __name__ == "__main__":
    main()
