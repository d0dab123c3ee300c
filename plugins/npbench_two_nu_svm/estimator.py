"""The 2nu-SVM for Neyman-Pearson classification as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.kernel import MEGABYTE, KernelClassifier, KernelName
from npbench.evaluation.splits import Fold
from npbench.numerics.threads import blas_threads
from npbench.numerics.thresholds import empirical
from npbench_two_nu_svm.candidates import Grid, by_constraint, by_error
from npbench_two_nu_svm.reduced_hulls import DualNu, ReducedHulls
from npbench_two_nu_svm.search import Found, Visited, search
from npbench_two_nu_svm.strategies import BIAS_SHIFTED, STRATEGIES, StrategyName, grid_search

TWENTY = tuple(k / 20 for k in range(1, 21))
POSITIVE = Interval(Real, 0, None, closed="neither")


class Surface(NamedTuple):
    """Estimated rates over (nu_pos, nu_neg).

    Parameters
    ----------
    nu_pos, nu_neg : array
        The values that were visited, ascending.
    p_fa, p_nd : array of shape (len(nu_pos), len(nu_neg))
        Shares of false alarms and of misses, as they were counted; NaN where nothing was visited.
    """

    nu_pos: np.ndarray
    nu_neg: np.ndarray
    p_fa: np.ndarray
    p_nd: np.ndarray


class TwoNuSVM(KernelClassifier):
    """2nu-SVM whose parameters are those with the fewest estimated misses at a bound on false alarms.

    Finds the nearest points of the reduced convex hulls of both classes, f(x) = <w, phi(x)> + b with

        w = sum_{positives} u_i phi(x_i) - sum_{negatives} u_i phi(x_i)   of least norm,
        0 <= u_i <= 1 / (nu_pos n_pos) and 1 / (nu_neg n_neg),   sum of u_i = 1 in each class.

    Parameters that are not given are searched: ``min P_nd subject to P_fa <= rho`` over error rates estimated by
    leave-one-out, which is exact, or by cross-validation. Where no candidate keeps the bound, the least NP score
    ``P_nd + max(0, P_fa - rho) / rho`` decides. Ties go to the smaller P_fa, then the smaller gamma, then the larger
    nu_pos + nu_neg, then the larger nu_pos.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate, in ]0, 1[.
    strategy : {"bs", "bbs", "gs", "wgs", "cd", "wcd"}, default="cd"
        How (nu_pos, nu_neg) is searched, for each gamma. ``gs``: over the full grid. ``cd``: by coordinate descent,
        along lines of the grid, the first through 1/2. ``wgs``, ``wcd``: the same with rates smoothed by a Gaussian
        window, over 3 x 3 points or 3 points of a line. ``bs``: the nu-SVM of least probability of error, with nu from
        the grid of nu_pos; then its intercept is shifted so that on the training sample P_fa <= rho, with the fewest
        misses. ``bbs``: likewise with nu_pos = nu_neg.
    nu_pos, nu_neg : float, array of shape (n_values,) or None, default=None
        In ]0, 1]: the largest share of margin errors among the positives, and among the negatives; also the least share
        of support vectors. A number is used as it is, an array holds the values to search, and None stands for 1/20,
        2/20, ..., 1.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        A callable takes two samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"}, float, or array of these, of shape (n_values,), default="scale"
        ``exp(-gamma ||x - x'||^2)``; the paper's bandwidth is ``sigma = (2 gamma)^(-1/2)``. As in scikit-learn,
        "scale" is ``1 / (n_features X.var())`` and "auto" is ``1 / n_features``, for the whole training sample. Also
        scales the polynomial kernel. An array holds the values to search.
    degree : float, default=3
        Of the polynomial kernel ``(gamma x'x' + coef0)^degree``; positive.
    coef0 : float, default=0.0
        Of the polynomial kernel.
    cv : int, cross-validation generator, iterable of (fit rows, validation rows), or None, default=None
        How error rates are estimated: by k stratified folds, by the splits given, or by leave-one-out.
    tol : float, default=1e-6
        Largest duality gap, relative to the objective; positive.
    cache_size : float, default=1000
        Megabytes that the Gram matrix may take. A search holds a few matrices of this size for each of its threads.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    nu_pos_, nu_neg_, gamma_ : float
        The parameters chosen, or given. A fit with these fixed gives the same classifier.
    support_ : int array of shape (n_support,)
        Indices of the support vectors.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those samples; empty for a precomputed kernel.
    dual_coef_ : array of shape (1, n_support)
        Their weights u_i, with a minus sign for negatives.
    intercept_ : array of shape (1,)
        The b of f.
    coef_ : array of shape (1, n_features)
        Weights, for the linear kernel.
    n_support_ : int array of shape (2,)
        Support vectors per class.
    margin_ : float
        The r with ``y f(x) < r`` for margin errors, before any shift of the intercept (the paper's rho).
    objective_ : float
        Half the squared distance of the nearest points.
    duality_gap_ : float
        How far above the least value it may be.
    n_iter_ : int
        Pair steps of the final fit.
    converged_ : bool
        Whether the gap is within the tolerance, and the hulls are apart.
    status_ : {"converged", "hulls_meet", "imprecise"}
        The same as a word.
    trace_ : list of NamedTuple
        The points that the search estimated, kernel by kernel: seconds, gamma, nu_pos, nu_neg, p_fa, p_nd. Empty where
        nothing was searched.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Warns
    -----
    ConvergenceWarning
        If the reduced hulls meet, as they do at small nu for classes that the kernel does not separate: then f = 0,
        an error for every sample. Also if the tolerance was not met.

    Notes
    -----
    A pair step takes O(n). Leaving all samples out costs some ten full fits for one candidate, and more as more samples
    have weight: ``cv=4`` is faster by far from a thousand samples on. A coordinate descent visits three to five lines
    of the grid for each gamma.

    References
    ----------
    M. A. Davenport, R. G. Baraniuk, C. D. Scott (2006), Controlling false alarms with support vector machines, ICASSP.
    H.-G. Chew, R. E. Bogner, C.-C. Lim (2001), Dual-nu support vector machine with error rate and training size
    biasing, ICASSP.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TwoNuSVM(rho=0.1, cv=4).fit(scale(X), y)
    >>> bool(model.predict(scale(X))[y == 0].mean() <= 0.1)
    True
    """

    nu_pos_: float
    nu_neg_: float
    gamma_: float
    objective_: float
    duality_gap_: float
    converged_: bool
    status_: str
    trace_: list[Visited]

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        **KernelClassifier._parameter_constraints,
        "rho": [Interval(Real, 0, 1, closed="neither")],
        "strategy": [StrOptions(set(STRATEGIES))],
        "nu_pos": [None, POSITIVE, "array-like"],
        "nu_neg": [None, POSITIVE, "array-like"],
        "gamma": [*KernelClassifier._parameter_constraints["gamma"], "array-like"],
        "cv": ["cv_object"],
        "tol": [POSITIVE],
    }

    def __init__(
        self,
        *,
        rho: float = 0.05,
        strategy: StrategyName = "cd",
        nu_pos: float | Sequence[float] | None = None,
        nu_neg: float | Sequence[float] | None = None,
        kernel: KernelName = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        cv: Any = None,
        tol: float = 1e-6,
        cache_size: float = 1000,
    ) -> None:
        self.rho = rho
        self.strategy = strategy
        self.nu_pos = nu_pos
        self.nu_neg = nu_neg
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cv = cv
        self.tol = tol
        self.cache_size = cache_size

    def fit(self, X: Any, y: Any) -> Self:
        """Search what is not given, and fit the classifier.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Training samples; for a precomputed kernel the Gram matrix, of shape (n_samples, n_samples).
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        ValueError
            If nu_pos or nu_neg is infeasible, the Gram matrix exceeds ``cache_size``, or a class has too few samples
            for a search.
        """
        self._validate_params()
        X, signs = self._training_set(X, y)
        self._require_room(X)
        settled = self
        self.trace_ = []
        if self.searches:
            folds = None if self.cv is None else list(check_cv(self.cv, signs, classifier=True).split(X, signs))
            best, self.trace_, _ = self.search(X, signs, folds, blas_threads())
            settled = copy(self).set_params(gamma=best.gamma, nu_pos=best.nu_pos, nu_neg=best.nu_neg)
        self._solve(X, signs, settled)
        if not self.converged_:
            warnings.warn(self._explanation(), ConvergenceWarning, stacklevel=2)
        return self

    @property
    def searches(self) -> bool:
        """Whether a fit has anything to choose: a number, or a name for one, is used as it is."""
        return self._searches_nu or np.ndim(self.gamma) > 0

    def search(self, X: Any, y: np.ndarray, folds: Sequence[Fold] | None, n_threads: int = 1) -> Found:
        """Search what is not given.

        Parameters
        ----------
        X : {array, CSR matrix} of shape (n_samples, n_features)
            Samples.
        y : array of shape (n_samples,)
            Labels in {-1, +1}.
        folds : sequence of (fit rows, validation rows), or None
            What error rates are estimated from; None for leave-one-out.
        n_threads : int
            Kernels that are worked on at a time.

        Returns
        -------
        Found
        """
        self._require_room(X)
        named: Any = self.gamma if np.ndim(self.gamma) else [self.gamma]
        gammas = {copy(self).set_params(gamma=gamma).resolved_kernel(X).gamma for gamma in named}
        kernels = [copy(self).set_params(gamma=gamma) for gamma in sorted(gammas)]
        rank = by_error(float(np.mean(y > 0))) if self._shifts else by_constraint(self.rho)
        strategy = STRATEGIES[self.strategy] if self._searches_nu else grid_search
        return search(kernels, X, y, folds, self._grid(), strategy, rank, self.tol, n_threads)

    def surface(self, gamma: float | None = None) -> Surface:
        """Return the rates that the search estimated over (nu_pos, nu_neg).

        Parameters
        ----------
        gamma : float, optional
            One of those that were searched; by default the one chosen.

        Returns
        -------
        Surface
            Empty where nothing was searched.
        """
        check_is_fitted(self)
        gamma = self.gamma_ if gamma is None else gamma
        points = np.array([one[2:] for one in self.trace_ if one.gamma == gamma]).reshape(-1, 4)
        nu_pos, row = np.unique(points[:, 0], return_inverse=True)
        nu_neg, column = np.unique(points[:, 1], return_inverse=True)
        rates = np.full((2, len(nu_pos), len(nu_neg)), np.nan)
        rates[:, row, column] = points[:, 2:].T
        return Surface(nu_pos, nu_neg, *rates)

    @property
    def _searches_nu(self) -> bool:
        return not isinstance(self.nu_pos, Real) or not isinstance(self.nu_neg, Real)

    @property
    def _shifts(self) -> bool:
        return self.strategy in BIAS_SHIFTED

    def _grid(self) -> Grid:
        fixed = [isinstance(nu, Real) for nu in (self.nu_pos, self.nu_neg)]
        if self._shifts and any(fixed) and not all(fixed):
            raise ValueError(
                f"strategy={self.strategy!r} searches one nu for both classes: fix both nu_pos and nu_neg, or neither, "
                "or use another strategy."
            )
        return Grid(*(np.unique(TWENTY if nu is None else nu).astype(float) for nu in (self.nu_pos, self.nu_neg)))

    def _solve(self, X: Any, signs: np.ndarray, settled: TwoNuSVM) -> None:
        """Fit with the parameters of an estimator that has a number for each."""
        K = settled._gram(X).whole
        assert K is not None  # there is room for it
        assert isinstance(settled.nu_pos, Real)
        assert isinstance(settled.nu_neg, Real)
        self.nu_pos_, self.nu_neg_ = float(settled.nu_pos), float(settled.nu_neg)
        self._kernel, self.gamma_ = settled._kernel, settled._kernel.gamma
        found = ReducedHulls(K, signs, self.tol).solve(DualNu(self.nu_pos_, self.nu_neg_))
        b = found.b
        if self._shifts and not found.meet:
            b -= empirical((K @ found.x + b)[signs < 0], self.rho)
        self._keep_expansion(X, signs, found.x, b)
        self.margin_, self.objective_, self.duality_gap_ = found.margin, found.objective, found.gap
        self.n_iter_ = found.n_steps
        self.status_ = "hulls_meet" if found.meet else "converged" if found.converged else "imprecise"
        self.converged_ = self.status_ == "converged"

    def _require_room(self, X: Any) -> None:
        n = X.shape[0]
        if self.kernel == "precomputed":
            self._require_square(X)
        elif 8 * n**2 > self.cache_size * MEGABYTE:
            raise ValueError(
                f"The Gram matrix of {n} samples takes {8 * n**2 / MEGABYTE:.3g} MB, more than cache_size="
                f"{self.cache_size:g}, and the 2nu-SVM needs all of it. Raise cache_size, or fit fewer samples."
            )

    def _explanation(self) -> str:
        start = f"TwoNuSVM with nu_pos={self.nu_pos_:.4g}, nu_neg={self.nu_neg_:.4g} and gamma={self.gamma_:.4g}: "
        if self.status_ == "hulls_meet":
            return (
                f"{start}the reduced convex hulls of the classes meet, so that f = 0 and every sample is an error. "
                "Use a larger nu_pos or nu_neg, or another kernel, as one with a larger gamma."
            )
        return (
            f"{start}the fit ended with a duality gap of {self.duality_gap_:.2g} at an objective of "
            f"{self.objective_:.2g}, above tol={self.tol:g}. Scale the features to unit variance, or allow a "
            "larger tol."
        )

    def _validate_params(self) -> None:
        super()._validate_params()
        for name in ("nu_pos", "nu_neg", "gamma"):
            value = getattr(self, name)
            if np.ndim(value):
                if not len(value):
                    raise ValueError(f"{name} is an empty array: give it values to search, or a number.")
                for one in value:
                    copy(self).set_params(**{name: one})._validate_params()
        DualNu(*(nu if isinstance(nu, Real) else 1.0 for nu in (self.nu_pos, self.nu_neg)))
