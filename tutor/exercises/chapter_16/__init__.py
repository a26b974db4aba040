"""Exercises of chapter 16: rotation, norms, shared keys; layouts, layers, measurements."""

ON_PAGE = ("turn_pairs", "rms_norm", "repeat_heads")
ORDER = (
    "to_halves",
    "test_rotation",
    "largest_share",
    "fair_gain",
    "far_from_training",
    "layer_from_memory",
)
