"""Search over kernels: a strategy under each, then the best result."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from npbench.estimators.kernel import KernelClassifier
from npbench.estimators.kernel_sample import KernelSample
from npbench.evaluation.splits import Fold
from npbench.numerics.gram import Kernel
from npbench_two_nu_svm.candidates import Candidate, Grid, Plane, Rank
from npbench_two_nu_svm.estimates import Estimate, Folds, LeaveOneOut, count, leave_out_one_each
from npbench_two_nu_svm.strategies import Strategy


class Visited(NamedTuple):
    """A point estimated by a search, with its rates as counted, never smoothed."""

    seconds: float  # since the search began
    gamma: float
    nu_pos: float
    nu_neg: float
    p_fa: float
    p_nd: float


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

    ``folds`` estimate the rates, or leave-one-out if None, which folds of single rows imply too; ``n_threads`` kernels
    are searched at the same time. Kernels that are equal on the sample, such as very small bandwidths, are searched
    once. ValueError if a class has too few samples to hold some out.
    """
    if folds is not None and leave_out_one_each(folds, len(y)):
        folds = None
    _require_both_classes(y, folds)
    sample, start = KernelSample(X, kernels), time.perf_counter()

    def work(kernel: KernelClassifier) -> Found:
        trace: list[Visited] = []
        uncertain: list[Candidate] = []

        def note(one: Candidate, certain: bool) -> None:
            trace.append(Visited(time.perf_counter() - start, *one))
            if not certain:
                uncertain.append(one)

        K = sample.gram(kernel)
        estimate: Estimate = LeaveOneOut(K, y, tol) if folds is None else Folds(K, y, folds, tol)
        plane = Plane(estimate, grid, kernel.resolved_kernel(X).gamma, note)
        return Found(strategy(plane, rank), trace, len(uncertain))

    # kernels that are equal on the sample are searched once, as the first of them
    first: dict[Kernel, KernelClassifier] = {}
    for kernel in kernels:
        first.setdefault(sample.kernel(kernel), kernel)
    with ThreadPoolExecutor(n_threads) as pool:
        found = list(pool.map(work, first.values()))
    return Found(
        min((one.best for one in found), key=rank),
        [visited for one in found for visited in one.trace],
        sum(one.n_uncertain for one in found),
    )


def _require_both_classes(y: np.ndarray, folds: Sequence[Fold] | None) -> None:
    parts = [y] if folds is None else [y[fit] for fit, _ in folds] + [y[np.concatenate([out for _, out in folds])]]
    fewest = np.min([count(part) for part in parts], axis=0)
    for n_samples, name in zip(fewest, ("positive", "negative"), strict=True):
        if n_samples < (2 if folds is None else 1):
            raise ValueError(
                f"Too few {name} samples to estimate error rates: use more data, or set nu_pos, nu_neg and gamma to "
                "numbers, so that nothing is searched."
            )
