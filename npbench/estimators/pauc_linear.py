"""SVMs that are trained for the partial area under the ROC curve."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.linear import LinearClassifier
from npbench.numerics.bundle import Method, Solution, Watch, minimise
from npbench.numerics.pauc_metrics import strict
from npbench.numerics.pauc_surrogates import StructuralRisk, Surrogate, threshold_within

POSITIVE = Interval(Real, 0, None, closed="neither")


class Trained(NamedTuple):
    """Weights with how they were found, and the convex solution that a fit for a larger C may start from."""

    weights: np.ndarray
    objective: float
    gap: float
    status: str
    trace: Sequence[Any]
    convex: Solution


class PartialAUCClassifier(LinearClassifier):
    """A classifier whose scores are linear, in the features or after a kernel map, trained for their ranking.

    Parameters
    ----------
    fpr_range : (float, float)
        Range of false-positive rates; a subclass has it as a parameter or fixes it.
    C, n_components, gamma, tol, max_iter, random_state
        As in the subclasses.

    Attributes
    ----------
    feature_map_ : sklearn.kernel_approximation.Nystroem or None
        The kernel map; ``coef_`` weighs what it returns.
    n_iter_, converged_, status_, objective_, duality_gap_, trace_
        As in the subclasses, beside those of :class:`LinearClassifier`.
    """

    fpr_range: tuple[float, float]
    C: float
    n_components: int | None
    gamma: float | None
    tol: float
    max_iter: int
    random_state: Any

    _explanations: ClassVar[dict[str, str]]
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        "C": [POSITIVE],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "gamma": [None, POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def train(self, Z: Any, signs: np.ndarray, start: Solution | None) -> Trained:
        """Find weights for features ``Z`` and labels in {-1, +1}; ``start`` is as in :meth:`fit_from`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Returns
        -------
        self
            The fitted classifier.
        """
        self.fit_from(X, y)
        return self

    def fit_from(self, X: Any, y: Any, start: Solution | None = None) -> Solution:
        """Fit the classifier, and return what a fit of the same samples with another C may start from.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        start : Solution, optional
            What this returned for the same samples and parameters but C. Its planes are taken over and added to,
            unless a kernel map is drawn anew for each fit.

        Returns
        -------
        Solution
            Of the convex problem.
        """
        self._validate_params()
        self._check_range()
        X, signs = self._training_set(X, y)
        features = self._fit_map(X)
        drawn_anew = self.n_components is not None and not isinstance(self.random_state, Integral)
        trained = self.train(features, signs, None if drawn_anew else start)
        self._keep(trained, np.asarray(features @ trained.weights), signs)
        if not self.converged_:
            text = f"{type(self).__name__}: {self._explanations[self.status_]}."
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        return trained.convex

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f(x), larger for more positive samples; its threshold is 0.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._samples(X)
        features = X if self.feature_map_ is None else self.feature_map_.transform(X)
        return np.asarray(features @ self.coef_[0]) + self.intercept_[0]

    def _check_range(self) -> None:
        ends = tuple(self.fpr_range)
        if len(ends) == 2 and all(isinstance(end, Real) for end in ends) and 0 <= ends[0] < ends[1] <= 1:
            return
        raise ValueError(
            f"fpr_range is {self.fpr_range!r}; two rates (lo, hi) with 0 <= lo < hi <= 1 were expected, as in "
            "fpr_range=(0.02, 0.05)."
        )

    def _fit_map(self, X: Any) -> Any:
        self.feature_map_ = None
        if self.n_components is None:
            return X
        n_components = min(self.n_components, X.shape[0])
        self.feature_map_ = Nystroem(gamma=self.gamma, n_components=n_components, random_state=self.random_state)
        return self.feature_map_.fit_transform(X)

    def _keep(self, trained: Trained, scores: np.ndarray, signs: np.ndarray) -> None:
        self.coef_ = trained.weights[None, :]
        self.intercept_ = np.array([-threshold_within(signs, scores, *self.fpr_range)])
        self.status_ = trained.status
        self.converged_ = self.status_ == "converged"
        self.n_iter_, self.trace_ = len(trained.trace), trained.trace
        self.objective_, self.duality_gap_ = trained.objective, trained.gap


def structural_svm(
    Z: Any,
    signs: np.ndarray,
    ranks: tuple[int, int],
    C: float,
    *,
    tol: float,
    max_iter: int,
    surrogate: Surrogate = "tight",
    method: Method = "level",
    start: Solution | None = None,
) -> Trained:
    """Minimise ``1/2 ||w||^2 + C R(Zw)`` for the structural surrogate R of the partial AUC.

    For a narrow range or a weak signal the minimiser can be w = 0, whatever C: all scores are equal, and the objective
    is C. That is the case if the objective found is not below C by more than the gap, so that nothing better was
    certified. The status is then "collapsed", and the weights are of all that the search tried, and of those for the
    full AUC, whose minimiser is 0 only if the classes have the same mean, the ones with the largest partial AUC on the
    training sample. The objective and the gap remain those of the problem.

    Parameters
    ----------
    Z : {array, CSR matrix} of shape (n_samples, n_features)
        Samples.
    signs : array of shape (n_samples,)
        Labels in {-1, +1}.
    ranks : (int, int)
        The first and the last, as in :class:`npbench.numerics.pauc_surrogates.StructuralRisk`.
    C : float
        Weight of the risk.
    tol, max_iter, method, start
        As in :func:`npbench.numerics.bundle.minimise`.
    surrogate : {"tight", "naive"}
        As in :mod:`npbench.numerics.pauc_surrogates`.
    """

    def solve(first: int, last: int, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        risk = StructuralRisk(signs, first, last, surrogate)
        return minimise(Z, risk, C, tol=tol, max_iter=max_iter, method=method, start=start, watch=watch)

    tried = _BestRanking(signs, *ranks)
    solution = solve(*ranks, start, tried if start is None else None)
    w, status = solution.w, str(solution.status)
    if status == "converged" and C - solution.objective <= solution.gap:
        status = "collapsed"
    n = int(np.sum(signs < 0))
    if ranks != (0, n) and (status == "collapsed" or not w.any()):
        if start is not None:
            solve(*ranks, watch=tried)  # anew: the weights kept do not depend on the start
        w = tried.or_better(Z, solve(0, n).w)
    return Trained(w, solution.objective, solution.gap, status, solution.trace, solution)


class _BestRanking:
    """Of the weights it is shown, those with the largest partial AUC; ties are errors, or constant scores would win."""

    def __init__(self, signs: np.ndarray, first: int, last: int) -> None:
        self._positive, self._ranks = signs > 0, (first, last)
        self._w, self._area = np.zeros(1), 0.0

    def __call__(self, w: np.ndarray, scores: np.ndarray) -> None:
        area = self._area_of(scores)
        if area > self._area:
            self._w, self._area = w, area

    def or_better(self, Z: Any, w: np.ndarray) -> np.ndarray:
        """Return w if its partial AUC is no smaller, or else the best weights at the length of w."""
        if self._area_of(Z @ w) >= self._area:
            return w
        return self._w * ((np.linalg.norm(w) or 1.0) / np.linalg.norm(self._w))

    def _area_of(self, scores: np.ndarray) -> float:
        return strict(scores[self._positive], scores[~self._positive], *self._ranks)
