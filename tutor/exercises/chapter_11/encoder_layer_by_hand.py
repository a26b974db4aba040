"""PyTorch's encoder layer in your own order."""

import torch
from torch import nn

from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_11.shared import filled, warm_up


def _encoder_layer(layer, X, padding):
    return layer(X, src_key_padding_mask=padding)


def _with_parts(**parts):
    """The layer with other parts: each value takes the layer and returns the part."""

    def run(layer, X, padding):
        new = {name: part(layer) for name, part in parts.items()}
        for name, part in new.items():
            setattr(layer, name, part)  # known mistakes run on copies
        return _encoder_layer(layer, X, padding)

    return run


def _steps(residual_1="own", residual_2="own"):
    """The layer step by step, with other summands: "input" (of the layer), "found" (by the
    attention), "normed" (what a norm gave the sub-layer), "none"."""

    def run(layer, X, padding):
        given, first = X, layer.norm_first
        Z = layer.norm1(X) if first else X
        found = layer.self_attn(Z, Z, Z, key_padding_mask=padding, need_weights=False)[0]
        summands = {"own": X, "normed": Z, "none": torch.zeros_like(X)}
        X = found + summands[residual_1]
        X = X if first else layer.norm1(X)
        Z = layer.norm2(X) if first else X
        summands = {"own": X, "normed": Z, "input": given, "found": found}
        summands["none"] = torch.zeros_like(X)
        X = layer.linear2(layer.linear1(Z).relu()) + summands[residual_2]
        return X if first else layer.norm2(X)

    return run


def _in_one_order(first):
    """The second residual of one order adds the input of the layer."""

    def run(layer, X, padding):
        return _steps(residual_2="input" if layer.norm_first == first else "own")(layer, X, padding)

    return run


def _without_biases(layer, X, padding):
    with torch.no_grad():
        for part in (layer.linear1, layer.linear2):
            part.bias.zero_()
    return _encoder_layer(layer, X, padding)


def _cases_of_layers():
    warm_up()
    for norm_first in (False, True):
        for N, S, d_model, num_heads, d_ff in [(1, 2, 2, 1, 3), (1, 3, 4, 2, 5), (2, 5, 6, 3, 4)]:
            layer = nn.TransformerEncoderLayer(
                d_model, num_heads, d_ff, batch_first=True, norm_first=norm_first
            )
            real = torch.randint(1, S, (N, 1))  # tokens of each sentence; the rest is padding
            yield filled(layer), torch.randn(N, S, d_model), torch.arange(S) >= real


encoder_layer_by_hand = Exercise(
    name="encoder_layer_by_hand",
    chapter="11",
    section="The encoder layer, rebuilt",
    kind=WRITE,
    title="PyTorch's encoder layer in your own order",
    goal="Put the parts of a layer together in both orders, with the right residuals.",
    difficulty=4,
    importance=5,
    minutes=8,
    text="""\
Write what `nn.TransformerEncoderLayer` does in `eval` mode, from its parts, in both orders. The
work of the two sub-layers is there: `attend` and `feed`. What is missing is what surrounds them:
the norms and what each sub-layer keeps. You may not call the layer itself.""",
    hints=(
        "In the paper's order, without `norm_first`: attend, keep, `norm1`, feed, keep, `norm2`.",
        "In the other order a sub-layer is `X = X + work(norm(X))`. What is kept is X itself, not "
        "`norm(X)`.",
        "Paper: `X = layer.norm1(X + attend(X))`, then `layer.norm2(X + feed(X))`. Other: "
        "`X = X + attend(layer.norm1(X))`, then `X + feed(layer.norm2(X))`.",
    ),
    stub='''\
def encoder_layer_by_hand(layer, X, padding):
    """What an encoder layer computes; `layer.norm_first` says in which order. (N, S, d_model)."""

    def attend(Z):
        return layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]

    def feed(Z):
        return layer.linear2(layer.linear1(Z).relu())

    return ...  # five lines in place of this one, with layer.norm1 and layer.norm2
''',
    solution="""\
def encoder_layer_by_hand(layer, X, padding):
    def attend(Z):
        return layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]

    def feed(Z):
        return layer.linear2(layer.linear1(Z).relu())

    if layer.norm_first:
        X = X + attend(layer.norm1(X))
        return X + feed(layer.norm2(X))
    X = layer.norm1(X + attend(X))
    return layer.norm2(X + feed(X))
""",
    because="Compared on layers whose every parameter is random; fresh ones hide slips.",
    reference=_encoder_layer,
    cases=_cases_of_layers,
    forbidden=(nn.TransformerEncoderLayer.forward, torch._transformer_encoder_layer_fwd),
    mistakes=(
        (
            "`norm1` is used twice and `norm2` never. On a fresh layer nobody would see it.",
            _with_parts(norm2=lambda layer: layer.norm1),
        ),
        (
            "Your norms are exchanged: `norm1` belongs to attention, `norm2` to feed-forward.",
            _with_parts(norm1=lambda layer: layer.norm2, norm2=lambda layer: layer.norm1),
        ),
        (
            "Your layer has one order only, that of the paper; `layer.norm_first` asks for the "
            "other one.",
            _with_parts(norm_first=lambda layer: False),
        ),
        (
            "Your layer has one order only, with each norm before its work; where "
            "`layer.norm_first` is False, the norm comes after the sum.",
            _with_parts(norm_first=lambda layer: True),
        ),
        (
            "Your orders are exchanged: `norm_first=True` means a norm before each work.",
            _with_parts(norm_first=lambda layer: not layer.norm_first),
        ),
        (
            "The second residual adds what attention found. It must add what the feed-forward's "
            "sub-layer was given.",
            _steps(residual_2="found"),
        ),
        (
            "The second residual adds the input of the layer. It must add what the feed-forward's "
            "sub-layer was given.",
            _steps(residual_2="input"),
        ),
        *(
            (
                "One of the two orders is right. In the other, the second residual adds the input "
                "of the layer: add what the feed-forward's sub-layer was given.",
                _in_one_order(first),
            )
            for first in (True, False)
        ),
        ("The residuals are missing: add what each sub-layer was given.", _steps("none", "none")),
        ("The first residual is missing: add X to what attention found.", _steps("none")),
        (
            "The second residual is missing: add to the feed-forward's result what its sub-layer "
            "was given.",
            _steps(residual_2="none"),
        ),
        (
            "With `norm_first=True` your residuals add what the norm returned, so that X itself is "
            "lost. Add X from before the norm.",
            _steps("normed", "normed"),
        ),
        (
            "The ReLU between the two linear layers is missing.",
            _with_parts(activation=lambda layer: nn.Identity()),
        ),
        (
            "The ReLU stands behind the second linear layer; it belongs between the two.",
            _with_parts(
                activation=lambda layer: nn.Identity(),
                linear2=lambda layer: nn.Sequential(layer.linear2, nn.ReLU()),
            ),
        ),
        ("The biases of the feed-forward are missing.", _without_biases),
        (
            "The padding is not hidden: give it to the attention as `key_padding_mask`.",
            lambda layer, X, padding: layer(X),
        ),
        (
            "Your padding works the wrong way round: for `nn.MultiheadAttention`, True hides.",
            lambda layer, X, padding: _encoder_layer(layer, X, ~padding),
        ),
    ),
    wrong={
        """\
def encoder_layer_by_hand(layer, X, padding):
    def attend(Z):
        return layer.self_attn(Z, Z, Z, padding)[0]
    def feed(Z):
        return layer.linear2(F.relu(layer.linear1(Z)))
    for work in (attend, feed):
        if layer.norm_first:
            X = X + work(layer.norm1(X))
        else:
            X = layer.norm1(X + work(X))
    return X
""": "`norm2` never",
        """\
def encoder_layer_by_hand(layer, X, padding):
    outputs, _ = layer.self_attn(X, X, X, key_padding_mask=padding)
    X = layer.norm1(X + outputs)
    outputs = layer.linear2(layer.linear1(X).relu())
    return layer.norm2(X + outputs)
""": "one order only, that of the paper",
        """\
def encoder_layer_by_hand(layer, X, padding):
    Z = F.layer_norm(X, X.shape[-1:], layer.norm1.weight, layer.norm1.bias)
    X = X + layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]
    Z = F.layer_norm(X, X.shape[-1:], layer.norm2.weight, layer.norm2.bias)
    return X + layer.linear2(F.relu(layer.linear1(Z)))
""": "norm before its work; where",
        """\
def encoder_layer_by_hand(layer, X, padding):
    attend = lambda Z: layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]
    feed = lambda Z: layer.linear2(layer.linear1(Z).relu())
    if layer.norm_first:
        X = layer.norm1(X + attend(X))
        return layer.norm2(X + feed(X))
    X = X + attend(layer.norm1(X))
    return X + feed(layer.norm2(X))
""": "orders are exchanged",
        """\
def encoder_layer_by_hand(layer, X, padding):
    Z = layer.norm1(X) if layer.norm_first else X
    outputs = layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]
    if layer.norm_first:
        return outputs + layer.linear2(layer.linear1(layer.norm2(X + outputs)).relu())
    X = layer.norm1(X + outputs)
    return layer.norm2(outputs + layer.linear2(layer.linear1(X).relu()))
""": "adds what attention found",
        """\
def encoder_layer_by_hand(layer, X, padding):
    def feed(Z):
        return layer.linear2(F.relu(layer.linear1(Z)))
    if layer.norm_first:
        Z = layer.norm1(X)
        Y = X + layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]
        return X + feed(layer.norm2(Y))
    Y = layer.norm1(X + layer.self_attn(X, X, X, key_padding_mask=padding)[0])
    return layer.norm2(X + feed(Y))
""": "adds the input of the layer",
        """\
def encoder_layer_by_hand(layer, X, padding):
    attend = lambda Z: layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]
    feed = lambda Z: layer.linear2(F.relu(layer.linear1(Z)))
    if layer.norm_first:
        return feed(layer.norm2(attend(layer.norm1(X))))
    return layer.norm2(feed(layer.norm1(attend(X))))
""": "residuals are missing",
        """\
def encoder_layer_by_hand(layer, X, padding):
    works = [
        (layer.norm1, lambda Z: layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]),
        (layer.norm2, lambda Z: layer.linear2(F.relu(layer.linear1(Z)))),
    ]
    for norm, work in works:
        if layer.norm_first:
            X = norm(X)
        X = X + work(X)
        if not layer.norm_first:
            X = norm(X)
    return X
""": "what the norm returned",
        """\
def encoder_layer_by_hand(layer, X, padding):
    attend = lambda Z: layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]
    feed = nn.Sequential(layer.linear1, layer.linear2)
    if layer.norm_first:
        X = X + attend(layer.norm1(X))
        return X + feed(layer.norm2(X))
    X = layer.norm1(X + attend(X))
    return layer.norm2(X + feed(X))
""": "ReLU between",
        """\
def encoder_layer_by_hand(layer, X, padding):
    attend = lambda Z: layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]
    feed = lambda Z: F.relu(Z @ layer.linear1.weight.T) @ layer.linear2.weight.T
    if layer.norm_first:
        X = X + attend(layer.norm1(X))
        return X + feed(layer.norm2(X))
    X = layer.norm1(X + attend(X))
    return layer.norm2(X + feed(X))
""": "biases of the feed-forward",
        """\
def encoder_layer_by_hand(layer, X, padding):
    attend = lambda Z: layer.self_attn(Z, Z, Z)[0]
    feed = lambda Z: layer.linear2(layer.activation(layer.linear1(Z)))
    if layer.norm_first:
        X = X + attend(layer.norm1(X))
        return X + feed(layer.norm2(X))
    X = layer.norm1(X + attend(X))
    return layer.norm2(X + feed(X))
""": "padding is not hidden",
        """\
def encoder_layer_by_hand(layer, X, padding):
    attend = lambda Z: layer.self_attn(Z, Z, Z, key_padding_mask=~padding, need_weights=False)[0]
    feed = lambda Z: layer.linear2(layer.activation(layer.linear1(Z)))
    if layer.norm_first:
        X = X + attend(layer.norm1(X))
        return X + feed(layer.norm2(X))
    X = layer.norm1(X + attend(X))
    return layer.norm2(X + feed(X))
""": "wrong way round",
        """\
def encoder_layer_by_hand(layer, X, padding):
    Y = X + layer.self_attn(X, X, X, key_padding_mask=padding)
    return layer.norm2(layer.norm1(Y))
""": "TypeError",
        """\
def encoder_layer_by_hand(layer, X, padding):
    return layer(X, src_key_padding_mask=padding)
""": "Write its steps yourself",
        """\
def encoder_layer_by_hand(layer, X, padding):
    A, h = layer.self_attn, layer.self_attn.num_heads
    weights = (A.in_proj_weight, A.in_proj_bias, A.out_proj.weight, A.out_proj.bias)
    norms = (layer.norm1.weight, layer.norm1.bias, layer.norm2.weight, layer.norm2.bias)
    feed = (layer.linear1.weight, layer.linear1.bias, layer.linear2.weight, layer.linear2.bias)
    with torch.no_grad():
        return torch._transformer_encoder_layer_fwd(
            X, A.embed_dim, h, *weights, False, layer.norm_first, 1e-5, *norms, *feed,
            padding, 1)
""": "calls `_transformer_encoder_layer_fwd`",
        """\
def encoder_layer_by_hand(layer, X, padding):
    from threading import Thread

    found = []
    thread = Thread(target=lambda: found.append(layer(X, src_key_padding_mask=padding)))
    thread.start()
    thread.join()
    return found[0]
""": "Write its steps yourself",
        """\
def encoder_layer_by_hand(layer, X, padding):
    attend = lambda Z: layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]
    feed = lambda Z: layer.linear2(layer.linear1(Z).relu())
    if layer.norm_first:
        Y = X + attend(layer.norm1(X))
        return X + feed(layer.norm2(Y))
    Y = layer.norm1(X + attend(X))
    return layer.norm2(Y + feed(Y))
""": "One of the two orders is right",
        """\
def encoder_layer_by_hand(layer, X, padding):
    attend = lambda Z: layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]
    feed = lambda Z: layer.linear2(layer.linear1(Z).relu())
    if layer.norm_first:
        Y = X + attend(layer.norm1(X))
        return Y + feed(layer.norm2(Y))
    Y = layer.norm1(X + attend(X))
    return layer.norm2(X + feed(Y))
""": "One of the two orders is right",
    },
    right=(
        """\
def encoder_layer_by_hand(layer, X, padding):
    works = [
        (layer.norm1, lambda Z: layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]),
        (layer.norm2, lambda Z: layer.linear2(layer.activation(layer.linear1(Z)))),
    ]
    for norm, work in works:
        X = X + work(norm(X)) if layer.norm_first else norm(X + work(X))
    return X
""",
        """\
def encoder_layer_by_hand(layer, X, padding):
    def attend(Z):
        A = layer.self_attn
        Q, K, V = F.linear(Z, A.in_proj_weight, A.in_proj_bias).chunk(3, dim=-1)
        Q, K, V = (Y.unflatten(-1, (A.num_heads, -1)).transpose(1, 2) for Y in (Q, K, V))
        Y = F.scaled_dot_product_attention(Q, K, V, ~padding[:, None, None, :])
        return A.out_proj(Y.transpose(1, 2).flatten(2))

    def feed(Z):
        return F.relu(Z @ layer.linear1.weight.T + layer.linear1.bias) @ layer.linear2.weight.T

    def norm(module, Z):
        return F.layer_norm(Z, Z.shape[-1:], module.weight, module.bias, module.eps)

    b = layer.linear2.bias
    if layer.norm_first:
        X = X + attend(norm(layer.norm1, X))
        return X + feed(norm(layer.norm2, X)) + b
    X = norm(layer.norm1, X + attend(X))
    return norm(layer.norm2, X + feed(X) + b)
""",
    ),
)
