"""Data that users bring have names of their own in reports, rankings and filters."""

import json

import polars as pl
import pytest

import npbench
import sample_records
from npbench.errors import RequestError
from npbench.report.select.collect import collect
from npbench.report.select.data_names import with_data_names


def names(*asked):
    """Return the names of data sets, given as pairs of data set and settings."""
    pairs = [(dataset, json.dumps(params)) for dataset, params in asked]
    records = pl.DataFrame(pairs, ["dataset", "dataset_params"], orient="row")
    return with_data_names(records)["dataset"].to_list()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([("pima", {}), ("synthetic", {"path": "x"})], ["pima", "synthetic"]),
        ([("file", {"path": "a/one.csv"}), ("file", {"path": "two.csv"})], ["one.csv", "two.csv"]),
        ([("file", {"path": "one.csv", "called": "bank"})], ["bank"]),
        ([("openml", {"id": 31}), ("openml", {"id": 37})], ["openml 31", "openml 37"]),
        ([("file", {"path": f"{folder}/x.csv"}) for folder in "ab"], ["x.csv path=a/x.csv", "x.csv path=b/x.csv"]),
        ([("file", {"path": "x.csv", "label": y}) for y in "st"], ["x.csv label=s", "x.csv label=t"]),
        ([("file", {"path": y, "called": "bank"}) for y in "st"], ["bank path=s", "bank path=t"]),
        ([("file", {}), ("absent", {"path": "x.csv"})], ["file", "absent"]),
    ],
)
def test_each_data_set_of_a_user_has_a_name_of_its_own(asked, expected):
    assert names(*asked) == expected
    assert names(*asked[::-1]) == expected[::-1]


def test_two_files_are_two_data_sets_for_filters_and_labels():
    paths = ("one.csv", "two.csv")
    columns = [{"dataset": "file", "dataset_params": {"path": path}, "key": path} for path in paths]
    results = sample_records.stored(*(sample_records.record(**one) for one in columns))
    found = collect([results], {}).records
    assert found.select("label", "dataset").rows() == [("gen", "one.csv"), ("gen", "two.csv")]
    assert len(collect([results], {"dataset": "file"}).records) == 2
    assert collect([results], {"dataset": "two.csv"}).records["key"].to_list() == ["two.csv"]


def test_a_name_that_was_typed_is_printed_and_reported(npbench, monkeypatch):
    monkeypatch.setattr("npbench.report.files.figures", lambda *_: {})  # drawing takes seconds
    table = pl.DataFrame({"x": [37 * n % 17 / 2 for n in range(100)], "w": [0.5, 1.5] * 50, "y": [0] * 60 + [1] * 40})
    table.write_csv("own.csv")
    words = ["dataset=file", "dataset.path=own.csv", "dataset.label=y", "solver=gen_linear", "repeats=1"]
    code, printed, _ = npbench(*words, "dataset.name=bank")
    assert (code, "\nbank " in printed) == (0, True)
    assert "\nbank " in npbench("plan", *words, "dataset.name=bank")[1]
    assert npbench("report", "dataset=bank")[0] == 0
    code, _, errors = npbench(*words, "dataset.name=pima")
    assert (code, "pima" in errors) == (2, True)
    code, _, errors = npbench("dataset=breast", "dataset.name=bank")
    assert (code, "dataset.name" in errors) == (2, True)
    assert "dataset=file dataset.path=own.csv" in npbench("dataset=own.csv")[2]


def test_records_are_read_as_the_command_line_stored_them(tmp_path):
    results = sample_records.stored(sample_records.record(p_fa=0.5))
    for place in (results, results / "records", results / "records" / "a.parquet"):
        assert npbench.load_records(place)["p_fa"].to_list() == [0.5]
    assert len(npbench.load_records()) == 1
    (results / "records" / "b.parquet").write_text("damaged")
    with pytest.warns(UserWarning, match=r"b\.parquet"):
        assert len(npbench.load_records(results)) == 1
    with pytest.raises(RequestError, match="nowhere"):
        npbench.load_records("nowhere")
