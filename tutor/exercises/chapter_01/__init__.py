"""Exercises of chapter 01: lookups, and the rows that learn."""

ON_PAGE = ("look_up", "gradient_of_table")
ORDER = (
    "ids_fit",
    "learning_table",
    "more_words",
    "gradient_of_tied_table",
    "never_looked_up",
    "test_lookup",
    "opposites",
)
