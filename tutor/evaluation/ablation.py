"""Switching heads off, and putting one run's vectors into another (chapters 12 and 13b)."""

from collections import defaultdict
from contextlib import ExitStack, contextmanager

from tutor.attention import compute_attention_matrix
from tutor.record import uncompiled
from tutor.text.batches import make_batch

ATTENTION_KINDS = ("encoder", "decoder", "cross")  # as in `tutor.record.record_attention`


def attention_of(model, kind, layer):
    """The MultiHeadAttention of one kind in one layer of a Transformer.

    A LanguageModel is a stack of its own, whose kind is "decoder".
    """
    stack = getattr(model, "encoder" if kind == "encoder" else "decoder", model)
    block = stack.layers[layer]
    return (block.cross_attention if kind == "cross" else block.self_attention).attention


def all_heads(model):
    """Every head of a Transformer: a list of (kind, layer, head)."""
    config = model.config
    return [
        (kind, layer, head)
        for kind in ATTENTION_KINDS
        for layer in range(config.num_layers)
        for head in range(config.num_heads)
    ]


@contextmanager
def without_heads(model, heads):
    """Inside the `with` block the given heads, a list of (kind, layer, head), add nothing.

    Their weights are replaced by 0, which is the same as a W_O whose rows of these heads are 0.
    The weights of the others stay as they are. What `torch.compile` has compiled runs uncompiled
    inside the block. Raises RuntimeError at its end if a head was never used in it.
    Source: Michel et al. 2019, section 2.3.
    """
    used = set()

    def silence(place):
        def hook(module, args, A):
            used.add(place)
            A = A.clone()
            A[:, place[2]] = 0.0
            return A

        return hook

    with ExitStack() as stack:
        for kind, layer, head in heads:
            weights = attention_of(model, kind, layer).weights
            hook = weights.register_forward_hook(silence((kind, layer, head)))
            stack.callback(hook.remove)
        stack.enter_context(uncompiled())
        yield
    check_used(heads, used, "switched off")


@contextmanager
def instead(model, head, stand_in):
    """Inside the `with` block something else stands in for a head, a (kind, layer, head).

    stand_in: a function of the head's weights A (N, T, S), values V (N, S, d_v) and result Y
    (N, T, d_v), which returns the result that takes the place of Y. What `torch.compile` has
    compiled runs uncompiled inside the block. Raises RuntimeError if the head was never used in it.
    """
    kind, layer, m = head
    attention, used = attention_of(model, kind, layer), set()

    def attend(Q, K, V, mask=None):
        used.add(tuple(head))
        A = attention.weights(compute_attention_matrix(Q, K, mask))  # (N, h, T, S)
        Y = A @ V  # (N, h, T, d_v)
        Y[:, m] = stand_in(A[:, m], V[:, m], Y[:, m])
        return Y

    attention.attend = attend
    try:
        with uncompiled():
            yield
    finally:  # even after an error
        del attention.attend  # the class's own comes back
    check_used([head], used, "exchanged")


def same_length(tokenizer, pairs, least=10):
    """`Pair`s of the grammar as Batches, each of sentences of one length in either language.

    Lengths that fewer than `least` pairs share are left out.
    """
    groups = defaultdict(list)
    for ids in zip(
        tokenizer.encode([pair.english for pair in pairs]),
        tokenizer.encode([pair.french for pair in pairs]),
        strict=True,
    ):
        groups[len(ids[0]), len(ids[1])].append(ids)
    return [make_batch(group) for group in groups.values() if len(group) >= least]


def check_used(places, used, done):
    """Raise RuntimeError unless all places were used: otherwise nothing was `done` to them."""
    if idle := [tuple(place) for place in places if tuple(place) not in used]:
        raise RuntimeError(
            f"Nothing was {done} at {idle[0]}: the model did not run there inside the `with` block."
        )


SIDES = ("encoder", "decoder")


def places_of(model, side):
    """The modules of a side whose inputs are its vectors: L layers, and what follows the last."""
    if side not in SIDES:
        raise ValueError(f"A side is {' or '.join(map(repr, SIDES))}, not {side!r}.")
    stack = getattr(model, side)
    return [*stack.layers, stack.norm]


@contextmanager
def record_vectors(model):
    """Collect the vectors that the layers read inside the `with` block.

        with record_vectors(model) as vectors:
            model(source_ids, target_ids)
        vectors["encoder"][0]                      # what layer 0 reads: (N, S, d_model)

    Yields a dict from side ("encoder", "decoder") to L + 1 tensors: what each of the L layers
    reads, and what the last one returns, before the stack's final norm. A second pass replaces the
    vectors of the first. What `torch.compile` has compiled runs uncompiled inside the block.
    """
    vectors = {side: [None] * len(places_of(model, side)) for side in SIDES}

    def keep(side, layer):
        def hook(module, args):
            vectors[side][layer] = args[0].detach().clone()

        return hook

    with ExitStack() as stack:
        for side in SIDES:
            for layer, module in enumerate(places_of(model, side)):
                stack.callback(module.register_forward_pre_hook(keep(side, layer)).remove)
        stack.enter_context(uncompiled())
        yield vectors


@contextmanager
def patched(model, vectors, places):
    """Inside the `with` block the model computes with some vectors of another run.

    vectors: of the other run, as `record_vectors` yields them. places: a list of (side, layer,
    position); at each the vector that the layer reads is replaced. Layer L, behind the last, is
    what the last one returns. Both runs need tensors of one shape. What `torch.compile` has
    compiled runs uncompiled inside the block.

    Raises ValueError for a place that the model or the other run does not have and for runs of
    different shapes, and RuntimeError at the end of the block if a place was never used in it.
    Source: Vig et al. 2020; Meng et al. 2022, section 2.
    """
    used = set()

    def put(place):
        side, layer, position = place

        def hook(module, args):
            used.add(place)
            X, other = args[0], vectors[side][layer]
            if X.shape != other.shape:
                raise ValueError(
                    f"The {side} works on vectors of shape {tuple(X.shape)}, the other run had "
                    f"{tuple(other.shape)}: both runs need as many sentences and tokens."
                )
            X = X.clone()
            X[:, position] = other[:, position]
            return (X, *args[1:])

        return hook

    with ExitStack() as stack:
        for place in map(tuple, places):
            side, layer, position = place
            modules = places_of(model, side)
            if not 0 <= layer < len(modules):
                raise ValueError(f"There is no layer {layer}: 0 to {len(modules) - 1} can be read.")
            if vectors[side][layer] is None:
                raise ValueError(
                    f"The other run has no vectors of the {side}: it did not run there."
                )
            length = vectors[side][layer].shape[1]
            if not 0 <= position < length:
                raise ValueError(f"There is no position {position}: the other run has {length}.")
            hook = modules[layer].register_forward_pre_hook(put(place))
            stack.callback(hook.remove)
        stack.enter_context(uncompiled())
        yield
    check_used(places, used, "patched")
