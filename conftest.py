"""For all that pytest runs here, tests and notebooks."""

import os
from pathlib import Path

import pytest

os.environ["TUTOR_PROGRESS"] = ""  # what a test solves is nobody's progress

LONGEST = ("notebooks/07", "notebooks/15", "tests/test_check", "tests/test_classroom")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """`pytest` alone runs all with two workers, notebooks too; a named file runs by itself."""
    named = [Path(str(argument).partition("::")[0]) for argument in config.args]
    if any(p.is_dir() or p.suffix == ".ipynb" for p in named):
        config.option.nbval = True
        config.pluginmanager.import_plugin("pictures")  # tests/pictures.py
    if hasattr(config, "workerinput"):  # a worker runs what it is given
        return
    if any(p.is_dir() for p in named) or len(named) > 1:
        if config.option.numprocesses is None:
            config.option.numprocesses = 2
        if config.option.numprocesses and config.option.dist == "no":
            config.option.dist = "loadscope"  # one notebook stays with one worker


def pytest_collection_modifyitems(items):
    """The longest first, so that no worker waits for another in the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
