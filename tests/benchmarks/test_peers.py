"""SMO against scikit-learn's SVC (LIBSVM): single solves, high costs, and a whole model selection.

Ratios are theirs / ours, both measured in turn in this run; nothing is asserted about time. Some costs are left out;
NPBENCH_WHOLE_GRID=1 takes all.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import npbench
from benchmarks.asv.problems import box, mixture
from npbench.estimators.ramp_selection import select
from npbench.evaluation.protocols import CrossValidation, Holdout
from npbench.numerics import smo, smo_kernels
from npbench.numerics.gram import Gram, Kernel
from npbench.numerics.threads import blas_threads
from npbench.problem import NeymanPearson
from npbench_np_svm.estimator import NPSVM

COSTS = np.geomspace(0.01, 100, 10)
GAMMAS = np.geomspace(5e-5, 5e3, 10)
CORES = 2
WHOLE = bool(os.environ.get("NPBENCH_WHOLE_GRID"))
C_OF_ONE = [0.1, 1, 10, 100] if WHOLE else [1, 100]
WEIGHTS = [1, 10, 100] if WHOLE else [1, 100]


def solve(X, y, gamma, C, weight, tol):
    """Solve from scratch, Gram matrix included; return the dual objective and the relative duality gap."""
    gram = Gram(X, Kernel("rbf", gamma), n_threads=blas_threads())
    lower, upper = box(y, C, weight)
    x, g = np.zeros(len(y)), y.astype(float)
    smo.solve(gram, lower, upper, x, g, tol)
    objective = 0.5 * float(x @ (y + g))
    return objective, smo_kernels.gap(x, g, lower, upper, smo_kernels.bias(x, g, lower, upper)) / objective


def libsvm_certificate(X, y, model, C, weight):
    x = np.zeros(len(y))
    x[model.support_] = model.dual_coef_[0]
    lower, upper = box(y, C, weight)
    x = np.clip(x, lower, upper)
    g = y - Kernel("rbf", model.gamma).between(X, X) @ x
    objective = 0.5 * float(x @ (y + g))
    return objective, smo_kernels.gap(x, g, lower, upper, float(model.intercept_[0])) / objective


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("C", C_OF_ONE)
@pytest.mark.parametrize("size", [(2000, 2), (2000, 20), (4600, 20), (10000, 20), None])
def test_one_solve(side_by_side, raw_dataset, size, C, weight):
    if size is None:
        data, label = npbench.load_dataset(raw_dataset("spambase").name), "spambase"
        X, y = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), np.asarray(data.y, dtype=int)
    else:
        (X, y), label = mixture(*size), "mixture n={} d={}".format(*size)
    compare(side_by_side, X, y, C, weight, tol=1e-3, label=label, rounds=1 if len(y) > 4601 else 3)


@pytest.mark.parametrize(("C", "weight"), [(10, 100), (100, 10), (100, 100)])
def test_high_cost(side_by_side, C, weight):
    """Compare at costs where LIBSVM's gap stays large; our tolerance is a hundredth of its."""
    X, y = mixture(4600, 2)
    ours = compare(side_by_side, X, y, C, weight, tol=1e-5, label="2-D mixture n=4600", rounds=1)
    assert ours <= 1e-6


def compare(side_by_side, X, y, C, weight, tol, label, rounds=3):
    gamma = 1.0 / (X.shape[1] * X.var())
    model = SVC(C=C, gamma=gamma, class_weight={1: weight, -1: 1}, cache_size=500)
    ours = partial(solve, X, y, gamma, C, weight, tol)
    objective, gap = ours()
    their_objective, their_gap = libsvm_certificate(X, y, model.fit(X, y), C, weight)
    what, size, peer = "SVM with costs, a fit", f"{label} C={C:g} weight={weight:g}", "SVC (LIBSVM)"
    quality = ("relative duality gap", gap, their_gap)
    side_by_side(ours, partial(model.fit, X, y), what, size, peer, quality, rounds=rounds, memory=8 * len(y) ** 2)
    assert objective >= their_objective * (1 - 1e-5)
    return gap


@pytest.mark.parametrize("name", ["breast", "pima", "spambase"])
def test_selection(side_by_side, name, raw_dataset):
    """NP-SVM's searches over the 10 x 10 grid for two splits, against one SVC fit per candidate on the same folds.

    Both have two cores: ours as npbench uses them, a process for each split; theirs as GridSearchCV does.
    """
    dataset = raw_dataset(name).name
    problems = [selection_problem(dataset, repeat) for repeat in range(CORES)]
    grid = {"C": COSTS, "gamma": GAMMAS}
    options = {"n_jobs": CORES, "scoring": "balanced_accuracy", "refit": False}

    def theirs():
        for X, y, folds in problems:
            GridSearchCV(SVC(), grid, cv=folds, **options).fit(X, y)

    theirs()  # starts the workers, outside the clock
    with ProcessPoolExecutor(CORES, multiprocessing.get_context("spawn")) as pool:
        what, size, peer = "NP-SVM, selection for two splits", name, "GridSearchCV of SVC"
        quality = "a fit for each candidate and fold; theirs keeps no bound"
        side_by_side(lambda: list(pool.map(our_selection, problems)), theirs, what, size, peer, quality)


def selection_problem(name, repeat):
    """Return the rows that are not for testing, standardised on the training part, their labels and the folds."""
    data = npbench.load_dataset(name)
    split = (Holdout() if name == "spambase" else CrossValidation()).split(data, 0, repeat)
    X = (data.X - data.X[split.train].mean(axis=0)) / data.X[split.train].std(axis=0)
    rows = np.unique(np.concatenate([part for fold in split.folds for part in fold]))
    folds = [(np.searchsorted(rows, fit), np.searchsorted(rows, validate)) for fit, validate in split.folds]
    return X[rows], np.asarray(data.y[rows], dtype=int), folds


def our_selection(problem):
    X, y, folds = problem
    search = {"C": list(COSTS), "gamma": list(GAMMAS)}
    with threadpool_limits(1):
        return select(partial(NPSVM, rho=0.05), X, y, folds, NeymanPearson(0.05), search).loss
