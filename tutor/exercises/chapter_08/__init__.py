"""Exercises of chapter 08: one token, one step of beams, one row of a cache."""

ON_PAGE = ("propose", "attend_newest", "keep_top_p")
ORDER = (
    "best_on_top",
    "choose_next",
    "grow_beams",
    "one_more_key",
    "published_step",
    "wider_and_worse",
)
