"""Records on disk survive whatever happens to the process that writes them."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.evaluation.protocols import Holdout
from npbench.problem import NeymanPearson
from npbench.records import reading
from npbench.records.fields import FEATURES, SCHEMA
from npbench.records.files import UNFINISHED
from npbench.records.reading import latest
from npbench.records.record import MAX_INT, MAX_TEXT, Record
from npbench.records.store import RecordStore
from sample_files import make_old
from sample_jobs import JOB, changed, explain

IMPORTS = "import os; from npbench.records.record import Record; from npbench.records.store import RecordStore\n"


def record(key: str, status: str = "ok", **more) -> Record:
    return Record({"key": key, "status": status, **more})


def test_an_empty_store_has_the_schema_and_reading_makes_no_folder(tmp_path):
    store = RecordStore(tmp_path / "records")
    assert dict(store.frame().schema) == SCHEMA
    assert store.frame().is_empty()
    assert store.done() == set()
    assert not (tmp_path / "records").exists()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 99)), unique_by=lambda row: row[1]))
def test_the_latest_of_each_key_in_the_order_they_were_stored(rows):
    records = pl.DataFrame([{**record(key), "stored_at": f"2000-01-{time:02d}"} for key, time in rows], SCHEMA)
    last = dict(sorted(rows, key=lambda row: row[1]))
    expected = sorted(last.items(), key=lambda row: row[1])
    found = latest([records]).select("key", "stored_at").rows()
    assert [(key, int(time[8:])) for key, time in found] == expected


def test_a_small_file_with_more_records_than_memory_is_left_out(tmp_path, monkeypatch):
    RecordStore(tmp_path).append(record("good"))
    n = 100_000
    many = {"key": ["k"] * n, "status": ["ok"] * n, "stored_at": ["2020"] * n, "schema_version": [1] * n}
    pl.DataFrame(many).write_parquet(tmp_path / "many.parquet")
    assert (tmp_path / "many.parquet").stat().st_size < 10_000
    monkeypatch.setenv("NPBENCH_MAX_BYTES", "20_000_000")
    with pytest.warns(UserWarning, match="NPBENCH_MAX_BYTES"):
        assert RecordStore(tmp_path).frame()["key"].to_list() == ["good"]


def test_records_are_read_back(tmp_path):
    folder = tmp_path / "C=[1] *"  # no wildcards
    store = RecordStore(folder)
    store.append(Record({**JOB.columns, "status": "ok", "p_fa": 0.25, "seconds": 2, "mixed": 1}))
    store.append(record("other", "failed", error="no", converged=False, strange=1.5, mixed=0.5))
    assert store.done() == {JOB.key}
    frame = RecordStore(folder).frame()
    assert {name: frame.schema[name] for name in SCHEMA} == SCHEMA
    first, second = frame.to_dicts()
    assert {name: first[name] for name in JOB.columns} == JOB.columns
    assert (first["rho"], first["p_fa"], first["seconds"], first["strange"]) == (0.1, 0.25, 2.0, None)
    assert (second["key"], second["converged"], second["strange"], second["rho"]) == ("other", False, 1.5, None)
    assert frame["mixed"].to_list() == [1.0, 0.5]
    some = store.frame(["repeat", "p_fa", "error", "no such column"])
    assert some.columns == ["key", "status", "stored_at", "repeat", "error", "p_fa"]
    assert some.equals(frame.select(some.columns))


def test_columns_of_one_value_take_no_memory_for_each_record(tmp_path):
    n, rare = 1000, {"load_average": [0.5] * 999 + [0.25], "error": [None] * 999 + ["odd"]}
    same = {"status": "ok", "stored_at": "2020", "versions": '{"a":"1"}', "cpu": "x" * 1000, "seconds": float("nan")}
    stored = pl.DataFrame({"key": [f"{k}" for k in range(n)], **rare}).with_columns(
        **{k: pl.lit(same[k]) for k in same}
    )
    for part, rows in (("0", stored[:600]), ("1", stored[600:])):
        rows.write_parquet(tmp_path / f"{part}.parquet")
    frame = RecordStore(tmp_path).frame()
    size = frame.estimated_size()
    assert size < 200 * n  # 2000 bytes each with these texts in every row
    assert frame.select(stored.columns).equals(stored)
    assert {name: frame.schema[name] for name in SCHEMA} == SCHEMA


statuses = st.sampled_from(["ok", "failed", "crashed"])


@given(st.lists(st.tuples(st.sampled_from("abcdef"), statuses, st.booleans())), st.integers(1, 4))
def test_the_latest_record_of_a_key_counts(written, batch):
    with tempfile.TemporaryDirectory() as folder:
        stores = [RecordStore(folder, batch=batch), RecordStore(folder, batch=3)]
        for key, status, which in written:
            stores[which].append(record(key, status))
        expected = {key: status for key, status, _ in written}
        for _ in range(2):
            frame = RecordStore(folder).frame()
            assert dict(zip(frame["key"], frame["status"], strict=True)) == expected
            assert len(frame) == len(expected)
            assert RecordStore(folder).done() == {key for key, status in expected.items() if status == "ok"}
            for store in stores:
                store.compact()


@pytest.fixture
def store(tmp_path):
    store = RecordStore(tmp_path)
    for key in "abc":
        store.append(record(key))
    return store


def test_stopping_in_the_middle_of_a_merge_loses_and_doubles_nothing(store, tmp_path, monkeypatch):

    def stopped(path, missing_ok):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", stopped)
        with pytest.raises(KeyboardInterrupt):
            store.compact()
    assert len(records_in(tmp_path)) == 4
    assert sorted(RecordStore(tmp_path).frame()["key"]) == ["a", "b", "c"]


FOREIGN = io.BytesIO()
pl.DataFrame({"x": [1]}).write_parquet(FOREIGN)
SPOILT = [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:-8] + b"x" * 8, lambda b: b[4:]]


@pytest.mark.parametrize("spoil", [lambda _: FOREIGN.getvalue(), *SPOILT])
def test_an_unreadable_file_is_named_and_the_rest_is_read(store, tmp_path, spoil):
    broken = sorted(records_in(tmp_path))[1]
    broken.write_bytes(spoil(broken.read_bytes()))
    with pytest.warns(UserWarning, match=broken.name):
        assert store.frame()["key"].to_list() == ["a", "c"]
    with pytest.warns(UserWarning, match=broken.name):
        assert store.done() == {"a", "c"}


@pytest.mark.parametrize("keys", [lambda store: set(store.frame()["key"]), RecordStore.done])
def test_a_merge_by_another_run_while_reading_hides_nothing(store, tmp_path, monkeypatch, keys):
    read = reading.read_regular

    def merged_first(path, columns):
        monkeypatch.setattr(reading, "read_regular", read)
        store.compact()
        return read(path, columns)

    monkeypatch.setattr(reading, "read_regular", merged_first)
    assert keys(RecordStore(tmp_path)) == {"a", "b", "c"}
    assert len(list(tmp_path.glob("*.parquet"))) == 1


def test_kill_9_while_writing_keeps_what_was_stored(tmp_path):
    script = (
        f"{IMPORTS}store = RecordStore({str(tmp_path)!r}, batch=3)\n"
        "for n in range(10**6): store.append(Record({'key': str(n), 'status': 'ok'})); print(n, flush=True)"
    )
    writer = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    printed = [writer.stdout.readline().strip() for _ in range(20)]
    writer.send_signal(signal.SIGKILL)
    printed += writer.communicate()[0].split()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        keys = RecordStore(tmp_path).frame()["key"].to_list()
    assert set(printed) <= set(keys)
    assert len(keys) in {len(printed), len(printed) + 1}  # one may be stored but not printed
    assert len(records_in(tmp_path)) <= len(keys) / 3 + 4  # most are merged


def test_a_record_that_does_not_fit_leaves_no_file(tmp_path, monkeypatch):
    store = RecordStore(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("npbench.records.files.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.append(record("a"))
    assert records_in(tmp_path) == []
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_records_of_a_dead_command_are_merged_by_the_next(tmp_path):
    script = (
        f"{IMPORTS}store = RecordStore({str(tmp_path)!r})\n"
        "for n in range(5): store.append(Record({'key': str(n), 'status': 'ok'}))\n"
        "os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    unfinished = tmp_path / f".x{UNFINISHED}"
    unfinished.touch()
    for path in (*records_in(tmp_path), unfinished):
        make_old(path)
    alive, store = RecordStore(tmp_path), RecordStore(tmp_path)
    alive.append(record("alive"))
    alive.append(record("too"))
    store.append(record("last"))
    assert len(records_in(tmp_path)) == 1 + 2 + 1  # young ones are left to their command
    assert set(store.frame()["key"]) == {*"01234", "alive", "too", "last"}
    alive.close()
    store.close()
    assert not list(tmp_path.glob(".*"))
    assert set(RecordStore(tmp_path).frame()["key"]) == {*"01234", "alive", "too", "last"}


def test_records_that_another_command_merges_are_there_once(tmp_path):
    slow = RecordStore(tmp_path)
    for key in "abc":
        slow.append(record(key))
    for path in records_in(tmp_path):
        make_old(path)
    other = RecordStore(tmp_path)
    other.append(record("d"))
    assert len(records_in(tmp_path)) == 2
    slow.append(record("e"))
    slow.close()
    other.close()
    assert sorted(RecordStore(tmp_path).frame()["key"]) == list("abcde")


def records_in(folder: Path) -> list[Path]:
    return list(folder.glob("*.parquet"))


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.just("x\udcff")))
def test_every_primitive_can_be_stored(value):
    kept = record("k", error=str(value), n_iter=value if type(value) is int else 1)
    with tempfile.TemporaryDirectory() as folder:
        store = RecordStore(folder)
        store.append(kept)
        row = store.frame().row(0, named=True)
        store.close()
    assert row["error"] == kept["error"]
    assert -MAX_INT - 1 <= row["n_iter"] == kept["n_iter"] <= MAX_INT


def test_records_are_primitives_whose_free_text_is_bounded():
    long = "x" * (2 * MAX_TEXT)
    kept = record("k", error=long, trace=long)
    assert MAX_TEXT < len(kept["error"]) < MAX_TEXT + 100
    assert kept["trace"] == long
    for columns, word in (({"key": "k", "status": "ok", "figures": [1, 2]}, "figures"), ({"key": "k"}, "status")):
        with pytest.raises(TypeError, match=word):
            Record(columns)


def stored(folder: Path, status: str = "ok", **more) -> pl.DataFrame:
    store = RecordStore(folder)
    store.append(Record({**JOB.columns, "status": status, **more}))
    return store.frame()


OTHER_SETTINGS = [
    *({"params": {"C": 2}}, {"search": {}}, {"problem": NeymanPearson(0.2)}, {"protocol": Holdout()}),
    *({"seed": 1}, {"repeat": 1}, {"preprocess": "none"}, {"missing": "drop"}, {"categories": "codes"}),
    {"dataset": "spambase", "data_sha256": "e" * 64},
    {"dataset_params": {"seed": 2}, "data_sha256": "e" * 64},
]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "done"),
        ({"data_sha256": "e" * 64}, "the data changed"),
        ({"code": {"npbench": "a", "gen": "c"}}, "the code of gen changed"),
        ({"versions": {"numpy": "2.4.6", "npbench-gen": "1.0"}}, "numpy 2.3.1 -> 2.4.6"),
        ({"versions": {"numpy": "2.3.1", "npbench-gen": "1.0", "torch": "3"}}, "torch absent -> 3"),
        ({"metrics": ()}, "other metrics requested"),
        ({"distribution": "gen2"}, "npbench-gen no longer ships the solver: gen2 does"),
        ({"code": {"npbench": "z", "gen": "b"}, "data_sha256": "e"}, "the data changed; the code of npbench changed"),
        ({"params": {"C": 1.0}}, "done"),
        *((change, "new") for change in OTHER_SETTINGS),
    ],
)
def test_why_a_job_would_run(tmp_path, change, reason):
    assert explain(changed(JOB, **change), stored(tmp_path)) == reason
    failed = stored(tmp_path, "timeout", error="The job was stopped after 5 s.")
    assert explain(JOB, failed) == "failed before: timeout: The job was stopped after 5 s."


def test_older_records_are_read(tmp_path):
    stored(tmp_path)
    (file,) = records_in(tmp_path)
    later = ("trace", "n_test_positive", "test_part", "roc")
    old = pl.read_parquet(file).drop(*later, "missing", "categories").with_columns(schema_version=pl.lit(1, pl.Int64))
    old.write_parquet(file)
    store = RecordStore(tmp_path)
    assert store.frame().select("schema_version", *later).row(0) == (1, None, None, None, None)
    assert store.frame().select(*FEATURES).row(0) == ("standardize", "refuse", "one_hot")
    assert store.done() == {JOB.key}
    assert store.done(trace=True) == set()
    assert explain(JOB, store.frame()) == "done"
    assert explain(JOB, store.frame(), trace=True) == "no trace stored"
    store.append(Record({**JOB.columns, "status": "ok", "trace": "{}"}))
    assert store.done(trace=True) == {JOB.key}
    assert explain(JOB, store.frame(), trace=True) == "done"
