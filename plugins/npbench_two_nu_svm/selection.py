"""Model selection for the 2nu-SVM: the search of its ``fit``, with rates from the folds of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.evaluation.grids import combinations
from npbench.evaluation.splits import Fold
from npbench.numerics.rates import np_score
from npbench.problem import Problem
from npbench_two_nu_svm.estimator import TwoNuSVM

SEARCHED = ("nu_pos", "nu_neg", "gamma")


def select(
    make: Callable[..., TwoNuSVM],
    X: Any,
    y: np.ndarray,
    folds: Sequence[Fold],
    problem: Problem,
    search: Mapping[str, Sequence[Any]],
    n_threads: int = 1,
) -> Selection:
    """Choose nu_pos, nu_neg and gamma as the estimator's strategy does, with error rates from the folds.

    Takes and returns the same as :func:`npbench.evaluation.selection.grid_search`, except that ``losses``
    is empty: the trace has the rates of every point visited, and ``n_candidates`` counts them. Folds of single rows
    give the rates of the estimator's leave-one-out. Kernels are the same on all folds: "scale" refers to all rows.
    """
    candidates = {name: values for name, values in search.items() if name in SEARCHED}
    others = combinations({name: values for name, values in search.items() if name not in SEARCHED})
    estimators = [make(**params, **candidates) for params in others]
    if len(estimators) == 1 and not estimators[0].searches:
        return Selection(others[0], float("nan"))
    rows = np.unique(np.concatenate([part for fold in folds for part in fold]))
    local_folds = [(np.searchsorted(rows, fit), np.searchsorted(rows, validate)) for fit, validate in folds]
    found = [estimator.search(X[rows], y[rows], local_folds, n_threads) for estimator in estimators]
    losses = [np_score(one.best.p_nd, one.best.p_fa, make().rho) for one in found]
    least = int(np.argmin(losses))
    gamma, nu_pos, nu_neg, _, _ = found[least].best
    return Selection(
        {**others[least], "gamma": gamma, "nu_pos": nu_pos, "nu_neg": nu_neg},
        losses[least],
        sum(len(one.trace) for one in found),
        sum(one.n_uncertain for one in found),
        trace=[visited for one in found for visited in one.trace],
    )
