"""Promises of thresholds, and how often a kept promise looks broken on a test part."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
import polars as pl

from npbench.numerics.thresholds import fewest_negatives, umbrella_rank

UMBRELLA = "umbrella"  # threshold and status of a scorer
COUNT_ROUNDING = 1e-9


def promised(params: dict[str, Any], rules: Collection[str]) -> float | None:
    """Return delta of an umbrella threshold, or None for a majority, for folds, or if "auto" chose another rule."""
    is_umbrella = params.get("threshold") == UMBRELLA or (
        params.get("threshold") == "auto" and set(rules) == {UMBRELLA}
    )
    holds_out_once = params.get("n_splits", 1) == 1 and params.get("cv") is None
    delta = params.get("delta")
    return delta if is_umbrella and holds_out_once and isinstance(delta, float) else None


def allowed(delta: float, params: dict[str, Any], records: pl.DataFrame) -> float:
    """Return the mean of :func:`seen_above` over records of an umbrella threshold, or delta if sizes are unknown."""
    sizes = records.select("rho", "n_samples", "n_positive", "n_test_positive").drop_nulls()
    share, shares = params.get("calibration_size"), []
    for rho, n, n_positive, n_test_positive in sizes.iter_rows() if isinstance(share, float) else ():
        n_negative = n - n_positive
        n_test = round(n_negative * n_test_positive / n_positive)  # parts are stratified
        n_calibration = math.ceil(share * (n_negative - n_test))
        if n_calibration >= fewest_negatives(rho, delta):
            shares.append(seen_above(n_calibration, n_test, rho, delta))
    return float(np.mean(shares)) if shares else delta


def seen_above(n_calibration: int, n_test: int, rho: float, delta: float) -> float:
    """Return the probability that an umbrella threshold has more than a share rho of false alarms on a test part.

    The threshold is the k-th smallest of the scores of n calibration negatives, without ties. Its true rate has a
    Beta(n - k + 1, k) distribution, so that the number of false alarms among the test negatives is beta-binomial. With
    many of both, and twice as many in the test part, the probability is nearly .09 for delta = .05.

    Examples
    --------
    >>> round(seen_above(100, 200, 0.1, 0.05), 3), round(seen_above(10**5, 2 * 10**5, 0.1, 0.05), 3)
    (0.04, 0.088)
    """
    from scipy.stats import betabinom  # slow to import

    k = umbrella_rank(n_calibration, rho, delta)
    few = np.floor(rho * n_test + COUNT_ROUNDING)
    return float(betabinom.sf(few, n_test, n_calibration - k + 1, k))
