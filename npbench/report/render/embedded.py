"""Records as a page holds them: by column, texts and repeated numbers as codes of their values, compressed."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from npbench.records.schema import SCHEMA
from npbench.report.select.labels import PARTS

# Long, of use to programs only, or shown elsewhere on the page.
LEFT_OUT = {"schema_version", "metrics", "code", "versions", "trace", "roc", "traceback"}
JSON_TEXTS = {*PARTS, "problem_params", "chosen_params"}
HASHES = {"key", "code_sha256", "data_sha256", "split_sha256", "git_commit"}
HASH_DIGITS = 12
SECONDS = len("2026-01-01T00:00:00")  # of a time, without its parts
DIGITS = 6  # of a number; the records themselves have all
REPEATED = 4  # Values that are met this often on average are written once.
FIRST = ("label", "dataset", "problem", "problem_params", "repeat", "status")
LAST = ("seconds", "converged")
MOST_METRICS = 6  # that are shown before anyone asks for more


def packed(value: Any) -> str:
    """Return a value as JSON, deflated (zlib), in base64.

    Examples
    --------
    >>> json.loads(zlib.decompress(base64.b64decode(packed({"p_fa": [0.25, None]}))))
    {'p_fa': [0.25, None]}
    """
    return deflated(json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False))


def deflated(text: str) -> str:
    """Return a text in UTF-8, deflated (zlib), in base64."""
    return base64.b64encode(zlib.compress(text.encode())).decode("ascii")


def table(records: pl.DataFrame) -> dict[str, Any]:
    """Return the records as the page's table reads them.

    Parameters
    ----------
    records : DataFrame
        With the columns of the schema, and any others.

    Returns
    -------
    dict
        ``length``, the number of records, and ``columns``: for each that is not all null its ``name``, its ``kind``
        (text, number or flag), whether it is ``shown`` at first, its ``values``, and unless these are one for each
        record, their place for each record as ``codes``, -1 for null; infinite numbers are texts.
    """
    shown = _shown(records)
    columns = [_column(records[name], name in shown) for name in _ordered(records, shown)]
    return {"length": len(records), "columns": columns}


def _ordered(records: pl.DataFrame, shown: list[str]) -> Iterator[str]:
    """Yield the names of the columns: those that are shown first, then as they come."""
    for name in dict.fromkeys([*shown, *records.columns]):
        if name not in LEFT_OUT and records[name].null_count() < len(records):
            yield name


def _shown(records: pl.DataFrame) -> list[str]:
    metrics = [
        name
        for name in records.columns
        if name not in {*SCHEMA, *FIRST, *LAST}
        and not name.endswith(("_low", "_high"))
        and records[name].dtype.is_float()
    ]
    asked = {number for text in records["problem_params"].unique().drop_nulls() for number in json.loads(text)}
    measured = [name for name in metrics if name not in asked][:MOST_METRICS]
    return [name for name in (*FIRST, *measured, *LAST) if name in records.columns]


def _column(series: pl.Series, shown: bool) -> dict[str, Any]:
    about = {"name": series.name, "kind": _kind(series.dtype), "shown": shown}
    plain = _plain(series)
    values = plain.drop_nulls().unique().sort()
    if len(values) * REPEATED > len(series) > 1:
        return {**about, "values": _portable(plain)}
    places = pl.DataFrame({"value": values, "code": range(len(values))})
    codes = plain.to_frame("value").join(places, on="value", how="left", maintain_order="left")["code"]
    return {**about, "values": _portable(values), "codes": codes.fill_null(-1).to_list()}


def _kind(dtype: pl.DataType) -> str:
    if dtype == pl.Boolean:
        return "flag"
    return "number" if dtype.is_numeric() else "text"


def _plain(series: pl.Series) -> pl.Series:
    """Return the column as it is read by people: short hashes, settings as on the command line, few digits."""
    if series.dtype.is_float():
        return series.fill_nan(None).round_sig_figs(DIGITS)
    if series.name in HASHES:
        return series.str.head(HASH_DIGITS)
    if series.name == "stored_at":
        return series.str.head(SECONDS)
    if series.name in JSON_TEXTS:
        texts = series.drop_nulls().unique().to_list()
        return series.replace_strict(texts, [_spelled(json.loads(text)) for text in texts], default=None)
    return series if series.dtype.is_numeric() or series.dtype == pl.Boolean else series.cast(pl.String)


def _spelled(values: Mapping[str, Any]) -> str:
    """Return settings as they are typed.

    Examples
    --------
    >>> _spelled({"rho": 0.1, "kernel": "rbf", "C": [1, 10]})
    'rho=0.1 kernel=rbf C=[1,10]'
    """
    return " ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value, separators=(',', ':'))}"
        for name, value in values.items()
    )


def _portable(values: pl.Series) -> list[Any]:
    """Return the values as JSON has them, which knows no infinity."""
    found = values.to_list()
    if values.dtype.is_float() and values.is_infinite().any():
        return [str(value) if value is not None and math.isinf(value) else value for value in found]
    return found
