import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.config import checks
from npbench.config.checks import check, check_all
from npbench.config.resolve import resolved
from npbench.config.solver_settings import solver_settings
from npbench.errors import RequestError
from npbench.evaluation.protocols import CrossValidation, Holdout, Official, Permutations

SWITCHES = {"retry_timeouts": True, "force": False, "trace": False, "keep_scores": False}
CONFIG = {
    "solver": {"name": "centroid", "shrinkage": None, "mode": "ok", "search": {"shrinkage": [0.0, 0.5]}},
    "dataset": {"name": "blobs", "n": 60},
    "problem": {"name": "np", "rho": 0.1},
    "protocol": {"name": "cv", "test_size": 0.25, "folds": 3},
    "execution": {"name": "local", "n_jobs": 1, "time_limit": None, "memory_limit": None, **SWITCHES},
    "seed": 0,
    "repeats": 2,
    "preprocess": "standardize",
    "missing": "refuse",
    "categories": "one_hot",
    "metrics": None,
    "results": "results",
}
values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just([]) | st.just({})


@pytest.fixture(autouse=True)
def _installed(stranger):
    pass


def changed(**settings):
    """Return CONFIG with ``section__key`` replaced; two underscores stand for a dot."""
    config = {key: dict(value) if isinstance(value, dict) else value for key, value in CONFIG.items()}
    for path, value in settings.items():
        section, _, key = path.partition("__")
        if key:
            config[section][key] = value
        else:
            config[section] = value
    return config


def faults_of(**settings):
    with pytest.raises(RequestError) as refusal:
        check(changed(**settings))
    return list(refusal.value.faults)


def test_settings_of_a_solver_are_checked_once(monkeypatch):
    checked = []
    monkeypatch.setattr(checks, "solver_settings", lambda *found: checked.append(found) or solver_settings(*found))
    requests, _ = check_all([changed(seed=seed, solver__mode=mode) for mode in ("ok", "slow") for seed in (1, 2)])
    assert [request.params["mode"] for request in requests] == ["ok", "ok", "slow", "slow"]
    assert len(checked) == 2


def test_configuration_becomes_a_request():
    request = check(CONFIG)
    assert request.solver.name == "centroid"
    assert request.params == {"mode": "ok"}
    assert request.search == {"shrinkage": [0.0, 0.5]}
    assert request.dataset_params == {"n": 60}
    assert request.problem.parameters() == {"rho": 0.1}
    assert request.protocol == CrossValidation(0.25, 3)
    assert (request.seed, request.repeats, request.features["preprocess"]) == (0, 2, "standardize")
    assert check(changed(protocol={"name": "holdout", "validation_size": 0.3})).protocol == Holdout(0.25, 0.3)


@pytest.mark.parametrize(
    ("name", "dataset", "null", "own", "typed", "named", "missing"),
    [
        ("official", "rcv1", "test_rows", Official((0, 23149)), {"test_rows": [5, 9]}, Official((5, 9)), "test split"),
        ("permutations", "banana", "n_train", Permutations(400), {"n_train": 30}, Permutations(30), "training size"),
    ],
)
def test_protocol_of_the_dataset(name, dataset, null, own, typed, named, missing):
    protocol = {"name": name, null: None}
    assert check(resolved(changed(dataset={"name": dataset}, protocol=protocol))).protocol == own
    found = check(resolved(changed(dataset={"name": dataset}, protocol={**protocol, **typed}))).protocol
    assert {found} == {named}  # hashable, as plans need
    (fault,) = faults_of(protocol=protocol)
    assert missing in fault


def test_official_rows_are_not_dropped():
    official = {"name": "official", "test_rows": [0, 9], "validation_size": 0.5}
    assert check(changed(protocol=official, missing="impute")).features["missing"] == "impute"
    (fault,) = faults_of(protocol=official, missing="drop")
    assert fault.endswith("use missing=impute or protocol=holdout.")


def test_value_or_null_grid_fixes_a_parameter_and_geomspace_is_expanded():
    for settings in ({}, {"solver__search": {"shrinkage": None}}, {"solver__search": None}):
        request = check(changed(solver__shrinkage=0.25, **settings))
        assert request.params["shrinkage"] == 0.25
        assert request.search == {}
    request = check(changed(solver__search={"shrinkage": ["geomspace", 0.01, 1, 3]}))
    assert request.search["shrinkage"] == pytest.approx([0.01, 0.1, 1.0])


def test_metrics_follow_the_problem():
    names = {metric.name for metric in check(CONFIG).metrics}
    assert {"p_fa", "p_nd", "np_score", "auc"} <= names
    assert not {"cost", "pauc", "accepted"} & names
    assert [metric.name for metric in check(changed(metrics=["p_nd", "p_fa", "p_nd"])).metrics] == ["p_nd", "p_fa"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"solver__name": "centriod"}, "Unknown solver 'centriod': did you mean 'centroid'?"),
        ({"solver": {}}, "No solver is chosen"),
        ({"problem__name": "nq"}, "Unknown problem 'nq': did you mean 'np'?"),
        ({"protocol__name": "vc"}, "Unknown protocol 'vc'"),
        ({"metrics": ["p_fe"]}, "Unknown metric 'p_fe': did you mean 'p_fa'?"),
        ({"metrics": ["cost"]}, "'cost' applies to cost, not to np"),
        ({"metrics": []}, "metrics is []"),
        ({"solver__shrinkag": 1}, "did you mean 'solver.shrinkage'?"),
        ({"solver__rho": 0.1}, "set problem.rho instead"),
        ({"solver__random_state": 1}, "set seed instead"),
        ({"solver__shrinkage": 2}, "'shrinkage' parameter must be"),
        ({"solver__search": {"shrinkage": [0.5, 7]}}, "Got 7 instead"),
        ({"solver__search": {"shrinkage": []}}, "solver.search.shrinkage is []"),
        ({"solver__search": 5}, "solver.search is 5"),
        ({"dataset__m": 5}, "'m'"),
        ({"problem__roh": 0.1}, "Unknown setting 'problem.roh': did you mean 'problem.rho'?"),
        ({"problem__rho": 0}, "problem.rho is 0"),
        ({"protocol__folds": 1}, "protocol.folds is 1"),
        ({"protocol__test_size": 1.5}, "protocol.test_size is 1.5"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**63}, "seed is 9223372036854775808"),
        ({"repeats": 0}, "repeats is 0"),
        ({"repeats": 10**12}, "repeats is 1000000000000"),
        ({"preprocess": "standardise"}, "preprocess is 'standardise'"),
        ({"missing": "ignore"}, "missing is 'ignore': expected refuse, drop, impute or keep."),
        ({"categories": None}, "categories is None: expected one_hot or codes."),
        ({"sed": 1}, "Unknown setting 'sed': did you mean 'seed'?"),
        ({"problem": {"name": "qvalue"}}, "solver=centroid does not solve problem=qvalue"),
    ],
)
def test_fault_is_one_line(settings, expected):
    (fault,) = faults_of(**settings)
    assert expected in fault
    assert "\n" not in fault


@pytest.mark.parametrize(("name", "able"), [("pauc_struct", False), ("pauc_minimax", True), ("auc_svm", True)])
def test_a_solver_that_trains_for_a_part_of_the_problem_is_refused(name, able):
    """A solver that ignores all ranges is a baseline; one that knows the first range only would mislead."""
    two_way = {"name": "pauc", "fpr_range": [0.0, 0.1], "tpr_range": [0.5, 1.0]}
    faults = faults_of(solver={"name": name}, problem=two_way, seed=-1)
    assert faults[-1].startswith("seed")
    assert [fault for fault in faults if "tpr_range" in fault] == ([] if able else faults[:1])
    assert able or "pauc_minimax" in faults[0]
    assert len(faults_of(solver={"name": name}, problem={**two_way, "tpr_range": [0, 1]}, seed=-1)) == 1


def test_all_faults_in_one_go():
    faults = faults_of(problem__rho=3, solver__shrinkage=2, seed=-1, repeats=0, protocol__folds=0, metrics=["zzzz"])
    assert len(faults) == 6
    with pytest.raises(RequestError) as refusal:
        check_all([changed(seed=seed, repeats=0) for seed in (-1, 1)])
    assert len(refusal.value.faults) == 2  # the shared one appears once


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"problem": {"name": "qvalue"}}, "qvalue"), ({"solver__shrinkage": 2}, "shrinkage")],
)
def test_solvers_of_a_sweep_share_a_fault_under_the_names_that_were_typed(settings, expected):
    with pytest.raises(RequestError) as refusal:
        check_all([changed(**settings, method=method, seed=seed) for method in ("one", "two") for seed in (1, 2)])
    (fault,) = refusal.value.faults
    assert expected in fault
    assert "solver=one,two" in fault


def test_unknown_choice_is_reported_once():
    """A section that is None was refused when it was composed: what remains is checked, and nothing named again."""
    for section in ("solver", "dataset", "problem", "protocol"):
        assert faults_of(**{section: None}, repeats=0) == faults_of(repeats=0)
        with pytest.raises(RequestError) as refusal:
            check_all([changed(**{section: None})])
        assert not refusal.value.faults


def test_objective_is_a_measured_metric_and_settings_of_the_run_are_shared():
    _, settings = check_all([changed(execution__objective="p_fa")])
    assert settings.objective == "p_fa"
    with pytest.raises(RequestError, match="'p_fb'"):
        check_all([changed(execution__objective="p_fb")])
    with pytest.raises(RequestError, match="whole run"):  # not a value each
        check_all([changed(execution__n_jobs=1), changed(execution__n_jobs=2)])


SETTINGS = ["problem__rho", "protocol__folds", "seed", "repeats", "metrics", "preprocess", "missing", "solver"]


@given(st.sampled_from(SETTINGS), values)
def test_any_value_is_accepted_or_refused(setting, value):
    request = None
    with contextlib.suppress(RequestError):  # and nothing else
        request = check(changed(**{setting: value}))
    if request:
        assert 0 < request.problem.rho < 1
        assert request.protocol.folds >= 2
        assert request.repeats >= 1
        assert request.seed >= 0
        assert request.metrics
