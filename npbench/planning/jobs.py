"""Lazy jobs: a sweep of a million holds a few requests and numbers of repeats."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence, Set

from npbench.evaluation.job import Job


class Jobs:
    """Jobs as one job per request and its repeats: no memory for each, or 8 bytes if some are left out."""

    def __init__(self, parts: Iterable[tuple[Job, Sequence[int]]]) -> None:
        self.parts = [(job, repeats) for job, repeats in parts if len(repeats)]

    @classmethod
    def each_once(cls, lists: Iterable[Jobs]) -> Jobs:
        """Join the jobs of several requests; of requests that differ only in repeats, the one with most counts."""
        distinct: dict[str, tuple[Job, Sequence[int]]] = {}
        for job, repeats in (part for jobs in lists for part in jobs.parts):
            same = job.key_of(0)
            _, most = distinct.get(same, (job, ()))
            if len(repeats) > len(most):
                distinct[same] = job, repeats
        return cls(distinct.values())

    def __len__(self) -> int:
        return sum(len(repeats) for _, repeats in self.parts)

    def __iter__(self) -> Iterator[Job]:
        return (job.with_repeat(repeat) for job, repeats in self.parts for repeat in repeats)

    def keys(self) -> Iterator[str]:
        """Yield the key of each job without creating the job."""
        return (job.key_of(repeat) for job, repeats in self.parts for repeat in repeats)

    def without(self, done: Set[str]) -> Jobs:
        """Return the jobs whose keys are not in ``done``."""
        if not done:
            return self
        return Jobs(
            (job, array("q", (repeat for repeat in repeats if job.key_of(repeat) not in done)))
            for job, repeats in self.parts
        )

    def settings_of(self, keys: Set[str]) -> set[str]:
        """Return ``key_of(0)`` of the jobs of which some repeat has one of these keys."""
        return {job.key_of(0) for job, repeats in self.parts if not keys.isdisjoint(map(job.key_of, repeats))}
