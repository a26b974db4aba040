"""Exercises of chapter 02: scores, softmax, masks."""

ORDER = (
    "weights_of_two_keys",
    "attend",
    "attend_with_mask",
    "rows_sum_to_one",
    "no_peeking",
    "why_the_square_root",
)
