"""Exercises of chapter 10b: bugs of the museum, met again in other clothes."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.chapter_10 import filled, warm_up
from tutor.check.exercise import MEND, Exercise
from tutor.museum import EXHIBITS

_MEAN = EXHIBITS["weights_of_one_head"]


def _by_hand(attention, X, width=None, with_bias=True):
    """The weights (N, h, T, T) from the parameters; `width` is what the root is taken of."""
    bias = attention.in_proj_bias if with_bias else None
    Q, K, _ = F.linear(X, attention.in_proj_weight, bias).chunk(3, dim=-1)
    Q, K = (Y.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2) for Y in (Q, K))
    return (Q @ K.mT / math.sqrt(width or Q.shape[-1])).softmax(-1)  # (N, h, T, T)


def _cases_of_attention():
    for N, T, d_model, num_heads in [(1, 2, 2, 2), (2, 3, 4, 2), (1, 4, 6, 3), (3, 2, 4, 1)]:
        attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
        yield filled(attention), torch.randn(N, T, d_model)


one_matrix_a_head = Exercise(
    name="one_matrix_a_head",
    chapter="10b",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="The head that cannot decide",
    goal="Get the weights of each head from PyTorch, not their mean.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
This code collects weights for heat maps, a map for each head. The maps look blurred, and a sentence
has one map only. **Find the mistake and mend it.**""",
    hints=(
        "Print the shape of what comes back for two sentences and four heads. What is missing?",
        "What does `nn.MultiheadAttention` return by default, in place of each head's weights?",
        "Its call has an argument `average_attn_weights`, which is True unless you say otherwise.",
    ),
    stub='''\
def one_matrix_a_head(attention, X):
    """The weights of each head in self-attention. It has a mistake: find it and mend it.

    attention: nn.MultiheadAttention with h heads, batch-first, in eval mode
    X: float tensor (N, T, d_model)
    Returns A: float tensor (N, h, T, T)
    """
    Y, A = attention(X, X, X, need_weights=True)
    return A
''',
    solution='''\
def one_matrix_a_head(attention, X):
    """The weights of each head in self-attention.

    attention: nn.MultiheadAttention with h heads, batch-first, in eval mode
    X: float tensor (N, T, d_model)
    Returns A: float tensor (N, h, T, T)
    """
    Y, A = attention(X, X, X, need_weights=True, average_attn_weights=False)
    return A
''',
    because="Two sharp heads that look at different words have a mean that looks at both.",
    reference=_MEAN.mended,
    cases=_cases_of_attention,
    mistakes=(
        ("As it was: the mean over the heads, which is the weights of none of them.", _MEAN.wrong),
        (
            "Now each head shows the same mean: the shape is right, and no head has these weights.",
            lambda attention, X: _MEAN.wrong(attention, X)[:, None].expand(
                -1, attention.num_heads, -1, -1
            ),
        ),
        (
            "It is still the mean, with a dimension of size 1 in front of it.",
            lambda attention, X: _MEAN.wrong(attention, X)[:, None],
        ),
        (
            "You return the attention's result; the weights come second.",
            lambda attention, X: attention(X, X, X)[0],
        ),
        (
            "`need_weights=False` asks for no weights at all, so None comes back.",
            lambda attention, X: None,
        ),
        (
            "Heads and sentences have changed places: (N, h, T, T) is wanted.",
            lambda attention, X: _MEAN.mended(attention, X).transpose(0, 1),
        ),
        (
            "Your weights are made by hand, and divided by the square root of d_model; a head is "
            "d_model / h wide.",
            lambda attention, X: _by_hand(attention, X, width=X.shape[-1]),
        ),
        (
            "Your weights are made by hand, and the biases of `in_proj_bias` are missing.",
            lambda attention, X: _by_hand(attention, X, with_bias=False),
        ),
    ),
    wrong={
        """\
def one_matrix_a_head(attention, X):
    A = attention(X, X, X, average_attn_weights=True)[1]
    return A
""": "mean over the heads",
        """\
def one_matrix_a_head(attention, X):
    Y, A = attention(X, X, X)
    return torch.stack([A] * attention.num_heads, dim=1)
""": "same mean",
        """\
def one_matrix_a_head(attention, X):
    Y, A = attention(X, X, X)
    return A.unsqueeze(1)
""": "still the mean",
        """\
def one_matrix_a_head(attention, X):
    A, Y = attention(X, X, X, average_attn_weights=False)
    return A
""": "weights come second",
        """\
def one_matrix_a_head(attention, X):
    return attention(X, X, X, need_weights=False, average_attn_weights=False)[1]
""": "no weights at all",
        """\
def one_matrix_a_head(attention, X):
    h = attention.num_heads
    X_QKV = X @ attention.in_proj_weight.T + attention.in_proj_bias
    Q, K, V = X_QKV.chunk(3, dim=2)
    Q, K = (torch.stack(Y.chunk(h, dim=2), dim=1) for Y in (Q, K))
    return torch.softmax(Q @ K.transpose(2, 3) / math.sqrt(attention.embed_dim), dim=3)
""": "square root of d_model",
        """\
def one_matrix_a_head(attention, X):
    h = attention.num_heads
    Q, K, V = (X @ attention.in_proj_weight.T).chunk(3, dim=2)
    Q, K = (torch.stack(Y.chunk(h, dim=2), dim=1) for Y in (Q, K))
    return torch.softmax(Q @ K.transpose(2, 3) / math.sqrt(Q.size(3)), dim=3)
""": "`in_proj_bias` are missing",
        """\
def one_matrix_a_head(attention, X):
    return attention(X, X, X, average_attn_weights=False)
""": "a tuple; a tensor is wanted",
    },
    right=(
        """\
def one_matrix_a_head(attention, X):
    _, A = attention(X, X, X, average_attn_weights=False)
    return A
""",
        """\
def one_matrix_a_head(attention, X):
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)  # (N, T, 3 * d_model)
    Q, K, V = Z.unflatten(-1, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
""",
    ),
)


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
    chapter="10b",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="Sentences that read each other",
    goal="Feed a layer that wants the sequence first.",
    difficulty=2,
    importance=5,
    minutes=10,
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
    layer.batch_first = True
    return layer(X, memory)
""": "as it was",
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
    ),
)


def _masked(mask_of):
    """Self-attention with the key_padding_mask that mask_of makes of `real`."""

    def attend(attention, X, real):
        return attention(X, X, X, key_padding_mask=mask_of(real), need_weights=False)[0]

    return attend


def _cases_of_padding():
    warm_up()
    for N, S, d_model, num_heads in [(1, 2, 2, 1), (1, 3, 4, 2), (2, 4, 4, 2), (3, 5, 6, 3)]:
        attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
        tokens = torch.randint(1, S, (N, 1))  # of each sentence; the rest is padding
        real = (torch.arange(S) < tokens).long()
        yield filled(attention), torch.randn(N, S, d_model), real


only_real_words = Exercise(
    name="only_real_words",
    chapter="10b",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="A mask from another library",
    goal="Hand a mask from one library to another that reads it the other way round.",
    difficulty=3,
    importance=5,
    minutes=10,
    text="""\
A tokenizer of another library returns, beside the ids, a tensor `real`: 1 where a token is, 0 where
padding is. This code hands it to `nn.MultiheadAttention`. No error, and the loss even falls a
little; but the words see the padding and nothing else. **Find the mistake and mend it.**""",
    hints=(
        "What does True mean in a boolean mask of `nn.MultiheadAttention`? Chapter 10 has both "
        "polarities side by side.",
        "What is hidden if `real.bool()` is the mask?",
        "Where `real` is 0 there is padding: a comparison gives a boolean mask. (A mask of numbers "
        "would be added to the scores, and `~` of an int is another int.)",
    ),
    stub='''\
def only_real_words(attention, X, real):
    """Self-attention that hides padding. It has a mistake: find it and mend it.

    attention: nn.MultiheadAttention, batch-first, in eval mode
    X: float tensor (N, S, d_model)
    real: int tensor (N, S), 1 = token, 0 = padding
    Returns float tensor (N, S, d_model)
    """
    Y, _ = attention(X, X, X, key_padding_mask=real.bool(), need_weights=False)
    return Y
''',
    solution='''\
def only_real_words(attention, X, real):
    """Self-attention that hides padding.

    attention: nn.MultiheadAttention, batch-first, in eval mode
    X: float tensor (N, S, d_model)
    real: int tensor (N, S), 1 = token, 0 = padding
    Returns float tensor (N, S, d_model)
    """
    Y, _ = attention(X, X, X, key_padding_mask=real == 0, need_weights=False)
    return Y
''',
    because="In this module True hides. The test: change a padded place, and no word may move.",
    reference=_masked(lambda real: real == 0),
    cases=_cases_of_padding,
    mistakes=(
        (
            "As it was: the words are hidden, and the padding is seen.",
            _masked(lambda real: real.bool()),
        ),
        (
            "A mask of numbers is added to the scores: 1 for words prefers them a little and hides "
            "nothing.",
            _masked(lambda real: real.float()),
        ),
        (
            "A mask of numbers is added to the scores: 1 for padding even prefers it.",
            _masked(lambda real: 1.0 - real),
        ),
        (
            "Now nothing is hidden: every word sees the padding, too.",
            lambda attention, X, real: attention(X, X, X)[0],
        ),
        (
            "The padding is set to zero and not hidden: with its biases, zero is a key and a value "
            "like any other.",
            lambda attention, X, real: attention(*[X * real[..., None]] * 3)[0],
        ),
        (
            "You clean the rows of the result at padded places. Hide the columns: the words still "
            "see the padding.",
            lambda attention, X, real: attention(X, X, X)[0] * real[..., None],
        ),
        (
            "You hide padding as a query, not as a key: rows of padding see nothing, and the words "
            "still see the padding.",
            lambda attention, X, real: attention(
                X,
                X,
                X,
                attn_mask=(real == 0)[:, :, None]
                .expand(-1, -1, X.shape[1])
                .repeat_interleave(attention.num_heads, dim=0),
                need_weights=False,
            )[0],
        ),
    ),
    wrong={
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=~(real == 0), need_weights=False)[0]
""": "as it was",
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=real.to(X.dtype))[0]
""": "1 for words",
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=(real == 0).float())[0]
""": "1 for padding",
        """\
def only_real_words(attention, X, real):
    mask = torch.where(real.bool(), float("-inf"), 0.0)
    return attention(X, X, X, key_padding_mask=mask)[0]
""": "words are hidden, and the padding is seen",
        """\
def only_real_words(attention, X, real):
    nobody = torch.zeros(real.shape, dtype=torch.bool)
    return attention(X, X, X, key_padding_mask=nobody)[0]
""": "nothing is hidden",
        """\
def only_real_words(attention, X, real):
    X = X.masked_fill(real[:, :, None] == 0, 0.0)
    Y, _ = attention(X, X, X, need_weights=False)
    return Y
""": "set to zero and not hidden",
        """\
def only_real_words(attention, X, real):
    Y, _ = attention(X, X, X, need_weights=False)
    return Y.masked_fill(real.unsqueeze(-1) == 0, 0.0)
""": "clean the rows",
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=~real)[0]
""": "your answer raises",
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, attn_mask=real == 0)[0]
""": "your answer raises",
    },
    right=(
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=~real.bool())[0]
""",
        """\
def only_real_words(attention, X, real):
    added = torch.zeros(real.shape).masked_fill(real == 0, float("-inf"))
    return attention(X, X, X, key_padding_mask=added)[0]
""",
        """\
def only_real_words(attention, X, real):
    results = []
    for x, n in zip(X, real.sum(dim=1)):
        results.append(attention(x, x[:n], x[:n])[0])  # without padding nothing need be hidden
    return torch.stack(results)
""",
    ),
)


def _attend(attention, X, order="QKV", scale=None, join=None, split=None, bias=True, out=True):
    """Self-attention from the parameters of the module, with room for slips."""
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias if bias else None)
    parts = dict(zip(order, Z.chunk(3, dim=-1), strict=True))
    heads = split or (lambda Y, h: Y.unflatten(-1, (h, -1)).transpose(1, 2))
    Q, K, V = (heads(parts[name], attention.num_heads) for name in "QKV")  # (N, h, T, d_k)
    Y = F.scaled_dot_product_attention(Q, K, V, scale=scale)
    Y = join(Y, X) if join else Y.transpose(1, 2).flatten(2)  # (N, T, d_model)
    return attention.out_proj(Y) if out else Y


def _head_by_head(attention, X):
    """The columns of the projection, taken as (h, 3, d_k) in place of (3, h, d_k)."""
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = Z.unflatten(-1, (attention.num_heads, 3, -1)).permute(3, 0, 2, 1, 4)
    return attention.out_proj(
        F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(2)
    )  # (N, T, d_model)


def _attention(attention, X):
    return attention(X, X, X, need_weights=False)[0]


queries_keys_values = Exercise(
    name="queries_keys_values",
    chapter="10b",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="Three names for three parts",
    goal="Cut a packed projection in the right order.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
Somebody wanted a faster self-attention and rebuilt `nn.MultiheadAttention` from its own parameters.
All shapes are right, rows of weights sum to 1, and a model that is trained with it learns. But
weights that were trained with PyTorch's module give nonsense in it. **Find the mistake and mend
it.**""",
    hints=(
        "Compare with PyTorch's module, step by step. Which of the three parts of `in_proj_weight` "
        "comes first?",
        "The order is the same as in softmax(Q K^T) V, and as in the arguments of the module.",
        "One line unpacks the projection into three names. In which order?",
    ),
    stub='''\
def queries_keys_values(attention, X):
    """Self-attention by hand. It has a mistake: find it and mend it.

    attention: nn.MultiheadAttention with biases, batch-first, in eval mode
    X: float tensor (N, T, d_model)
    Returns float tensor (N, T, d_model)
    """
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)  # (N, T, 3 * d_model)
    K, Q, V = Z.chunk(3, dim=-1)  # (N, T, d_model) each
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))  # (N, h, T, d_k)
    Y = F.scaled_dot_product_attention(Q, K, V)  # (N, h, T, d_k)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))  # (N, T, d_model)
''',
    solution='''\
def queries_keys_values(attention, X):
    """Self-attention by hand.

    attention: nn.MultiheadAttention with biases, batch-first, in eval mode
    X: float tensor (N, T, d_model)
    Returns float tensor (N, T, d_model)
    """
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)  # (N, T, 3 * d_model)
    Q, K, V = Z.chunk(3, dim=-1)  # (N, T, d_model) each
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))  # (N, h, T, d_k)
    Y = F.scaled_dot_product_attention(Q, K, V)  # (N, h, T, d_k)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))  # (N, T, d_model)
''',
    because="A model that is trained so learns, since names are only names; loaded weights tell.",
    reference=_attention,
    cases=_cases_of_attention,
    forbidden=(nn.MultiheadAttention.forward,),
    mistakes=(
        (
            "As it was: queries and keys are exchanged, so each score is that of the pair the "
            "other way round.",
            lambda attention, X: _attend(attention, X, "KQV"),
        ),
        (
            "Now keys and values are exchanged: the order is queries, keys, values.",
            lambda attention, X: _attend(attention, X, "QVK"),
        ),
        (
            "Now queries and values are exchanged: the order is queries, keys, values.",
            lambda attention, X: _attend(attention, X, "VKQ"),
        ),
        (
            "Now all three parts are in another place: the order is queries, keys, values.",
            lambda attention, X: _attend(attention, X, "VQK"),
        ),
        (
            "Now all three parts are in another place: queries come first, not keys.",
            lambda attention, X: _attend(attention, X, "KVQ"),
        ),
        (
            "You cut each head into three. The module keeps the queries of all heads first, then "
            "all keys, then all values.",
            _head_by_head,
        ),
        (
            "The heads are gone: all columns make one set of weights. They were right before.",
            lambda attention, X: _attend(
                attention,
                X,
                split=lambda Y, h: Y[:, None],
                join=lambda Y, X: Y[:, 0],
            ),
        ),
        (
            "The heads are cut without a swap, so that one word's numbers end up in many rows. "
            "That was right before.",
            lambda attention, X: _attend(
                attention, X, split=lambda Y, h: Y.reshape(len(Y), h, Y.shape[1], -1)
            ),
        ),
        (
            "The heads are joined without swapping back. That was right before.",
            lambda attention, X: _attend(attention, X, join=lambda Y, X: Y.reshape(X.shape)),
        ),
        (
            "The order is right now, but the scores have lost their scaling.",
            lambda attention, X: _attend(attention, X, scale=1.0),
        ),
        (
            "The order is right now, but the biases of `in_proj_bias` are gone.",
            lambda attention, X: _attend(attention, X, bias=False),
        ),
        (
            "The order is right now, but the way out, `out_proj`, is gone.",
            lambda attention, X: _attend(attention, X, out=False),
        ),
    ),
    wrong={
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = X @ attention.in_proj_weight.T + attention.in_proj_bias
    Q, K, V = (torch.stack(Y.chunk(h, dim=-1), dim=1) for Y in Z.chunk(3, dim=-1))
    A = (K @ Q.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return attention.out_proj(torch.cat((A @ V).unbind(dim=1), dim=-1))
""": "as it was",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, V, K = Z.chunk(3, dim=-1)
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "keys and values are exchanged",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    V, K, Q = Z.chunk(3, dim=-1)
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "queries and values are exchanged",
        """\
def queries_keys_values(attention, X):
    N, T, d = X.shape
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = Z.view(N, T, h, -1).transpose(1, 2).chunk(3, dim=-1)
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "each head into three",
        """\
def queries_keys_values(attention, X):
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Y = F.scaled_dot_product_attention(*Z.chunk(3, dim=-1))
    return attention.out_proj(Y)
""": "heads are gone",
        """\
def queries_keys_values(attention, X):
    N, T, d = X.shape
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = (Y.reshape(N, attention.num_heads, T, -1) for Y in Z.chunk(3, dim=-1))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).reshape(N, T, d))
""": "cut without a swap",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in Z.chunk(3, dim=-1))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.contiguous().view(X.shape))
""": "joined without swapping",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in Z.chunk(3, dim=-1))
    Y = (Q @ K.mT).softmax(dim=-1) @ V
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "lost their scaling",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Q, K, V = (X @ W.T for W in attention.in_proj_weight.chunk(3))
    Q, K, V = (Y.unflatten(-1, (h, -1)).transpose(1, 2) for Y in (Q, K, V))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""": "`in_proj_bias` are gone",
        """\
def queries_keys_values(attention, X):
    return attention(X, X, X)[0]
""": "Write its steps yourself",
    },
    right=(
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    weights, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    Q, K, V = (X @ W.T + b for W, b in zip(weights, biases))
    results = []
    for q, k, v in zip(Q.chunk(h, dim=-1), K.chunk(h, dim=-1), V.chunk(h, dim=-1)):
        A = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)
        results.append(A @ v)
    return attention.out_proj(torch.cat(results, dim=-1))
""",
        """\
def queries_keys_values(attention, X):
    h = attention.num_heads
    Z = F.linear(X, attention.in_proj_weight, attention.in_proj_bias)
    Q, K, V = Z.unflatten(-1, (3, h, -1)).permute(2, 0, 3, 1, 4)
    Y = F.scaled_dot_product_attention(Q, K, V)
    return attention.out_proj(Y.transpose(1, 2).flatten(2))
""",
    ),
)

_FOURTH = EXHIBITS["three_of_four"]


def _four(Q=0, K=1, V=2, last=(3,)):
    """Attention with the projections of these numbers, and those of `last` behind it."""

    def run(projections, X):
        Y = F.scaled_dot_product_attention(*(projections[i](X) for i in (Q, K, V)))
        for i in last:
            Y = projections[i](Y)
        return Y

    return run


def _cases_of_projections():
    for N, T, d_model in [(1, 2, 1), (1, 2, 3), (2, 3, 4), (3, 1, 2)]:
        projections = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        yield filled(projections), torch.randn(N, T, d_model)


all_four_at_work = Exercise(
    name="all_four_at_work",
    chapter="10b",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="A parameter that never learns",
    goal="Find a layer that is built, saved and never used.",
    difficulty=2,
    importance=3,
    minutes=8,
    text="""\
Four projections are made for an attention: for queries, keys, values, and for the way out. After a
day of training, the fourth is what it was on the first. **Find the mistake and mend it.**""",
    hints=(
        "Four projections meet three inputs. What does `zip` do when one of its lists is shorter?",
        "Which of the four is left over, and what was it made for?",
        "The way out is applied to what attention returns.",
    ),
    stub='''\
def all_four_at_work(projections, X):
    """Self-attention with one head and a way out. It has a mistake: find it and mend it.

    projections: four nn.Linear (d_model to d_model), W_Q, W_K, W_V, W_O
    X: float tensor (N, T, d_model)
    Returns float tensor (N, T, d_model)
    """
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return F.scaled_dot_product_attention(Q, K, V)
''',
    solution='''\
def all_four_at_work(projections, X):
    """Self-attention with one head and a way out.

    projections: four nn.Linear (d_model to d_model), W_Q, W_K, W_V, W_O
    X: float tensor (N, T, d_model)
    Returns float tensor (N, T, d_model)
    """
    W_Q, W_K, W_V, W_O = projections
    return W_O(F.scaled_dot_product_attention(W_Q(X), W_K(X), W_V(X)))
''',
    because="`zip` stops at the shortest and is silent; `zip(..., strict=True)` would have told.",
    reference=_FOURTH.mended,
    cases=_cases_of_projections,
    mistakes=(
        ("As it was: the fourth projection meets nothing and gets no gradient.", _FOURTH.wrong),
        (
            "The way out is used before attention, on X. It belongs behind it.",
            lambda projections, X: _FOURTH.wrong(projections, projections[3](X)),
        ),
        (
            "The fourth projection makes the values now, and the third, which is theirs, is left "
            "over.",
            _four(V=3, last=()),
        ),
        (
            "The third projection is used twice, and the fourth not at all.",
            _four(last=(2,)),
        ),
        (
            "The way out is applied twice.",
            _four(last=(3, 3)),
        ),
        (
            "The way out of X is added to the result. It is to be applied to what attention "
            "returns.",
            lambda projections, X: _FOURTH.wrong(projections, X) + projections[3](X),
        ),
        (
            "Queries and keys are exchanged, which was right before.",
            _four(Q=1, K=0),
        ),
        (
            "The way out is used without its bias.",
            lambda projections, X: _FOURTH.wrong(projections, X) @ projections[3].weight.T,
        ),
        (
            "The weight of an `nn.Linear` lies on its side, (out, in): call the layer, or turn it.",
            lambda projections, X: (
                _FOURTH.wrong(projections, X) @ projections[3].weight + projections[3].bias
            ),
        ),
        (
            "X is added to the result, which is right in a layer, but not asked for here.",
            lambda projections, X: X + _FOURTH.mended(projections, X),
        ),
    ),
    wrong={
        """\
def all_four_at_work(projections, X):
    Q, K, V = [projection(X) for projection in projections[:3]]
    A = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return A @ V
""": "as it was",
        """\
def all_four_at_work(projections, X):
    X = projections[3](X)
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return F.scaled_dot_product_attention(Q, K, V)
""": "before attention",
        """\
def all_four_at_work(projections, X):
    W_Q, W_K, W_O, W_V = projections
    return F.scaled_dot_product_attention(W_Q(X), W_K(X), W_V(X))
""": "makes the values",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return projections[2](F.scaled_dot_product_attention(Q, K, V))
""": "used twice",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return F.scaled_dot_product_attention(Q, K, V).add(projections[-1](X))
""": "added to the result",
        """\
def all_four_at_work(projections, X):
    W_Q, W_K, W_V, W_O = projections
    A = (W_K(X) @ W_Q(X).mT / math.sqrt(X.shape[-1])).softmax(dim=-1)
    return W_O(A @ W_V(X))
""": "exchanged",
        """\
def all_four_at_work(projections, X):
    *three, W_O = projections
    Q, K, V = (W(X) for W in three)
    return F.linear(F.scaled_dot_product_attention(Q, K, V), W_O.weight)
""": "without its bias",
        """\
def all_four_at_work(projections, X):
    *three, W_O = projections
    Q, K, V = (W(X) for W in three)
    return F.scaled_dot_product_attention(Q, K, V) @ W_O.weight + W_O.bias
""": "on its side",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X), strict=True))
    return F.scaled_dot_product_attention(Q, K, V)
""": "ValueError: zip()",
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X, X)))
    return F.scaled_dot_product_attention(Q, K, V)
""": "ValueError: too many values",
    },
    right=(
        """\
def all_four_at_work(projections, X):
    Q, K, V = (W(X) for W, X in zip(projections, (X, X, X)))
    return projections[3](F.scaled_dot_product_attention(Q, K, V))
""",
        """\
def all_four_at_work(projections, X):
    W_Q, W_K, W_V, W_O = projections
    A = (W_Q(X) @ W_K(X).mT / math.sqrt(X.shape[-1])).softmax(dim=-1)
    return A @ W_O(W_V(X))  # the rows of A sum to 1, so the bias passes through
""",
    ),
)

_PREPARE = EXHIBITS["inputs_and_their_mask"]


def _other_mask(change, inputs=lambda target: target[:, :-1]):
    """Inputs with a mask that `change` makes of their number."""

    def prepare(target):
        return inputs(target), change(inputs(target).shape[1])

    return prepare


def _ones(T):
    return torch.ones(T, T, dtype=torch.bool)


def _cases_of_targets():
    for N, T in [(1, 2), (1, 3), (2, 4), (3, 3), (2, 7)]:
        yield (torch.randint(4, 99, (N, T)),)


inputs_and_mask = Exercise(
    name="inputs_and_mask",
    chapter="10b",
    section="Room 1: it crashes",
    kind=MEND,
    title="One token too many",
    goal="Make a mask from what the model gets.",
    difficulty=1,
    importance=3,
    minutes=6,
    text="""\
A model is trained to write the next token, so it is fed a target without its last token. This code
prepares both, the inputs and their causal mask (True hides). It runs; its caller crashes:
*The size of tensor a (4) must match the size of tensor b (5)*. **Find the mistake and mend
it.**""",
    hints=(
        "For a target of 5 tokens: how many tokens does the model get, and how many rows has the "
        "mask?",
        "The mask is measured before the target is cut.",
        "Cut first, `inputs = target[:, :-1]`, and make the mask from `inputs.shape[1]`.",
    ),
    stub='''\
def inputs_and_mask(target):
    """What the decoder is fed, and its mask. It has a mistake: find it and mend it.

    target: int tensor (N, T), with [BOS] at the start and [EOS] at the end
    Returns a tuple: inputs, int tensor (N, T - 1), the target without its last token; and their
    causal mask, bool tensor (T - 1, T - 1), True = may not be attended to
    """
    T = target.shape[1]
    mask = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    return target[:, :-1], mask
''',
    solution='''\
def inputs_and_mask(target):
    """What the decoder is fed, and its mask.

    target: int tensor (N, T), with [BOS] at the start and [EOS] at the end
    Returns a tuple: inputs, int tensor (N, T - 1), the target without its last token; and their
    causal mask, bool tensor (T - 1, T - 1), True = may not be attended to
    """
    inputs = target[:, :-1]
    T = inputs.shape[1]
    return inputs, torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
''',
    because="A mask that is made from the inputs fits them, whatever was cut before.",
    reference=_PREPARE.mended,
    cases=_cases_of_targets,
    mistakes=(
        ("As it was: the mask has a row and a column more than there are inputs.", _PREPARE.wrong),
        (
            "Now the mask fits because the inputs are not cut: the model is fed the last token, "
            "after which there is nothing to write.",
            _other_mask(lambda T: _ones(T).triu(1), inputs=lambda target: target),
        ),
        (
            "You cut the first token. The inputs lack the last one; what lacks the first is what "
            "the model is to write.",
            _other_mask(lambda T: _ones(T).triu(1), inputs=lambda target: target[:, 1:]),
        ),
        (
            "You cut a sentence, not a token: the first dimension counts sentences.",
            lambda target: (target[:-1], _ones(target.shape[1]).triu(1)),
        ),
        (
            "The sizes fit, but the diagonal is hidden, too: the first token may see nothing.",
            _other_mask(lambda T: _ones(T).triu()),
        ),
        (
            "The sizes fit, but the mask works the wrong way round: True hides.",
            _other_mask(lambda T: _ones(T).tril()),
        ),
        (
            "The sizes fit, but the mask hides the past: rows are the tokens that look, columns "
            "those that are seen.",
            _other_mask(lambda T: _ones(T).tril(-1)),
        ),
        (
            "The sizes fit, but `diagonal=2` lets each token see the next one: that moves the "
            "diagonal, it does not cut the mask.",
            _other_mask(lambda T: _ones(T).triu(2)),
        ),
        (
            "The mask has lost one row and kept all its columns: it must be cut in both.",
            lambda target: (target[:, :-1], _ones(target.shape[1]).triu(1)[:-1]),
        ),
        (
            "The mask is cut, but its first row is lost and its last column kept: now each token "
            "sees the next one.",
            lambda target: (target[:, :-1], _ones(target.shape[1]).triu(1)[1:, :-1]),
        ),
    ),
    wrong={
        """\
def inputs_and_mask(target):
    N, T = target.shape
    i = torch.arange(T)
    return target[:, : T - 1], i[None, :] > i[:, None]
""": "as it was",
        """\
def inputs_and_mask(target):
    N, T = target.shape
    i = torch.arange(T)
    return target, i[None, :] > i[:, None]
""": "not cut",
        """\
def inputs_and_mask(target):
    inputs = target[:, 1:]
    i = torch.arange(inputs.shape[1])
    return inputs, i[None, :] > i[:, None]
""": "cut the first token",
        """\
def inputs_and_mask(target):
    i = torch.arange(target.shape[1] - 1)
    return target[:, :-1], i >= i[:, None]
""": "diagonal is hidden",
        """\
def inputs_and_mask(target):
    i = torch.arange(target.shape[1] - 1)
    return target[:, :-1], i <= i[:, None]
""": "wrong way round",
        """\
def inputs_and_mask(target):
    i = torch.arange(target.shape[1] - 1)
    return target[:, :-1], i < i[:, None]
""": "hides the past",
        """\
def inputs_and_mask(target):
    T = target.shape[1]
    mask = torch.ones(T, T, dtype=torch.bool).triu(diagonal=2)
    return target[:, :-1], mask[:-1, :-1]
""": "moves the diagonal",
        """\
def inputs_and_mask(target):
    i = torch.arange(target.shape[1])
    return target[:, :-1], i > i[:-1, None]
""": "lost one row",
        """\
def inputs_and_mask(target):
    T = target.shape[1] - 1
    return target[:, :-1], nn.Transformer.generate_square_subsequent_mask(T)
""": "torch.bool is wanted",
    },
    right=(
        """\
def inputs_and_mask(target):
    T = target.shape[1]
    mask = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    return target[:, :-1], mask[:-1, :-1]
""",
        """\
def inputs_and_mask(target):
    T = target.shape[1] - 1
    return target[:, :T], torch.tensor([[s > t for s in range(T)] for t in range(T)])
""",
        """\
def inputs_and_mask(target):
    inputs = target[:, :-1]
    mask = nn.Transformer.generate_square_subsequent_mask(inputs.shape[1])
    return inputs, mask == float("-inf")
""",
    ),
)

EXERCISES = (
    one_matrix_a_head,
    sentences_stay_apart,
    only_real_words,
    queries_keys_values,
    all_four_at_work,
    inputs_and_mask,
)
