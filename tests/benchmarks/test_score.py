"""Which excess of false alarms puts methods in their true order: simulated methods on test parts of the suite's sizes.

Write the table of the docs again with `python tests/benchmarks/test_score.py`.
"""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from npbench_benchmark.leaderboard import np_scores

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
STORED = PUBLISHED / "score.json"
RHOS, REPEATS, DRAWS = (0.1, 0.05, 0.01), 5, 400
# Mean of the true false-alarm rate over rho, and its standard deviation over splits.
METHODS = np.array([(0.5, 0.1), (0.8, 0.3), (1.0, 0.0), (1.0, 0.4), (1.2, 0.2), (1.5, 0.5), (0.8, 0.8)])
SPREAD = 0.05  # standard deviation of the misses of methods on one data set
Z = 1.96
CHOSEN, ONE = "endless test parts", "one split"


def test_negatives(rho):
    """Return the negatives of the test part of each data set that the suite has at this rho."""
    columns = ["dataset", "rho", "n_samples", "n_positive", "n_test_positive"]
    records = pl.read_parquet(PUBLISHED / "benchmark" / "records" / "np_benchmark_real.parquet", columns=columns)
    sizes = records.filter(rho=rho).unique("dataset").sort("dataset")
    n, n_pos, n_test_pos = sizes.select(columns[2:]).to_numpy().T
    return np.round((n - n_pos) * n_test_pos / n_pos).astype(int)


test_negatives.__test__ = False


def drawn(rho, n_test, random):
    """Return false-alarm rates on test parts by data set, method and split, and misses by data set and method."""
    shape = len(n_test), len(METHODS)
    true = rho * random.normal(*METHODS.T, (REPEATS, *shape)).clip(0, 1 / rho).transpose(1, 2, 0)
    seen = random.binomial(n_test, true) / n_test
    misses = random.uniform(0.1, 0.5, (shape[0], 1)) + random.normal(0, SPREAD, shape) - 0.1 * (METHODS[:, 0] - 1)
    return seen, misses


def true_excess(rho):
    """Return the relative excess of each method over endless test parts and splits."""
    rates = rho * np.random.default_rng(1).normal(*METHODS.T, (100_000, len(METHODS))).clip(0)
    return np.maximum(0, rates - rho).mean(axis=0) / rho


def scores(rho, seen, misses, n_test):
    """Return the score of each method by each rule, where all splits count and where only the first does."""
    mean, noise = seen.mean(axis=2), np.sqrt(rho * (1 - rho) / n_test)
    variance = seen.var(axis=2, ddof=1) - mean * (1 - mean) / n_test[..., 0]
    first = seen[..., :1]
    excess = {
        "each test part": np.maximum(0, seen - rho).mean(axis=2),
        "the mean rate over repeats": np.maximum(0, mean - rho),
        "each test part, beyond its noise": np.maximum(0, seen - rho - Z * noise).mean(axis=2),
        f"{ONE}, each test part": np.maximum(0, first - rho)[..., 0],
        f"{ONE}, each test part, beyond its noise": np.maximum(0, first - rho - Z * noise)[..., 0],
    }
    by = {rule: np.minimum(1, misses + one / rho) for rule, one in excess.items()}
    by[CHOSEN] = scored(rho, misses, mean, variance, n_test)
    by[f"{ONE}, {CHOSEN}"] = scored(rho, misses, first[..., 0], np.full_like(mean, np.nan), n_test)
    return {rule: one.mean(axis=0) for rule, one in by.items()}


def scored(rho, misses, p_fa, variance, n_test):
    """Return the scores of the leaderboard."""
    columns = {
        "p_nd": misses,
        "p_fa": p_fa,
        "variance": variance,
        "n_test": np.broadcast_to(n_test[..., 0], p_fa.shape),
    }
    flat = {name: values.ravel() for name, values in columns.items()}
    return np_scores(pl.DataFrame(flat).with_columns(rho=rho)).reshape(misses.shape)


def right(rho, draws=DRAWS):
    """Return for each rule the share of pairs of methods in the right order."""
    random, n_test, excess = np.random.default_rng(0), test_negatives(rho)[:, None, None], true_excess(rho)
    pairs, counts = list(combinations(range(len(METHODS)), 2)), {}
    for _ in range(draws):
        seen, misses = drawn(rho, n_test, random)
        true = misses.mean(axis=0) + excess
        for rule, found in scores(rho, seen, misses, n_test).items():
            same = sum((found[a] < found[b]) == (true[a] < true[b]) for a, b in pairs)
            counts[rule] = counts.get(rule, 0) + same / len(pairs) / draws
    return counts


@pytest.mark.parametrize("rho", RHOS)
def test_endless_test_parts_order_methods_no_worse_than_other_rules(rho):
    found = right(rho, draws=40)
    for splits in (False, True):
        alike = {rule: share for rule, share in found.items() if rule.startswith(ONE) == splits}
        assert alike[f"{ONE}, {CHOSEN}" if splits else CHOSEN] == max(alike.values())
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    assert all(abs(row["right"] - found[row["rule"]]) < 0.05 for row in stored if row["rho"] == rho)


if __name__ == "__main__":
    rows = [{"rule": rule, "rho": rho, "right": round(one, 3)} for rho in RHOS for rule, one in right(rho).items()]
    STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
