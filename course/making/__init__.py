"""What made the small models and the results that ship: `python -m course.making.NAME`."""
