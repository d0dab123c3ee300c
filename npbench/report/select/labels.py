"""Labels: the shortest text that distinguishes the settings of a report."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from npbench.records.fields import FEATURES, PREFIXES, Role, names
from npbench.values import canonical

QUOTE = '"'
IMPORT_PATH = re.compile(r"[a-z_]\w*(\.\w+)*\.[A-Z]\w*")  # of a class

# Columns that distinguish settings of a solver, in order of preference, with their command-line prefixes.
PARTS = {name: PREFIXES[name].removeprefix("solver.") for name in names(Role.LABEL) if name in PREFIXES}


def labels(records: pl.DataFrame) -> list[str]:
    """Return for each record its solver, the class inside it if any, and the parameters that distinguish its settings.

    Records of one data set and problem with the same label are repeats of each other. Grids, parameters of data and
    protocol, and preprocessing appear only if the fixed parameters are the same.

    Examples
    --------
    >>> same = {"solver": "gen", "dataset": "pima", "search": "{}", "dataset_params": "{}", "preprocess": "none"}
    >>> same |= {"missing": "refuse", "categories": "one_hot"}
    >>> protocols = ['{"folds":4}', '{"folds":4}', '{"folds":5}']
    >>> records = pl.DataFrame({"params": ['{"C":1}', '{"C":2}', '{"C":2}'], "protocol_params": protocols, **same})
    >>> labels(records)
    ['gen C=1', 'gen C=2 protocol.folds=4', 'gen C=2 protocol.folds=5']
    """
    about = ["solver", "dataset", *PARTS, *FEATURES]
    distinct = records.select(about).unique(maintain_order=True)  # there are far fewer settings than records
    labelled = distinct.with_columns(label=pl.Series(_labels(distinct), dtype=pl.String))
    return (
        records.select(about)
        .join(labelled, on=about, how="left", maintain_order="left", nulls_equal=True)["label"]
        .to_list()
    )


def _labels(records: pl.DataFrame) -> list[str]:
    found = [" ".join([solver, *classes(params)]) for solver, params in records.select("solver", "params").iter_rows()]
    for part in (*PARTS, *FEATURES):
        settings = [_settings(part, text) for text in records[part]]
        places = list(zip(found, records["dataset"], strict=True))
        alike: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
        for place, row in zip(places, settings, strict=True):
            alike[place].append(row)
        differing = {place: list(_differing(rows)) for place, rows in alike.items()}
        found = [
            " ".join([place[0], *(f"{name}={row[name].strip(QUOTE)}" for name in differing[place] if name in row)])
            for place, row in zip(places, settings, strict=True)
        ]
    return found


def class_named(value: Any) -> str:
    """Return the name of the class in an import path; an empty text for any other value.

    Examples
    --------
    >>> class_named("sklearn.ensemble.RandomForestClassifier"), class_named("rbf")
    ('RandomForest', '')
    """
    is_path = isinstance(value, str) and IMPORT_PATH.fullmatch(value)
    return value.rpartition(".")[2].removesuffix("Classifier") if is_path else ""


def classes(params: str) -> Iterator[str]:
    """Yield the names of classes among parameters, and of a solver as ``estimator``; others distinguish their settings.

    Examples
    --------
    >>> list(classes('{"estimator":"np_svm","threshold":"empirical"}')), list(classes('{"estimator":null}'))
    (['np_svm'], [])
    """
    for name, value in json.loads(params).items():
        yield from filter(None, [class_named(value) or (name == "estimator" and value)])


def _settings(part: str, text: str) -> dict[str, str]:
    values = json.loads(text) if part in PARTS else {part: text}
    return {PARTS.get(part, "") + name: canonical(value) for name, value in values.items()}


def _differing(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    names = dict.fromkeys(name for row in rows for name in row)
    yield from (name for name in names if len({row.get(name) for row in rows}) > 1)


def flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten parameters that are mappings, as in ``params.C``; a grid of mappings gives the values of each part.

    Examples
    --------
    >>> flat({"C": 1, "params": [{"depth": 2, "rate": 0.1}, {"depth": 4, "rate": 0.1}]})
    {'C': 1, 'params.depth': [2, 4], 'params.rate': 0.1}
    """
    flat: dict[str, Any] = {}
    for name, value in values.items():
        mappings = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]
        if not mappings:
            flat[name] = value
        for part in dict.fromkeys(part for one in mappings for part in one):
            distinct = list({repr(one.get(part)): one.get(part) for one in mappings}.values())
            flat[f"{name}.{part}"] = distinct if len(distinct) > 1 else distinct[0]
    return flat
