"""Instance-wise minimax training for the partial AUC as a scikit-learn classifier."""

from __future__ import annotations

import time
from contextlib import suppress
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.linalg import norm
from scipy.optimize import minimize
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.utils import check_random_state

from npbench.estimators.constraints import COUNT, POSITIVE
from npbench.estimators.fpr_range import FprRangeClassifier, Step
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.pauc_linear import FeatureMapClassifier
from npbench.numerics.centring import offsets, without_offsets
from npbench.numerics.pauc_metrics import ranks_within
from npbench_pauc_minimax.minimax import Ranks, inner_solution
from npbench_pauc_minimax.stochastic import epochs

ROUNDING = 2.0  # factor of tol within which the recomputed imbalance must stay


@keyword_parameters
class PAUCMinimax(FprRangeClassifier, FeatureMapClassifier):
    """Scores in [0, 1] trained for the partial AUC, one-way or two-way, by a minimax problem over single samples.

    With ``f = 1 / (1 + exp(-(Xw + b)))``, minimises over w and b

        1/2 ||w||^2 + C F(f),

    where F is a smooth form of the mean of ``(1 - f_i + f_j)^2`` over the positives i and the negatives j that f ranks
    in ``tpr_range`` and ``fpr_range``:

        F(f) = min_{a,p,s,s'} max_g 1 - g^2 + s' + 1/k' sum_i r((f_i - a)^2 - 2(1 + g) f_i - s')
                                              + s + 1/k sum_j r((f_j - p)^2 + 2(1 + g) f_j - s)

    for ranges [lo, 1] and [0, hi], in which k' positives and k negatives rank, with ``r(x) = log(1 + exp(kappa x)) /
    kappa``. Not convex. A range that begins elsewhere takes the difference of two such sums.

    Parameters
    ----------
    tpr_range : (float, float)
        Range of true-positive rates, like ``fpr_range``; at least one training positive must be ranked in it.
    C : float
        Weight of F; positive.
    kappa : float
        Sharpness of the ends of the ranges; positive. As it grows, F tends to the mean over pairs. A small one, such
        as the authors' 2, also counts samples outside the ranges.
    batch_size : int, optional
        Samples in a minibatch of the authors' stochastic descent and ascent; None for all samples and L-BFGS.
    learning_rate : float
        Factor of the steps of w and b with ``batch_size``; positive.
    tol : float
        Imbalance at which the fit stops; positive.
    max_iter : int
        Largest number of iterations of L-BFGS, or of passes over the samples with ``batch_size``; at least 1.

    Attributes
    ----------
    bias_ : float
        Intercept b of f: ``f = expit(decision_function(X) - intercept_ + bias_)``.
    n_iter_ : int
        Number of iterations or passes.
    objective_ : float
        Objective at w and b, the lowest of ``trace_`` and of ``w = 0, b = 0``, where the search starts.
    imbalance_ : float
        Norm of the gradient in w or in b, whichever is larger, relative to the largest of its parts: that of the
        positives, of the negatives, and w itself. Recomputed from ``coef_``.
    converged_ : bool
        Whether the imbalance met ``tol`` at weights other than 0: a stationary point, not always a minimum.
    status_ : {"converged", "collapsed", "stalled", "max_iter"}
        How the fit ended; "collapsed" if w = 0 is stationary, so all scores are equal.
    trace_ : list of Step
        Seconds and objective after each iteration or pass.

    References
    ----------
    H. Shao, Q. Xu, Z. Yang, S. Bao, Q. Huang (2022), Asymptotically unbiased instance-wise regularized partial AUC
    optimization: theory and algorithm, NeurIPS, arXiv:2210.03967; and its journal version, arXiv:2512.01213.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, random_state=0)
    >>> PAUCMinimax(fpr_range=(0.0, 0.1), tpr_range=(0.5, 1.0), C=10.0).fit(X, y).status_
    'converged'
    """

    fpr_range: tuple[float, float] = (0.0, 0.2)
    tpr_range: tuple[float, float] = parameter(tuple, list, default=(0.0, 1.0))
    C: float = parameter(POSITIVE, default=1.0)
    kappa: float = parameter(POSITIVE, default=20.0)
    batch_size: int | None = parameter(None, COUNT, default=None)
    learning_rate: float = parameter(POSITIVE, default=3.0)
    tol: float = parameter(POSITIVE, default=1e-3)
    max_iter: int = parameter(COUNT, default=1000)

    _explanations: ClassVar[dict[str, str]] = {
        "collapsed": "all scores are equal: the classes have the same mean. Use other features or n_components.",
        "stalled": "no step lowers the objective, but the imbalance exceeds tol. Scale the features to unit variance, "
        "decrease kappa or C, or increase tol.",
        "max_iter": "the imbalance exceeds tol after max_iter iterations. Increase max_iter or tol, or decrease C; "
        "with batch_size, a tol of 0.1 is within reach.",
    }

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        Z = self._fit_map(X)
        started, problem = time.perf_counter(), Objective(Z, signs, self._class_ranks(signs), self.C, self.kappa)
        self.trace_: list[Step] = []
        best = problem(problem.start)[0], problem.start

        def watch(v: np.ndarray) -> None:
            nonlocal best
            value, pulls = problem.at(v)
            self.trace_.append(Step(len(self.trace_) + 1, time.perf_counter() - started, self.C * value))
            best = min(best, (value, v.copy()), key=lambda found: found[0])
            if imbalance(pulls) <= self.tol:
                raise StopIteration

        if self.batch_size is None:
            options = {"maxiter": self.max_iter, "maxfun": 100 * self.max_iter, "maxcor": 20, "ftol": 0.0, "gtol": 0.0}
            minimize(problem, problem.start, jac=True, method="L-BFGS-B", callback=watch, options=options)
        else:
            seed = check_random_state(self.random_state)
            with suppress(StopIteration):
                for v in islice(epochs(problem, self.batch_size, self.learning_rate, seed), self.max_iter):
                    watch(v)
        self._set_result(Z, signs, problem, best[1])

    def _class_ranks(self, signs: np.ndarray) -> tuple[Ranks, Ranks]:
        """Return the ranks of negatives by descending score, and those of positives by ascending score."""
        m = int(np.sum(signs > 0))
        first, last = ranks_within(m, *self.tpr_range, "positive", "tpr_range")
        return self._ranks(signs), (m - last, m - first)

    def _set_result(self, Z: Any, signs: np.ndarray, problem: Objective, v: np.ndarray) -> None:
        w = v[:-1] / problem.unit
        scores, self.bias_ = np.asarray(Z @ w), float(v[-1] - w @ problem.offsets)
        self.coef_, self.intercept_ = w[None, :], np.array([-self._threshold(signs, scores)])
        value, pulls = problem.pulls(v, scores + self.bias_)  # from the weights that are kept
        self.n_iter_, self.objective_, self.imbalance_ = len(self.trace_), self.C * value, imbalance(pulls)
        if self.imbalance_ > ROUNDING * self.tol:
            self.status_ = "max_iter" if self.n_iter_ >= self.max_iter else "stalled"
        else:
            self.status_ = "converged" if w.any() else "collapsed"
        self.converged_ = self.status_ == "converged"

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        f = expit(scores - self.intercept_ + self.bias_)
        risk = inner_solution(f, signs > 0, *self._class_ranks(signs), self.kappa)[0]
        return {"objective_": 0.5 * float(np.sum(self.coef_**2)) + self.C * risk}


class Objective:
    """The objective of :class:`PAUCMinimax` divided by C, in b and the weights of centred features of unit length."""

    def __init__(self, Z: Any, signs: np.ndarray, ranks: tuple[Ranks, Ranks], C: float, kappa: float) -> None:
        self.positive, self.ranks, self.C, self.kappa = signs > 0, ranks, C, kappa
        self.shares = np.array(ranks) / [[np.sum(~self.positive)], [np.sum(self.positive)]]  # in which samples count
        self.offsets = offsets(Z)
        self.Z = without_offsets(Z, self.offsets)
        self.unit = float(norm(self.Z.data if issparse(Z) else self.Z) / np.sqrt(Z.shape[0])) or 1.0
        self.decay = 1.0 / (C * self.unit**2)
        self.start = np.zeros(Z.shape[1] + 1)
        self._last, self._pulls = np.zeros(0), (np.inf, np.zeros((0, 3)))

    def scores(self, v: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        """Return the scores of some rows."""
        return np.asarray(self.Z[rows] @ (v[:-1] / self.unit)) + v[-1]

    def gradient(self, rows: Any, slopes: np.ndarray) -> np.ndarray:
        """Return the gradients of functions of the scores of some rows, from their slopes, one function a column."""
        return np.append(np.asarray(self.Z[rows].T @ slopes) / self.unit, slopes.sum(axis=0, keepdims=True), axis=0)

    def __call__(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient."""
        value, pulls = self.at(v)
        return value, pulls.sum(axis=1)

    def at(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Return :meth:`pulls` at v; at the last v, without a pass over the samples."""
        if not np.array_equal(v, self._last):
            self._last, self._pulls = v.copy(), self.pulls(v, self.scores(v))
        return self._pulls

    def pulls(self, v: np.ndarray, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective, and its gradient in three columns, of the positives, the negatives and the weights."""
        f = expit(scores)
        value, slopes = inner_solution(f, self.positive, *self.ranks, self.kappa)
        slopes *= f * expit(-scores)
        of_classes = self.gradient(slice(None), slopes[:, None] * np.column_stack([self.positive, ~self.positive]))
        penalty = self.decay * np.append(v[:-1], 0.0)
        return value + 0.5 * float(penalty @ v), np.column_stack([of_classes, penalty])


def imbalance(pulls: np.ndarray) -> float:
    """Return the norm of the sum of the columns relative to the largest of them, for w or b, the larger one."""
    parts = pulls[:-1], pulls[-1:]
    return max(float(norm(part.sum(axis=1)) / (norm(part, axis=0).max() or 1.0)) for part in parts)
