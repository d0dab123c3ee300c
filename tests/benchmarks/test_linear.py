"""Linear SVMs against LIBLINEAR and a conic solver, SMO against QP solvers, and the growth of ramp-loss SVMs.

Ratios are theirs / ours, both measured in turn in this run; nothing is asserted about time.
"""

import functools
import warnings

import cvxpy
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from npbench.execution.memory import PeakMemory
from npbench.numerics import linear_svm, smo
from npbench.numerics.bundle import minimise
from npbench.numerics.gram import Gram, Kernel
from npbench_np_svm.estimator import NPSVM
from npbench_q_svm.estimator import QSVM
from npbench_uzawa.estimator import UzawaSVM

MEGABYTE = 1e6
RAMP_SVMS = {
    "np_svm": NPSVM(rho=0.05, kernel="linear"),
    "q_svm": QSVM(q=0.05, kernel="linear"),
    "uzawa": UzawaSVM(rho=0.05, kernel="linear"),
}


def sample(n, d=54):
    """Return ten Gaussian and otherwise binary features, standardised, and labels that depend on them, with noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    X[:, 10:] = X[:, 10:] > random.normal(size=d - 10)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    f = 2 * X @ random.normal(size=d) / np.sqrt(d) + random.logistic(size=n)
    return X, np.where(f > np.median(f), 1.0, -1.0)


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
    peer = LinearSVC(C=C, loss="hinge", dual=True, fit_intercept=False, tol=1e-3, random_state=0)
    ours = functools.partial(minimise, X, functools.partial(hinge, y), C * n, tol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the objectives tell
        side_by_side(
            ours,
            functools.partial(peer.fit, X, y),
            what="linear SVM, a fit",
            size=f"{n} x 54 C={C:g}",
            peer="LinearSVC (LIBLINEAR)",
            quality=lambda: ("objective", ours().objective, objective(X, y, C * n, peer.coef_[0])),
            rounds=1,
        )


@pytest.mark.parametrize(("n", "C"), [(20_000, 1.0), (200_000, 1e-2), (500_000, 1e-3)])
def test_free_intercept_against_liblinear(side_by_side, n, C):
    """LIBLINEAR penalises the intercept a little; the objective leaves that penalty out."""
    X, y = sample(n)
    lower, upper = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
    peer = LinearSVC(C=C, loss="hinge", dual=True, intercept_scaling=10.0, tol=1e-3, random_state=0)

    def ours():
        x, g = np.zeros(n), y.copy()
        linear_svm.solve(X, lower, upper, x, g, 1e-3, p=y)
        return X.T @ x, smo.bias(x, g, lower, upper)

    def reached(w, b):
        return 0.5 * float(w @ w) + C * float(np.maximum(0.0, 1.0 - y * (X @ w + b)).sum())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the objectives tell
        side_by_side(
            ours,
            functools.partial(peer.fit, X, y),
            what="linear SVM with a free intercept, a fit",
            size=f"{n} x 54 C={C:g}",
            peer="LinearSVC (LIBLINEAR)",
            quality=lambda: ("objective", reached(*ours()), reached(peer.coef_[0], float(peer.intercept_[0]))),
            rounds=1,
        )


@pytest.mark.parametrize("n", [20_000, 100_000, 500_000])
@pytest.mark.parametrize("name", RAMP_SVMS)
def test_growth_of_ramp_svms(benchmark, capsys, name, n):
    """Print seconds, the duality gap of the last convex step, and the peak memory besides the data."""
    RAMP_SVMS[name].fit(*sample(12_000))  # compiles
    X, y = sample(n)
    memory = PeakMemory()
    model = benchmark.pedantic(RAMP_SVMS[name].fit, args=(X, y), rounds=1)
    columns, data = memory.columns(), X.nbytes / MEGABYTE
    more = (columns["peak_memory_mb"] - columns["memory_before_mb"]) / data
    benchmark.extra_info |= {"n_iter": model.n_iter_, "objective": model.objective_, "memory_besides_data": more}
    with capsys.disabled():
        print(
            f"\n{name} n={n}: {benchmark.stats.stats.min:.1f} s, {model.n_iter_} convex steps, {model.status_}, "
            f"objective {model.objective_:.6g}, gap {model.duality_gap_:.2g}, "
            f"{data:.0f} MB of data and {more:.2f} times as much besides"
        )
    assert model.converged_
    assert model.duality_gap_ <= 1e-3 * model.objective_
    assert more < 1.0


def test_hinge_against_a_conic_solver(side_by_side):
    X, y = sample(5000)
    w = cvxpy.Variable(X.shape[1])
    loss = cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, X @ w))) / len(y)
    problem = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(w) + 50.0 * loss))
    ours = functools.partial(minimise, X, functools.partial(hinge, y), 50.0, tol=1e-6)
    side_by_side(
        ours,
        functools.partial(problem.solve, solver="CLARABEL"),
        what="linear SVM, a fit",
        size="5000 x 54 C=0.01",
        peer="cvxpy with Clarabel",
        quality=lambda: ("objective", ours().objective, objective(X, y, 50.0, w.value)),
        rounds=1,
    )


@pytest.mark.parametrize("solver", ["CLARABEL", "OSQP"])
def test_smo_against_a_qp_solver(side_by_side, solver):
    X, y = sample(500)
    K = Kernel("rbf", 1.0 / 54).between(X, X)
    lower, upper = np.minimum(0.0, 10.0 * y), np.maximum(0.0, 10.0 * y)
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

    side_by_side(
        ours,
        functools.partial(problem.solve, solver=solver),
        what="SVM, a fit on a Gram matrix",
        size="n=500 C=10",
        peer=f"cvxpy with {solver}",
        quality=lambda: ("dual objective", value(ours()), value(x.value)),
        rounds=1,
    )
