"""Search order of data folders, and downloads from a local server that breaks off, lies or refuses."""

import gzip
import io
import itertools
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rich.console import Console

from npbench import console
from npbench.data import sources
from npbench.errors import RequestError
from sample_files import NOWHERE, data_file, private_umask
from sample_files import put as put_content
from sample_files import sha256 as hash_of

CONTENT = b"1,2,+1\r\n" * 50_000  # several chunks of a download; line ends that must survive
SHA256 = hash_of(CONTENT)


class _Handler(BaseHTTPRequestHandler):
    """Answers with ``server.answers`` in turn, the last one for ever: (status, chunks of the body, headers)."""

    def do_GET(self):
        answers, requested = self.server.answers, self.server.requested
        status, body, headers = answers[min(len(requested), len(answers) - 1)]
        requested.append(self.path)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            for chunk in body:
                self.wfile.write(chunk)
        except ConnectionError:
            self.server.stopped.set()

    def log_message(self, *_):
        pass


def whole(content=CONTENT, **headers):
    return 200, [content], {"Content-Length": str(len(content)), **headers}


def slow(seconds):
    length = {"Content-Length": str(len(CONTENT))}
    return 200, (time.sleep(seconds) or chunk for chunk in [CONTENT]), length


@pytest.fixture(scope="module")
def running():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server(running):
    running.requested, running.answers, running.stopped = [], [whole()], threading.Event()
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
    monkeypatch.setattr(sources, "RETRIES", 0)
    return tmp_path


def described(url=NOWHERE, content=CONTENT):
    return data_file("toy/toy.data", content, url)


FILE = described()


@pytest.fixture
def served(server):
    return described(f"http://127.0.0.1:{server.server_address[1]}/toy.data")


def downloads(folders):
    return [path.name for path in (folders / "cache" / "raw").rglob("*") if path.is_file()]


def locate(file):
    return sources.locate_all([file])[0]


def refusal(file, folders):
    """Return the error of a failed download, and check that it leaves no file."""
    with pytest.raises(RequestError) as caught:
        locate(file)
    assert downloads(folders) == []
    return str(caught.value)


def put(path, content=CONTENT):
    return put_content(path, content)


def test_folders_are_searched_in_order_raw_first(folders):
    places = [folders / name / below for name in ("first", "second", "cache") for below in ("raw/toy", "toy")]
    for place in reversed(places):
        assert sources.find(FILE) != place / "toy.data"
        put(place / "toy.data")
        assert locate(FILE) == place / "toy.data"


def test_each_entry_that_is_not_a_folder_is_named(folders, monkeypatch):
    bad = [str(folders / "nowhere"), str(put(folders / "a_file"))]
    monkeypatch.setenv("NPBENCH_DATA", os.pathsep.join([*bad, str(folders / "first")]))
    with pytest.raises(RequestError) as caught:
        sources.find(FILE)
    assert [fault.split(",")[0] for fault in caught.value.faults] == [f"NPBENCH_DATA names {path}" for path in bad]


def test_home_is_expanded_and_empty_entries_are_ignored(folders, monkeypatch):
    monkeypatch.setenv("HOME", str(folders))
    monkeypatch.setenv("USERPROFILE", str(folders))
    monkeypatch.setenv("NPBENCH_DATA", "~/second")
    monkeypatch.setenv("NPBENCH_CACHE", "~/cache")
    assert sources.data_folders() == [folders / "second", folders / "cache"]
    monkeypatch.setenv("NPBENCH_DATA", os.pathsep.join(["~/second", "~/second"]))
    assert sources.data_folders() == [folders / "second", folders / "cache"]
    monkeypatch.setenv("NPBENCH_DATA", os.pathsep * 2)
    assert sources.data_folders() == [folders / "cache"]
    monkeypatch.delenv("NPBENCH_CACHE")
    assert sources.cache_folder().name == "npbench"


@pytest.mark.parametrize("content", [CONTENT[:-1] + b"\r", CONTENT.replace(b"\r", b""), b""])
def test_an_altered_copy_is_an_error_even_if_another_is_right(folders, content):
    bad = put(folders / "first" / "toy" / "toy.data", content)
    put(folders / "second" / "toy" / "toy.data")
    with pytest.raises(RequestError) as caught:
        locate(FILE)
    for word in (str(bad), SHA256, hash_of(content), f"{len(content)} bytes", "Delete it"):
        assert word in str(caught.value)
    assert bad.read_bytes() == content


def test_folders_beside_a_checkout(tmp_path, monkeypatch):
    monkeypatch.undo()
    assert sources._checkout_folders(tmp_path) == []
    (tmp_path / "pyproject.toml").touch()
    assert sources._checkout_folders(tmp_path) == [tmp_path / "data", tmp_path.parent / "shared" / "data"]


def test_a_download_is_kept_byte_for_byte_for_those_who_may_write_to_the_cache(folders, server, served):
    (folders / "cache").chmod(0o770)
    for _ in range(2):
        with private_umask():
            path = locate(served)
        assert path.stat().st_mode & 0o777 == 0o640
        assert path == folders / "cache" / "raw" / "toy" / "toy.data"
        assert path.read_bytes() == CONTENT
    assert len(server.requested) == 1
    assert downloads(folders) == ["toy.data"]


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_a_packed_file_stays_packed(server, served, encoding):
    packed = gzip.compress(CONTENT)
    server.answers = [whole(packed, **{"Content-Encoding": encoding})]
    assert locate(described(served.url, packed)).read_bytes() == packed


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ((404, [], {}), "404 Not Found"),
        ((403, [], {}), "403 Forbidden"),
        (whole(b"<html>Please log in</html>"), f"expected {len(CONTENT)} bytes, the server sends 26"),
        (whole(CONTENT[:-1] + b"x"), hash_of(CONTENT[:-1] + b"x")),
        ((200, [CONTENT[:1000]], {}), hash_of(CONTENT[:1000])),
        ((200, [CONTENT[:1000]], {"Content-Length": str(len(CONTENT))}), "broke"),
        ((503, [], {}), "503 Service Unavailable"),
    ],
)
def test_another_answer_is_an_error(folders, server, served, answer, word):
    server.answers = [answer]
    message = refusal(served, folders)
    target = folders / "first" / "toy" / "toy.data"
    for part in (word, served.path, served.url, f"{served.size} bytes", SHA256, str(target), "NPBENCH_DATA"):
        assert part in message


def test_an_endless_body_is_stopped(folders, server, served):
    server.answers = [(200, itertools.repeat(CONTENT), {})]
    assert "sends more" in refusal(served, folders)
    assert server.stopped.wait(timeout=10)


CUT = (200, [CONTENT[:9]], {"Content-Length": str(len(CONTENT))})


@pytest.mark.parametrize(
    ("answers", "requests"),
    [
        ([(503, [], {"Retry-After": "100000"})], 3),
        ([whole(CONTENT[1:] + b"x")], 3),
        ([(404, [], {})], 1),
        ([(503, [], {}), CUT, whole()], None),
    ],
)
def test_temporary_faults_are_retried(folders, server, served, monkeypatch, answers, requests):
    waits = []
    monkeypatch.setattr(sources, "RETRIES", 2)
    monkeypatch.setattr(time, "sleep", waits.append)
    server.answers = answers
    if requests is None:
        assert locate(served).read_bytes() == CONTENT
    else:
        refusal(served, folders)
        assert len(server.requested) == requests
    assert sum(waits) <= 3


def test_a_server_that_drips_is_given_up(folders, server, served, monkeypatch):
    monkeypatch.setattr(sources, "TIMEOUT", 0.3)
    monkeypatch.setattr(sources, "MIN_BYTES_PER_SECOND", 10 * len(CONTENT))
    sent = []
    drops = (time.sleep(0.02) or sent.append(number) or b"1" for number in range(len(CONTENT)))
    server.answers = [(200, drops, {"Content-Length": str(len(CONTENT))})]
    assert "too slow" in refusal(served, folders)
    assert server.stopped.wait(30)  # the connection is closed
    assert len(sent) < len(CONTENT) / 10


def test_a_host_that_refuses_is_asked_once_for_all_files(folders, monkeypatch):
    asked = []
    monkeypatch.setattr(sources, "RETRIES", 2)
    receive = sources._receive
    monkeypatch.setattr(sources, "_receive", lambda url, *rest: asked.append(url) or receive(url, *rest))
    here, *absent = (replace(described(f"{NOWHERE}/{i}"), path=f"toy/{i}.data") for i in range(9))
    put(folders / "first" / here.path)
    with pytest.raises(RequestError) as caught:
        sources.locate_all([here, *absent])
    assert asked == [absent[0].url]
    (fault,) = caught.value.faults
    assert [file.path in fault for file in (here, *absent)] == [False] + 8 * [True]


def test_a_folder_that_cannot_be_read_is_passed_over(folders, monkeypatch):
    closed, found = folders / "first" / "raw" / "toy", put(folders / "second" / "toy" / "toy.data")
    put(closed / "toy.data")

    def refuse(path, *, stat=os.stat, **options):
        if Path(path).parent == closed:
            raise PermissionError(13, "Permission denied", path)
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", refuse)
    assert locate(FILE) == found


def test_a_silent_server_is_given_up(folders, server, served, monkeypatch):
    monkeypatch.setattr(sources, "TIMEOUT", 0.05)
    server.answers = [slow(0.3)]
    assert "no answer within 0.05 seconds" in refusal(served, folders)


def test_without_network_a_file_can_be_put_in_place(folders):
    assert sources.find(FILE) is None
    assert "no connection" in refusal(FILE, folders)
    assert "InvalidSchema" in refusal(described("gopher://127.0.0.1/1"), folders)
    target = put(folders / "first" / "toy" / "toy.data")
    assert locate(FILE) == target


def test_a_cache_that_cannot_be_written(folders, served, monkeypatch):
    monkeypatch.setenv("NPBENCH_CACHE", str(put(folders / "a_file")))
    with pytest.raises(RequestError, match=r"a_file.* cannot be written"):
        locate(served)


def process_that_locates(file):
    code = "from npbench.data import sources; from npbench.contracts import DataFile; "
    code += f"print(*sources.locate_all([{file!r}]))"
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def test_a_killed_download_does_not_block_the_next(server, served):
    server.answers = [slow(1.0), whole()]
    process = process_that_locates(served)
    deadline = time.monotonic() + 30
    while not server.requested and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=30)
    assert locate(served).read_bytes() == CONTENT
    assert len(server.requested) == 2


def test_processes_that_want_the_same_file_download_it_once(folders, server, served):
    server.answers = [slow(0.5)]
    processes = [process_that_locates(served) for _ in range(2)]
    printed = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert printed == [str(folders / "cache" / "raw" / "toy" / "toy.data")] * 2
    assert len(server.requested) == 1


@pytest.mark.parametrize("terminal", [True, False])
def test_a_download_counts_bytes_beside_a_spinner_and_ends_as_a_line(served, monkeypatch, capsys, terminal):
    screen = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    monkeypatch.setattr(console, "STDERR", screen)
    with console.status("Loading toy"):
        locate(served)
    moving, printed = screen.file.getvalue(), capsys.readouterr().err
    assert ("━" in moving) == terminal
    assert [line for line in (moving + printed).splitlines() if "400.0 kB" in line and "toy.data:" in line]
    assert terminal or len(printed.splitlines()) == 1
    locate(served)
    assert "toy" not in capsys.readouterr().err
