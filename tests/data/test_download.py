"""Downloads from a server of the test's own, which breaks off, lies or refuses as it is told."""

import contextlib
import errno
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.progress import Progress

from npbench.contracts import DataFile
from npbench.data import download as module
from npbench.data.download import DownloadError, download

CONTENT = bytes(range(256)) * 1000  # several pieces; every byte, so that nothing may translate line ends
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PAGE = b"<!DOCTYPE html><title>Please log in</title>"


class _Handler(BaseHTTPRequestHandler):
    """Serves what ``server.behaviour`` says; each request is noted as (byte it begins at, bytes sent)."""

    def do_GET(self):
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(wanted[1]) if wanted else 0
        act, requested = self.server.behaviour, self.server.requested  # those of the test that asks
        status, body, headers = act(self, begin) if callable(act) else act
        requested.append((begin, len(body)))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def whole(body=CONTENT, sent=None, **headers):
    """Answer with all of it, or break off after so many bytes."""
    length = {"Content-Length": str(len(body))}
    return 200, body[:sent], length | {name.replace("_", "-"): value for name, value in headers.items()}


def ranges(most=None, content=CONTENT):
    """Answer with what is asked for, but never with more than so many bytes before the connection breaks."""

    def act(_, begin):
        rest = content[begin:]
        said = {"Content-Length": str(len(rest))}
        if begin:
            said["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        return (206 if begin else 200), rest[:most], said

    return act


def in_turn(*answers):
    """Give one answer after another, the last one for ever."""
    left = list(answers)

    def act(handler, begin):
        answer = left.pop(0) if len(left) > 1 else left[0]
        return answer(handler, begin) if callable(answer) else answer

    return act


@pytest.fixture(scope="module")
def running():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server(running, monkeypatch):
    running.requested, running.behaviour = [], ranges()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.001)
    return running


@pytest.fixture
def file(server):
    url = f"http://127.0.0.1:{server.server_address[1]}/toy.data"
    return DataFile(path="toy/toy.data", sha256=SHA256, size=len(CONTENT), url=url)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "raw" / "toy" / "toy.data"


@pytest.fixture
def unfinished(tmp_path):
    return tmp_path / "unfinished"


def left_over(unfinished):
    return [path.name for path in unfinished.iterdir() if path.suffix != ".lock"]


def fails(file, target, unfinished):
    """Return the reason for which a download fails, and check that nothing is where data lie."""
    with pytest.raises(DownloadError) as caught:
        download(file, target, unfinished)
    assert not target.exists()
    return str(caught.value)


def test_what_arrives_is_kept_byte_for_byte_and_asked_for_once(server, file, target, unfinished):
    for _ in range(2):
        download(file, target, unfinished)
        assert target.read_bytes() == CONTENT
    assert server.requested == [(0, len(CONTENT))]
    assert left_over(unfinished) == []


def test_an_empty_file(server, target, unfinished):
    server.behaviour = whole(b"")
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    download(DataFile(path="e", sha256=hashlib.sha256().hexdigest(), size=0, url=url), target, unfinished)
    assert target.read_bytes() == b""


def test_a_connection_that_keeps_breaking_is_gone_on_with_where_it_broke(server, file, target, unfinished):
    server.behaviour = ranges(most=3 * module.CHUNK + 1)
    download(file, target, unfinished)
    assert target.read_bytes() == CONTENT
    assert [begin for begin, _ in server.requested] == list(range(0, len(CONTENT), 3 * module.CHUNK))


def test_the_next_command_goes_on_where_the_last_one_stopped(server, file, target, unfinished):
    server.behaviour = in_turn(whole(sent=65_536), (503, b"", {}))
    assert fails(file, target, unfinished) == "the server answered 503 Service Unavailable"
    assert left_over(unfinished) == [f"{SHA256}.part"]
    server.requested, server.behaviour = [], ranges()
    download(file, target, unfinished)
    assert target.read_bytes() == CONTENT
    assert server.requested == [(65_536, len(CONTENT) - 65_536)]


def test_a_server_without_ranges_is_asked_for_all_of_it_anew(server, file, target, unfinished):
    server.behaviour = in_turn(whole(sent=65_536), whole())
    download(file, target, unfinished)
    assert target.read_bytes() == CONTENT
    assert server.requested == [(0, 65_536), (65_536, len(CONTENT))]


@pytest.mark.parametrize(
    "answer",
    [
        (416, b"", {}),
        (206, CONTENT[10:], {"Content-Range": f"bytes 10-{len(CONTENT) - 1}/{len(CONTENT)}"}),
        (206, CONTENT[65_536:], {}),
    ],
    ids=["refused", "another range", "a range that is not named"],
)
def test_what_is_no_continuation_is_not_appended(server, file, target, unfinished, answer):
    server.behaviour = in_turn(whole(sent=65_536), answer, whole())
    download(file, target, unfinished)
    assert target.read_bytes() == CONTENT
    assert [begin for begin, _ in server.requested] == [0, 65_536, 0]


@pytest.mark.parametrize("there", [b"x" * 100, b"x" * len(CONTENT), b"x" * (len(CONTENT) + 1)])
def test_a_beginning_of_something_else_is_thrown_away(server, file, target, unfinished, there):
    unfinished.mkdir()
    (unfinished / f"{SHA256}.part").write_bytes(there)
    download(file, target, unfinished)
    assert target.read_bytes() == CONTENT


def test_a_server_that_lies_about_every_continuation_ends(server, file, target, unfinished):
    other = bytes(len(CONTENT))
    server.behaviour = ranges(most=100_000, content=other)
    assert f"another file, perhaps a new version of the data, of SHA-256 {hashlib.sha256(other).hexdigest()}" in fails(
        file, target, unfinished
    )
    assert left_over(unfinished) == []


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 120_000), max_size=6), st.booleans())
def test_wherever_it_breaks_the_file_is_right(server, file, target, unfinished, breaks, has_ranges):
    shutil.rmtree(unfinished, ignore_errors=True)
    target.unlink(missing_ok=True)
    parts = [ranges(most) if has_ranges else whole(sent=most) for most in breaks]
    server.behaviour = in_turn(*parts, ranges() if has_ranges else whole())
    for _ in range(len(breaks)):  # whoever asks again after giving up, as several in a row may bring nothing new
        with contextlib.suppress(DownloadError):
            download(file, target, unfinished)
    download(file, target, unfinished)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(server, file, target, unfinished, status):
    server.behaviour = in_turn((status, b"", {}), (status, b"", {"Retry-After": "0"}), whole())
    download(file, target, unfinished)
    assert len(server.requested) == 3


def test_how_long_to_wait_is_the_servers_choice_within_reason(server, file, target, unfinished, monkeypatch):
    pauses = []
    monkeypatch.setattr(module.time, "sleep", pauses.append)
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.5)
    busy = [(503, b"", {"Retry-After": after}) for after in ("7", "86400", "Wed, 21 Oct 2015 07:28:00 GMT")]
    server.behaviour = in_turn(*busy, whole())
    download(file, target, unfinished)
    assert pauses == [7.0, 60.0, 4.0]


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_what_stays_is_told_at_once(server, file, target, unfinished, status):
    server.behaviour = (status, PAGE, {"Content-Type": "text/html"})
    assert fails(file, target, unfinished).startswith(f"the server answered {status} ")
    assert len(server.requested) == 1


def test_a_server_that_stays_broken_is_given_up(server, file, target, unfinished):
    server.behaviour = (502, b"", {})
    assert fails(file, target, unfinished) == "the server answered 502 Bad Gateway"
    assert len(server.requested) == module.FRUITLESS


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (whole(PAGE), "another file, perhaps a new version of the data, of 43 bytes"),
        (whole(PAGE, Content_Type="text/html; charset=utf-8"), "another file, a web page"),
        ((200, PAGE, {"Content-Type": "text/html"}), "another file, a web page"),
        (whole(PAGE.ljust(len(CONTENT))), "another file, a web page"),
        (whole(CONTENT[:-1] + b"x"), "another file, perhaps a new version of the data, of SHA-256"),
        ((200, CONTENT + b"x", {}), f"of more than {len(CONTENT)} bytes"),
        (whole(CONTENT[:-1]), f"of {len(CONTENT) - 1} bytes"),
        ((204, b"", {}), "the server answered 204 No Content"),
    ],
    ids=["page", "page by type", "page of unknown length", "padded page", "altered", "longer", "shorter", "nothing"],
)
def test_another_file_is_refused_and_nothing_of_it_stays(server, file, target, unfinished, answer, reason):
    server.behaviour = answer
    assert reason in fails(file, target, unfinished)
    assert len(server.requested) == 1
    assert left_over(unfinished) == []


def test_a_truncated_file_of_unknown_length_is_no_file(server, file, target, unfinished):
    server.behaviour = (200, CONTENT[:1000], {})
    assert fails(file, target, unfinished) == "the connection broke before the file was complete"


@pytest.mark.parametrize("called", ["gzip", "x-gzip", "deflate"])
def test_what_a_server_calls_compressed_is_left_as_it_is(server, file, target, unfinished, called):
    server.behaviour = whole(Content_Encoding=called)
    download(file, target, unfinished)
    assert target.read_bytes() == CONTENT


def test_a_server_that_falls_silent_is_told(server, file, target, unfinished, monkeypatch):
    monkeypatch.setattr(module, "TIMEOUT", 0.05)

    def silent(handler, begin):
        time.sleep(0.2)
        return whole()

    server.behaviour = silent
    assert fails(file, target, unfinished) == "the server did not answer within 0.05 seconds"


def test_a_server_that_falls_silent_in_the_middle_is_asked_for_the_rest(server, file, target, unfinished, monkeypatch):
    monkeypatch.setattr(module, "TIMEOUT", 0.1)

    def stalls(handler, begin):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        handler.wfile.write(CONTENT[:98_304])
        handler.wfile.flush()
        time.sleep(0.3)
        return 200, b"", {}

    server.behaviour = in_turn(stalls, ranges())
    download(file, target, unfinished)
    assert target.read_bytes() == CONTENT


def test_without_network(target, unfinished, server, file):
    unreachable = DataFile(path=file.path, sha256=SHA256, size=file.size, url="http://127.0.0.1:9/toy.data")
    assert fails(unreachable, target, unfinished) == "no connection to the server could be made or kept"


def test_an_address_that_is_none(target, unfinished, server, file):
    odd = DataFile(path=file.path, sha256=SHA256, size=file.size, url="gopher://127.0.0.1/1")
    assert "InvalidSchema" in fails(odd, target, unfinished)


def test_too_little_room_is_told_before_anything_is_written(server, file, target, unfinished, monkeypatch):
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**6, 10**6 - 10, 10))
    assert fails(file, target, unfinished) == f"{file.size} bytes are needed in {unfinished}, where 10 are free"
    assert left_over(unfinished) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_disk_that_fills_up_on_the_way_is_given_its_space_back(server, file, target, unfinished):
    unfinished.mkdir()
    (unfinished / f"{SHA256}.part").symlink_to("/dev/full")
    reason = fails(file, target, unfinished)
    assert reason == f"{unfinished / f'{SHA256}.part'} cannot be written: {os.strerror(errno.ENOSPC)}"
    assert left_over(unfinished) == []


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="changes the user")
def test_a_place_without_permission_is_told(server, file, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o700)
    code = (
        "import os\n"
        "from pathlib import Path\n"
        "from npbench.contracts import DataFile\n"
        "from npbench.data.download import DownloadError, download\n"
        "import filelock\n"
        f"place = Path({str(tmp_path / 'closed')!r})\n"
        "os.setuid(65534)\n"
        f"try: download({file!r}, place / 'raw' / 'toy.data', place / 'unfinished')\n"
        "except DownloadError as error: print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd="/")
    assert re.search(r"closed\S* cannot be written: Permission denied", ended.stdout), ended.stderr


def test_a_place_that_is_a_file_is_told(server, file, tmp_path):
    (tmp_path / "afile").touch()
    assert "afile" in fails(file, tmp_path / "afile" / "toy.data", tmp_path / "unfinished")


FETCH = """
import sys
from pathlib import Path
from npbench.contracts import DataFile
from npbench.data.download import download
from npbench.data.sources import verify
file = DataFile(path="toy/toy.data", sha256=sys.argv[1], size=int(sys.argv[2]), url=sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
download(file, Path(sys.argv[4]), Path(sys.argv[5]))
verify(Path(sys.argv[4]), file)
"""


def start(file, target, unfinished):
    arguments = [sys.executable, "-c", FETCH, file.sha256, str(file.size), file.url, str(target), str(unfinished)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(arguments, **pipes)
    assert process.stdout.readline() == "ready\n"
    return process


def slowly(handler, begin):
    time.sleep(0.4)
    return ranges()(handler, begin)


def test_processes_that_want_the_same_file_wait_for_the_first(server, file, target, unfinished):
    server.behaviour = slowly
    processes = [start(file, target, unfinished) for _ in range(3)]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    told = [process.communicate(timeout=30)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], told
    assert sum("Another process is downloading toy.data; waiting for it." in text for text in told) == 2
    assert server.requested == [(0, len(CONTENT))]
    assert target.read_bytes() == CONTENT


def test_a_process_that_is_killed_leaves_its_part_and_no_lock(server, file, target, unfinished):
    arrived = threading.Event()

    def stalls(handler, begin):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        handler.wfile.write(CONTENT[: 3 * module.CHUNK])
        handler.wfile.flush()
        arrived.set()
        time.sleep(1.0)
        return 200, b"", {}

    server.behaviour = stalls
    process = start(file, target, unfinished)
    process.stdin.write("\n")
    process.stdin.flush()
    assert arrived.wait(timeout=30)
    partial = unfinished / f"{SHA256}.part"
    deadline = time.monotonic() + 10
    while not (partial.exists() and partial.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=30)
    held = partial.stat().st_size
    assert 0 < held < len(CONTENT)
    server.requested, server.behaviour = [], ranges()
    download(file, target, unfinished)
    assert target.read_bytes() == CONTENT
    assert (held, len(CONTENT) - held) in server.requested


def test_the_bar_shows_what_has_come_and_begins_where_the_last_one_ended(server, file, target, unfinished, monkeypatch):
    console = Console(record=True, force_terminal=True, width=80, file=io.StringIO())
    bar = Progress("{task.description} {task.completed}/{task.total}", console=console, auto_refresh=False)
    monkeypatch.setattr(module, "_progress", lambda: bar)
    unfinished.mkdir()
    (unfinished / f"{SHA256}.part").write_bytes(CONTENT[:200_000])
    seen = []
    update = bar.update
    monkeypatch.setattr(
        bar, "update", lambda task, completed: (seen.append(completed), update(task, completed=completed))
    )
    download(file, target, unfinished)
    assert f"toy.data {len(CONTENT)}/{len(CONTENT)}" in console.export_text()
    assert seen == sorted(seen)
    assert seen[0] > 200_000
