"""The selection that shares work against one fit after another."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from npbench.evaluation.selection import grid_search
from npbench_ac_svm import selection
from npbench_ac_svm.estimator import ACSVM
from npbench_ac_svm.selection import select
from selection_checks import (
    CV,
    HOLDOUT,
    PROBLEM,
    X,
    Y,
    forbid_fallback,
)

COSTS = [0.01, 0.3, 10.0]
GAMMAS = [0.01, 0.3, 10.0]
GRID = {"C_pos": COSTS, "C_neg": COSTS, "gamma": GAMMAS}


precise = partial(ACSVM, tol=1e-5)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("fixed", "search"),
    [
        ({"gamma": 0.3}, {"C_pos": COSTS, "C_neg": COSTS}),
        ({"C_pos": 1.0}, {"gamma": GAMMAS, "C_neg": COSTS}),
        ({"kernel": "poly", "gamma": 0.5}, {"degree": [2, 3], "coef0": [0.5, 2.0], "C_neg": COSTS}),
        ({"gamma": "auto"}, {"C_neg": COSTS}),
        ({"gamma": 0.3}, {"kernel": ["poly", "rbf"], "C_neg": COSTS}),
        ({"kernel": partial(rbf_kernel, gamma=0.3)}, {"C_neg": COSTS}),
        ({"gamma": 0.3, "max_iter": 10}, {"C_pos": COSTS, "C_neg": COSTS}),
    ],
    ids=["costs", "one cost", "poly", "auto", "two kernels", "callable", "max_iter"],
)
def test_other_parameters_are_searched_too(fixed, search):
    make = partial(precise, **fixed)
    one = select(make, X, Y, CV, PROBLEM, search)
    assert one == grid_search(make, X, Y, CV, PROBLEM, search)
    if "max_iter" in fixed:
        assert one.n_unconverged > 10


@pytest.mark.parametrize(
    ("make", "search"),
    [
        (precise, {"gamma": GAMMAS}),
        (partial(precise, cache_size=1e-2), GRID),
        (precise, {"C_neg": COSTS}),
        (partial(precise, gamma=0.3), {"C_neg": [0.1, 1.0], "gamma": ["scale", 0.3]}),
        (partial(ACSVM, kernel="linear", random_state=0), {"C_pos": COSTS, "C_neg": COSTS}),
        (partial(ACSVM, gamma=0.3, random_state=0), {"C_neg": COSTS, "kernel": ["linear", "rbf"]}),
    ],
    ids=["no cost", "small cache", "scale", "scale among others", "linear", "linear among others"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fallback_fits_every_candidate(make, search, monkeypatch):
    calls = []
    monkeypatch.setattr(selection, "grid_search", lambda *given: (calls.append(1), grid_search(*given))[1])
    assert select(make, X, Y, CV, PROBLEM, search) == grid_search(make, X, Y, CV, PROBLEM, search)
    assert calls == [1]


@pytest.mark.usefixtures("shared")
def test_solution_below_its_costs_serves_higher_costs(monkeypatch):
    """With as good as orthogonal samples no multiplier exceeds 2, and what is fitted above are the unequal pairs."""
    fits = []
    inner = SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda self, *given: (fits.append(self.class_weight), inner(self, *given))[1])
    costs = [0.1, 5.0, 10.0, 100.0]
    found = select(precise, X, Y, HOLDOUT, PROBLEM, {"C_pos": costs, "C_neg": costs, "gamma": [1e6]})
    assert fits == [{-1: 0.1, 1: 0.1}, {-1: 0.1, 1: 5.0}, {-1: 5.0, 1: 5.0}]
    assert found.n_candidates == 16


def test_unconverged_solution_is_not_reused():
    made = [ACSVM(C_pos=C, C_neg=C) for C in (1.0, 2.0)]
    solution = selection._Solution((1.0, 1.0), (0.5, 0.5), np.zeros(3), converged=True)
    assert solution.serves(made[1])
    assert not solution._replace(converged=False).serves(made[1])
    assert not solution._replace(largest=(1.0, 0.5)).serves(made[1])
    assert not solution._replace(costs=(3.0, 3.0), largest=(2.5, 0.5)).serves(made[1])


@pytest.fixture
def shared(monkeypatch):
    forbid_fallback(monkeypatch, selection)
