"""Exercises of chapter 15: the loss of a stream of tokens, and documents that share a row."""

ON_PAGE = ("next_token_loss", "document_mask")
ORDER = ()
