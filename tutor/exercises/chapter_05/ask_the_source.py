"""Who asks, and who answers?"""

import torch
import torch.nn.functional as F

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import MEND, Exercise


def _ask(X_Q, X_K, X_V, W_Q, W_K, W_V, hidden=None):
    mask = None if hidden is None else ~hidden
    return F.scaled_dot_product_attention(X_Q @ W_Q, X_K @ W_K, X_V @ W_V, attn_mask=mask)


def _ask_softmax(X, M, W_Q, W_K, W_V, hidden, root=None, transpose=lambda K: K.mT):
    """The same step by step: another divisor, or another transpose."""
    E = X @ W_Q @ transpose(M @ W_K) / (W_K.shape[1] ** 0.5 if root is None else root)
    return E.masked_fill(hidden, -torch.inf).softmax(-1) @ (M @ W_V)


def _ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    return compute_attention_matrix(X @ W_Q, memory @ W_K, hidden) @ (memory @ W_V)


def _cases_of_sources():
    for N, T, S, d_model, d_k, d_v, padding in [
        (1, 2, 2, 3, 4, 1, 0),
        (2, 3, 3, 4, 2, 5, 1),  # equal lengths: the stub raises nothing here
        (1, 1, 3, 2, 4, 5, 0),
        (2, 5, 3, 4, 1, 6, 1),
        (3, 2, 7, 5, 4, 1, 3),
    ]:
        X, memory = torch.randn(N, T, d_model), torch.randn(N, S, d_model)
        W_Q, W_K, W_V = torch.randn(2 * d_k + d_v, d_model).split([d_k, d_k, d_v])
        hidden = torch.zeros(N, 1, S, dtype=torch.bool)
        hidden[-1, :, S - padding :] = True
        yield X, memory, W_Q.T, W_K.T, W_V.T, hidden


ask_the_source = Exercise(
    name="ask_the_source",
    chapter="05",
    section="Looking at the source",
    kind=MEND,
    title="Who asks, and who answers?",
    goal="Give cross-attention its queries, keys and values from the right sentences.",
    difficulty=2,
    importance=5,
    minutes=4,
    text="""\
A published decoder hands its cross-attention the three inputs in a wrong order. Whoever tries it
with sentences of one length alone sees nothing. With $T \\neq S$ it breaks. **Find the mistake and
mend it.** The mask is right: it hides the padding of the source.""",
    hints=(
        "Who wants to know something, and who can tell it?",
        "The result has a row for each token that asks. How many rows must it have, T or S?",
        "Queries are made from the target. Both keys and values are made from the memory.",
    ),
    stub='''\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    """Cross-attention with one head. It has a mistake: find it and mend it.

    X: float tensor (N, T, d_model), vectors of the target
    memory: float tensor (N, S, d_model), the encoder's output
    W_Q, W_K: float tensors (d_model, d_k); W_V: float tensor (d_model, d_v)
    hidden: bool tensor (N, 1, S), True where the source is padding
    Returns Y: float tensor (N, T, d_v)
    """
    Q = memory @ W_Q  # (N, ?, d_k)
    K = memory @ W_K  # (N, ?, d_k)
    V = X @ W_V  # (N, ?, d_v)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
''',
    solution='''\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    """Cross-attention with one head.

    X: float tensor (N, T, d_model), vectors of the target
    memory: float tensor (N, S, d_model), the encoder's output
    W_Q, W_K: float tensors (d_model, d_k); W_V: float tensor (d_model, d_v)
    hidden: bool tensor (N, 1, S), True where the source is padding
    Returns Y: float tensor (N, T, d_v)
    """
    Q = X @ W_Q  # (N, T, d_k)
    K = memory @ W_K  # (N, S, d_k)
    V = memory @ W_V  # (N, S, d_v)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
''',
    because="The target asks; the memory has the keys and the values.",
    reference=_ask_the_source,
    cases=_cases_of_sources,
    gradient=True,
    mistakes=(
        (
            "As it was: with T = S the numbers are wrong, and with T different from S it raises an "
            "error.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(M, M, X, W_Q, W_K, W_V, hidden),
        ),
        (
            "The queries are right now, but the values are still made from the target; the source "
            "must say what is found.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, M, X, W_Q, W_K, W_V, hidden),
        ),
        (
            "The values are right now, but the queries are still made from the memory: the source "
            "asks itself.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(M, M, M, W_Q, W_K, W_V, hidden),
        ),
        (
            "Target and source have changed places: keys and values belong to the memory.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(M, X, X, W_Q, W_K, W_V, hidden),
        ),
        (
            "The source is ignored: all three are made from the target, which is self-attention.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, X, X, W_Q, W_K, W_V, hidden),
        ),
        (
            "The keys are made from the target and the values from the memory; a key and its value "
            "belong to one token.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, X, M, W_Q, W_K, W_V, hidden),
        ),
        (
            "The three inputs are right now, but the mask is gone: padding of the source is seen.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, M, M, W_Q, W_K, W_V),
        ),
        (
            "The three inputs are right now, but the mask is turned over; it was right.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, M, M, W_Q, W_K, W_V, ~hidden),
        ),
        (
            "The source is ignored, and so is its mask: all three are made from the target.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, X, X, W_Q, W_K, W_V),
        ),
        (
            "The three inputs are right now, but the scores are no longer divided by the root of "
            "d_k.",
            lambda *given: _ask_softmax(*given, root=1.0),
        ),
        (
            "The scores are divided by d_k; it was its square root, and that was right.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask_softmax(
                *(X, M, W_Q, W_K, W_V, hidden), root=W_K.shape[1]
            ),
        ),
        (
            "The three inputs are right now, but `W_Q` makes the keys and `W_K` the queries.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, M, M, W_K, W_Q, W_V, hidden),
        ),
        *(
            (
                "Your mask is turned by 90 degrees: it now hides rows, those that ask. It was "
                "right; it hides columns, the padding of the source.",
                ask,
            )
            for ask in (
                lambda X, M, W_Q, W_K, W_V, hidden: _ask(X, M, M, W_Q, W_K, W_V, hidden.mT),
                lambda X, M, W_Q, W_K, W_V, hidden: _ask_softmax(X, M, W_Q, W_K, W_V, hidden.mT),
            )
        ),
        (
            "Your transpose makes sentences of the keys' tokens. The last two dimensions of the "
            "keys are to change places.",
            lambda *given: _ask_softmax(*given, transpose=lambda K: K.transpose(0, 1)),
        ),
        (
            "There is no causal mask in cross-attention: the whole source is known before anything "
            "is written.",
            lambda X, M, W_Q, W_K, W_V, hidden: _ask(
                *(X, M, M, W_Q, W_K, W_V),
                hidden | torch.ones(X.shape[1], M.shape[1], dtype=torch.bool).triu(1),
            ),
        ),
    ),
    wrong={
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    E = (X @ W_Q) @ (memory @ W_K).mT
    return E.masked_fill(hidden, -torch.inf).softmax(-1) @ (memory @ W_V)
""": "no longer divided",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden, scale=1 / W_K.shape[1])
""": "divided by d_k; it was",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = X @ W_K, memory @ W_Q, memory @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""": "`W_Q` makes the keys",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden.mT)
""": "turned by 90 degrees",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    E = (X @ W_Q) @ (memory @ W_K).mT / math.sqrt(W_K.shape[1])
    return E.masked_fill(hidden.mT, -torch.inf).softmax(-1) @ (memory @ W_V)
""": "turned by 90 degrees",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = X @ W_Q, memory @ W_K, X @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""": "still made from the target",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = (memory @ W for W in (W_Q, W_K, W_V))
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""": "source asks itself",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = memory @ W_Q, X @ W_K, X @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""": "changed places",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    E = (X @ W_Q) @ (X @ W_K).mT / math.sqrt(W_K.shape[1])
    return E.softmax(-1) @ (X @ W_V)
""": "source is ignored, and so is its mask",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    E = (X @ W_Q) @ (memory @ W_K).mT / math.sqrt(W_K.shape[1])
    return E.softmax(-1) @ (memory @ W_V)
""": "the mask is gone",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=hidden)
""": "mask is turned over",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    T, S = X.shape[1], memory.shape[1]
    seen = torch.ones(T, S, dtype=torch.bool).tril() & ~hidden
    return F.scaled_dot_product_attention(X @ W_Q, memory @ W_K, memory @ W_V, seen)
""": "no causal mask",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    memory = memory.detach()
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""": "the gradient of `memory` is missing",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    E = (Q @ K.transpose(0, 1)).masked_fill(hidden, -1e9)
    return E.softmax(-1) @ V
""": "makes sentences of the keys",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q, K, V = (Y.unsqueeze(1) for Y in (memory @ W_Q, memory @ W_K, X @ W_V))
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden.unsqueeze(1)).squeeze(1)
""": "As it was",
    },
    right=(
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    E = (X @ W_Q) @ (memory @ W_K).mT / math.sqrt(W_K.shape[1])
    return E.masked_fill(hidden, float("-inf")).softmax(-1) @ (memory @ W_V)
""",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    Q = torch.einsum("ntd,dk->ntk", X, W_Q)
    K = torch.einsum("nsd,dk->nsk", memory, W_K)
    E = torch.einsum("ntk,nsk->nts", Q, K) * W_K.shape[1] ** -0.5
    A = torch.where(hidden, -1e9, E).softmax(dim=-1)
    return torch.einsum("nts,nsd,dv->ntv", A, memory, W_V)
""",
        """\
def ask_the_source(X, memory, W_Q, W_K, W_V, hidden):
    sentences = []
    for x, m, h in zip(X, memory, hidden):
        m = m[~h[0]]
        E = (x @ W_Q) @ (m @ W_K).T / math.sqrt(W_K.shape[1])
        sentences.append(E.softmax(-1) @ (m @ W_V))
    return torch.stack(sentences)
""",
    ),
)
