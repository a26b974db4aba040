"""A model as a folder that Hugging Face's `transformers` opens, and back (chapter 17).

    post-norm   MarianMTModel
    pre-norm    PegasusForConditionalGeneration

Their code is ours in another layout: linear layers multiply by W^T and have biases, which are zeros
here, and the table of positions has all sines first and all cosines after, where the paper
alternates. A file may hold another table, but not every program reads it. So the columns of the
residual stream are put in another order, in every tensor that reads or writes it. No column is
special, and LayerNorm does not mind: nothing changes.
"""

import copy
import json
from pathlib import Path

import tokenizers
import torch
from safetensors.torch import save

from tutor.attention import PAD
from tutor.positions import sinusoidal_positions
from tutor.text.tokenizer import BOS, EOS, SPECIAL, UNK
from tutor.training.checkpoint import (
    CONFIG,
    MAX_CONFIG,
    MAX_TOKENIZER,
    POSITIONS,
    TOKENIZER,
    WEIGHTS,
    brief,
    check_sizes_agree,
    make_tokenizer,
    open_tensors,
    read_json,
    replaced,
    write_json,
)
from tutor.transformer import Transformer, TransformerConfig, count_parameters
from tutor.translator import Translator

LARGEST_SIZE, MOST_LAYERS = (
    1_000_000,
    200,
)  # the most that a config.json may ask for: any size, the layers
GENERATION, TOKENIZER_CONFIG, MODEL_CARD = (
    "generation_config.json",
    "tokenizer_config.json",
    "README.md",
)
HUGGINGFACE_FILES = (CONFIG, GENERATION, WEIGHTS, TOKENIZER, TOKENIZER_CONFIG, MODEL_CARD)
ARCHITECTURES = {  # model_type: (architecture, norm_first)
    "marian": ("MarianMTModel", False),
    "pegasus": ("PegasusForConditionalGeneration", True),
}
# Parts of a layer of ours: their names there. Chapter 14 has them in its table.
ENCODER_PARTS = {
    "self_attention.attention": "self_attn",
    "self_attention.norm": "self_attn_layer_norm",
    "feed_forward.feed_forward.0": "fc1",
    "feed_forward.feed_forward.2": "fc2",
    "feed_forward.norm": "final_layer_norm",
}
DECODER_PARTS = ENCODER_PARTS | {
    "cross_attention.attention": "encoder_attn",
    "cross_attention.norm": "encoder_attn_layer_norm",
}
PROJECTIONS = {"W_Q": "q_proj", "W_K": "k_proj", "W_V": "v_proj", "W_O": "out_proj"}
SPECIAL_IDS = {
    "decoder_start_token_id": BOS,
    "pad_token_id": PAD,
    "bos_token_id": BOS,
    "eos_token_id": EOS,
}
CARD_TEXT = """\
---
library_name: transformers
pipeline_tag: translation
---

# {title}

A Transformer of {parameters:,} numbers: {sizes}, sinusoidal positions, one embedding table for
source, target and output. It was built with the course *The Transformer, taken apart* and is stored
as a `{architecture}`, whose logits are the same.

    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    model = AutoModelForSeq2SeqLM.from_pretrained(FOLDER)
    batch = tokenizer(["A man is riding a horse."], return_tensors="pt")
    print(tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True))

`generate` searches greedily, as `tutor translate` does; `num_beams=5` widens the search. Its length
penalty is another one: it divides a log-probability by length^a, `tutor` by ((5 + length) / 6)^a.
So the same a means another search, and beams may end with another translation here than there.
{card}"""


def export(translator, folder, card=None):
    """Write a Translator into `folder` as the HUGGINGFACE_FILES above, all or nothing.

    card: str, more text for the model card. Needs nothing but this package.
    Raises ValueError for a model that has no exact counterpart there and for a folder that holds
    something else; OSError where the folder cannot be written.
    """
    c = translator.model.config
    refuse_what_differs(c)
    tensors = to_theirs(copy.deepcopy(translator.model).to("cpu", torch.float32))
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise ValueError(f"{name} would hold numbers that are not finite: train anew.")
    with replaced(folder, HUGGINGFACE_FILES) as new:
        (new / WEIGHTS).write_bytes(save(tensors, metadata={"format": "pt"}))
        write_json(new / CONFIG, config_of(c))
        write_json(new / GENERATION, generation_of(c))
        write_tokenizer(new, translator.tokenizer, c.max_len)
        order = "pre-norm" if c.norm_first else "post-norm"
        text = CARD_TEXT.format(
            title=Path(folder).name,
            parameters=count_parameters(translator.model),
            sizes=f"{c.num_layers} + {c.num_layers} layers, d_model {c.d_model}, {c.num_heads} "
            f"heads, d_ff {c.d_ff}, {order}, {c.vocab_size:,} tokens",
            architecture=config_of(c)["architectures"][0],
            card=f"\n{card}" if card else "",
        )
        (new / MODEL_CARD).write_text(text, encoding="utf-8", newline="\n")


def refuse_what_differs(c):
    """Raise ValueError for a TransformerConfig that no model there computes exactly."""
    if c.positions != "sinusoidal":
        raise ValueError(
            "This model has learned positions, and the models of transformers that are otherwise "
            "like it have sinusoidal ones: it has no exact counterpart."
        )
    width = c.d_model / c.num_heads
    for name in ("d_k", "d_v"):
        if getattr(c, name) not in (None, width):
            raise ValueError(
                f"This model has {name}={getattr(c, name)}, and heads in transformers share "
                f"d_model evenly ({width:g} numbers each): it has no exact counterpart."
            )


def config_of(c):
    """Our TransformerConfig as the config.json of theirs."""
    kind = next(
        kind for kind, (_, norm_first) in ARCHITECTURES.items() if norm_first == c.norm_first
    )
    sizes = {"layers": c.num_layers, "attention_heads": c.num_heads, "ffn_dim": c.d_ff}
    return {
        "architectures": [ARCHITECTURES[kind][0]],
        "model_type": kind,
        "vocab_size": c.vocab_size,
        "d_model": c.d_model,
        **{f"{stack}_{name}": n for stack in ("encoder", "decoder") for name, n in sizes.items()},
        "max_position_embeddings": c.max_len,
        "dropout": c.dropout,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "activation_function": "relu",
        "scale_embedding": True,
        "tie_word_embeddings": True,
        "is_encoder_decoder": True,
        **SPECIAL_IDS,
        "forced_eos_token_id": None,
        "dtype": "float32",
    }


def generation_of(c):
    """What `generate` does unless it is told otherwise: greedy search, as ours."""
    return {
        **SPECIAL_IDS,
        "suppress_tokens": [PAD, UNK, BOS],  # never written
        "max_length": c.max_len + 1,  # [BOS] counts there
        "num_beams": 1,
        "do_sample": False,
    }


def write_tokenizer(folder, tokenizer, max_len, around="$A [EOS]"):
    """Write our Tokenizer as the two files that AutoTokenizer reads.

    It puts the space in front, and what `around` has around a text ($A), there by itself.
    """
    theirs = tokenizers.Tokenizer.from_str(tokenizer.model.to_str())
    theirs.normalizer = tokenizers.normalizers.Prepend(" ")
    theirs.post_processor = tokenizers.processors.TemplateProcessing(
        single=around, special_tokens=[(SPECIAL[BOS], BOS), (SPECIAL[EOS], EOS)]
    )
    theirs.decoder = tokenizers.decoders.Sequence(
        [tokenizers.decoders.ByteLevel(), tokenizers.decoders.Strip(" ", 1, 0)]
    )
    write_json(folder / TOKENIZER, json.loads(theirs.to_str()))
    about = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": SPECIAL[PAD],
        "unk_token": SPECIAL[UNK],
        "bos_token": SPECIAL[BOS],
        "eos_token": SPECIAL[EOS],
        "model_max_length": max_len,
        "clean_up_tokenization_spaces": False,
        "split_special_tokens": True,  # "[EOS]" typed by a reader is text like any other
    }
    write_json(folder / TOKENIZER_CONFIG, about)


# ---- weights


def columns(d_model):
    """Which column of our residual stream stands at each place of theirs: even ones, odd ones."""
    return torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])  # (d_model,)


def layout(c):
    """(our name, theirs, turned, axis) of each tensor.

    turned: theirs is our transpose. axis: where theirs has the columns of the residual stream;
    None if it has none.
    """
    yield "embedding.weight", "model.shared.weight", False, 1  # (vocab_size, d_model)
    for stack, names in (("encoder", ENCODER_PARTS), ("decoder", DECODER_PARTS)):
        if c.norm_first:
            yield from vectors(f"{stack}.norm", f"model.{stack}.layer_norm")
        for i in range(c.num_layers):
            for our_name, their_name in names.items():
                mine = f"{stack}.layers.{i}.{our_name}"
                theirs = f"model.{stack}.layers.{i}.{their_name}"
                if our_name.endswith("attention"):
                    for W, name in PROJECTIONS.items():  # what W_O writes, the others read
                        yield f"{mine}.{W}", f"{theirs}.{name}.weight", True, int(W != "W_O")
                elif their_name == "fc1":  # reads the stream
                    yield f"{mine}.weight", f"{theirs}.weight", False, 1  # (d_ff, d_model)
                    yield f"{mine}.bias", f"{theirs}.bias", False, None
                else:  # fc2, (d_model, d_ff), or a norm
                    yield from vectors(mine, theirs)


def vectors(mine, theirs):
    """The layout of a weight and a bias that both have d_model rows."""
    for p in ("weight", "bias"):
        yield f"{mine}.{p}", f"{theirs}.{p}", False, 0


def biases(c):
    """The names of the biases of attention there, which ours has not."""
    return [name.replace(".weight", ".bias") for _, name, turned, _ in layout(c) if turned]


def to_theirs(model):
    """The state dict that transformers wants, from a Transformer of ours."""
    c, order, mine = model.config, columns(model.config.d_model), model.state_dict()
    found = {}
    for our_name, name, turned, axis in layout(c):
        tensor = mine[our_name].T if turned else mine[our_name]
        found[name] = (tensor if axis is None else tensor.index_select(axis, order)).contiguous()
    for name in biases(c):
        found[name] = torch.zeros(len(found[name.replace(".bias", ".weight")]))
    for stack in ("encoder", "decoder"):
        # In double precision, so that the model is exact in whatever dtype it is opened.
        P = sinusoidal_positions(c.max_len, c.d_model, torch.float64)  # (max_len, d_model)
        found[f"model.{stack}.embed_positions.weight"] = P[:, order]
    return found


def from_theirs(found, c):
    """Our state dict from that of theirs. Raises ValueError for biases that ours has not."""
    for name in ("final_logits_bias", *biases(c)):
        if name in found and found[name].any():
            raise ValueError(f"{name} is not zero, and has no exact counterpart here.")
    back, mine = columns(c.d_model).argsort(), {}
    for our_name, name, turned, axis in layout(c):
        tensor = found[name] if axis is None else found[name].index_select(axis, back)
        mine[our_name] = (tensor.T if turned else tensor).contiguous()
    return mine


# ---- reading


def load(folder):
    """The Translator in a folder that `export` wrote, or `transformers` after more training.

    Everything is checked before memory is taken for the weights; nothing of `transformers` is
    needed. Raises FileNotFoundError for what is missing and ValueError for what is damaged, has no
    exact counterpart here, or is a link to another place.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    for name in (CONFIG, WEIGHTS, TOKENIZER):
        if (folder / name).is_symlink():
            raise ValueError(
                f"{folder / name} is a link to another place: copy the file itself into the folder."
            )
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"{folder} holds no {name}: name a folder that `python -m tutor export --to "
                "huggingface` wrote."
            )
    c = read_config(folder / CONFIG)
    tokenizer = read_tokenizer(folder / TOKENIZER)
    check_sizes_agree(c, tokenizer, folder / TOKENIZER)
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay untouched
        with torch.device("meta"):  # shapes only, no memory
            wanted = {name: t.shape for name, t in to_theirs(Transformer(c)).items()}
        path = folder / WEIGHTS
        with open_tensors(path) as file:
            check_tensors(file, wanted, path)
            found = {name: file.get_tensor(name).float() for name in file.keys()}
        model = Transformer(c)
    for name, tensor in found.items():
        if not tensor.isfinite().all():
            raise ValueError(f"{path} has numbers in {name} that are not finite: export it again.")
    look_at_copies(found, c, path)
    model.load_state_dict(from_theirs(found, c))
    return Translator(model.eval(), tokenizer)


def look_at_copies(found, c, path):
    """Raise ValueError if a tensor that can be computed from the others is not what it should be.

    Such are the shared table under its other names, and the positions.
    """
    P = sinusoidal_positions(c.max_len, c.d_model)[:, columns(c.d_model)]  # (max_len, d_model)
    for name, tensor in found.items():
        positions = name.endswith("embed_positions.weight")
        if positions or name.endswith(("embed_tokens.weight", "lm_head.weight")):
            wanted = P if positions else found["model.shared.weight"]
            if tensor.shape != wanted.shape or (tensor - wanted).abs().max() > 1e-6:
                what = "sinusoidal positions" if positions else "the shared embedding table"
                raise ValueError(f"{path} has a {name} that is not {what}: no counterpart here.")


def read_config(path):
    """The TransformerConfig that a config.json of theirs amounts to, or ValueError."""
    values = read_json(path, MAX_CONFIG)
    kind = values.get("model_type") if isinstance(values, dict) else None
    if kind not in ARCHITECTURES:
        raise ValueError(
            f"{path} describes no model that has a counterpart here (model_type "
            f"{brief(repr(kind))}): only {' and '.join(ARCHITECTURES)} do."
        )
    sizes = {}
    for ours_name, name, most in (
        ("vocab_size", "vocab_size", LARGEST_SIZE),
        ("d_model", "d_model", LARGEST_SIZE),
        ("num_layers", "layers", MOST_LAYERS),
        ("num_heads", "attention_heads", LARGEST_SIZE),
        ("d_ff", "ffn_dim", LARGEST_SIZE),
        ("max_len", "max_position_embeddings", LARGEST_SIZE),
    ):
        names = (name,) if name in values else (f"encoder_{name}", f"decoder_{name}")
        found = [values.get(n) for n in names]
        if len(set(map(repr, found))) > 1:
            raise ValueError(
                f"{path} has {names[0]} = {brief(found[0])} and {names[1]} = "
                f"{brief(found[1])}: both stacks are alike here."
            )
        if type(found[0]) is not int or not 1 <= found[0] <= most:
            raise ValueError(
                f"{path} has {names[0]} = {brief(repr(found[0]))}, which is no whole "
                f"number from 1 to {most:,}."
            )
        sizes[ours_name] = found[0]
    if sizes["max_len"] * sizes["d_model"] > POSITIONS:
        raise ValueError(
            f"{path} asks for {sizes['max_len']:,} positions of width {sizes['d_model']:,}, but "
            f"{POSITIONS:,} numbers is the most."
        )
    wanted = {
        "activation_function": "relu", "scale_embedding": True, "tie_word_embeddings": True,
        "pad_token_id": PAD, "eos_token_id": EOS, "decoder_start_token_id": BOS,
    }  # fmt: skip
    for name, value in wanted.items():
        if values.get(name) != value:
            found = brief(repr(values.get(name)))
            raise ValueError(
                f"{path} has {name} = {found}, and only {value!r} has a counterpart here."
            )
    try:
        return TransformerConfig(
            **sizes, dropout=values.get("dropout", 0.1), norm_first=ARCHITECTURES[kind][1]
        )
    except ValueError as error:
        raise ValueError(f"{path} describes no model: {brief(error)}") from None


def read_tokenizer(path):
    """Our Tokenizer with the vocabulary and merges of theirs; nothing else of the file is used."""
    values = read_json(path, MAX_TOKENIZER)
    model = values.get("model") if isinstance(values, dict) else None
    vocab, merges = (model.get(n) if isinstance(model, dict) else None for n in ("vocab", "merges"))
    return make_tokenizer(vocab, merges, path)


def check_tensors(file, wanted, path):
    """Raise ValueError unless an open safetensors file holds what its config.json asks for."""
    trouble = f"{path} and its {CONFIG} do not belong together"
    names = set(file.keys())
    optional = {"final_logits_bias", "lm_head.weight"} | {n for n in wanted if "embed_pos" in n}
    optional |= {f"model.{stack}.embed_tokens.weight" for stack in ("encoder", "decoder")}
    if missing := sorted(wanted.keys() - names - optional):
        raise ValueError(f"{trouble}: the tensor {missing[0]} is missing.")
    if unknown := sorted(names - wanted.keys() - optional):
        raise ValueError(f"{trouble}: the tensor {brief(unknown[0])} has no place in the model.")
    for name in sorted(names & wanted.keys()):
        found = file.get_slice(name)
        if found.get_shape() != list(wanted[name]):
            raise ValueError(
                f"{trouble}: {name} is {brief(found.get_shape())} instead of {list(wanted[name])}."
            )
        if found.get_dtype() not in ("F32", "F16", "BF16", "F64"):
            raise ValueError(f"{path} holds {name} as {found.get_dtype()}, which is no float.")
