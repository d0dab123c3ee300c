"""The annealed nonconvex NP-SVM as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from npbench.numerics.gram import Gram, Kernel
from npbench.numerics.ramp_svm import RampSVM
from npbench.numerics.threads import blas_threads
from npbench_np_svm.annealed import EXPLANATIONS, REACHED, anneal

MEGABYTE = 1 << 20


class NPSVM(ClassifierMixin, BaseEstimator):
    """Support vector machine that minimises misses under a bound on the false-alarm rate.

    Searches a saddle point over f = f_0 + b and lambda >= 0 of

        1/2 ||f_0||^2 + C n_pos P_nd(f) + lambda (P_fa(f) - rho),

    where P_nd and P_fa are the class means of the ramp loss, which approaches the 0-1 loss: the nonconvex counterpart
    of ``min P_nd subject to P_fa <= rho``. A convex step of the DC algorithm alternates with an update of lambda.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate of the negative class, in ]0, 1[.
    C : float, default=1.0
        Cost of a missed positive against the margin; positive. It is per sample, as in :class:`sklearn.svm.SVC`: the
        paper's C_+, which its grids are over, and its C / n_pos, since it weighs the mean loss of the positives.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        A callable takes two samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"} or float, default="scale"
        ``exp(-gamma ||x - x'||^2)``; the paper's bandwidth is ``sigma = (2 gamma)^(-1/2)``. As in scikit-learn,
        "scale" is ``1 / (n_features X.var())`` and "auto" is ``1 / n_features``. Also scales the polynomial kernel.
    degree : float, default=3
        Of the polynomial kernel ``(gamma x'x' + coef0)^degree``; positive.
    coef0 : float, default=0.0
        Of the polynomial kernel.
    eta : float, default=1.0
        Half-width of the ramp; positive. (C, eta) and (C / eta^2, 1) give the same classifier up to the factor eta.
    nu : float, optional
        Gain of the update ``lambda <- lambda (1 + nu (P_fa - rho))``; positive. Default: 1 / rho.
    epsilon : float, optional
        Tolerance on the surrogate constraint, ``|P_fa - rho| <= epsilon``; positive. Default: rho / 20.
    tol : float, default=1e-3
        Tolerance of every convex step on its optimality conditions, in units of the margin; positive.
    max_iter : int, default=200
        Most convex steps.
    cache_size : float, default=1000
        Megabytes the Gram matrix may take; beyond, rows are computed as they are needed.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    support_ : int array of shape (n_support,)
        Indices of the training samples with nonzero multipliers.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those samples; empty for a precomputed kernel.
    dual_coef_ : array of shape (1, n_support)
        Their signed multipliers: ``f_0 = sum_i dual_coef_i k(support_i, .)``.
    intercept_ : array of shape (1,)
        The b of ``f = f_0 + b``.
    coef_ : array of shape (1, n_features)
        Weights, for the linear kernel.
    n_support_ : int array of shape (2,)
        Support vectors per class.
    n_iter_ : int
        Convex steps taken.
    converged_ : bool
        Whether the constraint was met within epsilon (or is inactive) and the last convex step within ``tol``.
    status_ : {"converged", "inactive", "flat", "jump", "capped", "max_iter"}
        How the search ended.
    multiplier_ : float
        The lambda of the classifier.
    surrogate_rates_ : (float, float)
        (P_nd, P_fa) of the ramp loss on the training sample.
    objective_ : float
        ``1/2 ||f_0||^2 + C n_pos P_nd``.
    duality_gap_ : float
        Of the convex step that gave the classifier.
    trace_ : list of Trace
        Seconds, objective, p_fa, p_nd and multiplier of each iteration.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Warns
    -----
    ConvergenceWarning
        If the constraint could not be met within epsilon; the best point seen is kept, and the text says why.

    Notes
    -----
    The constraint binds the *surrogate* rate on the *training* sample. A guarantee on the rate itself needs a
    threshold set on left-out negatives. Memory is O(n_samples^2), bounded by ``cache_size``; a convex step takes
    O(n_samples) for each of some hundred pair updates.

    References
    ----------
    G. Gasso, A. Pappaioannou, M. Spivak, L. Bottou (2011), Batch and online learning algorithms for nonconvex
    Neyman-Pearson classification, ACM Transactions on Intelligent Systems and Technology 2(3), Algorithm 3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), NPSVM(rho=0.02)).fit(X, y)
    >>> false_alarms = (model.decision_function(X[y == 0]) >= 0).mean()
    >>> bool(false_alarms <= 0.03)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        "rho": [Interval(Real, 0, 1, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"rbf", "linear", "poly", "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "eta": [Interval(Real, 0, None, closed="neither")],
        "nu": [None, Interval(Real, 0, None, closed="neither")],
        "epsilon": [None, Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        rho: float = 0.05,
        C: float = 1.0,
        kernel: Literal["rbf", "linear", "poly", "precomputed"] | Callable[[Any, Any], np.ndarray] = "rbf",
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        eta: float = 1.0,
        nu: float | None = None,
        epsilon: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 200,
        cache_size: float = 1000,
    ) -> None:
        self.rho = rho
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.eta = eta
        self.nu = nu
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size

    def fit(self, X: Any, y: Any) -> NPSVM:
        """Fit the classifier.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Training samples; for a precomputed kernel the Gram matrix, of shape (n_samples, n_samples).
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Returns
        -------
        NPSVM
            The fitted classifier.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        signs = self._signs(y)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square Gram matrix in fit; its shape is {X.shape}.")
        self._kernel = self.resolved_kernel(X)
        gram = Gram(X, self._kernel, int(self.cache_size * MEGABYTE), blas_threads())
        svm = RampSVM(gram, signs, self.eta, self.tol)
        result = anneal(svm, self.rho, self.C * int(svm.positive.sum()), **self.search_settings())
        self._keep(X, signs, result)
        if not self.converged_:
            warnings.warn(self._explanation(), ConvergenceWarning, stacklevel=2)
        return self

    def resolved_kernel(self, X: Any) -> Kernel:
        """Return the kernel with the gamma that ``gamma`` means for these samples."""
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / X.shape[1]
        elif gamma == "scale":
            variance = _variance(X) if self.kernel in ("rbf", "poly") else 0.0
            gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        return Kernel(self.kernel, float(gamma), self.degree, self.coef0)

    def search_settings(self) -> dict[str, Any]:
        """Return nu, epsilon and max_iter with their defaults filled in."""
        return {
            "nu": 1.0 / self.rho if self.nu is None else self.nu,
            "epsilon": self.rho / 20.0 if self.epsilon is None else self.epsilon,
            "max_iter": self.max_iter,
        }

    def _signs(self, y: np.ndarray) -> np.ndarray:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_[0]!r}.")
        return 2.0 * codes - 1.0

    def _keep(self, X: Any, signs: np.ndarray, result: Any) -> None:
        best = result.best
        self.support_ = np.flatnonzero(best.x)
        self.dual_coef_ = best.x[self.support_][None, :]
        self.intercept_ = np.array([best.b])
        precomputed = self.kernel == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if precomputed else X[self.support_]
        if self.kernel == "linear":
            self.coef_ = np.asarray(self.dual_coef_ @ self.support_vectors_)
        of_support = signs[self.support_]
        self.n_support_ = np.array([np.sum(of_support < 0), np.sum(of_support > 0)], dtype=np.int32)
        self.n_iter_ = len(result.trace)
        self.status_ = result.status
        self.converged_ = result.status in REACHED and best.violation <= self.tol
        self.multiplier_, self.objective_, self.duality_gap_ = best.multiplier, best.objective, best.duality_gap
        self.surrogate_rates_ = (best.p_nd, best.p_fa)
        self._violation, self.trace_ = best.violation, result.trace

    def _explanation(self) -> str:
        reason = EXPLANATIONS[self.status_]
        if self.status_ in REACHED:
            reason = f"the last convex step left a violation of {self._violation:.1e}, above tol={self.tol:g}"
        return (
            f"NPSVM: {reason}. The classifier kept has a surrogate false-alarm rate of {self.surrogate_rates_[1]:.4g} "
            f"(rho={self.rho:g}) at multiplier {self.multiplier_:.4g}. Try a larger C, another gamma, or a larger "
            "epsilon or max_iter."
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f(x), larger for more positive samples; its threshold is 0.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Samples; for a precomputed kernel their kernel values with the training samples.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        if self.kernel == "linear":
            return np.asarray(X @ self.coef_[0]) + self.intercept_[0]
        if self.kernel == "precomputed":
            X = X.toarray() if hasattr(X, "toarray") else X
            return np.asarray(X[:, self.support_] @ self.dual_coef_[0]) + self.intercept_[0]
        scores = np.full(X.shape[0], self.intercept_[0])
        if len(self.support_):
            rows = max(1, int(self.cache_size * MEGABYTE) // (8 * len(self.support_)))
            for start in range(0, X.shape[0], rows):
                values = self._kernel.between(X[start : start + rows], self.support_vectors_)
                scores[start : start + rows] += values @ self.dual_coef_[0]
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """Return ``classes_[1]`` where f(x) > 0 and ``classes_[0]`` elsewhere.

        A tie f(x) = 0 has to be given some label; measured rates count it as an error for both classes.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _variance(X: Any) -> float:
    if hasattr(X, "toarray"):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(X.var())
