"""Model selection for the 2nu-SVM: the search of its ``fit`` on the folds of the protocol, and a grid search.

In a grid search one matrix of squared distances serves all bandwidths, one Gram matrix all candidates of a kernel, and
each fit on a fold starts from the solution for the candidate before.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.halving import halved
from npbench.estimators.kernel_sample import KernelSample, ordered_by_fold, search_by_kernel, shares_gram
from npbench.estimators.samples import rows_in
from npbench.evaluation import selection
from npbench.evaluation.grids import Grids, Make, combinations
from npbench.evaluation.splits import Folds
from npbench.numerics.rates import np_score
from npbench.problem import Problem
from npbench_two_nu_svm.candidates import Candidate, by_constraint
from npbench_two_nu_svm.estimator import TwoNuSVM
from npbench_two_nu_svm.reduced_hulls import DualNu, ReducedHulls
from npbench_two_nu_svm.strategies import BIAS_SHIFTED

SEARCHED = ("nu_pos", "nu_neg", "gamma")
ABOVE = 1e6  # added to the loss of a candidate above the bound, which comes after all others


def select(
    make: Make[TwoNuSVM], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Choose nu_pos, nu_neg and gamma as the estimator's strategy does, with error rates from the folds.

    Takes and returns the same as :func:`npbench.evaluation.selection.grid_search`, except that ``losses``
    is empty: the trace has the rates of every point visited on all rows, and ``n_candidates`` counts them. Folds of
    single rows give the rates of the estimator's leave-one-out. Kernels are the same on all folds: "scale" refers to
    all rows. Beyond ten bandwidths on 7000 samples, bandwidths are searched in rungs.
    """
    nus = {name: values for name, values in search.items() if name in SEARCHED and name != "gamma"}
    others = combinations({name: values for name, values in search.items() if name not in SEARCHED})
    estimators = [make(**params, **{name: search[name] for name in SEARCHED if name in search}) for params in others]
    if len(estimators) == 1 and not estimators[0].searches:
        return Selection(others[0], float("nan"))
    for estimator in estimators:
        estimator.require_rows(len(rows_in(folds)))  # of which the last rung has one Gram matrix
    found = []
    for params, estimator in zip(others, estimators, strict=True):
        gammas = estimator.gamma if np.ndim(estimator.gamma) else [estimator.gamma]
        # the rank of candidates and their losses must agree, and a bandwidth mean the same for all rows
        in_rungs = estimator.strategy not in BIAS_SHIFTED and not any(isinstance(one, str) for one in gammas)
        by_bandwidth = _by_bandwidth if in_rungs else _by_bandwidth.__wrapped__  # type: ignore[attr-defined]
        given = partial(make, **params, **nus)
        found.append(by_bandwidth(given, X, y, folds, problem, {"gamma": gammas}, n_threads))
    least = int(np.argmin([one.loss for one in found]))
    trace = [visited for one in found for visited in one.trace]
    params, n_unconverged = {**others[least], **found[least].params}, sum(one.n_unconverged for one in found)
    return Selection(params, found[least].loss, len(trace), n_unconverged, trace=trace)


@halved(70_000)  # ten bandwidths on 7000 samples
def _by_bandwidth(
    make: Make[TwoNuSVM], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Search nu under each bandwidth, with losses in the order of the ranks of what it visits."""
    estimator = make(gamma=[one["gamma"] for one in combinations(search)])
    rows = rows_in(folds)
    local_folds = [(np.searchsorted(rows, fit), np.searchsorted(rows, validate)) for fit, validate in folds]
    best, trace, n_uncertain = estimator.search(X[rows], y[rows], local_folds, n_threads)
    losses: dict[Any, float] = {}
    for one in trace:
        (above, loss), _ = by_constraint(estimator.rho)(Candidate(*one[1:]))
        losses[one.gamma] = min(losses.get(one.gamma, np.inf), ABOVE * above + loss)
    params = {"gamma": best.gamma, "nu_pos": best.nu_pos, "nu_neg": best.nu_neg}
    loss = np_score(best.p_nd, best.p_fa, estimator.rho)
    return Selection(params, loss, len(trace), n_uncertain, [losses.get(one, np.inf) for one in estimator.gamma], trace)


@halved(1_750_000)  # 250 candidates on 7000 samples
def grid_search(
    make: Make[TwoNuSVM], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Choose parameters by grid search, sharing work among the candidates.

    Takes and returns the same as :func:`npbench.evaluation.selection.grid_search`; ``n_threads`` kernels
    are searched at the same time. Falls back on it if the Gram matrix of all rows exceeds ``cache_size``, a kernel is
    not the same function on every fold, a candidate searches by itself, or a strategy shifts the intercept.
    """
    candidates = combinations(search)
    models = [make(**params) for params in candidates]
    rows, local_folds = ordered_by_fold(folds)
    alone = any(model.searches or model.strategy in BIAS_SHIFTED for model in models)
    if len(candidates) < 2 or alone or not shares_gram(models[0], search, len(rows)):
        return selection.grid_search(make, X, y, folds, problem, search, n_threads)
    # candidates that differ only in nu share a Gram matrix and start from each other's solutions
    y, sample = y[rows], KernelSample(X[rows], models)
    keys = [(sample.kernel(model), model.tol) for model in models]
    found = search_by_kernel(models, keys, sample, y, local_folds, problem.loss, _fit_fold, n_threads)
    return selection.least_loss(candidates, *found)


def _fit_fold(
    models: Sequence[TwoNuSVM], K: np.ndarray, y: np.ndarray, between: np.ndarray
) -> Iterator[tuple[np.ndarray, bool]]:
    hulls = ReducedHulls(K, y, models[0].tol)
    for model in models:
        found = hulls.solve(DualNu(float(model.nu_pos), float(model.nu_neg)))  # type: ignore[arg-type]
        yield between @ found.x + found.b, found.converged and not found.meet
