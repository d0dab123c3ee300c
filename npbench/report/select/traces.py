"""Traces of fits, which records hold with ``execution.trace=true``."""

import json
from collections.abc import Iterable

import polars as pl


def traces(records: pl.DataFrame, columns: Iterable[str] = ()) -> pl.DataFrame:
    """Return a row for each iteration of the final fits in records that have a trace.

    The columns are ``key`` of the record, ``step`` from 0, those asked for, and each recorded value, such as
    ``seconds`` or ``objective``, as Float64; null where a solver does not record it.

    >>> records = pl.DataFrame({"key": ["a", "b"], "trace": ['{"objective":[3,2.5]}', None]})
    >>> traces(records).rows()
    [('a', 0, 3.0), ('a', 1, 2.5)]
    """
    parts = [pl.DataFrame(schema={"key": pl.String, "step": pl.Int64, **dict.fromkeys(columns, pl.Float64)})]
    for key, text in records.select("key", "trace").drop_nulls().rows():
        recorded = json.loads(text)
        part = pl.DataFrame(recorded, schema=dict.fromkeys(recorded, pl.Float64), strict=False)
        parts.append(part.select(pl.lit(key).alias("key"), pl.int_range(pl.len()).alias("step"), pl.all()))
    return pl.concat(parts, how="diagonal")
