"""Convex Neyman-Pearson classification by outer-approximation splitting, as a scikit-learn classifier."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d

from npbench.estimators.binary import LinearClassifier
from npbench.estimators.constraints import COUNT, FRACTION, NUMBER, POSITIVE, StrOptions
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.samples import column
from npbench.numerics.centring import offsets, without_offsets
from npbench.numerics.threads import one_blas_thread
from npbench_splitting.genes import GeneScore
from npbench_splitting.numerics.calibrated import LOSSES, CalibratedLoss
from npbench_splitting.numerics.splitting import Accelerate, Ball, GroupBound, Result, minimise

EXPLANATIONS = {
    "max_iter": "the KKT residual is above the tolerance after max_iter iterations. Increase max_iter, centre and "
    "scale the features, or use accelerate='newton'",
    "stalled": "rounding allows no further decrease. Centre and scale the features, or increase tol",
}


class ProjectionStep(NamedTuple):
    """One step of one projection; ``gap`` is the largest violation of the constraints after it."""

    iteration: int
    inner: int  # 0 for the point projected
    gap: float


@keyword_parameters
class SplittingNP(LinearClassifier):
    """Linear classifier of least convex risk of misses, under a bound on the convex risk of false alarms.

    Solves, over f(x) = w'x + b and with a smooth calibrated loss phi,

        min phi_pos(f)   subject to   phi_neg(f) <= tau,

    the means of phi(f(x)) over positives and of phi(-f(x)) over negatives.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate of the negative class, in ]0, 1[; the tau of the paper's experiments.
    tau : float, optional
        Bound on phi_neg. Default: ``rho``. It implies P_fa <= tau / phi(0) on the training sample, so ``rho * phi(0)``
        guarantees rho there; phi(0) is ln 2 for "logistic", 1/2 for "matsusita". In practice P_fa is far below tau.
    loss : {"logistic", "matsusita", "hinge"}, default="logistic"
        Loss phi. The calibrated "hinge" is unbounded below and phi(0) = 0: it needs a ``tau`` of its own, usually
        negative, and bounds no rate.
    fit_intercept : bool, default=True
        Whether f has the intercept b, as the weight of a constant feature; the paper has none. Offsets of dense
        features are then subtracted, which changes b alone.
    max_norm : float, optional
        Bound on the Euclidean norm of w, without b; positive. With fewer samples than a few times the number of
        features it keeps the classifier from fitting noise.
    group_tau : float, optional
        Bound on phi_neg of each of the ``groups`` of :meth:`fit`, and of ``constraints`` without one. Default: ``tau``.
    constraints : list of dict, optional
        Further groups of negatives, each by the value of a feature: ``{"feature": 2, "above": 0.5, "tau": 0.1}`` bounds
        phi_neg of those with more than 0.5 in feature 2, counted from 0. ``at_most`` takes the others; both together
        take an interval. A group without negatives has no bound.
    n_features_to_select : int, optional
        Number of features to use, by the largest :class:`GeneScore` on the training sample. Default: all.
    tol : float, default=1e-6
        Largest relative KKT residual; positive.
    max_iter : int, default=1000
        Largest number of outer iterations.
    inner : int or "summable", default=9
        Largest number of steps of a projection, or "summable": enough for projection errors with a finite sum. It has
        no effect with ``accelerate="newton"``. The number is the paper's K_n.
    step : {"spectral", "frobenius"}, default="spectral"
        Norm of the positives that bounds the step length; no effect with ``accelerate="newton"``. The Frobenius norm
        is the paper's (equation 22), and gives shorter steps.
    accelerate : {"newton", "nesterov", "none"}, default="newton"
        "none" is the paper's algorithm, "nesterov" adds momentum; "newton" has the Lagrangian's Hessian as its metric.
    keep : {"iterates", "projections"}, optional
        "iterates" stores the weights of every iteration, for :meth:`staged_decision_function`. "projections" puts the
        convergence of each projection into ``trace_``, for ``accelerate`` other than "newton".
    warm_start : bool, default=False
        Whether :meth:`fit` starts from the weights of the previous fit, as along a path of tau.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Weights w; 0 for features that were not selected.
    n_iter_ : int
        Number of outer iterations.
    converged_ : bool
        Whether the KKT residual is at most ``tol``.
    status_ : {"converged", "unattained", "max_iter", "stalled"}
        How the fit ended. "unattained": converged, but f separates the classes, so the risk has no minimiser and
        ``tol`` decides where the iterates stop.
    objective_ : float
        phi_pos.
    surrogate_rates_ : (float, float)
        (phi_pos, phi_neg) on the training sample.
    multiplier_ : float
        Multiplier of ``phi_neg <= tau``: the value of tau in units of phi_pos.
    group_multipliers_ : dict
        Multiplier of the bound on each group, such as "feature 2 > 0.5" of ``constraints``.
    norm_multiplier_ : float
        Multiplier of ``||w|| <= max_norm``; 0 without it.
    kkt_residual_ : float
        Violation of the first-order conditions, relative to the sizes of their parts.
    trace_ : list of Step
        Seconds, objective, surrogate and 0-1 rates, multiplier and KKT residual of each iterate, the start first; with
        ``keep="projections"`` the gap of each step of each projection.

    References
    ----------
    M. Barlaud, P. L. Combettes, L. Fillatre (2015), Constrained convex Neyman-Pearson classification using an outer
    approximation splitting method, hal-01160831, algorithm (37).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SplittingNP(rho=0.1, max_norm=2.0).fit(scale(X), y)
    >>> round(model.surrogate_rates_[1], 6), float((model.decision_function(scale(X))[y == 0] >= 0).mean().round(3))
    (0.1, 0.024)
    """

    rho: float = parameter(FRACTION, default=0.05)
    tau: float | None = parameter(None, NUMBER, default=None)
    loss: Literal["logistic", "matsusita", "hinge"] = parameter(StrOptions(set(LOSSES)), default="logistic")
    fit_intercept: bool = parameter("boolean", default=True)
    max_norm: float | None = parameter(None, POSITIVE, default=None)
    group_tau: float | None = parameter(None, NUMBER, default=None)
    constraints: Sequence[Mapping[str, Any]] | None = parameter(None, list, tuple, default=None)
    n_features_to_select: int | None = parameter(None, COUNT, default=None)
    tol: float = parameter(POSITIVE, default=1e-6)
    max_iter: int = parameter(COUNT, default=1000)
    inner: int | Literal["summable"] = parameter(StrOptions({"summable"}), COUNT, default=9)
    step: Literal["spectral", "frobenius"] = parameter(StrOptions({"spectral", "frobenius"}), default="spectral")
    accelerate: Accelerate = parameter(StrOptions({"newton", "nesterov", "none"}), default="newton")
    keep: Literal["iterates", "projections"] | None = parameter(
        None, StrOptions({"iterates", "projections"}), default=None
    )
    warm_start: bool = parameter("boolean", default=False)

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X, y
            Training samples, an array or sparse matrix, and two labels; the larger one is the positive class.
        groups : array of shape (n_samples,), optional
            Group of each sample, a number or a string. The negatives of a group, if any, have the bound ``group_tau``.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples, at least 0; each class needs a positive one. A weight of k counts as k equal
            samples: all risks are weighted means. Multiplying the weights of a class by a number changes nothing.

        Raises
        ------
        ValueError
            If no weights meet the bounds (the message has the least value), or the hinge is unbounded below.

        Warns
        -----
        ConvergenceWarning
            If ``converged_`` is False, or ``status_`` is "unattained".
        """
        self._run_fit(X, y, sample_weight, groups=groups)
        return self

    def _fit(self, X: Any, signs: np.ndarray, groups: Any = None, weight: np.ndarray | None = None) -> None:
        weight = np.ones(len(signs)) if weight is None else weight
        if groups is not None:
            groups = check_array(column_or_1d(groups), ensure_2d=False, dtype=None)
            check_consistent_length(groups, signs)
        if not weight.all():
            kept = weight > 0.0
            X, signs, weight, groups = X[kept], signs[kept], weight[kept], None if groups is None else groups[kept]
        columns = self._selected(X, signs, weight)
        bounds = self._group_bounds(X, groups, signs)
        selected = _select_columns(X, columns)
        self._offsets = offsets(selected) if self.fit_intercept else np.zeros(selected.shape[1])
        centred = without_offsets(selected, self._offsets)
        result = self._minimum(centred, signs, list(bounds.values()), self._start(X.shape[1], columns), weight)
        if result.status == "infeasible":
            raise ValueError(self._infeasible(result, bounds))
        self._set_result(X.shape[1], columns, result, list(bounds))
        if self.status_ == "unattained":
            message = (
                "SplittingNP: the classes can be separated, so the risk of misses has no minimiser but falls to 0 as "
                f"weights grow; the fit stopped at tol={self.tol:g}. Set max_norm, which makes the problem well-posed."
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=4)  # names the caller of fit

    def _minimum(
        self, X: Any, signs: np.ndarray, bounds: list[GroupBound], w0: np.ndarray | None, weight: np.ndarray
    ) -> Result:
        """Return the minimiser, the weight of the constant feature last."""
        Z = _with_constant(X) if self.fit_intercept else X
        ball = None if self.max_norm is None else Ball(self.max_norm, np.arange(X.shape[1]))
        # Products with one vector are memory-bound: BLAS threads would wait for each other.
        threads = nullcontext() if self.accelerate == "newton" else one_blas_thread()
        options: Any = {name: getattr(self, name) for name in ("tol", "max_iter", "inner", "step", "accelerate")}
        options |= {"bounds": bounds, "ball": ball, "w0": w0, "keep_iterates": self.keep == "iterates"}
        options["weights"] = weight[signs > 0], weight[signs < 0]
        with threads:
            return minimise(Z[signs > 0], Z[signs < 0], self._loss, self._bound, **options)

    def surrogate_loss(self, margins: np.ndarray) -> np.ndarray:
        """Return phi of margins, y f(x) with y in {-1, +1}."""
        return self._loss.value(np.asarray(margins, dtype=np.float64))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the posterior probabilities of both classes under the loss, ``1 - p`` and ``p = posterior(f)``.

        They hold for a population in which false alarms weigh ``multiplier_`` against 1 for misses, whatever the shares
        of the classes; for other odds, multiply ``p / (1 - p)``. For "logistic", p is 1 / (1 + exp(-f)).
        """
        scores = self.decision_function(X)
        return np.column_stack([self._loss.posterior(-scores), self._loss.posterior(scores)])

    @available_if(lambda self: self.keep == "iterates")
    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield f(x) for each iterate, the start first."""
        check_is_fitted(self)
        X = _select_columns(self._samples(X), self._columns)
        for weights, intercept in self._stages:
            yield np.asarray(X @ weights) + intercept

    def _start(self, n_features: int, columns: slice | np.ndarray) -> np.ndarray | None:
        if not self.warm_start or getattr(self, "coef_", np.empty((1, 0))).shape[1] != n_features:
            return None
        w = self.coef_[0, columns]
        return np.append(w, self.intercept_ + w @ self._offsets) if self.fit_intercept else w

    @property
    def _loss(self) -> CalibratedLoss:
        return LOSSES[self.loss]

    @property
    def _bound(self) -> float:
        return self.rho if self.tau is None else self.tau

    def _validate_params(self) -> None:
        super()._validate_params()
        constraints = dict(enumerate(self.constraints or ()))
        for place, constraint in constraints.items():
            _check_constraint(f"constraints[{place}]", constraint)
        bounds = {f"constraints[{place}]: tau": one.get("tau") for place, one in constraints.items()}
        for name, value in {"tau": self.tau, "group_tau": self.group_tau, **bounds}.items():
            if self._loss.bounded and value is not None and value <= 0.0:
                raise ValueError(f"{name} is {value!r}: expected a positive bound, as the {self.loss} loss is positive")

    def _selected(self, X: Any, signs: np.ndarray, weight: np.ndarray) -> slice | np.ndarray:
        if self.n_features_to_select is None:
            return slice(None)
        selector = GeneScore(n_features_to_select=self.n_features_to_select)
        selector.fit(X, signs, weight if np.ptp(weight) else None)
        return np.asarray(selector.get_support(indices=True))

    def _group_bounds(self, X: Any, groups: np.ndarray | None, signs: np.ndarray) -> dict[Any, GroupBound]:
        """Return the bounds by the names of their groups; only groups with negatives have one."""
        default = self._bound if self.group_tau is None else self.group_tau
        of_negatives = np.empty(0) if groups is None else groups[signs < 0]
        try:
            labels = np.unique(of_negatives)
        except TypeError:
            raise ValueError("groups mixes numbers and strings: use one kind for all samples.") from None
        bounds = {label: GroupBound(of_negatives == label, default) for label in labels.tolist()}
        for place, one in enumerate(self.constraints or ()):
            if one["feature"] >= X.shape[1]:
                raise ValueError(f"constraints[{place}] has feature {one['feature']}, but X has {X.shape[1]}, from 0.")
            values = column(X, one["feature"])[signs < 0]
            rows = (values > one.get("above", -np.inf)) & (values <= one.get("at_most", np.inf))
            if rows.any():
                limits = [f"{sign} {one[key]:g}" for key, sign in (("above", ">"), ("at_most", "<=")) if key in one]
                bounds[f"feature {one['feature']} {' and '.join(limits)}"] = GroupBound(rows, one.get("tau", default))
        return bounds

    def _set_result(self, n_features: int, columns: slice | np.ndarray, result: Result, labels: list[Any]) -> None:
        self.coef_, self.intercept_ = np.zeros((1, n_features)), np.zeros(1)
        self.coef_[0, columns], self.intercept_[0] = self._split(result.w)
        if self.keep == "iterates":
            self._columns, self._stages = columns, [self._split(w) for w in result.iterates]
        self.n_iter_, self.status_ = len(result.gaps), result.status
        self.converged_ = result.status in ("converged", "unattained")
        self.objective_, self.kkt_residual_ = result.objective, result.kkt_residual
        self.surrogate_rates_ = (result.objective, self._bound + result.excess)
        # in the order of the constraints: all negatives, groups, ball
        multipliers = iter(result.multipliers.tolist())
        self.multiplier_ = next(multipliers)
        self.group_multipliers_ = {label: next(multipliers) for label in labels}
        self.norm_multiplier_ = next(multipliers, 0.0)
        self.trace_: list[Any] = result.history
        if self.keep == "projections":
            courses = enumerate(result.gaps, start=1)
            self.trace_ = [ProjectionStep(k, inner, gap) for k, gaps in courses for inner, gap in enumerate(gaps)]

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        loss = self._loss.value(signs * scores)
        phi_pos, phi_neg = float(loss[signs > 0].mean()), float(loss[signs < 0].mean())
        return {"objective_": phi_pos, "surrogate_rates_": (phi_pos, phi_neg)}

    def _split(self, w: np.ndarray) -> tuple[np.ndarray, float]:
        return (w[:-1], float(w[-1] - w[:-1] @ self._offsets)) if self.fit_intercept else (w, 0.0)

    def _explanation(self) -> str:
        return (
            f"{EXPLANATIONS[self.status_]}. The classifier has phi_pos={self.objective_:.4g}, phi_neg="
            f"{self.surrogate_rates_[1]:.4g} (bound: {self._bound:g}) and a KKT residual of {self.kkt_residual_:.1e} "
            f"(tol={self.tol:g}, {self.n_iter_} iterations)."
        )

    def _infeasible(self, result: Result, bounds: dict[Any, GroupBound]) -> str:
        assert result.failing is not None
        limits = {"all negatives": self._bound, **{f"group {label!r}": one.tau for label, one in bounds.items()}}
        negatives, bound = list(limits.items())[result.failing]
        remedies = ["raise the bound"]
        if self.max_norm is not None:
            remedies.append("raise max_norm")
        if not self.fit_intercept:
            remedies.append("use fit_intercept=True, which can meet any positive bound")
        fault = f"the least reachable surrogate risk of false alarms for {negatives} is {result.reachable:.6g}"
        return f"No weights meet the bounds: {fault}, above the bound of {bound:g}. Remedy: {', or '.join(remedies)}."


def _check_constraint(name: str, given: Any) -> None:
    """Raise a ValueError unless ``given`` describes a group of negatives."""
    keys = {"feature", "above", "at_most", "tau"}
    if not isinstance(given, Mapping) or not {"feature"} < set(given) <= keys or not {"above", "at_most"} & set(given):
        raise ValueError(f"{name} is {given!r}: expected feature, above or at_most or both, and a tau of its own.")
    if not isinstance(given["feature"], Integral) or given["feature"] < 0:
        raise ValueError(f"{name} has feature {given['feature']!r}: expected the number of a column, from 0.")
    for key in given:
        if not isinstance(given[key], Real) or not np.isfinite(given[key]):
            raise ValueError(f"{name} has {key} {given[key]!r}: expected a number.")


def _with_constant(X: Any) -> Any:
    """Return X with a last feature of ones, which carries the intercept."""
    ones = np.ones((X.shape[0], 1))
    return sparse.hstack([X, sparse.csr_array(ones)], format="csr") if sparse.issparse(X) else np.hstack([X, ones])


def _select_columns(X: Any, columns: slice | np.ndarray) -> Any:
    """Return some columns of X; an array keeps C order, as other orders make all products several times slower."""
    return X[:, columns] if isinstance(columns, slice) or sparse.issparse(X) else X.take(columns, axis=1)
