"""Attention that may not look everywhere."""

import math

import torch
import torch.nn.functional as F

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_02.shared import LOW_SCORES, cases, right_attention, scores


def _attend_with_mask(Q, K, V, mask):
    return compute_attention_matrix(Q, K, mask) @ V


def _minus_infinity(mask):
    return torch.zeros(mask.shape).masked_fill(mask, -math.inf)


def _cases_with_mask():
    for number, (Q, K, V) in enumerate(cases()):
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
            lambda Q, K, V, mask: scores(Q, K).softmax(-1).masked_fill(mask, 0) @ V,
        ),
        (
            "You add a mask of 0 and 1 to the scores, so hidden words are even preferred.",
            lambda Q, K, V, mask: (scores(Q, K) + mask).softmax(-1) @ V,
        ),
        (
            "Hidden scores are set to 0, which is an ordinary score; they need the lowest number.",
            lambda Q, K, V, mask: scores(Q, K).masked_fill(mask, 0).softmax(-1) @ V,
        ),
        (
            "Hidden scores are set to 0 (or to -1e-9, which is as good as 0), and so take weight "
            "from the others; they need the lowest number.",
            lambda Q, K, V, mask: (
                scores(Q, K).masked_fill(mask, 0).softmax(-1).masked_fill(mask, 0) @ V
            ),
        ),
        (
            "A row that is all hidden becomes 0 / 0, not a number: -inf has no softmax there. Use "
            "the lowest finite number.",
            lambda Q, K, V, mask: scores(Q, K).masked_fill(mask, -math.inf).softmax(-1) @ V,
        ),
        (
            "A row that is all hidden has the right result, but NaN was there before you replaced "
            "it, and the gradient still meets it. Avoid -inf.",
            lambda Q, K, V, mask: (
                (scores(Q, K) + _minus_infinity(mask)).softmax(-1).nan_to_num(0.0) @ V
            ),
        ),
        (
            "A row that is all hidden shares its weight evenly; its weights must be 0. Set hidden "
            "weights to 0 after the softmax.",
            lambda Q, K, V, mask: scores(Q, K).masked_fill(mask, -1e9).softmax(-1) @ V,
        ),
        (
            "Your answer does not use the mask.",
            lambda Q, K, V, mask: right_attention(Q, K, V),
        ),
        (
            "The scores are not scaled: divide them by the square root of d_k.",
            lambda Q, K, V, mask: compute_attention_matrix(Q * Q.shape[-1] ** 0.5, K, mask) @ V,
        ),
        (
            "Hidden keys have the value 0, but still their weight: mask the scores, not the "
            "values or keys.",
            lambda Q, K, V, mask: (
                right_attention(Q, K.masked_fill(mask[..., 0, :, None], 0), V)
                if mask.dim() > 1
                else right_attention(Q, K.masked_fill(mask[:, None], 0), V)
            ),
        ),
    ),
    properties=(LOW_SCORES,),
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
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    return E.masked_fill(mask, -100.0).softmax(-1).masked_fill(mask, 0.0) @ V
""": "the visible key is lost",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    A = torch.where(mask, -20.0, E).softmax(-1)
    return (A * ~mask) @ V
""": "the visible key is lost",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    return E.masked_fill(mask, -1e4).softmax(-1).masked_fill(mask, 0.0) @ V
""": "the visible key is lost",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    return E.masked_fill(mask, -1e-9).softmax(-1).masked_fill(mask, 0.0) @ V
""": "as good as 0",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    A = E.masked_fill(mask, torch.finfo(E.dtype).min).softmax(-1)
    A *= ~mask
    return A @ V
""": "the result of `softmax` in the line `A *= ~mask`",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    A = E.masked_fill(mask, torch.finfo(E.dtype).min).softmax(-1)
    A[mask.expand(A.shape)] = 0
    return A @ V
""": "the result of `softmax` in the line `A[mask.expand(A.shape)] = 0`",
        """\
def attend_with_mask(Q, K, V, mask):
    E = Q @ K.mT / math.sqrt(Q.size(-1))
    A = E.masked_fill(mask, torch.finfo(E.dtype).min).softmax(-1)
    A.masked_fill_(mask, 0.0)
    return A @ V
""": "the result of `softmax` in the line `A.masked_fill_(mask, 0.0)`",
        """\
def attend_with_mask(Q, K, V, mask):
    E = (Q @ K.mT / math.sqrt(Q.size(-1))).exp() * ~mask
    total = E.sum(-1, keepdim=True)
    return E @ V / total.masked_fill(total == 0, 1.0)
""": "`exp` by hand becomes 0",
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
    E = (Q @ K.mT / math.sqrt(Q.size(-1))).masked_fill(mask, -1e9)
    E = (E - E.amax(-1, keepdim=True)).exp() * ~mask
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
