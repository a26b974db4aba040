"""Exercises of chapter 06: pieces, bytes, batches."""

ON_PAGE = ("count_pairs", "make_batch", "cut_by_tokens")
ORDER = (
    "second_merge",
    "cut_word",
    "fall_back_to_bytes",
    "number_words",
    "only_the_tokenizer",
)
