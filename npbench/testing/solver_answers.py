"""Checks of what a fit returns and claims: direction, repeatability, honesty, at extreme scales and offsets too."""

from typing import Any

import numpy as np

from npbench.contracts import Solver
from npbench.testing.check import Skipped, require
from npbench.testing.samples import apart, blobs, fitted_aloud, made, scores

SCORE_TOLERANCE = 0.05  # relative to the spread of the scores; tolerances on objectives allow this
OBJECTIVE_TOLERANCE = 0.01  # relative
ZERO_OBJECTIVE = 1e-6  # absolute tolerance, for an optimum of 0
FEATURE_CHANGES = {"times": (1e-8, 1e4, 1e7, 1e8), "plus": (1e6, 1e8)}
CLAIM_TOLERANCE = 1e-3  # relative, absolute for rates
ZERO_CLAIM = 1e-9  # absolute tolerance, for claims of 0
BOUND_FACTOR = 1.25  # estimators have tolerances on their bounds


def direction(solver: Solver) -> None:
    """For classes far apart, every positive scores above every negative."""
    X, y = blobs(shift=8.0)
    found = scores(solver, X, y, X)
    lowest, highest = found[y > 0].min(), found[y < 0].max()
    shown = f"the lowest score of a positive is {lowest:.3g}, the highest of a negative {highest:.3g}"
    require(lowest > highest, f"For classes far apart, {shown}: larger must mean more positive (classes_[1]).")


def same_seed(solver: Solver) -> None:
    """Two fits with the same seed give the same scores, bit for bit."""
    X, y = blobs()
    first, second = (scores(solver, X, y, X) for _ in range(2))
    difference = np.max(np.abs(first - second))
    require(difference == 0, f"Two fits to the same sample differ by {difference:.3g}: draw from random_state.")


def honest_flags(solver: Solver) -> None:
    """converged_ is False exactly if fit issues a ConvergenceWarning, and n_iter_ is at most max_iter."""
    X, y = blobs()
    trials = [{}, {"max_iter": 1}] if "max_iter" in made(solver).get_params() else [{}]
    for params in trials:
        model, warned = fitted_aloud(solver, X, y, **params)
        asked = ", ".join(f"{name}={value}" for name, value in params.items()) or "defaults"
        said = f"warned {warned[0]!r}" if warned else "did not warn"
        flag = getattr(model, "converged_", None if not warned else "absent")
        is_honest = flag is None or (isinstance(flag, (bool, np.bool_)) and flag != bool(warned))
        remedy = "issue a ConvergenceWarning if the fit did not converge, and neither otherwise"
        require(is_honest, f"With {asked}, fit {said} and converged_ is {flag}: set converged_ to False and {remedy}.")
        n_iter = int(np.max(getattr(model, "n_iter_", 0)))
        limit = model.get_params().get("max_iter")
        is_right = not isinstance(limit, int) or 0 <= n_iter <= limit
        require(is_right, f"With {asked}, n_iter_ is {n_iter} and max_iter {limit}: count the same steps in both.")


def row_order(solver: Solver) -> None:
    """The order of the rows does not matter (no tag stochastic)."""
    X, y = blobs()
    order = np.random.default_rng(1).permutation(len(y))
    difference = apart(scores(solver, X, y, X), scores(solver, X[order], y[order], X))
    shown = f"{difference:.2g} of their spread, expected at most {SCORE_TOLERANCE}"
    remedy = "make fit independent of it, or add the tag stochastic and a parameter random_state"
    require(difference <= SCORE_TOLERANCE, f"With the rows in another order, scores differ by {shown}: {remedy}.")


def linear_scores(solver: Solver) -> None:
    """The score of the midpoint of two samples is the mean of their scores (tag linear)."""
    X, y = blobs()
    a, b = X[:60], X[60:]
    model = made(solver).fit(X, y)
    ends = (model.decision_function(a) + model.decision_function(b)) / 2
    difference = apart(ends, model.decision_function((a + b) / 2))
    require(difference <= 1e-9, f"Midpoints score {difference:.2g} of the spread off the mean: remove the tag linear.")


def one_optimum(solver: Solver) -> None:
    """The objective does not depend on the order of the rows, and the duality gap is not negative (tag convex)."""
    X, y = blobs()
    order = np.random.default_rng(1).permutation(len(y))
    models = [made(solver).fit(X, y), made(solver).fit(X[order], y[order])]
    if not hasattr(models[0], "objective_"):
        raise Skipped("The estimator has no objective_.")
    first, second = (float(model.objective_) for model in models)
    is_same = abs(first - second) <= OBJECTIVE_TOLERANCE * max(abs(first), abs(second)) + ZERO_OBJECTIVE
    shown = f"objective_ is {first:.6g}, and {second:.6g} with the rows in another order"
    require(is_same, f"{shown}: a convex problem has one. Solve it more precisely, or remove the tag convex.")
    gap = float(getattr(models[0], "duality_gap_", 0.0))
    require(gap >= -ZERO_OBJECTIVE * (1.0 + abs(first)), f"duality_gap_ is {gap:.3g}: use a bound below the optimum.")


def honest_claims(solver: Solver) -> None:
    """At any scale and offset of the features, a fit with converged_ True has the objective and rates it claims."""
    X, y = blobs(n=40)
    changes = ((operation, number) for operation, numbers in FEATURE_CHANGES.items() for number in numbers)
    cases = [("times", 1.0), *changes]
    for params in _trials(solver):
        for operation, number in cases:
            features = _changed(X, operation, number)
            model = _converged(solver, features, y, params)
            if model is not None:
                said = f"With features {operation} {number:g}, converged_ is True"
                _require_honest(solver, model, features, y, said)


def same_optimum(solver: Solver) -> None:
    """If times 10 or plus 10 leaves the objective unchanged, so does any scale or offset (tag convex)."""
    X, y = blobs(n=40)
    for params in _trials(solver):
        for operation, numbers in FEATURE_CHANGES.items():
            first, near = (_objective(solver, _changed(X, operation, number), y, params) for number in (1.0, 10.0))
            if not _agree(first, near):
                continue
            for number in numbers:
                found = _objective(solver, _changed(X, operation, number), y, params)
                shown = f"With features {operation} {number:g}, converged_ is True and objective_ is {found}"
                other = f"With features {operation} 1 or 10 it is {first}"
                remedy = "compute converged_ in units that do not depend on scale or offset"
                require(found is None or _agree(first, found), f"{shown}. {other}: {remedy}.")


def _changed(X: np.ndarray, operation: str, number: float) -> np.ndarray:
    return X * number if operation == "times" else X + number


def _trials(solver: Solver) -> list[dict[str, Any]]:
    """Return the parameters to try: a linear kernel depends on scale and offset, the default may not."""
    has_kernel = "kernel" in solver.tags and "kernel" in made(solver).get_params()
    return [{}, {"kernel": "linear"}] if has_kernel else [{}]


def _converged(solver: Solver, X: np.ndarray, y: np.ndarray, params: dict[str, Any]) -> Any:
    """Return the fitted estimator, or None if it refuses the sample or does not claim to have converged."""
    try:
        with np.errstate(all="ignore"):
            model, warned = fitted_aloud(solver, X, y, **params)
    except (ValueError, TypeError, ArithmeticError):  # other checks look at the message
        return None
    return None if warned or not getattr(model, "converged_", True) else model


def _require_honest(solver: Solver, model: Any, X: np.ndarray, y: np.ndarray, said: str) -> None:
    f = np.asarray(model.decision_function(X))
    require(np.isfinite(f).all(), f"{said}, but some scores are NaN or infinite.")
    recomputed = model.recompute(X, y) if hasattr(model, "recompute") else {}
    for name in {**dict.fromkeys(("objective_", "duality_gap_", "surrogate_rates_")), **recomputed}:
        if not hasattr(model, name):
            continue
        claimed = np.asarray(getattr(model, name), dtype=float)
        require(np.isfinite(claimed).all(), f"{said}, but {name} is {_written(claimed)}.")
        found = np.asarray(recomputed.get(name, claimed), dtype=float)
        # Rates are fractions of the samples: an absolute error counts.
        unit = 1.0 if name.endswith("rates_") else np.maximum(np.abs(claimed), np.abs(found))
        is_same = np.all(np.abs(claimed - found) <= CLAIM_TOLERANCE * unit + ZERO_CLAIM)
        shown = f"{name} is {_written(claimed)}, but the scores of the training sample give {_written(found)}"
        remedy = "compute it from the coefficients that fit keeps, or set converged_ to False"
        require(is_same, f"{said} and {shown}: {remedy}.")
    if hasattr(model, "surrogate_rates_"):
        _require_rates(solver, model, f, y, said)


def _require_rates(solver: Solver, model: Any, f: np.ndarray, y: np.ndarray, said: str) -> None:
    """Compare the surrogate rates with the error rates, of which they are at least half, and with the bound."""
    p_nd, p_fa = (float(rate) for rate in model.surrogate_rates_)
    measured = {"P_nd": (p_nd, float(np.mean(f[y > 0] <= 0))), "P_fa": (p_fa, float(np.mean(f[y < 0] >= 0)))}
    for rate, (claimed, found) in measured.items():
        is_right = claimed >= found / 2 - CLAIM_TOLERANCE
        shown = f"{rate} = {claimed:.4g}, but the training sample has {found:.4g} by the signs of the scores"
        rule = "a surrogate loss is at least 1/2 for an error"
        require(is_right, f"{said} and surrogate_rates_ has {shown}: {rule}.")
    params = model.get_params()
    bounds = {"np": ("rho", 1.0), "qvalue": ("q", 1.0 - p_nd)}
    for problem in set(solver.solves) & set(bounds):
        name, share = bounds[problem]
        if params.get(name) is not None:
            is_kept = p_fa <= BOUND_FACTOR * params[name] * share + CLAIM_TOLERANCE
            shown = f"{p_fa:.4g} exceeds its bound {params[name] * share:.4g} ({name}={params[name]:g})"
            require(is_kept, f"{said}, but the surrogate P_fa {shown}: set converged_ to False.")


def _objective(solver: Solver, X: np.ndarray, y: np.ndarray, params: dict[str, Any]) -> float | None:
    model = _converged(solver, X, y, params)
    return None if model is None else float(getattr(model, "objective_", np.nan))


def _agree(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return False
    return abs(first - second) <= OBJECTIVE_TOLERANCE * max(abs(first), abs(second)) + ZERO_CLAIM


def _written(values: np.ndarray) -> str:
    return ", ".join(f"{value:.6g}" for value in np.atleast_1d(values))
