"""Leave out repeats of jobs that reached the time limit on another split."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Set
from contextlib import closing
from itertools import chain, groupby

from npbench.evaluation.job import Job, JobStream
from npbench.execution.run import Executor, Limits, RunContext
from npbench.records.record import Record

NOT_RUN = "not run: another repeat reached the time limit (execution.retry_timeouts=true runs it)"


class WithinLimit:
    """Jobs without those that reached the time limit on another split, as far as that is known when they are drawn."""

    def __init__(self, jobs: JobStream, timed_out: Set[str]) -> None:
        self._jobs = jobs
        self.timed_out = set(timed_out)  # key_of(0), of jobs on any split
        self.drawn: dict[str, str] = {}  # key_of(0) by key
        self.skipped: deque[Job] = deque()

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        """Yield first the first repeats of a solver on its data: the others are drawn when these have ended."""
        groups = groupby(self._jobs, lambda job: (job.data.data_sha256, job.request.solver.name))
        for job in chain.from_iterable(sorted(jobs, key=lambda job: job.repeat) for _, jobs in groups):
            if job.key_of(0) in self.timed_out:
                self.skipped.append(job)
            else:
                self.drawn[job.key] = job.key_of(0)
                yield job


def records(
    jobs: JobStream, limits: Limits, context: RunContext, *, executor: Executor, timed_out: Set[str]
) -> Iterator[Record]:
    """Run jobs with an executor and yield the record of each, also of those left out, as timeouts."""
    within = WithinLimit(jobs, timed_out)

    def not_run() -> Iterator[Record]:
        while within.skipped:
            columns = within.skipped.popleft().columns
            yield Record({**context.facts, **columns, "status": "timeout", "error": NOT_RUN})

    with closing(executor(within, limits, context)) as ended:  # type: ignore[type-var]
        for record in ended:
            same = within.drawn.pop(record.key)
            if record.status == "timeout":
                within.timed_out.add(same)
            yield record
            yield from not_run()
    yield from not_run()
