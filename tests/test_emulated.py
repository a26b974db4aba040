"""A GPU gives the CPU's results: the checks of `emulated_checks.py`, in a process that has one.

It is emulated (`emulated.py`), and PyTorch registers such a device for a whole process.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

HERE = Path(__file__).parent
CHECKS = re.findall(r"^def (test_\w+)", (HERE / "emulated_checks.py").read_text("utf-8"), re.M)


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """All that ran there, in JUnit's words, and what pytest said."""
    report = tmp_path_factory.mktemp("emulated") / "report.xml"
    command = [sys.executable, "-m", "pytest", "-n0", "-p", "emulated", "--junit-xml", report]
    result = subprocess.run(
        [*map(str, command), "--override-ini=addopts=", str(HERE / "emulated_checks.py")],
        cwd=HERE.parent, env={**os.environ, "PYTHONPATH": os.pathsep.join((str(HERE), *sys.path))},
        capture_output=True, text=True,
    )  # fmt: skip
    assert report.exists(), result.stdout + result.stderr
    return list(ElementTree.parse(report).iter("testcase"))


@pytest.mark.parametrize("check", CHECKS)
def test_emulated_gpu(cases, check):
    mine = [case for case in cases if case.get("name").partition("[")[0] == check]
    wrong = [each.text for case in mine for each in case if each.tag in ("failure", "error")]
    assert mine and not wrong, "\n".join(wrong)
    if skipped := [each.get("message") for case in mine for each in case.iter("skipped")]:
        pytest.skip(skipped[0])
