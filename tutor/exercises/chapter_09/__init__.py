"""Exercises of chapter 09: from maps to words, links and numbers, and who is judged where."""

ON_PAGE = (
    "error_rate",
    "map_of_words",
    "rate_of_chosen",
)
ORDER = (
    "mutual_links",
    "test_possible",
    "rows_of_a_word",
    "better_in_each",
    "luck_of_the_winner",
)
