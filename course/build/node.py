"""Other people's JavaScript: the packages that package-lock.json pins and npm checks."""

import shutil
import subprocess

from filelock import FileLock

from course.build.notebooks import REPOSITORY, BuildError

NPM_SECONDS = 300  # for all packages


def packages():
    """The folder node_modules, installed first where it is missing or of another package-lock.json.

    Raises ConnectionError where npm is missing or cannot get the packages.
    """
    folder, lock = REPOSITORY / "node_modules", REPOSITORY / "package-lock.json"
    known = folder / "package-lock.json"  # what is installed
    (REPOSITORY / "build").mkdir(exist_ok=True)
    with FileLock(REPOSITORY / "build" / "npm.lock"):
        if not known.exists() or known.read_bytes() != lock.read_bytes():
            install()
            shutil.copy(lock, known)
    return folder


def run(tool, *arguments):
    """Run a program of the packages.

    Raises:
        ConnectionError: as `packages` does.
        BuildError: the program failed; the message is what it said.
    """
    command = [shutil.which(tool, path=packages() / ".bin"), *map(str, arguments)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{tool} failed: {done.stderr.strip() or done.stdout.strip()}")


def install():
    npm = shutil.which("npm")
    if npm is None:
        raise ConnectionError("KaTeX and others come from npm, which is not here: install Node.js.")
    advice = "check the connection and npm's configuration and try again"
    command = [npm, "ci", "--silent", "--no-audit", "--no-fund", "--fetch-retries=0"]
    try:
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, timeout=NPM_SECONDS)
    except subprocess.TimeoutExpired:
        raise ConnectionError(f"npm got no packages in {NPM_SECONDS} seconds: {advice}.") from None
    if done.returncode:
        raise ConnectionError(f"npm could not get the packages of package-lock.json: {advice}.")
