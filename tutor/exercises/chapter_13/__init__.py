"""Exercises of chapter 13: bytes, operations, short numbers, shared batches, checkpoints."""

ON_PAGE = ("add_block", "joint_gradient")
ORDER = (
    "fifth_key",
    "hours_of_training",
    "half_a_sum",
    "accumulate",
    "survive",
    "best_size",
)
