"""``npbench report --against`` on records of a store: exit codes, and what is refused."""

import pytest

import sample_records


def store(place, **columns):
    """Write records of one setting, a repeat each."""
    measured = {"rho": 0.1, "p_fa": 0.05, "p_nd": 0.2, "np_score": 0.2, "auc": 0.9, "n_samples": 100, "cores": 1}
    further = {"metrics": "[]", "select_cpu_seconds": 1.0, "fit_cpu_seconds": 1.0, **measured}
    of_repeats = [{"key": f"{place}{i}", "repeat": i, "split_sha256": f"s{i}"} for i in range(6)]
    sample_records.stored(*(sample_records.record(**{**one, **further, **columns}) for one in of_repeats), place=place)


@pytest.fixture
def report(npbench, without_figures):
    """Return a function that compares records with those of the folder ``before``."""
    store("before")
    return lambda *words: npbench("report", *words, "--against", "before", "--output", "out")


def test_nothing_changed(report):
    store("after")
    code, out, _ = report("after")
    assert code == 0
    assert out.rstrip().endswith("Against before: No regression.")


def test_regression_has_exit_code_1(report, npbench):
    store("after", p_nd=0.3)
    code, out, _ = report("after")
    assert code == 1
    assert out.rstrip().endswith("Against before: 1 regression.")
    assert "Worse: p_nd of gen on pima (0.1): +0.1 [+0.1, +0.1]." in out
    assert npbench("report", "before", "--against", "after")[0] == 0


def test_filter_applies_to_both(report):
    store("after", p_nd=0.3)
    store("more", solver="ac_svm", key="x")
    folders = ["after", "more/records"]
    assert report(*folders, "solver=gen")[0] == 1
    code, _, err = report(*folders, "solver=ac_svm")
    assert code == 2
    assert "No record has solver=ac_svm" in err


def test_other_data_need_force(report):
    store("after", data_sha256="e", p_nd=0.3)
    code, _, err = report("after")
    assert code == 2
    assert "The data of pima differ" in err
    assert report("after", "--force")[0] == 1
