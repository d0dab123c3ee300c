"""What every executor needs: limits of the jobs, and what the jobs of one run share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from npbench.data import BinaryData
from npbench.records.provenance import available_cores
from npbench.records.record import Primitive


@dataclass(frozen=True)
class Limits:
    """Workers, and what each job may use.

    Parameters
    ----------
    n_jobs : int
        Number of worker processes, at least 1; -1 for one per core.
    seconds : float, optional
        Time limit of a job, without compilation; the job is then killed.
    memory_mb : float, optional
        Memory that a job may allocate, in MB of 10^6 bytes; by default the worker's share of the machine's memory.
        Enforced on Linux.
    """

    n_jobs: int = -1
    seconds: float | None = None
    memory_mb: float | None = None

    def workers(self, n_tasks: int) -> int:
        """Return the number of workers for ``n_tasks`` tasks: never more than there are tasks.

        Examples
        --------
        >>> Limits(n_jobs=4).workers(3), Limits(n_jobs=1).workers(3)
        (3, 1)
        """
        return min(available_cores() if self.n_jobs == -1 else self.n_jobs, n_tasks)


@dataclass(frozen=True)
class RunContext:
    """What the jobs of one run share.

    Parameters
    ----------
    data : mapping of str to BinaryData
        Data by content hash.
    facts : mapping
        Facts of the run and the machine, part of every record (see :func:`npbench.records.provenance.facts`).
    trace : bool
        Whether records keep the trace of the search or of the final fit.
    keep_scores : bool
        Whether the scores of the test part are stored.
    """

    data: Mapping[str, BinaryData]
    facts: Mapping[str, Primitive] = field(default_factory=dict)
    trace: bool = False
    keep_scores: bool = False
