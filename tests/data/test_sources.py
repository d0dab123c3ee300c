import hashlib
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from npbench.contracts import DataFile
from npbench.data import download, sources
from npbench.errors import RequestError

CONTENT = b"1,2,+1\r\n" * 50_000  # several chunks of a download; line ends that must survive
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requested.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def running():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.requested = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server(running):
    running.requested.clear()
    return running


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Two data folders and a cache of the test's own; no checkout, no proxy."""
    for name in ("first", "second", "cache"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("NPBENCH_DATA", os.pathsep.join(str(tmp_path / name) for name in ("first", "second")))
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(sources, "_checkout_folders", lambda root: [])
    monkeypatch.setattr(download, "FIRST_PAUSE", 0.01)
    return tmp_path


@pytest.fixture
def file():
    return DataFile(path="toy/toy.data", sha256=SHA256, size=len(CONTENT), url="http://127.0.0.1:9/never/asked")


def served(server, route):
    address = f"http://127.0.0.1:{server.server_address[1]}{route}"
    return DataFile(path="toy/toy.data", sha256=SHA256, size=len(CONTENT), url=address)


def put(path, content=CONTENT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_folders_are_searched_in_order_raw_first(folders, file):
    places = [folders / name / below for name in ("first", "second", "cache") for below in ("raw/toy", "toy")]
    for place in reversed(places):
        assert sources.find(file) != place / "toy.data"
        put(place / "toy.data")
        assert sources.locate(file) == place / "toy.data"


def test_without_a_copy_nothing_is_found(file):
    assert sources.find(file) is None


def test_every_entry_that_is_no_folder_is_told(folders, file, monkeypatch):
    bad = [str(folders / "nowhere"), str(put(folders / "a_file"))]
    monkeypatch.setenv("NPBENCH_DATA", os.pathsep.join([*bad, str(folders / "first")]))
    with pytest.raises(RequestError) as caught:
        sources.find(file)
    assert [fault.split(",")[0] for fault in caught.value.faults] == [f"NPBENCH_DATA names {path}" for path in bad]


def test_empty_entries_do_not_count(folders, monkeypatch):
    monkeypatch.setenv("NPBENCH_DATA", os.pathsep * 2)
    assert sources.data_folders() == [folders / "cache"]


def test_home_is_expanded(folders, monkeypatch):
    monkeypatch.setenv("HOME", str(folders))
    monkeypatch.setenv("USERPROFILE", str(folders))
    monkeypatch.setenv("NPBENCH_DATA", "~/second")
    monkeypatch.setenv("NPBENCH_CACHE", "~/cache")
    assert sources.data_folders() == [folders / "second", folders / "cache"]


@pytest.mark.parametrize("content", [CONTENT[:-1] + b"\r", CONTENT.replace(b"\r", b""), b""])
def test_an_altered_copy_is_an_error_even_where_another_is_good(folders, file, content):
    bad = put(folders / "first" / "toy" / "toy.data", content)
    put(folders / "second" / "toy" / "toy.data")
    with pytest.raises(RequestError) as caught:
        sources.locate(file)
    for word in (str(bad), SHA256, hashlib.sha256(content).hexdigest(), f"{len(content)} bytes", "Delete it"):
        assert word in str(caught.value)
    assert bad.read_bytes() == content


def test_checkout_folders_are_those_beside_a_checkout(tmp_path, monkeypatch):
    monkeypatch.undo()
    assert sources._checkout_folders(tmp_path) == []
    (tmp_path / "pyproject.toml").touch()
    assert sources._checkout_folders(tmp_path) == [tmp_path / "data", tmp_path.parent / "shared" / "data"]


def test_a_download_is_kept_byte_for_byte(folders, server):
    file = served(server, "/good")
    path = sources.locate(file)
    assert path == folders / "cache" / "raw" / "toy" / "toy.data"
    assert path.read_bytes() == CONTENT
    assert sources.locate(file) == path
    assert server.requested == ["/good"]


def test_several_may_download_the_same_file_at_once(folders, server):
    file = served(server, "/good")
    threads = [threading.Thread(target=sources.locate, args=[file]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in (folders / "cache" / "raw" / "toy").iterdir()] == ["toy.data"]
    assert sources.find(file).read_bytes() == CONTENT


def test_a_download_that_fails_says_why_and_what_to_do(folders, server):
    file = served(server, "/missing")
    with pytest.raises(RequestError) as caught:
        sources.locate(file)
    message = str(caught.value)
    target = folders / "first" / "raw" / "toy" / "toy.data"
    for word in ("the server answered 404 Not Found.", file.url, f"{file.size} bytes", SHA256, str(target)):
        assert word in message
    assert list((folders / "cache").rglob("raw/*/*")) == []
    assert list(sources.copies(file)) == []


def test_without_network_the_message_says_what_to_get_and_where_to_put_it(folders, file):
    with pytest.raises(RequestError) as caught:
        sources.locate(file)  # nothing listens on the port of its address
    message = str(caught.value)
    target = folders / "first" / "raw" / "toy" / "toy.data"
    for word in ("no connection", file.url, f"{file.size} bytes", SHA256, str(target), "NPBENCH_DATA"):
        assert word in message
    put(target)
    assert sources.locate(file) == target


def test_an_address_that_cannot_be_opened_is_told(file):
    odd = DataFile(path=file.path, sha256=file.sha256, size=file.size, url="gopher://127.0.0.1/1")
    with pytest.raises(RequestError, match=r"could not be downloaded from gopher.*InvalidSchema"):
        sources.locate(odd)


def test_a_cache_that_cannot_be_written_is_told(folders, server, monkeypatch):
    monkeypatch.setenv("NPBENCH_CACHE", str(put(folders / "a_file")))
    with pytest.raises(RequestError, match=r"a_file.* cannot be written"):
        sources.locate(served(server, "/good"))


def test_the_cache_is_the_platforms_own_by_default(monkeypatch):
    monkeypatch.delenv("NPBENCH_CACHE")
    assert isinstance(sources.cache_folder(), Path)
    assert sources.cache_folder().name == "npbench"
