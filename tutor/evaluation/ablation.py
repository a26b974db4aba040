"""Switching heads off, to see what they are worth (chapter 10)."""

from contextlib import ExitStack, contextmanager

from tutor.record import uncompiled

KINDS = ("encoder", "decoder", "cross")  # as in `tutor.record.record_attention`


def attention_of(model, kind, layer):
    """The MultiHeadAttention of one kind in one layer of a Transformer."""
    block = (model.encoder if kind == "encoder" else model.decoder).layers[layer]
    return (block.cross_attention if kind == "cross" else block.self_attention).attention


def all_heads(model):
    """Every head of a Transformer: a list of (kind, layer, head)."""
    config = model.config
    return [
        (kind, layer, head)
        for kind in KINDS
        for layer in range(config.num_layers)
        for head in range(config.num_heads)
    ]


@contextmanager
def without_heads(model, heads):
    """Inside the `with` block the given heads, a list of (kind, layer, head), add nothing.

    Their weights are replaced by 0, which is the same as a W_O whose rows of these heads are 0.
    The weights of the others stay as they are. What `torch.compile` has compiled runs uncompiled
    inside the block. Source: Michel et al. 2019, section 2.3.
    """

    def silence(head):
        def hook(module, args, A):
            A = A.clone()
            A[:, head] = 0.0
            return A

        return hook

    with ExitStack() as stack:
        for kind, layer, head in heads:
            weights = attention_of(model, kind, layer).weights
            stack.callback(weights.register_forward_hook(silence(head)).remove)
        stack.enter_context(uncompiled())
        yield
