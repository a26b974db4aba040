"""Exercises of chapter 10: a head taken away, a vector put in, and what may be concluded."""

ON_PAGE = ("result_without_a_head", "patch")
ORDER = (
    "costlier_head",
    "effect_of_places",
    "random_pushes",
    "shares_of_heads",
    "what_follows",
    "what_the_map_leaves_out",
)
