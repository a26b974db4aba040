"""Multi30k: image captions in English, French and German, read from a folder or downloaded.

Elliott et al. 2016, "Multi30K: Multilingual English-German Image Descriptions"; French comes
from Elliott et al. 2017, "Findings of the Second Shared Task on Multimodal Machine Translation
and Multilingual Image Description". The captions were collected for research. None of them
ships with this package.
"""

import gzip
import hashlib
import io
import os
import sys
import tempfile
import urllib.request
import zlib
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError

from tqdm import tqdm

from tutor.text.normalize import normalize

MULTI30K_SPLITS = ("train", "val", "test_2016_flickr")
PAIRS = ("en-fr", "fr-en", "en-de", "de-en")

ADDRESS = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
SCHEMES = ("https",)
SHA256 = {
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
}

# The largest file has 0.64 MB, and 2.1 MB once decompressed.
MAX_FILE_BYTES = 4_000_000
MAX_TEXT_BYTES = 16_000_000
TIMEOUT_SECONDS = 30


def load_multi30k(
    split: str, pair: str = "en-fr", folder: str | os.PathLike | None = None
) -> tuple[list[str], list[str]]:
    """Return the source and the target sentences of one split; equal indices belong together.
    Sources are normalized (`tutor.text.normalize`), targets stay as they are.

    The files `<split>.<language>.gz` come from `folder`, else from the folder that the
    environment variable TUTOR_DATA names, else from `cache_folder()`, into which missing and
    damaged files are downloaded. Every file is checked against its SHA-256.

    Args:
        split: "train" (29,000 pairs), "val" (1,014) or "test_2016_flickr" (1,000).
        pair: source and target language: "en-fr", "fr-en", "en-de" or "de-en".
        folder: where the files are; nothing is ever downloaded into it.

    Raises:
        ValueError: unknown split or pair, or a file that is not the known one.
        FileNotFoundError: a file is missing from `folder` or from the folder in TUTOR_DATA.
        ConnectionError: a download failed; nothing incomplete is kept.
        OSError: the cache folder cannot be written.
    """
    if split not in MULTI30K_SPLITS:
        raise ValueError(f"Unknown split {split!r}: use one of {', '.join(MULTI30K_SPLITS)}.")
    if pair not in PAIRS:
        raise ValueError(f"Unknown pair {pair!r}: use one of {', '.join(PAIRS)}.")
    names = [f"{split}.{language}.gz" for language in pair.split("-")]
    folder = folder or os.environ.get("TUTOR_DATA")
    paths = [_find(name, Path(folder).expanduser()) if folder else _fetch(name) for name in names]
    source, target = (_read_lines(path) for path in paths)
    if len(source) != len(target):
        raise ValueError(
            f"{paths[0]} has {len(source)} lines but {names[1]} has {len(target)}, so they cannot "
            f"be paired: replace both with the files from {ADDRESS}."
        )
    return list(map(normalize, source)), target


def cache_folder() -> Path:
    """Return the folder for downloads: TUTOR_CACHE if set, else in the user's cache."""
    if chosen := os.environ.get("TUTOR_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tutor" / "multi30k"


def _find(name: str, folder: Path) -> Path:
    path = folder / name
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {name} in {folder}: put the file from {ADDRESS}/{name} there, or name "
            "no folder (argument or TUTOR_DATA) and it is downloaded."
        )
    return path


def _fetch(name: str) -> Path:
    """Return the path of a file in the cache, downloaded first if it is missing or damaged."""
    path = cache_folder() / name
    if path.is_file() and _sha256(_read(path)) == SHA256[name]:
        return path
    data = _download(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A scratch folder beside the target: same disk, so the move is atomic, and always removed.
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            part = Path(scratch) / name
            part.write_bytes(data)
            os.replace(part, path)
    except OSError as error:
        raise OSError(
            f"Cannot write {path} ({error}): name a folder that you can write to in the "
            "environment variable TUTOR_CACHE."
        ) from error
    return path


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req, fp, code, msg, headers, newurl):
        _check_scheme(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_scheme(url: str) -> None:
    if url.split(":", 1)[0].lower() not in SCHEMES:
        raise ValueError(
            f"Refusing to download from {url}: only {' or '.join(SCHEMES)} is allowed, so put the "
            "files in a folder and name it in the environment variable TUTOR_DATA."
        )


def _download(name: str) -> bytes:
    """Return the verified bytes of a file; at most MAX_FILE_BYTES are ever held."""
    url = f"{ADDRESS}/{name}"
    _check_scheme(url)
    data = bytearray()
    try:
        opener = urllib.request.build_opener(_SafeRedirects)
        with opener.open(url, timeout=TIMEOUT_SECONDS) as response:
            total = response.length  # None if the server does not say
            with tqdm(total=total, desc=name, unit="B", unit_scale=True) as bar:
                while len(data) <= MAX_FILE_BYTES and (chunk := response.read(65_536)):
                    data += chunk
                    bar.update(len(chunk))
        if total and len(data) < min(total, MAX_FILE_BYTES):
            raise ConnectionError(f"it ended after {len(data)} of {total} bytes")
    except HTTPError as error:  # the connection is good, and its other end says no
        raise ConnectionError(
            f"Could not download {url} ({error.code} {error.reason}): try again later, or put the "
            "files in a folder and name it in the environment variable TUTOR_DATA."
        ) from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise ConnectionError(
            f"Could not download {url} ({reason}): check the connection and try again, or put the "
            "files in a folder and name it in the environment variable TUTOR_DATA."
        ) from error
    if len(data) > MAX_FILE_BYTES or _sha256(data) != SHA256[name]:
        raise ValueError(
            f"The download of {url} is not the known file (its size or SHA-256 differs) and was "
            "thrown away: try again later, or name a folder with the right files in TUTOR_DATA."
        )
    return bytes(data)


def _read(path: Path) -> bytes:
    """Return the bytes of a file, of one that is too large so many that it is seen."""
    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a verified gzip file, without their line ends."""
    data = _read(path)
    advice = f"delete it and get it again from {ADDRESS}/{path.name}."
    if _sha256(data) != SHA256[path.name]:
        raise ValueError(
            f"{path} is damaged or altered (its SHA-256 is not the known one): {advice}"
        )
    try:
        with gzip.open(io.BytesIO(data)) as file:
            text = file.read(MAX_TEXT_BYTES + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{path} is not a whole gzip file ({error}): {advice}") from error
    if len(text) > MAX_TEXT_BYTES:
        raise ValueError(f"{path} holds more than {MAX_TEXT_BYTES:,} bytes of text: {advice}")
    try:
        # Not splitlines(): it also breaks at characters that stand inside a sentence.
        return text.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text ({error}): {advice}") from error
