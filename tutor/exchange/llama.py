"""Llama and its relatives in our LanguageModel, and back (chapter 20).

Their models are our parts under other names; their linear layers multiply by W^T. `transformers`
itself is not needed: a configuration is a dict (that of a config.json, of transformers 4 or 5) or
anything with its attributes, weights are a state dict.
Source: names and defaults are those of transformers 5.
"""

import math
from dataclasses import replace
from functools import reduce
from pathlib import Path

import torch
from safetensors.torch import save

from tutor.exchange.huggingface import TOKENIZER_CONFIG, write_tokenizer
from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.text.tokenizer import BOS, EOS
from tutor.training.checkpoint import (
    CONFIG,
    MAX_CONFIG,
    TOKENIZER,
    WEIGHTS,
    brief,
    open_tensors,
    read_json,
    replaced,
    write_json,
)

INDEX, MAX_INDEX = "model.safetensors.index.json", 20_000_000  # bytes
DEFAULTS = {
    "rope_theta": 10_000.0, "rms_norm_eps": 1e-6, "hidden_act": "silu",
    "tie_word_embeddings": False, "use_sliding_window": False, "max_window_layers": 28,
    "no_rope_layer_interval": 4, "sliding_window_pattern": 4,
}  # fmt: skip
SLIDING = {"sliding_window": 4096}
FAMILIES = {  # model_type: their class, what a Llama has not, the defaults that are not those above
    "llama": ("Llama", {}, {}),
    "mistral": ("Mistral", {}, SLIDING),
    "ministral": ("Ministral", {}, SLIDING),
    "qwen2": ("Qwen2", {"qkv_bias": True}, SLIDING),
    "qwen3": ("Qwen3", {"qk_norm": True}, SLIDING | {"head_dim": 128}),
    "seed_oss": ("SeedOss", {"qkv_bias": True}, {"attention_bias": True, "head_dim": 128}),
    "smollm3": ("SmolLM3", {}, {"rope_theta": 2e6, "tie_word_embeddings": True}),
    "olmo2": ("Olmo2", {"qk_norm": "joint", "norm_out": True}, {"rms_norm_eps": 1e-5}),
    "exaone4": ("Exaone4", {"qk_norm": True, "norm_out": True}, SLIDING | {"rms_norm_eps": 1e-5}),
}
ALIKE = ("llama", "mistral", "seed_oss", "olmo2")  # all layers have one window or none
ROPE_TYPES = {  # rope_type: the numbers that it needs, and their defaults
    "default": {},
    "linear": {"factor": None},
    "dynamic": {"factor": None},
    "yarn": {"factor": None, "beta_fast": 32, "beta_slow": 1},
    "llama3": {"factor": None, "low_freq_factor": None, "high_freq_factor": None},
}
FLOATS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
NEAR = {  # what stands between ours and some others
    "gemma2": "its gate is a GELU, and soft caps bound its scores and logits",
    "gemma3_text": "its gate is a GELU, and its layers with a window turn at speeds of their own",
    "olmo3": "its layers with a window turn at speeds of their own",
    "phi3": "its Q, K and V stand in one matrix, and so do gate and up",
    "granite": "it multiplies its embedding, scores, sub-layers and logits by numbers of its own",
    "cohere": "it has a LayerNorm, and attention and feed-forward side by side",
    "gpt2": "it has LayerNorms, biases throughout and learned positions",
    "mixtral": "its feed-forward layers are experts, of which a router chooses",
    "deepseek_v3": "its attention is latent, and its feed-forward layers are experts",
}
LAYER = {  # ours: theirs, and whether it is turned on its side
    "self_attention.norm.weight": ("input_layernorm.weight", False),
    "self_attention.attention.W_Q": ("self_attn.q_proj.weight", True),
    "self_attention.attention.W_K": ("self_attn.k_proj.weight", True),
    "self_attention.attention.W_V": ("self_attn.v_proj.weight", True),
    "self_attention.attention.W_O": ("self_attn.o_proj.weight", True),
    "self_attention.attention.b_Q": ("self_attn.q_proj.bias", False),
    "self_attention.attention.b_K": ("self_attn.k_proj.bias", False),
    "self_attention.attention.b_V": ("self_attn.v_proj.bias", False),
    "self_attention.attention.norm_Q.weight": ("self_attn.q_norm.weight", False),
    "self_attention.attention.norm_K.weight": ("self_attn.k_norm.weight", False),
    "feed_forward.norm.weight": ("post_attention_layernorm.weight", False),
    "feed_forward.feed_forward.gate.weight": ("mlp.gate_proj.weight", False),
    "feed_forward.feed_forward.up.weight": ("mlp.up_proj.weight", False),
    "feed_forward.feed_forward.down.weight": ("mlp.down_proj.weight", False),
}
NORMS_OUT = {
    "self_attention.norm.weight": ("post_attention_layernorm.weight", False),
    "feed_forward.norm.weight": ("post_feedforward_layernorm.weight", False),
}
REST = {
    "embedding.weight": "model.embed_tokens.weight",
    "norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
THEIR_SIZES = {  # ours: theirs
    "vocab_size": "vocab_size", "d_model": "hidden_size", "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads", "d_ff": "intermediate_size",
    "max_len": "max_position_embeddings",
}  # fmt: skip
ALWAYS = {"positions": "rope", "norm_first": True, "norm": "rms", "feed_forward": "swiglu"}
EXTRAS = ("qkv_bias", "qk_norm", "norm_out", "window", "unwindowed", "unturned", "rope_scaling")


# ---- configurations


def config_from(theirs):
    """The LanguageModelConfig of a configuration of theirs.

    `pad` is None: as in theirs, an id is hidden only where the caller says so (`padding`).
    Raises ValueError for another kind of model, for a setting that ours does not have and for what
    is missing.
    """
    given = theirs if isinstance(theirs, dict) else vars(theirs)
    family = str(given.get("model_type", getattr(theirs, "model_type", None)))
    if family not in FAMILIES:
        near = f" ({NEAR[family]})" if family in NEAR else ""
        raise ValueError(
            f"model_type is {brief(repr(family))}{near}; ours reads {', '.join(FAMILIES)}."
        )
    _, parts, defaults = FAMILIES[family]
    s = DEFAULTS | defaults | given
    if wrong := [name for name in THEIR_SIZES.values() if type(s.get(name)) is not int]:
        raise ValueError(f"The configuration has no whole number as {', '.join(wrong)}.")
    if not isinstance(s["rms_norm_eps"], float | int):
        raise ValueError(f"rms_norm_eps is {brief(repr(s['rms_norm_eps']))}: it must be a number.")
    if family == "seed_oss":  # of Q, K and V alone
        parts = {"qkv_bias": s["attention_bias"]}
    lacks = {
        f"hidden_act {brief(repr(s['hidden_act']))} (ours has silu)": s["hidden_act"] != "silu",
        "attention_bias (ours has biases of Q, K and V, but none of O)": s.get("attention_bias")
        and (family != "seed_oss" or s.get("attention_out_bias")),
        "mlp_bias": s.get("mlp_bias"),
    }
    if any(lacks.values()):
        names = ", ".join(name for name, there in lacks.items() if there)
        raise ValueError(f"Our model has no place for what this one sets: {names}.")
    rope_base, rope_scaling = rope_from(s)
    try:
        window, unwindowed, unturned = layers_from(s, family)
    except (TypeError, IndexError, ZeroDivisionError, AttributeError) as error:
        raise ValueError(
            f"What the configuration says of single layers does not fit together ({error}): "
            "layer_types, no_rope_layers or another."
        ) from None
    return LanguageModelConfig(
        **{ours: s[name] for ours, name in THEIR_SIZES.items()},
        **ALWAYS,
        **parts,
        dropout=0.0,
        bias=False,
        num_kv_heads=s.get("num_key_value_heads") or s["num_attention_heads"],
        d_k=s.get("head_dim") or s["hidden_size"] // s["num_attention_heads"],
        window=window,
        rope_base=rope_base,
        eps=s["rms_norm_eps"],
        tied=bool(s["tie_word_embeddings"]),
        scale_embedding=False,
        pad=None,
        rope_scaling=rope_scaling,
        unwindowed=unwindowed,
        unturned=unturned,
    )


def rope_from(s):
    """The base of the angles, and None or what `scaled_speeds` takes, from their settings `s`."""
    rope = s.get("rope_parameters") or s.get("rope_scaling") or {}
    plain = isinstance(rope, dict) and not any(isinstance(value, dict) for value in rope.values())
    if plain:
        rope = {"rope_theta": s["rope_theta"], "rope_type": rope.get("type", "default")} | rope
    part = plain and (rope.get("partial_rotary_factor") or s.get("partial_rotary_factor") or 1)
    if part != 1 or str(rope["rope_type"]) not in ROPE_TYPES:
        raise ValueError(
            f"rope_parameters are {brief(rope)}: ours turns all columns, all layers at the same "
            f"speeds, with rope_type {', '.join(ROPE_TYPES)}."
        )
    kind, longest = rope["rope_type"], s["max_position_embeddings"]
    scaling = {name: rope.get(name) or default for name, default in ROPE_TYPES[kind].items()}
    for name, value in {"rope_theta": rope["rope_theta"], **scaling}.items():
        if type(value) not in (int, float) or value <= 0:
            raise ValueError(f"rope_parameters have no number above 0 as {name}: {brief(rope)}.")
    if kind == "default":
        return rope["rope_theta"], None
    scaling["rope_type"] = kind
    if kind != "linear":
        trained = rope.get("original_max_position_embeddings")
        trained = s.get("original_max_position_embeddings") or trained or longest
        scaling["original_max_position_embeddings"] = longest if kind == "dynamic" else trained
    if kind == "yarn":
        grown = 0.1 * math.log(max(rope["factor"], 1))  # Peng et al. 2023, section 3.4
        both = rope.get("mscale") and rope.get("mscale_all_dim")
        of, by = (rope["mscale"], rope["mscale_all_dim"]) if both else (1.0, 0.0)
        scaling["attention_factor"] = rope.get("attention_factor")
        if scaling["attention_factor"] is None:
            scaling["attention_factor"] = (of * grown + 1) / (by * grown + 1)
        scaling["truncate"] = rope.get("truncate", True)
    return rope["rope_theta"], scaling


def layers_from(s, family):
    """The window, the layers without it and the layers without positions, from their settings."""
    layers, window, kinds = range(s["num_hidden_layers"]), s.get("sliding_window"), None
    turned = s.get("no_rope_layers") or [(i + 1) % s["no_rope_layer_interval"] for i in layers]
    unturned = tuple(i for i in layers if not turned[i]) if family == "smollm3" else ()
    if family in ("llama", "seed_oss", "olmo2") or (
        family in ("qwen2", "qwen3") and not s["use_sliding_window"]
    ):
        window = None
    if family not in ALIKE:
        kinds = s.get("layer_types")
    if kinds is None:
        slides = {
            "qwen2": lambda i: i >= s["max_window_layers"],
            "qwen3": lambda i: i >= s["max_window_layers"],
            "smollm3": lambda i: s["use_sliding_window"] and i in unturned,
            "exaone4": lambda i: (i + 1) % s["sliding_window_pattern"] != 0,
        }.get(family, lambda i: True)
        full = tuple(i for i in layers if window is None or not slides(i))
    else:
        known = {"full_attention"} | ({"sliding_attention"} if window is not None else set())
        if unknown := set(kinds) - known:
            raise ValueError(
                f"layer_types has {brief(unknown)}; with sliding_window={window}, ours has {known}."
            )
        full = tuple(i for i in layers if kinds[i] == "full_attention")
    if family == "exaone4" and window is not None:
        unturned = full
    return (None, (), unturned) if len(full) == len(layers) else (window, full, unturned)


def config_to(config):
    """The settings of theirs, a dict, for a LanguageModelConfig: see `to_llama`."""
    lacks = [f"{k}={getattr(config, k)!r}" for k, v in ALWAYS.items() if getattr(config, k) != v]
    if config.scale_embedding and config.tied:  # an untied table is scaled itself
        lacks.append("scale_embedding=True with tied=True")
    if lacks:
        raise ValueError(f"No model of theirs that ours knows can do {', '.join(lacks)}.")
    d_k = config.d_k or config.d_model // config.num_heads
    ours = replace(
        config, dropout=0.0, bias=False, scale_embedding=False, pad=None, d_k=d_k,
        num_kv_heads=config.num_kv_heads or config.num_heads,
    )  # fmt: skip
    rope = {"rope_type": "default"} | (config.rope_scaling or {}) | {"rope_theta": config.rope_base}
    if rope["rope_type"] == "dynamic":  # there it is max_position_embeddings
        del rope["original_max_position_embeddings"]
    theirs = {name: getattr(config, our) for our, name in THEIR_SIZES.items()} | {
        "num_key_value_heads": ours.num_kv_heads,
        "head_dim": d_k,
        "hidden_act": "silu",
        "rms_norm_eps": config.eps,
        "tie_word_embeddings": config.tied,
        "rope_parameters": rope,
        "pad_token_id": config.pad,
        "bos_token_id": None,
        "eos_token_id": None,
        "sliding_window": config.window,
        "use_sliding_window": config.window is not None,
    }
    layers = range(config.num_layers)
    more = {"layer_types": [
        "full_attention" if config.window_of(i) is None else "sliding_attention" for i in layers
    ]}  # fmt: skip
    if config.unturned:
        more["no_rope_layers"] = [int(i not in config.unturned) for i in layers]
    for family in FAMILIES:
        found = theirs | {"model_type": family} | ({} if family in ALIKE else more)
        if config_from(found) == ours:
            return found
    said = ", ".join(
        f"{name}={getattr(config, name)!r}" for name in EXTRAS if getattr(config, name)
    )
    raise ValueError(f"No model of theirs that ours knows has together: {said}.")


# ---- weights


def names_of(model):
    """Each name in our state dict -> (theirs, whether it is turned on its side)."""
    found, parts = {}, LAYER | (NORMS_OUT if model.config.norm_out else {})
    for name in model.state_dict():
        if name in REST:
            found[name] = REST[name], False
        else:
            _, number, part = name.split(".", 2)  # layers.0.what
            theirs, turned = parts[part]
            found[name] = f"model.layers.{number}.{theirs}", turned
    return found


def copied(tensor, turned):
    """A copy of a tensor, or of its transpose."""
    return (tensor.T if turned else tensor).clone(memory_format=torch.contiguous_format)


def from_llama(config, weights):
    """A LanguageModel from their configuration and state dict, in eval mode.

    Its dtype is that of the weights, or the one that holds all of theirs. Theirs gives the row of
    pad_token_id no gradient; ours treats it like any other. Raises ValueError as
    `config_from` does, and for weights that are missing, left over, of another shape, quantised or
    not finite.
    """
    ours = config_from(config)
    weights = {name: X for name, X in weights.items() if not name.endswith("rotary_emb.inv_freq")}
    numbers = {name.split(".")[2] for name in weights if name.startswith("model.layers.")}
    if len(numbers) != ours.num_layers:  # before that many are made
        raise ValueError(
            f"The configuration has num_hidden_layers={ours.num_layers}, the weights have "
            f"{len(numbers)} layers."
        )
    with torch.device("meta"):
        model = LanguageModel(ours)
    names = names_of(model)
    wanted = {theirs for theirs, _ in names.values()}
    table, head = REST["embedding.weight"], REST["output.weight"]
    left = weights.keys() - wanted - ({head} if ours.tied else set())
    if wrong := sorted(left) + sorted(wanted - weights.keys()):
        raise ValueError(f"These weights are left over or missing: {brief(', '.join(wrong))}.")
    for name, X in model.state_dict().items():
        there, turned = names[name]
        shapes = weights[there].shape, (X.T if turned else X).shape
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"{there} has shape {tuple(shapes[0])}, but the configuration asks for "
                f"{tuple(shapes[1])}: they do not belong together."
            )
    check_numbers(weights)
    if ours.tied and not torch.equal(weights.get(head, weights[table]), weights[table]):
        raise ValueError(f"tie_word_embeddings is true, but {head} is not {table}.")
    dtype = reduce(torch.promote_types, {X.dtype for X in weights.values()})
    state = {our: copied(weights[name], turned).to(dtype) for our, (name, turned) in names.items()}
    model.load_state_dict(state, assign=True)
    return model.requires_grad_().eval()


def check_numbers(weights):
    """Raise ValueError for the first of `weights` whose numbers are quantised or not finite."""
    for name, X in weights.items():
        if X.dtype not in FLOATS:
            raise ValueError(f"{name} is {X.dtype}: take weights that are not quantised.")
        if not X.isfinite().all():
            raise ValueError(f"{name} holds numbers that are not finite: take other weights.")


def to_llama(model):
    """Our model as one of theirs: its settings, a dict with a model_type, and its state dict.

    A table whose rows ours multiplies by sqrt(d_model) is multiplied here, if it is untied.
    bos_token_id and eos_token_id are None, because our model does not know them.
    Raises ValueError that names the settings that none of their models has.
    """
    theirs, state = config_to(model.config), model.state_dict()
    weights = {name: copied(state[our], turned) for our, (name, turned) in names_of(model).items()}
    if model.config.scale_embedding:
        weights[REST["embedding.weight"]] *= math.sqrt(model.config.d_model)
    if model.config.tied:
        weights[REST["output.weight"]] = weights[REST["embedding.weight"]]
    return theirs, weights


# ---- folders


def load(folder):
    """The LanguageModel in a folder of theirs: config.json, and model.safetensors or shards.

    Raises FileNotFoundError for what is missing, ValueError as `from_llama` or for what is damaged.
    """
    folder, weights = Path(folder).expanduser(), {}
    config, files = folder / CONFIG, [WEIGHTS]
    if not (folder / WEIGHTS).is_file() and (folder / INDEX).is_file():
        index = read_json(folder / INDEX, MAX_INDEX)
        shard_of = index.get("weight_map") if isinstance(index, dict) else None
        files = sorted(set(map(str, shard_of.values()))) if isinstance(shard_of, dict) else [INDEX]
        if wrong := [file for file in files if Path(file).name != file or file == INDEX]:
            raise ValueError(
                f"{folder / INDEX} names {brief(wrong[0])} instead of files beside it."
            )
    for path in (config, *(folder / file for file in files)):
        if not path.is_file():
            raise FileNotFoundError(
                f"There is no {path}: a model's folder has it; download it again."
            )
    for file in files:
        with open_tensors(folder / file) as tensors:
            weights |= {name: tensors.get_tensor(name) for name in tensors.keys()}
    theirs = read_json(config, MAX_CONFIG)
    if not isinstance(theirs, dict):
        raise ValueError(f"{config} is no configuration: it must hold one JSON object.")
    return from_llama(theirs, weights)


def export(model, folder, tokenizer=None):
    """Write our model as a folder that their `from_pretrained` reads, all or nothing.

    tokenizer: a Tokenizer of ours; theirs then begins each text with [BOS], and `generate` ends
    with [EOS].
    Raises ValueError as `to_llama`, for numbers that are not finite and for a folder that holds
    anything else; OSError where it cannot be written.
    """
    theirs, weights = to_llama(model)
    check_numbers(weights)
    if model.config.tied:
        del weights[REST["output.weight"]]
    theirs["architectures"] = [f"{FAMILIES[theirs['model_type']][0]}ForCausalLM"]
    theirs["dtype"] = str(next(iter(weights.values())).dtype).removeprefix("torch.")
    if tokenizer is not None:
        theirs |= {"bos_token_id": BOS, "eos_token_id": EOS}
    with replaced(folder, (CONFIG, WEIGHTS, TOKENIZER, TOKENIZER_CONFIG)) as new:
        (new / WEIGHTS).write_bytes(save(weights, metadata={"format": "pt"}))
        write_json(new / CONFIG, theirs)
        if tokenizer is not None:
            write_tokenizer(new, tokenizer, model.config.max_len, "[BOS] $A")
