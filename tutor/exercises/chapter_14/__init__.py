"""Exercises of chapter 14: files of weights, names that must match, exports of any size."""

ON_PAGE = ("read_header", "read_tensor")
ORDER = (
    "first_and_last_byte",
    "what_does_not_fit",
    "takes_any_size",
    "card_of_a_model",
)
