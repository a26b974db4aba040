"""What the commands of `python -m tutor` do; their options stand in `tutor/__main__.py`."""
