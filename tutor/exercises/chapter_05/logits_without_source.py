"""A language model from parts of the encoder."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tutor.attention import causal_mask, decoder_mask, padding_mask
from tutor.check.exercise import WRITE, Exercise
from tutor.encoder import EncoderLayer
from tutor.positions import sinusoidal_positions


def _score(Y, W):
    return Y @ W.T  # (N, T, vocab_size)


def _run(
    ids, W, P, layers, mask=decoder_mask, factor=math.sqrt, rows=lambda P, T: P[:T],
    places_scaled=False, order=list, feed="last", copied="", score=_score,
    around=lambda layer: layer,
):  # fmt: skip
    """The right way, with a switch for each mistake. Of several masks each layer gets its own."""
    root = math.sqrt(W.shape[-1])
    table = W.detach() if copied == "lookup" else W
    places = rows(P, ids.shape[1]) * (root if places_scaled else 1.0)
    X = Y = table[ids] * factor(W.shape[-1]) + places  # (N, T, d_model)
    masks = mask if isinstance(mask, tuple) else (mask,)
    for number, layer in enumerate(order(layers)):
        hidden = masks[min(number, len(masks) - 1)](ids)
        Y = around(layer)(X if feed == "first" else Y, hidden)
    return score(Y, W.detach() if copied == "output" else W)


def _with(**switches):
    return lambda ids, W, P, layers: _run(ids, W, P, layers, **switches)


def _scaled(Y, W):
    return _score(Y, W) * math.sqrt(W.shape[-1])


def _one(d_model):
    return 1.0


def _none(ids):
    return None


def _itself(ids):
    return torch.eye(ids.shape[1], dtype=torch.bool)


def _cases():
    for ids, vocab_size, d_model, heads, depth in [
        ([[2]], 4, 4, 1, 1),
        ([[2, 3, 1]], 5, 4, 2, 2),
        ([[2, 5, 6, 4], [2, 4, 0, 0]], 7, 6, 2, 2),
        ([[2, 5, 5, 3, 1], [2, 6, 4, 0, 0], [2, 3, 6, 1, 0]], 7, 4, 1, 3),
    ]:
        layers = nn.ModuleList(
            EncoderLayer(d_model, heads, 2 * d_model, dropout=0.0) for _ in range(depth)
        )
        for p in layers.parameters():
            if p.dim() == 1:  # norms of scale 1 and shift 0 would hide mistakes
                nn.init.normal_(p, mean=0.5)
        W = torch.randn(vocab_size, d_model) * d_model**-0.5
        yield torch.tensor(ids), W, sinusoidal_positions(8, d_model), layers.eval()


logits_without_source = Exercise(
    name="logits_without_source",
    chapter="05",
    section="The decoder layer",
    kind=WRITE,
    title="A model that only continues",
    goal="Turn the parts of a translator into a language model.",
    difficulty=3,
    importance=5,
    minutes=9,
    text="""\
A language model has no source: it reads the beginning of a text and says at every place what comes
next. So a layer of it is a decoder layer without cross-attention. Such a layer is in your hands
already. It is chapter 04's **encoder layer**, called with another mask.

Write the whole model of that kind, as GPT has it. `layers` holds encoder layers; each is called as
`layer(X, mask)`, with True where a place may not look. The rest is as in this chapter's
`Transformer`: one table for both ends, with the factor where it belongs, and places. `[PAD]` (id 0)
may stand behind a text; no place looks at it.""",
    hints=(
        "Follow `forward` in *The whole model* and cross out what belongs to the source. Which "
        "four steps are left?",
        "Embed (with the factor), add the first T rows of `P`, run the layers one after the other, "
        "compare with the table. What makes an encoder layer blind to the future?",
        "`X = W[ids] * math.sqrt(W.shape[-1]) + P[:ids.shape[1]]`, then `X = layer(X, mask)` for "
        "each layer with `mask = causal_mask(T) | padding_mask(ids)`, then a product with `W.T`.",
    ),
    setup="from tutor.attention import causal_mask, padding_mask\n",
    stub='''\
def logits_without_source(ids, W, P, layers):
    """Logits of the next token at every place, for a model without a source.

    ids: int64 tensor (N, T)
    W: float tensor (vocab_size, d_model), the table for both ends
    P: float tensor (max_len, d_model), the places; max_len >= T
    layers: encoder layers; layer(X, mask) keeps the shape of X (N, T, d_model)
    Returns Z: float tensor (N, T, vocab_size)
    """
    raise NotImplementedError
''',
    solution='''\
def logits_without_source(ids, W, P, layers):
    """Logits of the next token at every place, for a model without a source.

    ids: int64 tensor (N, T)
    W: float tensor (vocab_size, d_model), the table for both ends
    P: float tensor (max_len, d_model), the places; max_len >= T
    layers: encoder layers; layer(X, mask) keeps the shape of X (N, T, d_model)
    Returns Z: float tensor (N, T, vocab_size)
    """
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)  # (N, 1, T, T)
    X = W[ids] * math.sqrt(d_model) + P[:T]  # (N, T, d_model)
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T  # (N, T, vocab_size)
''',
    because="The layer of an encoder and that of a language model are one and the same; the mask "
    "makes the difference.",
    reference=_run,
    cases=_cases,
    gradient=True,
    mistakes=(
        (
            "Your layers get no mask: every place sees the answer to its own question.",
            _with(mask=_none),
        ),
        (
            "You hide padding alone, as an encoder does. The future must be hidden too, or each "
            "place sees its answer.",
            _with(mask=padding_mask),
        ),
        (
            "You hide the future alone. That is enough for the rows of words; but a row of padding "
            "still looks at padding.",
            _with(mask=lambda ids: causal_mask(ids.shape[1])),
        ),
        (
            "Your mask is turned over: True hides in this course.",
            _with(mask=lambda ids: ~decoder_mask(ids)),
        ),
        (
            "You joined the masks with `&`, so only what is future and padding at once is hidden. "
            "Future or padding is `|`.",
            _with(mask=lambda ids: causal_mask(ids.shape[1]) & padding_mask(ids)),
        ),
        (
            "Your mask hides the past, and lets each place see what comes next.",
            _with(mask=lambda ids: causal_mask(ids.shape[1]).T | padding_mask(ids)),
        ),
        (
            "Your mask begins one token too late: each place sees the next token, which is its "
            "answer.",
            _with(mask=lambda ids: causal_mask(ids.shape[1]).triu(2) | padding_mask(ids)),
        ),
        (
            "Your mask hides each place from itself as well, so the first one sees nothing. A "
            "place knows its own token; the answer is the next one.",
            _with(mask=lambda ids: causal_mask(ids.shape[1]) | _itself(ids) | padding_mask(ids)),
        ),
        (
            "`ids == 0` is (N, T) and meets the rows and columns of (T, T). It needs the shape (N, "
            "1, 1, T), which `padding_mask` gives.",
            _with(mask=lambda ids: causal_mask(ids.shape[1]) | (ids == 0)),
        ),
        (
            "Your mask is (N, T, T), so sentences meet heads. It needs the shape (N, 1, T, T): use "
            "`padding_mask`, or one more dimension.",
            _with(mask=lambda ids: causal_mask(ids.shape[1]) | (ids == 0)[:, None]),
        ),
        (
            "Only the first layer gets the mask. One layer that sees the future is enough for a "
            "leak.",
            _with(mask=(decoder_mask, _none)),
        ),
        (
            "Only the last layers get the mask. One layer that sees the future is enough for a "
            "leak.",
            _with(mask=(_none, decoder_mask)),
        ),
        (
            "The factor on the way in is missing: the table starts small, and places drown words.",
            _with(factor=_one),
        ),
        (
            "You multiply by d_model; the factor is its square root.",
            _with(factor=float),
        ),
        (
            "Your factor is the root of the number of tokens. It belongs to the vectors: the root "
            "of d_model, the table's columns.",
            lambda ids, W, *rest: _run(ids, W, *rest, factor=lambda _: math.sqrt(len(W))),
        ),
        (
            "You divide by the root of d_model. The table starts small, so words must grow on the "
            "way in: multiply.",
            _with(factor=lambda d_model: d_model**-0.5),
        ),
        (
            "The factor stands at the output. It belongs to the input, where words meet places.",
            _with(factor=_one, score=_scaled),
        ),
        (
            "The factor stands at both ends. It belongs to the input alone.",
            _with(score=_scaled),
        ),
        (
            "You multiply words and places by the factor. Places have their size already: add them "
            "afterwards.",
            _with(places_scaled=True),
        ),
        (
            "The places are missing.",
            _with(rows=lambda P, T: 0.0),
        ),
        (
            "The places are missing, and so is the factor on the way in.",
            _with(rows=lambda P, T: 0.0, factor=_one),
        ),
        (
            "Only your last layer counts: it reads the embeddings. Each layer must read what the "
            "one before it made.",
            _with(feed="first"),
        ),
        (
            "Only the first layer is used.",
            _with(order=lambda layers: layers[:1]),
        ),
        (
            "The layers run from the last to the first.",
            _with(order=lambda layers: list(layers)[::-1]),
        ),
        (
            "No layer is used.",
            _with(order=lambda layers: []),
        ),
        (
            "Those are probabilities. Logits are wanted: the softmax is left to the loss.",
            lambda *given: _run(*given).softmax(-1),
        ),
        (
            "Those are log-probabilities. Logits are wanted: the loss makes probabilities of them.",
            lambda *given: _run(*given).log_softmax(-1),
        ),
        (
            "Those are the vectors behind the last layer. Compare them with the table to get a "
            "score for each token.",
            _with(score=lambda Y, W: Y),
        ),
        (
            "Those are tokens. A logit is wanted for each token of the table, not the best one.",
            _with(score=lambda Y, W: _score(Y, W).argmax(-1)),
        ),
        (
            "You divide the logits by the root of d_model. The table is small already.",
            _with(score=lambda Y, W: _score(Y, W) / math.sqrt(W.shape[-1])),
        ),
        (
            "You normalise once more behind the last layer. These layers are post-norm and end "
            "with a LayerNorm.",
            _with(score=lambda Y, W: _score(F.layer_norm(Y, Y.shape[-1:]), W)),
        ),
        (
            "You cut the last token off. `ids` is what the model reads, and each token of it asks.",
            lambda ids, *rest: _run(ids[:, :-1], *rest),
        ),
        (
            "The first token gets row 1 of `P`. Places are counted from 0.",
            _with(rows=lambda P, T: P[1 : T + 1]),
        ),
        (
            "Every token gets the same row of `P`. Token t gets row t.",
            _with(rows=lambda P, T: P[T]),
        ),
        (
            "Every token gets the same row of `P`. Token t gets row t.",
            _with(rows=lambda P, T: P[T - 1]),
        ),
        (
            "You add X to the result of each layer. The residual connections are inside the layers "
            "already.",
            _with(around=lambda layer: lambda X, mask: X + layer(X, mask)),
        ),
        (
            "You return the last row alone. A logit is wanted for every place.",
            lambda *given: _run(*given)[:, -1],
        ),
        (
            "You return the last row alone. A logit is wanted for every place.",
            lambda *given: _run(*given)[:, -1:],
        ),
        (
            "The numbers are right, but the output uses a copy of the table, to which no gradient "
            "flows.",
            _with(copied="output"),
        ),
        (
            "The numbers are right, but the lookup uses a copy of the table, to which no gradient "
            "flows.",
            _with(copied="lookup"),
        ),
        (
            "At the end the vectors (N, T, d_model) meet the table (vocab_size, d_model): it must "
            "be transposed, `W.T`.",
            _with(score=lambda Y, W: Y @ W),
        ),
        (
            "`P` has more rows than the text has places: take one row for each place, the first T.",
            _with(rows=lambda P, T: P),
        ),
        (
            "You look up the rows of the ids in `P`. It has one row a place: 0, 1, 2, ...",
            lambda ids, *rest: _run(ids, *rest, rows=lambda P, T: P[ids]),
        ),
    ),
    wrong={
        """\
def logits_without_source(ids, W, P, layers):
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(0).bool() | padding_mask(ids)
    X = W[ids] * math.sqrt(W.shape[-1]) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "hides each place from itself",
        """\
def logits_without_source(ids, W, P, layers):
    T = ids.shape[1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(len(W)) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "root of the number of tokens",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X)
    return X @ W.T
""": "no mask",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "as an encoder does",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "the future alone",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = ~(causal_mask(T) | padding_mask(ids))
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "turned over",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) & padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "joined the masks",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T).T | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "hides the past",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
        mask = None
    return X @ W.T
""": "Only the first layer gets",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "way in is missing",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T * math.sqrt(d_model)
""": "stands at the output",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = (W[ids] + P[:T]) * math.sqrt(d_model)
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "words and places",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model)
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "places are missing",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        Y = layer(X, mask)
    return Y @ W.T
""": "Only your last layer",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return (X @ W.T).softmax(dim=-1)
""": "Those are probabilities",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X
""": "behind the last layer",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return (X @ W.T)[:, -1]
""": "last row alone",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T.clone().detach()
""": "the output uses a copy",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = nn.Embedding.from_pretrained(W.detach())(ids) * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "the lookup uses a copy",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W
""": "must be transposed",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "one row for each place",
        """\
def logits_without_source(ids, W, P, layers):
    T, d_model = ids.shape[1], W.shape[-1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] * math.sqrt(d_model) + P[ids]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "rows of the ids",
        """\
def logits_without_source(ids, W, P, layers):
    T = ids.shape[1]
    mask = causal_mask(T) | padding_mask(ids)
    X = W[ids] / math.sqrt(W.shape[-1]) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "You divide by the root",
        """\
def logits_without_source(ids, W, P, layers):
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(2).bool() | padding_mask(ids)
    X = F.embedding(ids, W) * math.sqrt(W.shape[-1]) + P[:T]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "one token too late",
        """\
def logits_without_source(ids, W, P, layers):
    mask = causal_mask(ids.shape[1]) | (ids == 0)
    X = F.embedding(ids, W) * math.sqrt(W.shape[-1]) + P[:ids.shape[1]]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "meets the rows and columns",
        """\
def logits_without_source(ids, W, P, layers):
    mask = causal_mask(ids.shape[1]) | (ids == 0)[:, None]
    X = F.embedding(ids, W) * math.sqrt(W.shape[-1]) + P[:ids.shape[1]]
    for layer in layers:
        X = layer(X, mask)
    return X @ W.T
""": "sentences meet heads",
        """\
def logits_without_source(ids, W, P, layers):
    mask = causal_mask(ids.shape[1]) | padding_mask(ids)
    X = F.embedding(ids, W) * math.sqrt(W.shape[-1]) + P[:ids.shape[1]]
    for layer in layers:
        X = X + layer(X, mask)
    return X @ W.T
""": "inside the layers",
    },
    right=(
        """\
from tutor.attention import decoder_mask


def logits_without_source(ids, W, P, layers):
    Y = F.embedding(ids, W) * W.size(1) ** 0.5
    Y = Y + P[torch.arange(ids.size(1))]
    for i in range(len(layers)):
        Y = layers[i](Y, mask=decoder_mask(ids))
    return F.linear(Y, W)
""",
        """\
from functools import reduce


def logits_without_source(ids, W, P, layers):
    T = ids.shape[1]
    future = torch.arange(T)[:, None] < torch.arange(T)
    hidden = future | (ids == 0)[:, None, None]
    X = F.one_hot(ids, len(W)).float() @ W * math.sqrt(W.shape[-1])
    Y = reduce(lambda X, layer: layer(X, hidden), layers, X + P[None, :T])
    return torch.einsum("ntd,vd->ntv", Y, W)
""",
        """\
def logits_without_source(ids, W, P, layers):
    rows = []
    for t in range(1, ids.shape[1] + 1):
        X = W[ids[:, :t]] * math.sqrt(W.shape[-1]) + P[:t]
        for layer in layers:
            X = layer(X, causal_mask(t) | padding_mask(ids[:, :t]))
        rows.append(X[:, -1])
    return torch.stack(rows, dim=1) @ W.T
""",
    ),
)
