import numpy as np
import polars as pl
import pytest
from misbehaving_jobs import gaussians, jobs

from npbench.evaluation.protocols import CrossValidation, Holdout, Official, Permutations
from npbench.planning.forecast import Estimates, work_of
from npbench.problem import NeymanPearson
from sample_jobs import changed

(JOB,) = jobs(gaussians(), {"act": ""})


def job_of(*, n_samples=400, candidates=10, folds=4, dataset="made", test_size=0.25):
    return changed(
        JOB,
        dataset=dataset,
        search={"C": [float(value) for value in range(1, candidates + 1)]},
        protocol=CrossValidation(test_size, folds),
        n_samples=n_samples,
    )


def true_seconds(job, power):
    """Seconds of a solver whose fits take a power of their rows, timed stage by stage as in a record."""
    request, n = job.request, job.data.n_samples
    train = n * (1 - request.protocol.test_size)
    fit_rows = train * (1 - 1 / request.protocol.folds)
    candidates = len(request.search["C"])
    select = 1e-6 * fit_rows**power * candidates * request.protocol.folds if candidates > 1 else 0.0
    fit = 1e-6 * train**power
    return {"select_seconds": select, "fit_seconds": fit, "seconds": select + fit + 1e-5 * n}


def store(*timed):
    return pl.DataFrame([{**job.columns, "status": "ok", **times} for job, times in timed], infer_schema_length=None)


@pytest.mark.parametrize("power", [1.0, 2.0, 2.5])
@pytest.mark.parametrize(
    "asked",
    [
        {"candidates": 1},
        {"folds": 10, "candidates": 100},
        {"n_samples": 3000, "dataset": "other", "candidates": 500},
        {"test_size": 0.5},
    ],
)
def test_made_up_store_predicts_other_grids_folds_and_sizes(power, asked):
    random = np.random.default_rng(0)
    past = [job_of(n_samples=n) for n in (200, 400, 800, 1600)]
    timed = [(job.with_repeat(n), true_seconds(job, power)) for job in past for n in range(3)]
    noisy = [(job, {name: t * random.uniform(0.8, 1.25) for name, t in times.items()}) for job, times in timed]
    frame = store(*noisy)
    job = job_of(**asked)
    estimate = Estimates(frame).seconds(job)
    expected = true_seconds(job, power)["seconds"]
    assert expected / 2 <= estimate <= 2 * expected


def test_search_is_estimated_from_single_fits():
    past = job_of(candidates=1)
    job = job_of(candidates=100)
    estimate = Estimates(store((past, true_seconds(past, 2.0)))).seconds(job)
    assert estimate == pytest.approx(true_seconds(job, 2.0)["seconds"], rel=0.3)


def test_same_grid_on_the_same_data_counts_before_others():
    other = job_of(dataset="other"), {"seconds": 1000.0, "select_seconds": 900.0, "fit_seconds": 50.0}
    same = job_of(), {"seconds": 3.0, "select_seconds": 2.0, "fit_seconds": 0.5}
    smaller_grid = job_of(candidates=5), {"seconds": 30.0, "select_seconds": 20.0, "fit_seconds": 5.0}
    assert Estimates(store(other, same, smaller_grid)).seconds(job_of()) == pytest.approx(3.0)
    assert Estimates(store(other, smaller_grid)).seconds(job_of()) == pytest.approx(50.0, rel=0.2)


def test_estimate_is_the_median_of_jobs_with_as_many_rows():
    seconds = {"select_seconds": 0.0, "fit_seconds": 0.0}
    past = [(job_of().with_repeat(n), {"seconds": s, **seconds}) for n, s in enumerate((1.0, 100.0, 3.0))]
    for job in (changed(job_of(), problem=NeymanPearson(0.3)), job_of(dataset="other")):
        assert Estimates(store(*past)).seconds(job) == pytest.approx(3.0)


@pytest.mark.parametrize(("n_samples", "is_known"), [(790, True), (4000, False), (40, False)])
def test_one_size_reaches_a_factor_of_two(n_samples, is_known):
    frame = store((job_of(), true_seconds(job_of(), 2.0)))
    assert (Estimates(frame).seconds(job_of(n_samples=n_samples)) is not None) is is_known


def test_nothing_comparable_is_no_estimate():
    failed = store((job_of(), {"seconds": 1.0, "select_seconds": 0.5, "fit_seconds": 0.1, "status": "failed"}))
    assert Estimates(failed).seconds(job_of()) is None
    other = store((job_of(), {**true_seconds(job_of(), 1.0), "solver": "another"}))
    assert Estimates(other).seconds(job_of()) is None


@pytest.mark.parametrize(
    "damage",
    [
        {"search": '{"C":1}'},
        {"protocol": "other"},
        {"protocol_params": '{"share":0.5}'},
        {"protocol_params": '{"folds":0}'},
    ],
)
def test_records_of_other_versions_are_left_out(damage):
    times = {"seconds": 3.0, "select_seconds": 2.0, "fit_seconds": 0.5}
    other = store((job_of(), times)).with_columns(**{name: pl.lit(value) for name, value in damage.items()})
    assert Estimates(other).seconds(job_of()) is None


def test_work_follows_the_protocol():
    grid = {"C": [1, 2, 3], "gamma": [1, 2]}
    holdout = work_of(grid, Holdout(0.25, 0.25), 100)
    assert (holdout.train, holdout.fits, holdout.fit_rows) == (50, 6, 50)
    left_out = work_of(grid, Permutations(n_train=20), 100)
    assert (left_out.train, left_out.fits, left_out.fit_rows) == (20, 120, 19)
    official = work_of({}, Official((0, 20), 0.25), 100)
    assert (official.train, official.fits) == (60, 0)


def test_records_without_stages_scale_as_a_whole():
    times = {"seconds": 41.0, "select_seconds": None, "fit_seconds": None}
    frame = store((job_of(candidates=10, folds=4), times)).with_columns(
        pl.col("select_seconds", "fit_seconds").cast(pl.Float64)
    )
    assert Estimates(frame).seconds(job_of(candidates=20, folds=4)) == pytest.approx(81.0, rel=0.05)
