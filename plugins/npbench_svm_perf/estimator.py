"""The structural SVM for precision at k as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from npbench.estimators.linear import LinearClassifier
from npbench.numerics.bundle import Solution, minimise
from npbench_svm_perf.precision import PrecisionAtK, threshold_accepting

EXPLANATIONS = {
    "flat": "more than k samples share the best score, so that none is accepted: w = 0 is optimal to within tol, or "
    "the features hardly tell samples apart. Try another k_share, a smaller tol or other features",
    "stalled": "rounding keeps the duality gap above tol. Scale the features to unit variance, or increase tol",
    "max_iter": "max_iter planes did not suffice. Increase max_iter or tol, decrease C, or scale the features",
}


class SVMPerf(LinearClassifier):
    """Linear classifier that accepts k samples, trained for the precision among them (SVMperf's Prec@k).

    With ``s = Xw``, ``k = k_share n_pos`` (rounded, at least 1) and labels y in {-1, +1}, minimises over w

        1/2 ||w||^2 + C max(0, max_y' [ b(y') + sum_i (y'_i - y_i) s_i / 2 ])

    where y' runs through all labellings with exactly k positives and b counts the false alarms among them. The
    intercept is then set so that exactly k training samples are accepted.

    Parameters
    ----------
    C : float, default=1.0
        Cost of one false alarm among the k samples; positive. It is per sample: see the notes.
    k_share : float, default=1.0
        k as a share of the positives, in ]0, 1].
    tol : float, default=1e-3
        Duality gap at which the fit stops, relative to the objective; positive.
    max_iter : int, default=2000
        Most iterations, one plane each.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    coef_ : array of shape (1, n_features)
        The weights w.
    intercept_ : array of shape (1,)
        Half-way between the k-th and the next score, negated. Where the k-th score is tied, fewer samples are accepted.
    k_ : int
        The k.
    n_iter_ : int
        Iterations taken.
    converged_ : bool
        Whether the gap met ``tol`` and a training sample is accepted.
    status_ : {"converged", "flat", "stalled", "max_iter"}
        How the fit ended; "flat" if the gap met ``tol`` but more than k samples share the best score, so that none is
        accepted: w = 0 is optimal, which for a weak signal it is whatever C, or features take few values.
    objective_ : float
        The objective at w.
    duality_gap_ : float
        How much smaller it could be at most, proved by a dual solution.
    trace_ : list of Trace
        Seconds, objective and bound of each iteration.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Warns
    -----
    ConvergenceWarning
        If the gap stayed above ``tol``, or no training sample is accepted.

    Notes
    -----
    Joachims has ``1/2 ||v||^2 + C' xi`` with ``xi >= b(y')/k + sum_i (y'_i - y_i) v'x_i``, a loss in [0, 1] and no
    intercept: ``w = 2 k v`` and ``C = 4 k C'``. His program counts the loss in percent: ``w = k v / 50`` and
    ``C = k C' / 25``; it also admits labellings with more than k positives. Since recall at k is ``k / n_pos`` times
    precision at k, training for it leads to the same problem, but for where the maximum with 0 cuts.

    An iteration costs a product with X, one with its transpose and up to three selections of k in n_samples.

    References
    ----------
    T. Joachims (2005), A support vector method for multivariate performance measures, ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SVMPerf(C=1.0, k_share=0.9).fit(X, y)
    >>> model.status_, model.k_, int(model.predict(X).sum())
    ('converged', 321, 321)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        "C": [Interval(Real, 0, None, closed="neither")],
        "k_share": [Interval(Real, 0, 1, closed="right")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, C: float = 1.0, k_share: float = 1.0, tol: float = 1e-3, max_iter: int = 2000) -> None:
        self.C = C
        self.k_share = k_share
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> SVMPerf:
        """Fit the classifier.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Returns
        -------
        SVMPerf
            The fitted classifier.
        """
        self._validate_params()
        X, signs = self._training_set(X, y)
        self._keep(X, signs, self.solution(X, signs))
        if not self.converged_:
            warnings.warn(f"SVMPerf: {EXPLANATIONS[self.status_]}.", ConvergenceWarning, stacklevel=2)
        return self

    def k(self, signs: np.ndarray) -> int:
        """Return k for a training sample with these labels in {-1, +1}."""
        return max(1, round(self.k_share * int(np.sum(signs > 0))))

    def solution(self, X: Any, signs: np.ndarray, start: Solution | None = None) -> Solution:
        """Return the weights with their certificate; ``start`` is the solution for the same k and another C."""
        risk = PrecisionAtK(signs, self.k(signs))
        return minimise(X, risk, self.C, tol=self.tol, max_iter=self.max_iter, start=start)

    def _keep(self, X: Any, signs: np.ndarray, solution: Solution) -> None:
        self.k_ = self.k(signs)
        self.coef_ = solution.w[None, :]
        scores = X @ solution.w
        threshold = threshold_accepting(scores, self.k_)
        self.intercept_ = np.array([-threshold])
        self.status_ = status(solution, scores, threshold)
        self.converged_ = self.status_ == "converged"
        self.n_iter_, self.trace_ = len(solution.trace), solution.trace
        self.objective_, self.duality_gap_ = solution.objective, solution.gap


def status(solution: Solution, scores: np.ndarray, threshold: float) -> str:
    """Return how a fit ended: "flat" if it converged to scores of which none exceeds the threshold."""
    return "flat" if solution.status == "converged" and np.max(scores) <= threshold else solution.status
