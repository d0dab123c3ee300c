"""Records for tests of reports and tables: the fields of every record, and rows of a sheet by header."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from npbench.records.reading import conformed
from npbench.report.sheet import Sheet

PROTOCOL = '{"folds":4,"name":"cv","test_size":0.25}'


def record(**columns: Any) -> dict[str, Any]:
    """Return the record of a job that is ok, with other or further columns; parameters may be dictionaries."""
    columns = {k: json.dumps(v, separators=(",", ":")) if isinstance(v, dict) else v for k, v in columns.items()}
    return {
        **{"key": "k", "status": "ok", "stored_at": "2026-01-01T00:00:00Z"},
        **{"solver": "gen", "method": columns.get("solver", "gen"), "params": "{}", "search": "{}"},
        **{"dataset": "pima", "dataset_params": "{}", "data_sha256": "d" * 64},
        **{"problem": "np", "problem_params": '{"rho":0.1}', "protocol": "cv", "protocol_params": PROTOCOL},
        **{"preprocess": "none", "missing": "refuse", "categories": "one_hot", "seed": 0, "repeat": 0},
        **{"select_seconds": 1.0, "select_cpu_seconds": columns.get("select_seconds", 1.0)},
        **{"fit_seconds": 0.5, "fit_cpu_seconds": columns.get("fit_seconds", 0.5)},
        **{"warnings": "", "cpu": "a", "n_jobs": 1, "n_threads": 1, **columns},
    }


def frame(records: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """Return records as a data frame whose types follow from all of them."""
    return pl.DataFrame(list(records), infer_schema_length=None)


def stored(*records: dict[str, Any], place: str | Path = "results", name: str = "a.parquet") -> Path:
    """Write records to a file of a results folder, and return the folder."""
    path = Path(place, "records", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    conformed(frame(records)).write_parquet(path)
    return Path(place)


def cells(sheet: Sheet) -> list[dict[str, str]]:
    """Return the rows of a sheet by header."""
    return [dict(zip(sheet.columns, row, strict=True)) for row in sheet.texts]
