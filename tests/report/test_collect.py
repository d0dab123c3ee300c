"""Records of a report: found, read, filtered and labelled, and reported if left out."""

from pathlib import Path

import polars as pl
import pytest

import sample_records
from npbench.errors import RequestError
from npbench.records.fields import SCHEMA
from npbench.records.reading import conformed
from npbench.report.select.collect import collect
from npbench.report.select.filters import filtered
from npbench.report.select.methods import named
from sample_records import frame


def record(solver="np_svm", repeat=0, *, rho=0.1, params=None, search=None, **columns):
    asked = {"params": params or {}, "search": search or {}, "problem_params": {"rho": rho}}
    about = {"key": f"{solver} {asked} {repeat} {columns}", "solver": solver, "repeat": repeat, "rho": rho}
    return sample_records.record(**about, **asked, run_id="run", p_fa=0.05) | columns


def stored(folder, *records, name="a.parquet"):
    folder.mkdir(parents=True, exist_ok=True)
    conformed(frame(records)).write_parquet(folder / name)
    return folder / name


def test_columns_and_labels_of_collected_records(tmp_path):
    rows = [record(params={"C": C}, p_nd=None, n_support=3) for C in (1, 10)]
    found = collect([stored(tmp_path / "records", *rows)], {}).records
    assert set(found.columns) == {*SCHEMA, "rho", "p_fa", "p_nd", "n_support", "label", "seconds"}
    assert {found.schema[name] for name in ("rho", "p_fa", "p_nd", "n_support", "seconds")} == {pl.Float64}
    assert found["label"].to_list() == ["np_svm C=1", "np_svm C=10"]
    assert found["seconds"].to_list() == [1.5, 1.5]
    rows = [record("np_svm", params={"C": C}) for C in (1, 10)]
    path = stored(tmp_path / "records", *rows)
    assert collect([path], {"solver.C": "1"}).records["label"].to_list() == ["np_svm C=1"]
    assert collect([Path(path)], {"label": "np_svm C=10"}).records["params"].to_list() == ['{"C":10}']


def test_latest_record_of_each_job_counts(tmp_path):
    old = record(key="by old code", stored_at="2026-01-01T00:00:00Z", p_fa=0.9)
    states_a_default = {"n_components": "auto", "kernel": "rbf"}
    new = record(key="by new code", stored_at="2026-02-01T00:00:00Z", p_fa=0.1, params=states_a_default)
    stored(tmp_path / "records", new, record(repeat=1), name="0.parquet")
    stored(tmp_path / "records", old, name="1.parquet")
    collection = collect([tmp_path], {})
    assert sorted(collection.records["p_fa"]) == [0.05, 0.1]
    assert collection.n_older == 1
    assert collection.faults == []


@pytest.fixture
def tree(tmp_path):
    """A results folder with records of its own, and published ones below it."""
    for number, place in enumerate(("records", "published/records", "published/gasso/records")):
        stored(tmp_path / "results" / place, record(repeat=number))
    return tmp_path / "results"


def test_folders_include_records_below_except_published(tree):
    expected = {".": [0], "records": [0], "published": [1, 2], "published/gasso": [2]}
    for place, repeats in (expected | {"published/records/a.parquet": [1]}).items():
        assert sorted(collect([tree / place], {}).records["repeat"]) == repeats, place
    assert len(collect([tree, tree / "records", tree / "published"], {}).records) == 3


def test_no_records_hints_at_published_ones(tree):
    for path in (tree / "records").iterdir():
        path.unlink()
    with pytest.raises(RequestError, match=str(tree / "published")):
        collect([tree], {})


def test_unknown_problems_are_left_out(tmp_path):
    stored(tmp_path / "records", record(), record(problem="ranking"), {"key": "x", "status": "ok", "stored_at": "y"})
    collection = collect([tmp_path], {})
    assert len(collection.records) == 1
    assert collection.faults[0].startswith("2 records do not describe their job, or name an unknown problem")


@pytest.mark.parametrize("rho", [None, float("nan"), 0.9, "drop"])
def test_the_bound_is_the_one_that_was_asked_for(tmp_path, rho):
    path = stored(tmp_path / "records", record(rho=0.1), record(rho=0.2))
    given = {} if rho == "drop" else {"rho": pl.lit(rho, dtype=pl.Float64)}
    pl.read_parquet(path).drop("rho").with_columns(**given).write_parquet(path)
    assert collect([tmp_path], {}).records["rho"].to_list() == [0.1, 0.2]


def test_seconds_that_are_no_numbers_are_unknown(tmp_path):
    stored(tmp_path / "records", record(fit_seconds=float("nan")), record(repeat=1, fit_seconds=1.0))
    assert collect([tmp_path], {}).records["seconds"].to_list() == [None, 2.0]


def test_a_job_that_did_not_end_took_all_its_seconds(tmp_path):
    stopped = {"status": "timeout", "seconds": 60.0, "select_seconds": None}
    results = stored(tmp_path / "records", record(**stopped), record(repeat=1, seconds=9.0, select_seconds=None)).parent
    assert collect([results], {}).records["seconds"].to_list() == [60.0, None]


def test_an_empty_file_of_records_has_a_message(tmp_path):
    path = stored(tmp_path / "records", record())
    pl.read_parquet(path).clear().write_parquet(path)
    with pytest.raises(RequestError, match="no records"):
        collect([tmp_path], {})


def test_run_descriptions_are_read(tmp_path):
    stored(tmp_path / "records", record(), record(repeat=1, run_id="broken"), record(repeat=2, run_id="lost"))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "run.json").write_text('{"run_id":"run"}')
    (tmp_path / "runs" / "another.json").write_text('{"run_id":"another"}')
    (tmp_path / "runs" / "broken.json").write_text("{")
    collection = collect([tmp_path], {})
    assert collection.runs == [{"run_id": "run"}]
    assert "broken.json cannot be read and is left out" in collection.faults[0]


PAUC = {"problem": "pauc", "problem_params": '{"fpr_range":[0,0.1]}', "rho": None}
ROWS = [
    record("np_svm", params={"C": 1, "kernel": "rbf", "dual": None}),
    record("np_svm", params={"C": 10.5, "kernel": "linear", "dual": True}, rho=0.2),
    record("gen", search={"gamma": [0.1, 1]}, rho=0.2, git_dirty=True),
    record("scorer", params={"params": {"C": 1}}, **PAUC),
]
RECORDS = named(conformed(frame(ROWS)))


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({}, [0, 1, 2, 3]),
        ({"solver": "np_svm,gen", "problem.rho": "0.2"}, [1, 2]),
        ({"problem.fpr_range": "[0,0.1]"}, [3]),
        ({"solver.C": "1.0,10.5"}, [0, 1]),
        ({"solver.params.C": "1"}, [3]),
        ({"solver.search.gamma": "[0.1,1]"}, [2]),
        ({"solver.dual": "true"}, [1]),
        ({"solver.dual": "null"}, [0]),
        ({"git_dirty": "true"}, [2]),
        ({"protocol.folds": "4", "solver.kernel": "rbf,linear"}, [0, 1]),
        ({"problem": "np", "solver": "gen,scorer"}, [2]),  # scorer is left out by the other filter only
    ],
)
def test_filters_use_the_syntax_of_settings(filters, rows):
    assert filtered(RECORDS, filters)["key"].to_list() == RECORDS[rows]["key"].to_list()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"solvr": "gen"}, "'solver'"),
        ({"solver.c": "1"}, "'solver.C'"),
        ({"solver": "gan"}, "gen, np_svm, scorer"),
        ({"problem.rho": "0.3"}, "0.1, 0.2"),
        ({"solver": "np_svm,nosuch"}, "solver=nosuch:.* gen, np_svm, scorer"),
        ({"problem.rho": "0.1,0.3,0.2,.5"}, "rho=0.3,.5:"),
        ({"problem": "np", "solver": "scorer"}, r"gen, np_svm\.$"),  # what the other filter leaves
    ],
)
def test_invalid_filter_lists_choices(filters, expected):
    with pytest.raises(RequestError, match=expected):
        filtered(RECORDS, filters)


def test_records_to_compare_with_may_lack_a_value():
    assert len(filtered(RECORDS, {"solver": "gen,nosuch"}, is_strict=False)) == 1
