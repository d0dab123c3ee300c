"""Two promises at once, beside MAPIE: `python tests/benchmarks/test_second_rate.py` stores the numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

STORED = Path(__file__).parents[2] / "results" / "published" / "second_rate.json"
RHO, DELTA, SHARE, SHIFT, DRAWS = 0.05, 0.05, 0.4, 2.0, 200
CASES = [("recall", 0.5), ("precision", 0.85)]
SIZES = (500, 2000)


def measured() -> list[dict[str, Any]]:
    """Return how often a threshold is found, breaks a promise, and misses, for each method on the same draws."""
    methods: dict[str, Callable[..., float]] = {"npbench": ours, "MAPIE": mapie}
    rows = []
    for rate, least in CASES:
        for n in SIZES:
            for method, rule in methods.items():
                about = {"rate": rate, "least": least, "n": n, "method": method}
                rows.append(about | counted(rule, rate, least, n))
    return rows


def counted(rule: Callable[..., float], rate: str, least: float, n: int) -> dict[str, Any]:
    """Return the counts of a rule over all draws of n samples."""
    random, found = np.random.default_rng(0), []
    for _ in range(DRAWS):
        y = (random.random(n) < SHARE).astype(int)
        found.append(rule(random.normal(SHIFT * y), y, rate, least))
    return judged(found, rate, least)


def judged(found: list[float], rate: str, least: float) -> dict[str, Any]:
    """Return the shares of draws, from the true rates at the thresholds."""
    t = np.array([value for value in found if math.isfinite(value)])
    fpr, tpr = norm.sf(t), norm.sf(t - SHIFT)
    second = tpr if rate == "recall" else SHARE * tpr / (SHARE * tpr + (1 - SHARE) * fpr)
    broken = int(np.sum((fpr > RHO) | (second < least)))
    return {"found": len(t), "broken": broken, "misses": float(np.mean(1 - tpr)) if len(t) else None}


def ours(scores: np.ndarray, y: np.ndarray, rate: str, least: float) -> float:
    """Return npbench's threshold, or NaN if it refuses."""
    from npbench.thresholding.rules import calibrate

    promised: Any = {rate: least}
    try:
        found = calibrate(scores, y == 1, None, rho=RHO, delta=DELTA, rule="umbrella", **promised)
        return float(found.value)  # without groups, it is a single threshold
    except ValueError:
        return math.nan


def mapie(scores: np.ndarray, y: np.ndarray, rate: str, least: float) -> float:
    """Return MAPIE's threshold with the largest recall, among its default ones, or NaN if it finds none."""
    import warnings

    from mapie.risk_control import BinaryClassificationController  # in an environment of its own

    def probabilities(X: np.ndarray) -> np.ndarray:
        share = norm.cdf(X[:, 0], SHIFT / 2)
        return np.column_stack([1 - share, share])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it finds none
        options = {"confidence_level": 1 - DELTA, "best_predict_param_choice": "recall"}
        controller = BinaryClassificationController(probabilities, ["fpr", rate], target_level=[RHO, least], **options)
        controller.calibrate(scores[:, None], y)
    best = controller.best_predict_param
    return math.nan if best is None else float(norm.ppf(best, SHIFT / 2))


def test_stored_counts_are_those_of_the_rule() -> None:
    about = {"rate": "recall", "least": 0.5, "n": 500, "method": "npbench"}
    rows = json.loads(STORED.read_text(encoding="utf-8"))
    (row,) = (row for row in rows if {name: row[name] for name in about} == about)
    found = counted(ours, "recall", 0.5, 500)
    assert found == pytest.approx({name: row[name] for name in found})


if __name__ == "__main__":
    STORED.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
