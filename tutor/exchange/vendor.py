"""Files of other people's packages, from npm's registry: pinned, checked, kept in a cache."""

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

TIMEOUT = 120  # seconds for one package


class Package(NamedTuple):
    """A package: its name, the version, the SHA-512 that npm gives as its integrity, its licence,
    and which of its files are wanted, as patterns; the licence's text is one of them.
    """

    name: str
    version: str
    integrity: str
    licence: str
    files: tuple[str, ...]


PACKAGES = {
    "tokenizers": Package(
        "@huggingface/tokenizers", "0.2.0",
        "LidMHe1FpcSYH4vcSjXooda34pC0M8m1gmDOv7SQi6Iv+ib1zX7J3sHBCC9/3FPCkn2k1b55FneVqMRxrr99pg==",
        "Apache-2.0", ("dist/tokenizers.min.cjs", "LICENSE"),
    ),
    "katex": Package(
        "katex", "0.19.1",
        "jG8uKntjSEcm2EpQOh0XturpPuuC9r3Sq5HLHdsFdWZT27E672SF19QEi+of0/YeOy15lDgRhKvr5614uRrEfA==",
        "MIT", ("dist/katex.min.js", "dist/katex.min.css", "dist/fonts/*.woff2", "LICENSE"),
    ),
}  # fmt: skip


def fetch(name):
    """The folder with the files of PACKAGES[name], fetched first if it is not in the cache.

    Raises ConnectionError where npm is missing or cannot get the package, and ValueError if what
    came is not the package that we know.
    """
    package = PACKAGES[name]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tutor", "npm")
    # The hash is part of the name: what is there was checked when it came.
    folder = (
        cache / f"{name}-{package.version}-{hashlib.sha256(repr(package).encode()).hexdigest()}"
    )
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            new = unpack(package, download(package, scratch), Path(scratch, "new"))
            try:
                os.replace(new, folder)
            except OSError:  # another process was quicker
                if not folder.is_dir():
                    raise
    return folder


def download(package, scratch):
    """The archive of a package in the folder `scratch`: its path."""
    spec = f"{package.name}@{package.version}"
    advice = "check the connection and npm's configuration and try again"
    if shutil.which("npm") is None:
        raise ConnectionError(f"{spec} comes through npm, which is not here: install Node.js.")
    command = [shutil.which("npm"), "pack", spec, "--silent", "--fetch-retries=0"]
    try:
        done = subprocess.run(command, cwd=scratch, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise ConnectionError(f"npm got no {spec} in {TIMEOUT} seconds: {advice}.") from None
    if done.returncode:
        raise ConnectionError(f"npm could not get {spec}: {advice}.")
    return next(Path(scratch).glob("*.tgz"))


def unpack(package, archive, folder):
    """Write the wanted files of an archive into `folder`, if its hash is the known one."""
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package.integrity:
        raise ValueError(
            f"What came as {package.name} {package.version} has another SHA-512 than the package "
            "that we know, and was thrown away."
        )
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            name = member.name.removeprefix("package/")
            if member.isfile() and any(fnmatch(name, pattern) for pattern in package.files):
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(packed.extractfile(member).read())
    return folder
