"""The generative Neyman-Pearson classifier, linear or with a kernel, as a scikit-learn classifier."""

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import diags_array, issparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from npbench.estimators.constraints import FRACTION, POSITIVE, StrOptions
from npbench.estimators.nystroem import NystroemClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.centring import offsets, without_offsets
from npbench_gen.expansion import KernelMoments, largest_margin
from npbench_gen.generative import Bound, MissMargin, coordinates, miss_rate, moments, tail_distance

FEW_SAMPLES = 1000  # a generalised eigendecomposition of this order takes 0.3 s
DROPPED_VARIANCE = 1e-6  # part of the samples that coordinates may drop, in units of the ridge
CONSTANT_SPREAD = 1e-13  # a feature with a smaller relative spread is constant


@keyword_parameters
class GenerativeNP(NystroemClassifier):
    """Linear classifier from class means and covariances that minimises misses under a bound on the false-alarm rate.

    Maximises over w the miss margin

        F(w) = (w'(mu_pos - mu_neg) - kappa sqrt(w'S_neg w)) / sqrt(w'S_pos w)

    with ``b = -w'mu_neg - kappa sqrt(w'S_neg w)``, so that the bound on false alarms is rho itself. The miss
    rate follows: ``Phi(-F)`` for Gaussian classes, at most ``1 / (1 + F^2)`` (1 for F <= 0) for any.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate of the negative class, in ]0, 1[; at most 1/2 under the Gaussian bound.
    bound : {"chebyshev", "gaussian"}, default="chebyshev"
        Assumed tails: of any distribution, ``kappa = sqrt((1 - rho) / rho)``, or Gaussian, ``kappa = Phi^-1(1 - rho)``.
    ridge : float, default=1e-4
        Multiple of the identity added to both covariances, in units of the total variance of the training sample;
        positive. The covariances are those in the space of the kernel; for the linear kernel this is the space of
        features scaled to unit variance, so that the classifier does not depend on their units. With fewer samples of a
        class than dimensions, as for most kernels, covariances are singular; the ridge decides how far to trust them.
    cache_size : float, default=1000
        Memory for one Gram or covariance matrix, in megabytes; positive. Up to ten are held at the same time if they
        are of features or of at most 1000 samples, else two.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, n_support_
        As in :class:`sklearn.svm.SVC`, for kernels other than the linear one. The expansion is not sparse.
    intercept_ : array of shape (1,)
        Intercept b of ``f = w'x + b``. The unit of f is the standard deviation of the negatives: ``w'S_neg w = 1``.
    objective_ : float
        Maximal miss margin F.
    predicted_p_nd_ : float
        Miss rate that follows from F, or the bound on it.
    n_iter_ : int
        Steps of the one-dimensional search; dimension of the subspace beyond 1000 samples with a kernel.
    converged_ : bool
        Whether the conditions of optimality hold, to a residual of 1e-6. The one-dimensional search does not fail.
    status_ : {"converged", "vacuous", "imprecise"}
        "vacuous": F <= 0 under the Chebyshev bound, which then allows a miss rate of 1: usual at small rho, with a
        warning. "imprecise": not converged.

    Raises
    ------
    ValueError
        In ``fit``: if ``rho > 1/2`` under the Gaussian bound, a matrix exceeds ``cache_size``, or a variance overflows.

    References
    ----------
    K. Huang, H. Yang, I. King, M. Lyu (2006), Imbalanced learning with a biased minimax probability machine, IEEE
    Transactions on Systems, Man, and Cybernetics B 36(4).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GenerativeNP(rho=0.05, kernel="linear", bound="gaussian", ridge=1e-6).fit(X, y)
    >>> round(model.predicted_p_nd_, 3), float((model.decision_function(X[y == 1]) <= 0).mean().round(3))
    (0.014, 0.006)
    """

    rho: float = parameter(FRACTION, default=0.05)
    bound: Bound = parameter(StrOptions({"gaussian", "chebyshev"}), default="chebyshev")
    ridge: float = parameter(POSITIVE, default=1e-4)

    _explanations: ClassVar[dict[str, str]] = dict.fromkeys(
        ("imprecise", "vacuous"), "rounding hides the direction of the largest miss margin. Use a larger ridge."
    )

    def _validate_params(self) -> None:
        super()._validate_params()
        tail_distance(self.rho, self.bound)  # raises for rho > 1/2 under the Gaussian bound

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        kappa = tail_distance(self.rho, self.bound)
        if self.is_linear:
            self._fit_linear(X, signs, kappa)
        else:
            self.require_rows(X.shape[0])
            self._require_square(X)
            order = np.argsort(signs, kind="stable")
            ordered = X[order][:, order] if self.kernel == "precomputed" else X[order]
            x, b = self._expansion(self._gram(ordered).whole, order, signs, kappa)
            self._set_expansion(X, signs, x, b)
        if self.status_ == "vacuous":
            warnings.warn(
                f"GenerativeNP: the Chebyshev bound is vacuous. At rho={self.rho:g} no direction has a miss margin "
                f"above 0 (the largest is {self.objective_:.3g}), and the miss rate may be as large as 1. Use a larger "
                "rho, another gamma, or bound='gaussian'.",
                stacklevel=4,  # names the caller of fit
            )

    def require_rows(self, n_rows: int) -> None:
        """Raise a ValueError if a fit to so many samples needs a Gram matrix that exceeds ``cache_size``."""
        if self.kernel != "linear" and self.n_landmarks(n_rows) is None:
            self._require_memory(n_rows, "n_components, which approximates the kernel")

    def _fit_linear(self, X: Any, signs: np.ndarray, kappa: float) -> None:
        n, d = X.shape
        self._require_memory(min(n, d), "fewer features")
        if self.kernel == "linear":
            Z, centre, inverse_spreads = _standardised(X)
        else:
            centre, inverse_spreads = X.mean(axis=0), np.ones(d)
            Z = X - centre
        if d <= n:
            variance = np.count_nonzero(inverse_spreads) if self.kernel == "linear" else np.vdot(Z, Z) / n
            w, b = self._direction(Z, signs, kappa, float(variance))
        else:
            order = np.argsort(signs, kind="stable")
            gram = Z[order] @ Z[order].T
            x, b = self._expansion(gram.toarray() if issparse(gram) else gram, order, signs, kappa)
            w = Z.T @ x
        self.coef_, self._inverse_spreads = (w * inverse_spreads)[None, :], inverse_spreads
        self.intercept_ = np.array([b - float(self.coef_[0] @ centre)])

    def _expansion(self, gram: Any, order: np.ndarray, signs: np.ndarray, kappa: float) -> tuple[np.ndarray, float]:
        """Return the multipliers of the samples in w, and b; set the attributes of the search."""
        # the samples are in an order that starts with the negatives; the Gram matrix is changed
        size = float(gram.diagonal().mean())
        variance = size - float(gram.mean())
        # Equal samples have no variance, and any unit will do.
        unit = variance if variance > CONSTANT_SPREAD * size else size
        tol, x = DROPPED_VARIANCE * min(self.ridge, 1.0) * variance, np.zeros(len(signs))
        if _has_low_rank(gram, tol):
            Z, pivots, root = coordinates(gram, tol)
            w, b = self._direction(Z, signs[order], kappa, unit)
            x[order[pivots]] = solve_triangular(root, w, trans="T", lower=True)
            return x, b
        n_neg = int(np.count_nonzero(signs < 0))
        found = largest_margin(KernelMoments(gram, n_neg, self.ridge, unit), kappa)
        self._describe(found.margin, found.n_iter, found.converged, self.ridge * unit)
        x[order] = found.x
        return x, -float(found.scores[:n_neg].mean()) - kappa

    def _direction(self, Z: Any, signs: np.ndarray, kappa: float, variance: float) -> tuple[np.ndarray, float]:
        """Return (w, b) from samples and their total variance; set the attributes that describe the search."""
        # the ridge makes both covariances positive definite
        (mu_pos, S_pos), (mu_neg, S_neg) = moments(Z[signs > 0]), moments(Z[signs < 0])
        added = self.ridge * (variance or 1.0)
        for S in (S_pos, S_neg):
            S.flat[:: len(S) + 1] += added
        w, margin, n_iter = MissMargin(mu_pos - mu_neg, S_pos, S_neg).maximise(kappa)
        self._describe(margin, n_iter, True, added)
        return w, -float(w @ mu_neg) - kappa

    def _describe(self, margin: float, n_iter: int, converged: bool, added_variance: float) -> None:
        self.objective_, self.n_iter_, self._added_variance = margin, n_iter, added_variance
        self.predicted_p_nd_ = miss_rate(margin, self.bound)
        self.converged_ = converged
        vacuous = self.bound == "chebyshev" and margin <= 0.0
        self.status_ = "vacuous" if vacuous else "converged" if converged else "imprecise"

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        # b makes the bound on false alarms rho, so F is the mean score of the positives in units of its deviation.
        if self.is_linear:
            varies = self._inverse_spreads > 0
            squared_norm = float(np.sum((self.coef_[0, varies] / self._inverse_spreads[varies]) ** 2))
        else:
            squared_norm = float(self.dual_coef_[0] @ (scores[self.support_] - self.intercept_))
        of_positives = scores[signs > 0]
        margin = float(of_positives.mean() / np.sqrt(of_positives.var() + self._added_variance * squared_norm))
        return {"objective_": margin, "predicted_p_nd_": miss_rate(margin, self.bound)}


def _has_low_rank(gram: np.ndarray, tol: float) -> bool:
    """Return whether samples or coordinates are so few that dense matrices of them are cheap."""
    if len(gram) <= FEW_SAMPLES:
        return True
    step = len(gram) // FEW_SAMPLES
    some = np.ascontiguousarray(gram[::step, ::step][:FEW_SAMPLES, :FEW_SAMPLES])
    return len(coordinates(some, tol)[1]) <= FEW_SAMPLES // 2


def _standardised(X: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return samples of unit variance, the subtracted values, and 1 / (standard deviation), 0 for constant features."""
    with np.errstate(over="ignore", invalid="ignore"):
        # arrays are centred; of CSR features only the offsets are subtracted, so that the others stay sparse
        centre = offsets(X) if issparse(X) else X.mean(axis=0)
        Z = without_offsets(X, centre) if issparse(X) else X - centre
        spreads = np.sqrt(mean_variance_axis(Z, axis=0)[1] if issparse(X) else Z.var(axis=0))
    if not np.isfinite(spreads).all():
        raise ValueError("The variance of the features overflows: scale them to a moderate range.")
    varies = spreads > CONSTANT_SPREAD * np.abs(centre)
    inverse_spreads = np.divide(1.0, spreads, out=np.zeros_like(spreads), where=varies)
    Z = Z @ diags_array(inverse_spreads).tocsr() if issparse(X) else np.multiply(Z, inverse_spreads, out=Z)
    return Z, centre, inverse_spreads
