"""Every word reads the answer."""

import torch
import torch.nn.functional as F

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_02.shared import LOW_SCORES, right_attention
from tutor.museum import EXHIBITS

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
    section="Words that may not be seen",
    kind=MEND,
    title="Every word reads the answer",
    goal="Tell the two polarities of a mask apart.",
    difficulty=2,
    importance=5,
    minutes=5,
    text="""\
A mask in the manner of this course, `hidden`, meets PyTorch's fast attention. Nothing warns, and
every word reads the words that come after it. **Find the mistake and mend it.** Keep the call of
`F.scaled_dot_product_attention`, if you like.""",
    hints=(
        "What does `True` mean in `hidden`, and what does it mean to PyTorch's function?",
        "The section shows both polarities in its proof, where our mask meets PyTorch.",
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
            lambda Q, K, V, hidden: right_attention(Q, K, V),
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
            "A mask of floats is added to the scores: a difference of 1 makes hidden words weaker, "
            "and hides nothing.",
            lambda Q, K, V, hidden: F.scaled_dot_product_attention(Q, K, V, (~hidden).float()),
        ),
    ),
    properties=(LOW_SCORES,),
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
""": "hides nothing",
        """\
def no_peeking(Q, K, V, hidden):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=not hidden)
""": "RuntimeError",
        """\
def no_peeking(Q, K, V, hidden):
    E = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(hidden, -1e4)
    return E.softmax(-1) @ V
""": "the visible key is lost",
        """\
def no_peeking(Q, K, V, hidden):
    E = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(hidden, -torch.inf)
    A = E.softmax(-1)
    A /= A.sum(-1, keepdim=True)
    return A @ V
""": "the result of `softmax` in the line `A /= A.sum(-1, keepdim=True)`",
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
