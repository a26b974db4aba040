"""Exercises of chapter 06: pieces, bytes, batches."""

ON_PAGE = ("count_pairs", "make_batch", "cut_by_tokens")
ORDER = (
    "test_tokenizer",
    "better_vocabulary",
    "mend_collate",
    "pack_captions",
    "segment_mask",
    "only_the_tokenizer",
)
