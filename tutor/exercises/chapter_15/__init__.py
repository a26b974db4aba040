"""Exercises of chapter 15: streams of tokens, shared rows, perplexity and its floor, drafts."""

ON_PAGE = ("next_token_loss", "document_mask")
ORDER = (
    "every_token_once",
    "test_neighbours",
    "mend_perplexity",
    "same_captions",
    "below_the_floor",
    "check_draft",
)
