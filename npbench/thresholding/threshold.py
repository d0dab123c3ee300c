"""A threshold with its promise and the evidence of its calibration sample, to print, store and deploy.

The last functions check samples that are compared with a threshold: their scores, labels, and other columns.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Self

import numpy as np

from npbench.contracts import Estimate
from npbench.data.labels import Classes, Labels, classes, complete, meaning, spelled
from npbench.errors import RequestError
from npbench.numerics import thresholds
from npbench.numerics.binomial_limits import rate_limits
from npbench.numerics.order_statistics import Ascending
from npbench.values import is_number, is_whole, listed

CUSTOM = "custom"  # rule of the caller
MAX_QUANTILES = 99
SMALLEST_RATE = 1e-12  # the number of samples that it takes, and its logarithms, stay in range


class _Stored(ABC):
    @property
    @abstractmethod
    def promise_kind(self) -> str:
        """Kind of the promise: "guaranteed", "on average", "measured" or "none"."""

    @property
    def guaranteed(self) -> bool:
        """True if a threshold, or a set of them, that breaks a bound is returned with probability at most delta."""
        return self.promise_kind == "guaranteed"

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what :meth:`to_json` writes."""

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what :meth:`to_json` wrote, as :func:`npbench.from_json` does; raise a ValueError for other text."""
        found = from_json(text)
        if not isinstance(found, cls):
            raise ValueError(f"The JSON is not a {cls.__name__}: npbench.from_json reads it, with groups or without.")
        return found


@dataclass(frozen=True)
class Threshold(_Stored):
    """A threshold for scores, with its promise and the counts of its calibration sample.

    Parameters
    ----------
    value : float
        The threshold: a sample is positive if its score is larger.
    rho, delta, rule, recall, precision, randomized, contamination
        As asked of :func:`npbench.threshold`; a rule of the caller is "custom". For a group, delta is its share.
    n_negatives, false_alarms : int
        Number of negatives in the calibration sample, and of those above the threshold.
    n_positives, misses : int
        Number of positives in the calibration sample, and of those not above the threshold, or ``lower``.
    cross_fitted : bool
        Whether the scores come from several classifiers, none of which is the one in use.
    lower : float, optional
        With abstention, a sample is negative up to this score; in between, the answer is "don't know".
    unsure_negatives, unsure_positives : int
        Number of samples between ``lower`` and the threshold.
    weighted, grouped : bool
        Whether negatives were drawn by weights, to stand for another population, and whether one sample of each class
        was drawn from each group, such as a customer.
    quantiles : tuple of (share, score)
        At most 99 scores of calibration negatives, one of ten or fewer, and the shares of negatives that are not
        larger, to compare later scores with.
    reference : tuple of float
        Scores of calibration negatives, if they are kept.
    positive, negative, score, date, npbench_version
        Labels of both classes, what the score is, and the day and version that set the threshold.
    """

    value: float
    rho: float | None
    delta: float
    rule: str
    n_negatives: int
    false_alarms: int
    n_positives: int = 0
    misses: int = 0
    cross_fitted: bool = False
    recall: float | None = None
    precision: float | None = None
    randomized: bool = False
    lower: float | None = None
    unsure_negatives: int = 0
    unsure_positives: int = 0
    contamination: tuple[float, float] | None = None
    weighted: bool = False
    grouped: bool = False
    quantiles: tuple[tuple[float, float], ...] = field(default=(), repr=False, compare=False)
    reference: tuple[float, ...] = field(default=(), repr=False, compare=False)
    positive: Any = field(default=None, repr=False, compare=False)
    negative: Any = field(default=None, repr=False, compare=False)
    score: str = field(default="", repr=False, compare=False)
    date: str = field(default="", repr=False, compare=False)
    npbench_version: str = field(default="", repr=False, compare=False)

    @property
    def promise_kind(self) -> str:
        """Kind of the promise: "guaranteed", "on average", "measured" or "none"."""
        kind = "none" if self.rule == CUSTOM else thresholds.RULES[self.rule].promise
        return "measured" if self.cross_fitted and kind != "none" else kind

    @property
    def promise(self) -> str:
        """The promise as a sentence."""
        if self.rule == CUSTOM:
            return "No guarantee: the rule is a function of the caller."
        promised = self.promised(" from the same population")
        return measured(promised, "the scores are cross-fitted") if self.promise_kind == "measured" else promised

    def promised(self, of: str, scope: str = "", delta: float | None = None) -> str:
        """Return what the rule promises of new samples ``of`` a population, with probability 1 - delta."""
        rates, samples = [], ("one sample of each new group" if self.grouped else "new samples") + of
        if self.rho is not None:
            rates.append(f"the false-alarm rate of {samples} is at most {rounded_up(self.rho):g}")
        if self.recall is not None and self.lower is not None:
            rates.append(f"the miss rate at most {rounded_up(1 - self.recall):g}")
        elif self.recall is not None:
            rate = "the recall" if rates else f"the recall of {samples} is"
            rates.append(f"{rate} at least {rounded_down(self.recall):g}")
        if self.precision is not None:
            rate = "the precision" if rates else f"the precision among {samples} is"
            rates.append(f"{rate} at least {rounded_down(self.precision):g} where positives are as frequent as here")
        promised = ", ".join(rates) + scope
        if self.contamination is not None:
            most, least = self.contamination
            shares = f"at most {most:g} of the calibration samples labelled negative, and at least {least:g}"
            promised += f", if {shares} of those labelled positive, are negative"
        if self.weighted:
            promised += ", in the population that the weights describe"
        alone = n_promises(self.rho, self.recall, self.precision) == 1 and self.precision is None
        if not alone and self.lower is None:
            # whether a threshold is returned depends on the sample
            promised = f"either no threshold is returned, or {promised}"
            promised += ". Of the thresholds that are returned, a larger share may break a bound"
        coin = ", the toss of a coin included" if self.randomized else ""
        sure = complement(self.delta if delta is None else delta)
        return thresholds.RULES[self.rule].sentence.format(sure=sure, coin=coin, kept=promised)

    @property
    def share_of_promise(self) -> float:
        """Share of delta that each promised rate has."""
        return self.delta / n_promises(self.rho, self.recall, self.precision)

    @property
    def share(self) -> float:
        """Share of delta that the bound on false alarms leaves to the scores of negatives."""
        return self.share_of_promise * (1.0 if self.contamination is None else thresholds.NEGATIVES_SHARE)

    @property
    def n_needed(self) -> int:
        """Smallest number of calibration negatives with which the rule can promise rho; 0 without rho."""
        if self.rho is None:
            return 0
        return thresholds.RULES.get(self.rule, thresholds.RULES["umbrella"]).fewest(self.rho, self.share)

    @property
    def n_needed_positives(self) -> int:
        """Smallest number of calibration positives with which the umbrella rule can promise a recall; 0 without it."""
        return 0 if self.recall is None else thresholds.fewest_negatives(1 - self.recall, self.share_of_promise)

    def p_nd(self) -> Estimate | None:
        """Return the miss rate on the calibration positives with its exact 95 % limits; None without positives."""
        return clopper_pearson(self.misses, self.n_positives) if self.n_positives else None

    def unsure(self) -> dict[str, Estimate]:
        """Return the shares of "don't know" among negatives and positives; empty without abstention.

        The limits cover the shares with probability 95 % or more. They are those of Clopper and Pearson, the lower one
        for a count smaller by 1: one end of the range is itself one of the scores.
        """
        if self.lower is None:
            return {}
        counts = (self.unsure_negatives, self.n_negatives), (self.unsure_positives, self.n_positives)
        shares = [replace(clopper_pearson(k, n), low=clopper_pearson(max(k - 1, 0), n).low) for k, n in counts]
        return dict(zip(("negatives", "positives"), shares, strict=True))

    def distribution(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Return a number of calibration negatives, some of their scores, and the share of negatives up to each."""
        if self.reference:
            at, counts = np.unique(self.reference, return_counts=True)
            return len(self.reference), at, np.cumsum(counts) / len(self.reference)
        shares, at = np.reshape(self.quantiles, (-1, 2)).T
        return self.n_negatives, at, shares

    def predict(self, scores: Any) -> np.ndarray:
        """Return whether each score is above the threshold; with ``lower``, None stands for "don't know"."""
        return _answers(as_scores(scores), self.value, self.lower)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, the promise, and the rates of misses and don't knows with 95 % limits, for JSON."""
        # derived values serve readers in other languages; from_json ignores them
        missed = self.p_nd()
        return {
            **{one.name: getattr(self, one.name) for one in fields(self)},  # asdict copies each number
            "comparison": ">",
            "guaranteed": self.guaranteed,
            "promise_kind": self.promise_kind,
            "promise": self.promise,
            "n_needed": self.n_needed,
            "n_needed_positives": self.n_needed_positives,
            "p_nd": asdict(missed) if missed else None,
            "unsure": {name: asdict(share) for name, share in self.unsure().items()},
        }

    def _comparison(self) -> str:
        unsure = "" if self.lower is None else f" (negative: < {self.lower:g}; in between: don't know)"
        return f"score > {self.value:g}{unsure}"

    def __str__(self) -> str:
        lines = [self._comparison(), self.promise]
        if self.rho is not None:
            at = f" at {complement(self.share)}" if self.rule == "umbrella" else ""
            lines.append(f"{self.n_needed} negatives needed for {self.rho:.3g}{at}; you have {self.n_negatives}")
        if self.recall is not None:
            needed = f"{self.n_needed_positives} positives needed for recall {self.recall:.3g}"
            lines.append(f"{needed} at {complement(self.share_of_promise)}; you have {self.n_positives}")
        if missed := self.p_nd():
            lines.append(f"misses: {missed.value:.1%} of {self.n_positives} [{missed.low:.1%}, {missed.high:.1%}]")
        for name, share in self.unsure().items():
            lines.append(f"don't know: {share.value:.1%} of {name} [{share.low:.1%}, {share.high:.1%}]")
        return "\n".join(lines)


@dataclass(frozen=True)
class GroupThresholds(_Stored):
    """One threshold for each group of samples.

    Parameters
    ----------
    groups : mapping
        Threshold of each group. Each has its share of delta, and pooled groups have one together.
    delta : float
        Bound on the probability that any group exceeds rho.
    pooled : tuple of label
        Small groups that share one threshold. The promise is for the negatives of all of them together, mixed as in
        the calibration sample, and not for each.
    """

    groups: Mapping[Any, Threshold]
    delta: float
    pooled: tuple[Any, ...] = ()

    @property
    def promise_kind(self) -> str:
        """Kind of the promise, the weakest among the groups: "guaranteed", "on average", "measured" or "none"."""
        return max((one.promise_kind for one in self.groups.values()), key=[*thresholds.PROMISES].index)

    @property
    def promise(self) -> str:
        """The promise as a sentence."""
        one = next(iter(self.groups.values()))
        several, as_one = self.n_parts > 1, "all groups together, mixed as here" if self.pooled else "the only group"
        pooled = f", where {len(self.pooled)} small groups count as one, mixed as here" if self.pooled else ""
        if not self.guaranteed:
            where = f"each group{pooled}" if several else as_one
            return f"In {where}: {one.promise[0].lower()}{one.promise[1:]}"
        each = f"; in each alone, with probability {complement(one.delta)}"
        scope = f"all {self.n_parts} groups at once{pooled}{each}" if several else as_one
        return one.promised("", f" in {scope}", self.delta)

    @property
    def n_parts(self) -> int:
        """Number of thresholds: of groups, where all pooled ones count as one."""
        return len(self.groups) - max(0, len(self.pooled) - 1)

    def members(self) -> dict[Any, list[Any]]:
        """Return the groups that share each threshold, under a name: pooled ones, or each alone."""
        own = {name: [name] for name in self.groups if name not in self.pooled}
        return own | ({f"{len(self.pooled)} pooled groups": [*self.pooled]} if self.pooled else {})

    def limits(self, by: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the threshold and ``lower``, None without abstention, of each sample; ValueError for a new group."""
        # look up each group once, not each sample
        labels = complete(by, "by")
        known = {meaning(name): (one.value, one.lower) for name, one in self.groups.items()}
        if unknown := [name for name in labels.values if meaning(name) not in known]:
            hint = f"use a known group, {listed(map(repr, self.groups))}, or set the thresholds again with this group"
            raise ValueError(f"No threshold, and no promise, for the new group {unknown[0]!r}: {hint}.")
        values, lower = (np.array(each) for each in zip(*(known[meaning(name)] for name in labels.values), strict=True))
        abstains = next(iter(self.groups.values())).lower is not None
        return values[labels.codes], lower[labels.codes].astype(np.float64) if abstains else None

    def predict(self, scores: Any, by: Any) -> np.ndarray:
        """Return whether each score is above the threshold of its group, as :meth:`Threshold.predict` does."""
        scores = as_scores(scores)
        same_length(len(scores), by=by)
        return _answers(scores, *self.limits(by))

    def to_dict(self) -> dict[str, Any]:
        """Return the promise and each group's threshold, for JSON."""
        each = [{"group": name, **one.to_dict()} for name, one in self.groups.items()]
        kind = {"guaranteed": self.guaranteed, "promise_kind": self.promise_kind}
        return {**kind, "promise": self.promise, "delta": self.delta, "pooled": self.pooled, "groups": each}

    def __str__(self) -> str:
        lines = [self.promise]
        for name, one in self.groups.items():
            of = "negatives of the pooled groups" if name in self.pooled else "negatives"
            lines.append(f"{name}: {one._comparison()}, by {one.n_negatives} {of}")
        return "\n".join(lines)


def described(found: Threshold | GroupThresholds, **known: Any) -> Threshold | GroupThresholds:
    """Return a threshold, or those of all groups, with other fields."""
    if isinstance(found, Threshold):
        return replace(found, **known)
    return replace(found, groups={name: replace(one, **known) for name, one in found.groups.items()})


def from_json(text: str) -> Threshold | GroupThresholds:
    """Return what ``to_json`` or ``npbench threshold`` wrote: a threshold, or one for each group.

    Parameters
    ----------
    text : str
        JSON of any version of npbench.

    Raises
    ------
    ValueError
        If the text is something else.

    Examples
    --------
    >>> import npbench
    >>> scores, y, by = [*range(200)], [0] * 200, ["FR", "US"] * 100
    >>> stored = npbench.threshold(scores, y, by=by, pos_label=1).to_json()
    >>> npbench.from_json(stored).predict([196, 196.5, 198], ["FR", "US", "FR"]).tolist()
    [False, False, False]
    """
    try:
        stored = json.loads(text)
    except RecursionError as error:  # brackets too deep for Python
        raise ValueError("The JSON is nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"The text is not JSON: {error}. For a file, pass Path(file).read_text().") from error
    if not isinstance(stored, dict):
        raise ValueError("The JSON is not a threshold.")
    return _groups(stored) if "groups" in stored else _one(stored)


def _groups(stored: Mapping[str, Any]) -> GroupThresholds:
    """Return the thresholds by group in an untrusted JSON object; raise a ValueError if there are none."""
    each, delta, pooled = stored["groups"], stored.get("delta", 0.0), stored.get("pooled", [])
    if not isinstance(each, list) or not each:
        raise ValueError("The JSON has no groups.")
    names = [one.get("group") if isinstance(one, dict) else None for one in each]
    if any(not isinstance(name, (str, int, float, bool)) for name in names) or len(set(names)) < len(names):
        raise ValueError("The JSON has groups without a name of their own.")
    if not isinstance(pooled, list) or any(name not in names for name in pooled):
        raise ValueError("The JSON pools groups that it does not have.")
    require_rate("delta", delta)
    members = [_one(group) for group in each]
    if len({one.lower is None for one in members}) > 1:
        raise ValueError("The JSON has groups with lower and groups without it.")
    return GroupThresholds(dict(zip(names, members, strict=True)), float(delta), tuple(pooled))


# A check of a stored field, and what an error expects, by the type of the field; rates have narrower ranges.
VALID: dict[Any, tuple[Callable[[Any], bool], str]] = {
    bool: (lambda given: isinstance(given, bool), "true or false"),
    int: (lambda given: is_whole(given, 0), "a whole number"),
    str: (lambda given: isinstance(given, str), "text"),
    float: (is_number, "a finite number"),
    float | None: (lambda given: given is None or is_number(given), "a finite number"),
    tuple[float, ...]: (lambda given: isinstance(given, list) and all(map(is_number, given)), "finite numbers"),
    tuple[tuple[float, float], ...]: (
        lambda given: isinstance(given, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in given),
        "pairs of a share and a score",
    ),
}


def _one(stored: Mapping[str, Any]) -> Threshold:
    """Return the threshold in an untrusted JSON object; raise a ValueError if it is not a threshold."""
    # ignore what is derived, or was added by a later version
    known = {one.name: stored[one.name] for one in fields(Threshold) if one.name in stored}
    if lacking := {"value", "rho", "delta", "rule", "n_negatives", "false_alarms"} - known.keys():
        raise ValueError(f"The JSON is not a threshold: it lacks {', '.join(sorted(lacking))}.")
    for one in fields(Threshold):
        is_valid, expected = VALID.get(one.type, (lambda given: True, ""))
        if one.name in known and not is_valid(known[one.name]):
            raise ValueError(f"{one.name} is {known[one.name]!r:.40}, expected {expected}.")
    if known["rule"] not in (rules := (*thresholds.RULES, CUSTOM)):
        raise ValueError(f"The rule is {known['rule']!r:.40}, expected one of {', '.join(rules)}.")
    bounds = {name: known.get(name) for name in ("rho", "recall", "precision")}
    for name, rate in {**bounds, "delta": known["delta"]}.items():
        if rate is not None:
            require_rate(name, rate)
    if n_promises(*bounds.values()) == 0:
        raise ValueError("The JSON is not a threshold: it bounds none of rho, recall and precision.")
    value, lower, pairs = known["value"], known.get("lower"), known.get("quantiles", ())
    if lower is not None and (lower > value or None in (bounds["rho"], bounds["recall"])):
        raise ValueError(f"lower is {lower!r:.40}, expected at most value, with bounds on rho and recall.")
    for of_class, error in (("negatives", "false_alarms"), ("positives", "misses")):
        size, *names = f"n_{of_class}", error, f"unsure_{of_class}"
        n, *wrong = (known.get(name, 0) for name in (size, *names))
        if n < max(sum(wrong), lower is not None):
            raise ValueError(f"{' and '.join(names)} are {wrong} of {size}={n}.")
    if not all(map(is_number, (number for pair in pairs for number in pair))):
        raise ValueError("quantiles has values that are not finite numbers.")
    known |= {"value": float(value), "lower": None if lower is None else float(lower)}
    known |= {"quantiles": tuple((float(share), float(score)) for share, score in pairs)}
    known |= {"reference": tuple(map(float, known.get("reference", ())))}
    if known.get("contamination") is not None:
        known["contamination"] = as_contamination(known["contamination"])
    return Threshold(**known)


def as_contamination(given: Any) -> tuple[float, float]:
    """Return two shares m0 and m1 of negatives; raise a ValueError unless 0 <= m1 < m0 < 1."""
    pair = tuple(given) if isinstance(given, list | tuple) else ()
    if len(pair) != 2 or not all(map(is_number, pair)) or not 0 <= pair[1] < pair[0] < 1:
        raise ValueError(
            f"contamination is {given!r:.40}, expected (m0, m1) with 0 <= m1 < m0 < 1: the largest share of negatives "
            "among samples labelled negative, such as 0.95, and the smallest among those labelled positive, such as 0."
        )
    return float(pair[0]), float(pair[1])


def margins(scores: np.ndarray, value: Any, lower: Any = None) -> np.ndarray:
    """Return by how much scores are above their threshold, or negative below ``lower``; 0 in between."""
    if lower is None:
        return np.asarray(scores - value)
    return np.maximum(scores - value, 0) + np.minimum(scores - lower, 0)


def _answers(scores: np.ndarray, value: Any, lower: Any) -> np.ndarray:
    margin = margins(scores, value, lower)
    if lower is None:
        return margin > 0
    answers = (margin > 0).astype(object)
    answers[margin == 0] = None
    return answers


def quantiles_of(negatives: Ascending) -> tuple[tuple[float, float], ...]:
    """Return shares and scores, as in :class:`Threshold`; tied scores have the share of the last."""
    # each stands for ten scores, so a small sample shows few of them
    count = min(MAX_QUANTILES, len(negatives) // 10)
    ranks = np.round(np.arange(1, count + 1) * len(negatives) / (count + 1)).astype(int)
    scores = np.unique(negatives.smallest(ranks) if count else [])
    shares = negatives.count(scores) / max(1, len(negatives))
    return tuple(zip(shares.tolist(), scores.tolist(), strict=True))


def n_promises(*rates: float | None) -> int:
    """Return the number of bounded rates, of rho, recall and precision, which share delta."""
    return sum(rate is not None for rate in rates)


def rounded_up(number: float, digits: int = 6) -> float:
    """Return a number with a few significant digits that is not smaller, up to rounding in the 14th."""
    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(f"{number:.14g}")))


def rounded_down(number: float, digits: int = 6) -> float:
    """Return a number with a few significant digits that is not larger, up to rounding in the 14th."""
    return float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(f"{number:.14g}")))


def measured(promise: str, why: str) -> str:
    """Return a promise that is not proved, with the reason."""
    return f"Measured, not proved, since {why}: {promise[0].lower()}{promise[1:]}"


def complement(delta: float) -> str:
    """Return the probability 1 - delta as text, never 1."""
    return f"{rounded_down(1 - delta):g}" if delta > 1e-6 else f"1 - {rounded_up(delta):g}"


def clopper_pearson(errors: int, n: int, confidence: float = 0.95) -> Estimate:
    """Return a rate of errors with exact limits."""
    return Estimate(errors / n, *rate_limits(errors, n, confidence))


def as_scores(scores: Any) -> np.ndarray:
    """Return scores as a float64 array; raise a ValueError if some are masked, NaN or infinite."""
    from sklearn.utils import column_or_1d  # half of the time of a command that reads scores from a file

    if np.ma.is_masked(scores):
        raise ValueError("scores has masked values: leave these samples out.")
    if np.ndim(scores) == 0 or np.asarray(scores).dtype.kind in "mMc":
        raise ValueError(f"scores is {scores!r:.40}: expected a real number for each sample.")
    given = np.asarray(column_or_1d(scores), dtype=np.float64)
    if wrong := int(np.sum(~np.isfinite(given))):
        raise ValueError(f"{wrong} of {len(given)} scores are NaN or infinite: leave these samples out, or score them.")
    return given


def scored(scores: Any, y: Any, pos_label: Any = None, **columns: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return checked scores and which samples of both classes are positive; other columns must have the same length."""
    scores, positive = as_scores(scores), classes(y, pos_label)[0] > 0
    same_length(len(scores), y=positive, **columns)
    require_both(positive)
    return scores, positive


def require_both(positive: np.ndarray) -> None:
    """Raise a ValueError if a class has no samples."""
    if np.all(positive) or not np.any(positive):
        raise ValueError(f"Expected both classes, got {int(np.sum(positive))} positives of {len(positive)}.")


def require_rate(name: str, rate: Any, *, ends: bool = False) -> None:
    """Raise a ValueError if ``rate`` is not a number between 0 and 1, strictly without ``ends``."""
    if not is_number(rate) or not (0 <= rate <= 1 if ends else SMALLEST_RATE <= rate < 1):
        expected = "from 0 to 1" if ends else f"of {SMALLEST_RATE:g} or more, below 1"
        raise ValueError(f"{name} is {rate!r:.40}, expected a number {expected}: 1 % is 0.01.")


def same_length(n: int, **columns: Any) -> None:
    """Raise a ValueError if a column differs from the scores in length."""
    for name, column in columns.items():
        if column is not None and not hasattr(column, "__len__"):
            raise ValueError(f"{name} is {column!r:.40}: expected a value for each sample.")
        if column is not None and len(column) != n:
            raise ValueError(f"{name} has {len(column)} values, but there are {n} scores.")


def refuse_others(labels: Labels, known: Classes, name: str = "y") -> None:
    """Raise RequestError if rows have a label of neither class, with its number of rows."""
    several = [side if isinstance(side, list) else [side] for side in known]
    expected = [one for side in several for one in side if one is not None]
    places = {labels.find(one) for one in expected}
    other = [place for place in range(len(labels.values)) if place not in places]
    if known.negative is not None and other:
        shown = " or ".join(repr(spelled(one)) for one in expected)
        raise RequestError(f"{name} has labels of neither class: {labels.shown(other)}. Expected {shown}.")
