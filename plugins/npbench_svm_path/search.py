"""Paths on the folds of a sample, and scores of their classifiers on the held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from npbench.evaluation.splits import Fold
from npbench.numerics.centring import offsets
from npbench.numerics.gram import Gram, Kernel
from npbench_svm_path.choice import SAME_COST, Validated
from npbench_svm_path.numerics.path import CostPath
from npbench_svm_path.numerics.roc import by_asymmetry, by_intercept

# C_pos + C_neg on the entry line, in units of 1 / the variance of phi(x): ten a decade.
ENTRY_TOTALS = np.geomspace(1e-3, 1e2, 51)
TiedTotal = Literal["middle", "smallest"]


@dataclass(frozen=True)
class Sample:
    """A training sample under one kernel, with the input of its paths."""

    X: Any  # features, an array or a CSR matrix; for a precomputed kernel the Gram matrix
    y: np.ndarray
    kernel: Kernel
    rows: np.ndarray  # input of the paths: features or the Gram matrix
    by_features: bool

    @classmethod
    def of(cls, X: Any, y: np.ndarray, kernel: Kernel, n_threads: int = 1) -> Sample:
        """Compute the input of the paths."""
        # features where they are fewer than the samples or have offsets, else the Gram matrix
        has_offsets = not issparse(X) and offsets(X).any()  # sparse features may be too many to be stored in full
        if kernel.name == "linear" and (X.shape[1] < X.shape[0] or has_offsets):
            return cls(X, y, kernel, X.toarray() if issparse(X) else X, True)
        whole = Gram(X, kernel, 8 * X.shape[0] ** 2, n_threads).whole
        assert whole is not None  # the budget is its size
        return cls(X, y, kernel, whole, False)

    def path(self, fit: np.ndarray | None = None) -> CostPath:
        """Return the lines of the samples ``fit``, by default of all."""
        rows, y = (self.rows, self.y) if fit is None else (self.between(fit, fit), self.y[fit])
        return CostPath.linear(rows, y) if self.by_features else CostPath(rows, y)

    def between(self, validate: np.ndarray, fit: np.ndarray) -> np.ndarray:
        """Return the rows of ``validate`` that a line of the samples ``fit`` takes to score them."""
        rows = self.rows.take(validate, axis=0)
        return rows if self.by_features else rows.take(fit, axis=1)

    def values(self, X: Any) -> np.ndarray:
        """Return the rows of new samples that a line of all samples takes to score them."""
        if self.by_features:
            return X.toarray() if issparse(X) else X
        return self.kernel.between(X, self.X)

    @property
    def variance(self) -> float:
        """Mean squared distance of phi(x) to its mean; 1 if all are equal."""
        if self.by_features:
            found = float(self.rows.var(axis=0).sum())
        else:
            found = float(self.rows.diagonal().mean() - self.rows.mean())
        return found if found > 0 else 1.0


def costs_of(total: float, asymmetries: np.ndarray) -> np.ndarray:
    """Return (C_pos, C_neg) with the sum ``total`` for each training asymmetry C_pos / total, as rows."""
    return total * np.column_stack([asymmetries, 1 - asymmetries])


def validate(sample: Sample, folds: Sequence[Fold], totals: Sequence[float], trained: np.ndarray) -> Validated:
    """Score the held-out samples of each fold by the classifiers of its lines, the main one first."""
    parts = []
    for fit, held_out in folds:
        new, lines = sample.between(held_out, fit), sample.path(fit).lines(totals)
        scored = [line.scores(new, costs_of(total, trained)) for line, total in zip(lines, totals, strict=True)]
        parts.append(np.concatenate(scored))
    y, starts = _pooled(sample, folds)
    return Validated(y, starts, trained, np.hstack(parts))


def best_total(sample: Sample, folds: Sequence[Fold], asymmetry: float, rho: float | None, tied: TiedTotal) -> float:
    """Return the C_pos + C_neg whose classifier on the line C_pos n_pos = C_neg n_neg is best on held-out samples.

    Best is the least cost at an asymmetry or, with a bound on false alarms, the fewest misses at any threshold;
    ``tied`` selects one of equally good ones (Bach, Heckerman and Horvitz 2006, section 3.2).
    """
    totals = ENTRY_TOTALS / sample.variance
    parts = []
    for fit, held_out in folds:
        share_pos = float(np.mean(sample.y[fit] > 0))
        line = sample.path(fit).entry(totals[-1])
        costs = totals[:, None] * np.array([1 - share_pos, share_pos])
        parts.append(line.scores(sample.between(held_out, fit), costs))
    scores, (y, _) = np.hstack(parts), _pooled(sample, folds)
    if rho is None:
        points = by_asymmetry(y, scores)
        losses = asymmetry * points.misses + (1 - asymmetry) * points.false_alarms
    else:
        curves = [by_intercept(y, row) for row in scores]
        losses = np.array([curve.misses[curve.fewest_misses(rho)] for curve in curves])
    least = np.flatnonzero(losses <= losses.min() + SAME_COST)
    return float(totals[least[0 if tied == "smallest" else len(least) // 2]])


def _pooled(sample: Sample, folds: Sequence[Fold]) -> tuple[np.ndarray, np.ndarray]:
    parts = [held_out for _, held_out in folds]
    return sample.y[np.concatenate(parts)], np.cumsum([0, *map(len, parts[:-1])])
