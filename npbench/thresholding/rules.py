"""Rules that set a threshold for scores with a promise about new samples."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import reduce
from itertools import accumulate
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.random import RandomState

from npbench import __version__
from npbench.data.labels import classes, complete
from npbench.numerics import thresholds
from npbench.numerics.binomial_limits import rate_above
from npbench.numerics.order_statistics import Ascending, ascending
from npbench.thresholding.threshold import (
    CUSTOM,
    GroupThresholds,
    Threshold,
    as_contamination,
    as_scores,
    described,
    n_promises,
    quantiles_of,
    require_rate,
    rounded_down,
    rounded_up,
    same_length,
)

Rule = str | Callable[[np.ndarray, np.ndarray], float]
MAX_TRIED_PRECISIONS = 60
STORED = {one.name for one in fields(Threshold)}


class _Options(TypedDict, total=False):
    rho: float | None
    delta: float
    pos_label: Any
    rule: Rule
    recall: float | None
    precision: float | None
    abstain: bool
    contamination: tuple[float, float] | None
    weights: Any
    randomized: bool
    random_state: Any
    small: str
    keep_scores: bool


@overload
def threshold(scores: Any, y: Any, *, by: None = None, **options: Unpack[_Options]) -> Threshold: ...


@overload
def threshold(scores: Any, y: Any, *, by: Any, **options: Unpack[_Options]) -> GroupThresholds: ...


def threshold(
    scores: Any,
    y: Any,
    *,
    rho: float | None = 0.05,
    delta: float = 0.05,
    by: Any = None,
    pos_label: Any = None,
    rule: Rule = "umbrella",
    recall: float | None = None,
    precision: float | None = None,
    abstain: bool = False,
    contamination: tuple[float, float] | None = None,
    weights: Any = None,
    randomized: bool = False,
    random_state: Any = None,
    small: str = "refuse",
    keep_scores: bool = False,
) -> Threshold | GroupThresholds:
    """Return a threshold for scores that bounds the false-alarm rate.

    The samples must be new to the model that scored them, and independent of each other.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores of any model, larger for more positive samples; an array, list, or pandas or polars series.
    y : array of shape (n_samples,)
        Labels. Negatives set the threshold; positives, if there are any, show the miss rate.
    rho : float or None, default=0.05
        Bound on the false-alarm rate, in ]0, 1[. None leaves it out: a recall alone gives the highest threshold that
        keeps it, and a precision the lowest.
    delta : float, default=0.05
        Probability with which "umbrella" may exceed rho, in ]0, 1[.
    by : array of shape (n_samples,), optional
        Group of each sample. Each group has its own threshold, with ``delta / n_groups``, so that all groups keep rho
        at once with probability 1 - delta. A group that is not among them has no threshold, and is refused.
    pos_label : int, float, bool or str, optional
        Label of the positives; 1 for labels in {0, 1} or {-1, 1}.
    rule : {"umbrella", "average", "empirical"} or callable, default="umbrella"
        "umbrella" keeps rho on new samples with probability 1 - delta. "average" keeps it in the mean over samples like
        these, with 1 / rho - 1 negatives or more. "empirical" keeps it on these samples only. A callable receives
        labels in {-1, 1} and scores, and returns the threshold.
    recall, precision : float, optional
        Lower bounds to promise together with rho, in ]0, 1[. All promises share delta evenly. They need held-out
        positives and the rule "umbrella"; a precision needs them as frequent as among new samples. With probability
        1 - delta, all bounds hold or no threshold is returned; where a bound is out of reach, most thresholds that are
        returned break one.
    abstain : bool, default=False
        Whether scores between two thresholds are answered by "don't know", so that rho and ``recall`` are always kept:
        false alarms lie above the first, at most rho, and misses below the second, at most 1 - recall.
    contamination : pair of float, optional
        Shares (m0, m1) where labels are wrong: at most m0 of the samples labelled negative, and at least m1 of those
        labelled positive, are negative, as in (0.95, 0). The bound then holds for the true negatives.
    weights : array of shape (n_samples,), optional
        Density ratios of the negatives in a future population and in this one, divided by the largest that can occur:
        each negative is kept with this probability. The promise is about that population; positives need no weight.
    randomized : bool, default=False
        Whether a coin decides between two neighbouring thresholds, so that the bound is met exactly over samples and
        coin: fewer misses at the same promise.
    random_state : int, RandomState or None, default=None
        Seed of the coin and of the negatives that weights keep.
    small : {"refuse", "pool"}, default="refuse"
        What to do with groups of too few negatives. "pool" gives as few of the smallest groups as it can one common
        threshold, whose promise is for all their negatives, mixed as here, and not for each of these groups.
    keep_scores : bool, default=False
        Whether result and JSON keep all scores of negatives, not at most 99 quantiles, for :func:`npbench.monitor`.

    Returns
    -------
    Threshold or GroupThresholds
        The second with ``by``.

    Raises
    ------
    ValueError
        If the samples are unusable, the negatives too few for the promise, or no threshold keeps all bounds.

    Warns
    -----
    UserWarning
        If ties at the largest score leave no threshold that accepts anything.

    Notes
    -----
    The bound on false alarms is the rule of Tong, Feng and Li (2018). A recall is promised by the same rule for
    positives. A precision is tested at thresholds that accept fixed numbers of samples, with Bonferroni's correction:
    Learn then Test of Angelopoulos et al. (2021). ``contamination`` is that of Yao et al. (2023), where positives tend
    to have larger scores, with a proof.

    Examples
    --------
    >>> scores, y = np.arange(400.0), np.repeat([0, 1], [300, 100])
    >>> found = threshold(scores, y, rho=0.01)
    >>> print(found)
    score > 299
    With probability 0.95 or more, the false-alarm rate of new samples from the same population is at most 0.01.
    299 negatives needed for 0.01 at 0.95; you have 300
    misses: 0.0% of 100 [0.0%, 3.6%]
    """
    from sklearn.utils import check_random_state

    scores, (signs, known) = as_scores(scores), classes(y, pos_label)
    same_length(len(scores), y=signs, by=by, weights=weights)
    positive, random = signs > 0, check_random_state(random_state)
    is_weighted = weights is not None
    asked = Asked(rho, delta, rule, recall, precision, abstain, contamination, randomized, small, weighted=is_weighted)
    kept = kept_by_weight(weights, positive, random)
    found = calibrate(scores, positive, by, asked, random=random, kept=kept, keep_scores=keep_scores)
    return described(found, **known._asdict(), score="given, larger for more positive samples")


def kept_by_weight(weights: Any, positive: np.ndarray, random: RandomState, name: str = "weights") -> np.ndarray:
    """Return whether each sample is kept: positives, and each negative with the probability that is its weight."""
    if weights is None:
        return np.ones(len(positive), dtype=bool)
    from sklearn.utils import column_or_1d

    given = np.where(positive, 1.0, np.asarray(column_or_1d(weights), dtype=np.float64))
    if len(wrong := given[~((given >= 0) & (given <= 1))]):
        hint = "divide the density ratios by the largest that can occur"
        raise ValueError(f"{name} has {wrong[0]:g}, expected numbers from 0 to 1: {hint}.")
    return random.random_sample(len(given)) < given


@dataclass(frozen=True)
class Asked:
    """Request for a threshold: the parameters of :func:`threshold`, and how its samples were drawn."""

    rho: float | None = 0.05
    delta: float = 0.05
    rule: Rule = "umbrella"
    recall: float | None = None
    precision: float | None = None
    abstain: bool = False
    contamination: tuple[float, float] | None = None
    randomized: bool = False
    small: str = "refuse"
    cross_fitted: bool = False
    weighted: bool = False
    grouped: bool = False

    def __post_init__(self) -> None:
        """Raise a ValueError for rates out of range, and for options that exclude each other."""
        for name in ("rho", "delta", "recall", "precision"):
            if (rate := getattr(self, name)) is not None:
                require_rate(name, rate)
        has_precision, has_wrong = self.precision is not None, self.contamination is not None
        has_second = self.recall is not None or has_precision
        is_alone = self.rho is not None and not has_second
        by_caller = callable(self.rule)
        if self.n_promised == 0:
            raise ValueError("rho is None, and so are recall and precision: bound one of them.")
        if has_second and self.rule != "umbrella":
            raise ValueError(f"rule is {self.rule!r}, which promises no recall or precision: use 'umbrella'.")
        if not by_caller and self.rule not in thresholds.RULES:
            raise ValueError(f"rule is {self.rule!r}, expected {', '.join(thresholds.RULES)} or a callable.")
        if self.randomized and (by_caller or has_wrong or not is_alone):
            raise ValueError("randomized is for rho alone, by a rule of npbench, and allows no contamination.")
        if self.small not in ("refuse", "pool") or (self.small == "pool" and self.rho is None):
            raise ValueError(f"small is {self.small!r}, expected 'refuse', or 'pool' for a bound on false alarms.")
        if self.abstain and (self.rho is None or self.recall is None or has_precision):
            raise ValueError("abstain bounds false alarms by rho and misses by recall: set both, and no precision.")
        if has_wrong and (self.rule != "umbrella" or not is_alone):
            raise ValueError("contamination is for rho alone, by the rule 'umbrella'.")
        if has_precision and (self.weighted or self.grouped):
            needs = "a precision needs both classes as they come"
            raise ValueError(f"{needs}: leave out groups, and weights or calibration_weight.")
        if has_wrong:
            object.__setattr__(self, "contamination", as_contamination(self.contamination))

    @property
    def n_promised(self) -> int:
        """Number of bounds, which share delta."""
        return n_promises(self.rho, self.recall, self.precision)

    def pooled(self, counts: Mapping[Any, int]) -> tuple[Any, ...]:
        """Return the groups to pool, given their numbers of negatives; raise a ValueError if a group has too few."""
        if self.rho is None or callable(self.rule):
            return ()
        # contamination has a share of delta for the negatives
        n_shares = self.n_promised / (1 if self.contamination is None else thresholds.NEGATIVES_SHARE)
        if self.small == "pool":
            if (pooled := _pooled(counts, self.rho, self.delta / n_shares, self.rule)) is not None:
                return pooled
            counts = {None: sum(counts.values())}
        drawn = ", after the weights" * self.weighted + ", one of each group" * self.grouped
        _require_negatives(counts, self.rho, self.delta, self.rule, n_shares * len(counts), drawn)
        return ()


def rows_by_group(by: Any, n: int) -> dict[Any, np.ndarray]:
    """Return the rows of each group; without groups, all rows under None. With times, each day is a group."""
    if by is None:
        return {None: np.arange(n)}
    labels = complete(by, "by")
    codes = labels.codes.astype(np.min_scalar_type(len(labels.values)))  # 16 bits are sorted in one pass
    rows, ends = np.argsort(codes, kind="stable"), np.cumsum(np.bincount(labels.codes))[:-1]
    return dict(zip(labels.values, np.split(rows, ends), strict=True))


@dataclass(frozen=True)
class Part:
    """Scores of a group by class, and for a rule of the caller as given, with which of them are positive."""

    negatives: Ascending
    positives: Ascending
    given: tuple[np.ndarray, np.ndarray] | None = None

    @classmethod
    def of(cls, scores: np.ndarray, positive: np.ndarray) -> Part:
        """Return some samples as a part."""
        return cls(ascending(scores[~positive]), ascending(scores[positive]), (scores, positive))

    def __add__(self, other: Part) -> Part:
        return Part(self.negatives + other.negatives, self.positives + other.positives)


Parts = Mapping[Any, Part]


def calibrate(
    scores: np.ndarray, positive: np.ndarray, by: Any, asked: Asked, *, kept: np.ndarray | None = None, **options: Any
) -> Threshold | GroupThresholds:
    """Return the threshold for checked scores; ``positive`` has True for positives, ``kept`` for samples to use."""
    members = rows_by_group(by, len(scores))
    in_use = {name: rows if kept is None else rows[kept[rows]] for name, rows in members.items()}
    parts = {name: Part.of(scores[rows], positive[rows]) for name, rows in in_use.items()}
    return calibrate_parts(parts, asked, **options)


def calibrate_parts(
    members: Parts, asked: Asked, *, random: RandomState | None = None, keep_scores: bool = False
) -> Threshold | GroupThresholds:
    """Return the threshold for the samples of each group; without groups, they are under None."""
    pooled = asked.pooled({name: len(part.negatives) for name, part in members.items()})
    # pooled groups are one part, under their names
    parts: dict[Any, Part] = {name: part for name, part in members.items() if name not in pooled}
    if pooled:
        parts[pooled] = united(members[name] for name in pooled)
    for bound in ("recall", "precision"):
        for name, part in parts.items() if getattr(asked, bound) is not None else ():
            _require_positives(bound, part.positives, name)
    delta = asked.delta / len(parts)
    values = _values(parts, asked, delta / asked.n_promised, random if asked.randomized else None)
    found = {name: _counted(part, *values[name], asked, delta, keep_scores) for name, part in parts.items()}
    of_group = {name: found[pooled if name in pooled else name] for name in members}
    return found[None] if None in members else GroupThresholds(of_group, asked.delta, pooled)


def united(parts: Iterable[Part]) -> Part:
    """Return the samples of several groups as one part."""
    return reduce(operator.add, parts)


def _values(
    parts: Parts, asked: Asked, share: float, coin: RandomState | None
) -> dict[Any, tuple[float, float | None]]:
    """Return for each part the threshold, and the lower one below which no sample is left open, if there is one."""
    # the bound on false alarms gives the lowest threshold; a precision may raise it, a recall may rule it out
    values = dict.fromkeys(parts, -math.inf)
    if asked.rho is not None:
        values = {name: _value(part, asked, share, coin) for name, part in parts.items()}
    if asked.precision is not None:
        values = _precise(parts, values, asked.precision, share)
    lower: dict[Any, float] = {}
    if asked.recall is not None and asked.n_promised > 1 and not asked.abstain:
        _require_recall(parts, values, asked.recall, share)
    elif asked.recall is not None:
        highest = {name: _highest(part.positives, asked.recall, share) for name, part in parts.items()}
        # a lower threshold than the recall needs keeps it, too: where they cross, one threshold does for both
        lower = {name: min(value, highest[name]) for name, value in values.items()} if asked.abstain else {}
        values = values if asked.abstain else highest
    return {name: (value, lower.get(name)) for name, value in values.items()}


def _counted(part: Part, value: float, lower: float | None, asked: Asked, delta: float, keep_scores: bool) -> Threshold:
    """Return a threshold with the counts of its calibration sample."""
    false_alarms, unsure_negatives, _ = _divided(part.negatives, value, lower)
    _, unsure_positives, misses = _divided(part.positives, value, lower)
    stored = {one.name: getattr(asked, one.name) for one in fields(Asked) if one.name in STORED}
    rates = {name: None if stored[name] is None else float(stored[name]) for name in ("rho", "recall", "precision")}
    known: dict[str, Any] = {**stored, **rates, "delta": float(delta)}  # JSON takes no NumPy numbers
    known["rule"] = asked.rule if isinstance(asked.rule, str) else CUSTOM
    return Threshold(
        value,
        n_negatives=len(part.negatives),
        false_alarms=false_alarms,
        n_positives=len(part.positives),
        misses=misses,
        lower=lower,
        unsure_negatives=unsure_negatives,
        unsure_positives=unsure_positives,
        quantiles=quantiles_of(part.negatives),
        reference=tuple(part.negatives.every().tolist()) if keep_scores else (),
        date=datetime.now(UTC).date().isoformat(),
        npbench_version=__version__,
        **known,
    )


def _divided(scores: Ascending, value: float, lower: float | None) -> tuple[int, int, int]:
    """Return the numbers of scores above a threshold, from ``lower`` up to it, and below both."""
    rejected = int(scores.count(value))
    missed = rejected if lower is None else int(scores.count(lower, "left"))
    return len(scores) - rejected, rejected - missed, missed


def bounded(
    negatives: Ascending, positives: Ascending, asked: Asked, delta: float, coin: RandomState | None = None
) -> float:
    """Return the lowest threshold that keeps rho by a rule of npbench, with its share of delta."""
    assert asked.rho is not None
    assert isinstance(asked.rule, str)
    if asked.contamination is None:
        return thresholds.RULES[asked.rule].threshold(negatives, asked.rho, delta, coin)
    _require_positives("contamination", positives)
    return thresholds.contaminated_umbrella(negatives, positives, asked.rho, delta, *asked.contamination)


def _value(part: Part, asked: Asked, delta: float, coin: RandomState | None) -> float:
    if callable(asked.rule):
        assert part.given is not None
        scores, positive = part.given
        value = float(asked.rule(np.where(positive, 1.0, -1.0), scores))
        if np.isnan(value):
            raise ValueError("The rule returned NaN, expected a threshold.")
        return value
    value = bounded(part.negatives, part.positives, asked, delta, coin)
    warn_if_saturated(part.negatives, part.positives, value)
    return value


def _highest(positives: Ascending, recall: float, delta: float) -> float:
    """Return the highest threshold that keeps a recall: the umbrella rule with the classes exchanged."""
    needed = thresholds.fewest_negatives(1 - recall, delta)
    if len(positives) < needed:
        few = f"{len(positives)} held-out positives, expected at least {needed}"
        bounds = f"recall={recall:g} and delta={delta:.3g}"
        raise ValueError(f"{few} for {bounds}: hold out more of them, or use a smaller recall.")
    rank = len(positives) + 1 - thresholds.RULES["umbrella"].rank(len(positives), 1 - recall, delta)
    return float(thresholds.just_below(positives.smallest(rank), positives))


def _precise(parts: Parts, least: Mapping[Any, float], precision: float, delta: float) -> dict[Any, float]:
    """Return for each group the lowest threshold that keeps a precision, too; raise a ValueError if there is none."""

    def tried(precision: float) -> dict[Any, float]:
        return {name: _lowest_precise(part, least[name], precision, delta) for name, part in parts.items()}

    values = tried(precision)
    lacking = [name for name, value in values.items() if math.isinf(value)]
    if not lacking:
        return values
    # Each precision has its own numbers of accepted samples to test: whether another can be promised takes a try.
    smaller = (rounded_down(precision * 0.98**step, 3) for step in range(1, MAX_TRIED_PRECISIONS))
    reachable = next((one for one in smaller if not any(map(math.isinf, tried(one).values()))), 0.0)
    alone = all(map(math.isinf, least.values()))
    bounds, where = ("this bound", "") if alone else ("both bounds", "where false alarms are kept, ")
    fault = f"No threshold keeps {bounds}{_in_group(lacking[0])}: {where}{_can('precision', reachable)}"
    hint = f"Use another precision, {'' if alone else 'a smaller rho, '}or more samples."
    raise ValueError(f"{fault}, not {precision:g}. {hint}")


def _lowest_precise(part: Part, least: float, precision: float, delta: float) -> float:
    """Return the lowest threshold from ``least`` on with a precision, or infinity."""
    # Numbers of accepted samples, fixed beforehand; fewer than the first prove nothing even if all are positive.
    every = part.negatives + part.positives
    n, first = len(every), math.ceil(math.log(delta) / math.log(precision))
    steps = np.arange(max(0, 4 * math.log2(max(1, n / first)))) / 4
    counts = np.unique((first * 2**steps).astype(int))
    below = every.smallest(n - counts[counts < n])  # the next score, which is not accepted
    accepted = n - every.count(below)  # fewer than planned if there are ties
    below, accepted = below[accepted > 0], accepted[accepted > 0]
    hits = len(part.positives) - part.positives.count(below)
    # limit of the precision at each threshold, with Bonferroni's correction for their number
    proven = 1 - rate_above(accepted - hits, accepted, delta / max(1, len(counts)))
    allowed = accepted <= n - every.count(least)
    # of the thresholds that keep both bounds, the lowest accepts the most
    kept = allowed & (proven >= precision)
    return max(least, float(thresholds.just_above(np.min(below[kept]), every))) if np.any(kept) else math.inf


def _require_recall(parts: Parts, values: Mapping[Any, float], recall: float, delta: float) -> None:
    """Raise a ValueError if too many positives are not above a threshold."""
    # the umbrella rule's limit at each threshold; 0 without positives
    counts = {name: (part.positives.count(values[name]), len(part.positives)) for name, part in parts.items()}
    proven = {name: 1 - float(rate_above(missed, n, delta)) for name, (missed, n) in counts.items()}
    # of several groups, the one with the least recall decides
    name = min(proven, key=lambda one: proven[one])
    if proven[name] >= recall * (1 - thresholds.SAME_RATE):
        return
    count, needed = counts[name][1], thresholds.fewest_negatives(1 - recall, delta)
    why = f"No threshold keeps both bounds{_in_group(name)}"
    if count < needed:
        why = f"{count} held-out positives{_in_group(name)}, expected at least {needed}"
    reachable = _can("recall", rounded_down(proven[name], 3))
    hint = "Use a smaller recall, a larger rho, or more samples."
    raise ValueError(f"{why}: where false alarms are kept, {reachable}, not {recall:g}. {hint}")


def _can(name: str, rate: float) -> str:
    """Return the part of an error that names a rate that is promised when asked for."""
    return f"a {name} of {rate:g} can be promised" if rate > 0 else f"no {name} can be promised"


def _require_positives(bound: str, positives: Ascending, name: Any = None) -> None:
    """Raise a ValueError if there are no positives."""
    if not len(positives):
        few = f"0 held-out positives{_in_group(name)}, expected some for {bound}"
        how = f"holds them out if fitted with {bound}, and takes those of fit as held out if cv='prefit'"
        raise ValueError(f"{few}: pass samples labelled positive. A classifier {how}.")


def _in_group(name: Any) -> str:
    return "" if name is None else f" in group {name!r}"


def warn_if_saturated(negatives: Ascending, positives: Ascending, value: float) -> None:
    """Warn if no score is above the threshold because several negatives share the largest one."""
    largest = negatives.largest()
    tied = len(negatives) - int(negatives.count(largest, "left"))
    if value > (negatives + positives).largest() and tied > 1:
        shared = f"{100 * tied / len(negatives):.3g} % of the {len(negatives)} negatives share the largest score"
        effect = "the threshold lies above it: no sample with that score or less is accepted"
        hint = "If probabilities are rounded or saturate, use logits."
        warnings.warn(f"{shared}, {largest:g}, and {effect}. {hint}", stacklevel=5)


def _require_negatives(
    counts: Mapping[Any, int], rho: float, delta: float, rule: str, n_shares: float, drawn: str = ""
) -> None:
    """Raise a ValueError if a group has too few negatives for its share of delta."""
    needed = thresholds.RULES[rule].fewest(rho, delta / n_shares)
    name, count = min(counts.items(), key=lambda one: one[1])
    if count >= needed:
        return
    few = f"{count} held-out negatives{_in_group(name)}{drawn}, expected at least {needed}"
    if rule == "empirical":
        raise ValueError(f"{few}.")
    bounds = f"rho={rho:g}" + (f" and delta={delta / n_shares:.3g}" if rule == "umbrella" else "")
    shared = f", {delta:g} shared by {round(n_shares)} bounds" if rule == "umbrella" and n_shares >= 2 else ""
    instead = _feasible(count, rho, delta, n_shares, rule)
    if len(counts) > 1:
        instead.append("small='pool', one threshold for all small groups")
    if n_shares == len(counts):
        if rule == "umbrella" and count >= thresholds.RULES["average"].fewest(rho, delta):
            instead.append("the rule 'average', which bounds the mean rate (NPEnsemble: promise='on average')")
        instead.append("the rule 'empirical', which guarantees nothing")
    advice = ", or ".join(["hold out more of them", *([f"use {instead[0]}", *instead[1:]] if instead else [])])
    raise ValueError(f"{few} for {bounds}{shared}: {advice}.")


def _pooled(counts: Mapping[Any, int], rho: float, delta: float, rule: str) -> tuple[Any, ...] | None:
    """Return the fewest of the smallest groups that, as one, leave none too small; None if all together are too few."""
    ascending = sorted(counts, key=counts.__getitem__)
    sizes = [counts[name] for name in ascending]
    unions = [math.inf, *accumulate(sizes)]
    for n_pooled in (0, *range(2, len(sizes) + 1)):
        n_parts = len(sizes) - max(0, n_pooled - 1)
        smallest = min([unions[n_pooled], *sizes[n_pooled : n_pooled + 1]])
        if smallest >= thresholds.RULES[rule].fewest(rho, delta / n_parts):
            return tuple(ascending[:n_pooled])
    return None


def _feasible(n: int, rho: float, delta: float, n_shares: float, rule: str) -> list[str]:
    """Return the changes of one bound, or of the rule, with which n negatives suffice."""
    if not n:
        return []
    if rule == "average":
        return [f"rho={rounded_up(1 / (n + 1), 3):g} or more"]
    # n negatives suffice for a rho of 1 - delta^(1/n)
    larger = {"rho": -math.expm1(math.log(delta / n_shares) / n), "delta": n_shares * (1 - rho) ** n}
    rates = {name: rounded_up(rate, 3) for name, rate in larger.items()}
    return [f"{name}={rate:g} or more" for name, rate in rates.items() if rate < 1]
