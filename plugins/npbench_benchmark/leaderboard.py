"""Leagues: methods with the same promise, compared at one setting of the problem, such as a bound rho."""

import json
import math
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import polars as pl
from scipy.special import ndtr

from npbench.numerics.binomial_limits import rate_limits
from npbench.numerics.roc_grid import FPR_GRID
from npbench.numerics.signed_rank import DIGITS
from npbench.numerics.thresholds import PROMISES
from npbench.problem import PROBLEMS
from npbench.records.fields import METHOD
from npbench.report.select.labels import method_labels
from npbench.report.select.metrics import better
from npbench.report.select.pairing import setting_text
from npbench.report.stats.paired import MIN_VALUES, Limits, kept
from npbench.report.stats.ranks import ranking
from npbench_benchmark.board.statement import is_tuned
from npbench_benchmark.promises import SIZES, Promise, expected, tails

STANDARDISED = "pauc_mcclish"  # metric of the area under straight lines: 1/2 by chance, 1 at best
SCORE_OF_FAILURE = 1.0  # of a classifier that accepts nothing
NOISE = 1.96  # standard deviations
SURPRISING = 0.025  # one-sided, like the limits of a share
UNKNOWN = (math.nan, math.nan)  # limits over fewer than six data sets
MOST_ALARMS = 0.95  # quantile over test parts
FEW_NEGATIVES, LARGE = 320, 100_000  # negatives, samples of a data set: fewer than, more than
SATURATED, WEAK = 0.06, 0.5  # misses of the median method, below and above
TIE_DIGITS = 8  # values that are equal up to rounding, of variances too, are ties


@dataclass(frozen=True)
class Standing:
    """A method over all data sets at one setting of the problem. Means are over data sets, of means over repeats.

    A job without an answer counts as one that accepts nothing: no false alarms, all misses, score 1.
    """

    label: str  # shortest text that distinguishes the method
    promise: str  # kind of the promise, which is the league; empty for problems without a bound
    n_datasets: int
    n_jobs: int
    n_good: int  # jobs with an answer
    keys: frozenset[str]  # of its records
    above: int  # jobs whose false-alarm rate on the test part exceeds rho
    share_limits: Limits  # exact 95 % limits of the share of these
    allowed: float  # share of test parts above rho to expect if the promise is kept; NaN without one
    noise: float  # standard deviation of the mean false-alarm rate of independent parts if the promise is kept; or NaN
    excess: float  # of the mean false-alarm rate over rho, in these standard deviations; NaN where unknown
    most_alarms: float | None  # false-alarm rate over rho that 95 % of the test parts do not exceed
    surprise: float  # smallest tail probability of a part, times the parts of the league; NaN for unknown sizes
    worst: float  # false-alarm rate over rho on the part with this tail
    p_fa: float  # mean over the test parts of jobs with an answer, as in the excess; 0 without any
    p_nd: float | None
    at_rho: float | None  # misses on the test part with a threshold that makes its false-alarm rate rho
    score: float
    seconds: float  # geometric mean of processor seconds of selection and fit; NaN if none were measured
    n_candidates: float | None  # median number of candidates of a selection
    unconverged: float | None  # share of final fits that did not converge
    is_tuned: bool | None  # on the data sets of the suite, as its submission states; None without one
    # In the league; a method that has left it has none of these.
    p_nd_common: float | None = None  # over the data sets on which all methods have all answers
    rank: float = 0.0
    rank_limits: Limits = UNKNOWN
    place: int = 0  # of the best method from which it cannot be separated, among those that open a place
    place_limits: Limits = UNKNOWN
    is_efficient: bool = False  # no other method of the league is better in fewer seconds

    @property
    def share(self) -> float:
        """Share of jobs above rho."""
        return self.above / self.n_jobs

    @property
    def ranked(self) -> float:
        """What its league is ranked by."""
        value: float = getattr(self, ranked_by(self.promise))
        return value

    @property
    def is_surprising(self) -> bool:
        """Whether one test part is so far above rho that a kept promise makes it all but impossible."""
        return self.surprise < SURPRISING

    @property
    def verdict(self) -> str:
        """Verdict on the promise; empty without one."""
        if not self.n_good:
            return "not measured"
        if self.promise in ("", "none"):
            return ""
        if self.is_surprising:
            return "exceeded"
        if self.promise == "on average" and not math.isnan(self.excess):
            return kept(self.excess, self.excess - NOISE, 0.0)
        return kept(self.share, self.share_limits[0], self.allowed)


STANDING = {one.name for one in fields(Standing)}


@dataclass(frozen=True)
class League:
    """Methods with the same promise: those that keep it by place and rank, and those that leave the league."""

    promise: str  # empty for problems without a bound
    standings: Sequence[Standing]
    broken: Sequence[Standing]  # their promise is exceeded beyond noise; neither rank nor place compares them
    datasets: Sequence[str]
    values: np.ndarray  # by data set and standing: what is ranked, lower is better; NaN where a method was not run

    @property
    def methods(self) -> list[Standing]:
        """All methods with this promise, those that keep it first."""
        return [*self.standings, *self.broken]

    @property
    def title(self) -> str:
        """Words to add to the setting."""
        return f", promise: {self.promise}" if self.promise else ""


@dataclass(frozen=True, eq=False)
class Setting:
    """A setting of the problem, and what tables, charts and sentences take from its records, computed once."""

    text: str  # as in rho=0.1
    records: pl.DataFrame

    @property
    def value(self) -> str:
        """The parameter of the problem, such as 0.1."""
        return self.text.partition("=")[2]

    @cached_property
    def results(self) -> pl.DataFrame:
        """A row for each method and data set: see :func:`by_dataset`."""
        return by_dataset(self.records)

    @cached_property
    def leagues(self) -> list[League]:
        """The leagues, the strongest promise first."""
        return _leagues(self.records, self.results)

    def among(self, datasets: Collection[str]) -> list[League]:
        """Return the leagues on some of the data sets: methods that leave their league on all have no place there."""
        among = pl.col("dataset").is_in(list(datasets))
        left = {one.label for league in self.leagues for one in league.broken}
        return _leagues(self.records.filter(among), self.results.filter(among), left) if datasets else []

    def kinds(self, common: Collection[str] = ()) -> dict[str, Collection[str]]:
        """Return kinds of data sets, each with its data sets; ``common`` are those of all settings."""
        n_negative = (pl.col("n_samples") - pl.col("n_positive")).first()
        sizes = self.records.group_by("dataset").agg(pl.col("n_samples").first(), n=n_negative)
        misses = pl.col("p_nd" if bounded(self.records) else "score").median()
        found = sizes.join(self.results.group_by("dataset").agg(misses=misses), on="dataset")
        tests = {
            "all": pl.lit(True),
            "common": pl.col("dataset").is_in(list(common)),
            "few": pl.col("n") < FEW_NEGATIVES,
            "many": pl.col("n") >= FEW_NEGATIVES,
            "saturated": pl.col("misses") < SATURATED,
            "others": pl.col("misses").is_between(SATURATED, WEAK),
            "weak": pl.col("misses") > WEAK,
            "large": pl.col("n_samples") > LARGE,
        }
        return {kind: set(found.filter(test)["dataset"]) for kind, test in tests.items()}


_KNOWN: deque[tuple[pl.DataFrame, list[Setting]]] = deque(maxlen=2)  # the leaderboard of the site reads two frames


def settings(records: pl.DataFrame) -> list[Setting]:
    """Return the settings of the problem, the largest first; the same objects if called again with the same frame."""
    for frame, known in _KNOWN:
        if frame is records:
            return known
    ordered = records.sort("problem_params", descending=True).group_by("problem_params", maintain_order=True)
    found = [Setting(setting_text(str(params)), _of_one_code(group)) for (params,), group in ordered]
    _KNOWN.append((records, found))
    return found


def _of_one_code(records: pl.DataFrame) -> pl.DataFrame:
    """Return records in which repeats of a method have the same parameters: older records lack those added since."""
    labelled = records.with_columns(method_labels(records))
    return labelled.with_columns(pl.last(*METHOD).over("label")).drop("label")


def separable(found: Sequence[Setting]) -> Sequence[Setting]:
    """Return the settings with enough data sets to separate methods; all of them if none has enough."""
    return [one for one in found if one.records["dataset"].n_unique() >= MIN_VALUES] or found


def _leagues(records: pl.DataFrame, results: pl.DataFrame, left: Collection[str] | None = None) -> list[League]:
    """Return the leagues of some records; ``left`` are labels that leave theirs, where other records decide that."""
    alone = list(_alone(records, results))
    if left is None:
        left = {one.label for one in alone if one.verdict == "exceeded"}
    kinds = {kind: [one for one in alone if one.promise == kind] for kind in ("", *PROMISES)}
    return [_league(kind, alike, results, left) for kind, alike in kinds.items() if alike]


def _league(promise: str, alike: Sequence[Standing], results: pl.DataFrame, left: Collection[str]) -> League:
    """Compare methods with the same promise by misses, those without one by score."""
    present = [one for one in alike if one.label not in left]
    names = [one.label for one in present]
    compared = results.filter(pl.col("label").is_in(names))
    datasets, values = table(compared, names, ranked_by(promise))
    answered = compared.group_by("dataset").agg((pl.col("n_good") == pl.col("n_jobs")).all(), n=pl.len())
    common = answered.filter(pl.col("n_good"), n=len(present))["dataset"].to_list()
    # in order: threads that add up parts would change the last bit from run to run
    of_common = compared.filter(pl.col("dataset").is_in(common)).group_by("label", maintain_order=True)
    misses = dict(of_common.agg(pl.mean("p_nd")).iter_rows())
    found = ranking(values)
    efficient = pareto(np.array([one.ranked for one in present]), np.array([one.seconds for one in present]))
    standings = [
        replace(
            one,
            p_nd_common=misses.get(one.label),
            rank=float(found.ranks[place]),
            rank_limits=tuple(found.rank_limits[place].tolist()),
            place=int(found.places[place]),
            place_limits=tuple(found.place_limits[place].tolist()),
            is_efficient=bool(efficient[place]),
        )
        for place, one in enumerate(present)
    ]
    order = sorted(range(len(present)), key=lambda one: _in_order(standings[one]))
    broken = [one for one in alike if one.label in left]
    return League(promise, [standings[one] for one in order], broken, datasets, values[:, order])


def _in_order(one: Standing) -> tuple[float | str, ...]:
    """Return what methods of a league are sorted by: of equal ranks, the better comes first, then the faster."""
    seconds = math.inf if math.isnan(one.seconds) else one.seconds
    return -one.n_datasets, one.rank, round(one.ranked, DIGITS), seconds, one.label


def ranked_by(promise: str) -> str:
    """Return what methods with a promise are ranked by, lower is better: misses, or the score without one."""
    return "score" if promise in ("", "none") else "p_nd"


def seconds_form(seconds: float) -> str:
    """Return a format with two digits and, from 100 on, without an exponent."""
    return ".2g" if seconds < 99.5 else ".0f"


def pareto(value: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Return whether no other method is at least as good in both, and better in one; False without seconds."""
    no_worse = (value <= value[:, None]) & (seconds <= seconds[:, None])
    better = (value < value[:, None]) | (seconds < seconds[:, None])
    return np.isfinite(seconds) & np.logical_not((no_worse & better).any(axis=1))


def by_dataset(records: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each method and data set: means over repeats, and numbers of jobs and of answers."""
    is_bounded = bounded(records)
    at_rho = misses_at_rho(records) if is_bounded else pl.lit(None, pl.Float64)
    good = (pl.col("status") == "ok") & score_of(records).is_finite().fill_null(False)
    score = pl.when(good).then(score_of(records)).otherwise(SCORE_OF_FAILURE)
    spent = pl.coalesce(pl.col("select_cpu_seconds") + pl.col("fit_cpu_seconds"), "seconds")
    p_fa = pl.when(good).then("p_fa").otherwise(0.0)
    n_test = (pl.col("n_samples") - pl.col("n_positive")) * pl.col("n_test_positive") / pl.col("n_positive")
    found = (
        records.with_columns(method_labels(records), at_rho=at_rho)
        .group_by(*METHOD, "label", "dataset")
        .agg(
            n_jobs=pl.len(),
            n_good=good.sum(),
            above=(good & _exceeds(records)).sum(),
            p_fa=p_fa.mean(),
            p_nd=pl.when(good).then("p_nd").otherwise(1.0).mean(),
            at_rho=pl.when(good).then("at_rho").otherwise(1.0).mean(),
            score=score.mean(),
            each_part=score.clip(upper_bound=SCORE_OF_FAILURE).mean(),
            kept_misses=pl.when(good & ~_exceeds(records)).then("p_nd").otherwise(1.0).mean(),
            log_seconds=spent.log().mean(),
            rho=pl.col("rho").first() if is_bounded else pl.lit(None),
            # of the rate on a test part, and of the true rate of a fit, which is what remains
            variance=p_fa.var() - p_fa.mean() * (1 - p_fa.mean()) / n_test.mean(),
            n_test=n_test.mean(),
        )
        .sort(*METHOD, "dataset")
    )
    return found.with_columns(score=pl.Series(np_scores(found))) if is_bounded else found


def np_scores(results: pl.DataFrame, weight: float = 1.0) -> np.ndarray:
    """Return the score of each method on each data set: misses and relative excess, as on infinitely large test parts.

    ``min(1, P_nd + w E max(0, N(m, v)) / rho)``, where m is the mean of ``P_fa - rho`` over repeats and v the variance
    of ``P_fa`` beyond the noise of a test part. The expectation is ``m Phi(m / s) + s phi(m / s)`` for ``v = s^2``.
    One repeat does not determine v: then m is the excess beyond one standard deviation of the noise, and v is 0.
    """
    columns = results.select("p_nd", "p_fa", "rho", "variance", "n_test").cast(pl.Float64)
    p_nd, p_fa, rho, variance, n_test = columns.to_numpy().T
    noise = np.where(np.isnan(variance), np.nan_to_num(np.sqrt(rho * (1 - rho) / n_test)), 0.0)  # 0 if unknown
    mean, deviation = p_fa - rho - noise, np.sqrt(np.maximum(np.nan_to_num(variance), 0.0))
    ratio = np.divide(mean, deviation, out=np.full_like(mean, np.inf), where=deviation > 0)  # without noise, m remains
    excess = mean * ndtr(ratio) + deviation * np.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi)
    capped: np.ndarray = np.minimum(SCORE_OF_FAILURE, p_nd + weight * np.maximum(excess, 0.0) / rho)
    return capped


def misses_at_rho(records: pl.DataFrame) -> pl.Series:
    """Return the misses of records at one rho, with this rate on the curve of their test part; null without a curve."""
    rho = records["rho"][0]
    place = int(np.searchsorted(FPR_GRID[:-1], rho, side="right")) - 1
    share = float((rho - FPR_GRID[place]) / (FPR_GRID[place + 1] - FPR_GRID[place]))

    def misses(roc: str | None) -> float | None:
        try:
            below, above = json.loads(roc or "")[place : place + 2]
            return float(1.0 - (below + share * (above - below)))
        except (TypeError, ValueError, ArithmeticError, RecursionError):  # records may come from anyone
            return None

    return pl.Series(map(misses, records["roc"]), dtype=pl.Float64)


def score_of(records: pl.DataFrame) -> pl.Expr:
    """Return the judging metric of the problem or, if higher is better, 1 minus it.

    In a partial AUC, ties count as the line that joins their ends in the ROC curve, so that constant scores are no
    better than chance.
    """
    metric = judge(records)
    if metric == "pauc" and STANDARDISED in records.columns:
        low, high = (pl.col("problem_params").str.json_path_match(f"$.fpr_range[{end}]") for end in (0, 1))
        chance = (low.cast(pl.Float64) + high.cast(pl.Float64)) / 2
        return (1.0 - chance) * (2.0 - 2.0 * pl.col(STANDARDISED))
    return pl.col(metric) if better(records["problem"][0], metric) == "lower" else 1.0 - pl.col(metric)


def judge(records: pl.DataFrame) -> str:
    """Return the metric by which the problem of these records compares solvers."""
    return PROBLEMS[records["problem"][0]].judged_by


def bounded(records: pl.DataFrame) -> bool:
    """Return whether the problem of these records bounds a rate."""
    return bool(PROBLEMS[records["problem"][0]].bounds)


def _exceeds(records: pl.DataFrame) -> pl.Expr:
    bounds = PROBLEMS[records["problem"][0]].bounds
    return pl.any_horizontal(pl.lit(False), *(pl.col(metric) > pl.col(number) for metric, number in bounds.items()))


def table(results: pl.DataFrame, labels: Sequence[str], value: str) -> tuple[list[str], np.ndarray]:
    """Return the data sets, and a value of each method on each in the form of :mod:`npbench.report.stats.ranks`."""
    wide = results.pivot("label", index="dataset", values=value).sort("dataset")
    values = wide.select(labels).cast(pl.Float64).to_numpy(order="c")
    return wide["dataset"].to_list(), values.round(TIE_DIGITS)


def _alone(records: pl.DataFrame, results: pl.DataFrame) -> Iterator[Standing]:
    """Yield what is known of each method without the others."""
    good, is_bounded = pl.col("status") == "ok", bounded(records)
    p_fa, rho = pl.col("p_fa"), (pl.col("rho") if is_bounded else pl.lit(None, pl.Float64)).alias("rho")
    of_jobs = records.group_by(METHOD).agg(
        n_jobs=pl.len(),
        key=pl.col("key"),
        n_ok=good.sum(),
        rules=pl.col("solver_status").filter(good).unique(),
        sizes=pl.struct(rho, *SIZES).filter(good),
        rates=p_fa.filter(good),
        p_fa=p_fa.filter(good).mean().fill_null(0.0),
        most_alarms=(p_fa / rho).filter(good).quantile(MOST_ALARMS, "higher"),
        mean_excess=(p_fa - rho).filter(good).mean(),
        n_candidates=pl.col("n_candidates").filter(good).median(),
        unconverged=1 - pl.col("converged").filter(good).mean(),
    )
    of_datasets = results.group_by(METHOD, maintain_order=True).agg(
        pl.first("label"),
        pl.mean("p_nd", "at_rho", "score"),
        pl.sum("above", "n_good"),
        n_datasets=pl.len(),
        seconds=pl.col("log_seconds").mean().exp().fill_null(math.nan),
    )
    rows = of_datasets.join(of_jobs, on=METHOD, nulls_equal=True, maintain_order="left").rows(named=True)
    promises = [Promise.of(json.loads(row["params"]), row["rules"]) for row in rows]
    parts = [tails(promise, row["sizes"], row["rates"]) for promise, row in zip(promises, rows, strict=True)]
    n_parts = Counter(promise.kind for promise, own in zip(promises, parts, strict=True) for _ in own)
    for row, promise, own in zip(rows, promises, parts, strict=True):
        tail, worst = min(own, key=lambda part: (part[0], -part[1]), default=UNKNOWN)
        share, noise = expected(promise, row["sizes"])
        yield Standing(
            **{name: value for name, value in row.items() if name in STANDING},
            promise=promise.kind if is_bounded else "",
            keys=frozenset(row["key"]),
            share_limits=rate_limits(row["above"], row["n_jobs"]),
            allowed=share * row["n_ok"] / row["n_jobs"],
            noise=noise,
            excess=math.nan if math.isnan(noise) else row["mean_excess"] / noise,
            surprise=tail * n_parts[promise.kind],
            worst=worst,
            is_tuned=is_tuned(row["solver"]),
        )
