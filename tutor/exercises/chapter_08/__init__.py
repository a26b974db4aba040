"""Exercises of chapter 08: one token, one step of beams, one row of a cache."""

ORDER = (
    "best_on_top",
    "choose_next",
    "published_step",
    "grow_beams",
    "one_more_key",
    "wider_and_worse",
)
