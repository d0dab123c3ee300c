"""Two promises at once, beside MAPIE: `python docs/second_rate.py` measures, cog writes the table."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

STORED = Path(__file__).parents[1] / "results" / "published" / "second_rate.json"
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
                random = np.random.default_rng(0)
                found = []
                for _ in range(DRAWS):
                    y = (random.random(n) < SHARE).astype(int)
                    found.append(rule(random.normal(SHIFT * y), y, rate, least))
                rows.append({"rate": rate, "least": least, "n": n, "method": method, **judged(found, rate, least)})
    return rows


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
        return float(found.value)  # type: ignore[union-attr]  # without groups, it is a single threshold
    except ValueError:
        return math.nan


def mapie(scores: np.ndarray, y: np.ndarray, rate: str, least: float) -> float:
    """Return MAPIE's threshold with the largest recall, among its default ones, or NaN if it finds none."""
    import warnings

    from mapie.risk_control import (  # type: ignore[import-not-found]  # in an environment of its own
        BinaryClassificationController,
    )

    def probabilities(X: np.ndarray) -> np.ndarray:
        share = norm.cdf(X[:, 0], SHIFT / 2)
        return np.column_stack([1 - share, share])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it finds none
        controller = BinaryClassificationController(
            probabilities,
            ["fpr", rate],
            target_level=[RHO, least],
            confidence_level=1 - DELTA,
            best_predict_param_choice="recall",
        )
        controller.calibrate(scores[:, None], y)
    best = controller.best_predict_param
    return math.nan if best is None else float(norm.ppf(best, SHIFT / 2))


def table() -> None:
    """Write the stored rows as a table."""
    import cog  # type: ignore[import-not-found]  # cogapp provides it while it runs

    cog.outl("\n| promise beside P_fa <= 0.05 | samples | method | threshold found | promise broken | misses |")
    cog.outl("|---|---|---|---|---|---|")
    for row in json.loads(STORED.read_text(encoding="utf-8")):
        misses = "-" if row["misses"] is None else f"{row['misses']:.3f}"
        cog.outl(
            f"| {row['rate']} >= {row['least']:g} | {row['n']} | {row['method']} | {row['found']} of {DRAWS} | "
            f"{row['broken']} | {misses} |"
        )
    cog.outl("")


if __name__ == "__main__":
    STORED.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
