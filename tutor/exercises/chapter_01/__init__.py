"""Exercises of chapter 01: lookups, the rows that learn, the two ends of a table."""

ORDER = (
    "gradient_of_rows",
    "gradient_of_table",
    "ids_fit",
    "learning_table",
)
