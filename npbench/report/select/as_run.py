"""Settings of records in words, for the notes of an experiment: never wrong after an override."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from npbench.report.sheet import number


def notes(records: pl.DataFrame) -> list[str]:
    """Return sentences on repeats, protocols, preprocessing and searched values of these records.

    Examples
    --------
    >>> about = {"method": "gen", "repeat": 0, "protocol": "cv", "protocol_params": '{"name":"cv","test_size":0.5}'}
    >>> notes(pl.DataFrame([{**about, "dataset": "pima", "preprocess": "none", "search": '{"gamma":[0.1,1]}'}]))
    ['As run: repeats: 1; protocol: cv (test_size 0.5); preprocess: none.', 'Searched: gen: 2 gamma.']
    """
    if records.is_empty():
        return []
    protocols = [
        f"{name}{_listed(json.loads(text))}" for name, text in records.select("protocol", "protocol_params").rows()
    ]
    facts = {
        "repeats": _range(records.group_by("dataset", "method").agg(pl.col("repeat").n_unique())["repeat"]),
        "protocol": " or ".join(dict.fromkeys(protocols)),
        "preprocess": " or ".join(dict.fromkeys(records["preprocess"])),
    }
    as_run = f"As run: {'; '.join(f'{name}: {text}' for name, text in facts.items())}."
    searched = "; ".join(_searched(records))
    return [as_run, *([f"Searched: {searched}."] if searched else [])]


def _range(values: pl.Series) -> str:
    low, *_, high = sorted([*values, *values])
    return f"{low}" if low == high else f"{low} to {high}"


def _listed(params: Mapping[str, Any]) -> str:
    named = [
        f"{name} {number(value, '.4g') if isinstance(value, float) else value}"
        for name, value in params.items()
        if name != "name" and value is not None
    ]
    return f" ({', '.join(named)})" if named else ""


def _searched(records: pl.DataFrame) -> Iterator[str]:
    """Yield for each solver with a search the number of values of each parameter."""
    for (method,), same in records.group_by("method", maintain_order=True):
        grids = dict.fromkeys(_grid(json.loads(text)) for text in same["search"].unique(maintain_order=True))
        if found := " or ".join(filter(None, grids)):
            yield f"{method}: {found}"


def _grid(search: Mapping[str, Any]) -> str:
    return " x ".join(f"{len(values)} {name}" for name, values in search.items() if isinstance(values, list))
