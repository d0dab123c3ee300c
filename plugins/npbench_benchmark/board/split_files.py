"""Splits as files, for methods that npbench cannot run.

A folder has :data:`SPLITS`, with what was requested and the hash of every split, and a Parquet file for each data set:
``repeat``, ``row`` (from 0, in the order of the data), ``part`` (train, validation, test) and ``fold``, the fold that
validates on the row. A fold is fitted on the train and validation rows that it does not validate on.
"""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from npbench.data import BinaryData
from npbench.errors import RequestError, collect_errors
from npbench.evaluation.job import Request
from npbench.evaluation.splits import Split
from npbench.planning.plan import Sources
from npbench.records.fields import TASK, Role, names

SPLITS = "splits.json"
FORMAT = "npbench splits 1"  # of npbench_benchmark/formats/splits-1.json


def write_splits(requests: Sequence[Request], words: Sequence[str], folder: Path, with_data: bool = False) -> int:
    """Write the splits of requests, and return the number of data sets."""
    sources = Sources()
    tasks = list({repr(_asked(request)): request for request in requests}.values())
    by_dataset: dict[str, list[Request]] = {}
    for request in tasks:
        by_dataset.setdefault(request.dataset.name, []).append(request)
    collect_errors([partial(_require_one_split, same) for same in by_dataset.values()])
    described = []
    folder.mkdir(parents=True, exist_ok=True)
    for name, same in by_dataset.items():
        data, repeats = sources.data(same[0]), max(request.repeats for request in same)
        splits = [same[0].protocol.split(data, same[0].seed, repeat) for repeat in range(repeats)]
        parts = pl.concat([_parts(split, repeat) for repeat, split in enumerate(splits)])
        parts.write_parquet(folder / f"{name}.parquet")
        if with_data:
            (folder / "data").mkdir(exist_ok=True)
            _table(data).write_parquet(folder / "data" / f"{name}.parquet")
        hashes = {"data_sha256": data.sha256, "split_sha256": [split.sha256 for split in splits]}
        described += [{**_asked(request), "repeats": request.repeats, **hashes} for request in same]
    text = json.dumps({"format": FORMAT, "words": list(words), "tasks": described}, indent=1)
    (folder / SPLITS).write_text(text, encoding="utf-8")
    return len(by_dataset)


def _asked(request: Request) -> dict[str, Any]:
    return {name: value for name, value in request.columns.items() if name in (*TASK, "metrics")}


def _require_one_split(requests: Sequence[Request]) -> None:
    name = requests[0].dataset.name
    for what in names(Role.ROWS):
        if len({str(request.columns[what]) for request in requests}) > 1:
            raise RequestError(f"dataset {name!r} has several values of {what}: write each of them to its own folder")
    if requests[0].features["missing"] == "drop":
        raise RequestError(f"dataset {name!r}: missing=drop renumbers the rows: use missing=impute or missing=refuse")


def _parts(split: Split, repeat: int) -> pl.DataFrame:
    n_rows = 1 + max(int(rows.max()) for rows in (split.train, split.test, *(rows for _, rows in split.folds)))
    part = np.full(n_rows, "", dtype=object)
    fold = np.full(n_rows, -1)
    for number, (_, validate) in enumerate(split.folds):
        part[validate], fold[validate] = "validation", number
    part[split.train], part[split.test] = "train", "test"
    rows = np.flatnonzero(part != "")
    frame = pl.DataFrame({"row": rows, "part": part[rows].tolist(), "fold": fold[rows]})
    validated = pl.when(pl.col("fold") >= 0).then("fold").alias("fold")
    return frame.select(pl.lit(repeat, pl.Int64).alias("repeat"), "row", "part", validated)


def _table(data: BinaryData) -> pl.DataFrame:
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    columns = {f"x{number}": np.ascontiguousarray(X[:, number]) for number in range(X.shape[1])}
    return pl.DataFrame({"row": np.arange(len(data.y)), "y": data.y, **columns})
