"""Sub-layers, the encoder layer and the encoder (chapter 04)."""

from torch import nn

from tutor.attention import MultiHeadAttention


class SubLayer(nn.Module):
    """What every sub-layer does around its own work: dropout, residual, LayerNorm.

    Post-norm (the paper's order, the default): LayerNorm(X + dropout(work(X))).
    Pre-norm (norm_first=True): X + dropout(work(LayerNorm(X))).
    Source: Vaswani et al. 2017, sections 3.1 and 5.4; pre-norm: Xiong et al. 2020.
    """

    def __init__(self, d_model, dropout=0.1, norm_first=False):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def residual(self, X, work):
        if self.norm_first:
            return X + self.dropout(work(self.norm(X)))  # (N, T, d_model)
        return self.norm(X + self.dropout(work(X)))  # (N, T, d_model)


class AttentionSubLayer(SubLayer):
    """Multi-head attention as a sub-layer.

    Called as (X, memory=None, mask=None): X (N, T, d_model) asks; it attends to itself, or to
    `memory` (N, S, d_model), the encoder's output, which is not normalised again.
    """

    def __init__(self, d_model, num_heads, dropout=0.1, norm_first=False, d_k=None, d_v=None):
        super().__init__(d_model, dropout, norm_first)
        self.attention = MultiHeadAttention(d_model, num_heads, d_k, d_v)

    def forward(self, X, memory=None, mask=None):
        def work(X):
            return self.attention(X, X if memory is None else memory, mask)

        return self.residual(X, work)  # (N, T, d_model)


class FeedForwardSubLayer(SubLayer):
    """Two linear layers with a ReLU between, the same for every position, as a sub-layer.

    Called as (X) with X: (N, T, d_model); d_ff is the width in the middle.
    Source: Vaswani et al. 2017, section 3.3, equation (2).
    """

    def __init__(self, d_model, d_ff, dropout=0.1, norm_first=False):
        super().__init__(d_model, dropout, norm_first)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)
        )

    def forward(self, X):
        return self.residual(X, self.feed_forward)  # (N, T, d_model)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward. Called as (X, mask=None), X: (N, S, d_model)."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm_first=False, d_k=None, d_v=None):
        super().__init__()
        self.self_attention = AttentionSubLayer(d_model, num_heads, dropout, norm_first, d_k, d_v)
        self.feed_forward = FeedForwardSubLayer(d_model, d_ff, dropout, norm_first)

    def forward(self, X, mask=None):
        return self.feed_forward(self.self_attention(X, mask=mask))  # (N, S, d_model)


class Encoder(nn.Module):
    """A stack of encoder layers. Called as (X, mask=None), X: (N, S, d_model) with positions added.

    Further arguments are those of EncoderLayer. Pre-norm stacks end with a LayerNorm, because
    nothing else normalises their output; post-norm ones, as in the paper, do not need it.
    """

    def __init__(self, num_layers, d_model, *args, norm_first=False, **kwargs):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, *args, norm_first=norm_first, **kwargs) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, X, mask=None):
        for layer in self.layers:
            X = layer(X, mask)
        return self.norm(X)  # (N, S, d_model)
