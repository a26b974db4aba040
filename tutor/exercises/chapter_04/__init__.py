"""Exercises of chapter 04: positions, LayerNorm, residual connections, padding, parameters."""

ON_PAGE = (
    "normalise_by_hand",
    "sub_layer",
)
ORDER = (
    "parameters_of_a_layer",
    "position_table",
    "layer_by_hand",
    "why_hide_padding",
)
