"""Exercises of chapter 04: positions, LayerNorm, residual connections, padding, parameters."""

ORDER = (
    "parameters_of_a_layer",
    "position_table",
    "normalise_by_hand",
    "sub_layer",
    "layer_by_hand",
    "why_hide_padding",
)
