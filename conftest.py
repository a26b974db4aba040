"""For all that pytest runs here, tests and notebooks."""

import os

os.environ["TUTOR_PROGRESS"] = ""  # what a test solves is nobody's progress

pytest_plugins = ["pictures"]  # tests/pictures.py; `pythonpath` in pyproject.toml finds it
