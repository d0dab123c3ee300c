"""Why a planned job would run or be skipped, and how long it would take, from past records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from npbench.evaluation.job import Job


def explain(job: Job, frame: pl.DataFrame, trace: bool = False) -> str:
    """Return why a job would run or be skipped, by the latest of the records ``frame`` with the same setting.

    That is "done", "new", "failed before: ...", "no trace stored" (where ``trace`` requires one), or what changed
    since, joined by semicolons: "the data changed", "the code of npbench_np_svm changed", "numpy 2.3.1 -> 2.4.6".
    """
    same = frame.filter(key=job.key)
    if len(same):
        record = same.row(-1, named=True)
        if record["status"] != "ok":
            return f"failed before: {record['status']}: {record['error']}"
        return "no trace stored" if trace and record["trace"] is None else "done"
    similar = frame.filter(**job.setting)
    return "; ".join(changes(similar.row(-1, named=True), job)) if len(similar) else "new"


def changes(record: Mapping[str, Any], job: Job) -> list[str]:
    """Return what differs between a record and a job of the same setting: data, code, versions, metrics."""
    now = job.columns
    found = ["the data changed"] if record["data_sha256"] != job.data.data_sha256 else []
    found += [f"the code of {package} changed" for package, *_ in _differences(record["code"], job.code)]
    found += [f"{name} {before} -> {after}" for name, before, after in _differences(record["versions"], job.versions)]
    found += ["other metrics requested"] if record["metrics"] != now["metrics"] else []
    if not found and record["distribution"] != job.distribution:
        found = [f"{record['distribution']} no longer ships the solver: {job.distribution} does"]
    return found


def _differences(before: str, now: Mapping[str, str]) -> list[tuple[str, str, str]]:
    then = json.loads(before)
    pairs = [(name, then.get(name, "absent"), now.get(name, "absent")) for name in sorted({*then, *now})]
    return [pair for pair in pairs if pair[1] != pair[2]]


def estimate(job: Job, frame: pl.DataFrame) -> float | None:
    """Return the median seconds of past jobs of the same solver on data of the same name and size; None without any."""
    past = frame.filter(
        status="ok", solver=job.request.solver.name, dataset=job.request.dataset.name, n_samples=job.data.n_samples
    )
    median = past["seconds"].median()
    return float(median) if isinstance(median, (int, float)) else None
