"""Why a planned job would run or be skipped, from past records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from npbench.evaluation.job import Job


def reason_of_same(record: Mapping[str, Any], trace: bool) -> str:
    """Return why a job with this record, under its own key, would run or be skipped."""
    if record["status"] != "ok":
        return f"failed before: {record['status']}: {record['error']}"
    return "no trace stored" if trace and record["trace"] is None else "done"


def reason_of_change(record: Mapping[str, Any], job: Job) -> str:
    """Return what changed since this record of the same setting under another key, joined by semicolons."""
    return "; ".join(changes(record, job))


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
