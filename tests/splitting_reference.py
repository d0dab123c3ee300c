"""The splitting method's problem by an interior point method."""

import warnings

import cvxpy
import numpy as np


def conic_loss(loss, margins):
    if loss.name == "logistic":
        return cvxpy.logistic(-margins)
    return (cvxpy.norm(cvxpy.vstack([np.ones(margins.shape[0]), margins]), 2, axis=0) - margins) / 2


def conic(X_pos, X_neg, loss, tau, bounds=(), ball=None):
    """Return the status, the least phi_pos and its weights, on features of unit size."""
    size = np.sqrt(np.mean(np.vstack([X_pos, X_neg]) ** 2, axis=0))
    size[size == 0.0] = 1.0
    u = cvxpy.Variable(len(size))

    def mean_loss(margins):
        return cvxpy.sum(conic_loss(loss, margins)) / margins.shape[0]

    met = [mean_loss(-(X_neg / size) @ u) <= tau]
    met += [mean_loss(-(X_neg[bound.rows] / size) @ u) <= bound.tau for bound in bounds]
    if ball is not None:
        met.append(cvxpy.norm(cvxpy.multiply(1 / size, u)[ball.features]) <= ball.radius)
    problem = cvxpy.Problem(cvxpy.Minimize(mean_loss((X_pos / size) @ u)), met)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=200)
        except cvxpy.SolverError:
            return "error", np.nan, None
    return problem.status, problem.value, None if u.value is None else u.value / size
