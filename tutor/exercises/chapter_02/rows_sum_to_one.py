"""It worked for one sentence."""

import torch.nn.functional as F

from tutor.attention import compute_attention_matrix
from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_02.shared import cases, scores
from tutor.museum import EXHIBITS

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
    cases=lambda: [(Q, K) for Q, K, _ in cases()],
    mistakes=(
        (
            "As it was: one sentence is right, and in a batch the rows of A do not sum to 1.",
            _SOFTMAX.wrong,
        ),
        (
            "Now it fits a batch of one dimension and nothing else: dimension 2 is counted from "
            "the front too.",
            lambda Q, K: scores(Q, K).softmax(2),
        ),
        (
            "Now the columns sum to 1 in every batch, and the rows should.",
            lambda Q, K: scores(Q, K).softmax(-2),
        ),
        (
            "Now the softmax runs over dimension 0. The keys are in the last one.",
            lambda Q, K: scores(Q, K).softmax(0),
        ),
        (
            "The rows sum to 1, but the scaling is gone: it was right.",
            lambda Q, K: (Q @ K.transpose(-2, -1)).softmax(-1),
        ),
        (
            "The rows sum to 1 because you divided by their sums; the softmax itself still runs "
            "over the wrong dimension.",
            lambda Q, K: F.normalize(scores(Q, K).softmax(1), p=1, dim=-1),
        ),
        (
            "The softmax now sees all entries of a matrix at once, so that all of them together "
            "sum to 1.",
            lambda Q, K: scores(Q, K).flatten(-2).softmax(-1).view(scores(Q, K).shape),
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
        """\
def rows_sum_to_one(Q, K):
    E = (Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])).exp()
    E /= E.sum(-1, keepdim=True)
    return E
""": "the result of `exp` in the line `E /= E.sum(-1, keepdim=True)`",
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
        """\
def rows_sum_to_one(Q, K):
    import numpy as np

    E = np.exp((Q @ K.mT).numpy() / np.sqrt(Q.shape[-1]))
    return torch.from_numpy(E / E.sum(axis=-1, keepdims=True))
""",
    ),
)
