"""How much memory a job takes, as the operating system counts it."""

from __future__ import annotations

import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")


class PeakMemory:
    """Measures the peak of this process's resident memory from now on.

    On Linux the kernel's high-water mark is reset first. Elsewhere the mark covers the whole life of the process,
    which may have run larger jobs before; ``peak_memory_of`` says which of the two it is.

    Examples
    --------
    >>> peak = PeakMemory()
    >>> buffer = bytearray(50_000_000)
    >>> columns = peak.columns()
    >>> columns["peak_memory_mb"] > 50
    True
    """

    def __init__(self) -> None:
        try:
            _CLEAR_REFS.write_text("5", encoding="ascii")  # 5: reset the high-water mark of the resident set
            self.before_mb = _status_mb("VmRSS")
        except OSError:
            self.before_mb = None

    def columns(self) -> dict[str, float | str | None]:
        """Return the peak since construction, what was resident then, and what the peak covers, in MB of 10^6 bytes."""
        if self.before_mb is None:
            return {"peak_memory_mb": _process_peak_mb(), "memory_before_mb": None, "peak_memory_of": "process"}
        return {
            "peak_memory_mb": _status_mb("VmHWM"),
            "memory_before_mb": self.before_mb,
            "peak_memory_of": "job",
        }


def _status_mb(field: str) -> float | None:
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    return None


def _process_peak_mb() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
