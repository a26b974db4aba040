"""To PyTorch's own modules and back: the same weights in another layout (chapter 14).

    tutor                   PyTorch
    MultiHeadAttention      nn.MultiheadAttention
    EncoderLayer, Encoder   nn.TransformerEncoderLayer, nn.TransformerEncoder
    DecoderLayer, Decoder   nn.TransformerDecoderLayer, nn.TransformerDecoder
    Transformer             PyTorchTransformer: an nn.Transformer and, around it, what it lacks

Linear layers and LayerNorms are the same modules on both sides.
"""

import copy

import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F

from tutor.attention import PAD, MultiHeadAttention, causal_mask
from tutor.decoder import Decoder, DecoderLayer
from tutor.encoder import Encoder, EncoderLayer
from tutor.transformer import Transformer

THEIRS = {
    EncoderLayer: nn.TransformerEncoderLayer,
    DecoderLayer: nn.TransformerDecoderLayer,
    Encoder: nn.TransformerEncoder,
    Decoder: nn.TransformerDecoder,
}
OURS = {theirs: ours for ours, theirs in THEIRS.items()}

ENCODER_LAYER = {  # the parts of a layer of ours: their names in PyTorch's
    "self_attention.attention": "self_attn",
    "self_attention.norm": "norm1",
    "feed_forward.feed_forward.0": "linear1",
    "feed_forward.feed_forward.2": "linear2",
    "feed_forward.norm": "norm2",
}
DECODER_LAYER = ENCODER_LAYER | {
    "cross_attention.attention": "multihead_attn",
    "cross_attention.norm": "norm2",
    "feed_forward.norm": "norm3",
}
PART_NAMES = {EncoderLayer: ENCODER_LAYER, DecoderLayer: DECODER_LAYER}


def to_pytorch(ours):
    """PyTorch's module for one of ours (see the table above), with copies of its weights.

    It is batch-first and computes the same outputs and gradients, except for a sentence that is all
    padding, where PyTorch may give NaN. Its attentions have biases, which are zeros here and frozen
    so that they stay zeros. Dropout falls where ours does: PyTorch's two further places,
    the attention weights and the middle of the feed-forward, get a rate of 0.
    Post-norm stacks end without the LayerNorm that nn.Transformer adds: no scale and shift let it
    change nothing.
    Raises ValueError for heads that do not share d_model evenly, TypeError for other modules.
    """
    if type(ours) not in TO_PYTORCH:
        raise TypeError(f"PyTorch has no module of its own for a {type(ours).__name__}.")
    with torch.no_grad():
        return TO_PYTORCH[type(ours)](ours).train(ours.training)


def from_pytorch(theirs):
    """Our module for one of PyTorch's (see the table above), with copies of its weights.

    It is batch-first, however theirs was built, and computes the same outputs and gradients. Two of
    PyTorch's places of dropout have no counterpart and are left out: the attention weights and the
    middle of the feed-forward. Biases that theirs lacks (bias=False) become zeros. A stack keeps a
    final norm in either order; a whole post-norm Transformer has no place for one.
    Raises ValueError for what ours cannot compute: biases in attention that are not zero, keys or
    values of another width or more of them than tokens, another activation than ReLU, norms other
    than ours, stacks that are not as the configuration says; TypeError for other modules.
    """
    if type(theirs) not in FROM_PYTORCH:
        raise TypeError(
            f"tutor has no module for a {type(theirs).__name__}: give an attention, a layer, a "
            "stack, or an nn.Transformer inside a PyTorchTransformer."
        )
    with torch.no_grad():
        return FROM_PYTORCH[type(theirs)](theirs).train(theirs.training)


def encoder_sides(ours, mask):
    """Two functions of (X, *parameters) for a proof: our Encoder, and PyTorch's, on those tensors.

    The parameters come in the order of `ours.parameters()`; mask: a `padding_mask`. `ours` may be
    of a class with the same code, which a page has defined.
    """
    names = [name for name, _ in ours.named_parameters()]
    *sizes, norm_first = sizes_of(ours.layers[0])
    theirs = to_pytorch(Encoder(len(ours.layers), *sizes, norm_first=norm_first)).double()

    def run_ours(X, *parameters):
        return functional_call(ours, dict(zip(names, parameters, strict=True)), (X, mask))

    def run_theirs(X, *parameters):
        given = encoder_parameters(dict(zip(names, parameters, strict=True)))
        return functional_call(theirs, given, X, {"src_key_padding_mask": mask[:, 0, 0]})

    return run_ours, run_theirs


def encoder_parameters(named):
    """The parameters of an Encoder of ours, by name -> those of PyTorch's, by its names."""
    given, rest = {}, dict(named)
    for name in [name for name in named if name.endswith("attention.W_Q")]:
        layer = name.removesuffix("self_attention.attention.W_Q")
        W_Q, W_K, W_V, W_O = (
            rest.pop(f"{layer}self_attention.attention.{W}") for W in ("W_Q", "W_K", "W_V", "W_O")
        )
        stacked = torch.cat([W_Q.T, W_K.T, W_V.T])  # (3 * d_model, d_model)
        given[f"{layer}self_attn.in_proj_weight"] = stacked
        given[f"{layer}self_attn.out_proj.weight"] = W_O.T  # (d_model, d_model)
    for name, p in rest.items():
        for our_name, their_name in ENCODER_LAYER.items():
            name = name.replace(our_name, their_name)
        given[name] = p
    return given


class PyTorchTransformer(Transformer):
    """A Transformer whose stacks are those of `inside`, an nn.Transformer.

    What nn.Transformer lacks is ours: embedding, positions, masks, logits. Called like a
    Transformer, in one pass or in steps. It has no cache; `from_pytorch` makes a Transformer of it,
    which `tutor.decoding` and `tutor.training.checkpoint` take.
    Raises ValueError for an nn.Transformer that is not batch-first.
    """

    def __init__(self, config, inside):
        super().__init__(config)
        if not inside.batch_first:
            raise ValueError(
                "This nn.Transformer reads (T, N, d_model): build it with batch_first=True."
            )
        del self.encoder, self.decoder
        self.inside = inside

    def encode(self, source_ids):
        X = self.embed(source_ids)  # (N, S, d_model)
        return self.inside.encoder(X, src_key_padding_mask=source_ids == PAD)  # (N, S, d_model)

    def decode(self, target_ids, memory, memory_mask):
        X = self.embed(target_ids)  # (N, T, d_model)
        return self.inside.decoder(
            X, memory, tgt_mask=causal_mask(X.shape[1], X.device),
            tgt_key_padding_mask=target_ids == PAD, memory_key_padding_mask=memory_mask[:, 0, 0],
        )  # (N, T, d_model)  # fmt: skip


def attention_to_pytorch(ours):
    """PyTorch multiplies by W^T, and stacks the three input projections on each other."""
    d_model, columns = ours.W_Q.shape
    if not d_model == columns == ours.W_V.shape[1]:
        raise ValueError(
            f"PyTorch's heads share d_model={d_model} evenly, but these take {columns} columns "
            f"with d_k={ours.d_k} and {ours.W_V.shape[1]} with d_v={ours.d_v}: only attention "
            "without d_k and d_v of its own can be converted."
        )
    theirs = nn.MultiheadAttention(d_model, d_model // ours.d_k, batch_first=True).to(ours.W_Q)
    stacked = torch.cat([ours.W_Q.T, ours.W_K.T, ours.W_V.T])  # (3 * d_model, d_model)
    theirs.in_proj_weight.copy_(stacked)
    theirs.out_proj.weight.copy_(ours.W_O.T)  # (d_model, d_model)
    theirs.in_proj_bias.requires_grad_(False)  # zeros from the start
    theirs.out_proj.bias.requires_grad_(False)
    return theirs


def attention_from_pytorch(theirs):
    if theirs.in_proj_weight is None or theirs.bias_k is not None or theirs.add_zero_attn:
        raise ValueError(
            "tutor's attention has keys and values of width d_model, one for each token: kdim, "
            "vdim, add_bias_kv and add_zero_attn cannot be converted."
        )
    if any(bias is not None and bias.any() for bias in (theirs.in_proj_bias, theirs.out_proj.bias)):
        raise ValueError(
            "This nn.MultiheadAttention has biases that are not zero, but tutor's attention has "
            "none, like the paper's: train without them (bias=False) or with them frozen at zero."
        )
    ours = MultiHeadAttention(theirs.embed_dim, theirs.num_heads).to(theirs.in_proj_weight)
    stacked = theirs.in_proj_weight.chunk(3)
    for W, part in zip((ours.W_Q, ours.W_K, ours.W_V), stacked, strict=True):
        W.copy_(part.T)  # (d_model, d_model)
    ours.W_O.copy_(theirs.out_proj.weight.T)  # (d_model, d_model)
    return ours


def copy_plain(module):
    """A copy of a Linear or LayerNorm, the same on both sides; a bias that it lacks is zeros."""
    if isinstance(module, nn.LayerNorm) and (module.eps != 1e-5 or module.weight is None):
        raise ValueError(f"Every norm of tutor's is an nn.LayerNorm with eps=1e-05, not {module}.")
    twin = copy.deepcopy(module)
    if twin.bias is None:
        twin.bias = nn.Parameter(twin.weight.new_zeros(len(twin.weight)))
    return twin


def sizes_of(layer):
    """d_model, num_heads, d_ff, dropout and norm_first of one of our layers."""
    sub_layer, linear1 = layer.self_attention, layer.feed_forward.feed_forward[0]
    num_heads = sub_layer.attention.W_Q.shape[1] // sub_layer.attention.d_k
    dropout, norm_first = sub_layer.dropout.p, sub_layer.norm_first
    return linear1.in_features, num_heads, linear1.out_features, dropout, norm_first


def layer_to_pytorch(ours):
    kind = type(ours)
    *sizes, norm_first = sizes_of(ours)
    theirs = THEIRS[kind](*sizes, batch_first=True, norm_first=norm_first)
    theirs.dropout.p = 0.0  # the one in the middle of the feed-forward
    for our_name, name in PART_NAMES[kind].items():
        theirs.set_submodule(name, to_pytorch(ours.get_submodule(our_name)))
    return theirs


def layer_from_pytorch(theirs):
    kind, linear1 = OURS[type(theirs)], theirs.linear1
    if theirs.activation not in (F.relu, torch.relu) and not isinstance(theirs.activation, nn.ReLU):
        raise ValueError(
            f"tutor's feed-forward has a ReLU, but this layer has {theirs.activation}: it cannot "
            "be converted."
        )
    sizes = linear1.in_features, theirs.self_attn.num_heads, linear1.out_features
    ours = kind(*sizes, theirs.dropout1.p, theirs.norm_first)
    for our_name, name in PART_NAMES[kind].items():
        ours.set_submodule(our_name, from_pytorch(theirs.get_submodule(name)))
    return ours


def stack_to_pytorch(ours):
    kind, layers = type(ours), nn.ModuleList(to_pytorch(layer) for layer in ours.layers)
    # A nested tensor leaves zeros in the places of padding, and only serves post-norm inference.
    options = {"enable_nested_tensor": False} if kind is Encoder else {}
    norm = to_pytorch(ours.norm) if isinstance(ours.norm, nn.LayerNorm) else None
    theirs = THEIRS[kind](layers[0], len(layers), norm, **options)
    theirs.layers = layers
    return theirs


def stack_from_pytorch(theirs):
    layers = nn.ModuleList(from_pytorch(layer) for layer in theirs.layers)
    *sizes, norm_first = sizes_of(layers[0])
    ours = OURS[type(theirs)](len(layers), *sizes, norm_first=norm_first)
    ours.layers = layers
    ours.norm = nn.Identity() if theirs.norm is None else from_pytorch(theirs.norm)
    return ours


def transformer_to_pytorch(ours):
    c, nothing = ours.config, nn.Identity()
    inside = nn.Transformer(
        c.d_model, c.num_heads, custom_encoder=nothing, custom_decoder=nothing, batch_first=True
    )
    inside.encoder, inside.decoder = to_pytorch(ours.encoder), to_pytorch(ours.decoder)
    theirs = PyTorchTransformer(c, inside)
    theirs.embedding, theirs.positions = map(copy.deepcopy, (ours.embedding, ours.positions))
    return theirs


def transformer_from_pytorch(theirs):
    c, inside = theirs.config, theirs.inside
    ours = Transformer(c)
    ours.encoder, ours.decoder = from_pytorch(inside.encoder), from_pytorch(inside.decoder)
    wanted = (c.d_model, c.num_heads, c.d_ff, c.dropout, c.norm_first)
    for stack in (ours.encoder, ours.decoder):
        sizes = [sizes_of(layer) for layer in stack.layers]
        if sizes != [wanted] * c.num_layers:
            raise ValueError(
                f"The configuration asks for {c.num_layers} layers with d_model, num_heads, d_ff, "
                f"dropout and norm_first {wanted}, but a stack of this nn.Transformer has "
                f"{len(sizes)} with {', '.join(map(str, dict.fromkeys(sizes)))}."
            )
        if isinstance(stack.norm, nn.LayerNorm) != c.norm_first:
            raise ValueError(
                "tutor's pre-norm stacks end with a LayerNorm and its post-norm stacks with none: "
                "where nn.Transformer added one, set inside.encoder.norm = inside.decoder.norm = "
                "None before training."
            )
    ours.embedding, ours.positions = map(copy.deepcopy, (theirs.embedding, theirs.positions))
    return ours


TO_PYTORCH = {
    MultiHeadAttention: attention_to_pytorch,
    nn.Linear: copy_plain,
    nn.LayerNorm: copy_plain,
    EncoderLayer: layer_to_pytorch,
    DecoderLayer: layer_to_pytorch,
    Encoder: stack_to_pytorch,
    Decoder: stack_to_pytorch,
    Transformer: transformer_to_pytorch,
}
FROM_PYTORCH = {
    nn.MultiheadAttention: attention_from_pytorch,
    nn.Linear: copy_plain,
    nn.LayerNorm: copy_plain,
    nn.TransformerEncoderLayer: layer_from_pytorch,
    nn.TransformerDecoderLayer: layer_from_pytorch,
    nn.TransformerEncoder: stack_from_pytorch,
    nn.TransformerDecoder: stack_from_pytorch,
    PyTorchTransformer: transformer_from_pytorch,
}
