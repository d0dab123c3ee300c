"""Names of data sets that users bring: as given, or of what they are read from."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import polars as pl

from npbench.contracts import GIVEN_NAME
from npbench.registry import installed
from npbench.values import canonical

PAIR = ["dataset", "dataset_params"]


def with_data_names(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records with a ``dataset`` of its own for each data set that a user brought."""
    if not (names := dict(_distinct(records.select(PAIR).unique(maintain_order=True)))):
        return records
    table = pl.DataFrame([(*pair, name) for pair, name in names.items()], [*PAIR, "own_name"], orient="row")
    joined = records.join(table, on=PAIR, how="left", maintain_order="left")
    return joined.with_columns(dataset=pl.coalesce("own_name", "dataset")).drop("own_name")


def data_name(dataset: str, params: Mapping[str, Any]) -> str:
    """Return the name of a data set with some settings: as given, else of its file or number, else its own.

    >>> data_name("file", {"path": "old/heart.csv"}), data_name("openml", {"id": 31, "called": "credit"})
    ('heart.csv', 'credit')
    """
    described = installed().datasets.get(dataset)
    value = params.get(described.named_by) if described else None
    if value is None:
        return dataset
    named = PurePath(value).name if isinstance(value, str) else f"{dataset} {value}"
    return str(params.get(GIVEN_NAME) or named)


def _distinct(pairs: pl.DataFrame) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each pair with a name of its own; of those with the same, the settings that differ follow the name."""
    params = {pair: json.loads(pair[1]) for pair in pairs.drop_nulls().rows()}
    names = {pair: name for pair, values in params.items() if (name := data_name(pair[0], values)) != pair[0]}
    shared = {name for name, times in Counter(names.values()).items() if times > 1}
    for pair, name in names.items():
        alike = [values for other, values in params.items() if names.get(other) == name]
        differing = {key for one in alike for key in one if len({canonical(other.get(key)) for other in alike}) > 1}
        settings = [f"{key}={params[pair].get(key)}" for key in params[pair] if key in differing - {GIVEN_NAME}]
        yield pair, " ".join([name, *settings]) if name in shared else name
