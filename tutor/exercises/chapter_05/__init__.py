"""Exercises of chapter 05: masks of the decoder, cross-attention, leaks, a loop that writes."""

ORDER = (
    "seen_means",
    "decoder_mask",
    "ask_the_source",
    "questions_and_answers",
    "sees_the_future",
    "write_greedily",
)
