"""Two promises at once, beside MAPIE: `python tests/benchmarks/test_second_rate.py` stores the numbers."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

STORED = Path(__file__).parents[2] / "results" / "published" / "second_rate.json"
RHO, DELTA, SHARE, SHIFT, DRAWS = 0.05, 0.05, 0.4, 2.0, 200
CASES = [("recall", 0.5), ("precision", 0.85)]
SIZES = (500, 2000)


def measured():
    """Return how often a threshold is found, breaks a promise, and misses, for each method on the same draws."""
    rows = []
    for (rate, least), n, (method, rule) in product(CASES, SIZES, [("npbench", ours), ("MAPIE", mapie)]):
        about = {"rate": rate, "least": least, "n": n, "method": method}
        rows.append(about | counted(rule, rate, least, n))
    return rows


def counted(rule, rate, least, n):
    random, found = np.random.default_rng(0), []
    for _ in range(DRAWS):
        y = (random.random(n) < SHARE).astype(int)
        found.append(rule(random.normal(SHIFT * y), y, rate, least))
    return judged(found, rate, least)


def judged(found, rate, least):
    """Return the shares of draws, from the true rates at the thresholds."""
    t = np.array([value for value in found if math.isfinite(value)])
    fpr, tpr = norm.sf(t), norm.sf(t - SHIFT)
    second = tpr if rate == "recall" else SHARE * tpr / (SHARE * tpr + (1 - SHARE) * fpr)
    broken = int(np.sum((fpr > RHO) | (second < least)))
    return {"found": len(t), "broken": broken, "misses": float(np.mean(1 - tpr)) if len(t) else None}


def ours(scores, y, rate, least):
    """Return npbench's threshold, or NaN if it refuses."""
    from npbench.thresholding.rules import Asked, calibrate

    try:
        return calibrate(scores, y == 1, None, Asked(RHO, DELTA, **{rate: least})).value
    except ValueError:
        return math.nan


def mapie(scores, y, rate, least):
    """Return MAPIE's threshold with the largest recall, among its default ones, or NaN if it finds none."""
    import warnings

    from mapie.risk_control import BinaryClassificationController  # in an environment of its own

    def probabilities(X):
        share = norm.cdf(X[:, 0], SHIFT / 2)
        return np.column_stack([1 - share, share])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it finds none
        options = {"confidence_level": 1 - DELTA, "best_predict_param_choice": "recall"}
        controller = BinaryClassificationController(probabilities, ["fpr", rate], target_level=[RHO, least], **options)
        controller.calibrate(scores[:, None], y)
    best = controller.best_predict_param
    return math.nan if best is None else float(norm.ppf(best, SHIFT / 2))


def test_stored_counts_are_those_of_the_rule():
    about = {"rate": "recall", "least": 0.5, "n": 500, "method": "npbench"}
    rows = json.loads(STORED.read_text(encoding="utf-8"))
    (row,) = (row for row in rows if {name: row[name] for name in about} == about)
    found = counted(ours, "recall", 0.5, 500)
    assert found == pytest.approx({name: row[name] for name in found})


if __name__ == "__main__":
    STORED.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
