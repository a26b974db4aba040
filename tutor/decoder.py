"""The decoder layer and the decoder (chapter 06)."""

from torch import nn

from tutor.encoder import AttentionSubLayer, FeedForwardSubLayer


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the encoder's output, feed-forward.

    Called as (X, memory, mask=None, memory_mask=None): X (N, T, d_model) is the target so far,
    memory (N, S, d_model) the encoder's output; mask broadcasts to (N, h, T, T), memory_mask to
    (N, h, T, S).
    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm_first=False, d_k=None, d_v=None):
        super().__init__()
        self.self_attention = AttentionSubLayer(d_model, num_heads, dropout, norm_first, d_k, d_v)
        self.cross_attention = AttentionSubLayer(d_model, num_heads, dropout, norm_first, d_k, d_v)
        self.feed_forward = FeedForwardSubLayer(d_model, d_ff, dropout, norm_first)

    def forward(self, X, memory, mask=None, memory_mask=None):
        X = self.self_attention(X, mask=mask)  # (N, T, d_model)
        X = self.cross_attention(X, memory, memory_mask)  # (N, T, d_model)
        return self.feed_forward(X)  # (N, T, d_model)


class Decoder(nn.Module):
    """A stack of decoder layers, called like one of them; ends with a LayerNorm if pre-norm."""

    def __init__(self, num_layers, d_model, *args, norm_first=False, **kwargs):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, *args, norm_first=norm_first, **kwargs) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, X, memory, mask=None, memory_mask=None):
        for layer in self.layers:
            X = layer(X, memory, mask, memory_mask)
        return self.norm(X)  # (N, T, d_model)
