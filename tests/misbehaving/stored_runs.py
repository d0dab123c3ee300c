"""Jobs of the solver that misbehaves, run by an executor and stored."""

from __future__ import annotations

from collections import Counter

import pytest
from misbehaving_jobs import gaussians

from npbench.execution.run import Limits, RunContext, store_each
from npbench.records.store import RecordStore


@pytest.fixture(scope="session")
def data():
    return gaussians()


@pytest.fixture
def stored(data, tmp_path):
    """Return a function that runs jobs: the number of jobs by status, and the one record of each by key."""

    def run(executor, planned, folder="records", *, data=data, on_record=lambda record: None, **limits):
        store, seen = RecordStore(tmp_path / folder), Counter()

        def note(record):
            seen[record.key] += 1
            on_record(record)

        context = RunContext({data.sha256: data}, {"run_id": "r"})
        store_each(store, executor(planned, Limits(**{"n_jobs": 2, **limits}), context), note)
        records = {record["key"]: record for record in store.frame().to_dicts()}
        assert seen == Counter(job.key for job in planned)
        assert records.keys() == seen.keys()
        return Counter(record["status"] for record in records.values()), records

    return run
