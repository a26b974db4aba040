"""Exercises of chapter 01: lookups, and the rows that learn."""

ON_PAGE = ("look_up", "gradient_of_table")
ORDER = ("gradient_of_rows", "ids_fit", "learning_table")
