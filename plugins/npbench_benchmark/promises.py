"""Promises of thresholds, and what a kept one looks like on test parts."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbench.numerics.thresholds import RULES
from npbench.thresholding.classifier import ALIGNED, calibration_count

AUTO = "umbrella"  # rule of threshold="auto" where it can promise
COUNT_ROUNDING = 1e-9
MOST_PARTS = 20  # of protocols, whose shares are multiples of one part
SIZES = ("n_samples", "n_positive", "n_test_positive")


@dataclass(frozen=True)
class Promise:
    """The promise of a method, as the parameters in its records give it."""

    kind: str  # a word of npbench.numerics.thresholds.PROMISES
    rule: str = ""
    delta: float = 0.0
    size: Any = None  # share of the negatives held out, or "aligned"; 1.0 for all, which other fits have scored
    randomized: bool = False

    @classmethod
    def of(cls, params: Mapping[str, Any], used: Collection[str]) -> Promise:
        """Return what a threshold with these parameters promises, if its answers used these rules."""
        asked = str(params.get("threshold"))
        rule = AUTO if asked == "auto" and set(used) <= {AUTO} else asked
        delta, kind = params.get("delta"), RULES[rule].promise if rule in RULES else "none"
        if kind == "none" or not isinstance(delta, float) or not 0 < delta < 1:
            return cls("none")
        size, n_splits = params.get("calibration_size"), params.get("n_splits")
        if size != ALIGNED and not (isinstance(size, float) and 0 < size <= 1):  # records may come from anyone
            size = None
        if params.get("cv") is not None:
            # a solver of npbench trains for rho: each fold has its own zero, and the scores have no common scale
            kind, size = "measured" if "." in str(params.get("estimator")) else "none", 1.0
        elif isinstance(n_splits, int) and n_splits > 1:  # a majority decides
            kind = "measured"
        return cls(kind, rule, delta, size, params.get("randomized") is True)


def expected(promise: Promise, sizes: Iterable[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the share of test parts above rho to expect if the promise is kept, and the noise of the mean rate.

    ``sizes`` are rho and :data:`SIZES` of each record. The noise is a standard deviation. Without a promise
    both values are NaN; if sizes are unknown, they are delta and NaN.
    """
    if promise.kind == "none":
        return math.nan, math.nan
    known = (one.values() for one in sizes if None not in one.values())
    if not (seen := [rate for one in known if (rate := _seen(promise, *one))]):
        return promise.delta, math.nan
    shares, variances = zip(*seen, strict=True)
    return float(np.mean(shares)), math.sqrt(np.sum(variances)) / len(seen)


def tails(
    promise: Promise, sizes: Iterable[Mapping[str, Any]], rates: Iterable[float | None]
) -> list[tuple[float, float]]:
    """Return the tail probability of each test part of known sizes, and its false-alarm rate over rho.

    The tail is the probability of at least as many false alarms if the promise is kept; 1 for parts not above rho.
    """
    if promise.kind == "none":
        return []
    parts = ((rate, tuple(one.values())) for one, rate in zip(sizes, rates, strict=True))
    known = ((rate, part) for rate, part in parts if rate is not None and None not in part and _alarms(promise, *part))
    return [(_tail(promise, rate, *part) if rate > part[0] else 1.0, rate / part[0]) for rate, part in known]


@functools.lru_cache(maxsize=100_000)
def _tail(promise: Promise, rate: float, *part: Any) -> float:
    n_test, mixture = _alarms(promise, *part) or (0, [])
    least = round(min(rate, 1.0) * n_test)  # n_test may be off by one
    return float(sum(share * one.sf(least - 1) for share, one in mixture))


@functools.lru_cache(maxsize=100_000)  # repeats and parts of a suite ask again
def _seen(promise: Promise, rho: float, n: int, n_pos: int, n_test_pos: int) -> tuple[float, float] | None:
    """Return the probability that the rate on a test part exceeds rho, and its variance; None for unknown sizes."""
    found = _alarms(promise, rho, n, n_pos, n_test_pos)
    if found is None:
        return None
    n_test, mixture = found
    most = np.floor(rho * n_test + COUNT_ROUNDING)
    moments = [share * np.array([one.sf(most), one.mean(), one.var() + one.mean() ** 2]) for share, one in mixture]
    above, mean, square = np.sum(moments, axis=0)
    return float(above), float(square - mean**2) / n_test**2


@functools.lru_cache(maxsize=10_000)
def _alarms(
    promise: Promise, rho: float, n: int, n_pos: int, n_test_pos: int
) -> tuple[int, Sequence[tuple[float, Any]]] | None:
    """Return the number of test negatives, and the mixture of distributions of false alarms; None for unknown sizes."""
    if promise.size is None or not n_pos:
        return None
    n_test = round((n - n_pos) * share_tested(n_pos, n_test_pos))
    n_calibration = n - n_pos - n_test
    if promise.size != 1.0:
        n_calibration = calibration_count(n_calibration, promise.size, promise.rule, rho, promise.delta)
    rule = RULES[promise.rule]
    if n_calibration < rule.fewest(rho, promise.delta) or n_test < 1:
        return None
    m, target = rule.accepted(n_calibration, rho, promise.delta), rule.target(rho, promise.delta)
    shares = {m: 1.0}
    if promise.randomized and m + 1 < n_calibration:
        kept, exceeded = (rule.level(n_calibration, one, rho) for one in (m, m + 1))
        coin = (target - kept) / (exceeded - kept)
        shares = {m: 1 - coin, m + 1: coin}
    return n_test, [(share, false_alarms(n_calibration, one, n_test)) for one, share in shares.items()]


def share_tested(n_pos: float, n_test_pos: float) -> float:
    """Return the share of a stratified test part: the simplest that rounds to its number of positives.

    >>> share_tested(25, 13), share_tested(400, 100)
    (0.5, 0.25)
    """
    simple = (round(n_test_pos * most / n_pos) / most for most in range(1, MOST_PARTS + 1))
    return next((one for one in simple if abs(one * n_pos - n_test_pos) <= 0.5 + COUNT_ROUNDING), n_test_pos / n_pos)


def false_alarms(n_calibration: int, accepted: int, n_test: int) -> Any:
    """Return the distribution of the number of false alarms on a test part, from scipy.stats.

    The threshold lies above all but ``accepted`` of n calibration negatives, without ties. Its true rate has a
    Beta(accepted + 1, n - accepted) distribution, so the number among the test negatives is beta-binomial. With
    many of both, and twice as many in the test part, an umbrella threshold is above rho on nearly 9 % of the test parts
    for delta = .05.
    """
    from scipy.stats import betabinom  # slow to import

    return betabinom(n_test, accepted + 1, n_calibration - accepted)
