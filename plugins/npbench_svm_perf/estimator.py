"""The structural SVM for precision at k, or for the error rate, as a scikit-learn classifier."""

from functools import partial
from typing import Any, Literal

import numpy as np

from npbench.estimators.constraints import SHARE, StrOptions
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.planes import PlanesClassifier
from npbench.numerics.bundle import Risk, Solution, minimise
from npbench.numerics.thresholds import SAME_SCORE


@keyword_parameters
class SVMPerf(PlanesClassifier):
    """Linear classifier that accepts k samples, trained for the precision among them, or for the error rate (SVMperf).

    With ``s = Xw``, ``k = k_share n_pos`` (rounded, at least 1) and labels y in {-1, +1}, minimises over w

        1/2 ||w||^2 + C max(0, max_y' [ b(y') + sum_i (y'_i - y_i) s_i / 2 ])

    where y' runs through all labellings with exactly k positives and b counts the false alarms among them (SVMperf's
    Prec@k). With ``loss="error"``, y' runs through all labellings and b counts their errors: the maximum is the sum of
    the hinges ``max(0, 1 - y_i s_i)``. The intercept is then set so that exactly k training samples are accepted.

    Parameters
    ----------
    C : float
        Cost of one false alarm among the k samples, or of one error; positive. It is per sample: see the notes.
    loss : {"precision", "error"}
        Loss of a labelling. With "error", w is that of a linear SVM without intercept, and k decides the intercept
        alone; SVMperf's own classifier has none.
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

    References
    ----------
    T. Joachims (2005), A support vector method for multivariate performance measures, ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = SVMPerf(C=1.0, k_share=0.9).fit(X, y)
    >>> model.status_, model.k_, int(model.predict(X).sum())
    ('converged', 321, 321)
    """

    loss: Literal["precision", "error"] = parameter(StrOptions({"precision", "error"}), default="precision")
    k_share: float = parameter(SHARE, default=1.0)

    _explanations = PlanesClassifier._explanations | {
        "flat": "more than k samples share the best score and none is accepted: w = 0 is optimal to within tol, or the "
        "features hardly distinguish samples. Try another k_share, a smaller tol or other features.",
    }

    def _fit(self, X: Any, signs: np.ndarray, start: Solution | None = None) -> Solution:
        self.k_ = max(1, round(self.k_share * int(np.sum(signs > 0))))
        solution = minimise(X, self._risk_of(signs), self.C, tol=self.tol, max_iter=self.max_iter, start=start)
        scores = X @ solution.w
        threshold = threshold_accepting(scores, self.k_)
        # ties at the top can leave nothing above the threshold, however small the gap
        nothing_accepted = np.max(scores) <= threshold
        status = "flat" if solution.status == "converged" and nothing_accepted else solution.status
        self._set_result(solution.w, threshold, status, solution)
        return solution

    def _risk_of(self, signs: np.ndarray) -> Risk:
        return partial(precision_at_k, signs, self.k_) if self.loss == "precision" else partial(errors, signs)

    def _risk(self, signs: np.ndarray, scores: np.ndarray) -> float:
        return self._risk_of(signs)(scores)[0]


def errors(y: np.ndarray, scores: np.ndarray) -> tuple[float, np.ndarray]:
    """Return ``max_y' [ errors of y' + sum_i (y'_i - y_i) s_i / 2 ]`` and a subgradient, for labels y in {-1, +1}.

    The worst labelling errs on each sample with ``y_i s_i < 1``, alone: the risk is a sum of hinges.
    """
    slack = 1.0 - y * scores
    return float(np.maximum(slack, 0.0).sum()), np.where(slack > 0.0, -y, 0.0)


def precision_at_k(y: np.ndarray, k: int, scores: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the risk ``max(0, k R(s))`` and a subgradient of it in the scores, for labels in {-1, +1}. O(n_samples).

    Among the labellings y' that call exactly k samples positive, the worst one for the scores s has

        k R(s) = max_y' [ b(y') + sum_i (y'_i - y_i) s_i / 2 ]

    where b counts its false alarms, so ``b / k`` is 1 minus its precision. Half the difference of labels is 1 for a
    false alarm and -1 for a miss; hence, with ``u_i = s_i + 1[y_i = -1]``,

        k R(s) = (sum of the k largest u_i) - (sum of s_i over the positives),

    and a labelling that attains it calls the k largest u_i positive: no table of contingencies needs to be enumerated.
    """
    positive = y > 0
    called = np.argpartition(scores + ~positive, -k)[-k:]
    gradient = np.where(positive, -1.0, 0.0)
    gradient[called] += 1.0
    # The scores of samples called right cancel: they must not enter the sum, where they would cost digits.
    risk = float(np.count_nonzero(~positive[called]) + gradient @ scores)
    if risk <= 0.0:
        return 0.0, np.zeros(len(scores))
    return risk, gradient


def threshold_accepting(scores: np.ndarray, k: int) -> float:
    """Return a threshold that exactly k scores exceed, or the most below k where the k-th score is tied.

    It is the midpoint of two scores, so that rounding moves no sample across. A tie is resolved towards fewer
    acceptances, hence fewer false alarms; if the best score itself is tied beyond k, nothing is accepted. O(n log n).
    """
    descending = np.sort(scores)[::-1]
    steps = descending[:k] - descending[1 : k + 1]
    apart = np.flatnonzero(steps > SAME_SCORE * np.max(np.abs(scores)))
    if len(apart) == 0:
        return float(descending[0] + max(1.0, abs(descending[0])))
    return float(0.5 * (descending[apart[-1]] + descending[apart[-1] + 1]))
