"""The JavaScript and the CSS: bundled as committed, its types and its style without complaint.

Skipped, by name, where npm cannot get the packages.
"""

import subprocess
from pathlib import Path

import pytest
from matplotlib import colormaps

from course.build import node

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def commands():
    """The folder of the packages' commands."""
    try:
        return node.packages() / ".bin"
    except ConnectionError as error:
        pytest.skip(str(error))


def test_bundles_are_up_to_date(commands, tmp_path):
    """Else: `npm run build`."""
    subprocess.run(["node", "build.mjs", tmp_path], cwd=ROOT, check=True, capture_output=True)
    made = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*") if path.is_file()}
    kept = {path.relative_to(ROOT) for path in (ROOT / "tutor").rglob("bundles/*")}
    assert kept == made.keys()
    assert [name for name in kept if made[name].read_bytes() != (ROOT / name).read_bytes()] == []


@pytest.mark.parametrize("command", ["tsc --project jsconfig.json", "biome ci --colors=off"])
def test_nothing_to_complain_of(commands, command):
    """As `npm run check` says it; `npm run format` lays out and mends what it can."""
    name, *arguments = command.split()
    done = subprocess.run(
        [commands / name, *arguments], cwd=ROOT, text=True, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lock_file_names_no_host():
    """npm asks whatever registry the machine has, and checks the hash."""
    text = (ROOT / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text and text.count('"integrity"') > 5


def test_scripts_in_a_virtual_environment_below_stay_what_they_are():
    """With "type": "module" here, JupyterLab's yarn.js in .venv would not run."""
    assert '"type"' not in (ROOT / "package.json").read_text("utf-8")


def test_colours_are_those_of_the_figures():
    found = colormaps["cividis"](range(256), bytes=True)[:, :3].tobytes().hex()
    assert f'"{found}"' in (ROOT / "tutor" / "views" / "colours.js").read_text("utf-8")


def test_without_node_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConnectionError, match="install Node.js"):
        node.install()
