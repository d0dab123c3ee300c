"""2nu-SVM against NuSVC over a grid of both nu, and leave-one-out in units of full fits.

The grid has every fourth line of 20 x 20; NPBENCH_WHOLE_GRID=1 takes all of them, which keeps NuSVC for a minute.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.svm import NuSVC

import npbench
from npbench.evaluation.protocols import Permutations
from npbench.numerics.gram import Gram, Kernel
from npbench_two_nu_svm.estimator import TwoNuSVM
from npbench_two_nu_svm.reduced_hulls import DualNu, ReducedHulls

LINES = np.arange(1, 21)[:: 1 if os.environ.get("NPBENCH_WHOLE_GRID") else 4] / 20


def bananas(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return two noisy arcs that interlock, in the plane, and features of noise beyond."""
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.45 * n, 1.0, -1.0)
    angle = np.pi * random.random(n)
    X = random.normal(size=(n, d))
    X[:, 0] = y * np.cos(angle) + 0.5 * (y > 0) + 0.3 * X[:, 0]
    X[:, 1] = y * np.sin(angle) - 0.3 * (y > 0) + 0.3 * X[:, 1]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def rbf(X: np.ndarray, bandwidth: float) -> np.ndarray:
    return np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2) / bandwidth**2)


def grid() -> list[DualNu]:
    """Return the grid; neighbours differ in one nu."""
    lines = LINES[::-1]
    return [DualNu(a, b) for k, a in enumerate(lines) for b in (lines[::-1] if k % 2 else lines)]


def nu_svc(K: np.ndarray, y: np.ndarray, caps: DualNu, tol: float) -> float:
    """Return NuSVC's objective of the same problem, in the weights' unit of reduced hulls."""
    n_pos, n_neg = np.sum(y > 0), np.sum(y < 0)
    share = caps.nu_neg * n_neg / (caps.nu_pos * n_pos + caps.nu_neg * n_neg)
    nu = 2 * caps.nu_pos * caps.nu_neg / (caps.nu_pos + caps.nu_neg) * (1 - 1e-9)
    model = NuSVC(nu=nu, kernel="precomputed", tol=tol).fit(K, y, sample_weight=np.where(y > 0, share, 1 - share))
    x = np.zeros(len(y))
    x[model.support_] = model.dual_coef_[0] * 2 / np.abs(model.dual_coef_).sum()
    return 0.5 * float(x @ K @ x)


@pytest.mark.parametrize("bandwidth", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_grid_against_nu_svc(side_by_side: Callable[..., float], bandwidth: float, tol: float) -> None:
    X, y = bananas(400, 2)
    K, points = rbf(X, bandwidth), grid()

    def ours() -> list[Any]:
        hulls = ReducedHulls(K, y)
        return [hulls.solve(caps) for caps in points]

    def theirs() -> list[float]:
        return [nu_svc(K, y, caps, tol) for caps in points]

    solutions = ours()
    assert all(solution.converged for solution in solutions)
    found = [(a.objective, b) for a, b in zip(solutions, theirs(), strict=True) if not a.meet]
    side_by_side(
        ours,
        theirs,
        what=f"2nu-SVM, {len(points)} points of nu",
        size=f"n=400 bandwidth={bandwidth:g}",
        peer=f"NuSVC, tol {tol:g}",
        quality=("mean objective", *np.mean(found, axis=0)),
        rounds=1,
    )


def in_full_fits(K: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return processor seconds of cold fits over the grid, and leave-one-out in units of these: cold, and warm.

    The last value is leave-one-out in units of a fit by NuSVC. Matrices and buffers are at hand. Cold starts are at the
    class means, warm ones at the solution before.
    """

    def clocked(task: Callable[[], Any]) -> float:
        start = time.process_time()
        task()
        return time.process_time() - start

    hulls, along, fits, cold, warm, libsvm = ReducedHulls(K, y), ReducedHulls(K, y), [], [], [], []
    for caps in grid():
        tasks = (lambda caps=caps: hulls.solve(caps)), (lambda caps=caps: hulls.leave_one_out(caps))
        seconds = []
        for task in tasks:  # makes the buffers
            task()
        for _ in range(3):
            for state in (hulls._whole, hulls._without[:3]):
                for array, means in zip(state, hulls._uniform(1), strict=True):
                    array[:] = means[0]
            hulls._without[3][2].fill(-1)  # no inverse
            hulls._size = 0
            seconds.append([clocked(task) for task in tasks])
        fit, left_out = np.min(seconds, axis=0)
        fits.append(fit)
        cold.append(left_out / fit)
        warm.append(clocked(lambda caps=caps: along.leave_one_out(caps)) / fit)
        libsvm.append(left_out / min(clocked(lambda caps=caps: nu_svc(K, y, caps, 1e-5)) for _ in range(3)))
    return np.array(fits), np.array(cold), np.array(warm), np.array(libsvm)


@pytest.mark.parametrize("name", ["bananas", "thyroid", "heart", "breast_cancer", "banana"])
@pytest.mark.parametrize("bandwidth", [0.5, 1.0, 3.0, 10.0])
def test_leave_one_out_in_full_fits(
    benchmark: Any, capsys: pytest.CaptureFixture[str], bandwidth: float, name: str, raw_dataset: Callable[[str], Any]
) -> None:
    X, y = bananas(170, 13)
    if name != "bananas":
        data, n = npbench.load_dataset(raw_dataset(name).name), raw_dataset(name).n_train
        train = Permutations(n_train=n).split(data, 0, 0).train
        X, y = data.X[train], data.y[train].astype(float)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    K = rbf(X, bandwidth)
    fits, cold, warm, libsvm = in_full_fits(K, y)
    benchmark.pedantic(lambda: ReducedHulls(K, y).leave_one_out(DualNu(0.5, 0.5)), rounds=5)
    benchmark.extra_info |= {"full_fits": float(np.median(cold))}
    with capsys.disabled():
        print(
            f"\n{name}, n={len(y)}, bandwidth {bandwidth:g}: a full fit takes {1e3 * np.median(fits):.2f} ms (median)"
        )
        units = ("cold", cold, "full fits"), ("along the grid", warm, "full fits"), ("cold", libsvm, "fits of NuSVC")
        for start, cost, unit in units:
            print(f"  leave-one-out {start}: {np.median(cost):.1f} {unit} (median), {cost.max():.1f} (largest)")


@pytest.mark.parametrize("bandwidth", [1.0, 3.0])
def test_leave_one_out_against_separate_fits(side_by_side: Callable[..., float], bandwidth: float) -> None:
    X, y = bananas(170, 13)
    K, caps = rbf(X, bandwidth), DualNu(0.4, 0.6)

    def ours() -> int:
        return int(np.sum(ReducedHulls(K, y).leave_one_out(caps).errors))

    def theirs() -> int:
        wrong = 0
        for i in range(len(y)):
            others = np.delete(np.arange(len(y)), i)
            found = ReducedHulls(K[np.ix_(others, others)], y[others]).solve(caps)
            wrong += y[i] * (K[i, others] @ found.x + found.b) <= 0
        return int(wrong)

    side_by_side(
        ours,
        theirs,
        what="2nu-SVM, leave-one-out",
        size=f"n=170 bandwidth={bandwidth:g}",
        peer="170 separate fits of ours",
        quality=("errors", ours(), theirs()),
    )


def relative_gap(K: np.ndarray, y: np.ndarray, caps: DualNu, x: np.ndarray) -> float:
    """Return the duality gap of signed weights from its definition, relative to their objective."""
    G, gap = y * (K @ x), 0.0
    for label, cap in zip((1, -1), caps(int(np.sum(y > 0)), int(np.sum(y < 0))), strict=True):
        ascending = np.sort(G[y == label])
        shares = np.clip(1 - cap * np.arange(len(ascending)), 0, cap)  # of the smallest G first: the least u'G
        gap += np.abs(x[y == label]) @ G[y == label] - shares @ ascending
    return float(gap / (0.5 * x @ K @ x))


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("gamma", [0.1, 0.5])
@pytest.mark.parametrize(("tol", "peer_tol"), [(1e-3, 1e-5), (1e-6, 1e-7)])  # gaps of the same order
def test_one_fit_against_nu_svc(
    side_by_side: Callable[..., float], gamma: float, nu: float, tol: float, peer_tol: float
) -> None:
    X, y = bananas(5000, 10)
    caps, n_pos, n_neg = DualNu(nu, nu), np.sum(y > 0), np.sum(y < 0)
    share = n_neg / (n_pos + n_neg)
    svc = NuSVC(nu=nu * (1 - 1e-9), gamma=gamma, tol=peer_tol, cache_size=1000)
    found: dict[str, np.ndarray] = {}

    def ours() -> None:
        model = TwoNuSVM(nu_pos=nu, nu_neg=nu, gamma=gamma, tol=tol).fit(X, y)
        assert model.converged_
        found["ours"] = np.bincount(model.support_, model.dual_coef_[0], len(y))

    def theirs() -> None:
        svc.fit(X, y, sample_weight=np.where(y > 0, share, 1 - share))
        found["theirs"] = np.bincount(svc.support_, svc.dual_coef_[0] * 2 / np.abs(svc.dual_coef_).sum(), len(y))

    def quality() -> tuple[str, float, float]:
        K = Gram(X, Kernel("rbf", gamma)).whole
        assert K is not None
        return "relative gap", *(relative_gap(K, y, caps, found[name]) for name in ("ours", "theirs"))

    side_by_side(
        ours,
        theirs,
        what="2nu-SVM, a fit with its Gram matrix",
        size=f"n=5000 gamma={gamma:g} nu={nu:g} tol={tol:g}",
        peer=f"NuSVC, tol {peer_tol:g}",
        quality=quality,
        rounds=1,
        memory=8 * len(y) ** 2,
    )
