"""Selections that share work among candidates, against one fit after another."""

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from class_samples import shuffled
from npbench import registry
from npbench.contracts import resolve
from npbench.data import BinaryData
from npbench.estimators import kernel_sample
from npbench.evaluation.grids import combinations
from npbench.evaluation.protocols import CrossValidation, Holdout
from npbench.evaluation.selection import grid_search
from npbench.numerics.gram import Kernel
from npbench.problem import NeymanPearson, PartialAUC, Problem
from selection_checks import sample
from solver_variants import solver


@dataclass
class Case:
    """A solver with a selection of its own, on samples for which its candidates differ."""

    name: str
    params: dict[str, Any]
    search: dict[str, list[Any]]
    problem: Problem
    data: tuple[np.ndarray, np.ndarray]

    def make(self, **params):
        return solver(self.name, **self.params, **params)

    @property
    def select(self):
        return resolve(registry.installed().solver(self.name).selection)

    def folds(self, protocol=CrossValidation(folds=3)):  # noqa: B008
        return protocol.split(BinaryData(*self.data, "toy"), 0, 0).folds

    def __str__(self):
        return self.name


NP, COSTS = NeymanPearson(0.1), [0.01, 0.3, 10.0]
AC_SVM = {"C_pos": COSTS, "C_neg": COSTS, "gamma": COSTS}
BY_KERNEL = [
    Case("ac_svm", {"tol": 1e-5}, AC_SVM, NP, sample()),
    Case("np_svm", {"rho": 0.1, "tol": 1e-8}, {"C": [0.01, 0.1, 1.0, 10.0], "gamma": COSTS}, NP, sample()),
]
TOP, WIDE = {"fpr_range": (0.0, 0.2), "tol": 1e-9}, shuffled(60, 240, shift=1.0, d=10)
BY_PLANES = [
    Case("svm_perf", {"tol": 1e-10}, {"C": COSTS, "k_share": [0.1, 0.5, 1.0]}, NP, shuffled(64, 96, shift=2.0)),
    Case("pauc_struct", TOP, {"C": COSTS, "surrogate": ["tight", "naive"]}, PartialAUC((0.0, 0.2)), WIDE),
]
LOOSE = Case("ac_svm", {}, AC_SVM, NP, sample())
SHARING = [*BY_KERNEL, *BY_PLANES, LOOSE]


@pytest.fixture
def shared(monkeypatch):
    """Fail where a selection falls back on independent fits."""

    def refuse(*_, **__):
        raise AssertionError("fell back")

    for case in SHARING:
        monkeypatch.setattr(sys.modules[case.select.__module__], "grid_search", refuse)


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("case", SHARING, ids=str)
@pytest.mark.parametrize(
    ("storage", "protocol"),
    [(np.asarray, CrossValidation(folds=3)), (sp.csr_array, Holdout())],
    ids=["dense cv", "sparse holdout"],
)
def test_losses_are_those_of_independent_fits(case, protocol, storage):
    X, y = case.data
    asked = case.make, storage(X), y, case.folds(protocol), case.problem, case.search
    one, other = case.select(*asked), grid_search(*asked)
    assert len(set(one.losses)) > 3
    if case.name == "np_svm" or case is LOOSE:
        # For one candidate, rounding may send a nonconvex search another way, and a loose tolerance move a label.
        assert np.sum(~np.isclose(one.losses, other.losses, rtol=0, atol=1e-12)) <= 1
        assert one.n_candidates == other.n_candidates == len(one.losses)
        assert one.loss == min(one.losses)
        assert one.params == other.params or case is not LOOSE
    else:
        assert one == other


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("case", SHARING, ids=str)
def test_threads_unused_rows_and_the_order_of_grids_change_nothing(case):
    X, y = case.data
    one = case.select(case.make, X, y, case.folds(), case.problem, case.search)
    used = np.unique(np.concatenate([part for fold in case.folds() for part in fold]))
    spoilt, labels = np.full_like(X, np.nan), np.zeros_like(y)
    spoilt[used], labels[used] = X[used], y[used]
    assert case.select(case.make, spoilt, labels, case.folds(), case.problem, case.search, n_threads=2) == one
    back = {name: values[::-1] for name, values in reversed(case.search.items())}
    found = case.select(case.make, X, y, case.folds(), case.problem, back)
    here, there = (
        {frozenset(params.items()): loss for params, loss in zip(combinations(search), its.losses, strict=True)}
        for search, its in ((case.search, one), (back, found))
    )
    assert here == there


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", BY_PLANES, ids=str)
def test_unconverged_fits_are_counted_and_one_cost_falls_back(case):
    X, y = case.data
    hasty = partial(case.make, max_iter=1), X, y, case.folds(), case.problem, case.search
    assert case.select(*hasty).n_unconverged == grid_search(*hasty).n_unconverged > 0
    for costs in ({"C": [1.0]}, {}):
        others = {name: grid for name, grid in case.search.items() if name != "C"}
        asked = case.make, X, y, case.folds(), case.problem, others | costs
        assert case.select(*asked) == grid_search(*asked)


@pytest.mark.parametrize("case", BY_KERNEL, ids=str)
def test_precomputed_matrix_is_refused(case):
    X, y = case.data
    costs = {name: grid for name, grid in case.search.items() if name != "gamma"}
    make = partial(case.make, kernel="precomputed")
    with pytest.raises(ValueError, match="square Gram matrix"):
        case.select(make, rbf_kernel(X), y, case.folds(), case.problem, costs)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("case", BY_KERNEL, ids=str)
def test_kernels_are_computed_once(case, monkeypatch):
    """Distances once for all of the 120 rows in use, exponentials once for each gamma."""
    X, y = case.data
    products, exponentials = [], []
    distances, exponential = kernel_sample.squared_distances, Kernel.of_squared_distances

    def counted_distances(X, *more):
        products.append(len(X))
        return distances(X, *more)

    def counted_exponential(kernel, *of):
        exponentials.append(kernel.gamma)
        return exponential(kernel, *of)

    monkeypatch.setattr(kernel_sample, "squared_distances", counted_distances)
    monkeypatch.setattr(Kernel, "of_squared_distances", counted_exponential)
    case.select(case.make, X, y, case.folds(), case.problem, case.search)
    assert products == [120]
    assert sorted(exponentials) == case.search["gamma"]
