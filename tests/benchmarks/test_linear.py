"""Linear SVMs against LIBLINEAR and a conic solver, and SMO against QP solvers.

Ratios are theirs / ours, both measured in turn in this run; nothing is asserted about time.
"""

from functools import partial

import cvxpy
import numpy as np
import pytest
from sklearn.svm import LinearSVC

from benchmarks.asv.problems import box, noisy_linear
from npbench.numerics import linear_svm, smo, smo_kernels
from npbench.numerics.bundle import minimise
from npbench.numerics.gram import Gram, Kernel

# LIBLINEAR stops early at high costs; the comparison includes its objective.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LIBLINEAR = "LinearSVC (LIBLINEAR)"


def sample(n):
    X, y = noisy_linear(n)
    return X, y.astype(float)


def hinge(y, scores):
    """Return the mean hinge loss and a subgradient of it in the scores."""
    short = 1.0 - y * scores
    return float(np.maximum(short, 0.0).mean()), np.where(short > 0, -y, 0.0) / len(y)


def objective(X, y, C, w):
    return 0.5 * float(w @ w) + C * hinge(y, X @ w)[0]


@pytest.mark.parametrize(("n", "C"), [(20_000, 1e-4), (20_000, 1e-2), (20_000, 1.0), (200_000, 1e-4), (200_000, 1e-2)])
def test_hinge_against_liblinear(side_by_side, n, C):
    """Compare without an intercept, which LIBLINEAR would penalise; C is the cost of one sample, as in LIBLINEAR."""
    X, y = sample(n)
    svc = LinearSVC(C=C, loss="hinge", dual=True, fit_intercept=False, tol=1e-3, random_state=0)
    ours, theirs = partial(minimise, X, partial(hinge, y), C * n, tol=1e-4), partial(svc.fit, X, y)

    def quality():
        return "objective", ours().objective, objective(X, y, C * n, svc.coef_[0])

    side_by_side(ours, theirs, "linear SVM, a fit", f"{n} x 54 C={C:g}", LIBLINEAR, quality, rounds=1)


@pytest.mark.parametrize(("n", "C"), [(20_000, 1.0), (200_000, 1e-2), (500_000, 1e-3)])
def test_free_intercept_against_liblinear(side_by_side, n, C):
    """LIBLINEAR penalises the intercept a little; the objective leaves that penalty out."""
    X, y = sample(n)
    lower, upper = box(y, C, 1.0)
    svc = LinearSVC(C=C, loss="hinge", dual=True, intercept_scaling=10.0, tol=1e-3, random_state=0)

    def ours():
        x, g = np.zeros(n), y.copy()
        linear_svm.solve(X, lower, upper, x, g, 1e-3, p=y)
        return X.T @ x, smo_kernels.bias(x, g, lower, upper)

    def reached(w, b):
        return 0.5 * float(w @ w) + C * float(np.maximum(0.0, 1.0 - y * (X @ w + b)).sum())

    def quality():
        return "objective", reached(*ours()), reached(svc.coef_[0], float(svc.intercept_[0]))

    what, size = "linear SVM with a free intercept, a fit", f"{n} x 54 C={C:g}"
    side_by_side(ours, partial(svc.fit, X, y), what, size, LIBLINEAR, quality, rounds=1)


def test_hinge_against_a_conic_solver(side_by_side):
    X, y = sample(5000)
    w = cvxpy.Variable(X.shape[1])
    loss = cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, X @ w))) / len(y)
    problem = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(w) + 50.0 * loss))
    ours, theirs = partial(minimise, X, partial(hinge, y), 50.0, tol=1e-6), partial(problem.solve, solver="CLARABEL")

    def quality():
        return "objective", ours().objective, objective(X, y, 50.0, w.value)

    side_by_side(ours, theirs, "linear SVM, a fit", "5000 x 54 C=0.01", "cvxpy with Clarabel", quality, rounds=1)


@pytest.mark.parametrize("solver", ["CLARABEL", "OSQP"])
def test_smo_against_a_qp_solver(side_by_side, solver):
    X, y = sample(500)
    K = Kernel("rbf", 1.0 / 54).between(X, X)
    lower, upper = box(y, 10.0, 1.0)
    root = np.linalg.cholesky(K + 1e-10 * np.eye(len(y)))
    x = cvxpy.Variable(len(y))
    maximised = cvxpy.Maximize(y @ x - 0.5 * cvxpy.sum_squares(root.T @ x))
    problem = cvxpy.Problem(maximised, [cvxpy.sum(x) == 0, x >= lower, x <= upper])

    def value(x):
        return float(y @ x - 0.5 * x @ K @ x)

    def ours():
        x, g = np.zeros(len(y)), y.copy()
        smo.solve(Gram.of(K), lower, upper, x, g, 1e-6)
        return x

    def quality():
        return "dual objective", value(ours()), value(x.value)

    what, size, peer = "SVM, a fit on a Gram matrix", "n=500 C=10", f"cvxpy with {solver}"
    side_by_side(ours, partial(problem.solve, solver=solver), what, size, peer, quality, rounds=1)
