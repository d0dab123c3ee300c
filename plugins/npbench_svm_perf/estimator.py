"""The structural SVM for precision at k as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from npbench.estimators.constraints import COUNT, POSITIVE, SHARE, Constraints
from npbench.estimators.docstrings import inherit_docs
from npbench.estimators.linear import LinearClassifier
from npbench.numerics.bundle import Solution, minimise
from npbench_svm_perf.precision import PrecisionAtK, threshold_accepting

EXPLANATIONS = {
    "flat": "more than k samples share the best score and none is accepted: w = 0 is optimal to within tol, or the "
    "features hardly distinguish samples. Try another k_share, a smaller tol or other features.",
    "stalled": "rounding keeps the duality gap above tol. Scale the features to unit variance, or increase tol.",
    "max_iter": "max_iter planes did not suffice. Increase max_iter or tol, decrease C, or scale the features.",
}


@inherit_docs
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
        Largest number of iterations, each of which adds a plane.

    Attributes
    ----------
    intercept_ : array of shape (1,)
        Minus the midpoint of the k-th and the next score. If the k-th score is tied, fewer samples are accepted.
    k_ : int
        Number k.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the gap met ``tol`` and a training sample is accepted.
    status_ : {"converged", "flat", "stalled", "max_iter"}
        How the fit ended. "flat": the gap met ``tol``, but more than k samples share the best score and none is
        accepted. Either w = 0 is optimal, as for a weak signal, whatever C, or the features take few values.
    objective_ : float
        Objective at w.
    duality_gap_ : float
        Upper bound on objective_ minus the optimum, proved by a dual solution.
    trace_ : list of Trace
        Seconds, objective and bound of each iteration.

    Notes
    -----
    Joachims has ``1/2 ||v||^2 + C' xi`` with ``xi >= b(y')/k + sum_i (y'_i - y_i) v'x_i``, a loss in [0, 1] and no
    intercept: ``w = 2 k v`` and ``C = 4 k C'``. His program counts the loss in percent: ``w = k v / 50`` and
    ``C = k C' / 25``; it also admits labellings with more than k positives. Recall at k is ``k / n_pos`` times
    precision at k, so training for it leads to the same problem, except for where the maximum with 0 cuts.

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

    _explanations = EXPLANATIONS
    _parameter_constraints: ClassVar[Constraints] = {
        "C": [POSITIVE],
        "k_share": [SHARE],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
    }

    def __init__(self, *, C: float = 1.0, k_share: float = 1.0, tol: float = 1e-3, max_iter: int = 2000) -> None:
        self.C = C
        self.k_share = k_share
        self.tol = tol
        self.max_iter = max_iter

    def fit_from(self, X: Any, y: Any, start: Solution | None = None) -> Solution:
        """Fit the classifier, starting from the solution for another C.

        Parameters
        ----------
        X, y
            As in :meth:`fit`.
        start : Solution, optional
            Result of a fit to the same samples with the same k and another C.

        Returns
        -------
        Solution
            Weights with their certificate, to start the next fit from.
        """
        solution: Solution = self._run_fit(X, y, start=start)
        return solution

    def _fit(self, X: Any, signs: np.ndarray, start: Solution | None = None) -> Solution:
        self.k_ = max(1, round(self.k_share * int(np.sum(signs > 0))))
        risk = PrecisionAtK(signs, self.k_)
        solution = minimise(X, risk, self.C, tol=self.tol, max_iter=self.max_iter, start=start)
        scores = X @ solution.w
        threshold = threshold_accepting(scores, self.k_)
        self.coef_, self.intercept_ = solution.w[None, :], np.array([-threshold])
        nothing_accepted = np.max(scores) <= threshold
        self.status_ = "flat" if solution.status == "converged" and nothing_accepted else solution.status
        self.converged_ = self.status_ == "converged"
        self.n_iter_, self.trace_ = len(solution.trace), solution.trace
        self.objective_, self.duality_gap_ = solution.objective, solution.gap
        return solution

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        risk, _ = PrecisionAtK(signs, self.k_)(scores - self.intercept_)
        return {"objective_": 0.5 * float(np.sum(self.coef_**2)) + self.C * risk}
