"""Tests of a deployed threshold on new samples: of its bound on false alarms, and for a change of the scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import betaincc, betaln
from scipy.stats import kstwo

from npbench.data.labels import Classes, Labels, classes, complete
from npbench.numerics.binomial_limits import rate_above
from npbench.numerics.thresholds import RULES
from npbench.thresholding.threshold import Threshold, as_scores, complement, refuse_others, require_rate, same_length
from npbench.values import is_whole

BLOCK = 1 << 20  # negatives that are tested at once
ROUNDING = 1e-3  # of a logarithm of evidence, for 10^9 negatives


@dataclass(frozen=True)
class Monitoring:
    """Result of the tests of a threshold on new samples.

    Parameters
    ----------
    rho, alpha : float
        Bound that is tested, and level of each of the two tests.
    n_negatives, false_alarms : int
        Number of new negatives, and of those above the threshold.
    evidence : float
        Largest logarithm of the e-value against a rate of at most rho.
    exceeded_after : int, optional
        Number of negatives after which the bound is rejected; None if it is not.
    shift_p_value, smallest_shift : float, optional
        P-value of the test for equal scores, and the distance between distribution functions that it finds with
        probability 1 - alpha or more; None without quantiles to compare with.
    labelled : bool
        Whether positives were left out. Otherwise each alarm counts as false.
    alarms : array of shape (n_negatives,)
        Whether each negative is a false alarm, in order.
    n_pending, n_before : int
        Number of samples without a label, which count as neither class, and of negatives before the window.
    promised : float, optional
        Bound of the threshold, if it promises nothing about a single sample and ``rho`` is therefore larger.
    tested : bool
        Whether the bound is tested. If the bound is on true negatives and some labels are wrong, only the scores are.
    """

    rho: float
    alpha: float
    n_negatives: int
    false_alarms: int
    evidence: float
    exceeded_after: int | None
    shift_p_value: float | None
    smallest_shift: float | None
    labelled: bool
    alarms: np.ndarray = field(repr=False, compare=False)
    n_pending: int = 0
    n_before: int = 0
    promised: float | None = None
    tested: bool = True

    @property
    def exceeded(self) -> bool:
        """True if the false-alarm rate exceeds rho, at level alpha under optional stopping."""
        return self.exceeded_after is not None

    @property
    def shifted(self) -> bool:
        """True if the scores of negatives differ from the calibration scores, at level alpha for a single test."""
        return self.shift_p_value is not None and self.shift_p_value <= self.alpha

    @property
    def ok(self) -> bool:
        """True if neither test rejects."""
        return not (self.exceeded or self.shifted)

    def evidence_after(self, n: np.ndarray) -> np.ndarray:
        """Return the logarithm of the e-value after the first n negatives; 0 if the bound is not tested."""
        if not self.tested:
            return np.zeros(len(n))
        return betting_evidence(self.alarms_among(n), n, self.rho) + _log_stake(self.promised)

    def alarms_among(self, n: np.ndarray) -> np.ndarray:
        """Return the number of false alarms among the first n negatives."""
        ends, place = np.unique(n, return_inverse=True)
        return np.cumsum([np.count_nonzero(self.alarms[i:j]) for i, j in pairwise([0, *ends])])[place]

    def __str__(self) -> str:
        found, p_value = "no evidence of", min(1.0, math.exp(-self.evidence))
        if self.exceeded:
            found = f"the first {self.exceeded_after} show"
        valid = f"for one window; {self.n_before} earlier negatives left out" if self.n_before else "valid at any time"
        test = f"{found} a rate above {self.rho:g} (p = {p_value:.2g} at level {self.alpha:g}, {valid})"
        if not self.tested:
            why = f"the bound of {self.rho:g} is on true negatives, and some labels may be wrong"
            test = f"not tested: {why}. Count alarms on negatives that a person has checked."
        lines = ["no negatives with a label yet, so nothing is tested."]
        if self.n_negatives:
            rate = f"{self.false_alarms / self.n_negatives:.2%}"
            lines = [f"false alarms: {self.false_alarms} of {self.n_negatives} negatives, {rate}; {test}"]
        if self.promised is not None:
            tested = f"The tested rate is {self.rho:g}, the most that the calibration sample explains"
            lines.append(f"{tested}: this threshold may exceed {self.promised:g} without any change.")
        if self.n_pending:
            lines.append(f"{self.n_pending} samples without a label yet count as neither negative nor positive.")
        if not self.labelled:
            lines.append("No labels: every alarm counts as false, so positives raise the rate.")
        if self.shift_p_value is not None:
            found = "differ from" if self.shifted else "do not differ significantly from"
            test = f"Kolmogorov-Smirnov, p = {self.shift_p_value:.2g}; valid for one look"
            power = f"finds a distance of {self.smallest_shift:.2g} with probability {complement(self.alpha)}"
            about = f"{test}; {power}, and may miss smaller changes, as in the tail"
            lines.append(f"scores: {found} those of the calibration sample ({about})")
        return "\n".join(lines)


def monitor(
    scores: Any,
    y: Any = None,
    *,
    threshold: Threshold,
    alpha: float = 0.05,
    pos_label: Any = None,
    window: int | None = None,
    groups: Any = None,
) -> Monitoring:
    """Test on new samples whether a threshold still keeps its bound, and whether the scores have changed.

    The false-alarm rate is tested sequentially: run it as often as you like on a growing file, and the probability of
    ever rejecting a rate of rho or less is at most alpha. The scores of negatives are compared with those of the
    calibration sample by the two-sample test of Kolmogorov and Smirnov at the quantiles that the threshold keeps: it is
    valid once, on a file that is not chosen by looking at it.

    A threshold by the rule "average" or "empirical" exceeds rho about half the time from the start. The test is then
    whether the rate exceeds what the calibration sample explains, at level alpha overall. One with ``contamination``
    bounds the rate of true negatives, which labels do not show: only the scores are tested.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores in the order of time, independent of the calibration sample.
    y : array of shape (n_samples,), optional
        Labels, and None or NaN where they have not arrived yet. Without y, every sample counts as a negative.
    threshold : Threshold
        The deployed threshold; if each group has its own, that of one group, with the scores of that group.
    alpha : float, default=0.05
        Level of each test, in ]0, 1[.
    pos_label : int, float, bool or str, optional
        Label of the positives; by default both labels are those of the threshold.
    window : int, optional
        Number of the latest negatives to test alone, so that a long good past hides no change. The level is that of
        one window, fixed beforehand: with many windows, each rejects wrongly with probability up to alpha.
    groups : array of shape (n_samples,), optional
        Group of each sample, such as a customer: its first negative counts. A threshold set with ``groups`` needs them.

    Raises
    ------
    ValueError
        If the samples are unusable, or there are no negatives and no pending labels.

    Examples
    --------
    >>> from npbench import threshold
    >>> rng = np.random.default_rng(0)
    >>> deployed = threshold(rng.normal(size=1000), np.zeros(1000), rho=0.05)
    >>> monitor(rng.normal(size=5000), threshold=deployed).ok
    True
    >>> found = monitor(rng.normal(loc=0.5, size=5000), threshold=deployed)
    >>> found.exceeded, found.shifted
    (True, True)
    """
    if not isinstance(threshold, Threshold):
        hint = "make one with npbench.threshold, and test each of GroupThresholds.groups on its own"
        raise ValueError(f"threshold is a {type(threshold).__name__}, expected a Threshold: {hint}.")
    scores, n_pending = as_scores(scores), 0
    negatives, of_group = np.arange(len(scores)), None if groups is None else complete(groups, "groups")
    same_length(len(scores), groups=of_group)
    if y is not None:
        labels = Labels(y)
        same_length(len(scores), y=labels)
        known = Classes(pos_label, None)
        if pos_label is None:
            known = Classes(threshold.positive, threshold.negative)
            refuse_others(labels, known)
        signs, _ = classes(labels, *known, drop_missing=True)
        negatives, n_pending = np.flatnonzero(signs < 0), labels.n_missing
    if of_group is not None:
        negatives = first_of_each(negatives, of_group.codes)
    asked: dict[str, Any] = {"n_pending": n_pending, "labelled": y is not None, "by_group": groups is not None}
    return monitor_placed([placed_scores(threshold, scores[negatives])], threshold, alpha, window=window, **asked)


def first_of_each(rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return those of some rows that are the first of their group, given the group of every row, in order."""
    return rows[np.sort(np.unique(codes[rows], return_index=True)[1])]


def placed_scores(threshold: Threshold, scores: np.ndarray) -> np.ndarray:
    """Return the number of marks below each score, in a byte if it fits: all that the tests need of a score."""
    marks = _marks(threshold)
    return np.searchsorted(marks, scores).astype(np.min_scalar_type(len(marks)))


def _marks(threshold: Threshold) -> np.ndarray:
    """Return the threshold and the scores with which later ones are compared, in order."""
    return np.union1d(threshold.distribution()[1], threshold.value)


def monitor_placed(
    blocks: Sequence[np.ndarray],
    threshold: Threshold,
    alpha: float,
    *,
    window: int | None,
    n_pending: int,
    labelled: bool,
    by_group: bool,
) -> Monitoring:
    """Return the tests of :func:`monitor` for blocks of negatives, as :func:`placed_scores` returns them."""
    require_rate("alpha", alpha)
    if threshold.rho is None:
        raise ValueError("The threshold has no bound on false alarms, so there is nothing to test.")
    if threshold.grouped and not by_group:
        hint = "pass groups, such as the customer of each sample. On the command line, --groups names their column"
        raise ValueError(f"The bound is on one sample of each group: {hint}.")
    placed, marks = np.concatenate([np.empty(0, dtype=np.uint8), *blocks]), _marks(threshold)
    if not len(placed) and not n_pending:
        raise ValueError("There are no negatives to count false alarms on.")
    if window is not None and not is_whole(window, 1):
        raise ValueError(f"window is {window!r:.40}, expected a number of negatives.")
    n_before = 0 if window is None else max(0, len(placed) - window)
    placed = placed[n_before:]
    rho, promised = _tested(threshold, threshold.rho, alpha)
    p_value = distance = None
    n, at, shares = threshold.distribution()
    if len(at) and len(placed):
        counts = sum(np.bincount(placed[i : i + BLOCK], minlength=len(marks) + 1) for i in range(0, len(placed), BLOCK))
        m, not_above = len(placed), np.cumsum(counts)[np.searchsorted(marks, at)]
        # at some scores only, the largest distance is at most that of Kolmogorov and Smirnov, which keeps the level
        largest = np.max(np.abs(not_above / m - shares))
        least = math.exp(math.lgamma(n + 1) + math.lgamma(m + 1) - math.lgamma(n + m + 1))  # for disjoint samples
        p_value = max(least, float(kstwo.sf(largest, max(1, round(n * m / (n + m))))))
        step = float(np.max(np.diff(shares, prepend=0, append=1)))  # hidden part of a distance, between these scores
        distance = min(1.0, _surely_found(n, m, alpha) + step)
    alarms = placed > np.searchsorted(marks, threshold.value)
    tested = threshold.contamination is None
    return Monitoring(
        rho,
        alpha,
        len(placed),
        int(np.sum(alarms)),
        *(_strongest(alarms, rho, _log_stake(promised), -math.log(alpha)) if tested else (0.0, None)),
        shift_p_value=p_value,
        smallest_shift=distance,
        labelled=labelled,
        alarms=alarms,
        n_pending=n_pending,
        n_before=n_before,
        promised=promised,
        tested=tested,
    )


def _log_stake(promised: float | None) -> float:
    return math.log(1.0 if promised is None else 0.5)  # the other half of alpha is for the bound itself


def _strongest(every: np.ndarray, rho: float, log_stake: float, enough: float) -> tuple[float, int | None]:
    """Return the largest evidence, 0 or more, and the number of negatives after which there is enough."""
    largest, first, k = 0.0, None, 0
    for start in range(0, len(every), BLOCK):
        after = np.flatnonzero(every[start : start + BLOCK]) + start + 1  # evidence grows at alarms only
        alarms = k + np.arange(1, len(after) + 1)
        k += len(after)
        # most need no incomplete beta function, of 10 microseconds: their bound is too low
        near = evidence_bound(alarms, after, rho) > largest - ROUNDING
        after, alarms = after[near], alarms[near]
        evidence = betting_evidence(alarms, after, rho) + log_stake
        # Ville's inequality: the evidence ever exceeds 1 / alpha with probability at most alpha
        if first is None and len(crossed := after[evidence >= enough]):
            first = int(crossed[0])
        largest = float(np.max(evidence, initial=largest))
    return largest, first


def _tested(threshold: Threshold, rho: float, alpha: float) -> tuple[float, float | None]:
    """Return the rate to test, and rho if it is another."""
    rule, n = RULES.get(threshold.rule), threshold.n_negatives
    if rule is None or rule.promise == "guaranteed" or n < rule.fewest(rho, threshold.delta):
        return rho, None
    # ties only lower the rate of a threshold below which all other negatives lie
    accepted = rule.accepted(n, rho, threshold.delta) + threshold.randomized
    return max(rho, float(rate_above(np.array(accepted), n, alpha / 2))), rho


def _surely_found(n: int, m: int, alpha: float) -> float:
    """Return a distance between distribution functions that the test misses with probability at most alpha."""
    # the critical distance plus the largest deviations of both samples (Dvoretzky, Kiefer, Wolfowitz, Massart)
    critical = math.sqrt(math.log(2 / alpha) / 2 * (1 / n + 1 / m))
    return critical + sum(math.sqrt(math.log(4 / alpha) / (2 * size)) for size in (n, m))


def evidence_bound(alarms: np.ndarray, n: np.ndarray, rho: float) -> np.ndarray:
    """Return an upper bound of :func:`betting_evidence`: its integral over [0, 1] with the largest weight, 1 / rho."""
    if rho > 0.5:  # the weights have no largest one
        return np.full(len(n), np.inf)
    k = alarms.astype(np.float64)
    return np.asarray(betaln(1 + k, 1 + n - k) - (1 + k) * np.log(rho) - (n - k) * np.log1p(-rho))


def betting_evidence(alarms: np.ndarray, n: np.ndarray, rho: float) -> np.ndarray:
    """Return the logarithm of an e-value against a rate of at most rho, after ``alarms`` among the first ``n`` samples.

    Bets on rates p > rho multiply their stakes by ``p / rho`` at an alarm and by ``(1 - p) / (1 - rho)`` otherwise: no
    gain on average while the rate is at most rho. The stakes are spread over p, exponentially with mean excess rho::

        E_n = int_rho^1 (p / rho)^k ((1 - p) / (1 - rho))^(n - k) w(p) dp,   w(p) ~ (1 - p)^(1 / rho - 2)

    with k alarms among n samples. Hence ``P(E_n >= 1 / alpha for some n) <= alpha`` (Ville): one may look after every
    sample and stop at any time. Samples need not be independent; each needs a rate of at most rho given those before.

    References
    ----------
    H. Robbins (1970), Annals of Mathematical Statistics 41(5), 1397-1409. I. Waudby-Smith, A. Ramdas (2024), Estimating
    means of bounded random variables by betting, JRSS B 86(1), 1-27.
    """
    k, n = np.asarray(alarms, dtype=np.float64), np.asarray(n, dtype=np.float64)
    spread = (1 - rho) / rho  # of the weights (1 - p)^(spread - 1), whose integral over [rho, 1] is known
    with np.errstate(divide="ignore"):  # evidence far below 1 is 0
        mixture = betaln(1 + k, spread + n - k) + np.log(betaincc(1 + k, spread + n - k, rho))
    weights = spread * np.log1p(-rho) - np.log(spread)
    return np.asarray(mixture - weights - k * np.log(rho) - (n - k) * np.log1p(-rho))
