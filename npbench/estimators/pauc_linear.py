"""Linear SVMs trained for the partial area under the ROC curve."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_approximation import Nystroem

from npbench.estimators.binary import LinearClassifier
from npbench.estimators.constraints import COUNT, FRACTION, POSITIVE
from npbench.estimators.fpr_range import FprRangeClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.planes import PlanesClassifier
from npbench.numerics.bundle import Method, Risk, Solution, Watch, minimise
from npbench.numerics.pauc_metrics import strict
from npbench.numerics.pauc_surrogates import StructuralRisk, threshold_within
from npbench.numerics.thresholds import RULES

# A search starts from the optimum for every tenth sample, if that subsample is large enough.
SAMPLING_STEP = 10
MIN_SUBSAMPLE = 2000
MIN_RANKED = 100  # positives, and negatives in the range
SUBSAMPLE_TOL = 3e-3  # no tighter: the optimum for all samples differs by more
RiskOf = Callable[[np.ndarray, int, int], Risk]  # of labels and ranks, as StructuralRisk


class Trained(NamedTuple):
    """Weights, how the search for them ended, and the convex solution that a fit for a larger C may start from."""

    weights: np.ndarray
    objective: float
    gap: float
    status: str
    trace: Sequence[Any]
    convex: Solution


@keyword_parameters
class FeatureMapClassifier(LinearClassifier):
    """A classifier whose scores are linear, in the features or after a kernel map.

    Parameters
    ----------
    n_components : int, optional
        Number of samples in the Nystroem approximation of an RBF kernel; None for scores linear in the features.
    gamma : float, optional
        Bandwidth of ``exp(-gamma ||x - x'||^2)`` with ``n_components``; None for ``1 / n_features``.
    random_state : int, RandomState or None, default=None
        Seed of the samples drawn, for the kernel map or in minibatches.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (1, n_components)
        Weights w of the features, or of the output of ``feature_map_``.
    intercept_ : array of shape (1,)
        Minus the threshold with the largest TPR - FPR among those whose training FPR is in ``fpr_range``.
    feature_map_ : sklearn.kernel_approximation.Nystroem or None
        The kernel map.
    """

    n_components: int | None = parameter(None, COUNT, default=None)
    gamma: float | None = parameter(None, POSITIVE, default=None)
    random_state: Any = parameter("random_state", default=None)

    def _scores(self, X: Any) -> np.ndarray:
        return super()._scores(self._mapped(X))

    def _mapped(self, X: Any) -> Any:
        return X if self.feature_map_ is None else self.feature_map_.transform(X)

    def _fit_map(self, X: Any) -> Any:
        self.feature_map_ = None
        if self.n_components is None:
            return X
        n_components = min(self.n_components, X.shape[0])
        self.feature_map_ = Nystroem(gamma=self.gamma, n_components=n_components, random_state=self.random_state)
        return self.feature_map_.fit_transform(X)


@keyword_parameters
class RankingClassifier(FeatureMapClassifier, PlanesClassifier):
    """A classifier whose scores are linear, in the features or after a kernel map, trained for their ranking.

    Parameters
    ----------
    C : float
        Weight of the risk, a mean over pairs; positive.

    Attributes
    ----------
    converged_ : bool
        Whether the gap met ``tol`` with weights better than w = 0.
    status_ : {"converged", "collapsed", "stalled", "max_iter"}
        How the fit ended; "collapsed" if the gap met ``tol`` but w = 0 is optimal to within it.
    """

    fpr_range, method = (0.0, 1.0), "level"  # without annotation: no parameters here

    def train(self, Z: Any, signs: np.ndarray, start: Solution | None) -> Trained:
        """Find weights for features ``Z`` and labels in {-1, +1}; ``start`` is the result for another C."""
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "method": self.method}
        return structural_svm(Z, signs, self._ranks(signs), self.C, self._surrogate, start=start, **options)

    def _surrogate(self, signs: np.ndarray, first: int, last: int) -> Risk:
        return StructuralRisk(signs, first, last)

    def _fit(self, X: Any, signs: np.ndarray, start: Solution | None = None) -> Solution:
        features = self._fit_map(X)
        # planes are those of one set of features: another random map would make them wrong
        map_differs = self.n_components is not None and not isinstance(self.random_state, Integral)
        trained = self.train(features, signs, None if map_differs else start)
        scores = np.asarray(features @ trained.weights)
        threshold = self._threshold(signs, scores)
        self._set_result(trained.weights, threshold, trained.status, trained)
        return trained.convex

    def _threshold(self, signs: np.ndarray, scores: np.ndarray) -> float:
        return threshold_within(signs, scores, *self.fpr_range)

    def _ranks(self, signs: np.ndarray) -> tuple[int, int]:
        return 0, int(np.sum(signs < 0))

    def _risk(self, signs: np.ndarray, scores: np.ndarray) -> float:
        return self._surrogate(signs, *self._ranks(signs))(scores)[0]


@keyword_parameters
class PartialAUCClassifier(FprRangeClassifier, RankingClassifier):
    """A ranking classifier for a range of false-positive rates."""

    fpr_range: tuple[float, float] = (0.0, 0.2)


@keyword_parameters
class TopClassifier(RankingClassifier):
    """A ranking classifier for a bound on the false-alarm rate.

    Parameters
    ----------
    rho : float
        Bound on the false-alarm rate, in ]0, 1[; the problem fills it in.

    Attributes
    ----------
    intercept_ : array of shape (1,)
        Minus the smallest threshold with at most rho of the training negatives above it.
    """

    rho: float = parameter(FRACTION, default=0.05)

    def _threshold(self, signs: np.ndarray, scores: np.ndarray) -> float:
        return RULES["empirical"].threshold(scores[signs < 0], self.rho, 0.0)


def structural_svm(
    Z: Any,
    signs: np.ndarray,
    ranks: tuple[int, int],
    C: float,
    risk_of: RiskOf = StructuralRisk,
    method: Method = "level",
    *,
    tol: float,
    max_iter: int,
    start: Solution | None = None,
) -> Trained:
    """Minimise ``1/2 ||w||^2 + C R(Zw)`` for a surrogate R of the errors at some ranks, which is 1 at w = 0.

    For a narrow range or a weak signal the minimiser can be w = 0 for every C: all scores are equal, and the objective
    is C. The status is "collapsed" if the objective found is not below C by more than the gap, so nothing better
    than w = 0 is certified. The weights returned are then those with the largest partial AUC on the training sample,
    among all that the search tried and those for the full AUC. (For the full AUC the minimiser is 0 only if both
    classes have the same mean.) The objective and the gap still refer to the problem.

    ``ranks`` are those of :class:`npbench.numerics.pauc_surrogates.StructuralRisk`, the default of ``risk_of``, and the
    other arguments those of :func:`npbench.numerics.bundle.minimise`.
    """

    def solve(
        first: int, last: int, start: Solution | np.ndarray | None = None, watch: Watch | None = None
    ) -> Solution:
        risk = risk_of(signs, first, last)
        return minimise(Z, risk, C, tol=tol, max_iter=max_iter, method=method, start=start, watch=watch)

    first_w = _weights_of_sample(Z, signs, ranks, C, tol, risk_of) if start is None and method == "level" else start
    tried = _BestRanking(signs, *ranks)
    solution = solve(*ranks, first_w, tried if first_w is None else None)
    # w = 0 has the objective C: nothing better is certified if the gap reaches it
    w, status = solution.w, str(solution.status)
    if status == "converged" and C - solution.objective <= solution.gap:
        status = "collapsed"
    n = int(np.sum(signs < 0))
    if ranks != (0, n) and (status == "collapsed" or not w.any()):
        if first_w is not None:
            solve(*ranks, watch=tried)  # again from zero: the weights must not depend on the start
        w = tried.or_better(Z, solve(0, n).w)
    return Trained(w, solution.objective, solution.gap, status, solution.trace, solution)


def _weights_of_sample(
    Z: Any, signs: np.ndarray, ranks: tuple[int, int], C: float, tol: float, risk_of: RiskOf
) -> np.ndarray | None:
    """Return the optimal weights for every tenth sample of each class, near those for all; None if too few, or 0."""
    positive, negative = np.flatnonzero(signs > 0)[::SAMPLING_STEP], np.flatnonzero(signs < 0)[::SAMPLING_STEP]
    share = len(negative) / np.sum(signs < 0)
    first, last = round(ranks[0] * share), round(ranks[1] * share)
    if min(len(positive), last - first) < MIN_RANKED or len(positive) + len(negative) < MIN_SUBSAMPLE:
        return None
    some = np.sort(np.concatenate([positive, negative]))
    Z, signs, tol = Z[some], signs[some], max(tol, SUBSAMPLE_TOL)
    start = _weights_of_sample(Z, signs, (first, last), C, tol, risk_of)
    w = minimise(Z, risk_of(signs, first, last), C, tol=tol, start=start).w
    return w if w.any() else None


class _BestRanking:
    """The weights seen so far with the largest partial AUC; ties count as errors, or constant scores would win."""

    def __init__(self, signs: np.ndarray, first: int, last: int) -> None:
        self._positive, self._ranks = signs > 0, (first, last)
        self._w, self._area = np.zeros(1), 0.0

    def __call__(self, w: np.ndarray, scores: np.ndarray) -> None:
        area = self._area_of(scores)
        if area > self._area:
            self._w, self._area = w, area

    def or_better(self, Z: Any, w: np.ndarray) -> np.ndarray:
        """Return w if its partial AUC is no smaller, else the best weights scaled to the norm of w."""
        if self._area_of(Z @ w) >= self._area:
            return w
        return self._w * ((np.linalg.norm(w) or 1.0) / np.linalg.norm(self._w))

    def _area_of(self, scores: np.ndarray) -> float:
        return strict(scores[self._positive], scores[~self._positive], *self._ranks)
