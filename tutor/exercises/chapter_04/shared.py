"""What several exercises of chapter 04 use."""

from torch import nn


def random_norm(d_model):
    norm = nn.LayerNorm(d_model)
    for p in norm.parameters():
        nn.init.normal_(p)  # a scale of 1 and a shift of 0 would hide mistakes
    return norm
