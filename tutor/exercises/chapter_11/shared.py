"""What several exercises of chapter 11 use."""

import torch
from torch import nn


def filled(module):
    """The module with noise on every parameter, so that none is that of a fresh one; eval mode."""
    with torch.no_grad():
        for p in module.parameters():
            p.add_(torch.randn_like(p) / 2)
    return module.eval()


def warm_up():
    """The first attention with a mask imports much of PyTorch, which is no learner's time."""
    X = torch.zeros(1, 2, 2)
    nn.MultiheadAttention(2, 1)(X, X, X, key_padding_mask=torch.zeros(2, 1, dtype=torch.bool))
