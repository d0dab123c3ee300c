"""Labels: the method as typed, the settings that differ from it, and those that distinguish it in a report."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

import polars as pl

from npbench.records.fields import METHOD, PREFIXES, Role, names
from npbench.report.select.methods import flat, named, own_settings
from npbench.values import canonical

QUOTE = '"'
DISTINGUISHING = names(Role.LABEL)  # in order of preference


def labels(records: pl.DataFrame) -> pl.Series:
    """Return ``label`` of each record: its method, and the settings that differ from the choice or distinguish it.

    Records of one data set and problem with the same label are repeats of each other. Grids, parameters of data and
    protocol, and preprocessing appear only if the fixed parameters are the same.

    >>> same = {"solver": "mine", "dataset": "pima", "search": "{}", "dataset_params": "{}", "preprocess": "none"}
    >>> same |= {"missing": "refuse", "categories": "one_hot"}
    >>> protocols = ['{"folds":4}', '{"folds":4}', '{"folds":5}']
    >>> records = pl.DataFrame({"params": ['{"C":1}', '{"C":2}', '{"C":2}'], "protocol_params": protocols, **same})
    >>> labels(records).to_list()
    ['mine C=1', 'mine C=2 protocol.folds=4', 'mine C=2 protocol.folds=5']
    """
    return _each_distinct(named(records), ["method", "solver", "dataset", *DISTINGUISHING])


def method_labels(records: pl.DataFrame) -> pl.Series:
    """Return ``label`` of each record: that of its method among the methods of all data sets, whatever it ran on."""
    return _each_distinct(named(records).with_columns(dataset=pl.lit("")), ["method", "dataset", *METHOD])


def _each_distinct(records: pl.DataFrame, about: Sequence[str]) -> pl.Series:
    distinct = records.select(about).unique(maintain_order=True)  # there are far fewer settings than records
    labelled = distinct.with_columns(label=pl.Series(_labels(distinct), dtype=pl.String))
    return records.select(about).join(labelled, on=about, how="left", maintain_order="left", nulls_equal=True)["label"]


def _labels(records: pl.DataFrame) -> list[str]:
    own = [own_settings(*row) for row in records.select("method", "solver", "params").iter_rows()]
    found = records["method"].to_list()
    for part in (part for part in DISTINGUISHING if part in records.columns):
        settings = [_settings(part, text) for text in records[part]]
        places = list(zip(found, records["dataset"], strict=True))
        alike: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
        for place, row in zip(places, settings, strict=True):
            alike[place].append(row)
        differing = {
            place: {name for name in set().union(*rows) if len({row.get(name) for row in rows}) > 1}
            for place, rows in alike.items()
        }
        # Parameters that equal those of a known choice distinguish nothing, whether a record states them or not.
        known = own if part == "params" else [None] * len(own)
        shown = [differing[place] if mine is None else mine for mine, place in zip(known, places, strict=True)]
        found = [
            " ".join([place[0], *(f"{name}={text.strip(QUOTE)}" for name, text in row.items() if name in chosen)])
            for place, row, chosen in zip(places, settings, shown, strict=True)
        ]
    return found


@lru_cache(maxsize=10_000)  # many settings share a text
def _settings(part: str, text: str) -> Mapping[str, str]:
    values = json.loads(text) if part in PREFIXES else {part: text}
    values = flat(values) if part == "params" else values
    prefix = PREFIXES.get(part, "").removeprefix("solver.")
    return {prefix + name: canonical(value) for name, value in values.items()}
