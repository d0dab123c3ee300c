"""Bounds under wrong labels, beside Yao et al.: `python tests/benchmarks/test_contamination.py` stores the numbers."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, norm

from npbench.numerics.order_statistics import ascending
from npbench.numerics.thresholds import contaminated_umbrella, umbrella

STORED = Path(__file__).parents[2] / "results" / "published" / "contamination.json"
DELTA, SHIFT, DRAWS = 0.05, 2.0, 2000
CASES = [
    (0.05, 0.95, 0.0, 500, 200),
    (0.05, 0.9, 0.1, 500, 200),
    (0.05, 0.8, 0.0, 1000, 500),
    (0.01, 0.98, 0.0, 5000, 500),
]


def measured():
    """Return how often the rate of the true negatives exceeds rho, and the misses, for each rule on the same draws."""
    rows = []
    for case, method in product(CASES, RULES):
        rows.append(counted(method, *case))
    return rows


def counted(method, rho, purity, impurity, n, n_pos):
    random, values = np.random.default_rng(0), np.empty(DRAWS)
    for draw in range(DRAWS):
        negatives, positives = (mixed(random, *sizes) for sizes in ((n, purity), (n_pos, impurity)))
        values[draw] = RULES[method](negatives, positives, rho, purity, impurity)
    case = {"rho": rho, "purity": purity, "impurity": impurity, "n": n, "n_pos": n_pos, "method": method}
    exceeded = float(np.mean(norm.sf(values) > rho))
    return case | {
        "exceeded": exceeded,
        "p_fa": float(np.mean(norm.sf(values))),
        "misses": float(np.mean(norm.cdf(values - SHIFT))),
    }


def mixed(random, n, purity):
    return random.normal(SHIFT * (random.random(n) >= purity))


def yao(negatives, positives, rho, purity, impurity):
    """Return the threshold of Yao et al. (2023): half of the negatives estimate the difference of the classes."""
    n = len(negatives) // 2
    other, levels, positives = np.sort(negatives[n:]), np.sort(negatives[:n]), np.sort(positives)
    of_negatives, of_positives = (np.searchsorted(part, levels, "right") / len(part) for part in (other, positives))
    ranks = np.arange(1, n + 1)
    difference = (1 - purity) / (purity - impurity) * (of_negatives - of_positives)
    return levels[np.argmax(beta.ppf(1 - DELTA, n - ranks + 1, ranks) - difference <= rho)]


RULES = {
    "umbrella": lambda negatives, positives, rho, *shares: umbrella(negatives, rho, DELTA),
    "`contamination`": lambda negatives, positives, rho, *shares: contaminated_umbrella(
        ascending(negatives), ascending(positives), rho, DELTA, *shares
    ),
    "Yao et al.": yao,
}


@pytest.mark.slow  # 2000 draws
def test_stored_counts_are_those_of_the_rule():
    (row,) = (
        row
        for row in json.loads(STORED.read_text(encoding="utf-8"))
        if row["n_pos"] == 200 and row["purity"] == 0.95 and row["method"] == "`contamination`"
    )
    assert counted(row["method"], *CASES[0]) == pytest.approx(row)


if __name__ == "__main__":
    STORED.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
