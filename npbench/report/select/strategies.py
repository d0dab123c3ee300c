"""Records of one solver's strategies, side by side on the same splits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from npbench.report.select.measured import timed
from npbench.report.sheet import printed_for
from npbench.values import canonical

SPLIT = ["data_sha256", "seed", "repeat"]


@dataclass(frozen=True)
class Setting:
    """What strategies are compared on: one data set and rho, alike in all else.

    Parameters
    ----------
    name : str
        The data set, and what tells the setting from others on the same data.
    dataset : str
        Its data set.
    rho : float
        Its bound on false alarms.
    records : DataFrame
        With the columns ``strategy`` and ``seconds``, selection and fit.
    printed : sequence of mapping
        The paper's figures by ``dataset`` and ``strategy``.
    """

    name: str
    dataset: str
    rho: float
    records: pl.DataFrame
    printed: Sequence[Mapping[str, Any]]

    @property
    def good(self) -> pl.DataFrame:
        """The records of jobs that did not fail."""
        return self.records.filter(status="ok")

    def paper(self, strategy: str) -> dict[str, Any]:
        """Return the paper's figures of a strategy."""
        return printed_for(self.printed, dataset=self.dataset, rho=self.rho, strategy=strategy)

    def by_split(self, name: str, strategies: Sequence[str]) -> list[np.ndarray]:
        """Return a figure of each strategy, an array each, on the splits that all of them have, in one order."""
        if name not in self.good.columns:
            return [np.empty(0)] * len(strategies)
        wide = self.good.pivot(on="strategy", index=SPLIT, values=name, aggregate_function="last")
        absent = [pl.lit(None, pl.Float64).alias(one) for one in strategies if one not in wide.columns]
        complete = wide.with_columns(absent).drop_nulls(strategies)
        return [complete[strategy].to_numpy() for strategy in strategies]


def settings(records: pl.DataFrame, by: str, printed: Sequence[Mapping[str, Any]]) -> Iterator[Setting]:
    """Yield the settings in which strategies were run.

    Parameters
    ----------
    records : DataFrame
        For the problem np.
    by : str
        The parameter that names the strategy; records without it are left out.
    printed : sequence of mapping
        The paper's figures.
    """
    found = timed(with_strategy(records, by).drop_nulls("strategy"))
    for _, group in found.group_by("dataset", "rho", "label", maintain_order=True):
        first = group.row(0, named=True)
        rest = first["label"].removeprefix(first["solver"])
        yield Setting(first["dataset"] + rest, first["dataset"], first["rho"], group, printed)


def with_strategy(records: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the records with the column ``strategy``, which is then no longer among their parameters.

    Examples
    --------
    >>> records = pl.DataFrame({"params": ['{"strategy":"cd","tol":0.1}', '{"C":1}']})
    >>> with_strategy(records, "strategy").rows()
    [('{"tol":0.1}', 'cd'), ('{"C":1}', None)]
    """
    params = [json.loads(text) for text in records["params"]]
    named = pl.Series([one.pop(by, None) for one in params], dtype=pl.String)
    return records.with_columns(params=pl.Series(map(canonical, params), dtype=pl.String), strategy=named)
