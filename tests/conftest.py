"""What all tests share: the set-up of a run, whole notebooks for nbval, a count at the end."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import settings

# Two runs try the same examples; `--hypothesis-profile=drawn`, as at night, draws new ones.
# Neither is timed: a busy machine must not fail a test.
settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("drawn", deadline=None, derandomize=False)
settings.load_profile("house")

# Notebooks run in their own folder, where a relative path would point elsewhere.
if os.environ.get("TUTOR_DATA"):
    os.environ["TUTOR_DATA"] = str(Path(os.environ["TUTOR_DATA"]).resolve())

# Workers that share the cores: more threads than cores make each of them wait for the others.
workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
if workers > 1:  # in the environment for processes that tests start; here torch is loaded already
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


# `manual_seed` formats the stack for every sort of GPU, which takes longer than many a test.
seed = torch.manual_seed if torch.cuda.is_available() else torch.default_generator.manual_seed


def pytest_runtest_setup(item):
    seed(0)  # whatever ran before in this worker


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, through playwright."""
    import lab

    with lab.chromium() as browser:
        if browser is None:
            pytest.skip("Chromium or playwright is missing")
        yield browser


@pytest.fixture(scope="module")
def notebook(request, browser, tmp_path_factory):
    """(page, watch): JupyterLab, in which `CELLS` of the test's module have run.

    The first of these cells sets up, and each other one shows a view.
    """
    import lab

    cells = request.module.CELLS
    with lab.jupyterlab(tmp_path_factory.mktemp("lab"), cells) as address:
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        watch = lab.Watch(page)
        lab.run_all(page, address)
        page.locator(".tutor-view").nth(len(cells) - 2).wait_for()
        yield page, watch
        page.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session):
    """Run a chosen cell (`--lf`, `-k`) after all cells before it, in the order of the notebook."""
    last = {}
    for item in session.items:
        if hasattr(item, "cell_num"):
            last[item.parent] = max(last.get(item.parent, 0), item.cell_num)
    whole = []
    for item in session.items:
        if not hasattr(item, "cell_num"):
            whole.append(item)
        elif item.parent in last:
            whole.extend(list(item.parent.collect())[: last.pop(item.parent) + 1])
    session.items[:] = whole


def pytest_terminal_summary(terminalreporter):
    """Counted from the files, so that it does not matter which worker ran what."""
    if not terminalreporter.config.option.nbval:
        return
    import nbformat
    from house_rules import NOTEBOOKS, comparison

    from course.build.compare import by_pixels, pictures

    notebooks = [nbformat.read(path, as_version=4) for path in sorted(NOTEBOOKS.glob("*.ipynb"))]
    counts = [comparison(notebook) for notebook in notebooks]
    terminalreporter.write_line(
        f"{len(counts)} notebooks: {sum(c for c, _ in counts)} code cells compared strictly, "
        f"{sum(out for _, out in counts)} tagged out"
    )
    cells = [cell for notebook in notebooks for cell in notebook.cells if "outputs" in cell]
    exact = [by_pixels(metadata) for cell in cells for metadata, _ in pictures(cell.outputs)]
    terminalreporter.write_line(
        f"{sum(exact)} pictures compared by their pixels, {len(exact) - sum(exact)} by what is "
        "stable in them"
    )
