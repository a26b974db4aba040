"""Exercises of chapter 13: bytes, operations, short numbers, shared batches, checkpoints."""

ON_PAGE = ("add_block", "joint_gradient")
ORDER = (
    "join_halves",
    "longest_text",
    "what_waits",
    "half_a_sum",
    "accumulate",
    "resume",
    "best_size",
)
