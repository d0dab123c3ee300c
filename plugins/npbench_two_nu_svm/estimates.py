"""Estimates of the error rates of the 2nu-SVM under one kernel, by leave-one-out or by folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from npbench.evaluation.splits import Fold
from npbench.numerics.rates import rates
from npbench_two_nu_svm.reduced_hulls import Caps, ReducedHulls


class Rates(NamedTuple):
    """Estimated rates of a candidate."""

    p_fa: float  # if hulls meet, f = 0 and each sample is an error
    p_nd: float
    certain: bool  # every fit met its tolerance, and the sign of every margin is certain


class Estimate(Protocol):
    """Error rates as a function of the caps; each call starts from the solutions of the previous one."""

    @property
    def counts(self) -> Sequence[tuple[int, int]]:
        """Numbers of positives and negatives: of the sample, then of each part that is fitted."""

    def __call__(self, caps: Caps) -> Rates:
        """Return the rates under these caps."""


class LeaveOneOut:
    """Exact leave-one-out: each sample is scored by the classifier of all others, at least two of each class."""

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


def count(y: np.ndarray) -> tuple[int, int]:
    """Return the numbers of positives and of negatives."""
    return int(np.sum(y > 0)), int(np.sum(y < 0))


def leave_out_one_each(folds: Sequence[Fold], n: int) -> bool:
    """Return whether the folds are leave-one-out: each of n rows is validated once, alone, by a fit to all others."""
    if any(len(validate) != 1 for _, validate in folds):
        return False
    rows = np.arange(n)
    validated = np.sort([validate[0] for _, validate in folds])
    return np.array_equal(rows, validated) and all(np.array_equal(rows, np.sort(np.concatenate(f))) for f in folds)
