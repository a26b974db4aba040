"""Exercises of chapter 12: bugs of the museum, met again in other clothes, and tests for them."""

ORDER = (
    "one_matrix_a_head",
    "sentences_stay_apart",
    "only_real_words",
    "queries_keys_values",
    "test_causal_mask",
    "test_weights",
    "test_encoder",
    "test_loss",
    "test_step",
)
