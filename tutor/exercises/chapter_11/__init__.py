"""Exercises of chapter 11: PyTorch's Transformer unpacked, rebuilt, told what is hidden."""

ON_PAGE = (
    "matrices_of_a_head",
    "encoder_layer_by_hand",
)
ORDER = (
    "one_bias_for_two",
    "heads_first",
    "size_of_mistake",
    "next_vectors",
    "left_padded_mask",
    "why_the_adapter_is_gone",
)
