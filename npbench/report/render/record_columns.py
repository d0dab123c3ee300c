"""Columns of the page's table of all records, as JSON values that people read."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from npbench.records.fields import SCHEMA, Role, names

# Long, only for programs, or shown elsewhere on the page.
OMITTED = {"schema_version", "metrics", "code", "versions", "trace", "roc", "traceback"}
JSON_TEXTS = set(names(Role.OBJECT))
HASHES = {"key", "code_sha256", "data_sha256", "split_sha256", "git_commit"}
HASH_LENGTH = 12
TIME_LENGTH = len("2026-01-01T00:00:00")
SHOWN_DIGITS = 6  # significant; the Parquet files have all
FIRST_COLUMNS = ("label", "dataset", "problem", "problem_params", "repeat", "status")
LAST_COLUMNS = ("seconds", "converged")
MAX_METRICS_SHOWN = 6
MAX_LISTED = 4  # values of a list


def columns(records: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the columns of records that have values.

    Each has its ``name``, its ``kind`` (text, number or flag), whether it is ``shown`` at first, and its ``values``.
    Infinite numbers are texts, as JSON requires.
    """
    shown = _shown(records)
    known = [one for one in records if one.name not in OMITTED and one.null_count() < len(records)]
    # Shown columns come first, in their order; sorting keeps the order of the others.
    known.sort(key=lambda one: shown.index(one.name) if one.name in shown else len(shown))
    for one in known:
        kind = "flag" if one.dtype == pl.Boolean else "number" if one.dtype.is_numeric() else "text"
        yield {"name": one.name, "kind": kind, "shown": one.name in shown, "values": _readable(one)}


def _shown(records: pl.DataFrame) -> list[str]:
    parameters = {name for text in records["problem_params"].unique().drop_nulls() for name in json.loads(text)}
    known = {*SCHEMA, *FIRST_COLUMNS, *LAST_COLUMNS, *parameters}
    further = [name for name in records.columns if name not in known and not name.endswith(("_low", "_high"))]
    measured = [name for name in further if records[name].dtype.is_float()][:MAX_METRICS_SHOWN]
    return [name for name in (*FIRST_COLUMNS, *measured, *LAST_COLUMNS) if name in records.columns]


def _readable(series: pl.Series) -> list[Any]:
    """Return values with short hashes, settings as on the command line, and few digits."""
    if series.dtype.is_float():
        exact = series.fill_nan(None)
        rounded = exact.round_sig_figs(SHOWN_DIGITS)
        # Polars 1.24 loses numbers below 1e-300 in rounding
        rounded = rounded.zip_with(rounded.is_finite().fill_null(False), exact)
        return [str(value) if value is not None and math.isinf(value) else value for value in rounded]
    if series.name in HASHES:
        series = series.str.head(HASH_LENGTH)
    elif series.name == "stored_at":
        series = series.str.head(TIME_LENGTH)
    elif series.name in JSON_TEXTS:
        texts = series.drop_nulls().unique().to_list()
        series = series.replace_strict(texts, [spelled(json.loads(text)) for text in texts], default=None)
    elif not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        series = series.cast(pl.String)
    return series.to_list()


def spelled(values: Mapping[str, Any]) -> str:
    """Return settings as they are typed, but long lists by their ends: a grid may have a thousand candidates.

    >>> spelled({"rho": 0.1, "kernel": "rbf", "C": [1, 10], "gamma": [1, 2, 3, 4, 5]})
    'rho=0.1 kernel=rbf C=[1,10] gamma=[1…5]'
    """
    return " ".join(f"{name}={_spelled(value)}" for name, value in values.items())


def _spelled(value: Any) -> str:
    if isinstance(value, list) and len(value) > MAX_LISTED:
        return f"[{_spelled(value[0])}…{_spelled(value[-1])}]"
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
