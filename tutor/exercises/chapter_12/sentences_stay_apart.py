"""Sentences that read each other."""

import torch
from torch import nn

from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_11.shared import filled


def _turned(before, after=None):
    """The layer, whose inputs are turned by `before` and whose result by `after`."""

    def run(layer, X, memory):
        return (after or before)(layer(before(X), before(memory)))

    return run


def _swap(X):
    return X.transpose(0, 1)


def _refill(X):
    return X.reshape(X.shape[1], X.shape[0], X.shape[2])


def _cases_of_layers():
    for N, T, S, d_model in [(1, 2, 2, 2), (2, 3, 3, 4), (3, 2, 4, 4), (2, 2, 2, 4), (2, 5, 3, 6)]:
        layer = nn.TransformerDecoderLayer(d_model, 2, 5)  # sequence first
        yield filled(layer), torch.randn(N, T, d_model), torch.randn(N, S, d_model)


sentences_stay_apart = Exercise(
    name="sentences_stay_apart",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="Sentences that read each other",
    goal="Feed a layer that wants the sequence first.",
    difficulty=2,
    importance=5,
    minutes=5,
    text="""\
A decoder layer was built long ago, without `batch_first=True`, and trained. Your data are batch
first. Where source and target are equally long there is no error, and yet a translation depends on
the other sentences of the batch. **Find the mistake and mend it**, without building another
layer.""",
    hints=(
        "What does the layer take for a word, and what for a sentence, if it is given (N, T, "
        "d_model)?",
        "It wants (T, N, d_model) and (S, N, d_model), and gives back (T, N, d_model). Your caller "
        "wants (N, T, d_model).",
        "`X.transpose(0, 1)` swaps the first two dimensions. It is needed three times.",
    ),
    stub='''\
def sentences_stay_apart(layer, X, memory):
    """A decoder layer on a batch. It has a mistake: find it and mend it.

    layer: nn.TransformerDecoderLayer built without batch_first, in eval mode
    X: float tensor (N, T, d_model)
    memory: float tensor (N, S, d_model)
    Returns float tensor (N, T, d_model)
    """
    return layer(X, memory)
''',
    solution='''\
def sentences_stay_apart(layer, X, memory):
    """A decoder layer on a batch.

    layer: nn.TransformerDecoderLayer built without batch_first, in eval mode
    X: float tensor (N, T, d_model)
    memory: float tensor (N, S, d_model)
    Returns float tensor (N, T, d_model)
    """
    Y = layer(X.transpose(0, 1), memory.transpose(0, 1))  # (T, N, d_model)
    return Y.transpose(0, 1)  # (N, T, d_model)
''',
    because="The test for it: change one sentence, and the others must not move.",
    reference=_turned(_swap),
    cases=_cases_of_layers,
    mistakes=(
        (
            "As it was: the layer takes sentences for words, and sentences attend to each other.",
            lambda layer, X, memory: layer(X, memory),
        ),
        (
            "The result is not turned back: it has the shape (T, N, d_model).",
            _turned(_swap, lambda Y: Y),
        ),
        (
            "`reshape` and `view` change the shape in the order of memory, so that words of "
            "different sentences are mixed; `transpose` swaps dimensions.",
            _turned(_refill),
        ),
        (
            "The inputs are turned rightly, but the way back is a `reshape` or `view`, which "
            "mixes the words; use `transpose`.",
            _turned(_swap, _refill),
        ),
        (
            "Only X is turned: the memory needs it too, or the layer sees other sentences there.",
            lambda layer, X, memory: _swap(layer(_swap(X), memory)),
        ),
        (
            "Only the memory is turned: X needs it too.",
            lambda layer, X, memory: layer(X, _swap(memory)),
        ),
        (
            "You swap words with columns. The layer wants words and sentences swapped, the first "
            "two dimensions.",
            _turned(lambda X: X.mT),
        ),
        (
            "X and memory have changed places: the layer's first argument asks, the second "
            "answers.",
            lambda layer, X, memory: _swap(layer(_swap(memory), _swap(X))),
        ),
        (
            "All sentences have become a single long one, in which all words see each other.",
            lambda layer, X, memory: layer(X.flatten(0, 1), memory.flatten(0, 1)).view(X.shape),
        ),
    ),
    wrong={
        """\
def sentences_stay_apart(layer, X, memory):
    return layer(X, memory=memory)
""": "as it was",
        """\
def sentences_stay_apart(layer, X, memory):
    layer.batch_first = True
    return layer(X, memory)
""": "changes its argument `layer`",
        """\
def sentences_stay_apart(layer, X, memory):
    return layer(X.permute(1, 0, 2), memory.permute(1, 0, 2))
""": "not turned back",
        """\
def sentences_stay_apart(layer, X, memory):
    N, T, d_model = X.shape
    Y = layer(X.view(T, N, d_model), memory.view(-1, N, d_model))
    return Y.view(N, T, d_model)
""": "order of memory",
        """\
def sentences_stay_apart(layer, X, memory):
    Y = layer(X.swapaxes(0, 1), memory.swapaxes(0, 1))
    return Y.reshape(X.shape)
""": "the way back",
        """\
def sentences_stay_apart(layer, X, memory):
    X = X.permute(1, 0, 2)
    return layer(X, memory).permute(1, 0, 2)
""": "Only X is turned",
        """\
def sentences_stay_apart(layer, X, memory):
    memory = memory.permute(1, 0, 2)
    return layer(X, memory)
""": "Only the memory",
        """\
def sentences_stay_apart(layer, X, memory):
    return layer(X.transpose(-2, -1), memory.transpose(-2, -1)).transpose(-2, -1)
""": "words with columns",
        """\
def sentences_stay_apart(layer, X, memory):
    N, T, d_model = X.shape
    Y = layer(X.reshape(1, N * T, d_model)[0], memory.reshape(1, -1, d_model)[0])
    return Y.reshape(N, T, d_model)
""": "single long one",
        """\
def sentences_stay_apart(layer, X, memory):
    layer.self_attn.batch_first = layer.multihead_attn.batch_first = True
    return layer(X, memory)
""": "changes its argument `layer`",
    },
    right=(
        """\
def sentences_stay_apart(layer, X, memory):
    return torch.stack([layer(x, m) for x, m in zip(X, memory)])  # one sentence at a time
""",
        """\
def sentences_stay_apart(layer, X, memory):
    Y = layer(torch.einsum("ntd->tnd", X), torch.einsum("nsd->snd", memory))
    return torch.einsum("tnd->ntd", Y)
""",
        """\
def sentences_stay_apart(layer, X, memory):
    columns = [layer(X[n, :, None], memory[n, :, None]) for n in range(len(X))]  # (T, 1, d_model)
    return torch.cat(columns, dim=1).permute(1, 0, 2)
""",
        """\
def sentences_stay_apart(layer, X, memory):
    import copy

    layer = copy.deepcopy(layer)
    layer.self_attn.batch_first = layer.multihead_attn.batch_first = True
    return layer(X, memory)
""",
    ),
)
