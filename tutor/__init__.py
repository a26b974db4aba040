"""The helper package of the course: the Transformer, a file an idea, in the chapters' order."""

from tutor.attention import (
    MultiHeadAttention,
    causal_mask,
    compute_attention_matrix,
    padding_mask,
    slice_vertically,
    unslice_vertically,
)
from tutor.decoder import Decoder, DecoderLayer
from tutor.decoding import beam_search, greedy, sample
from tutor.devices import device
from tutor.encoder import AttentionSubLayer, Encoder, EncoderLayer, FeedForwardSubLayer
from tutor.models import load_pretrained
from tutor.positions import sinusoidal_positions
from tutor.record import Recording, record_attention
from tutor.transformer import Transformer, TransformerConfig
from tutor.translator import Translator

__all__ = [
    "AttentionSubLayer",
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "FeedForwardSubLayer",
    "MultiHeadAttention",
    "Recording",
    "Transformer",
    "TransformerConfig",
    "Translator",
    "beam_search",
    "causal_mask",
    "compute_attention_matrix",
    "device",
    "greedy",
    "load_pretrained",
    "padding_mask",
    "record_attention",
    "sample",
    "sinusoidal_positions",
    "slice_vertically",
    "unslice_vertically",
]
