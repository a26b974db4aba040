"""Exercises of chapter 05: the shift, masks, cross-attention, models without a source, leaks."""

ON_PAGE = (
    "shift_by_one",
    "decoder_mask",
    "write_greedily",
)
ORDER = (
    "seen_means",
    "ask_the_source",
    "logits_without_source",
    "two_heads",
    "sees_the_future",
    "what_leaks",
    "why_the_factor",
)
