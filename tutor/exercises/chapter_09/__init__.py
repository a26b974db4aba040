"""Exercises of chapter 09: from maps to words, links and numbers, and what a map does not show."""

ON_PAGE = (
    "error_rate",
    "map_of_words",
    "rate_of_chosen",
)
ORDER = (
    "rate_on_paper",
    "rows_of_a_word",
    "rate_of_all",
)
