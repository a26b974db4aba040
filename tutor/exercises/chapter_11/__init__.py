"""Exercises of chapter 11: counting, unpacking and rebuilding PyTorch's Transformer."""

ON_PAGE = (
    "matrices_of_a_head",
    "encoder_layer_by_hand",
)
ORDER = (
    "numbers_of_a_layer",
    "one_bias_for_two",
    "why_the_adapter_is_gone",
    "padding_of_the_source",
)
