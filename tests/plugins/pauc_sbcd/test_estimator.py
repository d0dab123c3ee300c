"""Proximal block descent: its subgradients, what it reaches beside the concave-convex procedure, its certificate."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from class_samples import shuffled
from grids import slow
from npbench.numerics.pauc_metrics import ranks_within
from npbench.numerics.pauc_surrogates import HingeRisk
from npbench_pauc_dc.cccp import descend
from npbench_pauc_dc.estimator import PAUCDC
from npbench_pauc_sbcd.descent import Descent, _whitening
from npbench_pauc_sbcd.estimator import PAUCSBCD
from npbench_pauc_struct.estimator import PAUCStruct

X, Y = shuffled(shift=2.0)
RANKS, C = (8, 40), 10.0


def over_pairs(scores, y, first, last):
    """Return the sum over positives and the given ranks of negatives, for each positive and rank in the range."""
    best = np.sort(scores[y < 0])[::-1]
    return np.maximum(1 - scores[y > 0][:, None] + best[None, first:last], 0).sum() / np.sum(y > 0)


def descent(batch_size=1000, features=X, y=Y, ranks=RANKS):
    return Descent(features, y, ranks, C, batch_size, np.random.RandomState(0))


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("features", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_slopes_are_those_of_both_convex_parts(index, features):
    problem, u = descent(features=features), np.random.default_rng(0).normal(size=4)

    def part(u):
        w = problem._A @ u
        return index * 0.5 * w @ w + C * over_pairs(X @ w, Y, 0, RANKS[index]) / (RANKS[1] - RANKS[0])

    slope = problem._slope(u, features, Y, index, 0.0)
    np.testing.assert_allclose(slope, approx_fprime(u, part, 1e-7), rtol=1e-4, atol=1e-4)


def test_slopes_of_minibatches_have_the_mean_of_all():
    y = np.repeat([1, -1], [2000, 8000])
    Z = np.random.default_rng(0).normal(size=(10_000, 3)) + (y > 0)[:, None]
    problem, rng = descent(200, Z, y, (171, 823)), np.random.default_rng(0)
    for index in (0, 1):
        drawn = []
        for _ in range(500):
            rows = np.concatenate(problem._rows((200, 400)))
            drawn.append(problem._slope(np.ones(3), Z[rows], y[rows], index, rng.uniform()))
        whole = problem._slope(np.ones(3), Z, y, index, 0.0)
        assert np.linalg.norm(np.mean(drawn, axis=0) - whole) < 0.05 * np.linalg.norm(whole)


@pytest.mark.parametrize("features", [4, 1200])
def test_whitening_equals_the_variances_within_classes(features):
    rng = np.random.default_rng(0)
    scales = np.geomspace(1e-3, 1e3, features)
    samples = [rng.normal(size=(1000, features)) * scales + shift for shift in (0.0, 5.0)]
    A = _whitening(samples, 10.0)
    if features == 4:
        covariance = sum(np.cov(each.T, ddof=0) for each in samples) / 2 + np.eye(4) / 10
        np.testing.assert_allclose(A.T @ covariance @ A, np.eye(4), atol=1e-9)
    else:
        means = np.mean([(each**2).mean(axis=0) for each in samples], axis=0) + 0.1
        np.testing.assert_allclose(A.toarray(), np.diag(means**-0.5), rtol=1e-3)


def cases():
    cancer, malignant = load_breast_cancer(return_X_y=True)
    return {
        "apart": shuffled(100, 400, shift=3.0, d=6),
        "mixed": shuffled(200, 2000, shift=2.0, d=5, seed=1),
        "breast cancer": (scale(cancer), 1 - 2 * malignant),
        "minibatches": shuffled(1500, 6000, shift=2.5, d=8, seed=2),
    }


CASES = cases()


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("name", "span", "C"),
    [
        ("apart", (0.05, 0.2), 1.0),
        slow(("apart", (0.1, 0.3), 100.0)),
        slow(("mixed", (0.05, 0.2), 10.0)),
        slow(("breast cancer", (0.05, 0.2), 100.0)),
        ("minibatches", (0.02, 0.1), 10.0),
    ],
)
def test_the_objective_is_that_of_dc_programming_within_one_percent(name, span, C):
    Z, y = CASES[name]
    model = PAUCSBCD(fpr_range=span, C=C, max_iter=50, random_state=0).fit(Z, y)
    w, (first, last) = model.coef_[0], ranks_within(int(np.sum(y < 0)), *span)
    reached = 0.5 * w @ w + C * over_pairs(Z @ w, y, first, last) / (last - first)
    assert model.objective_ == pytest.approx(reached, rel=1e-9)
    assert reached <= 1.01 * PAUCDC(fpr_range=span, C=C).fit(Z, y).objective_
    # a convex problem that bounds the objective from above gains little
    exact = descend(Z, HingeRisk(y, first, last), C, w, tol=1e-4, max_iter=1)
    assert exact.gap <= 0.02 * reached


@pytest.mark.slow  # a hundred steps; another solver bounds the objective of a range above zero
def test_a_range_from_zero_is_convex():
    model = PAUCSBCD(fpr_range=(0.0, 0.2), C=10.0, random_state=0).fit(X, Y)
    assert model.objective_ <= 1.01 * PAUCStruct(fpr_range=(0.0, 0.2), C=10.0).fit(X, Y).objective_


def test_offsets_and_the_seed_decide_as_they_should():
    Z, y = CASES["minibatches"]
    models = [PAUCSBCD(random_state=seed, max_iter=2, tol=10.0) for seed in (0, 0, 1)]
    one, again, other = (model.fit(Z, y).decision_function(Z) for model in models)
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)
    far = PAUCSBCD(random_state=0, max_iter=2, tol=10.0).fit(Z + 1e7, y).decision_function(Z + 1e7)
    np.testing.assert_allclose(far, one, atol=1e-3 * np.ptp(one))


def test_collapse_warns_and_still_ranks():
    Z, y = shuffled(300, 3000, shift=0.3, d=10)
    with pytest.warns(ConvergenceWarning, match="w = 0"):
        model = PAUCSBCD(fpr_range=(0.02, 0.05), C=10.0, max_iter=10, random_state=0).fit(Z, y)
    assert (model.status_, model.converged_) == ("collapsed", False)
    assert model.objective_ >= 10.0
    scores = model.decision_function(Z)
    assert np.mean(scores[y > 0][:, None] > scores[y < 0]) > 0.55
