"""Search over kernels: a strategy under each, with rates by leave-one-out or by folds, then the best result."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from npbench.estimators.kernel import KernelClassifier
from npbench.estimators.kernel_sample import KernelSample
from npbench.evaluation.splits import Fold
from npbench.numerics.gram import Kernel
from npbench.numerics.rates import rates
from npbench_two_nu_svm.candidates import Candidate, Counts, Grid, Plane, Rank, Rates, Visited
from npbench_two_nu_svm.reduced_hulls import Caps, ReducedHulls
from npbench_two_nu_svm.strategies import Strategy


class Found(NamedTuple):
    """Result of a search."""

    best: Candidate  # with the rates that ranked it, smoothed if the strategy smooths them
    trace: list[Visited]  # kernel by kernel
    n_uncertain: int  # points with a fit above its tolerance, or a margin of uncertain sign


def search(
    kernels: Sequence[KernelClassifier],
    X: Any,
    y: np.ndarray,
    folds: Sequence[Fold] | None,
    grid: Grid,
    strategy: Strategy,
    rank: Rank,
    tol: float,
    n_threads: int = 1,
) -> Found:
    """Return the best candidate under several kernels, from X of shape (n, d) and y in {-1, +1}.

    ``folds`` estimate the rates, or leave-one-out if None or if each fold is a single row; ``n_threads`` kernels
    are searched at the same time. Kernels that are equal on the sample, such as very small bandwidths, are searched
    once. ValueError if a class has too few samples to hold some out.
    """
    if folds is not None and leave_out_one_each(folds, len(y)):
        folds = None
    _require_both_classes(y, folds)
    sample, start = KernelSample(X, kernels), time.perf_counter()

    def work(kernel: KernelClassifier) -> Found:
        K = sample.gram(kernel)
        estimate = LeaveOneOut(K, y, tol) if folds is None else Folds(K, y, folds, tol)
        plane = Plane(estimate, estimate.counts, grid, kernel.resolved_kernel(X).gamma, start)
        return Found(strategy(plane, rank), plane.trace, plane.n_uncertain)

    # kernels that are equal on the sample are searched once, as the first of them
    first: dict[Kernel, KernelClassifier] = {}
    for kernel in kernels:
        first.setdefault(sample.kernel(kernel), kernel)
    with ThreadPoolExecutor(n_threads) as pool:
        found = list(pool.map(work, first.values()))
    trace = [visited for one in found for visited in one.trace]
    return Found(min((one.best for one in found), key=rank), trace, sum(one.n_uncertain for one in found))


def _require_both_classes(y: np.ndarray, folds: Sequence[Fold] | None) -> None:
    parts = [y] if folds is None else [y[fit] for fit, _ in folds] + [y[np.concatenate([out for _, out in folds])]]
    fewest = np.min([count(part) for part in parts], axis=0)
    for n_samples, name in zip(fewest, ("positive", "negative"), strict=True):
        if n_samples < (2 if folds is None else 1):
            raise ValueError(f"Too few {name} samples to estimate rates: use more, or set nu_pos, nu_neg and gamma.")


class LeaveOneOut:
    """Exact leave-one-out of at least two samples a class; each call starts from the solutions of the last."""

    def __init__(self, K: np.ndarray, y: np.ndarray, tol: float) -> None:
        n_pos, n_neg = count(y)
        self.counts = [(n_pos, n_neg), (n_pos - 1, n_neg), (n_pos, n_neg - 1)]
        self._y, self._hulls = y, ReducedHulls(K, y, tol)

    def __call__(self, caps: Caps) -> Rates:
        """Return the rates under these caps."""
        held_out = self._hulls.leave_one_out(caps)
        p_nd, p_fa = rates(self._y, self._y * held_out.margins)
        # a sign is in doubt within the bound on the error; hulls that meet have none
        doubtful = (np.abs(held_out.margins) <= held_out.doubt) & (held_out.doubt > 0)
        return Rates(p_fa, p_nd, not doubtful.any())


class Folds:
    """Cross-validation: each validation part is scored by a classifier of its fit part; rates pool all parts."""

    def __init__(self, K: np.ndarray, y: np.ndarray, folds: Sequence[Fold], tol: float) -> None:
        parts = [fit for fit, _ in folds]
        self.counts = [count(y[part]) for part in (np.unique(np.concatenate(parts)), *parts)]
        self._y = np.concatenate([y[validate] for _, validate in folds])
        self._hulls = [ReducedHulls(K[np.ix_(part, part)], y[part], tol) for part in parts]
        self._validation = [K[np.ix_(validate, fit)] for fit, validate in folds]

    def __call__(self, caps: Caps) -> Rates:
        """Return the rates under these caps."""
        solutions = [hulls.solve(caps) for hulls in self._hulls]
        scores = [K @ found.x + found.b for K, found in zip(self._validation, solutions, strict=True)]
        p_nd, p_fa = rates(self._y, np.concatenate(scores))
        return Rates(p_fa, p_nd, all(found.converged for found in solutions))


def count(y: np.ndarray) -> Counts:
    """Return the numbers of positives and of negatives."""
    return int(np.sum(y > 0)), int(np.sum(y < 0))


def leave_out_one_each(folds: Sequence[Fold], n: int) -> bool:
    """Return whether the folds are leave-one-out: each of n rows is validated once, alone, by a fit to all others."""
    if any(len(validate) != 1 for _, validate in folds):
        return False
    rows = np.arange(n)
    validated = np.sort([validate[0] for _, validate in folds])
    return np.array_equal(rows, validated) and all(np.array_equal(rows, np.sort(np.concatenate(f))) for f in folds)
