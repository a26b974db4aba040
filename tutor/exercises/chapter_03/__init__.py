"""Exercises of chapter 03: heads in a loop, in slices, and all that runs between."""

ON_PAGE = ("loop_over_heads", "slice_vertically", "unslice_vertically")
ORDER = (
    "forgotten_heads",
    "scores_per_head",
    "remove_head",
    "same_result",
    "test_cut",
    "copy_previous",
    "what_a_mean_hides",
)
