"""For all that pytest runs here, tests and notebooks."""

import os
from pathlib import Path

import pytest

os.environ["TUTOR_PROGRESS"] = ""  # what a test solves is nobody's progress

LONGEST = ("notebooks/08", "notebooks/18", "tests/test_check", "tests/test_classroom")
# What trains, starts browsers, kernels or other processes, or puts the whole bank to the test.
SLOW = (
    "notebooks/",
    "tests/test_check.py::test_bank",
    "tests/test_check.py::test_few_wrong",
    *(
        f"tests/test_{name}.py"
        for name in (
            "ablation alone build claims classroom command_line emulated export grading "
            "huggingface journey_browser lab learn page_model pages pictures processes progress "
            "recipes report resume site truth typed views_browser"
        ).split()
    ),
)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """`pytest` alone runs all with two workers, notebooks too; a named file runs by itself.

    `pytest -m "not slow"` leaves out what SLOW names.
    """
    named = [Path(str(argument).partition("::")[0]) for argument in config.args]
    quick = "not slow" in config.option.markexpr
    if not quick and any(p.is_dir() or p.suffix == ".ipynb" for p in named):
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
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
