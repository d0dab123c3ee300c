"""One job, run and measured: what the solver is given, what is recorded of it, and what when it fails."""

from __future__ import annotations

import json
import pickle
import sys
import time
import types
import warnings
from collections import namedtuple
from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_curve
from sklearn.utils.metaestimators import available_if

from npbench.contracts import Estimate, Metric, Selection, Solver
from npbench.data import BinaryData
from npbench.evaluation import measure
from npbench.evaluation.fitting import steps
from npbench.evaluation.job import CHOICES, DataIdentity, Job, Options
from npbench.evaluation.protocols import CrossValidation, Holdout, Official, Permutations
from npbench.evaluation.selection import grid_search
from npbench.numerics.roc_grid import FPR_GRID
from npbench.problem import NeymanPearson
from npbench.records.fields import SCHEMA
from npbench.records.record import MAX_TEXT, Record
from npbench.registry import installed
from sample_jobs import JOB, changed

Step = namedtuple("Step", ["iteration", "objective"])
Point = namedtuple("Point", ["threshold", "p_fa"])

ERRORS = {"raise": "cannot go on", "endless message": "x" * 10**7, "unprintable": "\udcff"}
# Scores by what is wrong with them.
SPOILT = {
    "nan": lambda scores: np.r_[np.nan, np.inf, scores[2:]],
    "complex": lambda scores: scores + 1j,
    "list of complex": lambda scores: [complex(score) for score in scores],
    "masked": lambda scores: np.ma.masked_greater(scores, 0),
    "shape": lambda scores: scores[:, None],
}
# Thresholds of the stages by what is wrong with them.
STAGES = {"stages": (3.0, 0.5), "too few stages": (3.0,), "unscored stage": (3.0, np.nan)}


class Threshold(ClassifierMixin, BaseEstimator):
    """Scores by the first feature minus a threshold; notes what it is given."""

    seen: list = []  # noqa: RUF012 -- shared by all instances on purpose

    def __init__(self, *, threshold=0.0, rho=None, random_state=None, fault=None):
        self.threshold, self.rho, self.random_state, self.fault = threshold, rho, random_state, fault

    def fit(self, X, y):
        Threshold.seen.append((self, X, y))
        time.sleep(0.02)
        self.n_iter_, self.converged_, self.objective_ = np.array([3, 7]), np.bool_(False), np.float64(0.5)
        self.status_ = "gave in"
        if self.fault in ("trace", *STAGES):
            self.trace_ = [Step(0, np.float64(2.5)), Step(1, np.inf)]
        if self.fault == "odd trace":
            self.trace_ = [0.5]
        if self.fault in ERRORS:
            raise ValueError(ERRORS[self.fault])
        if self.fault == "memory":
            raise MemoryError
        if self.fault == "odd attributes":
            self.rates_, self.support_, self.flag_ = (0.25, 0.5), np.arange(3), True
            self.ragged_, self.objects_, self.words_ = [[1], [1, 2]], [self, Step], np.array(["a"])
        if self.fault == "warn":
            for number in range(10):
                warnings.warn(f"warning {number // 2}", ConvergenceWarning, stacklevel=1)
        return self

    @available_if(lambda self: self.fault in STAGES)
    def staged_decision_function(self, X):
        for threshold in STAGES[self.fault]:
            yield self.decision_function(X) + self.threshold - threshold

    def decision_function(self, X):
        column = X[:, [0]].toarray().ravel() if sparse.issparse(X) else X[:, 0]
        scores = column - self.threshold
        return SPOILT.get(self.fault, np.asarray)(scores)


def select(make, X, y, folds, problem, search, n_threads=1):
    select.given = {"X": X, "y": y, "folds": folds, "problem": problem, "search": search, "n_threads": n_threads}
    time.sleep(0.1)
    sum(number * number for number in range(10**6))
    return Selection({"threshold": 0.25}, 0.125, n_candidates=9, n_unconverged=2)


def looking_select(make, X, y, folds, problem, search, n_threads=1):
    return Selection(search, 0.125, trace=[Point(0.5, 0.0), Point(0.25, np.nan)])


def accuracy(y, scores, problem, estimator):
    return np.mean(y * scores > 0)


def bounded(y, scores, problem, estimator):
    return Estimate(problem.rho, 0.0, 1.0)


@pytest.fixture(autouse=True)
def _module(monkeypatch):
    """Make these importable under a name, as a plugin's module is."""
    module = types.ModuleType("threshold_solver")
    module.__dict__.update({one.__name__: one for one in (Threshold, select, looking_select, accuracy, bounded)})
    monkeypatch.setitem(sys.modules, "threshold_solver", module)
    Threshold.seen.clear()


def searching(select="select") -> Solver:
    estimator = "threshold_solver:Threshold"
    return Solver(name="t", estimator=estimator, solves=("np",), select=f"threshold_solver:{select}")


def samples(kind=np.asarray) -> BinaryData:
    y = np.repeat(np.array([-1, 1], dtype=np.int8), [30, 50])
    X = np.column_stack([y + np.linspace(-2, 2, 80), np.arange(1.0, 81.0)])  # the second feature numbers the rows
    return BinaryData(kind(X), y, "numbered")


def planned(data: BinaryData, **fields) -> Job:
    metrics = ("accuracy", "bounded")
    given = {
        "solver": Solver(name="threshold", estimator="threshold_solver:Threshold", solves=("np",)),
        "params": {},
        "search": {},
        "problem": NeymanPearson(0.125),
        "preprocess": "none",
        "metrics": tuple(Metric(name=n, compute=f"threshold_solver:{n}", direction="none") for n in metrics),
        "dataset": data.name,
        "data": DataIdentity.of(data),
        **fields,
    }
    return changed(JOB, **given)


def run_with(fault, **options):
    return measure.record(planned(samples(), params={"fault": fault}), samples(), Options(**options))


def rows(X) -> set[int]:
    return set(np.asarray(X[:, [1]].todense() if sparse.issparse(X) else X[:, 1]).ravel().astype(int) - 1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("protocol", [CrossValidation(folds=3), Holdout(), Permutations(n_train=50)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_solver_gets_the_rows_of_the_split_and_none_of_the_test_part(protocol, kind):
    data = samples(kind)
    job = planned(data, protocol=protocol, solver=searching(), search={"threshold": [0.0]}, seed=5, repeat=2)
    record = measure.record(job, data, Options(n_threads=3))
    assert record["status"] == "ok", record["traceback"]
    split = protocol.split(data, 5, 2)
    given = select.given
    assert not rows(given["X"]) & set(split.test)
    for (fit, validate), expected in zip(given["folds"], split.folds, strict=True):
        assert rows(given["X"][fit]) == set(expected[0])
        assert rows(given["X"][validate]) == set(expected[1])
        assert np.array_equal(np.sort(given["y"][fit]), np.sort(data.y[expected[0]]))
    assert given["n_threads"] == 3
    assert given["problem"] == job.request.problem
    ((_, X, y),) = Threshold.seen
    assert rows(X) == set(split.train)
    assert np.array_equal(np.sort(y), np.sort(data.y[split.train]))
    column = data.X[:, [0]].toarray().ravel() if sparse.issparse(data.X) else data.X[:, 0]
    expected_accuracy = np.mean(data.y[split.test] * (column[split.test] - 0.25) > 0)
    assert record["accuracy"] == pytest.approx(expected_accuracy)


def test_metrics_get_fitted_attributes_that_are_numbers():
    toy = measure.toy_fitting(planned(samples(), params={"fault": "odd attributes"}), 2, False)
    ((facts, arrays),) = (step for step in steps(toy) if "scores" in step[0])
    assert set(facts["numbers"]) == {"rates_", "support_", "flag_", "n_iter_", "converged_", "objective_"}
    assert [array.tolist() for array in arrays[1:]][-3:] == [[0.25, 0.5], [0, 1, 2], True]


@pytest.mark.parametrize(
    "columns", [None, {}, {"status": "great"}, {"status": "ok", "n_iter": "7"}, {"status": "ok", "fit_seconds": [1]}]
)
def test_other_reports_than_columns_of_their_types_are_refused(columns):
    with pytest.raises(ValueError, match="process"):
        measure.reported(columns)
    forged = {"status": "ok", "n_iter": 7, "np_score": 0.0, "key": "another", "split_sha256": "x"}
    assert measure.reported(forged) == {"status": "ok", "n_iter": 7}


def test_the_order_of_the_test_rows_says_nothing_of_their_labels(monkeypatch):
    given = []
    decide = Threshold.decision_function
    monkeypatch.setattr(Threshold, "decision_function", lambda self, X: given.append(X[:, 1]) or decide(self, X))
    data = samples()  # sorted by label
    job = planned(data)
    record = measure.record(job, data, Options(keep_scores=True))
    test = job.request.protocol.split(data, 0, 0).test
    numbers = given[-1].astype(int) - 1
    assert sorted(numbers) == list(test)
    assert np.sum(np.diff(data.y[numbers]) != 0) > 3
    kept = pl.read_parquet(record["test_scores"])
    assert kept["row"][0].to_list() == list(test)
    np.testing.assert_allclose(kept["score"][0], data.X[test, 0], rtol=1e-6)


def test_the_choice_is_that_of_a_search_by_hand():
    data, values = samples(), [3.0, 0.5, -3.0, 0.25]
    job = planned(data, search={"threshold": values})
    record = measure.record(job, data)
    split = job.request.protocol.split(data, 0, 0)
    losses = []
    for value in values:
        validated = np.concatenate([fold[1] for fold in split.folds])
        scores, y = data.X[validated, 0] - value, data.y[validated]
        p_nd, p_fa = np.mean(scores[y > 0] <= 0), np.mean(scores[y < 0] >= 0)
        losses.append(p_nd + max(0, p_fa - 0.125) / 0.125)
    assert record["chosen_params"] == f'{{"threshold":{values[int(np.argmin(losses))]:g}}}'
    assert record["selection_loss"] == pytest.approx(min(losses))
    assert (record["n_candidates"], record["n_unconverged"]) == (4, 16)
    make, problem = partial(Threshold, fault="warn"), job.request.problem
    found = grid_search(make, data.X, data.y, split.folds, problem, {"threshold": values})
    assert found.losses == pytest.approx(losses)
    assert (found.loss, found.n_candidates, found.n_unconverged) == (min(found.losses), 4, 16)
    assert len(Threshold.seen) == 2 * 16 + 1
    # Nothing is fitted where there is nothing to choose.
    assert grid_search(make, data.X, data.y, split.folds, problem, {}).params == {}
    assert len(Threshold.seen) == 2 * 16 + 1


def test_standardising_uses_the_training_part_alone_and_leaves_the_data_as_they_were():
    data = samples()
    for array in (data.X, data.y):
        array.flags.writeable = False
    job = planned(data, preprocess="standardize", protocol=Holdout())
    measure.record(job, data)
    assert BinaryData(data.X, data.y, data.name).sha256 == samples().sha256
    train = data.X[job.request.protocol.split(data, 0, 0).train]
    ((_, X, _),) = Threshold.seen
    np.testing.assert_allclose(np.sort(X, axis=0), np.sort((train - train.mean(axis=0)) / train.std(axis=0), axis=0))


@pytest.mark.parametrize(
    ("preprocess", "categories"),
    [*((choice, "one_hot") for choice in CHOICES["preprocess"]), ("none", "codes")],
)
def test_the_solver_sees_nothing_of_the_test_part(preprocess, categories):
    X = np.column_stack([samples().X, np.arange(80) % 3])  # numbers, some of them missing, and words
    X[::7, 0] = np.nan
    data = BinaryData.checked(X, samples().y, "kinds", categorical=[2])
    test = CrossValidation().split(data, 0, 0).test
    altered = data.X.copy()
    altered[test] = [1e9, -1e9, 7.0]
    for X in (data.X, altered):
        changed = BinaryData.checked(X, data.y, "kinds", categorical=[2])
        job = planned(changed, preprocess=preprocess, missing="impute", categories=categories)
        record = measure.record(job, changed)
        assert record["status"] == "ok", record["traceback"]
    (_, one, y), (_, other, same) = Threshold.seen
    assert one.shape == (60, 5 if categories == "one_hot" else 3)
    assert np.isfinite(one).all()
    assert np.array_equal(one, other)
    assert np.array_equal(y, same)
    if categories == "codes":
        assert set(one[:, 2]) == {0.0, 1.0, 2.0}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("protocol", [CrossValidation(), Holdout(), Permutations(n_train=30, folds=2)])
def test_test_rows_that_the_solver_knows_are_counted(protocol, kind):
    plain = samples()
    features = np.random.default_rng(0).integers(0, 3, (80, 3)).astype(float)
    data = BinaryData.checked(kind(features), plain.y, "alike")
    split = protocol.split(data, 3, 1)
    record = measure.record(planned(data, protocol=protocol, seed=3, repeat=1), data)
    others = {tuple(features[row]) for row in set(range(80)) - set(split.test)}
    expected = sum(tuple(features[row]) in others for row in split.test)
    assert 0 < expected < len(split.test) or len(others) == 27
    assert record["n_test_duplicates"] == expected
    assert record["split_sha256"] == split.sha256
    assert measure.record(planned(plain), plain)["n_test_duplicates"] == 0


def test_attributes_of_the_solver_are_recorded():
    record = run_with(None)
    expected = {
        **{"status": "ok", "n_iter": 7, "converged": False, "objective": 0.5, "duality_gap": None, "rho": 0.125},
        **{"solver_status": "gave in", "chosen_params": "{}", "selection_loss": None},
        **{"bounded": 0.125, "bounded_low": 0.0, "bounded_high": 1.0},
    }
    assert {name: record[name] for name in expected} == expected
    assert set(record) - set(SCHEMA) == {"rho", "accuracy", "bounded", "bounded_low", "bounded_high"}
    assert {type(value) for value in record.values()} <= {str, int, float, bool, type(None)}


def test_times_of_search_fit_and_prediction():
    record = measure.record(planned(samples(), solver=searching(), search={"threshold": [0]}), samples())
    assert record["select_seconds"] >= 0.1
    assert 0 < record["select_cpu_seconds"] <= record["select_seconds"] - 0.05  # it slept, which takes no CPU
    assert record["fit_seconds"] >= 0.02
    assert record["fit_cpu_seconds"] < 0.02
    parts = [record[f"{stage}_seconds"] for stage in ("select", "fit", "predict")]
    assert 0 < sum(parts) <= record["seconds"]


def test_the_problem_and_a_seed_are_filled_in():
    data = samples()
    first, again, other = (planned(data, repeat=repeat) for repeat in (0, 0, 1))
    for job in (first, again, other, changed(first, params={"random_state": 11, "threshold": 2.0})):
        measure.record(job, data)
    estimators = [estimator for estimator, *_ in Threshold.seen]
    assert [estimator.rho for estimator in estimators] == [0.125] * 4
    seeds = [estimator.random_state for estimator in estimators]
    assert isinstance(seeds[0], int)
    assert seeds[0] == seeds[1] != seeds[2]
    assert (seeds[3], estimators[3].threshold) == (11, 2.0)


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        ("raise", "failed", "cannot go on"),
        ("memory", "out_of_memory", "MemoryError"),
        ("nan", "failed", "2 of 20"),
        ("shape", "failed", "(20, 1)"),
        ("complex", "failed", "complex"),
        ("list of complex", "failed", "complex"),
        ("masked", "failed", "masked"),
        ("unprintable", "failed", "\\udcff"),
    ],
)
def test_a_failure_is_a_record(fault, status, message):
    record = run_with(fault)
    assert type(record) is Record  # which can be stored
    assert record["status"] == status
    assert message in record["error"]
    assert "Traceback" in record["traceback"]
    assert record["error_type"] in record["traceback"]
    assert record["fit_seconds"] >= 0.02
    assert not {"accuracy", "roc"} & set(record)


def test_an_unknown_parameter_and_an_endless_message_are_failures():
    record = measure.record(planned(samples(), params={"treshold": 1}), samples())
    assert (record["status"], record["error_type"]) == ("failed", "TypeError")
    assert "treshold" in record["error"]
    record = run_with("endless message")
    assert (record["status"], record["error"][:3]) == ("failed", "xxx")
    assert len(pickle.dumps(record)) < 3 * MAX_TEXT  # it does not leave the worker


def test_warnings_are_counted_and_the_first_are_kept():
    record = run_with("warn")
    assert (record["status"], record["n_warnings"]) == ("ok", 10)
    assert record["warnings"].splitlines() == [f"ConvergenceWarning: warning {number}" for number in range(3)]
    assert run_with(None)["n_warnings"] == 0


@pytest.mark.parametrize("is_sparse", [False, True])
def test_warming_up_goes_through_the_whole_job_in_small(is_sparse):
    job = planned(samples(), search={"threshold": list(range(50)), "rho": [0.1, 0.2]}, params={"fault": "warn"})
    ended = list(steps(measure.toy_fitting(job, n_features=2, is_sparse=is_sparse)))[-1]
    assert ended[0]["ended"]["status"] == "ok"
    assert len(Threshold.seen) == 2 * 2 + 1  # two candidates on two folds, and the final fit
    assert {estimator.fault for estimator, *_ in Threshold.seen} == {"warn"}
    assert {sparse.issparse(X) for _, X, _ in Threshold.seen} == {is_sparse}
    assert all(len(y) < 50 and X.shape[1] == 2 for _, X, y in Threshold.seen)
    # It leaves out one row at a time where the job does.
    for protocol, n_folds in ((CrossValidation(), 2), (Permutations(n_train=40), 16)):
        job = planned(samples(), solver=searching(), protocol=protocol)
        list(steps(measure.toy_fitting(job, n_features=2, is_sparse=is_sparse)))
        assert len(select.given["folds"]) == n_folds


def test_warming_up_gets_as_far_as_a_guarantee_for_a_small_rate():
    """Otherwise the kernels after the threshold would load inside the job's clock."""
    job = planned(
        samples(),
        solver=installed().solver("scorer"),
        problem=NeymanPearson(rho=0.01),
        params={"estimator": "sklearn.naive_bayes.GaussianNB", "threshold": "umbrella"},
        search={"params": [{"var_smoothing": 1e-9}, {"var_smoothing": 1e-3}]},
    )
    assert list(steps(measure.toy_fitting(job, n_features=2, is_sparse=False)))[-1][0]["ended"]["status"] == "ok"


def test_warm_up_varies_the_first_name_of_mappings():
    grid = [{"C": C, "gamma": gamma} for C in (1, 2) for gamma in (3, 4)]
    two = [{"C": 1, "gamma": 3}, {"C": 2, "gamma": 3}]
    assert measure._at_most_two({"params": grid, "rho": [1, 2]}) == {"params": two, "rho": [1]}


FIT_TRACE = '{"iteration":[0,1],"objective":[2.5,null]}'
SEARCH_TRACE = '{"p_fa":[0,null],"threshold":[0.5,0.25]}'


@pytest.mark.parametrize(
    ("solver", "fault", "kept"),
    [
        ({}, "trace", FIT_TRACE),
        ({}, None, "{}"),
        ({"solver": searching("looking_select")}, "trace", SEARCH_TRACE),  # instead of the trace of the fit
        ({"solver": searching("looking_select")}, "stages", SEARCH_TRACE),
    ],
)
@pytest.mark.parametrize("trace", [True, False])
def test_traces_are_kept_when_asked_for(solver, fault, kept, trace):
    data = samples()
    record = measure.record(planned(data, params={"fault": fault}, **solver), data, Options(trace=trace))
    assert record["status"] == "ok", record["traceback"]
    assert record.get("trace") == (kept if trace else None)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_stages_are_measured_on_both_parts(kind):
    data = samples(kind)
    job = planned(data, params={"fault": "stages"})
    record = measure.record(job, data, Options(trace=True))
    split, column = job.request.protocol.split(data, 0, 0), samples().X[:, 0]
    expected = {}
    for part, rows_ in (("train", split.train), ("test", split.test)):
        y, scores = data.y[rows_], column[rows_]
        expected[f"{part}_accuracy"] = [float(np.mean(y * (scores - threshold) > 0)) for threshold in (3.0, 0.5)]
        expected[f"{part}_bounded"] = [0.125, 0.125]
    assert expected["train_accuracy"] != expected["test_accuracy"]
    assert json.loads(record["trace"]) == {"iteration": [0, 1], "objective": [2.5, None], **expected}
    untraced = measure.record(job, data)
    assert "trace" not in untraced
    assert all(record[name] == untraced[name] for name in ("accuracy", "bounded", "bounded_low"))


def test_stages_of_an_estimator_without_trace_are_measured(monkeypatch):
    monkeypatch.setattr(Threshold, "trace_", property(lambda _: [], lambda *_: None), raising=False)
    record = run_with("stages", trace=True)
    expected = {f"{part}_{metric}" for part in ("train", "test") for metric in ("accuracy", "bounded")}
    assert set(json.loads(record["trace"])) == expected


@pytest.mark.parametrize(
    ("fault", "message"),
    [("too few stages", "yields 1 stages"), ("unscored stage", "60 of 60"), ("odd trace", "NamedTuples")],
)
def test_faults_of_traces_fail_only_when_asked_for(fault, message):
    assert run_with(fault)["status"] == "ok"
    record = run_with(fault, trace=True)
    assert record["status"] == "failed"
    assert message in record["error"]


def test_the_curve_of_the_test_part_is_kept():
    data, protocol = samples(), CrossValidation(test_size=0.2)
    job = planned(data, protocol=protocol)
    record = measure.record(job, data)
    test = protocol.split(data, job.request.seed, job.repeat).test
    scores, positive = data.X[test, 0], data.y[test] > 0
    fpr, tpr, _ = roc_curve(positive, scores, drop_intermediate=False)
    kept = dict(zip(FPR_GRID, json.loads(record["roc"]), strict=True))
    assert kept[0.5] == max(tpr[fpr <= 0.5])
    assert kept[1.0] == 1


@pytest.mark.parametrize(
    ("protocol", "test_part", "n_positive"),
    [
        (CrossValidation(test_size=0.2), "drawn", 10),
        (Official((20, 40)), "fixed", 10),
        (Permutations(n_train=40, folds=2), "published", 25),
        (Permutations(n_train=41, folds=2), "drawn", None),
    ],
)
def test_records_describe_the_test_part(protocol, test_part, n_positive):
    plain = samples()
    data = BinaryData.checked(plain.X, plain.y, "numbered", published=np.arange(80).reshape(40, 2).T)
    record = measure.record(planned(data, protocol=protocol), data)
    assert record["test_part"] == test_part
    assert record["n_test_positive"] == n_positive or n_positive is None
