"""Exercises of chapter 02: scores, softmax, masks."""

ON_PAGE = (
    "choose_alike",
    "attend",
    "padding_mask",
    "causal_mask",
)
ORDER = (
    "weights_of_two_keys",
    "attend_with_mask",
    "rows_sum_to_one",
    "no_peeking",
    "why_the_square_root",
)
