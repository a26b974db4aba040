"""Exercises of chapter 02: scores, softmax, masks."""

ON_PAGE = (
    "choose_alike",
    "attend",
    "padding_mask",
    "causal_mask",
)
ORDER = (
    "weights_of_two_keys",
    "which_program",
    "no_peeking",
    "prefix_mask",
    "word_by_word",
    "test_hidden_words",
    "why_the_square_root",
)
