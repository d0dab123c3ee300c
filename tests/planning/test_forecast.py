import dataclasses

import polars as pl
import pytest
from misbehaving_jobs import gaussians, jobs

from npbench.evaluation.protocols import CrossValidation, Holdout, Permutations
from npbench.planning import forecast as module
from npbench.planning.forecast import STARTING_SECONDS, Estimates, count_reasons, forecast
from npbench.planning.plan import Jobs
from npbench.registry import installed
from sample_jobs import changed

(JOB,) = jobs(gaussians(), {"act": ""})


def job_of(*, n_samples=400, candidates=10, protocol=None, dataset="made"):
    return changed(
        JOB,
        dataset=dataset,
        search={"C": [float(value) for value in range(1, candidates + 1)]},
        protocol=protocol or CrossValidation(0.25, 4),
        n_samples=n_samples,
    )


def store(*timed):
    rows = [{**job.columns, "status": "ok", "seconds": seconds} for job, seconds in timed]
    return pl.DataFrame(rows, infer_schema_length=None)


def test_the_same_case_counts_before_others():
    others = (job_of(candidates=2), 100.0), (job_of(dataset="other"), 50.0), (job_of(n_samples=800), 70.0)
    same = [(job_of(), seconds) for seconds in (2.0, 3.0, 40.0)]
    assert Estimates(store(*others, *same)).seconds(job_of()) == 3.0


@pytest.mark.parametrize("candidates", [10, 20])
def test_the_same_parameters_count_before_others(candidates):
    slow = changed(job_of(), params={"cv": 4})
    timed = store((slow, 4100.0), *((job_of(), 41.0) for _ in range(3)))
    n_fits = 1 + 4 * candidates
    assert Estimates(timed).seconds(changed(job_of(candidates=candidates), params={"cv": 4})) == 100.0 * n_fits
    assert Estimates(timed).seconds(job_of(candidates=candidates)) == 1.0 * n_fits


@pytest.mark.parametrize(
    ("asked", "n_fits"),
    [
        ({"candidates": 1}, 1),
        ({"candidates": 20}, 81),
        ({"protocol": CrossValidation(0.5, 2)}, 21),
        ({"protocol": Holdout(0.25, 0.25)}, 11),
        ({"protocol": Permutations(n_train=20)}, 201),
        ({"protocol": Permutations(n_train=20, folds=5)}, 51),
    ],
)
def test_other_grids_and_protocols_take_seconds_for_each_fit(asked, n_fits):
    frame = store((job_of(candidates=5), 21 * 2.0))
    assert Estimates(frame).seconds(job_of(**asked)) == pytest.approx(2.0 * n_fits)


def test_nothing_comparable_is_no_estimate():
    failed = store((job_of(), 1.0)).with_columns(status=pl.lit("failed"))
    assert Estimates(failed).seconds(job_of()) is None
    gen = dataclasses.replace(JOB.request.solver, name="gen")
    other = store((changed(job_of(), solver=gen), 1.0), (job_of(n_samples=800), 1.0))
    assert Estimates(other).seconds(job_of()) is None


def test_jobs_that_share_a_search_fit_once_more_each():
    scorer, params = installed().solver("scorer"), {"estimator": "sklearn.svm.SVC", "search_by": "ranking"}
    thresholds = [{"threshold": rule} for rule in ("umbrella", "average")] + [{"threshold": "umbrella", "cv": 4}]
    planned = [changed(job_of(), solver=scorer, params=params | one) for one in thresholds]
    other = changed(job_of(), solver=scorer, params={**params, "estimator": "sklearn.svm.NuSVC"})
    frame = store((planned[0], 41.0))  # ten candidates on four folds, and a fit
    for asked, seconds in ((planned, 41 + 2), ([*planned, other], 2 * 41 + 2), ([JOB, planned[0], JOB], 41)):
        found = forecast(Jobs((job, [0]) for job in asked), frame, 1, None)
        assert found.seconds == pytest.approx(seconds, abs=3 * STARTING_SECONDS)
        assert found.seconds >= seconds


@pytest.mark.parametrize("search", ['{"C":5}', "{", "[1]"])
def test_damaged_records_are_left_out(search):
    frame = store((job_of(), 1.0)).with_columns(search=pl.lit(search))
    assert Estimates(frame).seconds(job_of()) is None


@pytest.mark.parametrize("rows", [1, 2, 100_000])
def test_reasons_do_not_depend_on_how_many_records_are_joined_at_a_time(rows, monkeypatch):
    monkeypatch.setattr(module, "ROWS_AT_A_TIME", rows)
    job = job_of()
    before = [
        (job.with_repeat(k), {"key": f"old {k}", "code": code}) for code in ("{}", '{"npbench":"1"}') for k in (0, 1, 2)
    ]
    kept = [(job.with_repeat(0), {"key": job.key_of(0)}), (job_of(dataset="other"), {"key": "other"})]
    records = [{**one.columns, "status": "ok", "error": None, "trace": None, **known} for one, known in before + kept]
    (found,) = count_reasons([(job, range(4))], pl.DataFrame(records, infer_schema_length=None), trace=False)
    changed_code = [count for why, count in found.items() if "code" in why]
    assert (found["done"], found["new"], changed_code) == (1, 1, [2])
