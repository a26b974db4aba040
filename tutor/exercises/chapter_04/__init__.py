"""Exercises of chapter 04: places, distances, LayerNorm, residual connections, dropout, padding."""

ON_PAGE = (
    "normalise_by_hand",
    "sub_layer",
)
ORDER = (
    "places_from_the_left",
    "attend_by_distance",
    "look_back",
    "layer_by_hand",
    "which_stack",
    "test_dropout",
    "why_hide_padding",
)
