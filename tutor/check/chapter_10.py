"""Exercises of chapter 10: counting, unpacking and rebuilding PyTorch's Transformer."""

import torch
from torch import nn

from tutor.check.exercise import EXPLAIN, MEND, PREDICT, WRITE, Exercise

numbers_of_a_layer = Exercise(
    name="numbers_of_a_layer",
    chapter="10",
    section="Every parameter accounted for",
    kind=PREDICT,
    title="A small decoder layer",
    goal="Count the parameters of a PyTorch layer from its sizes.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
How many parameters has

    nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=32)

**Predict** the number on paper, before you build the layer: an int.""",
    hints=(
        "List the parts: two attentions, one feed-forward, three LayerNorms.",
        "An attention has four matrices of $8 \\times 8$, each with a bias of 8. How many heads "
        "there are does not matter.",
        "Attention $4 \\cdot 64 + 4 \\cdot 8 = 288$, twice; feed-forward "
        "$2 \\cdot 8 \\cdot 32 + 32 + 8 = 552$; a norm 16, three times.",
    ),
    stub="numbers_of_a_layer = None  # an int, such as 1000",
    solution="numbers_of_a_layer = 2 * (4 * 8 * 8 + 4 * 8) + (2 * 8 * 32 + 32 + 8) + 3 * (2 * 8)",
    because="Two attentions of 288, a feed-forward of 552 and three norms of 16 make 1176.",
    reference=1176,
    mistakes=(
        ("That is an encoder layer: a decoder layer attends twice and has three norms.", 872),
        ("One attention is missing: a decoder layer attends to itself and to the memory.", 888),
        ("The biases of the attentions are missing: PyTorch gives each matrix one.", 1112),
        ("The biases of the feed-forward are missing: 32 and 8.", 1136),
        ("The norms are missing.", 1128),
        ("A decoder layer has three norms, one for each sub-layer; you counted two.", 1160),
        ("A norm has a scale and a shift, 16 numbers; you counted one of the two.", 1152),
        ("Those are the matrices alone; biases and norms are parameters too.", 1024),
        ("An attention has four matrices: the way out, W_O, is missing.", 1032),
        (
            "You counted the attentions once for each head. Heads share the columns of the same "
            "matrices.",
            1752,
        ),
    ),
    wrong={
        "numbers_of_a_layer = 4 * 64 + 32 + 2 * 8 * 32 + 40 + 2 * 16": "an encoder layer",
        "numbers_of_a_layer = 288 + 552 + 48": "One attention is missing",
        "numbers_of_a_layer = 2 * 256 + 552 + 3 * 16": "biases of the attentions",
        "numbers_of_a_layer = 2 * 288 + 512 + 48": "biases of the feed-forward",
        "numbers_of_a_layer = 288 * 2 + 552": "norms are missing",
        "numbers_of_a_layer = 8 * 4 * 8 * 2 + 2 * 8 * 32": "matrices alone",
        "numbers_of_a_layer = 2 * (3 * 64 + 3 * 8) + 552 + 48": "the way out",
        "numbers_of_a_layer = 2 * 2 * 288 + 552 + 48": "each head",
        "numbers_of_a_layer = '1176'": "a number is wanted",
        "numbers_of_a_layer = 1000": "Look again at the section",
    },
    right=(
        """\
layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=32)
numbers_of_a_layer = sum(p.numel() for p in layer.parameters())
""",
        "numbers_of_a_layer = 8 * 8 * 8 + 2 * 4 * 8 + 2 * 8 * 32 + 32 + 8 + 6 * 8",
    ),
)


def _matrices_of_a_head(in_proj_weight, num_heads, head):
    thirds = in_proj_weight.chunk(3)
    d_k = len(in_proj_weight) // 3 // num_heads
    return tuple(W[head * d_k : (head + 1) * d_k].T for W in thirds)


def _other_rows(rows_of):
    """As above from other rows: rows_of(i, head, h, d_model, d_k) is a slice, i = 0, 1, 2."""

    def matrices(in_proj_weight, num_heads, head):
        d_model = in_proj_weight.shape[1]
        sizes = num_heads, d_model, d_model // num_heads
        return tuple(in_proj_weight[rows_of(i, head, *sizes)].T for i in range(3))

    return matrices


def _columns_of_a_head(in_proj_weight, num_heads, head):
    d_k = in_proj_weight.shape[1] // num_heads
    return tuple(W[:, head * d_k : (head + 1) * d_k] for W in in_proj_weight.chunk(3))


def _cases_of_a_head():
    for d_model, num_heads, head in [(2, 1, 0), (2, 2, 1), (4, 2, 0), (6, 3, 1), (6, 2, 1)]:
        yield torch.randn(3 * d_model, d_model), num_heads, head
    yield torch.randn(36, 12), 3, 2
    yield torch.zeros(12, 4), 4, 3


matrices_of_a_head = Exercise(
    name="matrices_of_a_head",
    chapter="10",
    section="Attention, taken apart",
    kind=WRITE,
    title="One head out of the stack",
    goal="Find the paper's $W^Q_i$, $W^K_i$ and $W^V_i$ in PyTorch's `in_proj_weight`.",
    difficulty=3,
    importance=5,
    minutes=15,
    text="""\
`nn.MultiheadAttention` keeps the projections of all heads in one tensor, `in_proj_weight`. Take out
those of one head, in the paper's form: as they stand in $X W^Q_i$, where $X$ has a row for each
word. Heads count from 0.""",
    hints=(
        "Two questions: which rows belong to the head, and which way do they lie? The section "
        "found the rows of one head with a gradient.",
        "`in_proj_weight.chunk(3)` cuts the stack into the parts for queries, keys and values. "
        "Head $i$ has rows $i \\, d_k$ to $(i + 1) \\, d_k - 1$ of each.",
        "PyTorch computes $X W^\\top$, so what it keeps lies on its side: turn each (d_k, d_model) "
        "with `.T`.",
    ),
    stub='''\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    """The projections of one head, as the paper writes them.

    in_proj_weight: float tensor (3 * d_model, d_model), as nn.MultiheadAttention keeps it
    num_heads: int
    head: int, from 0
    Returns a tuple W_Q, W_K, W_V of float tensors (d_model, d_k), where d_k = d_model / num_heads
    """
    raise NotImplementedError
''',
    solution='''\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    """The projections of one head, as the paper writes them.

    in_proj_weight: float tensor (3 * d_model, d_model), as nn.MultiheadAttention keeps it
    num_heads: int
    head: int, from 0
    Returns a tuple W_Q, W_K, W_V of float tensors (d_model, d_k), where d_k = d_model / num_heads
    """
    d_k = in_proj_weight.shape[1] // num_heads
    own = slice(head * d_k, (head + 1) * d_k)
    W_Q, W_K, W_V = in_proj_weight.chunk(3)  # (d_model, d_model) each, rows are the heads'
    return W_Q[own].T, W_K[own].T, W_V[own].T  # (d_model, d_k) each
''',
    because="In PyTorch heads are rows, in the paper they are columns.",
    reference=_matrices_of_a_head,
    cases=_cases_of_a_head,
    mistakes=(
        (
            "Your matrices lie on their side: PyTorch multiplies by W^T, the paper by W. Turn "
            "them.",
            lambda W, h, head: tuple(part.T for part in _matrices_of_a_head(W, h, head)),
        ),
        (
            "You cut columns. In `in_proj_weight` the heads are rows: row r makes column r of the "
            "result. The shapes do not tell, since each third is square.",
            _columns_of_a_head,
        ),
        (
            "You take every h-th row; the rows of a head stand together.",
            lambda W, h, head: tuple(third[head::h].T for third in W.chunk(3)),
        ),
        (
            "You look for the three matrices of a head next to each other. All queries come "
            "first, then all keys, then all values.",
            _other_rows(
                lambda i, head, h, d_model, d_k: slice(
                    (3 * head + i) * d_k, (3 * head + i + 1) * d_k
                )
            ),
        ),
        (
            "All three of your matrices are for the queries: keys begin d_model rows further down, "
            "values another d_model.",
            _other_rows(lambda i, head, h, d_model, d_k: slice(head * d_k, (head + 1) * d_k)),
        ),
        (
            "You took heads 0, 1 and 2 of the queries, or their neighbours: keys begin d_model "
            "rows further down, not d_k.",
            _other_rows(
                lambda i, head, h, d_model, d_k: slice((head + i) * d_k, (head + i + 1) * d_k)
            ),
        ),
        (
            "Your matrices belong to all heads; cut each into the rows of one.",
            lambda W, h, head: tuple(third.T for third in W.chunk(3)),
        ),
        (
            "Your thirds come in another order: it is queries, keys, values.",
            lambda W, h, head: tuple(_matrices_of_a_head(W, h, head)[i] for i in (1, 0, 2)),
        ),
        (
            "`reshape` and `view` fill the wanted shape in the order of memory, so that columns "
            "are torn apart; `.T` turns a matrix.",
            lambda W, h, head: tuple(
                part.T.reshape(part.shape) for part in _matrices_of_a_head(W, h, head)
            ),
        ),
        (
            "You share 3 times d_model rows among the heads: each third has rows of its own, and a "
            "head is d_model / h wide.",
            lambda W, h, head: tuple(
                third[head * (len(W) // h) : (head + 1) * (len(W) // h)].T for third in W.chunk(3)
            ),
        ),
        (
            "You counted the heads from 1; `head` counts them from 0.",
            lambda W, h, head: _matrices_of_a_head(W, h, head - 1 if head else h - 1),
        ),
        (
            "Your matrices stand side by side in one tensor; return a tuple of three.",
            lambda W, h, head: torch.cat(_matrices_of_a_head(W, h, head), dim=-1),
        ),
    ),
    wrong={
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.size(1)
    d_k = d // num_heads
    start = head * d_k
    return tuple(in_proj_weight[start + i * d : start + i * d + d_k] for i in range(3))
""": "on their side",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d_k = in_proj_weight.shape[1] // num_heads
    Q, K, V = in_proj_weight.chunk(3)
    return tuple(W.split(d_k, dim=1)[head] for W in (Q, K, V))
""": "You cut columns",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(3, d // num_heads, num_heads, d)[:, :, head]
    return W[0].T, W[1].T, W[2].T
""": "stand together",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(num_heads, 3, d // num_heads, d)[head]
    return W[0].T, W[1].T, W[2].T
""": "next to each other",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d_k = in_proj_weight.shape[1] // num_heads
    W = in_proj_weight[d_k * head : d_k * (head + 1)].T
    return W, W, W
""": "for the queries",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d_k = in_proj_weight.shape[1] // num_heads
    starts = [(head + i) * d_k for i in range(3)]
    return tuple(in_proj_weight[s : s + d_k].T for s in starts)
""": "not d_k",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    W_Q, W_K, W_V = in_proj_weight.T.chunk(3, dim=1)
    return W_Q, W_K, W_V
""": "belong to all heads",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    d_k = d // num_heads
    K, Q, V = in_proj_weight.split(d)
    rows = torch.arange(head * d_k, head * d_k + d_k)
    return Q[rows].T, K[rows].T, V[rows].T
""": "another order",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    d_k = d // num_heads
    W = in_proj_weight.view(3, num_heads, d_k, d)[:, head].reshape(3, d, d_k)
    return tuple(W)
""": "in the order of memory",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    thirds = in_proj_weight.chunk(3)
    return tuple(W.view(num_heads, d, -1)[head] for W in thirds)
""": "columns are torn apart",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(3, num_heads, d // num_heads, d)[:, head - 1]
    return W[0].T, W[1].T, W[2].T
""": "heads from 1",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    d_k = len(in_proj_weight) // num_heads
    return tuple(W[head * d_k : (head + 1) * d_k].T for W in in_proj_weight.chunk(3))
""": "3 times d_model rows",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(3, num_heads, d // num_heads, d)[:, head]
    return W.flatten(0, 1).T
""": "a tuple of three",
    },
    right=(
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    W = in_proj_weight.view(3, num_heads, d // num_heads, d)[:, head]  # (3, d_k, d_model)
    return tuple(W.transpose(-2, -1))
""",
        """\
def matrices_of_a_head(in_proj_weight, num_heads, head):
    d = in_proj_weight.shape[1]
    d_k = d // num_heads
    packed = in_proj_weight.T  # (d_model, 3 * d_model): heads are columns now
    starts = [i * d + head * d_k for i in range(3)]
    return [packed[:, start : start + d_k] for start in starts]
""",
    ),
)


def filled(module):
    """The module with noise on every parameter, so that none is that of a fresh one; eval mode."""
    with torch.no_grad():
        for p in module.parameters():
            p.add_(torch.randn_like(p) / 2)
    return module.eval()


def _one_bias(attention):
    b_V = attention.in_proj_bias.chunk(3)[2]
    return b_V @ attention.out_proj.weight.T + attention.out_proj.bias


def _other_bias(third, of_weight=lambda W: W.T, with_b_O=True):
    def bias(attention):
        moved = attention.in_proj_bias.chunk(3)[third] @ of_weight(attention.out_proj.weight)
        return moved + attention.out_proj.bias if with_b_O else moved

    return bias


def _cases_of_biases():
    for d_model, num_heads in [(1, 1), (2, 1), (2, 2), (6, 3)]:
        yield (filled(nn.MultiheadAttention(d_model, num_heads, batch_first=True)),)
    yield (nn.MultiheadAttention(4, 2, batch_first=True).eval(),)  # fresh: all biases are zeros


one_bias_for_two = Exercise(
    name="one_bias_for_two",
    chapter="10",
    section="Four biases, and what they do",
    kind=WRITE,
    title="One bias does the work of two",
    goal="Move a bias through the weights into another one.",
    difficulty=2,
    importance=3,
    minutes=10,
    text="""\
The bias of the values, $b^V$, could be zero if $b^O$ took over its work. Write the bias that
`out_proj` then needs, so that the attention computes what it did. Change nothing in the module:
compute the vector and return it.""",
    hints=(
        "The rows of $A$ sum to 1. What is added to every value is added to every result of a "
        "head, and goes through the way out.",
        "The new bias is $b^O + b^V W^O$. Where does PyTorch keep $b^V$, and which way does "
        "`out_proj.weight` lie?",
        "`attention.in_proj_bias.chunk(3)` gives $b^Q, b^K, b^V$, and $W^O$ is "
        "`attention.out_proj.weight.T`.",
    ),
    stub='''\
def one_bias_for_two(attention):
    """The bias of the way out that makes b_V superfluous.

    attention: nn.MultiheadAttention with biases, of width d_model
    Returns float tensor (d_model,)
    """
    raise NotImplementedError
''',
    solution='''\
def one_bias_for_two(attention):
    """The bias of the way out that makes b_V superfluous.

    attention: nn.MultiheadAttention with biases, of width d_model
    Returns float tensor (d_model,)
    """
    b_Q, b_K, b_V = attention.in_proj_bias.chunk(3)
    return attention.out_proj.bias + b_V @ attention.out_proj.weight.T  # (d_model,)
''',
    because="With dropout on the weights it fails: then their rows sum to 1 on average only.",
    reference=_one_bias,
    cases=_cases_of_biases,
    mistakes=(
        (
            "`out_proj.weight` lies on its side: it is W_O transposed, so turn it.",
            _other_bias(2, lambda W: W),
        ),
        (
            "The bias b_O of the way out is lost: it is still needed.",
            _other_bias(2, with_b_O=False),
        ),
        (
            "b_V is added as it is. It goes through the way out like every value: multiply it with "
            "W_O.",
            _other_bias(2, lambda W: torch.eye(len(W))),
        ),
        (
            "You moved b_K, the second third. It does no work at all; the bias of the values is "
            "the last third.",
            _other_bias(1),
        ),
        (
            "You moved b_Q, the first third. It cannot be moved; the bias of the values is the "
            "last third.",
            _other_bias(0),
        ),
        (
            "You moved all three biases of the stack; only that of the values can be moved.",
            lambda attention: (
                sum(_other_bias(i)(attention) for i in range(3)) - 2 * attention.out_proj.bias
            ),
        ),
        (
            "Your bias is b_O as it was. What b_V added is lost.",
            lambda attention: attention.out_proj.bias,
        ),
        (
            "b_O went through the way out a second time. It is added behind W_O, as it is.",
            lambda attention: (
                (attention.in_proj_bias.chunk(3)[2] + attention.out_proj.bias)
                @ attention.out_proj.weight.T
            ),
        ),
    ),
    wrong={
        """\
def one_bias_for_two(attention):
    d = attention.embed_dim
    return attention.in_proj_bias[-d:] @ attention.out_proj.weight + attention.out_proj.bias
""": "on its side",
        """\
def one_bias_for_two(attention):
    *_, b_V = attention.in_proj_bias.chunk(3)
    return F.linear(b_V, attention.out_proj.weight)
""": "b_O of the way out is lost",
        """\
def one_bias_for_two(attention):
    b_V = attention.in_proj_bias.view(3, -1)[2]
    return attention.out_proj.bias + b_V
""": "as it is. It goes through",
        """\
def one_bias_for_two(attention):
    _, b_V, _ = attention.in_proj_bias.chunk(3)
    return attention.out_proj(b_V)
""": "moved b_K",
        """\
def one_bias_for_two(attention):
    d = attention.embed_dim
    return attention.out_proj(attention.in_proj_bias[:d])
""": "moved b_Q",
        """\
def one_bias_for_two(attention):
    together = attention.in_proj_bias.view(3, -1).sum(dim=0)
    return attention.out_proj(together)
""": "all three biases",
        """\
def one_bias_for_two(attention):
    b_V = attention.in_proj_bias.chunk(3)[2]
    return (attention.out_proj.bias + b_V) @ attention.out_proj.weight.T
""": "a second time",
        """\
def one_bias_for_two(attention):
    b_Q, b_K, b_V = attention.in_proj_bias.chunk(3)
    with torch.no_grad():
        attention.out_proj.bias += b_V @ attention.out_proj.weight.T
        b_V.zero_()
    return attention.out_proj.bias
""": "changes its argument `attention`",
        """\
def one_bias_for_two(attention):
    return attention.out_proj.bias + attention.in_proj_bias @ attention.out_proj.weight.T
""": "RuntimeError",
    },
    right=(
        """\
def one_bias_for_two(attention):
    return attention.out_proj(attention.in_proj_bias[2 * attention.embed_dim :])
""",
        """\
def one_bias_for_two(attention):
    b_V = attention.in_proj_bias.view(3, -1)[2]
    moved = [sum(w * b for w, b in zip(row, b_V)) for row in attention.out_proj.weight]
    return torch.stack(moved) + attention.out_proj.bias
""",
        """\
def one_bias_for_two(attention):
    nothing = torch.zeros(1, 1, attention.embed_dim)  # every value is b_V alone
    return attention(nothing, nothing, nothing)[0].flatten().detach()
""",
    ),
)


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


def _without_biases(layer, X, padding):
    with torch.no_grad():
        for part in (layer.linear1, layer.linear2):
            part.bias.zero_()
    return _encoder_layer(layer, X, padding)


def warm_up():
    """The first attention with a mask imports much of PyTorch, which is no learner's time."""
    X = torch.zeros(1, 2, 2)
    nn.MultiheadAttention(2, 1)(X, X, X, key_padding_mask=torch.zeros(2, 1, dtype=torch.bool))


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
    chapter="10",
    section="The encoder layer, rebuilt",
    kind=WRITE,
    title="PyTorch's encoder layer in your own order",
    goal="Put the parts of a layer together in both orders, with the right residuals.",
    difficulty=4,
    importance=5,
    minutes=20,
    text="""\
Write what `nn.TransformerEncoderLayer` does in `eval` mode, from its parts. You may call the parts
(`layer.self_attn`, `layer.norm1`, `layer.linear1` and so on), but not the layer itself. It comes in
two orders: `layer.norm_first` says which. Its activation is a ReLU.

The steps of the paper's order, `norm_first=False`, are shuffled. Put them in order first:

- *keep and norm 2*: add what the feed-forward was given, then `norm2`;
- *attend*: self-attention, with the padding hidden;
- *feed*: `linear1`, ReLU, `linear2`;
- *keep and norm 1*: add what the attention was given, then `norm1`.

With `norm_first=True` each norm stands before its work, and nothing stands after the sum.""",
    hints=(
        "The order is: attend, keep and norm 1, feed, keep and norm 2. In the other order a "
        "sub-layer is `X = X + work(norm(X))`.",
        "`layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]` attends. For the other order, "
        "give it `Z = layer.norm1(X)`, and add its result to `X`, not to `Z`.",
        "Paper: `X = layer.norm1(X + attend(X))`, then `layer.norm2(X + feed(X))`. Other: "
        "`X = X + attend(layer.norm1(X))`, then `X + feed(layer.norm2(X))`.",
    ),
    stub='''\
def encoder_layer_by_hand(layer, X, padding):
    """What an encoder layer computes, from its parts.

    layer: nn.TransformerEncoderLayer, batch-first, in eval mode, with a ReLU
    X: float tensor (N, S, d_model)
    padding: bool tensor (N, S), True where there is padding
    Returns float tensor (N, S, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def encoder_layer_by_hand(layer, X, padding):
    """What an encoder layer computes, from its parts.

    layer: nn.TransformerEncoderLayer, batch-first, in eval mode, with a ReLU
    X: float tensor (N, S, d_model)
    padding: bool tensor (N, S), True where there is padding
    Returns float tensor (N, S, d_model)
    """

    def attend(Z):
        return layer.self_attn(Z, Z, Z, key_padding_mask=padding)[0]

    def feed(Z):
        return layer.linear2(layer.linear1(Z).relu())

    if layer.norm_first:
        X = X + attend(layer.norm1(X))
        return X + feed(layer.norm2(X))
    X = layer.norm1(X + attend(X))
    return layer.norm2(X + feed(X))
''',
    because="Compared on layers whose every parameter is random; fresh ones hide slips.",
    reference=_encoder_layer,
    cases=_cases_of_layers,
    forbidden=(nn.TransformerEncoderLayer.forward,),
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


def _told_twice(box, source, target, padding):
    return box(
        source,
        target,
        tgt_mask=_future(target),
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )


def _future(target):
    return torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)


def _told(*names, future=True, real=False):
    """The box, told of the padding (or, `real`, of what is no padding) under these names."""

    def run(box, source, target, padding):
        told = dict.fromkeys(names, ~padding if real else padding)
        return box(source, target, tgt_mask=_future(target) if future else None, **told)

    return run


def _silenced(box, source, target, padding):
    return _told("src_key_padding_mask")(
        box, source.masked_fill(padding[..., None], 0.0), target, padding
    )


def _cases_of_boxes():
    warm_up()
    for N, S, T, d_model, num_heads in [(1, 2, 2, 4, 2), (1, 3, 2, 4, 2), (2, 4, 3, 6, 2)]:
        box = nn.Transformer(d_model, num_heads, 1, 1, 5, batch_first=True)
        real = torch.randint(1, S, (N, 1))  # tokens of each source; the rest is padding
        source, target = torch.randn(N, S, d_model), torch.randn(N, T, d_model)
        yield filled(box), source, target, torch.arange(S) >= real


padding_of_the_source = Exercise(
    name="padding_of_the_source",
    chapter="10",
    section="What can go wrong",
    kind=MEND,
    title="Alone it translates well",
    goal="Tell PyTorch of the padding wherever it is met.",
    difficulty=3,
    importance=5,
    minutes=10,
    text="""\
A sentence that is translated alone comes out well. In a batch with a longer sentence, the same one
comes out differently: its padding has a say. **Find the mistake and mend it.** The targets of this
batch are all equally long, so they have no padding.""",
    hints=(
        "Where in the box are the tokens of the source attended to? There are two places.",
        "The encoder hides the padding, and still it returns a vector for each padded place. Who "
        "reads these vectors?",
        "Cross-attention has a mask argument of its own, `memory_key_padding_mask`. The decoder "
        "does not inherit that of the encoder.",
    ),
    stub='''\
def padding_of_the_source(box, source, target, padding):
    """An nn.Transformer on a padded batch. It has a mistake: find it and mend it.

    box: nn.Transformer, batch-first, in eval mode
    source: float tensor (N, S, d_model)
    target: float tensor (N, T, d_model)
    padding: bool tensor (N, S), True where the source has padding
    Returns float tensor (N, T, d_model)
    """
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return box(source, target, tgt_mask=future, src_key_padding_mask=padding)
''',
    solution='''\
def padding_of_the_source(box, source, target, padding):
    """An nn.Transformer on a padded batch.

    box: nn.Transformer, batch-first, in eval mode
    source: float tensor (N, S, d_model)
    target: float tensor (N, T, d_model)
    padding: bool tensor (N, S), True where the source has padding
    Returns float tensor (N, T, d_model)
    """
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return box(
        source,
        target,
        tgt_mask=future,
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
''',
    because="The source is read twice, by the encoder and by cross-attention: tell both.",
    reference=_told_twice,
    cases=_cases_of_boxes,
    mistakes=(
        (
            "As it was: the decoder attends to what the encoder made of padding.",
            _told("src_key_padding_mask"),
        ),
        (
            "Now the decoder knows of the padding, and the encoder no longer does: both must.",
            _told("memory_key_padding_mask"),
        ),
        (
            "Now no padding is hidden anywhere.",
            _told(),
        ),
        (
            "`tgt_key_padding_mask` hides words of the target, which has no padding here; the "
            "decoder still reads what the encoder made of the source's padding.",
            _told("src_key_padding_mask", "tgt_key_padding_mask"),
        ),
        (
            "The source's padding is told twice now, and once too often: `tgt_key_padding_mask` "
            "hides words of the target.",
            _told("src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask"),
        ),
        (
            "`memory_mask` says for each target word what it may not see, (T, S); padding is "
            "another for each sentence and has an argument of its own.",
            _told("src_key_padding_mask", "memory_mask"),
        ),
        (
            "The padding is hidden now, but the future no longer is: `tgt_mask` was right.",
            _told("src_key_padding_mask", "memory_key_padding_mask", future=False),
        ),
        (
            "Your masks work the wrong way round: for PyTorch's modules True hides.",
            _told("src_key_padding_mask", "memory_key_padding_mask", real=True),
        ),
        (
            "Zeros in the source do not help: zero is a vector like any other, and after the "
            "encoder it is not even zero. Hide the places from the decoder.",
            _silenced,
        ),
    ),
    wrong={
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, tgt_mask=future)
""": "as it was",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source)
    return box.decoder(target, memory, tgt_mask=future, memory_key_padding_mask=padding)
""": "encoder no longer does",
        """\
def padding_of_the_source(box, source, target, padding):
    future = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
    return box(source, target, tgt_mask=future)
""": "no padding is hidden",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, tgt_mask=future, tgt_key_padding_mask=padding)
""": "hides words of the target, which has no padding",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    masks = {f"{name}_key_padding_mask": padding for name in ("src", "tgt", "memory")}
    return box(source, target, tgt_mask=future, **masks)
""": "once too often",
        """\
def padding_of_the_source(box, source, target, padding):
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, memory_key_padding_mask=padding)
""": "future no longer is",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    real = padding.logical_not()
    memory = box.encoder(source, src_key_padding_mask=real)
    return box.decoder(target, memory, tgt_mask=future, memory_key_padding_mask=real)
""": "wrong way round",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    source = source * ~padding[:, :, None]
    return box(source, target, tgt_mask=future, src_key_padding_mask=padding)
""": "zeros in the source",
    },
    right=(
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, tgt_mask=future, memory_key_padding_mask=padding)
""",
        """\
def padding_of_the_source(box, source, target, padding):
    future = torch.full((target.shape[1],) * 2, float("-inf")).triu(1)
    one_by_one = []
    for n, hidden in enumerate(padding):
        real = source[n : n + 1, ~hidden]  # without padding there is nothing to hide
        one_by_one.append(box(real, target[n : n + 1], tgt_mask=future))
    return torch.cat(one_by_one)
""",
    ),
)

why_the_adapter_is_gone = Exercise(
    name="why_the_adapter_is_gone",
    chapter="10",
    section="Where PyTorch surprises",
    kind=EXPLAIN,
    title="Trained, and then ignored",
    goal="Explain why a module may compute something else in use than in training.",
    difficulty=3,
    importance=3,
    minutes=10,
    text="""\
A colleague replaces `linear1` of every `nn.TransformerEncoderLayer` by a module of her own, a
linear layer with an adapter, and trains the adapters. The loss falls. Then she calls
`model.eval()`, translates inside `torch.no_grad()`, and gets the translations from before the
training, without any error. **Explain** in three to five sentences what happened, how she can show
it, and what she can do.""",
    hints=(
        "What differs between her training and her translating, apart from dropout?",
        "Under which conditions does an encoder layer not call its own parts?",
        "The chapter counts calls. It also names two things that switch the path off.",
    ),
    stub='''\
why_the_adapter_is_gone = """

"""
''',
    solution='''\
why_the_adapter_is_gone = """
In eval mode and without gradients a batch-first encoder layer takes PyTorch's fast path: it does
not call linear1, but hands linear1.weight and linear1.bias to one fused function. Her adapter is
code in forward, and nobody calls that, so only the old weights have a say. In training the layer
calls its parts, which is why the loss fell. She can show it by counting the calls of her module, or
by comparing the layer's results with and without gradients, both in eval mode. To mend it she can
switch the path off with torch.backends.mha.set_fastpath_enabled(False), or hang a hook on any part
of the layer.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "why_the_adapter_is_gone = 'Dropout is off in eval mode.'": "at least 12 words",
        "why_the_adapter_is_gone = {'fast': 'path'}": "as a text in quotes",
        "why_the_adapter_is_gone = 5": "as a text in quotes",
    },
    rubric="""\
- 1 point: in `eval` mode and without gradients the layer takes another path and does not call its
  own parts.
- 1 point: it reads the parameters (`weight` and `bias` of `linear1`) and hands them to a fused
  function, so what the new module does in `forward` has no say; in training it has.
- 1 point: a test: count calls, or compare results with and without gradients (both in `eval` mode).
- 1 point: a remedy: `torch.backends.mha.set_fastpath_enabled(False)`, or a hook on a part. (A test
  of her own in `train` mode, or dropout as the reason, gets no point.)""",
)

EXERCISES = (
    numbers_of_a_layer,
    matrices_of_a_head,
    one_bias_for_two,
    encoder_layer_by_hand,
    padding_of_the_source,
    why_the_adapter_is_gone,
)
