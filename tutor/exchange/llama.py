"""Weights of Llama and its relatives in our LanguageModel, and back (chapter 17).

`LlamaForCausalLM`, and `Qwen3ForCausalLM` with its QK-norm, are our parts under other names; their
linear layers multiply by W^T. `transformers` itself is not needed: a configuration is anything with
its attributes, weights are a state dict.
Source: the names are those of transformers 5.
"""

import torch

from tutor.language_model import LanguageModel, LanguageModelConfig

HAS_QK_NORM = {"llama": False, "qwen3": True}  # model_type: qk_norm
LAYER = {  # ours: theirs, and whether it is turned on its side
    "self_attention.norm.weight": ("input_layernorm.weight", False),
    "self_attention.attention.W_Q": ("self_attn.q_proj.weight", True),
    "self_attention.attention.W_K": ("self_attn.k_proj.weight", True),
    "self_attention.attention.W_V": ("self_attn.v_proj.weight", True),
    "self_attention.attention.W_O": ("self_attn.o_proj.weight", True),
    "self_attention.attention.norm_Q.weight": ("self_attn.q_norm.weight", False),
    "self_attention.attention.norm_K.weight": ("self_attn.k_norm.weight", False),
    "feed_forward.norm.weight": ("post_attention_layernorm.weight", False),
    "feed_forward.feed_forward.gate.weight": ("mlp.gate_proj.weight", False),
    "feed_forward.feed_forward.up.weight": ("mlp.up_proj.weight", False),
    "feed_forward.feed_forward.down.weight": ("mlp.down_proj.weight", False),
}
REST = {
    "embedding.weight": "model.embed_tokens.weight",
    "norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}


def config_from(theirs):
    """The LanguageModelConfig of a LlamaConfig or Qwen3Config.

    Raises ValueError for another kind of model, and for an option that ours does not have.
    """
    if theirs.model_type not in HAS_QK_NORM:
        raise ValueError(
            f"model_type is {theirs.model_type!r}; ours reads {' and '.join(HAS_QK_NORM)}."
        )
    rope, known = theirs.rope_parameters, "silu"
    missing = {
        "hidden_act": theirs.hidden_act != known,
        "attention_bias": theirs.attention_bias,
        "mlp_bias": getattr(theirs, "mlp_bias", False),
        "rope_type": rope["rope_type"] != "default",
        "use_sliding_window": getattr(theirs, "use_sliding_window", False),
    }
    if any(missing.values()):
        names = ", ".join(name for name, there in missing.items() if there)
        raise ValueError(f"Our model has no place for what this one sets: {names}.")
    return LanguageModelConfig(
        vocab_size=theirs.vocab_size,
        d_model=theirs.hidden_size,
        num_layers=theirs.num_hidden_layers,
        num_heads=theirs.num_attention_heads,
        d_ff=theirs.intermediate_size,
        max_len=theirs.max_position_embeddings,
        dropout=0.0,
        positions="rope",
        norm_first=True,
        norm="rms",
        feed_forward="swiglu",
        bias=False,
        num_kv_heads=theirs.num_key_value_heads,
        d_k=theirs.head_dim,
        qk_norm=HAS_QK_NORM[theirs.model_type],
        rope_base=rope["rope_theta"],
        eps=theirs.rms_norm_eps,
        tied=theirs.tie_word_embeddings,
        scale_embedding=False,
        pad=theirs.pad_token_id,
    )


def names_of(model):
    """Each name in our state dict -> (theirs, whether it is turned on its side)."""
    found = {}
    for name in model.state_dict():
        if name in REST:
            found[name] = REST[name], False
        else:
            _, number, part = name.split(".", 2)  # layers.0.what
            theirs, turned = LAYER[part]
            found[name] = f"model.layers.{number}.{theirs}", turned
    return found


def copied(tensor, turned):
    """A copy of a tensor, or of its transpose."""
    return (tensor.T if turned else tensor).clone(memory_format=torch.contiguous_format)


def from_llama(config, weights):
    """A LanguageModel from their configuration and state dict, in the weights' dtype, eval mode.

    Raises ValueError as `config_from` does, and for weights that are missing or left over.
    """
    ours = config_from(config)
    with torch.device("meta"):
        model = LanguageModel(ours)
    names = names_of(model)
    wanted = {theirs for theirs, _ in names.values()}
    left = weights.keys() - wanted - ({REST["output.weight"]} if ours.tied else set())
    if wrong := sorted(left) + sorted(wanted - weights.keys()):
        raise ValueError(f"These weights are left over or missing: {', '.join(wrong)}.")
    state = {name: copied(weights[theirs], turned) for name, (theirs, turned) in names.items()}
    model.load_state_dict(state, assign=True)
    return model.requires_grad_().eval()


def to_llama(model):
    """Our model's weights as a state dict for theirs."""
    state = model.state_dict()
    theirs = {name: copied(state[ours], turned) for ours, (name, turned) in names_of(model).items()}
    if model.config.tied:
        theirs[REST["output.weight"]] = theirs[REST["embedding.weight"]]
    return theirs
