"""Thresholds for scores: the rule, its promise, and the evidence of the calibration sample."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from npbench.contracts import Estimate
from npbench.numerics import thresholds
from npbench.numerics.np_roc import rate_above, rate_below

Rule = str | Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Threshold:
    """A threshold for scores, with its promise and the counts of its calibration sample.

    Parameters
    ----------
    value : float
        The threshold: a sample is positive if its score is larger.
    rho, delta : float
        Bound on the false-alarm rate, and on the probability of exceeding it.
    rule : {"umbrella", "empirical", "custom"}
        Rule that gave the value.
    n_negatives, false_alarms : int
        Number of negatives in the calibration sample, and of those above the threshold.
    n_positives, misses : int
        Number of positives in the calibration sample, and of those not above the threshold.
    cross_fitted : bool
        Whether the scores come from several classifiers, none of which is the one in use.
    """

    value: float
    rho: float
    delta: float
    rule: str
    n_negatives: int
    false_alarms: int
    n_positives: int = 0
    misses: int = 0
    cross_fitted: bool = False

    @property
    def guaranteed(self) -> bool:
        """Whether the false-alarm rate of new samples exceeds rho with probability at most delta."""
        return self.rule == "umbrella" and not self.cross_fitted

    @property
    def promise(self) -> str:
        """The promise as a sentence."""
        bound = f"the false-alarm rate of new samples from the same population exceeds {self.rho:g}"
        if self.guaranteed:
            return f"With probability {1 - self.delta:g} or more, {bound.replace('exceeds', 'is at most')}."
        if self.rule == "umbrella":
            return f"No guarantee: the scores are cross-fitted. Typically {bound} with probability {self.delta:g}."
        if self.rule == "empirical":
            return f"No guarantee: {bound} with a probability of about one half."
        return "No guarantee: the rule is a function of the caller."

    @property
    def n_needed(self) -> int:
        """Smallest number of calibration negatives with which the umbrella rule can promise rho and delta."""
        return thresholds.fewest_negatives(self.rho, self.delta)

    def p_nd(self, confidence: float = 0.95) -> Estimate | None:
        """Return the miss rate on the calibration positives with its exact limits; None without positives."""
        return clopper_pearson(self.misses, self.n_positives, confidence) if self.n_positives else None

    def predict(self, scores: Any) -> np.ndarray:
        """Return whether each score is above the threshold."""
        return as_scores(scores) > self.value

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, the promise, and the miss rate with its 95 % limits, for JSON."""
        missed = self.p_nd()
        return {
            **asdict(self),
            "guaranteed": self.guaranteed,
            "promise": self.promise,
            "n_needed": self.n_needed,
            "p_nd": asdict(missed) if missed else None,
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def __str__(self) -> str:
        lines = [
            f"score > {self.value:g}",
            self.promise,
            f"{self.n_needed} negatives needed for {self.rho:.3g} at {1 - self.delta:g}; you have {self.n_negatives}",
        ]
        if missed := self.p_nd():
            lines.append(f"misses: {missed.value:.1%} of {self.n_positives} [{missed.low:.1%}, {missed.high:.1%}]")
        return "\n".join(lines)


@dataclass(frozen=True)
class GroupThresholds:
    """One threshold for each group of samples.

    Parameters
    ----------
    groups : mapping
        Threshold of each group. Each has a delta of ``delta / len(groups)``.
    delta : float
        Bound on the probability that any group exceeds rho.
    """

    groups: Mapping[Any, Threshold]
    delta: float

    @property
    def guaranteed(self) -> bool:
        """Whether all groups together keep rho with probability 1 - delta."""
        return all(one.guaranteed for one in self.groups.values())

    @property
    def promise(self) -> str:
        """The promise as a sentence."""
        one = next(iter(self.groups.values()))
        if not self.guaranteed:
            return f"In each group: {one.promise}"
        return (
            f"With probability {1 - self.delta:g} or more, the false-alarm rate of new samples is at most {one.rho:g} "
            f"in all {len(self.groups)} groups at once; in each alone, with probability {1 - one.delta:g}."
        )

    def values(self, by: Any) -> np.ndarray:
        """Return the threshold of each sample, given its group.

        Raises
        ------
        ValueError
            If a group has no threshold.
        """
        labels, code = np.unique(labels_of(by, "by"), return_inverse=True)
        if unknown := [label for label in labels.tolist() if label not in self.groups]:
            raise ValueError(f"No threshold for group {unknown[0]!r}: the groups in fit are {list(self.groups)}.")
        return np.array([self.groups[label].value for label in labels.tolist()])[code]

    def predict(self, scores: Any, by: Any) -> np.ndarray:
        """Return whether each score is above the threshold of its group."""
        return as_scores(scores) > self.values(by)

    def to_json(self) -> str:
        """Return the promise and each group's threshold as JSON."""
        groups = [{"group": name, **one.to_dict()} for name, one in self.groups.items()]
        return json.dumps({"promise": self.promise, "delta": self.delta, "groups": groups}, indent=2)

    def __str__(self) -> str:
        return "\n".join([self.promise, *(f"{name}: score > {one.value:g}" for name, one in self.groups.items())])


def threshold(
    scores: Any,
    y: Any,
    *,
    rho: float = 0.05,
    delta: float = 0.05,
    by: Any = None,
    pos_label: Any = None,
    rule: Rule = "umbrella",
) -> Threshold | GroupThresholds:
    """Return a threshold for scores that bounds the false-alarm rate.

    The samples must be new to the model that scored them, and independent of each other.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores of any model, larger for more positive samples; an array, list, or pandas or polars series.
    y : array of shape (n_samples,)
        Labels. Negatives set the threshold; positives, if there are any, show the miss rate.
    rho : float, default=0.05
        Bound on the false-alarm rate, in ]0, 1[.
    delta : float, default=0.05
        Probability with which "umbrella" may exceed rho, in ]0, 1[.
    by : array of shape (n_samples,), optional
        Group of each sample. Each group has its own threshold, with ``delta / n_groups``, so that all groups keep rho
        at once with probability 1 - delta.
    pos_label : int, float, bool or str, optional
        Label of the positives; 1 for labels in {0, 1} or {-1, 1}.
    rule : {"umbrella", "empirical"} or callable, default="umbrella"
        "umbrella" keeps rho on new samples with probability 1 - delta. "empirical" keeps it on these samples only. A
        callable receives labels in {-1, 1} and scores, and returns the threshold.

    Returns
    -------
    Threshold or GroupThresholds
        The second with ``by``.

    Raises
    ------
    ValueError
        If the samples are unusable, or the negatives too few for the promise.

    Warns
    -----
    UserWarning
        If ties at the largest score leave no threshold that accepts anything.

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
    scores = as_scores(scores)
    positive, _ = positives(y, pos_label)
    same_length(len(scores), y=positive, by=by)
    return calibrate(scores, positive, by, rho=rho, delta=delta, rule=rule)


def calibrate(
    scores: np.ndarray,
    positive: np.ndarray,
    by: Any,
    *,
    rho: float,
    delta: float,
    rule: Rule,
    cross_fitted: bool = False,
) -> Threshold | GroupThresholds:
    """Return the threshold for checked scores; ``positive`` has True for positives."""
    for name, rate in {"rho": rho, "delta": delta}.items():
        if not 0 < rate < 1:
            raise ValueError(f"{name} is {rate!r}, expected a rate strictly between 0 and 1: 1 % is 0.01.")
    members = groups(by, len(scores))
    each = delta / len(members)
    require_negatives({name: int(np.sum(~positive[rows])) for name, rows in members.items()}, rho, each, rule)
    found = {}
    for name, rows in members.items():
        value = _value(scores[rows], positive[rows], rho, each, rule)
        above = scores[rows] > value
        found[name] = Threshold(
            value,
            float(rho),
            float(each),
            rule if isinstance(rule, str) else "custom",
            n_negatives=int(np.sum(~positive[rows])),
            false_alarms=int(np.sum(above & ~positive[rows])),
            n_positives=int(np.sum(positive[rows])),
            misses=int(np.sum(~above & positive[rows])),
            cross_fitted=cross_fitted,
        )
    return found[None] if by is None else GroupThresholds(found, delta)


def _value(scores: np.ndarray, positive: np.ndarray, rho: float, delta: float, rule: Rule) -> float:
    if callable(rule):
        value = float(rule(np.where(positive, 1.0, -1.0), scores))
        if np.isnan(value):
            raise ValueError("The rule returned NaN, expected a threshold.")
        return value
    negatives = scores[~positive]
    if rule == "empirical":
        value = thresholds.empirical(negatives, rho)
    elif rule == "umbrella":
        value = thresholds.umbrella(negatives, rho, delta)
    else:
        raise ValueError(f"The rule is {rule!r}, expected 'umbrella', 'empirical' or a callable.")
    if value > np.max(scores):
        _warn_if_saturated(negatives)
    return value


def _warn_if_saturated(negatives: np.ndarray) -> None:
    """Warn if several negatives share the largest score, which then lies below the threshold with all others."""
    largest = np.max(negatives)
    tied = int(np.sum(negatives == largest))
    if tied > 1:
        warnings.warn(
            f"{tied / len(negatives):.2g} of the {len(negatives)} negatives share the largest score, {largest:g}, and "
            "the threshold lies above it: no sample with that score or less is accepted. If probabilities are rounded "
            "or saturate, use logits.",
            stacklevel=5,
        )


def require_negatives(counts: Mapping[Any, int], rho: float, delta: float, rule: Rule) -> None:
    """Raise a ValueError if a group has too few calibration negatives for the rule."""
    if callable(rule):
        return
    needed = thresholds.fewest_negatives(rho, delta) if rule == "umbrella" else 1
    for name, count in counts.items():
        if count < needed:
            where = "" if name is None else f" in group {name!r}"
            raise ValueError(
                f"{count} held-out negatives{where}, expected at least {needed} for rho={rho:g} with probability "
                f"{1 - delta:g}: hold out more of them, use a larger rho or delta, or the rule 'empirical', which "
                "guarantees nothing."
            )


def groups(by: Any, n: int) -> dict[Any, np.ndarray]:
    """Return the rows of each group; those of all samples under None without groups."""
    if by is None:
        return {None: np.arange(n)}
    labels, code = np.unique(labels_of(by, "by"), return_inverse=True)
    return {label: np.flatnonzero(code == place) for place, label in enumerate(labels.tolist())}


def positives(y: Any, pos_label: Any = None) -> tuple[np.ndarray, Any]:
    """Return which samples are positive, and the label of the positives.

    Raises
    ------
    ValueError
        If there are more than two labels, or the positive one is unclear.

    Examples
    --------
    >>> positives(["ok", "fraud"], pos_label="fraud")
    (array([False,  True]), 'fraud')
    """
    y = labels_of(y, "y")
    labels = np.unique(y).tolist()
    if len(labels) > 2:
        raise ValueError(f"Only binary classification is supported, got {len(labels)} labels: {labels[:5]}.")
    if pos_label is None:
        if not (set(labels) <= {0, 1} or set(labels) <= {-1, 1}):
            choice = " or ".join(f"pos_label={label!r}" for label in labels)
            raise ValueError(f"The positive class of the labels {labels} is unclear: set {choice}.")
        pos_label = 1
    elif pos_label not in labels and len(labels) == 2:
        raise ValueError(f"pos_label={pos_label!r} is not one of the labels {labels}.")
    return np.asarray(y == pos_label), pos_label


def labels_of(column: Any, name: str) -> np.ndarray:
    """Return labels as an array; raise a ValueError if some are missing."""
    _require_unmasked(column, name)
    labels = column_or_1d(column)
    unequal = labels != labels  # noqa: PLR0124, NaN alone differs from itself
    if missing := int(np.sum(unequal | [label is None for label in labels] if labels.dtype == object else unequal)):
        raise ValueError(f"{name} has {missing} missing values of {len(labels)}: label them, or leave them out.")
    return labels


def as_scores(scores: Any) -> np.ndarray:
    """Return scores as a float64 array; raise a ValueError if some are masked, NaN or infinite."""
    _require_unmasked(scores, "scores")
    given = np.asarray(column_or_1d(scores), dtype=np.float64)
    if wrong := int(np.sum(~np.isfinite(given))):
        raise ValueError(f"{wrong} of {len(given)} scores are NaN or infinite: leave these samples out, or score them.")
    return given


def _require_unmasked(column: Any, name: str) -> None:
    if np.ma.is_masked(column):
        raise ValueError(f"{name} has masked values: leave these samples out.")


def same_length(n: int, **columns: Any) -> None:
    """Raise a ValueError if a column has another length than the scores."""
    for name, column in columns.items():
        if column is not None and len(column) != n:
            raise ValueError(f"{name} has {len(column)} values, but there are {n} scores.")


def clopper_pearson(errors: int, n: int, confidence: float) -> Estimate:
    """Return a rate of errors with exact limits.

    Examples
    --------
    >>> clopper_pearson(0, 100, 0.95).high.__round__(4)
    0.0362
    """
    tail, count = (1 - confidence) / 2, np.array(errors)
    return Estimate(errors / n, float(rate_below(count, n, tail)), float(rate_above(count, n, tail)))
