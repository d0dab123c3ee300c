"""Where each method stands at one bound rho, as numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from npbench.numerics.binomial_limits import rate_limits
from npbench.report.select.labels import labels
from npbench.report.stats.intervals import Limits
from npbench_benchmark import ratings

METHOD = ["solver", "params", "search"]
WORTHLESS = 1.0  # NP score of a classifier that accepts nothing; that of a job without a result
COIN = 0.5  # share of test parts above rho for a method whose true rate is rho


@dataclass(frozen=True)
class Standing:
    """A method over all data sets at one bound.

    Parameters
    ----------
    label : str
        Shortest text that distinguishes the method.
    n_datasets, n_jobs, n_good : int
        Number of data sets it was run on, of its jobs, and of those that did not fail.
    above : int
        Number of good jobs whose false-alarm rate on the test part exceeds rho.
    share_limits : (float, float)
        Exact 95 % limits of the share of these.
    promised : float or None
        Largest share that the method promises: delta of an umbrella threshold.
    p_nd : float or None
        Miss rate: mean over data sets of the means over good jobs.
    score, seconds : float
        Mean NP score, and geometric mean of seconds of selection and fit, over data sets. A job that failed has the
        score of a classifier that accepts nothing, and the seconds that it took.
    rank, win_rate, elo : float
        Compared with all other methods; a data set on which a job failed is lost to every method without failures.
    elo_limits : (float, float)
        95 % limits of ``elo`` by the bootstrap over data sets.
    is_efficient : bool
        Whether no other method has a better score in fewer seconds.
    """

    label: str
    n_datasets: int
    n_jobs: int
    n_good: int
    above: int
    share_limits: Limits
    promised: float | None
    p_nd: float | None
    score: float
    seconds: float
    rank: float
    win_rate: float
    elo: float
    elo_limits: Limits
    is_efficient: bool

    @property
    def share(self) -> float | None:
        """Share of good jobs above rho."""
        return self.above / self.n_good if self.n_good else None

    @property
    def allowed(self) -> float:
        """Share of test parts above rho that counts as keeping the bound."""
        return COIN if self.promised is None else self.promised

    @property
    def verdict(self) -> str:
        """Whether the bound is kept, in words."""
        if self.share is None:
            return "not measured"
        if self.share <= self.allowed:
            return "kept"
        return "kept within noise" if self.share_limits[0] <= self.allowed else "exceeded"


def standings(records: pl.DataFrame) -> list[Standing]:
    """Return the methods with records at one bound: those on all data sets first, the best mean rank first.

    Everything but the rank, wins, Elo and efficiency depends on the records of the method alone.
    """
    results = by_dataset(records)
    found = list(_alone(records, results))
    values = table(results)[2]
    won = ratings.wins(values)
    low, high = ratings.elo_limits(won)
    efficient = ratings.pareto(*(np.array([one[name] for one in found]) for name in ("score", "seconds")))
    columns = ratings.mean_ranks(values), ratings.win_rates(won), ratings.elo(won.sum(axis=0)), low, high, efficient
    compared = zip(*(column.tolist() for column in columns), strict=True)
    made = [
        Standing(**one, rank=rank, win_rate=rate, elo=rating, elo_limits=(least, most), is_efficient=front)
        for one, (rank, rate, rating, least, most, front) in zip(found, compared, strict=True)
    ]
    return sorted(made, key=lambda one: (-one.n_datasets, one.rank, one.label))


def by_dataset(records: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each method and data set: means over repeats, the number of jobs and of good ones."""
    good = pl.col("status") == "ok"
    spent = pl.coalesce(pl.col("select_seconds") + pl.col("fit_seconds"), "seconds")
    # Names must not depend on which methods a data set has records of. A solver inside another is part of the name.
    inner = pl.col("params").str.json_path_match("$.estimator")
    named = pl.when(inner.str.contains(".", literal=True)).then("solver").otherwise(pl.col("solver") + " " + inner)
    alike = records.with_columns(solver=pl.coalesce(named, "solver"), dataset=pl.lit(""), dataset_params=pl.lit("{}"))
    return (
        records.with_columns(label=pl.Series(labels(alike), dtype=pl.String))
        .group_by(*METHOD, "label", "dataset")
        .agg(
            n_jobs=pl.len(),
            n_good=good.sum(),
            above=(good & (pl.col("p_fa") > pl.col("rho"))).sum(),
            p_nd=pl.col("p_nd").filter(good).mean(),
            score=pl.when(good).then("np_score").otherwise(WORTHLESS).mean(),
            log_seconds=spent.log().mean(),
        )
        .sort(*METHOD, "dataset")
    )


def table(results: pl.DataFrame) -> tuple[list[str], list[str], np.ndarray]:
    """Return data sets, labels in the order of methods, and scores as :mod:`npbench_benchmark.ratings` takes them."""
    score = pl.when(pl.col("n_good") == pl.col("n_jobs")).then("score").otherwise(np.inf)
    wide = results.with_columns(score).pivot("dataset", index=METHOD, values="score", sort_columns=True)
    methods = results.select(*METHOD, "label").unique(maintain_order=True)
    return wide.columns[len(METHOD) :], methods["label"].to_list(), wide[:, len(METHOD) :].to_numpy().T.astype(float)


def _alone(records: pl.DataFrame, results: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for group in results.partition_by(METHOD, maintain_order=True):
        n_good, above = int(group["n_good"].sum()), int(group["above"].sum())
        yield {
            "label": group["label"][0],
            "n_datasets": len(group),
            "n_jobs": int(group["n_jobs"].sum()),
            "n_good": n_good,
            "above": above,
            "share_limits": rate_limits(above, n_good) if n_good else (0.0, 1.0),
            "promised": _promised(json.loads(group["params"][0])),
            "p_nd": group["p_nd"].mean(),
            "score": group["score"].mean(),
            "seconds": float(np.exp(group["log_seconds"].to_numpy().mean())),
        }


def _promised(params: dict[str, Any]) -> float | None:
    return float(params["delta"]) if params.get("threshold") == "umbrella" else None
