"""Exercises of chapter 06: pieces, bytes, batches."""

ORDER = (
    "second_merge",
    "cut_word",
    "fall_back_to_bytes",
    "shifted_batch",
    "number_words",
    "only_the_tokenizer",
)
