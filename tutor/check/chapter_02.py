"""Exercises of chapter 02: scores, softmax, masks."""

import math

import torch
import torch.nn.functional as F

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import EXPLAIN, MEND, PREDICT, WRITE, Exercise
from tutor.museum import EXHIBITS


def _attend(Q, K, V):
    return compute_attention_matrix(Q, K) @ V


def _attend_with_mask(Q, K, V, mask):
    return compute_attention_matrix(Q, K, mask) @ V


def _scores(Q, K):
    return Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])


def _minus_infinity(mask):
    return torch.zeros(mask.shape).masked_fill(mask, -math.inf)


def _sizes():
    """Shapes of Q, K and V, smallest first: no two sizes of a case are equal, but for 1."""
    for N, T, S, d_k, d_v in [((), 1, 2, 4, 1), ((), 2, 3, 4, 1), ((1,), 3, 2, 5, 4)]:
        yield (*N, T, d_k), (*N, S, d_k), (*N, S, d_v)
    for N, T, S, d_k, d_v in [((2,), 3, 4, 5, 7), ((2, 3), 4, 5, 1, 6)]:
        yield (*N, T, d_k), (*N, S, d_k), (*N, S, d_v)


def _cases():
    for shapes in _sizes():
        # halves are easy to read in a message
        yield tuple((2 * torch.randn(shape)).round() / 2 for shape in shapes)
    yield torch.zeros(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 3)


def _cases_with_mask():
    for number, (Q, K, V) in enumerate(_cases()):
        if number == 2:  # a small one in which a query may see nothing
            yield Q[0], K[0], V[0], torch.tensor([[False, True], [True, True], [True, False]])
        mask = torch.rand(*Q.shape[:-1], K.shape[-2]) < 0.5
        mask[..., 0] = False  # at least one key stays
        yield Q, K, V, mask
    Q, K, V = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 3)
    yield Q, K, V, torch.zeros(2, 3, 5, dtype=torch.bool)
    yield Q, K, V, torch.tensor([False, False, True, False, True])  # broadcasts
    nothing = torch.zeros(2, 3, 5, dtype=torch.bool)
    nothing[1, 2] = True  # a query that may see nothing
    yield Q, K, V, nothing


weights_of_two_keys = Exercise(
    name="weights_of_two_keys",
    chapter="02",
    section="One row by hand",
    kind=PREDICT,
    title="Two keys, one query",
    goal="Go from scores to weights on paper.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
A query of width $d_k = 4$ meets two keys. Its scores, before the scaling, are
$E = [0,\\; 2 \\ln 3]$; that is about $[0, 2.197]$.

**Predict** the two weights, on paper: a list of two numbers, good to two decimals. The number
$e^{\\ln 3}$ is 3.""",
    hints=(
        "Two steps lie between a score and a weight: scale, then softmax.",
        "The scaling divides by $\\sqrt{d_k} = 2$. What is left of $2 \\ln 3$?",
        "The scaled scores are $[0, \\ln 3]$, with exponentials 1 and 3. Divide each by the sum.",
    ),
    stub="weights_of_two_keys = None  # a list of two numbers, such as [0.1, 0.9]",
    solution="weights_of_two_keys = [0.25, 0.75]",
    because="The scaled scores are 0 and ln 3, their exponentials 1 and 3, and 1 + 3 = 4.",
    reference=[0.25, 0.75],
    tolerance=0.006,
    mistakes=(
        ("The scores were not scaled: divide them by the square root of d_k first.", [0.1, 0.9]),
        ("You divided by d_k = 4; the square root of it is 2.", [0.366, 0.634]),
        ("That is a share of the scores. The softmax takes the exponentials first.", [0.0, 1.0]),
        ("Those are the scaled scores. The softmax is still to come.", [0.0, 1.0986]),
        ("Those are exponentials. Divide them by their sum.", [1.0, 3.0]),
        ("The two weights are exchanged: the larger score gets more.", [0.75, 0.25]),
        ("Equal weights belong to equal scores; these differ.", [0.5, 0.5]),
    ),
    wrong={
        "weights_of_two_keys = [1 / 10, 9 / 10]": "not scaled",
        "x = 3 ** 0.5\nweights_of_two_keys = [1 / (1 + x), x / (1 + x)]": "divided by d_k",
        "weights_of_two_keys = (0, 1)": "share of the scores",
        "weights_of_two_keys = [0, math.log(3)]": "still to come",
        "weights_of_two_keys = [3 / 4, 1 / 4]": "exchanged",
        "weights_of_two_keys = 0.75": "a list is wanted",
        "weights_of_two_keys = [0.25, 0.25, 0.5]": "of length 3",
    },
    right=(
        "weights_of_two_keys = torch.tensor([0.0, math.log(3)]).softmax(0)",
        "weights_of_two_keys = (1 / 4, 3 / 4)",
    ),
)

attend = Exercise(
    name="attend",
    chapter="02",
    section="All rows: a loop, then one product",
    kind=WRITE,
    title="Attention in three lines",
    goal="Write attention from its formula, for any batch.",
    difficulty=2,
    importance=5,
    minutes=10,
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
    """Attention without a mask.

    Q: float tensor (..., T, d_k)
    K: float tensor (..., S, d_k)
    V: float tensor (..., S, d_v)
    Returns Y: float tensor (..., T, d_v)
    """
    raise NotImplementedError
''',
    solution='''\
def attend(Q, K, V):
    """Attention without a mask.

    Q: float tensor (..., T, d_k)
    K: float tensor (..., S, d_k)
    V: float tensor (..., S, d_v)
    Returns Y: float tensor (..., T, d_v)
    """
    E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., T, S)
    A = E.softmax(dim=-1)  # (..., T, S)
    return A @ V  # (..., T, d_v)
''',
    reference=_attend,
    cases=_cases,
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
            lambda Q, K, V: _scores(Q, K).softmax(-2) @ V,
        ),
        (
            "Your softmax runs over a dimension that is counted from the front, so a batch moves "
            "it; count from the end.",
            lambda Q, K, V: _scores(Q, K).softmax(1) @ V,
        ),
        (
            "Your softmax runs over dimension 0, which is not that of the keys; count from the "
            "end.",
            lambda Q, K, V: _scores(Q, K).softmax(0) @ V,
        ),
        (
            "The softmax is missing: scores are no weights.",
            lambda Q, K, V: _scores(Q, K) @ V,
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
            lambda Q, K, V: _scores(Q, K).softmax(-1),
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

attend_with_mask = Exercise(
    name="attend_with_mask",
    chapter="02",
    section="Words that may not be seen",
    kind=WRITE,
    title="Attention that may not look everywhere",
    goal="Hide words so that they have no say at all, and survive a row in which all are hidden.",
    difficulty=4,
    importance=5,
    minutes=20,
    text="""\
Write attention with a mask of booleans: `True` means *may not be attended to*. A query that may
attend to nothing has the result 0, and no gradient may become NaN because of it.

The steps have names, but they are shuffled. Put them in order first:

- *clean*: set the weights of hidden keys to 0, which only matters in a row that is all hidden;
- *mix*: multiply the weights with the values;
- *hide*: put the lowest finite number in the place of the scores of hidden keys;
- *weigh*: take the softmax over the keys;
- *score*: multiply queries with keys, and scale.""",
    hints=(
        "The order is: score, hide, weigh, clean, mix. Each is one line.",
        "`torch.finfo(E.dtype).min` is the lowest finite number, and `E.masked_fill(mask, number)` "
        "returns a copy of `E` that has it where `mask` is `True`.",
        "After the softmax, `A.masked_fill(mask, 0.0)` cleans: in a row with a visible key it "
        "changes nothing, in a row without one it turns even weights into zeros.",
    ),
    stub='''\
def attend_with_mask(Q, K, V, mask):
    """Attention with a mask; a row with nothing to attend to is zeros.

    Q: float tensor (..., T, d_k)
    K: float tensor (..., S, d_k)
    V: float tensor (..., S, d_v)
    mask: bool tensor that broadcasts to (..., T, S), True = may not be attended to
    Returns Y: float tensor (..., T, d_v)
    """
    raise NotImplementedError
''',
    solution='''\
def attend_with_mask(Q, K, V, mask):
    """Attention with a mask; a row with nothing to attend to is zeros.

    Q: float tensor (..., T, d_k)
    K: float tensor (..., S, d_k)
    V: float tensor (..., S, d_v)
    mask: bool tensor that broadcasts to (..., T, S), True = may not be attended to
    Returns Y: float tensor (..., T, d_v)
    """
    E = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., T, S)
    E = E.masked_fill(mask, torch.finfo(E.dtype).min)
    A = E.softmax(dim=-1).masked_fill(mask, 0.0)
    return A @ V  # (..., T, d_v)
''',
    reference=_attend_with_mask,
    cases=_cases_with_mask,
    gradient=True,
    forbidden=(compute_attention_matrix,),
    mistakes=(
        (
            "Your mask works the wrong way round: here `True` hides.",
            lambda Q, K, V, mask: compute_attention_matrix(Q, K, ~mask) @ V,
        ),
        (
            "Your mask works the wrong way round: `F.scaled_dot_product_attention` reads `True` as "
            "*may* be attended to.",
            lambda Q, K, V, mask: F.scaled_dot_product_attention(Q, K, V, attn_mask=mask),
        ),
        (
            "You mask the weights after the softmax, so the rows no longer sum to 1 and hidden "
            "words still have a say; mask the scores before it.",
            lambda Q, K, V, mask: _scores(Q, K).softmax(-1).masked_fill(mask, 0) @ V,
        ),
        (
            "You add a mask of 0 and 1 to the scores, so hidden words are even preferred.",
            lambda Q, K, V, mask: (_scores(Q, K) + mask).softmax(-1) @ V,
        ),
        (
            "Hidden scores are set to 0, which is an ordinary score; they need the lowest number.",
            lambda Q, K, V, mask: _scores(Q, K).masked_fill(mask, 0).softmax(-1) @ V,
        ),
        (
            "A row that is all hidden becomes 0 / 0, not a number: -inf has no softmax there. Use "
            "the lowest finite number.",
            lambda Q, K, V, mask: _scores(Q, K).masked_fill(mask, -math.inf).softmax(-1) @ V,
        ),
        (
            "A row that is all hidden has the right result, but NaN was there before you replaced "
            "it, and the gradient still meets it. Avoid -inf.",
            lambda Q, K, V, mask: (
                (_scores(Q, K) + _minus_infinity(mask)).softmax(-1).nan_to_num(0.0) @ V
            ),
        ),
        (
            "A row that is all hidden shares its weight evenly; its weights must be 0. Set hidden "
            "weights to 0 after the softmax.",
            lambda Q, K, V, mask: _scores(Q, K).masked_fill(mask, -1e9).softmax(-1) @ V,
        ),
        (
            "Your answer does not use the mask.",
            lambda Q, K, V, mask: _attend(Q, K, V),
        ),
        (
            "The scores are not scaled: divide them by the square root of d_k.",
            lambda Q, K, V, mask: compute_attention_matrix(Q * Q.shape[-1] ** 0.5, K, mask) @ V,
        ),
        (
            "Hidden keys have the value 0, but still their weight: mask the scores, not the "
            "values or keys.",
            lambda Q, K, V, mask: (
                _attend(Q, K.masked_fill(mask[..., 0, :, None], 0), V)
                if mask.dim() > 1
                else _attend(Q, K.masked_fill(mask[:, None], 0), V)
            ),
        ),
    ),
    wrong={
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    E = E.masked_fill(~mask, torch.finfo(E.dtype).min)
    A = E.softmax(-1).masked_fill(~mask, 0)
    return A @ V
""": "wrong way round",
        """\
def attend_with_mask(Q, K, V, mask):
    return F.scaled_dot_product_attention(Q, K, V, mask)
""": "wrong way round",
        """\
def attend_with_mask(Q, K, V, mask):
    A = F.softmax(Q @ K.mT / math.sqrt(Q.size(-1)), dim=-1)
    return torch.where(mask, torch.zeros_like(A), A) @ V
""": "after the softmax",
        """\
def attend_with_mask(Q, K, V, mask):
    scores = Q @ K.mT / math.sqrt(Q.size(-1)) + mask.float()
    return scores.softmax(dim=-1) @ V
""": "0 and 1",
        """\
def attend_with_mask(Q, K, V, mask):
    scores = Q @ K.mT / math.sqrt(Q.size(-1)) * ~mask
    return scores.softmax(dim=-1) @ V
""": "ordinary score",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    return torch.where(mask, float("-inf"), E).softmax(-1) @ V
""": "0 / 0",
        """\
def attend_with_mask(Q, K, V, mask):
    added = torch.zeros(mask.shape)
    added[mask] = float("-inf")
    A = (Q @ K.mT / math.sqrt(Q.size(-1)) + added).softmax(-1)
    return torch.where(A.isnan(), 0.0, A) @ V
""": "NaN was there before",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    return (E.masked_fill(mask, torch.finfo(E.dtype).min)).softmax(-1) @ V
""": "shares its weight evenly",
        """\
def attend_with_mask(Q, K, V, mask=None):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    E.masked_fill(mask, -1e9)
    return E.softmax(-1) @ V
""": "does not use the mask",
        """\
def attend_with_mask(Q, K, V, mask):
    E = torch.where(mask, -1e9, Q @ K.mT)
    return (E.softmax(-1) * ~mask) @ V
""": "not scaled",
        """\
def attend_with_mask(Q, K, V, mask):
    mask |= False if mask.any() else True
    E = (Q @ K.mT / math.sqrt(Q.size(-1))).masked_fill(mask, -1e9)
    return (E.softmax(-1) * ~mask) @ V
""": "changes its argument `mask`",
    },
    right=(
        """\
def attend_with_mask(Q, K, V, mask):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~mask)
""",
        """\
def attend_with_mask(Q, K, V, mask):
    E = torch.einsum("...td,...sd->...ts", Q, K) / math.sqrt(Q.size(-1))
    E.masked_fill_(mask, -1e9)
    return torch.einsum("...ts,...sv->...tv", E.softmax(-1) * ~mask, V)
""",
        """\
def attend_with_mask(Q, K, V, mask):
    E = (Q @ K.mT / math.sqrt(Q.size(-1))).exp() * ~mask
    total = E.sum(-1, keepdim=True)
    return E @ V / total.masked_fill(total == 0, 1.0)
""",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    E = E.masked_fill(mask, -torch.inf)
    return E.softmax(-1).nan_to_num(0.0) @ V
""",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    mask = mask.expand(E.shape)
    empty = mask.all(dim=-1, keepdim=True)
    E = E.masked_fill(mask & ~empty, float("-inf"))
    return (E.softmax(-1) @ V).masked_fill(empty, 0.0)
""",
    ),
)

_SOFTMAX = EXHIBITS["weights_of_a_sentence"]

rows_sum_to_one = Exercise(
    name="rows_sum_to_one",
    chapter="02",
    section="What can go wrong",
    kind=MEND,
    title="It worked for one sentence",
    goal="Find a dimension that is counted from the wrong end.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
A colleague wrote these attention weights and tested them with one sentence: all rows summed to 1.
With a batch they do not. **Find the mistake and mend it**, so that any number of batch dimensions
may stand in front, or none.""",
    hints=(
        "With one sentence the scores have two dimensions; with a batch they have three. What "
        "does each line do to the third?",
        "Print `E.shape` for a batch of seven. Which of its dimensions holds the keys?",
        "Dimensions can be counted from the end: -1 is the last, wherever the batch stands.",
    ),
    stub='''\
def rows_sum_to_one(Q, K):
    """Attention weights. It has a mistake: find it and mend it.

    Q: float tensor (..., T, d_k)
    K: float tensor (..., S, d_k)
    Returns A: float tensor (..., T, S), whose rows sum to 1
    """
    E = Q @ K.transpose(-2, -1)  # (..., T, S)
    E = E / math.sqrt(Q.shape[-1])
    return E.softmax(dim=1)
''',
    solution='''\
def rows_sum_to_one(Q, K):
    """Attention weights.

    Q: float tensor (..., T, d_k)
    K: float tensor (..., S, d_k)
    Returns A: float tensor (..., T, S), whose rows sum to 1
    """
    E = Q @ K.transpose(-2, -1)  # (..., T, S)
    E = E / math.sqrt(Q.shape[-1])
    return E.softmax(dim=-1)
''',
    because="A dimension that is counted from the end stays where it is when a batch comes.",
    reference=compute_attention_matrix,
    cases=lambda: [(Q, K) for Q, K, _ in _cases()],
    mistakes=(
        (
            "As it was: one sentence is right, and in a batch the rows of A do not sum to 1.",
            _SOFTMAX.wrong,
        ),
        (
            "Now it fits a batch of one dimension and nothing else: dimension 2 is counted from "
            "the front too.",
            lambda Q, K: _scores(Q, K).softmax(2),
        ),
        (
            "Now the columns sum to 1 in every batch, and the rows should.",
            lambda Q, K: _scores(Q, K).softmax(-2),
        ),
        (
            "Now the softmax runs over dimension 0. The keys are in the last one.",
            lambda Q, K: _scores(Q, K).softmax(0),
        ),
        (
            "The rows sum to 1, but the scaling is gone: it was right.",
            lambda Q, K: (Q @ K.transpose(-2, -1)).softmax(-1),
        ),
        (
            "The rows sum to 1 because you divided by their sums; the softmax itself still runs "
            "over the wrong dimension.",
            lambda Q, K: F.normalize(_scores(Q, K).softmax(1), p=1, dim=-1),
        ),
        (
            "The softmax now sees all entries of a matrix at once, so that all of them together "
            "sum to 1.",
            lambda Q, K: _scores(Q, K).flatten(-2).softmax(-1).view(_scores(Q, K).shape),
        ),
    ),
    wrong={
        """\
def rows_sum_to_one(Q, K):
    E = torch.matmul(Q, K.mT) / Q.size(-1) ** 0.5
    return torch.softmax(E, 2)
""": "counted from the front",
        """\
def rows_sum_to_one(Q, K):
    E = torch.matmul(Q, K.mT) / Q.size(-1) ** 0.5
    return torch.softmax(E, E.dim() - 2)
""": "columns sum to 1",
        """\
def rows_sum_to_one(Q, K):
    E = torch.matmul(Q, K.mT) / Q.size(-1) ** 0.5
    return torch.softmax(E, 0)
""": "dimension 0",
        """\
def rows_sum_to_one(Q, K):
    A = (Q @ K.mT / math.sqrt(Q.size(-1))).softmax(dim=1)
    return A / A.sum(dim=-1, keepdim=True)
""": "divided by their sums",
        """\
def rows_sum_to_one(Q, K):
    E = (Q @ K.mT / math.sqrt(Q.size(-1))).exp()
    return E / E.sum(dim=(-2, -1), keepdim=True)
""": "all entries of a matrix",
        """\
def rows_sum_to_one(Q, K):
    return F.softmax(torch.einsum("...td,...sd->...ts", Q, K), dim=-1)
""": "scaling is gone",
        """\
def rows_sum_to_one(Q, K):
    from tutor.attention import compute_attention_matrix
    return compute_attention_matrix(Q, K)
""": "calls `compute_attention_matrix`",
    },
    right=(
        """\
def rows_sum_to_one(Q, K):
    E = torch.einsum("...td,...sd->...ts", Q, K) / math.sqrt(Q.shape[-1])
    return torch.softmax(E, dim=E.dim() - 1)
""",
        """\
def rows_sum_to_one(Q, K):
    E = (Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])).exp()
    return E / E.sum(-1, keepdim=True)
""",
    ),
)

_POLARITY = EXHIBITS["attend_to_the_past"]


def _cases_with_future():
    for N, T, d_k, d_v in [((), 2, 2, 1), ((1,), 3, 4, 2), ((2,), 4, 3, 5)]:
        Q, K, V = torch.randn(*N, T, d_k), torch.randn(*N, T, d_k), torch.randn(*N, T, d_v)
        yield Q, K, V, torch.ones(T, T, dtype=torch.bool).triu(1)
    hidden = torch.rand(2, 3, 5) < 0.5
    hidden[..., 0] = False
    yield torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 1), hidden


no_peeking = Exercise(
    name="no_peeking",
    chapter="02",
    section="What can go wrong",
    kind=MEND,
    title="Every word reads the answer",
    goal="Tell the two polarities of a mask apart.",
    difficulty=2,
    importance=5,
    minutes=8,
    text="""\
A mask in the manner of this course, `hidden`, meets PyTorch's fast attention. Nothing warns, and
every word reads the words that come after it. **Find the mistake and mend it.** Keep the call of
`F.scaled_dot_product_attention`, if you like.""",
    hints=(
        "What does `True` mean in `hidden`, and what does it mean to PyTorch's function?",
        "The section shows both polarities under *Check it*, where the mask meets PyTorch.",
        "`~` turns a tensor of booleans over.",
    ),
    stub='''\
def no_peeking(Q, K, V, hidden):
    """Attention with a mask. It has a mistake: find it and mend it.

    Q: float tensor (..., T, d_k)
    K: float tensor (..., S, d_k)
    V: float tensor (..., S, d_v)
    hidden: bool tensor that broadcasts to (..., T, S), True = may not be attended to
    Returns Y: float tensor (..., T, d_v)
    """
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=hidden)
''',
    solution='''\
def no_peeking(Q, K, V, hidden):
    """Attention with a mask.

    Q: float tensor (..., T, d_k)
    K: float tensor (..., S, d_k)
    V: float tensor (..., S, d_v)
    hidden: bool tensor that broadcasts to (..., T, S), True = may not be attended to
    Returns Y: float tensor (..., T, d_v)
    """
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
''',
    because="To PyTorch's function True is kept; to us, and nn.MultiheadAttention, it is hidden.",
    reference=_POLARITY.mended,
    cases=_cases_with_future,
    forbidden=(compute_attention_matrix,),
    mistakes=(
        (
            "As it was: change the last word, and the results of earlier words move.",
            _POLARITY.wrong,
        ),
        (
            "Now nothing is hidden at all: every word sees every word.",
            lambda Q, K, V, hidden: _attend(Q, K, V),
        ),
        (
            "`is_causal=True` builds a mask of its own and forgets yours, which may hide other "
            "words than the future.",
            lambda Q, K, V, hidden: F.scaled_dot_product_attention(Q, K, V, is_causal=True),
        ),
        (
            "A mask of floats is added to the scores: 1 for hidden words prefers them.",
            lambda Q, K, V, hidden: F.scaled_dot_product_attention(Q, K, V, hidden.float()),
        ),
        (
            "A mask of floats is added to the scores: 0 and 1 hide nothing.",
            lambda Q, K, V, hidden: F.scaled_dot_product_attention(Q, K, V, (~hidden).float()),
        ),
        (
            "A mask of floats is added to the scores: -1 makes a word weaker and hides nothing.",
            lambda Q, K, V, hidden: F.scaled_dot_product_attention(Q, K, V, -hidden.float()),
        ),
    ),
    wrong={
        """\
def no_peeking(Q, K, V, hidden):
    E = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(~hidden, -torch.inf)
    return E.softmax(-1).nan_to_num(0) @ V
""": "as it was",
        """\
def no_peeking(Q, K, V, hidden):
    return F.scaled_dot_product_attention(Q, K, V)
""": "nothing is hidden",
        """\
def no_peeking(Q, K, V, hidden):
    future = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~future)
""": "forgets yours",
        """\
def no_peeking(Q, K, V, hidden):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=1.0 * hidden)
""": "prefers them",
        """\
def no_peeking(Q, K, V, hidden):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=1.0 - hidden.float())
""": "hide nothing",
        """\
def no_peeking(Q, K, V, hidden):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=not hidden)
""": "RuntimeError",
    },
    right=(
        """\
def no_peeking(Q, K, V, hidden):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=hidden.logical_not())
""",
        """\
def no_peeking(Q, K, V, hidden):
    added = torch.zeros(hidden.shape).masked_fill(hidden, float("-inf"))
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=added)
""",
        """\
def no_peeking(Q, K, V, hidden):
    E = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(hidden, -1e9)
    return E.softmax(-1) @ V
""",
    ),
)

why_the_square_root = Exercise(
    name="why_the_square_root",
    chapter="02",
    section="Why divide by the square root of $d_k$?",
    kind=EXPLAIN,
    title="What the division is for",
    goal="Explain the scaling to somebody who would leave it out.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
A friend trains heads of width 4 without dividing by $\\sqrt{d_k}$, and it works. She makes them 256
wide, and they hardly learn. **Explain** in three to five sentences what happened: what grows and by
how much, what the softmax then does, and why that stops the learning.""",
    hints=(
        "Three things belong in it: the size of the scores, the weights, the gradient.",
        "A score is a sum of $d_k$ products. How do the variances of independent terms add up?",
        "What is $A_j (1 - A_j)$, a slope of the softmax, when $A_j$ is near 0 or near 1?",
    ),
    stub='''\
why_the_square_root = """

"""
''',
    solution='''\
why_the_square_root = """
A score is a sum of d_k products, so with unit variances its variance is d_k and its size the root
of d_k: 2 for width 4, and 16 for width 256. Differences of scores become ratios of weights, so the
softmax of such scores is nearly one-hot. Its slopes are A_j (1 - A_j) and - A_j A_m, which are all
nearly 0 then: the scores get no gradient and do not learn. The division brings the variance of the
scores back to 1 at every width.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "why_the_square_root = 'It is too big.'": "at least 12 words",
        "why_the_square_root = 256": "as a text in quotes",
        "why_the_square_root = None": "as a text in quotes",
    },
    rubric="""\
- 1 point: scores grow like the square root of $d_k$ (or their variance like $d_k$), with a reason.
- 1 point: the softmax then gives nearly all weight to one key.
- 1 point: the slopes of such a softmax are nearly 0, so no gradient reaches the scores.
- 1 point: the numbers fit (a factor of 8 from width 4 to 256), or the division is said to make the
  spread the same at every width.""",
)

EXERCISES = (
    weights_of_two_keys,
    attend,
    attend_with_mask,
    rows_sum_to_one,
    no_peeking,
    why_the_square_root,
)
