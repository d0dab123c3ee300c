"""The 2nu-SVM for Neyman-Pearson classification as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from numbers import Real
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from npbench.estimators.constraints import FRACTION, POSITIVE, StrOptions
from npbench.estimators.kernel import KernelClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.evaluation.splits import Fold
from npbench.numerics.threads import blas_threads
from npbench.numerics.thresholds import RULES
from npbench_two_nu_svm.candidates import Grid, Visited, by_constraint, by_error
from npbench_two_nu_svm.reduced_hulls import DualNu, ReducedHulls
from npbench_two_nu_svm.search import Found, search
from npbench_two_nu_svm.strategies import BIAS_SHIFTED, NARROW_FIRST, STRATEGIES, StrategyName, grid_search

DEFAULT_NU = tuple(k / 20 for k in range(1, 21))


@keyword_parameters
class TwoNuSVM(KernelClassifier):
    """2nu-SVM with the parameters of fewest estimated misses under a bound on false alarms.

    Finds the nearest points of the reduced convex hulls of both classes, f(x) = <w, phi(x)> + b with

        w = sum_{positives} u_i phi(x_i) - sum_{negatives} u_i phi(x_i)   of least norm,
        0 <= u_i <= 1 / (nu_pos n_pos) and 1 / (nu_neg n_neg),   sum of u_i = 1 in each class.

    Parameters without a value are searched: ``min P_nd subject to P_fa <= rho`` over error rates estimated by
    leave-one-out, which is exact, or by cross-validation. If no candidate meets the bound, the least NP score
    ``P_nd + max(0, P_fa - rho) / rho`` decides. Ties go to the smaller P_fa, then the smaller gamma, then the larger
    nu_pos + nu_neg, then the larger nu_pos.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate, in ]0, 1[.
    strategy : {"bs", "bbs", "bs_narrow", "bbs_narrow", "wbs", "wbbs", "gs", "wgs", "cd", "wcd"}, default="cd"
        Search of (nu_pos, nu_neg), for each gamma. ``gs``: over the full grid. ``cd``: by coordinate descent,
        along lines of the grid, the first through 1/2. ``wgs``, ``wcd``: the same with rates smoothed by a Gaussian
        window, over 3 x 3 points or 3 points of a line. ``bs``: the nu-SVM of least probability of error, with nu from
        the grid of nu_pos; then its intercept is shifted so that on the training sample P_fa <= rho, with the fewest
        misses. ``bbs``: likewise with nu_pos = nu_neg. ``wbs``, ``wbbs``: the same with rates smoothed over 3 values
        of nu. Of equal errors the wider bandwidth is taken; with ``bs_narrow`` and ``bbs_narrow`` the narrower one.
    nu_pos, nu_neg : float, array of shape (n_values,) or None, default=None
        Largest share of margin errors, and least share of support vectors, among the positives and among the negatives,
        in ]0, 1]. A number is fixed, an array holds the values to search, and None stands for 1/20, 2/20, ..., 1.
    gamma : {"scale", "auto"}, float, or array of these, of shape (n_values,), default="scale"
        Bandwidth of ``exp(-gamma ||x - x'||^2)``, ``1 / (2 sigma^2)``; positive. As in scikit-learn, "scale" is
        ``1 / (n_features X.var())`` and "auto" is ``1 / n_features``, for the whole training sample. Also scales the
        polynomial kernel. An array holds the values to search.
    cv : int, cross-validation generator, iterable of (fit rows, validation rows), or None, default=None
        Estimation of error rates: by k stratified folds, by the splits given, or by leave-one-out.
    tol : float, default=1e-6
        Largest duality gap, relative to the objective; positive.
    cache_size : float, default=1000
        Memory for the Gram matrix, in megabytes; positive. A search holds a few such matrices for each of its threads.

    Attributes
    ----------
    nu_pos_, nu_neg_, gamma_ : float
        Values chosen, or given. A fit with these gives the same classifier.
    dual_coef_ : array of shape (1, n_support)
        Weights u_i of the support vectors, with a minus sign for negatives.
    margin_ : float
        The r with ``y f(x) < r`` for margin errors, before any shift of the intercept (the paper's rho).
    objective_ : float
        Half the squared distance of the nearest points.
    duality_gap_ : float
        Upper bound on objective_ minus the optimum.
    n_iter_ : int
        Pair steps of the final fit.
    converged_ : bool
        Whether the gap is within the tolerance, and the hulls are apart.
    status_ : {"converged", "hulls_meet", "imprecise"}
        How the fit ended. "hulls_meet": the reduced hulls meet, as at small nu for classes that the kernel does not
        separate; then f = 0, an error for every sample. "imprecise": the tolerance was not met.
    trace_ : list of NamedTuple
        Points estimated by a search, if any, kernel by kernel: seconds, gamma, nu_pos, nu_neg, p_fa, p_nd.

    Raises
    ------
    ValueError
        In ``fit``: if a nu is infeasible, the Gram matrix exceeds ``cache_size``, or a class is too small for a search.

    References
    ----------
    M. A. Davenport, R. G. Baraniuk, C. D. Scott (2006), Controlling false alarms with support vector machines, ICASSP.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TwoNuSVM(rho=0.1, cv=4).fit(scale(X), y)
    >>> bool(model.predict(scale(X))[y == 0].mean() <= 0.1)
    True
    """

    rho: float = parameter(FRACTION, default=0.05)
    strategy: StrategyName = parameter(StrOptions(set(STRATEGIES)), default="cd")
    nu_pos: float | Sequence[float] | None = parameter(None, POSITIVE, "array-like", default=None)
    nu_neg: float | Sequence[float] | None = parameter(None, POSITIVE, "array-like", default=None)
    gamma: Any = parameter(*KernelClassifier._parameter_constraints["gamma"], "array-like", default="scale")
    cv: Any = parameter("cv_object", default=None)
    tol: float = parameter(POSITIVE, default=1e-6)

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        self._require_gram(X)
        chosen = self
        self.trace_: list[Visited] = []
        if self.searches:
            folds = None if self.cv is None else list(check_cv(self.cv, signs, classifier=True).split(X, signs))
            best, self.trace_, _ = self.search(X, signs, folds, blas_threads())
            # a fit with the chosen numbers gives the same classifier
            chosen = copy(self).set_params(gamma=best.gamma, nu_pos=best.nu_pos, nu_neg=best.nu_neg)
        self._solve(X, signs, chosen)

    @property
    def searches(self) -> bool:
        """True if a fit searches a parameter: a number, or a name for one, is fixed."""
        return self._searches_nu or np.ndim(self.gamma) > 0

    def search(self, X: Any, y: np.ndarray, folds: Sequence[Fold] | None, n_threads: int = 1) -> Found:
        """Search the parameters without a value on X and labels in {-1, +1}; ``folds`` of None mean leave-one-out."""
        self._require_gram(X)
        named: Any = self.gamma if np.ndim(self.gamma) else [self.gamma]
        gammas = {copy(self).set_params(gamma=gamma).resolved_kernel(X).gamma for gamma in named}
        kernels = [copy(self).set_params(gamma=gamma) for gamma in sorted(gammas)]
        rank = by_constraint(self.rho)
        if self.strategy in BIAS_SHIFTED:
            rank = by_error(float(np.mean(y > 0)), narrow_first=self.strategy in NARROW_FIRST)
        strategy = STRATEGIES[self.strategy] if self._searches_nu else grid_search
        return search(kernels, X, y, folds, self._grid(), strategy, rank, self.tol, n_threads)

    @property
    def _searches_nu(self) -> bool:
        return not isinstance(self.nu_pos, Real) or not isinstance(self.nu_neg, Real)

    def _grid(self) -> Grid:
        fixed = [isinstance(nu, Real) for nu in (self.nu_pos, self.nu_neg)]
        if self.strategy in BIAS_SHIFTED and any(fixed) and not all(fixed):
            raise ValueError(f"strategy={self.strategy!r} searches one nu for both classes: fix both or neither.")
        return Grid(*(np.unique(DEFAULT_NU if nu is None else nu).astype(float) for nu in (self.nu_pos, self.nu_neg)))

    def _solve(self, X: Any, signs: np.ndarray, chosen: TwoNuSVM) -> None:
        """Fit with the parameters of ``chosen``, which are all numbers."""
        is_own = isinstance(self.kernel, str) and self.kernel != "precomputed"  # the matrix, which may be overwritten
        # with the positives first, the kernels can overwrite K
        order = np.argsort(-signs, kind="stable") if is_own else np.arange(len(signs))
        K = chosen._gram(X[order] if is_own else X).whole
        assert K is not None  # checked by _require_gram
        nu = DualNu(float(chosen.nu_pos), float(chosen.nu_neg))  # type: ignore[arg-type]
        self.nu_pos_, self.nu_neg_ = nu.nu_pos, nu.nu_neg
        self._kernel, self._offsets = chosen._kernel, chosen._offsets
        self.gamma_: float = chosen._kernel.gamma
        hulls = ReducedHulls(K, signs[order], self.tol, overwrite_K=is_own)
        found = hulls.solve(nu)
        x = np.empty(len(signs))
        x[order] = found.x
        self._set_expansion(X, signs, x, found.b)
        if self.strategy in BIAS_SHIFTED and not found.meet:
            # threshold of the scores without intercept: rounding then changes no comparison
            self.intercept_ = np.zeros(1)
            self.intercept_ = np.array([-RULES["empirical"].threshold(self._scores(X)[signs < 0], self.rho, delta=0.0)])
        self.margin_, self.n_iter_ = found.margin, found.n_steps
        self.objective_: float = found.objective
        self.duality_gap_: float = found.gap
        self.status_: str = "hulls_meet" if found.meet else "converged" if found.converged else "imprecise"
        self.converged_ = self.status_ == "converged"

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        return {"objective_": 0.5 * self._squared_norm(scores)}

    def require_rows(self, n_rows: int) -> None:
        """Raise a ValueError if a fit to so many samples needs a Gram matrix that exceeds ``cache_size``."""
        if self.kernel != "precomputed":
            self._require_memory(n_rows, "ac_svm, which approximates the kernel")

    def _require_gram(self, X: Any) -> None:
        self._require_square(X)
        self.require_rows(X.shape[0])

    def _explanation(self) -> str:
        point = f"at nu_pos={self.nu_pos_:.4g}, nu_neg={self.nu_neg_:.4g} and gamma={self.gamma_:.4g}"
        if self.status_ == "hulls_meet":
            return (
                f"{point} the reduced convex hulls of the classes meet up to rounding, so f = 0 and every sample is an "
                "error. Use a larger nu_pos or nu_neg, centre the features, or use a kernel with a larger gamma."
            )
        return (
            f"{point} the fit ended with a duality gap of {self.duality_gap_:.2g} at an objective of "
            f"{self.objective_:.2g}, above tol={self.tol:g}. Centre and scale the features, or increase tol."
        )

    def _validate_params(self) -> None:
        super()._validate_params()
        for name in ("nu_pos", "nu_neg", "gamma"):
            value = getattr(self, name)
            if np.ndim(value):
                if not len(value):
                    raise ValueError(f"{name} is an empty array: expected values to search, or a number.")
                for one in value:
                    copy(self).set_params(**{name: one})._validate_params()
        DualNu(*(nu if isinstance(nu, Real) else 1.0 for nu in (self.nu_pos, self.nu_neg)))
