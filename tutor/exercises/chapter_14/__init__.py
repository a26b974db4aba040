"""Exercises of chapter 14: files of weights, loaders that refuse, exports of any size."""

ON_PAGE = ("read_header", "read_tensor")
ORDER = (
    "what_does_not_fit",
    "sound_file",
    "lost_in_half",
    "test_loader",
    "takes_any_size",
    "card_of_a_model",
)
