"""SVMs for the partial and the full AUC: against cutting planes and times of other programs, and their growth.

Reported figures are seconds of one core, for two Gaussians in 50 dimensions with a tenth of the samples positive. Their
means are not on record: shift and scale are such that the objectives are those reported, to within 2 %.
"""

import functools
import time

import numpy as np
import pytest

from benchmarks.asv.problems import gaussians
from npbench.estimators.pauc_linear import structural_svm
from npbench.numerics.bundle import minimise
from npbench.numerics.pauc_metrics import ranks_within
from npbench.numerics.pauc_surrogates import StructuralRisk
from npbench_auc_svm.estimator import AUCSVM
from npbench_pauc_dc.estimator import PAUCDC
from npbench_pauc_struct.estimator import PAUCStruct
from npbench_svm_perf.estimator import precision_at_k


def sample(n, d=50, shift=2.5, scale=1.0):
    X, y = gaussians(n, d, shift)
    return scale * X, y


# At shift 2 the optimum for the narrow range is w = 0: what takes most iterations.
@pytest.mark.parametrize(
    ("n", "fpr_range", "shift", "C"),
    [
        (10_000, (0.02, 0.05), 2.5, 10.0),
        (10_000, (0.02, 0.05), 2.0, 10.0),
        (10_000, (0.0, 0.1), 2.5, 100.0),
        (50_000, (0.0, 1.0), 2.5, 1.0),
        (50_000, (0.0, 1.0), 2.5, 10.0),
        (50_000, (0.0, 1.0), 2.5, 100.0),
        (50_000, (0.0, 1.0), 2.5, 1000.0),
    ],
)
def test_against_cutting_planes(side_by_side, n, fpr_range, shift, C):
    X, y = sample(n, shift=shift)
    fit = functools.partial(minimise, X, StructuralRisk(y, *ranks_within(int(np.sum(y < 0)), *fpr_range)), C, tol=1e-3)
    size = f"n={n} fpr_range={fpr_range} shift={shift:g} C={C:g}"
    ours, theirs = beside_cutting_planes(side_by_side, fit, "partial AUC", size, rounds=3)
    assert ours.status == "converged"
    assert ours.bound <= theirs.objective * (1 + 1e-12)


def beside_cutting_planes(side_by_side, fit, what, size, rounds):
    """Time a fit by the bundle method and by cutting planes; return both results."""
    plain = functools.partial(fit, method="plain")
    ours, theirs = fit(), plain()
    what, peer = f"{what}, {len(ours.trace)} iterations against {len(theirs.trace)}", "cutting planes"
    quality = ("objective", ours.objective, theirs.objective)
    side_by_side(fit, plain, what, size, peer, quality, rounds=rounds)
    return ours, theirs


@pytest.mark.parametrize("n", [50_000, 1_000_000])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.1), (0.02, 0.05)])
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_start_from_a_sample_against_cutting_planes(side_by_side, n, fpr_range, C):
    X, y = sample(n)
    ranks = ranks_within(int(np.sum(y < 0)), *fpr_range)
    fit = functools.partial(structural_svm, X, y, ranks, C, tol=1e-3, max_iter=1000)
    beside_cutting_planes(side_by_side, fit, "partial AUC from a sample", f"n={n} fpr_range={fpr_range} C={C:g}", 1)


@pytest.mark.parametrize("k_share", [0.5, 1.0])
@pytest.mark.parametrize(("n", "C"), [(10_000, 0.01), (10_000, 1.0), (10_000, 100.0), (100_000, 0.01)])
def test_precision_against_cutting_planes(side_by_side, n, k_share, C):
    """Ten Gaussian and otherwise rare binary features, standardised; 30 % positives that overlap."""
    random = np.random.default_rng(0)
    y = np.where(random.random(n) < 0.3, 1, -1)
    X = np.concatenate([random.normal(size=(n, 10)), random.random((n, 44)) < 0.1], axis=1)
    X[:, :10] += 0.35 * (y > 0)[:, None]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    risk = functools.partial(precision_at_k, y, round(k_share * int(np.sum(y > 0))))
    fit = functools.partial(minimise, X, risk, C, tol=1e-3)
    size, rounds = f"n={n} k_share={k_share:g} C={C:g}", 1 if n > 10_000 else 3
    assert beside_cutting_planes(side_by_side, fit, "precision at k", size, rounds)[0].status == "converged"


# Seconds and objectives: the authors' MATLAB code in Octave (eps 1e-3; 16, 63, 72 and 246 iterations; it was not run
# for larger C); SVMperf 3.00 (ROCArea, eps 1e-4 of the mean loss).
OVERLAPPING, APART, COLLAPSING = {"shift": 2.2, "scale": 1.1}, {"shift": 2.43, "scale": 1.22}, {"shift": 1.9}


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize(
    ("n", "fpr_range", "drawn", "C", "seconds", "objective"),
    [
        (10_000, (0.0, 0.1), OVERLAPPING, 1.0, 0.154, 0.889688),
        (10_000, (0.0, 0.1), OVERLAPPING, 10.0, 0.768, 7.80094),
        (10_000, (0.02, 0.05), COLLAPSING, 1.0, 2.43, 1.00069),
        (10_000, (0.02, 0.05), COLLAPSING, 10.0, 18.9, 10.0079),
        (50_000, (0.0, 1.0), APART, 1.0, 0.16, 0.27659),
        (50_000, (0.0, 1.0), APART, 10.0, 0.23, 1.47488),
        (50_000, (0.0, 1.0), APART, 100.0, 0.61, 11.4382),
        (50_000, (0.0, 1.0), APART, 1000.0, 3.93, 108.997),
    ],
)
def test_beside_reported_seconds(benchmark, n, fpr_range, drawn, C, seconds, objective):
    X, y = sample(n, **drawn)
    problem = X, StructuralRisk(y, *ranks_within(int(np.sum(y < 0)), *fpr_range)), C
    minimise(*problem, tol=1e-3)  # compiles
    found = benchmark.pedantic(minimise, args=problem, kwargs={"tol": 1e-3}, rounds=5)
    assert found.status == "converged"
    assert len(found.trace) < 60
    assert found.objective == pytest.approx(objective, rel=0.02)
    ours = benchmark.stats.stats.min
    benchmark.extra_info |= {"theirs_seconds": seconds, "theirs_objective": objective, "ratio": seconds / ours}
    benchmark.extra_info |= {"objective": found.objective, "n_iter": len(found.trace)}


ESTIMATORS = {
    "pauc_struct": PAUCStruct(fpr_range=(0.02, 0.05), C=10.0),
    "pauc_dc": PAUCDC(fpr_range=(0.02, 0.05), C=10.0),
    "auc_svm": AUCSVM(C=10.0),
}


@pytest.mark.parametrize("n", [10_000, 100_000, 500_000])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_growth(benchmark, name, n):
    X, y = sample(n, d=54)
    ESTIMATORS[name].fit(*sample(1000, d=54))
    model = benchmark.pedantic(ESTIMATORS[name].fit, args=(X, y), rounds=3)
    assert model.converged_
    benchmark.extra_info |= {"n_iter": model.n_iter_, "objective": model.objective_}
