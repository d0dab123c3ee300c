"""Claims on jobs, and the division of jobs among runs: other processes hold what they say they hold."""

from __future__ import annotations

import errno
import hashlib
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from misbehaving_jobs import gaussians, jobs

from npbench.claims import Claims
from npbench.division import Division
from npbench.store import RecordStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no claims on Windows")

KEYS = [hashlib.sha256(bytes([number])).hexdigest() for number in range(3)]


def nothing():
    pass


@contextmanager
def another_process(folder, *keys):
    """Let a process claim keys, and yield it with its answers; it ends at the end of the block."""
    script = (
        "import sys; from pathlib import Path; from npbench.claims import Claims\n"
        f"claims = Claims(Path({str(folder)!r}), lambda: print('tidied'))\n"
        f"print(*[claims.claim(key) for key in {keys!r}], flush=True)\n"
        "for line in sys.stdin: claims.release(line.strip()); print('released', flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        answers = process.stdout.readline()
        if answers == "tidied\n":
            answers = process.stdout.readline()
        yield process, answers.split()
        process.kill()


def test_what_a_process_has_claimed_another_cannot_until_it_is_released(tmp_path):
    with closing(Claims(tmp_path, nothing)) as claims, another_process(tmp_path, *KEYS[:2]) as (other, answers):
        assert answers == ["True", "True"]
        assert [claims.claim(key) for key in KEYS] == [False, False, True]
        other.stdin.write(KEYS[0] + "\n")
        other.stdin.flush()
        assert other.stdout.readline() == "released\n"
        assert [claims.claim(key) for key in KEYS] == [True, False, True]
        with another_process(tmp_path, *KEYS) as (_, third):
            assert third == ["False", "False", "False"]


def test_the_claims_of_a_process_that_is_killed_are_free(tmp_path):
    with closing(Claims(tmp_path, nothing)) as claims:
        with another_process(tmp_path, KEYS[0]):
            assert not claims.claim(KEYS[0])
        assert claims.claim(KEYS[0])


def test_who_is_alone_knows_it_and_tidies_up(tmp_path):
    tidied = []
    with closing(Claims(tmp_path, lambda: tidied.append("here"))) as claims:
        assert claims.alone
        with another_process(tmp_path):
            assert not claims.alone
        assert not claims.alone  # the other may have left records
    assert tidied == ["here"]
    with another_process(tmp_path), closing(Claims(tmp_path, lambda: tidied.append("there"))) as claims:
        assert not claims.alone
    assert tidied == ["here"]
    with closing(Claims(tmp_path, lambda: tidied.append("again"))) as claims:
        assert claims.alone
    assert tidied == ["here", "again"]


def refused(*_):
    raise OSError(errno.ENOLCK, "No locks available")


@pytest.mark.parametrize(
    ("name", "value"),
    [("fcntl.lockf", refused), ("sys.platform", "win32"), ("os.open", refused)],
    ids=["no locks", "no such system", "no file"],
)
def test_without_locks_every_claim_succeeds_and_nobody_is_taken_to_be_alone(tmp_path, monkeypatch, name, value):
    with another_process(tmp_path, *KEYS):
        monkeypatch.setattr(f"npbench.claims.{name}", value)
        with closing(Claims(tmp_path, nothing)) as claims:
            assert all(claims.claim(key) for key in KEYS)
            claims.release(KEYS[0])
            assert not claims.alone


def test_locks_that_fail_later_end_no_run(tmp_path, monkeypatch):
    with closing(Claims(tmp_path, nothing)) as claims:
        monkeypatch.setattr("npbench.claims.fcntl.lockf", refused)
        assert claims.claim(KEYS[0])
        claims.release(KEYS[0])


@pytest.fixture
def three():
    return jobs(gaussians(), {}, {}, {})


@pytest.fixture
def company(tmp_path):
    """Keep another run at the folder, without which a run need not look for what others do."""
    with another_process(tmp_path):
        yield


def division(folder, told, trace=False, force=False):
    return Division(RecordStore(folder), Claims(folder, nothing), trace, force, on_other=told.append)


def record(job, status="ok", **more):
    return {"key": job.key, "status": status, **more}


@pytest.mark.parametrize("status", ["ok", "failed"])
def test_what_another_run_has_done_since_is_told_and_left_out(tmp_path, company, three, status):
    told, other = [], RecordStore(tmp_path)
    other.append(record(three[0]))  # before: whoever asks for it again has it again
    mine = division(tmp_path, told, force=True)
    other.append(record(three[1], status))
    other.compact()
    assert [mine.take(job) for job in three] == [True, False, True]
    assert [(one["status"], one["repeat"]) for one in told] == [(status, 1)]
    assert mine.wait(pytest.fail) == []


@pytest.mark.parametrize(("status", "again"), [("ok", False), ("failed", True)])
def test_a_success_that_was_on_its_way_to_the_disk_is_not_made_again(
    tmp_path, company, three, monkeypatch, status, again
):
    mine = division(tmp_path, [])
    monkeypatch.setattr("npbench.store._stamp", lambda: "2000-01-01T00:00:00.000000000Z")
    RecordStore(tmp_path).append(record(three[0], status))
    assert mine.take(three[0]) is again


def test_own_records_are_no_news(tmp_path, company, three):
    told, store = [], RecordStore(tmp_path)
    mine = Division(store, Claims(tmp_path, nothing), trace=False, force=False, on_other=told.append)
    for job in three:
        assert mine.take(job)
        store.append(record(job))
    store.compact()
    assert all(mine.take(job) for job in three)
    assert told == []


def test_a_record_without_a_trace_will_not_do_where_one_is_asked_for(tmp_path, company, three):
    told, other = [], RecordStore(tmp_path)
    mine = division(tmp_path, told, trace=True)
    other.append(record(three[0]))
    other.append(record(three[1], trace="{}"))
    other.append(record(three[2], "crashed"))
    assert [mine.take(job) for job in three] == [True, False, False]


def test_a_run_waits_for_what_others_hold_and_takes_over_what_they_give_up(tmp_path, three, monkeypatch):
    told, waited, other = [], [], RecordStore(tmp_path)
    mine = division(tmp_path, told)
    with another_process(tmp_path, three[0].key, three[2].key) as (process, _):
        assert [mine.take(job) for job in three] == [False, True, False]

        def on_wait(count):
            waited.append(count)
            if len(waited) == 2:
                other.append(record(three[0]))
            if len(waited) == 4:
                process.kill()
                process.wait()

        monkeypatch.setattr("npbench.division.POLL", 0.0)
        assert mine.wait(on_wait) == [three[2]]
    assert waited == [2, 2, 1, 1]
    assert [one["repeat"] for one in told] == [0]
    assert mine.wait(pytest.fail) == []


def test_jobs_seen_at_work_elsewhere_are_forgotten_when_their_records_come(tmp_path, three):
    told, other = [], RecordStore(tmp_path)
    mine = division(tmp_path, told)
    with another_process(tmp_path, three[0].key):
        assert not mine.take(three[0])
        assert mine._held == [three[0]]
        other.append(record(three[0]))
        assert mine.take(three[1])
        assert mine._held == []
    assert mine.wait(pytest.fail) == []
    assert Path(tmp_path, ".claims").stat().st_size <= 1


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o770, 0o777])
def test_whoever_may_write_to_the_folder_may_claim_there(tmp_path, mode):
    tmp_path.chmod(mode)
    with closing(Claims(tmp_path, nothing)):
        assert (tmp_path / ".claims").stat().st_mode & 0o777 == mode & 0o666
