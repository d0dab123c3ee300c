"""Records of the search strategies of one solver, compared on the same splits."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from npbench.values import canonical
from npbench_papers.records import MACHINE, Printed, printed_for, unhindered, with_labels

NARROW_SUFFIX = "_narrow"  # of strategies with the other tie rule; the paper does not state its rule
SPLIT = ["data_sha256", "seed", "repeat"]


@dataclass(frozen=True)
class Setting:
    """Strategies on one data set and rho that agree in all other parameters."""

    name: str  # data set, and the parameters that distinguish settings on it
    dataset: str
    rho: float
    records: pl.DataFrame  # with the columns strategy and seconds, of a processor for selection and fit
    printed: Printed  # by dataset and strategy

    @property
    def good(self) -> pl.DataFrame:
        """Records of the jobs that did not fail."""
        return self.records.filter(status="ok")

    def paper(self, strategy: str) -> dict[str, Any]:
        """Return the paper's values of a strategy, the same for both tie rules."""
        strategy = strategy.removesuffix(NARROW_SUFFIX)
        return printed_for(self.printed, dataset=self.dataset, rho=self.rho, strategy=strategy)

    def by_split(self, name: str, strategies: Sequence[str]) -> list[np.ndarray]:
        """Return an array of a column for each strategy, on the splits that all of them share."""
        if name not in self.good.columns:
            return [np.empty(0)] * len(strategies)
        timed = name == "seconds"  # of two processors, or of a busy one, they are not comparable
        index = [*SPLIT, *MACHINE] if timed else SPLIT
        wide = (unhindered(self.good) if timed else self.good).pivot(
            on="strategy", index=index, values=name, aggregate_function="last"
        )
        absent = [pl.lit(None, pl.Float64).alias(one) for one in strategies if one not in wide.columns]
        complete = wide.with_columns(absent).drop_nulls(strategies)
        return [complete[strategy].to_numpy() for strategy in strategies]


def settings(records: pl.DataFrame, printed: Printed) -> Iterator[Setting]:
    """Yield the settings in which strategies were run, from records of the problem np."""
    found = with_labels(with_strategy(records).drop_nulls("strategy")).sort("dataset", "rho", "label", "repeat")
    for _, group in found.group_by("dataset", "rho", "label", maintain_order=True):
        first = group.row(0, named=True)
        rest = first["label"].removeprefix(first["solver"])
        yield Setting(first["dataset"] + rest, first["dataset"], first["rho"], group, printed)


def with_strategy(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records with the strategy moved from their parameters to the column ``strategy``."""
    params = [json.loads(text) for text in records["params"]]
    named = pl.Series([one.pop("strategy", None) for one in params], dtype=pl.String)
    return records.with_columns(params=pl.Series(map(canonical, params), dtype=pl.String), strategy=named)
