"""Multi30k from a folder and from a real local server; toy text, except in the last test."""

import gzip
import hashlib
import os
import tempfile
import threading
import tracemalloc
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.text import multi30k
from tutor.text.multi30k import cache_folder, load_multi30k
from tutor.text.normalize import normalize

ENGLISH = ["A red dog runs.", "Two cats sleep.", "A man reads."]
FRENCH = ["Un chien rouge court.", "Deux chats dorment.", "Un homme lit."]


def packed(lines):
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


def table(files):
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


FILES = {"val.en.gz": packed(ENGLISH), "val.fr.gz": packed(FRENCH)}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        self.server.asked.append(name)
        self.server.answer(self, name)

    def send(self, data, length=None, status=200, **headers):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


def good(handler, name):
    handler.send(FILES[name], len(FILES[name]))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("TUTOR_DATA", raising=False)
    monkeypatch.setenv("TUTOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(multi30k, "SHA256", table(FILES))
    return tmp_path / "cache"


@pytest.fixture
def server(cache, monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.answer, server.released = [], good, threading.Event()
    monkeypatch.setattr(multi30k, "ADDRESS", f"http://127.0.0.1:{server.server_port}/raw")
    monkeypatch.setattr(multi30k, "SCHEMES", ("http",))
    monkeypatch.setenv("no_proxy", "*")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


def left_in(folder):
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


def write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_downloads_once_then_reads_the_cache(server, cache, capsys):
    assert load_multi30k("val") == (ENGLISH, FRENCH)
    captured = capsys.readouterr()
    assert "val.fr.gz: 100%" in captured.err and captured.out == ""
    assert load_multi30k("val", "fr-en") == (FRENCH, ENGLISH)
    assert server.asked == ["val.en.gz", "val.fr.gz"]
    assert left_in(cache) == ["val.en.gz", "val.fr.gz"]


def truncated(handler, name):
    handler.send(FILES[name][:20], len(FILES[name]))


def truncated_without_length(handler, name):
    handler.send(FILES[name][:20])


def tampered(handler, name):
    handler.send(packed(["Something else."]))


def endless(handler, name):
    try:
        handler.send(b"")
        while True:
            handler.wfile.write(bytes(65_536))
    except OSError:  # the client hung up, as it should
        handler.server.released.set()


def stalled(handler, name):
    handler.send(b"", 100)
    handler.server.released.wait()


def absent(handler, name):
    handler.send(b"no such file", status=404)


def to_another_scheme(handler, name):
    handler.send(b"", status=302, Location=f"https://127.0.0.1:1/{name}")


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (truncated, ConnectionError, "20 of"),
        (truncated_without_length, ValueError, "thrown away"),
        (tampered, ValueError, "thrown away"),
        (endless, ValueError, "thrown away"),
        (stalled, ConnectionError, "timed out"),
        (absent, ConnectionError, r"\(404 Not Found\): try again later"),
        (to_another_scheme, ValueError, "only http is allowed"),
    ],
)
def test_a_bad_answer_leaves_nothing_behind(server, cache, monkeypatch, answer, kind, words):
    server.answer = answer
    with monkeypatch.context() as patch, pytest.raises(kind, match=words) as caught:
        if answer is stalled:
            patch.setattr(multi30k, "TIMEOUT_SECONDS", 0.2)
        load_multi30k("val")
    assert "TUTOR_DATA" in str(caught.value) and "\n" not in str(caught.value)
    assert left_in(cache) == []
    if answer is endless:
        assert server.released.wait(300), "the endless download was not cut off"
    server.answer = good
    assert load_multi30k("val") == (ENGLISH, FRENCH)


def test_offline_says_what_to_do(server, cache):
    server.socket.close()
    with pytest.raises(ConnectionError, match="check the connection and try again.*TUTOR_DATA"):
        load_multi30k("val")
    assert left_in(cache) == []


def test_nothing_is_asked_of_an_address_that_is_not_https(server, monkeypatch):
    monkeypatch.setattr(multi30k, "SCHEMES", ("https",))
    with pytest.raises(ValueError, match="only https is allowed"):
        load_multi30k("val")
    assert server.asked == []


def test_an_interrupted_write_leaves_nothing_behind(server, cache, monkeypatch):
    def interrupt(source, target):
        assert Path(source).read_bytes() == FILES["val.en.gz"]
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_multi30k("val")
    assert left_in(cache) == []


def test_a_cache_that_cannot_be_written_is_named(server, cache, monkeypatch):
    cache.write_text("a file where the folder should be")
    with pytest.raises(OSError, match="cache.*TUTOR_CACHE"):
        load_multi30k("val")


def test_folder_argument_comes_before_tutor_data_and_nothing_is_downloaded(
    server, tmp_path, monkeypatch
):
    monkeypatch.setenv("TUTOR_DATA", str(write(tmp_path / "empty", {})))
    with pytest.raises(FileNotFoundError, match="no val.en.gz in .*empty.*TUTOR_DATA"):
        load_multi30k("val")
    assert load_multi30k("val", folder=write(tmp_path / "full", FILES)) == (ENGLISH, FRENCH)
    monkeypatch.setenv("TUTOR_DATA", str(tmp_path / "full"))
    assert load_multi30k("val") == (ENGLISH, FRENCH)
    assert server.asked == []


@pytest.mark.parametrize("place", ["TUTOR_DATA", "cache"])
@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data + b"x"])
def test_a_damaged_file_is_fetched_again_into_the_cache_alone(
    server, cache, tmp_path, monkeypatch, place, damage
):
    folder = cache if place == "cache" else tmp_path / "data"
    damaged = damage(FILES["val.fr.gz"])
    write(folder, {**FILES, "val.fr.gz": damaged})
    if place == "cache":
        assert load_multi30k("val") == (ENGLISH, FRENCH)
        assert server.asked == ["val.fr.gz"]
        return
    monkeypatch.setenv("TUTOR_DATA", str(folder))
    with pytest.raises(ValueError, match="val.fr.gz is damaged or altered.*delete it"):
        load_multi30k("val")
    assert (folder / "val.fr.gz").read_bytes() == damaged and server.asked == []


@pytest.mark.parametrize(
    ("french", "words"),
    [
        (packed(FRENCH[:-1]), "3 lines but val.fr.gz has 2"),
        (gzip.compress("été".encode("latin-1"), mtime=0), "not UTF-8"),
        (packed(FRENCH)[:-9], "not a whole gzip file"),
        (b"plain text", "not a whole gzip file"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\0\xff\xff", "not a whole gzip file"),
    ],
    ids=["misaligned", "latin-1", "truncated", "plain", "garbage"],
)
def test_a_known_digest_does_not_excuse_bad_content(tmp_path, monkeypatch, french, words):
    files = {**FILES, "val.fr.gz": french}
    monkeypatch.setattr(multi30k, "SHA256", table(files))
    with pytest.raises(ValueError, match=words):
        load_multi30k("val", folder=write(tmp_path, files))


def test_a_small_file_that_unpacks_to_a_huge_one_is_cut_off(tmp_path, monkeypatch):
    files = {**FILES, "val.fr.gz": gzip.compress(bytes(20_000_000))}
    monkeypatch.setattr(multi30k, "SHA256", table(files))
    monkeypatch.setattr(multi30k, "MAX_TEXT_BYTES", 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 1,000,000 bytes"):
            load_multi30k("val", folder=write(tmp_path, files))
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("split", "pair", "words"),
    [("test", "en-fr", "'test': use one of train, val"), ("val", "en-es", "'en-es': use one of")],
)
def test_unknown_names_are_answered_with_the_known_ones(split, pair, words):
    with pytest.raises(ValueError, match=words):
        load_multi30k(split, pair)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n")), min_size=1))
@settings(max_examples=50)
def test_sources_are_normalized_and_any_target_comes_back_as_it_was(lines):
    files = {"val.en.gz": packed(lines), "val.de.gz": packed(reversed(lines))}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(multi30k, "SHA256", table(files))
        write(Path(folder), files)
        sources, targets = load_multi30k("val", "en-de", folder)
        assert (sources, targets) == (list(map(normalize, lines)), lines[::-1])


def test_the_cache_folder_is_the_users_own(monkeypatch, tmp_path):
    monkeypatch.delenv("TUTOR_CACHE", raising=False)
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for platform, base in (
        ("linux", "XDG_CACHE_HOME"),
        ("win32", "LOCALAPPDATA"),
        ("darwin", "Library/Caches"),
    ):
        monkeypatch.setattr(multi30k.sys, "platform", platform)
        assert cache_folder() == tmp_path / base / "tutor" / "multi30k"


@pytest.mark.skipif(not os.environ.get("TUTOR_DATA"), reason="TUTOR_DATA names no Multi30k folder")
@pytest.mark.parametrize(
    ("split", "pairs"), [("train", 29_000), ("val", 1_014), ("test_2016_flickr", 1_000)]
)
def test_the_real_files_have_the_published_sizes(split, pairs):
    for pair in ("en-fr", "en-de"):
        source, target = load_multi30k(split, pair)
        assert len(source) == len(target) == pairs
        assert all(source) and all(target)
