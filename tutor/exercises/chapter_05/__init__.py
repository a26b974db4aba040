"""Exercises of chapter 05: the shift, masks, cross-attention, leaks, one table at both ends."""

ON_PAGE = (
    "shift_by_one",
    "decoder_mask",
    "write_greedily",
)
ORDER = (
    "seen_means",
    "ask_the_source",
    "smallest_model",
    "sees_the_future",
    "why_the_factor",
)
