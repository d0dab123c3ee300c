"""Comparison of two models by their scores of the same samples: misses at one bound on false alarms, and areas."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc

from npbench.numerics import pauc_metrics
from npbench.thresholding.threshold import Threshold, as_scores, require_rate, same_length, scored
from npbench.values import is_number

N_DRAWS = 10_000
TAIL = 0.025  # on each side of the limits
LEAST_P_VALUE = 1e-9  # of areas
LEAST_ALARMS, LEAST_POSITIVES = 5, 10  # negatives above the bound, and positives, below which there are no limits


@dataclass(frozen=True)
class Difference:
    """Error rates or areas of two models, with 95 % limits of the first minus the second; None for too few samples."""

    first: float
    second: float
    limits: tuple[float, float] | None = None
    p_value: float | None = None  # two-sided, against equal values of the population

    @property
    def value(self) -> float:
        """The first value minus the second."""
        return self.first - self.second

    @property
    def p_text(self) -> str:
        """The p-value as text."""
        return "" if self.p_value is None else f"p = {self.p_value:.2g}" if self.p_value >= 0.001 else "p < 0.001"

    def __str__(self) -> str:
        values = f"{self.first:.3f} and {self.second:.3f}, difference {self.value:+.3f}"
        return f"{values} [{self.limits[0]:+.3f}, {self.limits[1]:+.3f}], {self.p_text}" if self.limits else values


@dataclass(frozen=True)
class Comparison:
    """Two models on the same samples; made by :func:`npbench.compare`.

    Parameters
    ----------
    names, rho, n_negatives, n_positives
        Names of the models, bound on the false-alarm rate, and number of samples of each class.
    misses : Difference
        Miss rates, each with the lowest threshold whose false-alarm rate on these samples is at most rho.
    partial_auc, auc : Difference
        Mean true-positive rates over false-positive rates up to rho, and up to 1.
    deployed_misses, deployed_false_alarms : Difference, optional
        Error rates at the deployed thresholds.
    """

    names: tuple[str, str]
    rho: float
    n_negatives: int
    n_positives: int
    misses: Difference
    partial_auc: Difference
    auc: Difference
    deployed_misses: Difference | None = None
    deployed_false_alarms: Difference | None = None

    @property
    def better(self) -> str | None:
        """Name of the model that misses less at rho, with a p-value of at most 5 %; None if there is none."""
        found = self.misses
        return self.names[int(found.value > 0)] if found.p_value is not None and found.p_value <= 2 * TAIL else None

    @property
    def verdict(self) -> str:
        """The result as a sentence."""
        (a, b), found = self.names, self.misses
        rates = f"{a} misses {found.first:.1%} and {b} {found.second:.1%} of {self.n_positives} positives"
        at = f"at {100 * self.rho:.4g} % false alarms"
        if found.limits is None:
            expected = f"{LEAST_POSITIVES} positives and {np.ceil(LEAST_ALARMS / self.rho - 1e-9):.0f} negatives"
            got = f"{self.n_positives} and {self.n_negatives}"
            return f"Too few samples for limits {at}: {rates}. Expected at least {expected}, got {got}."
        decided = f"{self.better} misses less {at}" if self.better else f"No significant difference {at}"
        low, high = found.limits
        points = f"{100 * found.value:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"
        return f"{decided}: {rates}, a difference of {points}, {found.p_text}."

    @property
    def differences(self) -> dict[str, Difference]:
        """All differences by what they compare."""
        found = {
            f"misses at {self.rho:g}": self.misses,
            f"partial AUC to {self.rho:g}": self.partial_auc,
            "AUC": self.auc,
            "misses, deployed": self.deployed_misses,
            "false alarms, deployed": self.deployed_false_alarms,
        }
        return {name: one for name, one in found.items() if one is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, the verdict and the better model, for JSON."""
        return {**asdict(self), "better": self.better, "verdict": self.verdict}

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"{name}: {one}" for name, one in self.differences.items())])


def compare(
    first: Any,
    second: Any,
    y: Any,
    *,
    rho: float = 0.05,
    thresholds: tuple[float | Threshold, float | Threshold] | None = None,
    pos_label: Any = None,
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """Compare the misses of two models at the same bound on false alarms, and their areas under the ROC curve.

    Parameters
    ----------
    first, second : array of shape (n_samples,)
        Scores of the same samples by the two models, larger for more positive samples. Neither has seen the samples.
    y : array of shape (n_samples,)
        Labels of both classes.
    rho : float, default=0.05
        Bound on the false-alarm rate, in ]0, 1[.
    thresholds : pair of float or Threshold, optional
        Deployed thresholds, set on other samples, at which misses and false alarms are compared, too.
    pos_label : int, float, bool or str, optional
        Label of the positives; 1 for labels in {0, 1} or {-1, 1}, required for others.
    names : pair of str, default=("first", "second")
        Names of the models.

    Raises
    ------
    ValueError
        If the samples are unusable, or a class is missing.

    Notes
    -----
    Thresholds are estimated from the same negatives, so misses vary with both classes. Their limits are quantiles of
    10,000 differences of a paired Bayesian bootstrap, and need 10 positives and ``5 / rho`` negatives. Limits of both
    areas combine to those of their difference by Zou's method, with DeLong's correlation. Deployed thresholds are
    fixed, so McNemar's exact test applies. The page "Two models" has the sources, and coverage in simulations.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [2000, 400])
    >>> signal = rng.normal(size=2400) + 2 * y
    >>> old, new = signal + rng.normal(size=2400), signal + 0.3 * rng.normal(size=2400)
    >>> found = compare(old, new, y, rho=0.05, names=("old", "new"))
    >>> found.better
    'new'
    """
    require_rate("rho", rho)
    for name, pair in {"thresholds": thresholds, "names": names}.items():
        if pair is not None and (isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2):
            raise ValueError(f"{name} is {pair!r:.60}: expected a pair, one for each model.")
    first, positive = scored(first, y, pos_label)
    second = as_scores(second)
    same_length(len(first), second=second)
    signs, deployed = np.where(positive, 1, -1), {}
    if thresholds is not None:
        limits = [one.value if isinstance(one, Threshold) else one for one in thresholds]
        if not all(map(is_number, limits)):
            raise ValueError(f"thresholds is {thresholds!r:.60}: expected a number, or a Threshold, for each model.")
        alarms = first > limits[0], second > limits[1]
        deployed["deployed_misses"] = _fixed(*(~alarm[positive] for alarm in alarms))
        deployed["deployed_false_alarms"] = _fixed(*(alarm[~positive] for alarm in alarms))
    misses = misses_at(ranks(first, second, positive), positive, rho)
    areas = [_areas(signs, first, second, most) for most in (rho, 1.0)]
    n_positives = int(np.sum(positive))
    return Comparison(names, float(rho), len(positive) - n_positives, n_positives, misses, *areas, **deployed)


def ranks(first: np.ndarray, second: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return the number of negatives with the same score or more, of shape (2, n_samples)."""
    below = [np.searchsorted(np.sort(scores[~positive]), scores) for scores in (first, second)]
    return np.sum(~positive) - np.array(below)


def misses_at(ranked: np.ndarray, positive: np.ndarray, rho: float) -> Difference:
    """Return the miss rates at a bound on false alarms, with limits of their difference: see :func:`compare`."""
    of_positives, of_negatives = ranked[:, positive], ranked[:, ~positive]
    n_pos, n_neg = of_positives.shape[1], of_negatives.shape[1]
    allowed = pauc_metrics.rank_range(n_neg, 0.0, rho)[1]
    first, second = np.mean(of_positives > allowed, axis=1).tolist()
    if allowed < LEAST_ALARMS or n_pos < LEAST_POSITIVES:
        return Difference(first, second)
    draws = np.random.default_rng(0)
    # numbers of negatives above the population's thresholds: of both models, of one alone, of none
    shared = int(np.sum(np.all(of_negatives <= allowed, axis=0)))
    overlap = np.maximum(draws.beta(shared + 0.5, allowed - shared + 0.5, N_DRAWS), 2.0 - 1.0 / rho)
    both, alone = rho * overlap, rho * (1.0 - overlap)
    rates = np.stack([both, alone, alone, np.maximum(1.0 - both - 2.0 * alone, 0.0)], axis=1)
    in_both, *in_one, _ = draws.multinomial(n_neg, rates).T
    # each threshold lies between two negatives: draw it at the upper or at the lower one
    end = draws.integers(0, 2, N_DRAWS) - 1
    return _paired(first, second, *_missed(of_positives, *(in_both + one + end for one in in_one)), n_pos, 0.5)


def _missed(ranked: np.ndarray, *alarms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of positives that only the first model misses, and only the second, for each pair of alarms."""
    # A positive is missed if its rank is above the number of alarms, of which each model has an array.
    # Count the positives up to each pair of distinct numbers once, in O(n_pos + n_first n_second).
    levels, places = zip(*(np.unique(one, return_inverse=True) for one in alarms), strict=True)
    cells = tuple(np.searchsorted(level, rank) for level, rank in zip(levels, ranked, strict=True))
    shape = len(levels[0]) + 1, len(levels[1]) + 1
    counts = np.bincount(np.ravel_multi_index(cells, shape), minlength=shape[0] * shape[1]).reshape(shape)
    found = counts.cumsum(axis=0).cumsum(axis=1)
    both = found[places]
    return found[-1, places[1]] - both, found[places[0], -1] - both


def _fixed(first: np.ndarray, second: np.ndarray) -> Difference:
    """Return the rates of errors with fixed thresholds; the arrays say which samples each model gets wrong."""
    only_first, only_second = np.sum(first & ~second), np.sum(second & ~first)
    return _paired(float(np.mean(first)), float(np.mean(second)), only_first, only_second, len(first), 1.0)


def _paired(
    first: float, second: float, only_first: np.ndarray, only_second: np.ndarray, n: int, slack: float
) -> Difference:
    """Return rates of errors with limits, from the numbers of errors of one model alone, or from draws of them."""
    # with slack 1 the p-value is McNemar's exact one, as Clopper and Pearson's limits go with the binomial test; with
    # 1/2 both are Jeffreys'
    ends, chances = [], []
    for more, less in ((only_first, only_second), (only_second, only_first)):
        counts = np.maximum(more + 1 - slack, np.finfo(float).tiny), less + slack, n - more - less
        draws = np.random.default_rng(1)
        weights = [draws.standard_gamma(count, N_DRAWS) for count in counts]
        ends.append(float(np.quantile((weights[0] - weights[1]) / sum(weights), TAIL)))
        chances.append(float(np.mean(betainc(*counts[:2], 0.5))))
    value = first - second  # ties can move it outside of the limits
    return Difference(first, second, (min(ends[0], value), max(-ends[1], value)), min(1.0, 2 * min(chances)))


def _areas(signs: np.ndarray, first: np.ndarray, second: np.ndarray, most: float) -> Difference:
    """Return the mean true-positive rates over false-positive rates up to ``most``; limits by Zou's method."""
    one, other = (pauc_metrics.interpolated(signs, scores, 0.0, most) for scores in (first, second))
    if np.sum(signs > 0) < LEAST_POSITIVES or np.sum(signs < 0) * most < LEAST_ALARMS:
        return Difference(one.value, other.value)
    value, product = one.value - other.value, one.error * other.error
    shared = one.error**2 + other.error**2 - pauc_metrics.difference(signs, first, second, 0.0, most).error ** 2
    correlation = min(1.0, max(-1.0, shared / (2 * product))) if product else 0.0

    def limits(confidence: float) -> tuple[float, float]:
        (low, high), (other_low, other_high) = one.limits(confidence), other.limits(confidence)
        ends = (one.value - low, other_high - other.value), (high - one.value, other.value - other_low)
        below, above = (math.sqrt(max(0.0, x * x + y * y - 2 * correlation * x * y)) for x, y in ends)
        return value - below, value + above

    def nearest(confidence: float) -> float:
        low, high = limits(confidence)
        return low if value > 0 else -high

    # the p-value is the level at which the limits reach 0
    least, largest = LEAST_P_VALUE, 1.0 - LEAST_P_VALUE
    p_value = 1.0 if nearest(least) <= 0 else LEAST_P_VALUE
    if nearest(least) > 0 > nearest(largest):
        p_value = 1.0 - float(brentq(nearest, least, largest))
    return Difference(one.value, other.value, limits(1.0 - 2 * TAIL), p_value)
