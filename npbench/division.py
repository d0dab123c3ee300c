"""Divides the jobs of a command among the runs of it that are going on at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from npbench.claims import Claims
from npbench.job import Job
from npbench.store import RecordStore

POLL = 0.5  # seconds between two looks for what other runs have done


class Division:
    """The share of one run: jobs that no other run is at, or has done since this one opened its store.

    A failure of another run counts as done: it would hardly end otherwise a moment later.

    Parameters
    ----------
    store : RecordStore
        Where the records of all runs go.
    claims : Claims
        Those of this run in the folder of the store.
    trace : bool
        Whether only records with a trace will do.
    force : bool
        Whether jobs are done again that have a record of success from before.
    on_other : callable
        Called with ``status``, ``solver``, ``dataset`` and ``repeat`` of each job that another run has done.
    """

    def __init__(
        self,
        store: RecordStore,
        claims: Claims,
        trace: bool,
        force: bool,
        on_other: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._claims, self._on_other = claims, on_other
        self._arrived = partial(store.arrived, trace, force)
        self._done = self._arrived()  # by other runs, and not met among the jobs yet: status by key
        self._held: list[Job] = []  # met, while another run was at them

    def take(self, job: Job) -> bool:
        """Return whether this run is to do a job now; if so it is claimed, to be released when its record is stored."""
        if self._is_done(job):
            return False
        if not self._claims.claim(job.key):
            self._held.append(job)
            return False
        # Between the last look and the claim, another run may have done it.
        self._look()
        if self._is_done(job):
            self._claims.release(job.key)
            return False
        return True

    def wait(self, on_wait: Callable[[int], None]) -> list[Job]:
        """Wait until all jobs that other runs were at have a record, or some are given up without one: return these.

        Parameters
        ----------
        on_wait : callable
            Called now and then with the number of jobs waited for.
        """
        self._look()
        while self._held:
            held, self._held = self._held, []
            free = [job for job in held if self.take(job)]
            if free:
                return free
            on_wait(len(self._held))
            time.sleep(POLL)
            self._look()
        return []

    def _look(self) -> None:
        news = {} if self._claims.alone else self._arrived()
        if news:
            self._done |= news
            self._held = [job for job in self._held if not self._is_done(job)]

    def _is_done(self, job: Job) -> bool:
        status = self._done.pop(job.key, None)
        if status is None:
            return False
        self._on_other({"status": status, "solver": job.solver.name, "dataset": job.dataset, "repeat": job.repeat})
        return True
