"""Exercises of chapter 07: the loss, the loop, the schedule."""

ON_PAGE = ("token_loss", "one_step", "one_round")
ORDER = (
    "which_cause",
    "mend_training",
    "paper_rate",
    "stop_early",
    "steady_results",
    "smoothed_loss",
    "too_good_to_be_true",
)
