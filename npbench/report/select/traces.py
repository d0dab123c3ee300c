"""Traces of fits, which records hold with ``execution.trace=true``."""

from __future__ import annotations

import json

import polars as pl


def traces(records: pl.DataFrame) -> pl.DataFrame:
    """Return the recorded values of every iteration of the final fits.

    Parameters
    ----------
    records : DataFrame
        Records, or some of them, of :meth:`npbench.records.store.RecordStore.frame`.

    Returns
    -------
    DataFrame
        A row for each iteration: ``key`` of the record, ``step`` from 0, and a Float64 column for each recorded value,
        such as ``seconds`` or ``objective``; null where a solver does not record it. Records without a trace have no
        rows.

    Examples
    --------
    >>> records = pl.DataFrame({"key": ["a", "b"], "trace": ['{"objective":[3,2.5]}', None]})
    >>> traces(records).rows()
    [('a', 0, 3.0), ('a', 1, 2.5)]
    """
    parts = [pl.DataFrame(schema={"key": pl.String, "step": pl.Int64})]
    for key, text in records.select("key", "trace").drop_nulls().rows():
        columns = json.loads(text)
        part = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64), strict=False)
        parts.append(part.select(pl.lit(key).alias("key"), pl.int_range(pl.len()).alias("step"), pl.all()))
    return pl.concat(parts, how="diagonal")
