"""Leave out repeats of jobs that reached the time limit on another split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import closing
from itertools import chain, groupby
from typing import overload

from npbench.evaluation.job import Job
from npbench.execution.context import Limits, RunContext
from npbench.execution.run import Executor
from npbench.records.record import Record

NOT_RUN = "not run: another repeat reached the time limit (execution.retry_timeouts=true runs it)"


class WithinLimit(Sequence[Job]):
    """The jobs of a run without those that reached the time limit on another split, as far as that is known by then.

    Parameters
    ----------
    jobs : sequence of Job
        All jobs.
    timed_out : set of str
        ``job.key_of(0)`` of the jobs, on any split, that reached the limit before.
    """

    def __init__(self, jobs: Sequence[Job], timed_out: Set[str] = frozenset()) -> None:
        self._jobs = jobs
        self._timed_out = set(timed_out)
        self._started: dict[str, str] = {}
        self._left_out: list[Job] = []

    def __len__(self) -> int:
        return len(self._jobs)

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | Sequence[Job]:
        return self._jobs[index]

    def __iter__(self) -> Iterator[Job]:
        """Yield each job that is worth running when it is asked for, first the first repeats of a solver on its data.

        An executor asks for the next job before it hands out the record of the last.
        """
        groups = groupby(self._jobs, lambda job: (job.data.data_sha256, job.request.solver.name))
        for job in chain.from_iterable(sorted(jobs, key=lambda job: job.repeat) for _, jobs in groups):
            same = job.key_of(0)
            if same in self._timed_out:
                self._left_out.append(job)
            else:
                self._started[job.key] = same
                yield job

    def ended(self, record: Record) -> None:
        """Note how a job ended."""
        same = self._started.pop(record.key)
        if record.status == "timeout":
            self._timed_out.add(same)

    def left_out(self) -> list[Job]:
        """Return the jobs left out since the last call."""
        jobs, self._left_out = self._left_out, []
        return jobs


def records(
    jobs: Sequence[Job], limits: Limits, context: RunContext, *, executor: Executor, timed_out: Set[str]
) -> Iterator[Record]:
    """Run jobs with an executor and yield the record of each, also of those left out, as timeouts.

    Parameters
    ----------
    jobs, limits, context
        As in :func:`npbench.execution.local.records`.
    executor : callable
        What runs the jobs.
    timed_out : set of str
        ``job.key_of(0)`` of the jobs that reached the limit before, on some split.
    """
    worth_running = WithinLimit(jobs, timed_out)

    def left_out() -> Iterator[Record]:
        for job in worth_running.left_out():
            yield Record({**context.facts, **job.columns, "status": "timeout", "error": NOT_RUN})

    with closing(executor(worth_running, limits, context)) as ended:  # type: ignore[type-var]
        for record in ended:
            worth_running.ended(record)
            yield record
            yield from left_out()
    yield from left_out()
