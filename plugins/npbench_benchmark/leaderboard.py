"""Compare methods at one setting of the problem, such as a bound rho."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from npbench.numerics.binomial_limits import rate_limits
from npbench.numerics.thresholds import PROMISES
from npbench.problem import PROBLEMS
from npbench.records.fields import METHOD
from npbench.report.select.labels import method_labels
from npbench.report.select.metrics import better
from npbench.report.stats.paired import Limits
from npbench_benchmark import ratings
from npbench_benchmark.promises import Promise, expected

SCORE_OF_FAILURE = 1.0  # the NP score of a classifier that accepts nothing
# Score by which methods are compared on a data set, which a failed job loses.
COMPARED = pl.when(pl.col("n_good") == pl.col("n_jobs")).then("score").otherwise(math.inf)
NOISE = 1.96  # standard deviations


@dataclass(frozen=True)
class Standing:
    """A method over all data sets at one setting of the problem."""

    label: str  # shortest text that distinguishes the method
    n_datasets: int
    n_jobs: int
    n_good: int  # jobs with a score
    keys: frozenset[str]  # of its records
    above: int  # good jobs whose false-alarm rate on the test part exceeds rho
    share_limits: Limits  # exact 95 % limits of the share of these
    promise: str  # kind of the promise, by which methods are ranked; empty for problems without a bound
    allowed: float  # share of test parts above rho to expect if the promise is kept
    excess: float  # of the mean false-alarm rate over rho, in standard deviations if it is rho; NaN where unknown
    p_fa: float | None  # mean over data sets of the means over good jobs
    p_nd: float | None  # mean over data sets of the means over good jobs
    score: float  # mean of score_of over data sets
    seconds: float  # geometric mean of processor seconds of selection and fit; NaN if none were measured
    rank: float  # among methods with the same promise; a data set on which a job failed is lost to all without failures
    win_rate: float
    elo: float
    elo_limits: Limits  # 95 % limits by the bootstrap over data sets
    place: int
    places_without: tuple[int, int] | None  # best and worst if the data sets of one source are left out; None for one
    is_efficient: bool  # no other method has a better score in fewer seconds

    @property
    def share(self) -> float | None:
        """Share of good jobs above rho."""
        return self.above / self.n_good if self.n_good else None

    @property
    def verdict(self) -> str:
        """Verdict on the bound."""
        if self.share is None:
            return "not measured"
        if self.promise == "on average" and not math.isnan(self.excess):
            return "kept" if self.excess <= 0 else "kept within noise" if self.excess <= NOISE else "exceeded"
        if self.share <= self.allowed:
            return "kept"
        return "kept within noise" if self.share_limits[0] <= self.allowed else "exceeded"


def standings(records: pl.DataFrame) -> list[Standing]:
    """Return the methods with records at one setting, by promise and place."""
    results = by_dataset(records)
    found = list(_alone(records, results))
    ranked: list[Standing] = []
    for kind in dict.fromkeys(one["promise"] for one in found):
        alike = [one for one in found if one["promise"] == kind]
        ranked += _ranked(alike, results.filter(pl.col("label").is_in([one["label"] for one in alike])))
    order = ["", *PROMISES]
    return sorted(ranked, key=lambda one: (order.index(one.promise), one.place, one.label))


def by_promise(found: Sequence[Standing]) -> list[tuple[str, list[Standing]]]:
    """Return the methods that are ranked together, each time with words to add to the setting."""
    kinds = dict.fromkeys(one.promise for one in found)
    return [(f", promise: {kind}" if kind else "", [one for one in found if one.promise == kind]) for kind in kinds]


def _ranked(found: list[dict[str, Any]], results: pl.DataFrame) -> Iterator[Standing]:
    """Compare methods with each other."""
    datasets, _, values = table(results)
    won = ratings.wins(values)
    low, high = ratings.elo_limits(won)
    others = ratings.places_without_each_source(values, ratings.sources_of(datasets))
    ends = np.column_stack([others.min(axis=0), others.max(axis=0)])
    compared = {
        "rank": ratings.mean_ranks(values),
        "win_rate": ratings.win_rates(won),
        "elo": ratings.elo(won.sum(axis=0)),
        "elo_limits": np.column_stack([low, high]),
        "place": ratings.places(values),
        "places_without": ends if len(others) > 1 else np.full(len(ends), None),
        "is_efficient": ratings.pareto(*(np.array([one[name] for one in found]) for name in ("score", "seconds"))),
    }
    lists = {name: _plain(column) for name, column in compared.items()}
    for number, one in enumerate(found):
        yield Standing(**one, **{name: column[number] for name, column in lists.items()})


def by_dataset(records: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each method and data set: means over repeats, and numbers of jobs and of good jobs."""
    score = score_of(records)
    good = (pl.col("status") == "ok") & score.is_finite().fill_null(False)
    spent = pl.coalesce(pl.col("select_cpu_seconds") + pl.col("fit_cpu_seconds"), "seconds")
    return (
        records.with_columns(label=pl.Series(method_labels(records), dtype=pl.String))
        .group_by(*METHOD, "label", "dataset")
        .agg(
            n_jobs=pl.len(),
            n_good=good.sum(),
            above=(good & _exceeds(records)).sum(),
            p_fa=pl.col("p_fa").filter(good).mean(),
            p_nd=pl.col("p_nd").filter(good).mean(),
            score=pl.when(good).then(score).otherwise(SCORE_OF_FAILURE).mean(),
            log_seconds=spent.log().mean(),
        )
        .sort(*METHOD, "dataset")
    )


def score_of(records: pl.DataFrame) -> pl.Expr:
    """Return the score by which methods are ranked: the judging metric or, if higher is better, 1 minus it."""
    metric = judge(records)
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


def table(results: pl.DataFrame) -> tuple[list[str], list[str], np.ndarray]:
    """Return data sets, labels of methods, and scores in the form of :mod:`npbench_benchmark.ratings`."""
    wide = results.with_columns(COMPARED).pivot("dataset", index=METHOD, values="score", sort_columns=True)
    methods = results.select(*METHOD, "label").unique(maintain_order=True)
    return wide.columns[len(METHOD) :], methods["label"].to_list(), wide[:, len(METHOD) :].to_numpy().T.astype(float)


def _alone(records: pl.DataFrame, results: pl.DataFrame) -> Iterator[dict[str, Any]]:
    keys = {group: frozenset(frame["key"]) for group, frame in records.group_by(METHOD)}
    ended = dict(iter(records.filter(status="ok").group_by(METHOD)))
    for group in results.partition_by(METHOD, maintain_order=True):
        n_good, above = int(group["n_good"].sum()), int(group["above"].sum())
        method = group.select(METHOD).row(0)
        params, good = json.loads(group["params"][0]), ended.get(method, records.clear())
        promise = Promise.of(params, set(good["solver_status"]))
        share, noise = expected(promise, good)
        yield {
            "label": group["label"][0],
            "n_datasets": len(group),
            "n_jobs": int(group["n_jobs"].sum()),
            "n_good": n_good,
            "keys": keys[method],
            "above": above,
            "share_limits": rate_limits(above, n_good) if n_good else (0.0, 1.0),
            "promise": promise.kind if bounded(records) else "",
            "allowed": share,
            "excess": _excess(good, noise),
            "p_fa": group["p_fa"].mean(),
            "p_nd": group["p_nd"].mean(),
            "score": group["score"].mean(),
            "seconds": group.select(pl.col("log_seconds").mean().exp().fill_null(math.nan)).item(),
        }


def _excess(good: pl.DataFrame, noise: float) -> float:
    """Return the excess of the mean false-alarm rate over rho, in units of its noise."""
    return math.nan if math.isnan(noise) else good.select((pl.col("p_fa") - pl.col("rho")).mean()).item() / noise


def _plain(column: np.ndarray) -> list[Any]:
    return [tuple(one) if isinstance(one, list) else one for one in column.tolist()]
