"""Exercises of chapter 07: the loss, the schedule, the loop."""

ORDER = (
    "loss_in_bits",
    "smoothed_loss",
    "paper_rate",
    "steady_results",
    "take_steps",
    "too_good_to_be_true",
)
