"""One name for each method: the choice of a solver as it was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import polars as pl

from npbench.records.fields import METHOD

Setting = tuple[str, str, str]  # values of the columns METHOD


def with_methods(records: pl.DataFrame, method_of: Callable[[Setting, str | None], str]) -> pl.DataFrame:
    """Return the records with one ``method`` for each setting of a solver.

    ``method_of`` names a setting, given the method in its latest record: None in records that older versions wrote.
    """
    if "method" not in records.columns:
        records = records.with_columns(method=pl.lit(None, pl.String))
    distinct = records.select(*METHOD, "method").unique(keep="last", maintain_order=True)
    stored: dict[Any, str | None] = {}
    for *setting, method in distinct.iter_rows():
        stored[tuple(setting)] = method or stored.get(tuple(setting))
    found = {setting: method_of(setting, method) for setting, method in stored.items()}
    if all(found[tuple(setting)] == method for *setting, method in distinct.iter_rows()):
        return records  # the usual case; a million records are not copied
    types = {**{name: records.schema[name] for name in METHOD}, "method": pl.String()}
    table = pl.DataFrame([(*setting, method) for setting, method in found.items()], types, orient="row")
    joined = records.drop("method").join(table, on=METHOD, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(records.columns)


def typed_by(requests: Iterable[Any]) -> dict[Setting, str]:
    """Return the choices that requests were typed with, by setting."""
    asked = (request.columns() for request in requests)
    return {tuple(columns[name] for name in METHOD): columns["method"] for columns in asked}
