"""Exercises of chapter 03: heads in a loop, in slices, and all that runs between."""

ON_PAGE = ("loop_over_heads", "slice_vertically", "unslice_vertically")
ORDER = ("place_of_15", "scores_per_head", "attend_with_h", "what_a_mean_hides")
