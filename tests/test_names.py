"""The names of other libraries, proved: weights of their models, loaded into PyTorch's.

The rows are read from notebooks/names.md. For each, a small model of `transformers` with random
weights fills PyTorch's modules under the names of its row, nothing is left over, and the outputs
agree.
"""

import re

import pytest
import torch
from house_rules import NOTEBOOKS
from torch import nn
from torch.nn import functional as F

from tutor.proof import equal

transformers = pytest.importorskip("transformers")

PAGE = NOTEBOOKS / "names.md"
N, S, T, D_MODEL, HEADS, D_FF, LAYERS, WORDS = 2, 6, 5, 16, 2, 24, 2, 30
SIZES = dict(
    hidden_size=D_MODEL, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=D_FF
)  # fmt: skip


def names(model):
    """The row of a model on the page: names of attention, way out, feed-forward and norms."""
    row = re.search(rf"^\| {model} \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.M)
    return [re.findall(r"`([^`]+)`", cell) for cell in row[1].split("|")]


def random(kind, **sizes):
    """Their model of a kind, with noise on every parameter, in double precision, eval mode."""
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(vocab_size=WORDS, **sizes)
    model = getattr(transformers, f"{kind}Model")(config)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) / 3)
    return model.double().eval()


def linear(part, kept="(out, in)"):
    turned = part.weight.T if kept == "(in, out)" else part.weight
    bias = {} if getattr(part, "bias", None) is None else {"bias": part.bias}
    return {"weight": turned} | bias


def load(layer, theirs, row, kept="(out, in)", cross=None):
    """Fill PyTorch's layer from theirs, by the names of the row; nothing may be left over.

    cross: the names of cross-attention and of its norm, in a decoder layer.
    """
    attention, (out,), (*_, linear1, linear2), (*_, norm1, last) = row
    of = {"linear1": linear1, "linear2": linear2, "norm1": norm1, "self_attn.out_proj": out}
    stacks = {"self_attn": attention}
    if cross:
        name, norm = cross
        of |= {"multihead_attn.out_proj": name + out.removeprefix("self_attn"), "norm2": norm}
        stacks["multihead_attn"] = [name + part.removeprefix("self_attn") for part in attention]
    of["norm3" if cross else "norm2"] = last
    state = {}
    for ours, parts in stacks.items():
        filled = [linear(theirs.get_submodule(part), kept) for part in parts]
        for p in ("weight", "bias"):
            state[f"{ours}.in_proj_{p}"] = torch.cat([part[p] for part in filled])
    for ours, name in of.items():
        part = theirs.get_submodule(name)
        for p, tensor in linear(part, "" if isinstance(part, nn.LayerNorm) else kept).items():
            state[f"{ours}.{p}"] = tensor
    layer.load_state_dict(state)  # strict: every parameter of PyTorch's is named
    used = {*sum(stacks.values(), []), *of.values()}
    assert {name.rpartition(".")[0] for name, _ in theirs.named_parameters()} == used


def encoder_layer(**options):
    layer = nn.TransformerEncoderLayer(D_MODEL, HEADS, D_FF, batch_first=True, **options)
    return layer.double().eval()


def ids(length=S):
    return torch.randint(3, WORDS, (N, length), generator=torch.Generator().manual_seed(length))


def attention_mask(length=S):
    """Hugging Face's: 1 = may be seen. The second sentence is two tokens shorter."""
    return (torch.arange(length) < torch.tensor([[length], [length - 2]])).long()


def test_bert():
    model = random("Bert", **SIZES)
    X, keep = model.embeddings(ids()), attention_mask()
    for theirs in model.encoder.layer:
        eps = theirs.output.LayerNorm.eps
        layer = encoder_layer(activation="gelu", layer_norm_eps=eps, norm_first=False)
        load(layer, theirs, names("BERT"))
        X = layer(X, src_key_padding_mask=keep == 0)
    found = model(ids(), attention_mask=keep).last_hidden_state
    assert equal(X[keep == 1], found[keep == 1])


def test_marian():
    model = random(
        "Marian", d_model=D_MODEL, encoder_layers=LAYERS, decoder_layers=LAYERS,
        encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=D_FF,
        decoder_ffn_dim=D_FF, max_position_embeddings=20, pad_token_id=0, eos_token_id=1,
        decoder_start_token_id=2, activation_function="relu", scale_embedding=True,
    )  # fmt: skip
    box = nn.Transformer(D_MODEL, HEADS, LAYERS, LAYERS, D_FF, batch_first=True).double().eval()
    box.encoder.norm = box.decoder.norm = None
    for layer, theirs in zip(box.encoder.layers, model.encoder.layers, strict=True):
        load(layer, theirs, names("Marian"))
    for layer, theirs in zip(box.decoder.layers, model.decoder.layers, strict=True):
        load(layer, theirs, names("Marian"), cross=("encoder_attn", "encoder_attn_layer_norm"))
    keep = attention_mask()

    def embed(ids, stack):
        X = stack.embed_tokens(ids) * D_MODEL**0.5
        return X + stack.embed_positions(ids.shape)

    Y = box(
        embed(ids(), model.encoder), embed(ids(T), model.decoder),
        tgt_mask=torch.ones(T, T, dtype=torch.bool).triu(1),
        src_key_padding_mask=keep == 0, memory_key_padding_mask=keep == 0,
    )  # fmt: skip
    found = model(ids(), attention_mask=keep, decoder_input_ids=ids(T)).last_hidden_state
    assert equal(Y, found)


def test_gpt2():
    model = random(
        "GPT2", n_positions=20, n_embd=D_MODEL, n_layer=LAYERS, n_head=HEADS, n_inner=D_FF,
        bos_token_id=1, eos_token_id=1,
    )  # fmt: skip
    X = model.wte(ids()) + model.wpe(torch.arange(S))
    keep = attention_mask()
    future = torch.ones(S, S, dtype=torch.bool).triu(1)
    for theirs in model.h:
        tanh = nn.GELU(approximate="tanh")
        layer = encoder_layer(activation=tanh, norm_first=True)
        load(layer, theirs, names("GPT-2"), kept="(in, out)")
        X = layer(X, src_mask=future, src_key_padding_mask=keep == 0)
    found = model(ids(), attention_mask=keep).last_hidden_state
    assert equal(model.ln_f(X)[keep == 1], found[keep == 1])
    attention = model.h[0].attn  # c_proj is square: it loads as it is, and computes something else
    wrong = nn.Linear(D_MODEL, D_MODEL).double()
    wrong.load_state_dict(linear(attention.c_proj))
    assert not equal(wrong(X), attention.c_proj(X))


def test_llama():
    """At place 0 nothing is rotated; norms and feed-forward have no place in PyTorch's layer."""
    model = random("Llama", max_position_embeddings=20, **SIZES)
    X, eps = model.embed_tokens(ids()), model.config.rms_norm_eps
    future, keep = torch.ones(S, S, dtype=torch.bool).triu(1), attention_mask()

    def norm(theirs, X):
        return F.rms_norm(X, (D_MODEL,), theirs.weight, eps)

    for theirs in model.layers:
        stacked, (out,), feed_forward, norms = names("Llama")
        assert {name.rpartition(".")[0] for name, _ in theirs.named_parameters()} == {
            *stacked, out, *feed_forward, *norms,
        }  # fmt: skip
        norm1, norm2 = map(theirs.get_submodule, norms)
        gate, up, down = map(theirs.get_submodule, feed_forward)
        attention = nn.MultiheadAttention(D_MODEL, HEADS, bias=False, batch_first=True).double()
        attention.load_state_dict(
            {
                "in_proj_weight": torch.cat([theirs.get_submodule(n).weight for n in stacked]),
                "out_proj.weight": theirs.get_submodule(out).weight,
            }
        )
        Z = norm(norm1, X)
        X = X + attention(Z, Z, Z, attn_mask=future, key_padding_mask=keep == 0)[0]
        Z = norm(norm2, X)
        X = X + down(F.silu(gate(Z)) * up(Z))
    places = torch.zeros(N, S, dtype=torch.long)
    found = model(ids(), attention_mask=keep, position_ids=places).last_hidden_state
    # their norm squares in single precision
    assert torch.allclose(norm(model.norm, X)[keep == 1], found[keep == 1], atol=1e-5)
