"""The support vector machine with a cost for each class: SMO for kernels, LIBLINEAR for the linear one."""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from npbench.estimators.constraints import COUNT, POSITIVE
from npbench.estimators.nystroem import NystroemClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics import linear_svm, smo
from npbench.numerics.smo_kernels import bias, ends, gap

MAX_SMO_STEPS = 1_000_000  # seconds, for a few thousand samples
REFINING = 40  # further SMO steps per sample to separate scores that differ little, too few for an interior point call
FINEST = 1e-9  # violation
MAX_LIBLINEAR_PASSES = 1_000
NEAR_GAP = 0.01  # duality gap of a fit that counts as converged, relative to its objective
MAX_CERTIFIED_FEATURES = 500  # Newton steps take O(n_samples n_features^2)


@keyword_parameters
class ACSVM(NystroemClassifier):
    """Support vector machine with asymmetric costs: the problem of scikit-learn's SVC, or LinearSVC for linear kernels.

    Minimises over f = f_0 + b

        1/2 ||f_0||^2 + C_pos sum_{positives} max(0, 1 - f(x_i)) + C_neg sum_{negatives} max(0, 1 + f(x_i)).

    The costs are the only way to meet a bound on the false-alarm rate: the threshold is not moved after training. Model
    selection chooses them by the validation loss, which depends on the bound.

    Parameters
    ----------
    C_pos, C_neg : float
        Cost of each positive and of each negative on the wrong side of its margin; positive.
    tol : float
        Violation of the optimality conditions at which SMO or LIBLINEAR stops; positive. Where scores span less than 1,
        SMO takes up to 40 more steps per sample, towards this share of their range: their order is then as certain.
    max_iter : int, optional
        Largest number of pairs updated by SMO (default 1,000,000), or of passes of LIBLINEAR (default 1,000).
    cache_size : float
        Megabytes for kernel values; positive. If the Gram matrix does not fit, SMO works on blocks, which is slower.
    random_state : int, RandomState or None
        Seed of the landmarks, and of the random order in which LIBLINEAR passes over the samples.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, n_support_
        As in :class:`sklearn.svm.SVC`, for kernels other than the linear one.
    intercept_ : array of shape (1,)
        Intercept b. LIBLINEAR adds ``b^2 / 2`` to the objective.
    objective_ : float
        The objective, for LIBLINEAR with ``b^2 / 2``.
    duality_gap_ : float
        Upper bound on ``objective_`` minus the optimum, from kernel values read again after the last step. Linear: only
        if LIBLINEAR used up its passes with at most 500 features, and from the dual solution of another method.
    n_iter_ : int
        Number of pairs updated, or of passes.
    converged_ : bool
        Whether the tolerance was met within ``max_iter``, for kernels by recomputed values of f. LIBLINEAR often misses
        it at high costs and with features of very different scales; a duality gap of 1 % of the objective then counts.
    status_ : {"converged", "near", "max_iter"}
        How the fit ended. "near": LIBLINEAR used up its passes within 1 % of the optimum.

    References
    ----------
    M. Davenport, R. Baraniuk, C. Scott (2010), Tuning support vector machines for minimax and Neyman-Pearson
    classification, IEEE Transactions on Pattern Analysis and Machine Intelligence 32(10).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ACSVM(C_pos=1, C_neg=30).fit(scale(X), y)
    >>> int((model.decision_function(scale(X))[y == 0] >= 0).sum())
    0
    """

    C_pos: float = parameter(POSITIVE, default=1.0)
    C_neg: float = parameter(POSITIVE, default=1.0)
    tol: float = parameter(POSITIVE, default=1e-3)
    max_iter: int | None = parameter(None, COUNT, default=None)

    _has_newton_steps = True

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        if self.kernel == "linear":
            self._fit_liblinear(X, signs)
        else:
            self._fit_smo(X, signs)

    def _fit_liblinear(self, X: Any, signs: np.ndarray) -> None:
        costs, max_iter = {-1: self.C_neg, 1: self.C_pos}, self.max_iter or MAX_LIBLINEAR_PASSES
        model = LinearSVC(
            loss="hinge", dual=True, class_weight=costs, tol=self.tol, max_iter=max_iter, random_state=self.random_state
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fit issues one, with advice
            model.fit(X, signs)
        self.coef_, self.intercept_, self.n_iter_ = model.coef_, model.intercept_, int(model.n_iter_)
        self.objective_ = self._recomputed(self._scores(X), signs)["objective_"]
        self.status_ = "converged" if self.n_iter_ < max_iter else "max_iter"
        self.__dict__.pop("duality_gap_", None)  # of an earlier fit
        if self.status_ == "max_iter" and X.shape[1] <= MAX_CERTIFIED_FEATURES:
            self.duality_gap_ = self.objective_ - self._lower_bound(X, signs)
            self.status_ = "near" if self.duality_gap_ <= NEAR_GAP * self.objective_ else "max_iter"
        self.converged_ = self.status_ != "max_iter"

    def _lower_bound(self, X: Any, signs: np.ndarray) -> float:
        """Return the dual value of a solution of LIBLINEAR's problem by Newton steps: no objective is below it."""
        # the intercept is the weight of a constant feature, and a sample without features takes up the sum of x
        Z = np.pad(X.toarray() if issparse(X) else X, ((0, 1), (0, 1)))
        Z[:-1, -1] = 1.0
        costs = np.where(signs > 0, self.C_pos, self.C_neg)
        total = float(costs.sum())
        upper, lower = np.append(costs * (signs > 0), total), np.append(-costs * (signs < 0), -total)
        p = np.append(signs, 0.0)
        x = np.zeros(len(p))
        linear_svm.solve(Z, lower, upper, x, p.copy(), self.tol, p=p)
        x = np.clip(x, lower, upper)
        return float(p @ x - 0.5 * np.sum((x @ Z) ** 2))

    @property
    def step_limit(self) -> int:
        """Largest number of SMO steps."""
        return self.max_iter or MAX_SMO_STEPS

    def _fit_smo(self, X: Any, signs: np.ndarray) -> None:
        gram = self._gram(X)
        upper, lower = np.where(signs > 0, self.C_pos, 0.0), np.where(signs > 0, 0.0, -self.C_neg)
        x, g = np.zeros(len(signs)), signs.copy()
        # slightly tighter, since recomputed values of f differ by rounding
        tol = 0.99 * self.tol
        self.n_iter_, _ = smo.solve(gram, lower, upper, x, g, tol, self.step_limit, p=signs)
        # At low costs scores differ by less than tol, in an order that a threshold set later depends on: continue.
        last, reached = min(self.step_limit, self.n_iter_ + REFINING * len(x)), tol
        while self.n_iter_ < last and (finer := max(tol * np.ptp(signs - g), FINEST)) < 0.5 * reached:
            self.n_iter_ += smo.solve(gram, lower, upper, x, g, finer, last - self.n_iter_, p=signs)[0]
            reached = finer
        g = smo.gradient(gram, signs, x)
        b = bias(x, g, lower, upper)
        high, low = ends(x, g, lower, upper)
        self.converged_ = bool(high - low <= self.tol)
        self.status_ = "converged" if self.converged_ else "max_iter"
        self.duality_gap_ = gap(x, g, lower, upper, b)
        self.objective_ = 0.5 * float(x @ (signs + g)) + self.duality_gap_
        self._set_expansion(X, signs, x, b)

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        slack = np.maximum(0.0, 1.0 - signs * scores)
        costs = np.where(signs > 0, self.C_pos, self.C_neg)
        if self.kernel == "linear":
            squared_norm = float(np.sum(self.coef_**2) + self.intercept_[0] ** 2)
        else:
            squared_norm = self._squared_norm(scores)
        return {"objective_": 0.5 * squared_norm + float(costs @ slack)}

    def _explanation(self) -> str:
        solver, unit = ("LIBLINEAR", "passes") if self.kernel == "linear" else ("SMO", "steps")
        return (
            f"{solver} stopped after max_iter={self.n_iter_} {unit} without meeting tol={self.tol:g}, at "
            f"C_pos={self.C_pos:g} and C_neg={self.C_neg:g}. Scale the features, lower the costs, or raise max_iter."
        )
