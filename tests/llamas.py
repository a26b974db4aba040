"""Small models of `transformers` with random weights, in double precision through and through."""

import json
from contextlib import ExitStack
from unittest.mock import patch

import torch
import transformers
from torch import nn

from tutor.attention import causal_mask
from tutor.exchange.llama import config_from, names_of, to_llama
from tutor.language_model import LanguageModel
from tutor.smaller import LatentAttention, MixtureOfExperts

SIZES = dict(
    vocab_size=30, hidden_size=16, intermediate_size=20, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-5, pad_token_id=0,
    bos_token_id=2, eos_token_id=3,
)  # fmt: skip
YARN = dict(rope_type="yarn", rope_theta=1e4, factor=4.0, original_max_position_embeddings=16)
SCALINGS = {
    "linear": dict(rope_type="linear", rope_theta=1e4, factor=2.0),
    "dynamic": dict(rope_type="dynamic", rope_theta=1e4, factor=2.0),
    "llama3": dict(
        rope_type="llama3", rope_theta=5e4, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=32,
    ),
    "yarn": YARN,
    "yarn in fractions": YARN | dict(mscale=0.7, mscale_all_dim=0.3, truncate=False, beta_fast=8),
}  # fmt: skip
SLIDING = dict(use_sliding_window=True, sliding_window=2, max_window_layers=1)
KINDS = {
    "Llama": ("Llama", {}),
    "Llama tied": ("Llama", dict(num_key_value_heads=1, tie_word_embeddings=True)),
    "Llama linear": ("Llama", dict(rope_parameters=SCALINGS["linear"])),
    "Llama dynamic": (
        "Llama", dict(rope_parameters=SCALINGS["dynamic"], max_position_embeddings=4),
    ),
    "Llama 3.1": ("Llama", dict(rope_parameters=SCALINGS["llama3"], head_dim=8)),
    "Llama yarn": ("Llama", dict(rope_parameters=YARN, head_dim=8)),
    "Mistral": ("Mistral", dict(sliding_window=None)),
    "Mistral window": ("Mistral", dict(sliding_window=3)),
    "Ministral": (
        "Ministral",
        dict(head_dim=4, sliding_window=3, layer_types=["full_attention", "sliding_attention"]),
    ),
    "Qwen2": ("Qwen2", {}),
    "Qwen2 window": ("Qwen2", SLIDING),
    "Qwen3": ("Qwen3", dict(head_dim=6, rope_parameters=dict(rope_type="default", rope_theta=1e6))),
    "Qwen3 window": ("Qwen3", SLIDING),
    "SeedOss": ("SeedOss", dict(head_dim=6)),
    "SmolLM3": ("SmolLM3", dict(no_rope_layers=[1, 0])),
    "SmolLM3 window": (
        "SmolLM3", dict(num_hidden_layers=4, use_sliding_window=True, sliding_window=2),
    ),
    "Olmo2": ("Olmo2", {}),
    "Exaone4": ("Exaone4", dict(sliding_window=None, layer_types=["full_attention"] * 2)),
    "Exaone4 window": ("Exaone4", dict(sliding_window=2, sliding_window_pattern=2)),
}  # fmt: skip


def settings_of(model_type="llama", **changes):
    """What a config.json of transformers 4 holds, as a dict."""
    return SIZES | dict(model_type=model_type, rope_theta=1e4, torch_dtype="bfloat16") | changes


def lifted():
    """A context in which what their code asks for in float32 (angles, norms) is float64."""
    stack = ExitStack()
    stack.callback(torch.set_default_dtype, torch.get_default_dtype())
    torch.set_default_dtype(torch.float64)  # of a whole number times a plain one
    for name in ("float", "float32"):
        stack.enter_context(patch.object(torch, name, torch.float64))
    stack.enter_context(patch.object(torch.Tensor, "float", torch.Tensor.double))
    return stack


class Precise(nn.Module):
    """Their model of a kind ("Llama", "Qwen3", ...), whose float32 islands are float64."""

    def __init__(self, kind, **changes):
        super().__init__()
        self.config = getattr(transformers, f"{kind}Config")(**SIZES | changes)
        torch.manual_seed(0)
        with lifted():
            self.model = getattr(transformers, f"{kind}ForCausalLM")(self.config).double().eval()
        self.model.model.embed_tokens.padding_idx = None  # a row that would get no gradient
        with torch.no_grad():
            for p in self.model.parameters():
                p.add_(torch.randn_like(p) / 3)

    def forward(self, *args, **kwargs):
        with lifted():
            return self.model(*args, **kwargs)


def gradients_apart(ours, theirs, found, wanted):
    """The largest difference of gradients of our logits and theirs, which ours then holds."""
    from_above = torch.randn_like(wanted)
    for Z in (found, wanted):
        (Z * from_above).sum().backward()
    gradients = {name: p.grad for name, p in theirs.model.named_parameters()}
    for p in ours.parameters():
        p.data, p.grad = p.grad, p.data
    back = {name: G for name, G in to_llama(ours)[1].items() if name in gradients}
    assert back.keys() == gradients.keys()
    for p in ours.parameters():
        p.data = p.grad
    return max((G - gradients[name]).abs().max().item() for name, G in back.items())


# ---- folders


def shards(theirs, folder):
    theirs.save_pretrained(folder, max_shard_size="3KB")
    assert len([*folder.glob("model-*.safetensors")]) > 3


def version_4(theirs, folder):
    theirs.save_pretrained(folder)
    made = json.loads((folder / "config.json").read_text())
    rope = made.pop("rope_parameters")
    made |= dict(rope_theta=rope.pop("rope_theta"), torch_dtype=made.pop("dtype"))
    made["rope_scaling"] = dict(type=rope.pop("rope_type"), **rope)
    (folder / "config.json").write_text(json.dumps(made))


FOLDERS = {  # how it is written, its dtype, more settings
    "one file": (lambda theirs, folder: theirs.save_pretrained(folder), torch.float32, {}),
    "bfloat16": (lambda theirs, folder: theirs.save_pretrained(folder), torch.bfloat16, {}),
    "shards": (shards, torch.bfloat16, {}),
    "tied": (shards, torch.float32, dict(tie_word_embeddings=True)),
    "version 4": (version_4, torch.float32, {}),
}


def write_folder(kind, folder):
    """A Llama 3.1 of random weights as their library writes it; returns `folder`."""
    write, dtype, changes = FOLDERS[kind]
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**SIZES | changes, rope_parameters=SCALINGS["llama3"])
    write(transformers.LlamaForCausalLM(config).to(dtype), folder)
    return folder


# ---- parts that a Llama has not


def latent_difference(latent_Q=None, interleave=True):
    """How far our LatentAttention is from their DeepseekV3Attention: results and gradients."""
    from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek

    config = transformers.DeepseekV3Config(
        **SIZES | dict(hidden_size=12, num_attention_heads=3, num_key_value_heads=3),
        q_lora_rank=latent_Q, kv_lora_rank=10, qk_nope_head_dim=4, qk_rope_head_dim=6,
        v_head_dim=5, rope_interleave=interleave, attn_implementation="eager",
    )  # fmt: skip
    torch.manual_seed(0)
    with lifted():
        theirs = deepseek.DeepseekV3Attention(config, 0).double()
        turn = deepseek.DeepseekV3RotaryEmbedding(config)
    ours = LatentAttention(12, 3, 10, 4, 6, 5, latent_Q).double()
    with torch.no_grad():
        for p in theirs.parameters():
            p.add_(torch.randn_like(p) / 3)
        halves = torch.arange(6)
        if interleave:  # they pair neighbours
            halves = torch.cat([halves[0::2], halves[1::2]])
        Q = theirs.q_b_proj if latent_Q else theirs.q_proj
        W_Q = Q.weight.T.unflatten(1, (3, 10))  # (d_in, h, d_k + d_turned)
        ours.W_Q.copy_(torch.cat([W_Q[..., :4], W_Q[..., 4 + halves]], -1).flatten(1))
        W_C = theirs.kv_a_proj_with_mqa.weight.T
        ours.W_C.copy_(torch.cat([W_C[:, :10], W_C[:, 10 + halves]], -1))
        W_K, W_V = theirs.kv_b_proj.weight.T.unflatten(1, (3, 9)).split([4, 5], -1)
        ours.W_K.copy_(W_K.flatten(1))
        ours.W_V.copy_(W_V.flatten(1))
        ours.W_O.copy_(theirs.o_proj.weight.T)
        ours.norm.weight.copy_(theirs.kv_a_layernorm.weight)
        if latent_Q:
            ours.down_Q[0].weight.copy_(theirs.q_a_proj.weight)
            ours.down_Q[1].weight.copy_(theirs.q_a_layernorm.weight)
    X, places = torch.randn(2, 7, 12).double(), torch.arange(5, 12)
    hidden = causal_mask(7)
    bias = torch.zeros(1, 1, 7, 7).double().masked_fill(hidden, torch.finfo(torch.float64).min)
    results = []
    for absorbed in (None, False, True):
        given = X.clone().requires_grad_()
        with lifted():
            if absorbed is None:
                Y, _ = theirs(given, turn(X, places[None]), bias)
            else:
                Y = ours(given, places, hidden, absorbed=absorbed)
        Y.square().sum().backward()
        results.append((Y.detach(), given.grad))
    first, *others = results
    apart = [(a - b).abs().max() for other in others for a, b in zip(first, other, strict=True)]
    W_O = (ours.W_O.grad / 2 - theirs.o_proj.weight.grad.T).abs().max()  # of two passes
    return max(*apart, W_O).item()


def mixture_difference():
    """How far our MixtureOfExperts is from theirs in a MixtralForCausalLM.

    In logits, in the gradients of all parameters, and in each layer's balance.
    """
    from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func

    changes = dict(num_local_experts=4, num_experts_per_tok=2, output_router_logits=True)
    changes["experts_implementation"] = "eager"  # the only one in double precision
    theirs = Precise("Mixtral", sliding_window=None, **changes)
    config, weights = theirs.config, theirs.model.state_dict()
    settings = {**config.to_dict(), "model_type": "mistral"}
    ours = LanguageModel(config_from(settings)).double()
    pairs = []  # a parameter of ours, and a function from a state dict of theirs to its twin
    for name, p in ours.named_parameters():
        theirs_name, turned = names_of(ours)[name]
        if theirs_name in weights:
            pairs.append((p, lambda w, n=theirs_name, t=turned: w[n].T if t else w[n]))
    for number, layer in enumerate(ours.layers):
        mixture = MixtureOfExperts(config.hidden_size, config.intermediate_size, 4, 2).double()
        layer.feed_forward.feed_forward = mixture
        at = f"model.layers.{number}.mlp."
        pairs.append((mixture.router.weight, lambda w, at=at: w[at + "gate.weight"]))
        for i, expert in enumerate(mixture.experts):
            for part, W in enumerate((expert.gate.weight, expert.up.weight)):
                pairs.append((W, lambda w, at=at, i=i, part=part: (
                    w[at + "experts.gate_up_proj"][i].chunk(2)[part]
                )))  # fmt: skip
            pairs.append((expert.down.weight, lambda w, at=at, i=i: w[at + "experts.down_proj"][i]))
    assert len(pairs) == len(list(ours.parameters()))
    with torch.no_grad():
        for p, twin in pairs:
            p.copy_(twin(weights))
    ids = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 4, 10, 11]])
    wanted = theirs(ids)
    found = ours(ids)
    with lifted():
        apart = [
            (layer.feed_forward.feed_forward.balance - load_balancing_loss_func((Z,), 4, 2)).abs()
            for layer, Z in zip(ours.layers, wanted.router_logits, strict=True)
        ]
    from_above = torch.randn_like(found)
    for Z in (found, wanted.logits):
        (Z * from_above).sum().backward()
    gradients = {name: p.grad for name, p in theirs.model.named_parameters()}
    apart += [(p.grad - twin(gradients)).abs().max() for p, twin in pairs]
    return max(*apart, (found - wanted.logits).abs().max()).item()
