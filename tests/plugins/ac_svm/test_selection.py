"""The selection that shares work against one fit after another."""

from functools import partial

import pytest
from sklearn.metrics.pairwise import rbf_kernel

from npbench.evaluation.selection import grid_search
from npbench_ac_svm import selection
from npbench_ac_svm.estimator import ACSVM
from npbench_ac_svm.selection import select
from selection_checks import CV, PROBLEM, X, Y, forbid_fallback

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
    if "max_iter" in fixed:  # the fits stop at other points
        assert one.n_unconverged > 10
    else:
        assert one == grid_search(make, X, Y, CV, PROBLEM, search)


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


@pytest.fixture
def shared(monkeypatch):
    forbid_fallback(monkeypatch, selection)
