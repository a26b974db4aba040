"""What several exercises of chapter 12 use."""

import torch
from torch import nn

from tutor.exercises.chapter_11.shared import filled


def cases_of_attention():
    for N, T, d_model, num_heads in [(1, 2, 2, 2), (2, 3, 4, 2), (1, 4, 6, 3), (3, 2, 4, 1)]:
        attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
        yield filled(attention), torch.randn(N, T, d_model)
