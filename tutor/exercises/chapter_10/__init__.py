"""Exercises of chapter 10: a head taken away."""

ORDER = (
    "result_without_a_head",
    "what_the_map_leaves_out",
)
