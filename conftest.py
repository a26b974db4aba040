"""For all that pytest runs here, tests and notebooks."""

pytest_plugins = ["pictures"]  # tests/pictures.py; `pythonpath` in pyproject.toml finds it
