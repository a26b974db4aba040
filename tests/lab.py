"""JupyterLab in a browser: a server of its own, Debian's Chromium, and what both complain about."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path

import nbformat
import psutil

from course.build.node import packages

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},  # all cells are on the page
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
PATIENCE = 300  # seconds for what a busy machine does late: it ends hangs and decides nothing else


@contextmanager
def serving(arguments, cwd, state, module="jupyterlab"):
    """Run JupyterLab with these arguments in `cwd`, its own files in `state`; its address.

    module: what is run, with `python -m`.
    """
    own = {
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    environment = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
    environment |= {name: str(Path(state, place)) for name, place in own.items()}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [*arguments, "--no-browser", "--ip=127.0.0.1", f"--port={port}",
                 "--ServerApp.port_retries=0", "--IdentityProvider.token=",
                 "--ServerApp.allow_root=True", "--LabApp.expose_app_in_browser=True"]  # fmt: skip
    said = Path(state, "server.log")
    with open(said, "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env=environment, cwd=cwd, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}"
        end = time.monotonic() + PATIENCE
        while True:
            try:
                urllib.request.urlopen(f"{address}/api", timeout=10)
                break
            except OSError:
                if server.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(said.read_text()) from None
                time.sleep(0.1)
        yield address
    finally:
        stop(server)


def stop(server, seconds=60):
    """End a process and all that it started, however long it takes."""
    started = psutil.Process(server.pid).children(recursive=True) if server.poll() is None else []
    try:
        for _ in range(2):  # JupyterLab tidies up after one SIGTERM and ends at once after another
            server.terminate()
            try:
                server.wait(seconds)
                break
            except subprocess.TimeoutExpired:
                continue
    finally:
        for process in (server, *started):  # kernels are in process groups of their own
            with suppress(psutil.NoSuchProcess):
                process.kill()
        server.wait()


@contextmanager
def jupyterlab(folder, cells):
    """Serve a notebook with these cells from `folder`; yields the address of its page."""
    folder = Path(folder)
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, folder / "page.ipynb")
    for plugin, values in SETTINGS.items():
        path = folder / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    with serving([f"--ServerApp.root_dir={folder}"], folder, folder) as address:
        yield f"{address}/doc/tree/page.ipynb?reset"


@contextmanager
def chromium():
    """A headless browser, or None where Debian's Chromium or playwright is missing."""
    path = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=FLAGS, timeout=1000 * PATIENCE
        )
        browser.new_page, browser.new_context = map(
            patient, (browser.new_page, browser.new_context)
        )
        try:
            yield browser
        finally:
            browser.close()


def patient(make):
    """`make`, whose pages wait as long as a busy machine needs."""

    @wraps(make)
    def made(**options):
        page = make(**options)
        page.set_default_timeout(1000 * PATIENCE)
        return page

    return made


def until(page, happened):
    """Wait until `happened()` is true; whether it ever was."""
    end = time.monotonic() + PATIENCE
    while not (has := happened()) and time.monotonic() < end:
        page.wait_for_timeout(100)
    return bool(has)


def comes(page, expression):
    """Wait until a JavaScript expression is true, from outside: the page may forbid `eval`."""
    assert until(page, lambda: page.evaluate(expression)), expression


def drawn(page):
    """Wait until the page has been drawn anew, however long a frame takes."""
    page.evaluate(
        "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
    )


class Watch:
    """Collects what goes wrong on a page: errors, and requests that leave this machine."""

    def __init__(self, page):
        self.errors, self.outside = [], []
        page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.see(request.url))

    def see(self, url):
        if not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:")):
            self.outside.append(url)


def run_all(page, address):
    """Open the notebook in JupyterLab and run all its cells."""
    page.goto(address)
    page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.sessionContext?.isReady")
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(
        "[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
        ".every((prompt) => /\\d/.test(prompt.textContent))"
    )


def axe():
    """The text of axe-core, or None where npm cannot get it."""
    try:
        return (packages() / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    except ConnectionError:
        return None


def violations(page, text, selector=".tutor-view"):
    """What axe-core, given as text, finds wrong within `selector`, a line each."""
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(text)
    found = page.evaluate("async (selector) => (await axe.run(selector)).violations", selector)
    return [f"{v['id']}: {node['html'][:200]}" for v in found for node in v["nodes"]]
