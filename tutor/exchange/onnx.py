"""A model that leaves home: ONNX files that run without PyTorch and without tutor (chapter 17).

encoder.onnx        source ids -> keys and values of the source, for every decoder layer
decoder_step.onnx   newest ids, keys and values so far -> logits of the next token
tokenizer.json      the format of the `tokenizers` library
translator.json     what a program needs besides: ids, limits and sizes

`examples/translate_with_onnx.py` is such a program. The names of the tensors are in `export`. A
language model has one graph, step.onnx, and language_model.json; see `export_language_model`.
"""

import copy
import logging
import math
import os
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from tutor import language_model
from tutor.attention import PAD, padding_mask
from tutor.cache import Cache
from tutor.decoding import EXTRA_TOKENS
from tutor.text.tokenizer import BOS, EOS, UNK
from tutor.training.checkpoint import WEIGHTS, write_json, writing_into

ONNX_FORMAT_VERSION = 1
ENCODER_FILE, STEP_FILE, TOKENIZER_FILE, SETTINGS_FILE = ONNX_FILES = (
    "encoder.onnx", "decoder_step.onnx", "tokenizer.json", "translator.json",
)  # fmt: skip
LANGUAGE_FILES = "step.onnx", TOKENIZER_FILE, "language_model.json"


def export(translator, folder):
    """Write a Translator into `folder` as the files above, float32; equal models, equal bytes.

    encoder.onnx: source_ids (N, S) -> memory_K (L, N, h, S, d_k) and memory_V (L, N, h, S, d_v).
    decoder_step.onnx: ids (N, 1), the newest tokens; source_ids; memory_K; memory_V; past_K
    (L, N, h, t, d_k) and past_V (L, N, h, t, d_v), of the t tokens before -> logits (N,
    vocab_size), K and V, which are past_K and past_V of the next step. N, S and t are free, t
    begins with 0. Ids are int64, padded with `pad`; all else is float32.
    Needs the packages onnx and onnxscript, else ImportError. Raises ValueError for a folder that
    holds a model, OSError where the folder cannot be written.
    """
    with all_or_none(folder, ONNX_FILES) as scratch:
        write_files(translator, scratch)


def export_language_model(model, tokenizer, folder):
    """Write a LanguageModel and its Tokenizer into `folder`, as `export` writes a Translator.

    step.onnx: ids (N, T), the newest tokens, none of them padding; past_K (L, N, h_kv, t, d_k) and
    past_V (L, N, h_kv, t, d_v), of the t tokens before -> logits (N, vocab_size) of what follows
    the last one, K and V, which are past_K and past_V of the next step. N, T and t are free, t
    begins with 0: the first step may read a whole prompt. Raises as `export` does, and ValueError
    for what no graph holds.
    """
    c, why = model.config, None
    gigabytes = 4e-9 * sum(parameter.numel() for parameter in model.parameters())
    if gigabytes > 2:
        why = f"it has {gigabytes:.1f} GB in float32, and one file of ONNX holds 2"
    elif (c.rope_scaling or {}).get("rope_type") == "dynamic":
        why = 'the speeds of "dynamic" RoPE depend on how long a text is, those of a graph do not'
    elif c.positions == "alibi" and c.unturned:
        why = "its keys have one column more in the layers with ALiBi than in those without"
    if why:
        raise ValueError(f"This language model is not written as ONNX: {why}.")
    with all_or_none(folder, LANGUAGE_FILES) as scratch:
        write_language_files(model, tokenizer, scratch)


@contextmanager
def all_or_none(folder, names):
    """A new folder for the files of these names, which then move into `folder`."""
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"Exporting needs a package that is missing ({error}): run "
            "`python -m pip install onnx onnxscript`."
        ) from None
    folder = Path(folder).expanduser().resolve()
    others = {WEIGHTS, ONNX_FILES[-1], LANGUAGE_FILES[-1]} - set(names)
    if any((folder / name).exists() for name in others):
        raise ValueError(
            f"{folder} holds a model, whose tokenizer an export would replace: choose another "
            "folder."
        )
    with writing_into(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Whatever fails, files that are already there stay as they were.
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as scratch:
            yield Path(scratch)
            for name in names:
                os.replace(Path(scratch, name), folder / name)


def write_files(translator, folder):
    """Write all of ONNX_FILES into a folder that is there."""
    # A copy, so that the caller's model keeps its place, its dtype and its mode.
    model = copy.deepcopy(translator.model).to("cpu", torch.float32)
    c, N, S, t = model.config, 2, 3, 2  # an example of each size; 0 and 1 would be special
    attention = model.decoder.layers[0].self_attention.attention
    d_k, d_v = attention.d_k, attention.d_v
    source_ids = torch.ones(N, S, dtype=torch.int64)  # (N, S)

    def kept(length, d):
        return torch.zeros(c.num_layers, N, c.num_heads, length, d)  # (L, N, h, length, d)

    inputs = {"source_ids": (source_ids, {0: "N", 1: "S"})}
    graph = to_onnx(EncoderGraph(model), inputs, ["memory_K", "memory_V"])
    (folder / ENCODER_FILE).write_bytes(graph)

    newest_ids = torch.ones(N, 1, dtype=torch.int64)  # (N, 1)
    inputs = {"ids": (newest_ids, {0: "N"}), **inputs}
    for name, length, size in (("memory", S, "S"), ("past", t, "t")):
        inputs[f"{name}_K"] = kept(length, d_k), {1: "N", 3: size}
        inputs[f"{name}_V"] = kept(length, d_v), {1: "N", 3: size}
    graph = to_onnx(StepGraph(model), inputs, ["logits", "K", "V"])
    (folder / STEP_FILE).write_bytes(graph)

    translator.tokenizer.save(folder / TOKENIZER_FILE)
    about = {
        "format_version": ONNX_FORMAT_VERSION,
        "prefix": " ",  # stands before every text, and is taken off a translation
        "pad": PAD, "bos": BOS, "eos": EOS,
        "never_written": [PAD, UNK, BOS],
        "max_len": c.max_len,  # tokens that source and translation may have, [EOS] included
        "extra": EXTRA_TOKENS,  # tokens that a translation may be longer than its source
        "vocab_size": c.vocab_size, "num_layers": c.num_layers, "num_heads": c.num_heads,
        "d_k": d_k, "d_v": d_v,
    }  # fmt: skip
    write_json(folder / SETTINGS_FILE, about)


def write_language_files(model, tokenizer, folder):
    """Write all of LANGUAGE_FILES into a folder that is there."""
    model = copy.deepcopy(model).to("cpu", torch.float32)
    c, N, T, t = model.config, 2, 3, 2  # an example of each size
    d_v, h_kv = model.layers[0].self_attention.attention.d_v, c.num_kv_heads or c.num_heads
    d_k = d_v + (c.positions == "alibi")  # its column
    inputs = {"ids": (torch.ones(N, T, dtype=torch.int64), {0: "N", 1: "T"})}
    for name, d in (("past_K", d_k), ("past_V", d_v)):
        inputs[name] = torch.zeros(c.num_layers, N, h_kv, t, d), {1: "N", 3: "t"}
    graph = to_onnx(LanguageGraph(model), inputs, ["logits", "K", "V"])
    (folder / LANGUAGE_FILES[0]).write_bytes(graph)

    tokenizer.save(folder / TOKENIZER_FILE)
    about = {
        "format_version": ONNX_FORMAT_VERSION,
        "prefix": " ", "bos": BOS, "eos": EOS, "never_written": [PAD, UNK, BOS],
        "max_len": c.max_len,  # tokens that the model reads, [BOS] included
        "vocab_size": c.vocab_size, "num_layers": c.num_layers, "num_kv_heads": h_kv,
        "d_k": d_k, "d_v": d_v,
    }  # fmt: skip
    write_json(folder / LANGUAGE_FILES[-1], about)


def to_onnx(graph, inputs, outputs):
    """The bytes of a module as ONNX. inputs: name -> (example, its free sizes by axis)."""
    with quiet():
        program = torch.onnx.export(
            graph.eval(),
            tuple(example for example, _ in inputs.values()),
            input_names=list(inputs),
            output_names=outputs,
            dynamic_shapes=tuple(sizes for _, sizes in inputs.values()),
            verbose=False,
        )
        proto = program.model_proto
    nodes = list(without_cosine(proto.graph.node))
    proto.graph.ClearField("node")
    proto.graph.node.extend(nodes)
    # Notes of the exporter, never read, with paths of this machine in them.
    proto.graph.ClearField("value_info")
    for part in (proto, proto.graph, *proto.graph.node, *proto.graph.initializer,
                 *proto.graph.input, *proto.graph.output):  # fmt: skip
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    return proto.SerializeToString(deterministic=True)


def without_cosine(nodes):
    """cos x = sin(x + π / 2): ONNX Runtime 1.23 (Python 3.10) has no cosine in float64."""
    from onnx import TensorProto, helper

    for node in nodes:
        if node.op_type == "Cos":  # of the angles, which are float64
            half_pi, sum_ = f"{node.name}_half_pi", f"{node.name}_sum"
            value = helper.make_tensor("", TensorProto.DOUBLE, (), [math.pi / 2])
            yield helper.make_node("Constant", [], [half_pi], value=value)
            yield helper.make_node("Add", [node.input[0], half_pi], [sum_])
            node = helper.make_node("Sin", [sum_], node.output, name=node.name)
        yield node


@contextmanager
def quiet():
    """The exporter reports on itself: packages it can do without, names it will change."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


class EncoderGraph(nn.Module):
    """All that is computed once a sentence. Called as (source_ids), (N, S)."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, source_ids):
        memory = self.model.encode(source_ids)  # (N, S, d_model)
        K, V = zip(
            *(
                layer.cross_attention.attention.project_keys_values(memory)
                for layer in self.model.decoder.layers
            ),
            strict=True,
        )
        return torch.stack(K), torch.stack(V)  # (L, N, h, S, d_k), (L, N, h, S, d_v)


class StepGraph(nn.Module):
    """What is computed again for each token; see `export`."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, source_ids, memory_K, memory_V, past_K, past_V):
        layers = [GivenLayer(*x) for x in zip(past_K, past_V, memory_K, memory_V, strict=True)]
        cache = GivenCache(padding_mask(source_ids))
        X = self.model.embed(ids, start=past_K.shape[3])  # (N, 1, d_model)
        for layer, kept in zip(self.model.decoder.layers, layers, strict=True):
            X = cache.layer_step(layer, kept, X)
        E = self.model.logits(self.model.decoder.norm(X))  # (N, 1, vocab_size)
        K = torch.stack([kept.K for kept in layers])  # (L, N, h, t + 1, d_k)
        V = torch.stack([kept.V for kept in layers])  # (L, N, h, t + 1, d_v)
        return E[:, 0], K, V


class GivenCache(Cache):
    """A Cache of one beam that keeps nothing: its layers' keys and values come from outside."""

    def __init__(self, memory_mask):
        self.beams, self.memory_mask = 1, memory_mask  # (N, 1, 1, S)


class GivenLayer:
    """A LayerCache whose tensors come from outside: K, V (N, h, t, ...), memory (N, h, S, ...)."""

    def __init__(self, K, V, memory_K, memory_V):
        self.K, self.V, self.memory_K, self.memory_V = K, V, memory_K, memory_V

    def append(self, K, V):
        """Add keys and values of the newest token, (N, h, 1, d_k and d_v)."""
        self.K = torch.cat([self.K, K], dim=2)  # (N, h, t + 1, d_k)
        self.V = torch.cat([self.V, V], dim=2)  # (N, h, t + 1, d_v)


class LanguageGraph(nn.Module):
    """What a language model computes for its newest tokens; see `export_language_model`."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, past_K, past_V):
        cache = language_model.Cache(self.model)
        cache.ids = ids.new_ones(past_K.shape[1], past_K.shape[3])  # (N, t), any words
        cache.padding = cache.ids == PAD
        for kept, K, V in zip(cache.layers, past_K, past_V, strict=True):
            kept.K, kept.V, kept.window = K, V, None  # one t for all layers; masks cut the windows
        Y = self.model.read(ids, cache=cache)  # (N, T, d_model)
        K = torch.stack([kept.K for kept in cache.layers])  # (L, N, h_kv, t + T, d_k)
        V = torch.stack([kept.V for kept in cache.layers])  # (L, N, h_kv, t + T, d_v)
        return self.model.logits(Y[:, -1]), K, V
