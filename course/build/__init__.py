"""Texts and exercises become notebooks, and copies of them that open alone."""
