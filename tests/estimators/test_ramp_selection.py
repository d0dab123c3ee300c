"""The selection that shares work against one fit after another."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from npbench.estimators import ramp_selection as selection
from npbench.estimators.ramp_selection import select
from npbench.evaluation.selection import grid_search
from npbench.problem import QValue
from npbench_np_svm.estimator import NPSVM
from npbench_q_svm.estimator import QSVM
from selection_checks import CV, HOLDOUT, PROBLEM, X, Y, forbid_fallback

COSTS = [0.01, 0.1, 1.0, 10.0]
GAMMAS = [0.01, 0.3, 10.0]
precise = partial(NPSVM, rho=0.1, tol=1e-8)


def assert_same_choice(one, other):
    """Equal losses for all candidates but one, where rounding may send the nonconvex search another way."""
    changed = ~np.isclose(one.losses, other.losses, rtol=0, atol=1e-12)
    assert changed.sum() <= 1
    assert one.n_candidates == other.n_candidates == len(one.losses)
    assert one.loss == min(one.losses)
    if not changed.any():
        assert (one.params, one.n_unconverged) == (other.params, other.n_unconverged)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("fixed", "search"),
    [
        ({"kernel": "linear"}, {"C": COSTS}),
        ({"kernel": "poly", "gamma": 0.5}, {"degree": [2, 3], "coef0": [0.5, 2.0], "C": COSTS}),
        ({"gamma": 0.3}, {"C": COSTS, "eta": [0.5, 1.0]}),
        ({"gamma": "auto"}, {"C": COSTS}),
        ({"gamma": 0.3}, {"kernel": ["linear", "rbf"], "C": COSTS}),
        ({"kernel": partial(rbf_kernel, gamma=0.3)}, {"C": COSTS}),
        ({"gamma": 0.3, "max_iter": 3}, {"C": COSTS}),
    ],
    ids=["linear", "poly", "eta", "auto", "two kernels", "callable", "max_iter"],
)
def test_other_parameters_are_searched_too(fixed, search):
    make = partial(precise, **fixed)
    assert_same_choice(select(make, X, Y, CV, PROBLEM, search), grid_search(make, X, Y, CV, PROBLEM, search))


@pytest.mark.parametrize(
    ("make", "search"),
    [
        (precise, {"gamma": GAMMAS}),
        (partial(precise, C=0.1), {"gamma": GAMMAS, "C": [1.0]}),
        (partial(precise, cache_size=1e-3), {"C": COSTS, "gamma": [0.3]}),
        (precise, {"C": COSTS}),
        (partial(precise, gamma=0.3), {"C": [0.1, 1.0], "gamma": ["scale", 0.3]}),
        (partial(precise, kernel="poly", coef0=1.0), {"C": [0.1, 1.0]}),
    ],
    ids=["no C", "one C", "small cache", "scale", "scale among others", "scale of poly"],
)
def test_fallback_fits_every_candidate(make, search):
    assert select(make, X, Y, CV, PROBLEM, search) == grid_search(make, X, Y, CV, PROBLEM, search)


@pytest.mark.usefixtures("shared")
def test_searches_start_where_those_of_the_smaller_costs_ended(monkeypatch):
    starts, ends, inner = [], [], NPSVM.search

    def recorded(self, svm):
        starts.append((svm.x.copy(), svm.f_0))
        found = inner(self, svm)
        ends.append((svm.x.copy(), svm.f_0))
        return found

    monkeypatch.setattr(NPSVM, "search", recorded)
    select(precise, X, Y, HOLDOUT, PROBLEM, {"C": COSTS, "gamma": [0.3]})
    assert len(starts) == len(COSTS)
    np.testing.assert_array_equal(starts[0], 0.0)
    np.testing.assert_array_equal(starts[1:], ends[:-1])
    K = rbf_kernel(X[HOLDOUT[0][0]], gamma=0.3)
    for x, f_0 in starts:
        np.testing.assert_allclose(f_0, K @ x, atol=1e-9)
    sizes = [np.abs(x).sum() for x, _ in starts]
    assert all(one < other for one, other in pairwise(sizes))


@pytest.fixture
def shared(monkeypatch):
    forbid_fallback(monkeypatch, selection)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("make", "problem", "typical"),
    [(partial(NPSVM, rho=0.1), PROBLEM, 0.02), (partial(QSVM, q=0.1), QValue(0.1), 0.05)],
    ids=["np_svm", "q_svm"],
)
def test_quick_searches_give_nearly_the_losses_of_independent_fits(make, problem, typical):
    """Losses of another local minimum differ by a few of the 64 positives."""
    search = {"C": COSTS, "gamma": GAMMAS}
    quick, slow = (method(make, X, Y, CV, problem, search) for method in (select, grid_search))
    assert np.median(np.abs(np.subtract(quick.losses, slow.losses))) <= typical
    assert quick.loss <= slow.loss + typical
    assert slow.losses[int(np.argmin(quick.losses))] <= slow.loss + 2 * typical
    assert abs(quick.n_unconverged - slow.n_unconverged) <= 3


@pytest.mark.parametrize(
    ("settings", "is_quick"),
    [
        ({}, True),
        ({"tol": 1e-5}, False),
        ({"update": "gradient"}, False),
        ({"init_seed": 0}, False),
        ({"eta": 20.0}, False),
    ],
    ids=str,
)
def test_only_the_default_search_is_quick(settings, is_quick, monkeypatch):
    called = []
    inner = selection._quick_path
    monkeypatch.setattr(selection, "_quick_path", lambda *of: called.append(0) or inner(*of))
    select(partial(NPSVM, rho=0.1, max_iter=5, **settings), X, Y, HOLDOUT, PROBLEM, {"C": [0.1, 1.0], "gamma": [0.3]})
    assert bool(called) == is_quick
