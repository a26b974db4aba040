"""What several exercises of chapter 04 use."""

from torch import nn


class Like:
    """A guess that stands for many: equal to every value for which `fits` is true."""

    def __init__(self, fits):
        self.fits = fits

    def __eq__(self, other):
        return bool(self.fits(other))


def random_norm(d_model):
    norm = nn.LayerNorm(d_model)
    for p in norm.parameters():
        nn.init.normal_(p)  # a scale of 1 and a shift of 0 would hide mistakes
    return norm
