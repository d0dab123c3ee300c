"""DC programming for the partial AUC: the difference, descent, the certificate at its end."""

from functools import partial
from itertools import pairwise as neighbours

import cvxpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from class_samples import shuffled
from npbench.numerics.pauc_metrics import pairwise
from npbench.numerics.pauc_surrogates import HingeRisk
from npbench_pauc_dc.cccp import descend, scaled
from npbench_pauc_dc.estimator import PAUCDC
from npbench_pauc_struct.estimator import PAUCStruct

sample = partial(shuffled, shift=3.0)
X, Y = sample()
SPAN = (0.1, 0.3)  # ranks 17 to 48


def hinge_over_pairs(y, scores, first, last):
    best = np.sort(scores[y < 0])[::-1]
    return np.maximum(1 - scores[y > 0][:, None] + best[None, first:last], 0).mean()


@given(st.data(), st.integers(0, 10**6), st.integers(1, 30), st.integers(2, 50), st.sampled_from([0, 6]))
def test_risk_is_the_mean_over_pairs_and_majorants_touch_it(data, seed, m, n, decimals):
    last = data.draw(st.integers(2, n))
    first = data.draw(st.integers(1, last - 1))
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, -1], [m, n]))
    sizes = [data.draw(st.sampled_from([0.1, 1.0, 30.0])) for _ in range(2)]
    here, there = (np.round(size * rng.normal(size=m + n), decimals) for size in sizes)
    risk = HingeRisk(y, first, last)
    for scores in (here, there):
        assert risk(scores) == pytest.approx(hinge_over_pairs(y, scores, first, last), rel=1e-9, abs=1e-9)
    majorant = risk.majorant(here)
    assert majorant(here)[0] == pytest.approx(risk(here), rel=1e-9, abs=1e-9)
    assert majorant(there)[0] >= risk(there) - 1e-8 * (1 + n / (last - first))
    value, gradient = majorant(here)
    assert majorant(there)[0] >= value + gradient @ (there - here) - 1e-8 * (1 + n * n / (last - first))


def exact_step(Z, y, w, first, last, C):
    """Return the least of the objective with the subtracted part linearised at w, by a conic solver."""
    s, k = Z @ w, last - first
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    best = negative[np.argsort(-s[negative], kind="stable")[:first]]
    active = (1 - s[positive][:, None] + s[best][None]) > 0
    slope = np.zeros(len(y))
    slope[positive], slope[best] = -active.sum(axis=1), active.sum(axis=0)
    count = active.sum()
    v = cvxpy.Variable(Z.shape[1])
    worst = cvxpy.Variable(len(positive), nonneg=True)
    m = len(positive)
    # The sum of the `last` largest of the hinges (1 - s_i + s_j)_+ is the largest over counts of the best negatives.
    limits = [worst >= r * (1 - Z[positive] @ v) + cvxpy.sum_largest(Z[negative] @ v, r) for r in range(1, last + 1)]
    concave = (count + (Z.T @ slope) @ v) / (m * k)
    objective = 0.5 * cvxpy.sum_squares(v) + C * (cvxpy.sum(worst) / (m * k) - concave)
    problem = cvxpy.Problem(cvxpy.Minimize(objective), limits)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("seed", "C"), [(0, 1.0), (1, 10.0), (2, 100.0)])
def test_one_exact_step_from_the_end_gains_nothing(seed, C):
    Z, y = sample(15, 40, d=3, seed=seed)
    model = PAUCDC(fpr_range=(0.1, 0.3), C=C, tol=1e-5).fit(Z, y)
    w = model.coef_[0]
    reached = 0.5 * w @ w + C * hinge_over_pairs(y, Z @ w, 4, 12)
    assert model.objective_ == pytest.approx(reached, rel=1e-9)
    assert exact_step(Z, y, w, 4, 12, C) >= reached * (1 - 1.1e-5)
    assert model.duality_gap_ <= 1e-5 * reached


@given(st.integers(0, 10**6), st.sampled_from([0.1, 10.0, 1e4]), st.sampled_from([1.0, 2.0, 4.0]), st.booleans())
def test_the_objective_never_increases_from_anywhere(seed, C, shift, rounded):
    Z, y = sample(20, 100, shift=shift, d=3, seed=seed)
    Z = np.round(Z) if rounded else Z
    w = np.random.default_rng(seed).normal(size=3)
    risk = HingeRisk(y, 5, 20)
    found = descend(Z, risk, C, w, tol=1e-4, max_iter=30)
    objectives = [0.5 * w @ w + C * risk(Z @ w), *(step.objective for step in found.trace), found.objective]
    assert all(after <= before for before, after in neighbours(objectives))
    reached = 0.5 * found.weights @ found.weights + C * hinge_over_pairs(y, Z @ found.weights, 5, 20)
    assert found.objective == pytest.approx(reached, rel=1e-9)
    assert found.status != "converged" or found.gap <= 1e-4 * found.objective


def test_result_is_no_worse_than_its_start():
    struct, dc = PAUCStruct(fpr_range=SPAN, C=100.0).fit(X, Y), PAUCDC(fpr_range=SPAN, C=100.0).fit(X, Y)
    w = struct.coef_[0]
    start = 0.5 * w @ w + 100.0 * hinge_over_pairs(Y, X @ w, 16, 48)
    assert (dc.status_, dc.converged_) == ("converged", True)
    assert dc.trace_[0].objective == pytest.approx(start)
    assert dc.objective_ < 0.95 * start
    assert dc.n_iter_ == len(dc.trace_) > 1


def test_a_range_from_zero_is_convex_and_the_structural_svm():
    struct, dc = PAUCStruct(C=10.0).fit(X, Y), PAUCDC(C=10.0).fit(X, Y)
    np.testing.assert_array_equal(dc.coef_, struct.coef_)
    assert (dc.objective_, dc.duality_gap_) == (struct.objective_, struct.duality_gap_)


@pytest.mark.slow  # six fits to 1650 samples; answers are compared in every run, and this is about their time
@pytest.mark.any_processor
def test_warm_starts_take_fewer_planes_than_cold_ones(monkeypatch):
    from npbench_pauc_dc import cccp

    samples = [sample(150, 1500, d=10, shift=2.5, seed=seed) for seed in range(3)]
    warm = [PAUCDC(fpr_range=(0.05, 0.15), C=100.0, tol=1e-5).fit(Z, y) for Z, y in samples]
    minimise = cccp.minimise

    def cold(*given, start, **settings):
        return minimise(*given, start=getattr(start, "w", start), **settings)

    monkeypatch.setattr(cccp, "minimise", cold)
    again = [PAUCDC(fpr_range=(0.05, 0.15), C=100.0, tol=1e-5).fit(Z, y) for Z, y in samples]
    for one, other in zip(warm, again, strict=True):
        assert other.objective_ == pytest.approx(one.objective_, rel=0.02)
    per_step = [np.mean([step.planes for model in models for step in model.trace_[1:]]) for models in (warm, again)]
    assert per_step[0] < 0.9 * per_step[1]


def test_continues_after_the_structural_svm_collapses():
    Z, y = sample(300, 3000, shift=2.0, d=10, seed=1)
    with pytest.warns(ConvergenceWarning, match="w = 0 is optimal"):
        struct = PAUCStruct(fpr_range=(0.02, 0.05), C=100.0).fit(Z, y)
    dc = PAUCDC(fpr_range=(0.02, 0.05), C=100.0).fit(Z, y)
    assert (struct.status_, dc.status_) == ("collapsed", "converged")
    assert dc.objective_ < 95.0
    areas = [pairwise(y, model.decision_function(Z), 0.02, 0.05).value for model in (dc, struct)]
    assert areas[0] > areas[1] - 0.01


def test_collapse_warns_and_still_ranks():
    Z, y = sample(300, 3000, shift=0.5, d=10)
    with pytest.warns(ConvergenceWarning, match="PAUCDC: no weights"):
        model = PAUCDC(fpr_range=(0.02, 0.05), C=10.0).fit(Z, y)
    assert (model.status_, model.converged_, model.objective_) == ("collapsed", False, 10.0)
    assert pairwise(y, model.decision_function(Z), 0.02, 0.05).value > 0.05


def test_start_is_scaled_to_its_least_objective():
    risk, w = HingeRisk(Y, 16, 48), X[Y > 0].mean(axis=0)

    def objective(v):
        return 0.5 * v @ v + 50.0 * hinge_over_pairs(Y, X @ v, 16, 48)

    best = scaled(X, risk, 50.0, 1e-2 * w)
    np.testing.assert_allclose(best / np.linalg.norm(best), w / np.linalg.norm(w))
    assert objective(best) <= min(objective(t * w) for t in np.geomspace(1e-2, 5.0, 40)) * 1.02
