"""Rerun stored jobs in this environment, and compare every metric."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from npbench.errors import RequestError
from npbench.evaluation.job import Job
from npbench.execution.context import Limits, RunContext
from npbench.execution.run import Executor
from npbench.planning.reasons import changes
from npbench.planning.sources import Sources
from npbench.records.fields import ASKED, SCHEMA, Role, names
from npbench.records.reading import LABEL
from npbench_benchmark.board.stored_request import job_of
from npbench_benchmark.board.submission import SUBMITTED, rescored

# Besides the metrics; what depends on time or memory is not compared.
RESULT_COLUMNS = names(Role.ANSWER)
MACHINE = names(Role.MACHINE)
TOLERANCE = 1e-9  # relative; sums in another order differ by less


@dataclass
class Verified:
    """A stored job and what rerunning it gave.

    Parameters
    ----------
    record : mapping
        The stored record.
    compared : int
        Number of answers compared.
    differing : mapping of str to (stored, here)
        Answers that differ.
    environment : list of str
        What differs between the environments: data, code, versions, machine.
    fault : str
        Why the job cannot be rerun; empty if it was.
    """

    record: Mapping[str, Any]
    compared: int = 0
    differing: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    environment: list[str] = field(default_factory=list)
    fault: str = ""

    @property
    def is_same(self) -> bool:
        """Whether every answer agrees."""
        return not self.fault and not self.differing


def sample(records: pl.DataFrame, size: int, seed: int) -> list[dict[str, Any]]:
    """Return ``size`` of the good records, or all; the same ones for the same records and seed, in any order."""
    good = records.filter(status="ok").sort(ASKED)
    places = sorted(random.Random(seed).sample(range(len(good)), min(size, len(good))))
    return good[places].to_dicts()


def verify(
    records: Sequence[Mapping[str, Any]], executor: Executor, facts: Mapping[str, Any], scores: pl.DataFrame
) -> Iterator[Verified]:
    """Rerun stored jobs and yield the comparison of each.

    Parameters
    ----------
    records : sequence of mapping
        Stored records with all columns.
    executor : callable
        Runs jobs (see :mod:`npbench.execution.run`).
    facts : mapping
        Facts of this machine (:func:`npbench.records.provenance.facts`).
    scores : DataFrame
        Stored test scores, from which submitted records are computed again.
    """
    sources, found = Sources(), [Verified(record) for record in records]
    jobs: list[tuple[Verified, Job]] = []
    for one in found:
        try:
            if one.record["distribution"] == SUBMITTED:
                _compare(one, rescored(one.record, scores, sources))
            else:
                job = job_of(one.record, sources)
                one.environment += changes(one.record, job)
                jobs.append((one, job))
        except RequestError as error:
            one.fault = str(error)
    ran = _ran([job for _, job in jobs], sources, executor, facts)
    for one, job in jobs:
        here = ran[job.key]
        _compare(one, here)
        one.environment += [
            f"{name} {one.record[name]} -> {here.get(name)}" for name in MACHINE if one.record[name] != here.get(name)
        ]
    yield from found


def _ran(
    jobs: Sequence[Job], sources: Sources, executor: Executor, facts: Mapping[str, Any]
) -> dict[str, Mapping[str, Any]]:
    if not jobs:
        return {}
    data = {(one := sources.data(job.request)).sha256: one for job in jobs}
    return {record.key: record for record in executor(jobs, Limits(), RunContext(data, dict(facts)))}


def _compare(one: Verified, here: Mapping[str, Any]) -> None:
    compared = [*RESULT_COLUMNS, *_metrics(one.record)]
    one.compared = len(compared)
    one.differing = {
        name: (one.record[name], here.get(name)) for name in compared if not equal(one.record[name], here.get(name))
    }
    if here.get("status") != "ok":
        one.fault = f"{here.get('status')} here: {here.get('error')}"


def _metrics(record: Mapping[str, Any]) -> list[str]:
    """Return all columns beyond the schema: reports read them whether or not the record lists them as its metrics."""
    return [name for name in record if name not in SCHEMA and name != LABEL]


def equal(stored: Any, here: Any) -> bool:
    """Return whether two answers agree; numbers up to rounding in another order.

    Examples
    --------
    >>> equal(0.3, 0.1 + 0.2), equal(0.3, 0.31), equal(None, float("nan")), equal("[1]", "[1]")
    (True, False, True, True)
    """
    stored, here = (None if isinstance(v, float) and math.isnan(v) else v for v in (stored, here))
    if isinstance(stored, float) and isinstance(here, (int, float)):
        return math.isclose(stored, here, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(stored == here)
