"""Filters of records, in the syntax of a run's command line: ``solver=np_svm,gen problem.rho=0.1``."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import polars as pl

from npbench.errors import RequestError, unknown_name
from npbench.records.fields import ASKED, PREFIXES
from npbench.report.select.methods import flat
from npbench.values import canonical, listed

# Prefixes of settings and the JSON columns that hold them, the longest first.
JSON_COLUMNS = {PREFIXES[column]: column for column in sorted(PREFIXES, key=lambda column: -len(PREFIXES[column]))}
SOURCE = "data_source"  # of data that users bring: the data set that reads them
# solver=NAME finds a variant by its own name and by its solver's, and dataset=NAME data of users by both names.
SYNONYMS = {"solver": ("solver", "method"), "dataset": ("dataset", SOURCE)}
COMMA = re.compile(r",(?![^\[{]*[\]}])")  # not inside a list or a mapping
MAX_LISTED = 12


def filtered(records: pl.DataFrame, filters: Mapping[str, str], *, is_strict: bool = True) -> pl.DataFrame:
    """Return the records that match every filter: one value, or several with commas, by name of a setting or column.

    Raise a RequestError that lists the choices if there is no such name, no record matches or, if ``is_strict``, no
    record has one of the values, whatever its other settings.
    """
    every = records
    for name, text in filters.items():
        columns = [values for one in SYNONYMS.get(name, (name,)) if (values := _values(records, one)) is not None]
        if not columns:
            raise RequestError(unknown_name("filter", name, dict.fromkeys(_names(records, name))))
        wanted = list(_wanted(text))
        kept = records.filter(pl.any_horizontal(values.is_in(wanted) for values in columns))
        absent = [text] if kept.is_empty() else []
        if is_strict and not absent and len(parts := COMMA.split(text)) > 1:
            stored = (_values(every, one) for one in SYNONYMS.get(name, (name,)))
            known = {value for values in stored if values is not None for value in values.unique()}
            absent = [part for part in parts if known.isdisjoint(_wanted(part))]
        if absent:
            found = [value.strip('"') for value in pl.concat(columns).drop_nulls().unique().sort()]
            what = ",".join(absent)
            raise RequestError(f"No record has {name}={what}: expected one of {listed(found, MAX_LISTED)}.")
        records = kept
    return records


def _values(records: pl.DataFrame, name: str) -> pl.Series | None:
    """Return a setting of each record as JSON, null for a record without it; None if no record has it."""
    if name in records.columns:
        return _mapped(records[name], {value: canonical(value) for value in records[name].unique()})
    for start, column in JSON_COLUMNS.items():
        key = name.removeprefix(start)
        if key != name and column in records.columns:
            settings = {text: flat(json.loads(text)) for text in records[column].drop_nulls().unique()}
            if found := {text: canonical(values[key]) for text, values in settings.items() if key in values}:
                return _mapped(records[column], found)
    return None


def _mapped(column: pl.Series, texts: Mapping[Any, str]) -> pl.Series:
    return column.replace_strict(list(texts), list(texts.values()), default=None, return_dtype=pl.String)


def _wanted(text: str) -> Iterator[str]:
    """Yield the wanted values as JSON; a number may also be meant as a name."""
    for part in COMMA.split(text):
        yield canonical(part)
        for read in (json.loads, float):  # .5 is a number to users, but not to JSON
            with suppress(ValueError):
                yield canonical(read(part))


def _names(records: pl.DataFrame, asked: str) -> Iterator[str]:
    """Yield the names of settings with the same prefix as the given name, or without a prefix."""
    yield from (name for name in (*ASKED, "status", "label") if not name.endswith("params"))
    for start, column in JSON_COLUMNS.items():
        if asked.startswith(start):
            for text in records[column].drop_nulls().unique().sort():
                yield from (start + name for name in flat(json.loads(text)))
