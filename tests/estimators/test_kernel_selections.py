"""Rows and kernels of folds against NumPy's indexing, and the selections that share them against fit after fit."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from npbench.estimators import ramp_selection
from npbench.estimators.kernel_sample import MAX_RUNS, block, ordered_by_fold
from npbench.evaluation.selection import grid_search
from npbench.problem import QValue
from npbench_ac_svm import selection as ac_selection
from npbench_ac_svm.estimator import ACSVM
from npbench_np_svm.estimator import NPSVM
from npbench_q_svm.estimator import QSVM
from npbench_uzawa.estimator import UzawaSVM
from selection_checks import CV, HOLDOUT, PROBLEM, X, Y, forbid_fallback

GAMMAS = [0.01, 0.3, 10.0]
COSTS = [0.01, 0.3, 10.0]
MODULES = {ACSVM: ac_selection, **dict.fromkeys((NPSVM, QSVM, UzawaSVM), ramp_selection)}
PRECISE = {ACSVM: partial(ACSVM, tol=1e-5), NPSVM: partial(NPSVM, rho=0.1, tol=1e-8)}
COST = {ACSVM: "C_neg", NPSVM: "C"}


@pytest.mark.parametrize("folds", [CV, HOLDOUT], ids=["folds", "holdout"])
def test_validation_parts_are_consecutive_rows_of_the_same_folds(folds):
    rows, local = ordered_by_fold(folds)
    for (fit, validate), (local_fit, local_validate) in zip(folds, local, strict=True):
        assert set(rows[local_fit]) == set(fit)
        assert set(rows[local_validate]) == set(validate)
        assert np.all(np.diff(local_validate) == 1)
        assert (np.diff(local_fit) != 1).sum() <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("stride", [1, 2])
def test_blocks_are_those_of_indexing(dtype, stride):
    gram = np.random.default_rng(0).normal(size=(200, 200)).astype(dtype)
    rows = np.r_[3:40:stride, 90:199:stride]
    columns = np.random.default_rng(1).permutation(200)[: MAX_RUNS + 70]
    for some in (rows, columns):
        np.testing.assert_array_equal(block(gram, rows, some), gram[np.ix_(rows, some)])
        np.testing.assert_array_equal(block(gram, some, some), gram[np.ix_(some, some)])


@pytest.fixture
def shared(monkeypatch):
    for module in (ac_selection, ramp_selection):
        forbid_fallback(monkeypatch, module)


def both(make, folds, problem, search):
    """Return what the selection of an estimator finds, and independent fits."""
    select = MODULES[make.func].select
    return [method(make, X, Y, folds, problem, search) for method in (select, grid_search)]


def assert_same_choice(one, other):
    """Equal losses for all candidates but one, where rounding may send the nonconvex search another way."""
    changed = ~np.isclose(one.losses, other.losses, rtol=0, atol=1e-12)
    assert changed.sum() <= 1
    assert one.n_candidates == other.n_candidates == len(one.losses)
    assert one.loss == min(one.losses)
    if not changed.any():
        assert (one.params, one.n_unconverged) == (other.params, other.n_unconverged)


SEARCHES = {
    "poly": ({"kernel": "poly", "gamma": 0.5}, {"degree": [2, 3], "coef0": [0.5, 2.0]}),
    "auto": ({"gamma": "auto"}, {}),
    "two kernels": ({"gamma": 0.3}, {"kernel": ["poly", "rbf"]}),
    "callable": ({"kernel": partial(rbf_kernel, gamma=0.3)}, {}),
    "max_iter": ({"gamma": 0.3, "max_iter": 10}, {}),
}
OWN = {
    ACSVM: [({"gamma": 0.3}, {"C_pos": COSTS}), ({"C_pos": 1.0}, {"gamma": GAMMAS})],
    NPSVM: [
        ({"kernel": "linear"}, {}),
        ({"gamma": 0.3}, {"kernel": ["linear", "rbf"]}),
        ({"gamma": 0.3}, {"eta": [0.5, 1.0]}),
        ({"gamma": 0.3, "max_iter": 3}, {}),
    ],
}


@pytest.mark.one_in(4)
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("kind", "fixed", "search"), [(kind, *one) for kind in OWN for one in (*SEARCHES.values(), *OWN[kind])]
)
def test_other_parameters_are_searched_too(kind, fixed, search):
    one, other = both(partial(PRECISE[kind], **fixed), CV, PROBLEM, {**search, COST[kind]: COSTS})
    if kind is NPSVM:
        assert_same_choice(one, other)
    elif "max_iter" in fixed:  # the fits stop at other points
        assert one.n_unconverged > 2
    else:
        assert one == other


WITHOUT = {
    "no cost": ({}, {"gamma": GAMMAS}),
    "small cache": ({"cache_size": 1e-3, "n_components": None}, {"gamma": [0.3], "cost": COSTS}),
    "scale": ({}, {"cost": COSTS}),
    "scale among others": ({"gamma": 0.3}, {"gamma": ["scale", 0.3], "cost": [0.1, 1.0]}),
}
OWN_WITHOUT = {
    ACSVM: [
        ({"kernel": "linear", "random_state": 0, "tol": 1e-3}, {"C_pos": COSTS, "cost": COSTS}),
        ({"gamma": 0.3, "random_state": 0, "tol": 1e-3}, {"kernel": ["linear", "rbf"], "cost": COSTS}),
    ],
    NPSVM: [
        ({"C": 0.1}, {"gamma": GAMMAS, "cost": [1.0]}),
        ({"kernel": "poly", "coef0": 1.0}, {"cost": [0.1, 1.0]}),
    ],
}


@pytest.mark.one_in(4)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kind", "fixed", "search"), [(k, *one) for k in OWN_WITHOUT for one in (*WITHOUT.values(), *OWN_WITHOUT[k])]
)
def test_fallback_fits_every_candidate(kind, fixed, search, monkeypatch):
    calls = []
    monkeypatch.setattr(MODULES[kind], "grid_search", lambda *given: (calls.append(1), grid_search(*given))[1])
    named = {COST[kind] if name == "cost" else name: grid for name, grid in search.items()}
    one, other = both(partial(PRECISE[kind], **fixed), CV, PROBLEM, named)
    assert one == other
    assert calls == [1]


@pytest.mark.usefixtures("shared")
def test_searches_start_where_those_of_the_smaller_costs_ended(monkeypatch):
    starts, ends, inner = [], [], NPSVM.search

    def recorded(self, svm):
        starts.append((svm.x.copy(), svm.f_0))
        found = inner(self, svm)
        ends.append((svm.x.copy(), svm.f_0))
        return found

    monkeypatch.setattr(NPSVM, "search", recorded)
    ramp_selection.select(PRECISE[NPSVM], X, Y, HOLDOUT, PROBLEM, {"C": COSTS, "gamma": [0.3]})
    assert len(starts) == len(COSTS)
    np.testing.assert_array_equal(starts[0], 0.0)
    np.testing.assert_array_equal(starts[1:], ends[:-1])
    K = rbf_kernel(X[HOLDOUT[0][0]], gamma=0.3)
    for x, f_0 in starts:
        np.testing.assert_allclose(f_0, K @ x, atol=1e-9)
    sizes = [np.abs(x).sum() for x, _ in starts]
    assert all(one < other for one, other in pairwise(sizes))


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("make", "problem", "typical"),
    [
        (partial(NPSVM, rho=0.1), PROBLEM, 0.02),
        (partial(QSVM, q=0.1), QValue(0.1), 0.05),
        (partial(UzawaSVM, rho=0.1, tol=1e-8), PROBLEM, 0.02),
    ],
    ids=["np_svm", "q_svm", "uzawa"],
)
def test_quick_searches_give_nearly_the_losses_of_independent_fits(make, problem, typical):
    """Losses of another local minimum differ by a few of the 64 positives."""
    quick, slow = both(make, CV, problem, {"C": [0.01, 0.1, 1.0, 10.0], "gamma": GAMMAS})
    assert np.median(np.abs(np.subtract(quick.losses, slow.losses))) <= typical
    assert quick.loss <= slow.loss + typical
    assert slow.losses[int(np.argmin(quick.losses))] <= slow.loss + 2 * typical
    assert abs(quick.n_unconverged - slow.n_unconverged) <= 3


@pytest.mark.parametrize(
    "params", [{}, {"tol": 1e-5}, {"update": "gradient"}, {"init_seed": 0}, {"eta": 20.0}], ids=str
)
def test_only_the_default_search_is_quick(params, monkeypatch):
    called = []
    inner = ramp_selection._quick
    monkeypatch.setattr(ramp_selection, "_quick", lambda *of: called.append(0) or inner(*of))
    make = partial(NPSVM, rho=0.1, max_iter=5, **params)
    ramp_selection.select(make, X, Y, HOLDOUT, PROBLEM, {"C": [0.1, 1.0], "gamma": [0.3]})
    assert bool(called) == (params == {})
