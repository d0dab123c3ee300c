"""Peak memory of a job, and limits on what it allocates, in MB of 10^6 bytes as the operating system counts them."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

from npbench.records.provenance import physical_memory

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")
# Limits of a container: versions 2 and 1 of control groups.
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def peak_memory() -> Callable[[], dict[str, float | str | None]]:
    """Return a function of the peak resident memory from now on.

    The kernel's high-water mark is reset first. Where that is not permitted, the mark covers the whole life of the
    process, which may have run larger jobs before; ``peak_memory_of`` says which.
    """
    try:
        _CLEAR_REFS.write_text("5", encoding="ascii")  # 5: reset the high-water mark of the resident set
    except OSError:
        process = {"memory_before_mb": None, "peak_memory_of": "process"}
        return lambda: {"peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6, **process}
    job: dict[str, float | str | None] = {"memory_before_mb": _status_mb("VmRSS"), "peak_memory_of": "job"}
    return lambda: {"peak_memory_mb": _status_mb("VmHWM"), **job}


@functools.cache
def base_mb() -> float:
    """Return what this process, or the one that it was forked from, had allocated at the first call."""
    return _status_mb("VmData")


@contextlib.contextmanager
def at_most(limit_mb: float) -> Iterator[None]:
    """Make allocations fail beyond the base and this limit, used or not; maps of files do not count."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounds = [bound for bound in (int((base_mb() + limit_mb) * 1e6), soft, hard) if bound >= 0]
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def machine_mb() -> float:
    """Return the memory for this process and its workers: that of the machine, container or Slurm job."""
    granted = [physical_memory() / 1e6]
    for path in _CGROUP_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # no such file, or "max"
            granted.append(int(path.read_text(encoding="ascii")) / 1e6)
    of_slurm = os.environ.get("SLURM_MEM_PER_NODE", "")  # MB of 2^20 bytes
    if of_slurm.isdecimal():
        granted.append(int(of_slurm) * 2**20 / 1e6)
    return min(granted)


def _status_mb(field: str) -> float:
    found = re.search(rf"^{field}:\s+(\d+)", _STATUS.read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0
