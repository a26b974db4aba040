"""Exercises of chapter 08: steps of a search, a cache that forgets, and is a gain real?"""

ON_PAGE = ("propose", "attend_newest", "keep_top_p")
ORDER = (
    "without_a_word",
    "grow_beams",
    "no_trigram_twice",
    "rolling_cache",
    "which_is_better",
    "wider_and_worse",
)
