"""Bounds on several classes over many draws: `python tests/benchmarks/test_several_classes.py` stores the numbers."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier

from npbench import NPMulticlassClassifier

STORED = Path(__file__).parents[2] / "results" / "published" / "several_classes.json"
# The example of R's npcs: three normal classes in R^5; the second has no bound, and its error is minimized.
MEANS = np.array([[-1, 2, 1, 1, 1], [1, 1, 0, 2, 0], [2, -1, -1, 0, 0]])
SHARES = (0.3, 0.3, 0.4)
N_TEST, SLACK = 50_000, 1.2
MODELS = {
    "discriminant analysis": LinearDiscriminantAnalysis(),
    "forest": RandomForestClassifier(30, min_samples_leaf=3, random_state=0),
}
NARROW, WIDE = {0: 0.05, 2: 0.01}, {0: 0.1, 2: 0.05}
CASES = [
    ("discriminant analysis", 600, WIDE, 200),
    ("discriminant analysis", 2000, WIDE, 200),
    ("discriminant analysis", 6000, NARROW, 200),
    ("forest", 2000, WIDE, 40),
]
METHODS = [("guaranteed", "er"), ("on average", "er"), ("measured", "er"), ("none", "er"), ("none", "cx")]


def drawn(n, seed):
    random = np.random.default_rng(seed)
    y = random.choice(3, n, p=SHARES)
    return MEANS[y] + random.normal(size=(n, 5)), y


def cell(model, n, bounds, n_draws, promise, strategy):
    """Return how often weights are found and break a bound, and the mean error rates of those found."""
    X_test, y_test = drawn(N_TEST, 10**6)
    rates = []
    for seed in range(n_draws):
        classifier = NPMulticlassClassifier(
            MODELS[model], bounds=bounds, weights={1: 1}, promise=promise, strategy=strategy, random_state=seed
        )
        try:
            predicted = classifier.fit(*drawn(n, seed)).predict(X_test)
        except ValueError:  # the bounds cannot be kept
            continue
        rates.append([np.mean(predicted[y_test == k] != k) for k in range(3)])
    found, limits = np.array(rates).reshape(-1, 3), np.array(list(bounds.values()))
    excess = np.max(found[:, list(bounds)] / limits, axis=1)
    means = found.mean(axis=0) if len(found) else [None] * 3
    return {
        "draws": n_draws,
        "found": len(found),
        "above": int(np.sum(excess > 1)),
        "far_above": int(np.sum(excess > SLACK)),
        "rates": [None if one is None else round(float(one), 4) for one in means],
    }


def measured():
    """Store each cell as it comes, and go on where an earlier run stopped."""
    rows = json.loads(STORED.read_text(encoding="utf-8")) if STORED.is_file() else []
    for (model, n, bounds, n_draws), (promise, strategy) in product(CASES, METHODS):
        about = {"model": model, "n": n, "bounds": list(bounds.values()), "promise": promise, "strategy": strategy}
        if not any(about.items() <= row.items() for row in rows):
            rows.append(about | cell(model, n, bounds, n_draws, promise, strategy))
            STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


@pytest.mark.slow  # 200 draws of six fits
def test_stored_counts_are_those_of_the_classifier():
    rows = json.loads(STORED.read_text(encoding="utf-8"))
    about = {"model": "discriminant analysis", "n": 600, "promise": "guaranteed"}
    (row,) = (row for row in rows if about.items() <= row.items())
    found = cell(*CASES[0], "guaranteed", "er")
    assert found == pytest.approx({name: row[name] for name in found})


if __name__ == "__main__":
    measured()
