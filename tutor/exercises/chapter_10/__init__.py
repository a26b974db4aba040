"""Exercises of chapter 10: a head taken away, a vector put in."""

ON_PAGE = ("result_without_a_head", "patch")
ORDER = (
    "effect_of_places",
    "costlier_head",
    "what_the_map_leaves_out",
)
