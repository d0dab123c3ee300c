"""2nu-SVM against NuSVC over a grid of both nu, and leave-one-out against separate fits.

The grid has every fourth line of 20 x 20; NPBENCH_WHOLE_GRID=1 takes all of them, which keeps NuSVC for a minute.
"""

import os

import numpy as np
import pytest
from sklearn.svm import NuSVC

from npbench.numerics.gram import Gram, Kernel
from npbench_two_nu_svm.estimator import TwoNuSVM
from npbench_two_nu_svm.reduced_hulls import DualNu, ReducedHulls
from two_nu_reference import gap, nearest_points, two_nu_svc

LINES = np.arange(1, 21)[:: 1 if os.environ.get("NPBENCH_WHOLE_GRID") else 4] / 20


def bananas(n, d, seed=0):
    """Return two noisy arcs that interlock, in the plane, and features of noise beyond."""
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.45 * n, 1.0, -1.0)
    angle = np.pi * random.random(n)
    X = random.normal(size=(n, d))
    X[:, 0] = y * np.cos(angle) + 0.5 * (y > 0) + 0.3 * X[:, 0]
    X[:, 1] = y * np.sin(angle) - 0.3 * (y > 0) + 0.3 * X[:, 1]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def rbf(X, bandwidth):
    return np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2) / bandwidth**2)


def grid():
    """Return the grid; neighbours differ in one nu."""
    lines = LINES[::-1]
    return [DualNu(a, b) for k, a in enumerate(lines) for b in (lines[::-1] if k % 2 else lines)]


@pytest.mark.parametrize("bandwidth", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_grid_against_nu_svc(side_by_side, bandwidth, tol):
    X, y = bananas(400, 2)
    K, points = rbf(X, bandwidth), grid()

    def ours():
        hulls = ReducedHulls(K, y)
        return [hulls.solve(caps) for caps in points]

    def theirs():
        fits = [nearest_points(two_nu_svc(K, y, caps.nu_pos, caps.nu_neg, tol), len(y))[0] for caps in points]
        return [0.5 * float(x @ K @ x) for x in fits]

    solutions = ours()
    assert all(solution.converged for solution in solutions)
    found = [(a.objective, b) for a, b in zip(solutions, theirs(), strict=True) if not a.meet]
    what, size, peer = f"2nu-SVM, {len(points)} points of nu", f"n=400 bandwidth={bandwidth:g}", f"NuSVC, tol {tol:g}"
    quality = ("mean objective", *np.mean(found, axis=0))
    side_by_side(ours, theirs, what, size, peer, quality, rounds=1)


@pytest.mark.parametrize("bandwidth", [1.0, 3.0])
def test_leave_one_out_against_separate_fits(side_by_side, bandwidth):
    X, y = bananas(170, 13)
    K, caps = rbf(X, bandwidth), DualNu(0.4, 0.6)

    def ours():
        return int(np.sum(ReducedHulls(K, y).leave_one_out(caps).margins <= 0))

    def theirs():
        wrong = 0
        for i in range(len(y)):
            others = np.delete(np.arange(len(y)), i)
            found = ReducedHulls(K[np.ix_(others, others)], y[others]).solve(caps)
            wrong += y[i] * (K[i, others] @ found.x + found.b) <= 0
        return int(wrong)

    what, size, peer = "2nu-SVM, leave-one-out", f"n=170 bandwidth={bandwidth:g}", "170 separate fits of ours"
    quality = ("errors", ours(), theirs())
    side_by_side(ours, theirs, what, size, peer, quality)


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("gamma", [0.1, 0.5])
@pytest.mark.parametrize(("tol", "peer_tol"), [(1e-3, 1e-5), (1e-6, 1e-7)])  # gaps of the same order
def test_one_fit_against_nu_svc(side_by_side, gamma, nu, tol, peer_tol):
    X, y = bananas(5000, 10)
    caps, n_pos, n_neg = DualNu(nu, nu), np.sum(y > 0), np.sum(y < 0)
    share = n_neg / (n_pos + n_neg)
    svc = NuSVC(nu=nu * (1 - 1e-9), gamma=gamma, tol=peer_tol, cache_size=1000)
    found = {}

    def ours():
        model = TwoNuSVM(nu_pos=nu, nu_neg=nu, gamma=gamma, tol=tol).fit(X, y)
        assert model.converged_
        found["ours"] = np.bincount(model.support_, model.dual_coef_[0], len(y))

    def theirs():
        svc.fit(X, y, sample_weight=np.where(y > 0, share, 1 - share))
        found["theirs"] = np.bincount(svc.support_, svc.dual_coef_[0] * 2 / np.abs(svc.dual_coef_).sum(), len(y))

    def quality():
        K = Gram(X, Kernel("rbf", gamma)).whole
        assert K is not None
        weights = found["ours"], found["theirs"]
        return "relative gap", *(gap(K, y, caps, x) / float(0.5 * x @ K @ x) for x in weights)

    what, size = "2nu-SVM, a fit with its Gram matrix", f"n=5000 gamma={gamma:g} nu={nu:g} tol={tol:g}"
    peer = f"NuSVC, tol {peer_tol:g}"
    side_by_side(ours, theirs, what, size, peer, quality, rounds=1, memory=8 * len(y) ** 2)
