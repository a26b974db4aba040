"""Exercises of chapter 03: cutting into heads, joining them, and all that runs between."""

ORDER = (
    "place_of_15",
    "cut_into_h",
    "join_heads",
    "scores_per_head",
    "attend_with_h",
    "what_a_mean_hides",
)
