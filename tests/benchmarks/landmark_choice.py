"""Compare ways to choose landmarks: uniform, as npbench does, equal classes, k-means++, leverage scores, k-means.

`python tests/benchmarks/landmark_choice.py` stores the rows that it measures, and leaves out those that are stored.
Half of each data set trains `ac_svm`, with parameters searched on 2000 of its rows. All choices but the first two look
at ten times as many rows as landmarks.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.cluster import KMeans

import npbench
from npbench.contracts import resolve
from npbench.estimators.nystroem import Landmarks
from npbench.numerics.gram import Kernel
from npbench.numerics.threads import one_blas_thread
from npbench.problem import NeymanPearson
from npbench.registry import installed

sys.path.insert(0, str(Path(__file__).parent))
from store import here

STORED = Path(__file__).parents[2] / "results" / "published" / "landmark_choice.json"
DATA = {"keel_phoneme": {}, "keel_satimage": {}, "keel_penbased": {}, "magic": {}}
DATA |= {"ringnorm20": {"n_pos": 60_000, "n_neg": 60_000}, "covertype_like": {}}
SIZES, SEEDS, RHO, LOOKED_AT, MOST_TESTED = (300, 1000), (0, 1, 2), 0.1, 10, 60_000
COSTS = [0.1, 1.0, 10.0, 100.0]
SEARCH = {"C_pos": COSTS, "C_neg": COSTS, "gamma": np.geomspace(0.001, 1.0, 7)}


def uniform(X, y, kernel, size, rng):
    """Return rows drawn with equal probabilities."""
    return X[rng.permutation(len(X))[:size]]


def equal_classes(X, y, kernel, size, rng):
    """Return as many rows of each class, if both have them."""
    order = rng.permutation(len(X))
    rank = np.empty(len(X))
    for members in (y[order] > 0, y[order] <= 0):
        rank[members] = np.arange(members.sum())
    return X[order[np.argsort(rank, kind="stable")[:size]]]


def k_means_plus_plus(X, y, kernel, size, rng):
    """Return rows drawn one by one with probabilities proportional to the squared distance to those drawn, by kernel.

    Oglic and Gaertner (2017, ICML). For a Gaussian kernel, the squared distance is ``2 - 2 k(x, z)``.
    """
    chosen, norms = [int(rng.integers(len(X)))], np.einsum("ij,ij->i", X, X)
    nearest = np.zeros(len(X))  # largest kernel value
    while len(chosen) < size:
        z = chosen[-1]
        nearest = np.maximum(nearest, np.exp(-kernel.gamma * np.maximum(norms - 2.0 * X @ X[z] + norms[z], 0.0)))
        nearest[z] = 1.0
        total = np.cumsum(1.0 - nearest)
        chosen.append(int(np.searchsorted(total, rng.random() * total[-1], side="right")))
    return X[chosen]


def leverage(X, y, kernel, size, rng):
    """Return rows drawn with probabilities proportional to ridge leverage scores, estimated from uniform landmarks.

    Musco and Musco (2017, NIPS), one level. The ridge is the mean of the eigenvalues that ``size`` landmarks miss.
    """
    features = Landmarks(uniform(X, y, kernel, size, rng), kernel).features(X)
    missed = np.maximum(1.0 - np.einsum("ij,ij->i", features, features), 0.0)
    ridge = max(missed.sum() / size, 1e-8)
    inverse = np.linalg.inv(features.T @ features + ridge * np.eye(features.shape[1]))
    scores = np.einsum("ij,ij->i", features @ inverse, features) + missed / ridge
    return X[rng.choice(len(X), size, replace=False, p=scores / scores.sum())]


def k_means(X, y, kernel, size, rng):
    """Return the centres of ten iterations of k-means from uniform rows: Zhang, Tsang and Kwok (2008, ICML)."""
    return (
        KMeans(size, init="random", n_init=1, max_iter=10, random_state=int(rng.integers(2**31)))
        .fit(X)
        .cluster_centers_
    )


CHOICES = {
    "uniform": uniform,
    "equal classes": equal_classes,
    "k-means++": k_means_plus_plus,
    "leverage": leverage,
    "k-means": k_means,
}


def halves(name):
    """Return standardised features and labels of the training and of the test rows."""
    data = npbench.load_dataset("ringnorm20" if name == "ringnorm20" else name, **DATA[name])
    X, y = np.asarray(data.X, float), np.asarray(data.y)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :][:MOST_TESTED]
    mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
    X = (X[:, scale > 0] - mean[scale > 0]) / scale[scale > 0]
    return X[train], y[train], X[test], y[test]


def searched(X, y):
    """Return the parameters that the whole search of ac_svm chooses for 2000 rows, on four folds."""
    solver = installed().solver("ac_svm")
    part = np.random.default_rng(1).integers(4, size=2000)
    folds = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(4)]
    select = resolve(solver.selection).__wrapped__
    return select(resolve(solver.estimator), X[:2000], y[:2000], folds, NeymanPearson(RHO), SEARCH).params


@one_blas_thread()
def measured(choice, size, seed, params, X, y, X_test, y_test):
    """Return what one choice costs and gives: CPU seconds, error of the kernel, objective, and misses at RHO."""
    rng, kernel = np.random.default_rng(seed), Kernel("rbf", gamma=params["gamma"])
    start = time.process_time()
    rows = rng.permutation(len(X))[: LOOKED_AT * size] if choice not in ("uniform", "equal classes") else slice(None)
    samples = CHOICES[choice](X[rows], y[rows], kernel, size, rng)
    chosen = time.process_time()
    model = resolve(installed().solver("ac_svm").estimator)(n_components=size, random_state=seed, **params)
    dtype = np.float32 if model.takes_newton_steps(len(X)) else np.float64
    with patch.object(type(model), "landmarks", lambda *_: Landmarks(samples, kernel, dtype)):
        model.fit(X, y)
    fitted = time.process_time()
    scores = model.decision_function(X_test)
    threshold = np.quantile(scores[y_test < 0], 1.0 - RHO)
    return {
        "choosing": round(chosen - start, 3),
        "fit": round(fitted - chosen, 3),
        "error": model.nystroem_error_,
        "objective": model.objective_,
        "misses": float(np.mean(scores[y_test > 0] <= threshold)),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    rows = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    for data in DATA:
        parts = halves(data)
        params = searched(*parts[:2])
        print(data, parts[0].shape, params, flush=True)
        for seed in SEEDS:
            for size in SIZES:
                for choice in CHOICES:
                    key = {"data": data, "landmarks": size, "choice": choice, "seed": seed}
                    if not any(key.items() <= row.items() for row in rows):
                        rows.append({**key, **measured(choice, size, seed, params, *parts), **here()})
                        print(rows[-1], flush=True)
                        STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
