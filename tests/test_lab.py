"""What the tests of pages stand on: a browser that may be missing, a server that must end."""

import subprocess
import sys

import lab
import psutil
import pytest

# It hears no SIGTERM, and what it started is in a process group of its own, as a kernel is.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
wait = "import time; time.sleep(10_000)"
kernel = subprocess.Popen([sys.executable, "-c", wait], start_new_session=True)
print(kernel.pid, flush=True)
time.sleep(10_000)
"""


def test_a_browser_without_playwright_is_none(monkeypatch):
    monkeypatch.setattr(lab.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with lab.chromium() as browser:
        assert browser is None


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows nothing can ignore its end")
def test_a_server_that_does_not_stop_is_ended_with_its_kernels():
    command = [sys.executable, "-c", STUBBORN]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with server.stdout:
        kernel = psutil.Process(int(server.stdout.readline()))
    lab.stop(server, seconds=0.1)
    assert server.returncode
    psutil.wait_procs([kernel], timeout=lab.PATIENCE)
    assert not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE
