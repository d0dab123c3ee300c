"""The structural SVM for precision at k as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbench.estimators.constraints import SHARE
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.planes import PlanesClassifier
from npbench.numerics.bundle import Solution, minimise
from npbench_svm_perf.precision import PrecisionAtK, threshold_accepting

EXPLANATIONS = {
    "flat": "more than k samples share the best score and none is accepted: w = 0 is optimal to within tol, or the "
    "features hardly distinguish samples. Try another k_share, a smaller tol or other features.",
    "stalled": "rounding keeps the duality gap above tol. Scale the features to unit variance, or increase tol.",
    "max_iter": "max_iter planes did not suffice. Increase max_iter or tol, decrease C, or scale the features.",
}


@keyword_parameters
class SVMPerf(PlanesClassifier):
    """Linear classifier that accepts k samples, trained for the precision among them (SVMperf's Prec@k).

    With ``s = Xw``, ``k = k_share n_pos`` (rounded, at least 1) and labels y in {-1, +1}, minimises over w

        1/2 ||w||^2 + C max(0, max_y' [ b(y') + sum_i (y'_i - y_i) s_i / 2 ])

    where y' runs through all labellings with exactly k positives and b counts the false alarms among them. The
    intercept is then set so that exactly k training samples are accepted.

    Parameters
    ----------
    C : float
        Cost of one false alarm among the k samples; positive. It is per sample: see the notes.
    k_share : float
        k as a share of the positives, in ]0, 1].

    Attributes
    ----------
    intercept_ : array of shape (1,)
        Minus the midpoint of the k-th and the next score. If the k-th score is tied, fewer samples are accepted.
    k_ : int
        Number k.
    converged_ : bool
        Whether the gap met ``tol`` and a training sample is accepted.
    status_ : {"converged", "flat", "stalled", "max_iter"}
        How the fit ended. "flat": the gap met ``tol``, but more than k samples share the best score and none is
        accepted. Either w = 0 is optimal, as for a weak signal, whatever C, or the features take few values.

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

    k_share: float = parameter(SHARE, default=1.0)

    _explanations = EXPLANATIONS

    def _fit(self, X: Any, signs: np.ndarray, start: Solution | None = None) -> Solution:
        self.k_ = max(1, round(self.k_share * int(np.sum(signs > 0))))
        risk = PrecisionAtK(signs, self.k_)
        solution = minimise(X, risk, self.C, tol=self.tol, max_iter=self.max_iter, start=start)
        scores = X @ solution.w
        threshold = threshold_accepting(scores, self.k_)
        self.coef_, self.intercept_ = solution.w[None, :], np.array([-threshold])
        # ties at the top can leave nothing above the threshold, however small the gap
        nothing_accepted = np.max(scores) <= threshold
        self.status_ = "flat" if solution.status == "converged" and nothing_accepted else solution.status
        self.converged_ = self.status_ == "converged"
        self.n_iter_, self.trace_ = len(solution.trace), solution.trace
        self.objective_, self.duality_gap_ = solution.objective, solution.gap
        return solution

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        risk, _ = PrecisionAtK(signs, self.k_)(scores - self.intercept_)
        return {"objective_": 0.5 * float(np.sum(self.coef_**2)) + self.C * risk}
