"""Exercises of chapter 01: lookups, the rows that learn, the two ends of a table."""

ORDER = (
    "gradient_of_rows",
    "gradient_of_table",
    "smallest_model",
    "ids_fit",
    "learning_table",
    "why_the_factor",
)
