"""Rerun stored jobs in this environment, and compare every metric."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from npbench import session
from npbench.errors import RequestError
from npbench.evaluation.job import Job
from npbench.planning.forecast import changes
from npbench.planning.plan import Sources
from npbench.records.fields import ASKED, SCHEMA, Role, names
from npbench.records.reading import LABEL
from npbench_benchmark.board.stored_request import job_of
from npbench_benchmark.board.submission import SUBMITTED, rescored

# Besides the metrics; what depends on time or memory is not compared.
RESULT_COLUMNS = names(Role.ANSWER)
MACHINE = names(Role.MACHINE)
MAX_DIFFERENCE = 1e-9  # relative; sums in another order differ by less


@dataclass
class Verified:
    """A stored job and what rerunning it gave."""

    record: Mapping[str, Any]
    compared: int = 0  # number of answers
    differing: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # answers stored and here
    environment: list[str] = field(default_factory=list)  # what differs in data, code, versions, machine
    fault: str = ""  # why the job cannot be rerun

    @property
    def is_same(self) -> bool:
        """True if every answer agrees."""
        return not self.fault and not self.differing


def sample(records: pl.DataFrame, size: int, seed: int) -> list[dict[str, Any]]:
    """Return ``size`` of the good records, or all; the same ones for the same records and seed, in any order."""
    good = records.filter(status="ok").sort(ASKED)
    places = sorted(random.Random(seed).sample(range(len(good)), min(size, len(good))))
    return good[places].to_dicts()


def verify(records: Sequence[Mapping[str, Any]], scores: pl.DataFrame) -> Iterator[Verified]:
    """Rerun stored jobs and yield the comparison of each."""
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
    data = {job.data.data_sha256: sources.data(job.request) for _, job in jobs}
    ran = session.answers([job for _, job in jobs], data)
    for one, job in jobs:
        here = ran[job.key]
        _compare(one, here)
        one.environment += [
            f"{name} {one.record[name]} -> {here.get(name)}" for name in MACHINE if one.record[name] != here.get(name)
        ]
    yield from found


def _compare(one: Verified, here: Mapping[str, Any]) -> None:
    # A column that the record lacks is younger than it, or was left out when the record was published.
    compared = [*(name for name in RESULT_COLUMNS if one.record[name] is not None), *_metrics(one.record)]
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
        return math.isclose(stored, here, rel_tol=MAX_DIFFERENCE, abs_tol=MAX_DIFFERENCE)
    return bool(stored == here)
