"""Settings of records in words, for notes that stay right after an override."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from npbench.report.select.methods import flat, named


def notes(records: pl.DataFrame) -> list[str]:
    """Return sentences on repeats, protocols, preprocessing and searched values of these records."""
    if records.is_empty():
        return []
    records = named(records)
    repeats = records.group_by("dataset", "method").agg(pl.col("repeat").n_unique())["repeat"]
    facts = {
        "repeats": " to ".join(dict.fromkeys(map(str, (repeats.min(), repeats.max())))),
        "protocol": " or ".join(_datasets_by_protocol(records)),
        "preprocess": " or ".join(dict.fromkeys(records["preprocess"])),
    }
    as_run = f"As run: {'; '.join(f'{name}: {text}' for name, text in facts.items())}."
    searched = "; ".join(_searched(records))
    return [as_run, *([f"Searched: {searched}."] if searched else [])]


def _searched(records: pl.DataFrame) -> Iterator[str]:
    """Yield for each method with a search the number of values of each parameter."""
    for (method,), same in records.group_by("method", maintain_order=True):
        grids = dict.fromkeys(_grid(json.loads(text)) for text in same["search"].unique(maintain_order=True))
        if found := " or ".join(filter(None, grids)):
            yield f"{method}: {found}"


def _grid(search: Mapping[str, Any]) -> str:
    return " x ".join(_candidates(name, values) for name, values in search.items() if isinstance(values, list))


def _candidates(name: str, values: list[Any]) -> str:
    """Return the number of values; of a mapping, with the parts that differ."""
    parts = [part.rpartition(".")[2] for part, found in flat({name: values}).items() if isinstance(found, list)]
    return f"{len(values)} combinations of {', '.join(parts)}" if len(parts) > 1 else f"{len(values)} {parts[0]}"


def _protocol_text(protocol: str, params: str) -> str:
    """Return a protocol in words, as in ``cv folds=4 test_size=0.5``."""
    given = {name: value for name, value in json.loads(params).items() if name != "name" and value is not None}
    shown = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in given.items()}
    return " ".join([protocol, *(f"{name}={value}" for name, value in shown.items())])


def protocol_texts(records: pl.DataFrame) -> pl.Series:
    """Return the protocol of each record in words."""
    distinct = records.select("protocol", "protocol_params").unique()
    texts = pl.Series("text", [_protocol_text(*row) for row in distinct.rows()], dtype=pl.String)
    return records.join(distinct.hstack([texts]), on=distinct.columns, how="left", maintain_order="left")["text"]


def _datasets_by_protocol(records: pl.DataFrame) -> dict[str, list[str]]:
    distinct = records.select("dataset", text=protocol_texts(records)).unique(maintain_order=True)
    return dict(distinct.group_by("text", maintain_order=True).agg("dataset").iter_rows())


def protocols(records: pl.DataFrame) -> str:
    """Return a sentence that says which protocol each data set has."""
    found = _datasets_by_protocol(records)
    if len(found) == 1:
        return f"Protocol: {next(iter(found))}."
    listed = [f"{text} ({', '.join(datasets)})" for text, datasets in found.items()]
    return f"Protocols differ: {'; '.join(listed)}."
