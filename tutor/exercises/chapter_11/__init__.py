"""Exercises of chapter 11: counting, unpacking and rebuilding PyTorch's Transformer."""

ORDER = (
    "numbers_of_a_layer",
    "matrices_of_a_head",
    "one_bias_for_two",
    "encoder_layer_by_hand",
    "padding_of_the_source",
    "why_the_adapter_is_gone",
)
