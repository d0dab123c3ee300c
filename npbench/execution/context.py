"""What every executor needs: limits of the jobs, and what the jobs of one run share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from npbench.data import BinaryData
from npbench.evaluation.job import Job
from npbench.records.provenance import available_cores
from npbench.records.record import Primitive, Record


class JobStream(Protocol):
    """Jobs that are counted before they are drawn, at most that many."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Job]: ...


@dataclass(frozen=True)
class Limits:
    """Workers, and what each job may use."""

    n_jobs: int = -1  # worker processes; -1 for one per core
    seconds: float | None = None  # time of a job without compilation, after which it is killed
    memory_mb: float | None = None  # of 10^6 bytes; by default the worker's share of the machine; enforced on Linux

    def workers(self, n_tasks: int) -> int:
        """Return the number of workers, never more than there are tasks."""
        return min(available_cores() if self.n_jobs == -1 else self.n_jobs, n_tasks)


@dataclass(frozen=True)
class RunContext:
    """What the jobs of one run share."""

    data: Mapping[str, BinaryData]  # by content hash
    facts: Mapping[str, Primitive] = field(default_factory=dict)  # of the run and the machine, part of every record
    trace: bool = False  # whether records keep the trace of the search or of the final fit
    keep_scores: bool = False  # whether the scores of the test part are stored


Executor = Callable[[JobStream, Limits, RunContext], Iterator[Record]]
