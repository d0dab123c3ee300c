"""A disk that becomes full costs no record: on small file systems where they can be had, by limits elsewhere."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import polars as pl
import pytest

from npbench import cli, room
from npbench.errors import RequestError
from npbench.execution import execute
from npbench.run import _write_description
from npbench.store import RecordStore


def record(key):
    return {"key": key, "status": "ok"}


def test_records_on_their_way_still_fit_on_a_full_disk(small_disk, fill):
    store, told, full = RecordStore(small_disk / "records"), [], []

    def made():
        for key in "abcdef":
            if key == "c":
                fill()
            yield record(key)
            full.append(store.full)

    with pytest.raises(RequestError, match=r"records takes no more records: No space left on device\. Make room"):
        store.keep(made(), lambda record: told.append(record["key"]))
    assert told == list("abcdef")
    assert full == [False, False, True, True, True, True]
    assert sorted(store.frame()["key"]) == told
    assert not list(small_disk.rglob(".*"))


def test_a_disk_that_is_full_at_the_start_is_told_before_any_work(small_disk, fill):
    store = RecordStore(small_disk / "records")
    filler = fill()
    with pytest.raises(RequestError, match=r"has no room for records: No space left on device.*keeps 2 MB back"):
        store.keep(iter([record("a")]), pytest.fail)
    assert list(store.folder.iterdir()) == []
    filler.unlink()
    store.keep(iter([record("a")]), lambda record: None)
    assert list(RecordStore(store.folder).frame()["key"]) == ["a"]


def test_a_merge_that_has_no_room_leaves_the_records_where_they_are(small_disk, fill):
    store = RecordStore(small_disk / "records")
    for key in "abc":
        store.append(record(key))
    fill()
    before = sorted(store.folder.iterdir())
    store.compact()
    assert sorted(store.folder.iterdir()) == before
    assert sorted(RecordStore(store.folder).frame()["key"]) == ["a", "b", "c"]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_a_record_that_fits_nowhere_in_its_folder_goes_to_another_which_is_told(tmp_path, temporary):
    store, told = RecordStore(tmp_path / "records"), []

    def made():
        yield record("a")
        shutil.rmtree(store.folder)
        yield record("b")
        yield record("c")

    with pytest.raises(RequestError, match=r"No such file or directory.*First move the 2 that are in ") as caught:
        store.keep(made(), lambda record: told.append(record["key"]))
    (elsewhere,) = temporary.iterdir()
    assert str(elsewhere) in str(caught.value)
    assert told == ["a", "b", "c"]
    files = list(elsewhere.iterdir())
    assert {pl.read_parquet(path)["key"].item() for path in files} == {"b", "c"}
    store.folder.mkdir()
    for path in files:
        path.rename(store.folder / path.name)
    assert RecordStore(store.folder).done() == {"b", "c"}


def test_another_folder_that_is_empty_in_the_end_is_removed(tmp_path, temporary):
    store = RecordStore(tmp_path / "records")

    def made():
        shutil.rmtree(store.folder)
        yield record("a")
        yield record("b")
        store.folder.mkdir()

    with pytest.raises(RequestError, match=r"takes no more records.*stays valid\.$"):
        store.keep(made(), lambda record: None)
    assert list(temporary.iterdir()) == []
    assert store.done() == {"a", "b"}


@pytest.mark.parametrize("what", ["mkdtemp", "fsync"])
def test_a_record_that_fits_nowhere_is_told_to_be_lost(tmp_path, temporary, monkeypatch, what):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    store = RecordStore(tmp_path / "records")
    monkeypatch.setattr({"mkdtemp": "tempfile.mkdtemp", "fsync": "os.fsync"}[what], full)
    shutil.rmtree(store.folder)
    with pytest.raises(RequestError, match=r"neither to .*records \(No such file.*\(No space left.*, and is lost"):
        store.append(record("a"))
    assert list(temporary.iterdir()) == []


def test_with_a_record_that_is_lost_it_is_told_where_others_are(tmp_path, temporary, monkeypatch):
    store = RecordStore(tmp_path / "records")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    def made():
        shutil.rmtree(store.folder)
        yield record("a")
        monkeypatch.setattr("os.fsync", full)
        yield record("b")

    with pytest.raises(RequestError, match=r"and is lost\. .* First move the 1 that are in .* to .*records, or"):
        store.keep(made(), lambda record: None)
    assert len(list(temporary.glob("*/*.parquet"))) == 1


def test_an_interrupt_on_a_full_disk_tells_where_records_are(tmp_path, temporary):
    store = RecordStore(tmp_path / "records")

    def made():
        yield record("a")
        shutil.rmtree(store.folder)
        yield record("b")
        raise KeyboardInterrupt

    # An interrupt that comes through would end all tests, and not fail this one.
    with pytest.raises((RequestError, KeyboardInterrupt), match=r"takes no more records.*First move the 1 that are"):
        store.keep(made(), lambda record: None)


def test_room_is_kept_back_once_and_given_back(tmp_path):
    kept = room.Room(tmp_path)
    with kept.kept_back():
        (file,) = tmp_path.iterdir()
        assert file.stat().st_blocks * 512 >= room.KEPT_BACK  # not a hole
    assert list(tmp_path.iterdir()) == []


def test_a_description_that_cannot_be_written_is_told(tmp_path):
    Path(tmp_path, "runs").touch()
    with pytest.raises(RequestError, match=r"What is run cannot be noted in .*runs: File exists"):
        _write_description(tmp_path / "runs", {"run_id": "r"})


def test_a_disk_that_is_full_elsewhere_is_told_without_a_traceback(tmp_path, capsys):
    def full():
        raise OSError(errno.ENOSPC, "No space left on device", "report.html")

    with pytest.raises(SystemExit) as end:
        cli.leave(full)
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("npbench: The disk is full: [Errno 28] No space left on device: 'report")
    with pytest.raises(FileNotFoundError):  # whatever else is wrong is a fault of ours
        cli.leave(lambda: Path(tmp_path, "nothing").read_text())


def test_no_temporary_folder_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: [str(tmp_path / "nowhere")])
    with pytest.raises(RequestError, match=r"No temporary folder can be written to: .*TMPDIR"):
        execute([], {}, RecordStore(tmp_path), n_jobs=1, time_limit=None, on_record=print)
