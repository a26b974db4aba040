"""Exercises of chapter 07: the loss, the loop, the schedule."""

ON_PAGE = ("token_loss", "one_step", "one_round")
ORDER = (
    "take_steps",
    "paper_rate",
    "steady_results",
    "loss_in_bits",
    "smoothed_loss",
    "too_good_to_be_true",
)
