"""Where a token stands: sinusoidal and learned positions (chapter 03b)."""

import torch
from torch import nn


def sinusoidal_positions(max_len, d_model, dtype=None):
    """The paper's table of positions, shape (max_len, d_model).

    P[pos, 2i] = sin(pos / 10000^(2i / d_model)) and P[pos, 2i + 1] = cos of the same angle. An odd
    d_model ends with a sine. dtype: None means PyTorch's default; the angles are always float64.
    Source: Vaswani et al. 2017, section 3.5.
    """
    pos = torch.arange(max_len, dtype=torch.float64)[:, None]  # (max_len, 1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # the 2i of the formula
    angle = pos / 10_000 ** (even / d_model)  # (max_len, ceil(d_model / 2))
    P = torch.empty(max_len, d_model, dtype=torch.float64)
    P[:, 0::2] = angle.sin()
    P[:, 1::2] = angle[:, : d_model // 2].cos()
    return P.to(dtype or torch.get_default_dtype())


class Positions(nn.Module):
    """Adds a row of a table to each vector: row t to position t.

    Called as (X, start=0) with X: (N, T, d_model), whose first vector stands at position `start`.
    kind "sinusoidal" is a constant table, exact in whatever dtype the module is converted to;
    "learned" is a parameter, one row a position.
    Raises ValueError for a sentence longer than max_len.
    """

    def __init__(self, kind, max_len, d_model):
        super().__init__()
        if kind == "sinusoidal":
            self.register_buffer("table", sinusoidal_positions(max_len, d_model), persistent=False)
        elif kind == "learned":
            self.table = nn.Parameter(torch.randn(max_len, d_model) * d_model**-0.5)
        else:
            raise ValueError(f'positions must be "sinusoidal" or "learned", not {kind!r}.')

    def _apply(self, fn, recurse=True):  # behind .to(), .double(), .to_empty() and the like
        super()._apply(fn, recurse)
        if not isinstance(self.table, nn.Parameter):  # a formula: computed anew, not converted
            table = sinusoidal_positions(*self.table.shape, self.table.dtype)
            self.table = table.to(self.table.device)
        return self

    def forward(self, X, start=0):
        end, max_len = start + X.shape[-2], self.table.shape[0]
        if end > max_len:
            raise ValueError(
                f"The sentence has {end} tokens, but the model has positions for {max_len}: cut "
                "the sentence or build the model with a larger max_len."
            )
        return X + self.table[start:end]  # (N, T, d_model)
