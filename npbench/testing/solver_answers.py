"""Checks of the scores and flags of a solver: direction, repeatability, honesty."""

import numpy as np

from npbench.contracts import Solver
from npbench.testing.check import Skipped, require
from npbench.testing.samples import apart, blobs, fitted_aloud, made, scores

SCORE_TOLERANCE = 0.05  # relative to the spread of the scores; tolerances on objectives allow this
OBJECTIVE_TOLERANCE = 0.01  # relative
ZERO_OBJECTIVE = 1e-6  # absolute tolerance, for an optimum of 0


def direction(solver: Solver) -> None:
    """For classes far apart, every positive scores above every negative."""
    X, y = blobs(shift=8.0)
    found = scores(solver, X, y, X)
    lowest, highest = found[y > 0].min(), found[y < 0].max()
    shown = f"the lowest score of a positive is {lowest:.3g}, the highest of a negative {highest:.3g}"
    require(lowest > highest, f"For classes far apart, {shown}: larger must mean more positive, as classes_[1] is.")


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
        require(
            flag is None or (isinstance(flag, (bool, np.bool_)) and flag != bool(warned)),
            f"With {asked}, fit {said} and converged_ is {flag}: set converged_ to False and issue a "
            "ConvergenceWarning if the fit did not converge, and neither otherwise.",
        )
        n_iter = int(np.max(getattr(model, "n_iter_", 0)))
        limit = model.get_params().get("max_iter")
        is_right = not isinstance(limit, int) or 0 <= n_iter <= limit
        require(is_right, f"With {asked}, n_iter_ is {n_iter} and max_iter {limit}: count the same steps in both.")


def row_order(solver: Solver) -> None:
    """The order of the rows does not matter (no tag stochastic)."""
    X, y = blobs()
    order = np.random.default_rng(1).permutation(len(y))
    difference = apart(scores(solver, X, y, X), scores(solver, X[order], y[order], X))
    require(
        difference <= SCORE_TOLERANCE,
        f"With the rows in another order, scores differ by {difference:.2g} of their spread, expected at most "
        f"{SCORE_TOLERANCE}: make fit independent of it, or add the tag stochastic and a parameter random_state.",
    )


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
    require(
        abs(first - second) <= OBJECTIVE_TOLERANCE * max(abs(first), abs(second)) + ZERO_OBJECTIVE,
        f"objective_ is {first:.6g}, and {second:.6g} with the rows in another order: a convex problem has one. "
        "Solve it more precisely, or remove the tag convex.",
    )
    gap = float(getattr(models[0], "duality_gap_", 0.0))
    require(gap >= -ZERO_OBJECTIVE * (1.0 + abs(first)), f"duality_gap_ is {gap:.3g}: a bound below the optimum.")
