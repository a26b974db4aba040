"""What several exercises of chapter 02 use."""

import math

import torch

from tutor.attention import compute_attention_matrix


def right_attention(Q, K, V):
    return compute_attention_matrix(Q, K) @ V


def scores(Q, K):
    return Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])


def sizes():
    """Shapes of Q, K and V, smallest first: no two sizes of a case are equal, but for 1."""
    for N, T, S, d_k, d_v in [((), 1, 2, 4, 1), ((), 2, 3, 4, 1), ((1,), 3, 2, 5, 4)]:
        yield (*N, T, d_k), (*N, S, d_k), (*N, S, d_v)
    for N, T, S, d_k, d_v in [((2,), 3, 4, 5, 7), ((2, 3), 4, 5, 1, 6)]:
        yield (*N, T, d_k), (*N, S, d_k), (*N, S, d_v)


def cases():
    for shapes in sizes():
        # halves are easy to read in a message
        yield tuple((2 * torch.randn(shape)).round() / 2 for shape in shapes)
    yield torch.zeros(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 3)


def seen_at_any_score(answer):
    """What an answer finds where the score of the only visible key is very low."""
    Q, K = torch.tensor([[200.0]]), torch.tensor([[-200.0], [0.0]])  # scores of -40,000 and 0
    V, mask = torch.tensor([[1.0], [9.0]]), torch.tensor([[False, True]])
    return answer(Q, K, V, mask)  # (1, 1)


LOW_SCORES = (
    "With ordinary scores your answer is right; with a score of -40,000 the visible key is lost. "
    "Hidden ones need a lower number, `torch.finfo(E.dtype).min`, and `exp` by hand becomes 0: "
    "use `softmax`.",
    seen_at_any_score,
)
