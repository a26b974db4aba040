"""Attention in three lines."""

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_02.shared import cases, right_attention, scores

attend = Exercise(
    name="attend",
    chapter="02",
    section="Attention in three lines",
    kind=WRITE,
    title="Attention in three lines",
    goal="Write attention from its formula, for any batch.",
    difficulty=2,
    importance=5,
    minutes=5,
    text="""\
Write $Y = \\text{softmax}(Q K^T / \\sqrt{d_k})\\, V$. Queries and keys may come from different
sentences, so $T$ and $S$ differ. Any number of batch dimensions may stand in front.""",
    hints=(
        "Three steps, a line each: scores, weights, results. Write the shape behind each line.",
        "`K.transpose(-2, -1)` swaps the last two dimensions, whatever stands in front. Which "
        "dimension of the scores, (..., T, S), holds the keys?",
        "`E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])`, then `E.softmax(dim=-1)`. "
        "One product is left.",
    ),
    stub='''\
def attend(Q, K, V):
    """Q: (..., T, d_k), K: (..., S, d_k), V: (..., S, d_v). Returns Y: (..., T, d_v)."""
    ...  # three lines: scores, weights, result
''',
    solution="""\
def attend(Q, K, V):
    E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., T, S)
    A = E.softmax(dim=-1)  # (..., T, S)
    return A @ V  # (..., T, d_v)
""",
    reference=right_attention,
    cases=cases,
    gradient=True,
    forbidden=(compute_attention_matrix,),
    mistakes=(
        (
            "Your scores are not scaled: divide them by the square root of d_k.",
            lambda Q, K, V: (Q @ K.transpose(-2, -1)).softmax(-1) @ V,
        ),
        (
            "Your scores are divided by d_k; it must be its square root.",
            lambda Q, K, V: (Q @ K.transpose(-2, -1) / Q.shape[-1]).softmax(-1) @ V,
        ),
        (
            "Your scores are divided by the square root of d_v; the width of a query is d_k.",
            lambda Q, K, V: (Q @ K.transpose(-2, -1) / V.shape[-1] ** 0.5).softmax(-1) @ V,
        ),
        (
            "Your scores are divided by the square root of S, the number of keys; it is d_k that "
            "counts.",
            lambda Q, K, V: (Q @ K.transpose(-2, -1) / K.shape[-2] ** 0.5).softmax(-1) @ V,
        ),
        (
            "Your scores are multiplied by the square root of d_k; divide.",
            lambda Q, K, V: (Q @ K.transpose(-2, -1) * Q.shape[-1] ** 0.5).softmax(-1) @ V,
        ),
        (
            "Your softmax runs over the queries: each column sums to 1, and each row should.",
            lambda Q, K, V: scores(Q, K).softmax(-2) @ V,
        ),
        (
            "Your softmax runs over a dimension that is counted from the front, so a batch moves "
            "it; count from the end.",
            lambda Q, K, V: scores(Q, K).softmax(1) @ V,
        ),
        (
            "Your softmax runs over dimension 0, which is not that of the keys; count from the "
            "end.",
            lambda Q, K, V: scores(Q, K).softmax(0) @ V,
        ),
        (
            "The softmax is missing: scores are no weights.",
            lambda Q, K, V: scores(Q, K) @ V,
        ),
        (
            "`.T` turns all dimensions around, the batch too; `transpose(-2, -1)` swaps the last "
            "two.",
            lambda Q, K, V: (
                (Q @ K.permute(*reversed(range(K.dim()))) / Q.shape[-1] ** 0.5).softmax(-1) @ V
            ),
        ),
        (
            "You return the weights A; the result is A times V.",
            lambda Q, K, V: scores(Q, K).softmax(-1),
        ),
        (
            "The scaling comes after the softmax; it belongs before it.",
            lambda Q, K, V: (Q @ K.transpose(-2, -1)).softmax(-1) / Q.shape[-1] ** 0.5 @ V,
        ),
    ),
    wrong={
        """\
def attend(Q, K, V):
    return torch.softmax(torch.matmul(Q, K.mT), dim=-1) @ V
""": "not scaled",
        """\
def attend(Q, K, V):
    d_k = K.size(-1)
    scores = Q @ K.mT / d_k
    return F.softmax(scores, dim=-1) @ V
""": "divided by d_k",
        """\
def attend(Q, K, V):
    return F.scaled_dot_product_attention(Q, K, V, scale=V.shape[-1] ** -0.5)
""": "square root of d_v",
        """\
def attend(Q, K, V):
    scores = Q @ K.mT
    return F.softmax(scores / math.sqrt(scores.size(-1)), -1) @ V
""": "number of keys",
        """\
def attend(Q, K, V):
    E = torch.einsum("...td,...sd->...ts", Q, K) / math.sqrt(Q.shape[-1])
    A = E.exp() / E.exp().sum(dim=-2, keepdim=True)
    return A @ V
""": "over the queries",
        """\
def attend(Q, K, V):
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    return F.softmax(E, dim=1) @ V
""": "counted from the front",
        """\
def attend(Q, K, V):
    E = Q.matmul(K.mT).div(Q.size(-1) ** 0.5)
    return nn.Softmax(dim=0)(E).matmul(V)
""": "dimension 0",
        """\
def attend(Q, K, V):
    return Q @ K.mT @ V / math.sqrt(Q.shape[-1])
""": "softmax is missing",
        """\
def attend(Q, K, V):
    E = Q @ K.T / math.sqrt(Q.shape[-1])
    return E.softmax(-1) @ V
""": "turns all dimensions around",
        """\
def attend(Q, K, V):
    E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    return torch.softmax(E, -1)
""": "A times V",
        """\
def attend(Q, K, V):
    E = Q @ K.transpose(-2, -1)
    E /= torch.sqrt(Q.shape[-1])
    return E.softmax(-1) @ V
""": "TypeError: sqrt()",
        """\
def attend(Q, K, V):
    Q /= math.sqrt(Q.shape[-1])
    return (Q @ K.mT).softmax(-1) @ V
""": "changes its argument `Q`",
        """\
def attend(Q, K, V):
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    Y = E.softmax(-1) @ V
""": "is a `return` missing",
        """\
def attend(Q, K, V):
    with torch.no_grad():
        return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ V
""": "the gradient of `Q` is missing",
        """\
def attend(Q, K, V):
    E = torch.exp(Q @ K.mT / math.sqrt(Q.shape[-1]))
    E /= E.sum(-1, keepdim=True)
    return E @ V
""": "the result of `exp` in the line `E /= E.sum(-1, keepdim=True)`",
        """\
def attend(Q, K, V):
    return (torch.mm(Q, K.mT) / math.sqrt(Q.shape[-1])).softmax(-1) @ V
""": "Your answer raises RuntimeError: self must be a matrix",
        """\
def attend(Q, K, V):
    E = Q.numpy() @ K.mT.numpy() / math.sqrt(Q.shape[-1])
    return torch.from_numpy(E).softmax(-1) @ V
""": "NumPy knows no gradients",
    },
    right=(
        """\
def attend(Q, K, V):
    return F.scaled_dot_product_attention(Q, K, V)
""",
        """\
def attend(Q, K, V):
    E = torch.einsum("...td,...sd->...ts", Q, K) * Q.size(-1) ** -0.5
    return torch.einsum("...ts,...sv->...tv", E.softmax(-1), V)
""",
        """\
def attend(Q, K, V):
    if Q.dim() > 2:
        return torch.stack([attend(*one) for one in zip(Q, K, V)])
    rows = []
    for q in Q:
        scores = torch.stack([q.dot(k) for k in K]) / len(q) ** 0.5
        weights = scores.exp() / scores.exp().sum()
        rows.append(sum(w * v for w, v in zip(weights, V)))
    return torch.stack(rows)
""",
        """\
def attend(Q, K, V):
    E = (Q.unsqueeze(-2) * K.unsqueeze(-3)).sum(-1).double() / math.sqrt(Q.shape[-1])
    A = E.softmax(-1)
    return (A.unsqueeze(-1) * V.unsqueeze(-3)).sum(-2)
""",
    ),
)
