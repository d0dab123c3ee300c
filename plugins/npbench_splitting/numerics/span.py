"""Fewer coordinates where there are more features than samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from npbench_splitting.numerics.constraints import Ball, Constraint, HalfSpace

ROUNDING = 1e-14  # of the length of a sample
FREE_LIMIT = 10  # features that a ball leaves out, beyond which they are too many to set apart


@dataclass(frozen=True)
class Span:
    """The span of the samples and of what the constraints single out, which holds a minimiser if there is one.

    Losses and half-spaces do not see what is at right angles to it, and a ball only shrinks by it.

    Parameters
    ----------
    basis : array of shape (n_features, rank)
        Orthonormal columns.
    constraints : list of Constraint
        In coordinates of the basis.
    """

    basis: np.ndarray
    constraints: list[Constraint]

    def reduced(self, X: Any) -> np.ndarray:
        """Return samples in these coordinates, 0 where there is but rounding: it must not pass for a feature."""
        Z = np.asarray(X @ self.basis)
        Z[np.abs(Z) <= ROUNDING * np.linalg.norm(Z, axis=1, keepdims=True)] = 0.0
        return Z

    @classmethod
    def of(cls, X_pos: Any, X_neg: Any, constraints: Sequence[Constraint]) -> Span | None:
        """Return the span, None where it is no smaller than the whole space. O(n^2 n_features)."""
        n_features = X_pos.shape[1]
        normals = [c.normal for c in constraints if isinstance(c, HalfSpace)]
        counted = np.ones(n_features, dtype=bool)
        for c in constraints:
            if isinstance(c, Ball) and c.features is not None:
                counted &= np.isin(np.arange(n_features), c.features)
        free = np.flatnonzero(~counted)
        if X_pos.shape[0] + X_neg.shape[0] + len(normals) + len(free) >= n_features or len(free) > FREE_LIMIT:
            return None
        rows = np.vstack([_dense(X_pos), _dense(X_neg), *normals])
        rows[:, free] = 0.0
        axes = np.zeros((n_features, len(free)))
        axes[free, np.arange(len(free))] = 1.0
        basis = np.hstack([axes, _range(rows.T)])
        return cls(basis, [_within(c, basis, free) for c in constraints])


def _range(A: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the range, without directions that are there by rounding only."""
    basis, triangle, _ = qr(A, mode="economic", pivoting=True)
    sizes = np.abs(triangle.diagonal())
    return basis[:, sizes > max(A.shape) * np.finfo(float).eps * sizes.max(initial=0.0)]


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


def _within(constraint: Constraint, basis: np.ndarray, free: np.ndarray) -> Constraint:
    if isinstance(constraint, HalfSpace):
        return HalfSpace(constraint.normal @ basis, constraint.bound)
    if isinstance(constraint, Ball) and constraint.features is not None:
        counted = np.flatnonzero(np.isin(free, constraint.features))
        return Ball(constraint.radius, np.concatenate([counted, np.arange(len(free), basis.shape[1])]))
    return constraint
