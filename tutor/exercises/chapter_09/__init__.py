"""Exercises of chapter 09: from maps to words, links and numbers, and what a map does not show."""

ORDER = (
    "rate_on_paper",
    "map_of_words",
    "rows_of_a_word",
    "rate_of_all",
)
