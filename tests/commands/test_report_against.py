"""``npbench report --against`` on records of a store: exit codes, and what is refused."""

import pytest

from npbench.cli import main
from npbench.records.schema import SCHEMA
from npbench.records.store import RecordStore


def store(folder, *, n=6, **columns):
    """Write records of one setting, a repeat each."""
    records = RecordStore(folder)
    for repeat in range(n):
        texts = dict.fromkeys(("params", "search", "dataset_params", "code", "versions", "chosen_params"), "{}")
        asked = {"solver": "gen", "dataset": "pima", "problem": "np", "problem_params": '{"rho":0.1}', "seed": 0}
        split = {"protocol": "cv", "protocol_params": '{"folds":4,"name":"cv","test_size":0.25}', "repeat": repeat}
        features = {"preprocess": "none", "missing": "refuse", "categories": "one_hot"}
        cost = dict.fromkeys(("select_seconds", "fit_seconds", "select_cpu_seconds", "fit_cpu_seconds"), 1.0)
        about = {"data_sha256": "d", "split_sha256": f"s{repeat}", "cpu": "a", "cores": 1, "n_jobs": 1, "n_threads": 1}
        measured = {"rho": 0.1, "p_fa": 0.05, "p_nd": 0.2, "np_score": 0.2, "auc": 0.9, "n_samples": 100}
        key = {"key": f"{folder}{repeat}", "status": "ok", "metrics": "[]", "run_id": "r"}
        blank = {name: None for name in SCHEMA if name not in ("schema_version", "stored_at")}
        records.append(blank | key | texts | asked | split | features | cost | about | measured | columns)
    records.compact()


def report(capsys, *words):
    with pytest.raises(SystemExit) as left:
        main(["report", *words, "--output", "out"])
    printed = capsys.readouterr()
    return left.value.code, printed.out, printed.err


@pytest.fixture(autouse=True)
def _before():
    store("before/records")


def test_nothing_changed(capsys):
    store("after/records")
    code, out, _ = report(capsys, "after", "--against", "before")
    assert code == 0
    assert out.rstrip().endswith("Against before: No regression.")


def test_a_regression_has_exit_code_1(capsys):
    store("after/records", p_nd=0.3)
    code, out, _ = report(capsys, "after", "--against", "before")
    assert code == 1
    assert out.rstrip().endswith("Against before: 1 regression.")
    assert "Worse: p_nd of gen on pima (0.1): +0.1 [+0.1, +0.1]." in out
    assert report(capsys, "before", "--against", "after")[0] == 0


def test_a_filter_holds_for_both(capsys):
    store("after/records", p_nd=0.3)
    store("more/records", solver="ac_svm", key="x")
    folders = ["after", "more/records"]
    assert report(capsys, *folders, "solver=gen", "--against", "before")[0] == 1
    code, _, err = report(capsys, *folders, "solver=ac_svm", "--against", "before")
    assert code == 2
    assert "No record has solver=ac_svm" in err


def test_other_data_are_refused_unless_asked(capsys):
    store("after/records", data_sha256="e", p_nd=0.3)
    code, _, err = report(capsys, "after", "--against", "before")
    assert code == 2
    assert "The data of pima differ" in err
    assert report(capsys, "after", "--against", "before", "--anyway")[0] == 1


def test_anyway_alone_is_a_mistake(capsys):
    code, _, err = report(capsys, "before", "--anyway")
    assert code == 2
    assert "--against FOLDER --anyway" in err
