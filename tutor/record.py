"""Collecting the attention matrices of a forward pass."""

from contextlib import contextmanager


@contextmanager
def record_attention(model):
    """Collect the attention matrices that `model` computes inside the `with` block.

        with record_attention(model) as attention:
            model(source_ids, target_ids)
        attention["cross"][0]                      # layer 0: (N, h, T, S)

    Yields a dict from kind ("encoder", "decoder", "cross") to a list with one matrix a layer. They
    are those of the very forward pass, detached; a second pass replaces those of the first.
    """
    attention = {"encoder": [], "decoder": [], "cross": []}
    hooks = []

    def listen(kind, sub_layer):
        index = len(attention[kind])
        attention[kind].append(None)

        def keep(module, args, A):
            attention[kind][index] = A.detach()

        hooks.append(sub_layer.attention.weights.register_forward_hook(keep))

    for layer in model.modules():
        if hasattr(layer, "cross_attention"):
            listen("decoder", layer.self_attention)
            listen("cross", layer.cross_attention)
        elif hasattr(layer, "self_attention"):
            listen("encoder", layer.self_attention)
    try:
        yield attention
    finally:
        for hook in hooks:
            hook.remove()
