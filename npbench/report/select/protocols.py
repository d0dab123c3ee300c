"""Protocols in words, and which data sets have which."""

from __future__ import annotations

import json

import polars as pl


def protocol_text(protocol: str, params: str) -> str:
    """Return a protocol in words.

    Examples
    --------
    >>> protocol_text("cv", '{"folds":4,"name":"cv","test_size":0.5}')
    'cv folds=4 test_size=0.5'
    """
    return " ".join([protocol, *(f"{k}={v}" for k, v in json.loads(params).items() if k != "name" and v is not None)])


def protocols(records: pl.DataFrame) -> str:
    """Return a sentence that says which protocol each data set has.

    Examples
    --------
    >>> cv, holdout = '{"folds":4,"name":"cv"}', '{"name":"holdout"}'
    >>> records = pl.DataFrame({"dataset": ["pima", "magic"], "protocol": ["cv", "holdout"]})
    >>> protocols(records.with_columns(protocol_params=pl.Series([cv, holdout])))
    'Protocols differ: cv folds=4 (pima); holdout (magic).'
    """
    distinct = records.select("protocol", "protocol_params", "dataset").unique(maintain_order=True)
    users: dict[str, list[str]] = {}
    for protocol, params, dataset in distinct.iter_rows():
        users.setdefault(protocol_text(protocol, params), []).append(dataset)
    if len(users) == 1:
        return f"Protocol: {next(iter(users))}."
    listed = [f"{text} ({', '.join(names)})" for text, names in users.items()]
    return f"Protocols differ: {'; '.join(listed)}."
