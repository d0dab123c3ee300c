"""What records measured, as tables and figures take it."""

from __future__ import annotations

import polars as pl

from npbench.report.select.labels import labels


def timed(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records in the order of tables, with the columns ``label`` and ``seconds``, selection and fit."""
    seconds = pl.col("select_seconds") + pl.col("fit_seconds")
    named = records.with_columns(seconds=seconds, label=pl.Series(labels(records), dtype=pl.String))
    return named.sort("dataset", "rho", "label", "repeat")


def values(records: pl.DataFrame, name: str) -> list[float]:
    """Return what a column holds, without nulls; nothing if there is no such column.

    Examples
    --------
    >>> records = pl.DataFrame({"p_fa": [0.25, None]})
    >>> values(records, "p_fa"), values(records, "p_nd")
    ([0.25], [])
    """
    return records[name].drop_nulls().to_list() if name in records.columns else []
