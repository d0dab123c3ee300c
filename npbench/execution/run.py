"""Run the jobs of a plan: one loop that receives records, stores each, and tells observers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from npbench.errors import RequestError
from npbench.execution.context import Executor, JobStream, Limits, RunContext
from npbench.records.files import Owner, atomic_write, dead_owners
from npbench.records.record import Record
from npbench.records.store import RecordStore


def run_jobs(
    jobs: JobStream,
    store: RecordStore,
    executor: Executor,
    limits: Limits,
    context: RunContext,
    on_record: Callable[[Record], None] = lambda record: None,
) -> Counter[str]:
    """Run jobs, store one record for each as it ends, and return the number of jobs by status.

    Memory does not grow with the number of jobs. ``on_record`` is called with each record after it is stored.
    """
    counts: Counter[str] = Counter()
    if len(jobs):
        with closing(store), closing(executor(jobs, limits, context)) as records:  # type: ignore[type-var]
            for record in records:
                store.append(record)
                counts[record.status] += 1
                on_record(record)
    return counts


def write_description(folder: Path, description: Mapping[str, Any]) -> None:
    """Write what was asked and where to ``<run id>.json``; records have the same run id."""
    text = json.dumps(description, indent=2)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{description['run_id']}.json"
        with closing(Owner(folder)) as owner, dead_owners(folder), atomic_write(path, owner.name) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise RequestError(
            f"cannot write the description of the run to {folder} ({error.strerror or error}): free some space, or "
            "name another folder with results=..."
        ) from error
