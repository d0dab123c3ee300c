"""Whether Numba has compiled the kernels of solvers before: compiling takes seconds, once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from npbench.evaluation.job import Job
from npbench.planning.plan import targets
from npbench.records import provenance

SECONDS_PER_KERNEL = 1.2  # np_svm takes 28 s on two cores


def not_compiled(jobs: Iterable[Job]) -> list[Job]:
    """Return a job of each solver that uses kernels, none of which is in Numba's cache."""
    of_solver = {job.request.solver.name: job for job in jobs}
    return [job for job in of_solver.values() if _is_cold(provenance.sources(targets(job.request)))]


def seconds_to_compile(jobs: Iterable[Job]) -> float:
    """Estimate how long the kernels of jobs take to compile, at most; those that are shared count once."""
    sources = {path for job in jobs for path in provenance.sources(targets(job.request))}
    return SECONDS_PER_KERNEL * sum(path.read_bytes().count(b"@njit") for path in sources)


def _is_cold(sources: Iterable[Path]) -> bool:
    kernels = [path for path in sources if b"njit" in path.read_bytes()]
    cached = (path for kernel in kernels for folder in _folders(kernel) for path in folder.glob(f"{kernel.stem}.*.nbi"))
    return bool(kernels) and next(cached, None) is None


def _folders(path: Path) -> Iterator[Path]:
    """Yield the folders in which Numba keeps the kernels of a file, as it chooses among them."""
    import platformdirs

    parent = str(path.parent)
    name = f"{path.parent.name}_{hashlib.sha1(parent.encode(), usedforsecurity=False).hexdigest()}"
    if own := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(own) / name
    else:
        yield path.parent / "__pycache__"
        yield platformdirs.user_cache_path("numba", appauthor=False) / name
