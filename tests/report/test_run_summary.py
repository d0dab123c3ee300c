import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import npbench
import sample_records
from npbench.report.run_summary import COLUMNS, print_outcome, print_summary


def record(repeat=0, *, status="ok", problem_params=None, chosen=None, **columns):
    asked = {"params": '{"kernel":"rbf"}', "search": '{"C":[0.1,1,10]}', "preprocess": "standardize"}
    texts = {
        "problem_params": json.dumps(problem_params or {"rho": 0.05}),
        "chosen_params": chosen and json.dumps(chosen),
    }
    about = {"solver": "np_svm", "dataset": "breast", "repeat": repeat, "status": status, "fit_seconds": 0.25}
    place = 'File "npbench/run.py", line 3, in run\nFile "plugins/estimator.py", line 17, in fit\nValueError: Something'
    failure = {"error": "Something\nwent wrong", "error_type": "ValueError", "traceback": place}
    error = failure if status != "ok" else dict.fromkeys(failure)
    measured = dict.fromkeys(("converged", "p_fa", "p_nd", "np_score", "auc")) | {
        "n_test_duplicates": 0,
        "warnings": "",
    }
    return sample_records.record(**about, **asked, **texts, **measured, **error) | columns


def printed(records, *, width=80, planned=None, skipped=0):
    console = Console(width=width, record=True, force_terminal=False)
    frame = sample_records.frame(records)
    planned = len(records) if planned is None else planned
    print_summary(frame, console)
    print_outcome(frame, planned=planned, skipped=skipped, folder=Path("out/records"), console=console)
    return console.export_text()


def line(text, start):
    return next(row for row in text.splitlines() if row.startswith(start))


def test_means_spread_time_and_count_over_repeats():
    text = printed([record(0, p_fa=0.02, p_nd=0.1), record(1, p_fa=0.04, p_nd=0.3)])
    row = line(text, "breast")
    assert "0.030±0.014 " in row  # sqrt(2 * 0.01^2)
    assert "0.200±0.141" in row
    assert "1.25 s" in row
    assert row.rstrip().endswith("2/2")


def test_a_metric_without_values_is_named():
    frame = sample_records.frame([record(p_fa=0.02)])
    console = Console(width=80, record=True)
    print_summary(frame, console, {"np": ["p_fa", "risk_fa", "p_nd"]})
    assert "No values: risk_fa." in console.export_text()


def test_rate_above_bound_is_marked():
    text = printed([record(p_fa=0.051)])
    assert "0.051*" in text
    assert "* above rho" in text
    assert "0.050*" not in printed([record(p_fa=0.05)])


def test_chosen_parameters_are_summarised():
    chosen = [{"C": 0.1, "loss": "ramp"}, {"C": 1, "loss": "ramp"}, {"C": 100, "loss": "sigmoid"}]
    text = printed([record(repeat, chosen=one) for repeat, one in enumerate(chosen)])
    assert "1 (0.1 to 100)" in text
    assert "ramp (2 of 3)" in text


def test_each_bound_has_its_row():
    text = printed([record(problem_params={"rho": rho}, p_fa=0.0) for rho in (0.1, 0.01)])
    assert [row.split()[2] for row in text.splitlines() if row.startswith("breast")] == ["0.01", "0.1"]


def test_grid_of_numbers_and_words():
    grids = [[1, 2, 4, 8, None], [1, 2, 4, 8, "auto"]]
    text = printed([record(search=json.dumps({"max_depth": grid})) for grid in grids])
    assert "auto" in text


def test_only_varied_parameters_are_shown():
    params = [{"kernel": "rbf", "degree": 3}, {"kernel": "linear", "degree": 3}]
    text = printed([record(params=json.dumps(one)) for one in params])
    assert "kernel" in text
    assert "linear" in text
    assert "degree" not in text
    assert "folds" not in text


def test_problem_shows_its_own_metric():
    text = printed([record(problem="pauc", problem_params={"fpr_range": [0, 0.1]}, pauc=0.75)])
    assert "0.750" in text
    assert "fpr_range" in text
    assert "np_score" not in text
    assert "above" not in text


def test_protocols_that_differ_are_named():
    assert "rotocol" not in printed([record(), record(dataset="heart")])
    other = {"protocol": "permutations", "protocol_params": '{"n_train":170,"name":"permutations"}'}
    text = printed([record(), record(dataset="heart", **other)])
    assert "permutations n_train=170 (heart)" in " ".join(text.split())


def test_failures_are_counted_and_listed():
    text = printed([record(repeat, status="failed") for repeat in range(5)] + [record(5, p_fa=0.01)], planned=7)
    assert "6 of 7 jobs failed:" in text
    assert "repeat 0 and 4 more: failed: ValueError in estimator.py:17: Something" in " ".join(text.split())
    assert "npbench report" in text
    assert "went wrong" not in text
    assert "1 left no record." in text
    assert line(text, "breast").rstrip().endswith("1/6")


@pytest.mark.parametrize(("width", "hidden"), [(60, True), (400, False)])
def test_columns_are_hidden_with_a_word_in_a_narrow_terminal_only(width, hidden, monkeypatch):
    one = record(p_fa=0.0, p_nd=0.25, np_score=0.25, auc=0.5)
    assert "auc" in line(printed([one], width=width), "data")
    console = Console(width=width, record=True, force_terminal=False)
    monkeypatch.setattr(console.file, "isatty", lambda: True)
    print_summary(sample_records.frame([one]), console)
    text = console.export_text()
    assert ("auc" in line(text, "data")) is not hidden
    assert ("auc" in text.partition("Not shown")[2]) is hidden


def test_place_of_the_records():
    text = " ".join(printed([record(p_fa=0.0)], skipped=1).split())
    assert "1 record, 1 of them from before, in out/records." in text
    assert 'npbench.load_records("out/records")' in text


def test_unconverged_classifiers_are_counted():
    records = [record(0, converged=True), record(1, converged=False), record(2, converged=None)]
    assert "1 of 3 classifiers did not converge (np_svm on breast)" in printed(records)
    assert "converge" not in printed(records[::2])


def scorer(estimator, params, search=None, **columns):
    parameters = {"estimator": estimator} | ({} if search else {"params": params})
    texts = {"params": json.dumps(parameters), "search": json.dumps({"params": search} if search else {})}
    return record(solver="scorer", method="scorer", p_fa=0.0, **texts, **columns)


def cells(text, *, first=0, last):
    """Return some cells of the rows of breast."""
    return [row.split()[first:last] for row in text.splitlines() if row.startswith("breast")]


FOREST = "sklearn.ensemble.RandomForestClassifier"
SVM = "sklearn.svm.LinearSVC"


def test_settings_that_differ_from_the_choice_are_shown():
    text = printed([scorer(FOREST, {"n_estimators": 300}), scorer(SVM, {"C": 1, "dual": "auto"})])
    assert cells(text, last=4) == [["breast", "scorer", "0.05", FOREST], ["breast", "scorer", "0.05", SVM]]
    assert "n_estimators" not in text
    assert "dual" not in text


def test_parts_of_parameters_distinguish_rows():
    params = [{"C": 1, "dual": "auto"}, {"C": 10, "dual": "auto"}]
    text = printed([scorer(SVM, one) for one in params] + [scorer(FOREST, {"depth": 3})])
    assert "dual" not in text
    assert "depth" not in text
    assert cells(text, first=3, last=5) == [[FOREST, "-"], [SVM, "1"], [SVM, "10"]]


def test_searched_parts_of_mappings_are_shown():
    grid = [{"C": C, "dual": "auto"} for C in (1, 10, 100)]
    text = printed([scorer(SVM, {}, grid, repeat=i, chosen={"params": one}) for i, one in enumerate(grid)])
    assert "chosen C" in text
    assert "10 (1 to 100)" in text
    assert "dual" not in text
    assert "{" not in text


def test_duplicates_are_reported_per_data_set():
    counts = {"breast": [0, 0], "pima": [3, 3], "thyroid": [5, 2, None], "heart": [0, 4]}
    each = [(name, *pair) for name, of_repeats in counts.items() for pair in enumerate(of_repeats)]
    records = [record(repeat, dataset=dataset, n_test_duplicates=count) for dataset, repeat, count in each]
    notes = [row for row in printed(records, width=120).splitlines() if "test rows of a split" in row]
    assert [row.split(" equal")[0] for row in notes] == [
        "In heart, 0 to 4 test rows of a split",
        "In pima, 3 test rows of a split",
        "In thyroid, 2 to 5 test rows of a split",
    ]


def test_columns_suffice():
    further = {"status": "failed", "repeat": 1, "unread": 7}
    records = [record(p_fa=0.1, chosen={"C": 1}, converged=False, n_test_duplicates=2), record(**further)]
    of_pauc = record(problem="pauc", problem_params={"fpr_range": [0, 0.1]}, pauc=0.75, tpr=0.5)
    read = [{name: value for name, value in one.items() if name in COLUMNS} for one in (*records, of_pauc)]
    assert len(read[1]) < len(records[1])
    assert printed(read) == printed([*records, of_pauc])


def test_approximated_kernels_are_named_once(monkeypatch):
    monkeypatch.setattr("npbench.estimators.nystroem.MAX_EXACT", 50)
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(UserWarning, match="landmarks") as warned:
        npbench.solver("np_svm", n_components="auto", rho=0.2, C=1.0, gamma=1.0).fit(X, np.sign(X[:, 0]))
    text = "\n".join(f"{one.category.__name__}: {one.message}" for one in warned)
    shown = printed([record(repeat, warnings=f"RuntimeWarning: odd\n{text}") for repeat in range(3)], width=400)
    assert shown.count("landmarks approximate") == 1
    assert "odd" not in shown
    unused = "UserWarning: NPSVM: device='cuda' has no effect on this fit: few samples."
    assert printed([record(repeat, warnings=unused) for repeat in range(3)], width=400).count(unused[13:]) == 1
    assert "landmarks" not in printed([record(warnings="RuntimeWarning: odd")])


def test_a_threshold_that_fell_back_is_named_under_the_table():
    text = "UserWarning: 80 held-out negatives, expected 299. The threshold is empirical and guarantees nothing."
    shown = printed([record(repeat, method="random_forest", warnings=text) for repeat in range(2)], width=400)
    assert line(shown, "random_forest: ").endswith("guarantees nothing.")
