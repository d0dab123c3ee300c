"""``npbench report --against`` on records of a store: exit codes, and what is refused."""

import pytest

import sample_records
from npbench.records.fields import SCHEMA
from npbench.records.store import RecordStore


def store(folder, *, n=6, **columns):
    """Write records of one setting, a repeat each."""
    records = RecordStore(folder)
    blank = {name: None for name in SCHEMA if name not in ("schema_version", "stored_at")}
    texts = dict.fromkeys(("code", "versions", "chosen_params"), "{}") | {"metrics": "[]", "run_id": "r"}
    measured = {"rho": 0.1, "p_fa": 0.05, "p_nd": 0.2, "np_score": 0.2, "auc": 0.9, "n_samples": 100, "cores": 1}
    cost = dict.fromkeys(("select_cpu_seconds", "fit_cpu_seconds"), 1.0)
    for repeat in range(n):
        about = {"key": f"{folder}{repeat}", "repeat": repeat, "split_sha256": f"s{repeat}"}
        one = blank | sample_records.record(**about, **texts, **measured, **cost) | columns
        del one["stored_at"]
        records.append(one)
    records.compact()


@pytest.fixture
def report(npbench):
    """Return a function that compares records with those of the folder ``before``."""
    store("before/records")
    return lambda *words: npbench("report", *words, "--against", "before", "--output", "out")


def test_nothing_changed(report):
    store("after/records")
    code, out, _ = report("after")
    assert code == 0
    assert out.rstrip().endswith("Against before: No regression.")


def test_regression_has_exit_code_1(report, npbench):
    store("after/records", p_nd=0.3)
    code, out, _ = report("after")
    assert code == 1
    assert out.rstrip().endswith("Against before: 1 regression.")
    assert "Worse: p_nd of gen on pima (0.1): +0.1 [+0.1, +0.1]." in out
    assert npbench("report", "before", "--against", "after")[0] == 0


def test_filter_applies_to_both(report):
    store("after/records", p_nd=0.3)
    store("more/records", solver="ac_svm", key="x")
    folders = ["after", "more/records"]
    assert report(*folders, "solver=gen")[0] == 1
    code, _, err = report(*folders, "solver=ac_svm")
    assert code == 2
    assert "No record has solver=ac_svm" in err


def test_other_data_need_force(report):
    store("after/records", data_sha256="e", p_nd=0.3)
    code, _, err = report("after")
    assert code == 2
    assert "The data of pima differ" in err
    assert report("after", "--force")[0] == 1
