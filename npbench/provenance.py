"""What a result depends on and where it was made: source hashes, package versions, the machine.

The facts of a run are gathered once and stored with every record. Source hashes and versions enter the identity of
a job; the machine does not.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import importlib.util
import os
import platform
import re
import subprocess
import uuid
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from npbench.errors import RequestError

Primitive = str | int | float | bool | None

# What can change an answer in every job.
NUMERICAL = ("numpy", "scipy", "numba", "scikit-learn")

# The parts of npbench that can change an answer; the rest finds, plans, stores and reports.
ANSWERING = (
    "estimators/",
    "numerics/",
    "contracts.py",
    "data/binary.py",
    "data/sharing.py",
    "measurement.py",
    "preprocess.py",
    "problem.py",
    "protocol.py",
    "split.py",
)


@functools.cache
def version(distribution: str) -> str:
    """Return the installed version of a distribution, or "absent"."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "absent"


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """Return the versions that the answer of a job depends on.

    Parameters
    ----------
    distributions : iterable of str
        Who ships the solver and the metrics. Their own versions count, those of the numerical libraries, and those
        of their direct requirements; but npbench's further requirements only plan, store and print.

    Returns
    -------
    dict of str to str
        Version by distribution name.
    """
    shipped = set(distributions)
    # A stranger requires npbench, whose sources are hashed: its version says nothing more.
    required = (_direct_requirements(distribution) - {"npbench"} for distribution in shipped - {"npbench"})
    names = shipped.union(NUMERICAL, *required)
    return {name: version(name) for name in sorted(names)}


@functools.cache
def _direct_requirements(distribution: str) -> frozenset[str]:
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return frozenset()
    wanted = (Requirement(line) for line in lines)
    # Extras are not followed: what is imported only when an extra is asked for has no place in a solver.
    chosen = (r for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""}))
    return frozenset(re.sub(r"[-_.]+", "-", r.name).lower() for r in chosen)


def code(targets: Iterable[str]) -> dict[str, str]:
    """Return the hash of the sources behind some ``"module:attribute"`` targets, by top-level package.

    npbench is always among them, with those of its sources that can change an answer.

    Raises
    ------
    RequestError
        If a package cannot be found.
    """
    packages = {target.partition(":")[0].partition(".")[0] for target in targets} | {"npbench"}
    return {package: source_sha256(package) for package in sorted(packages)}


@functools.cache
def source_sha256(package: str) -> str:
    """Return the SHA-256 of a top-level package's Python sources, without importing it.

    The hash covers the names and contents of its ``*.py`` files and nothing else, so it is the same on every machine
    and after a second installation. It is computed once per process.

    Raises
    ------
    RequestError
        If there is no such package.
    """
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise RequestError(f"There is no package {package!r}, which a plugin names: install that plugin again.")
    roots = [Path(location) for location in spec.submodule_search_locations or ()]
    if roots:
        files = {path.relative_to(root).as_posix(): path for root in roots for path in root.rglob("*.py")}
    else:
        files = {Path(spec.origin).name: Path(spec.origin)} if spec.origin and spec.has_location else {}
    if package == "npbench":
        files = {name: path for name, path in files.items() if name.startswith(ANSWERING)}
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def differing(code: Mapping[str, str], versions: Mapping[str, str]) -> list[str]:
    """Return the packages that are not here what :func:`code` and :func:`versions` said elsewhere.

    Raises
    ------
    RequestError
        If a package cannot be found.
    """
    other = [package for package, sha256 in code.items() if source_sha256(package) != sha256]
    return other + [name for name, there in versions.items() if version(name) != there]


def facts() -> dict[str, Primitive]:
    """Return what a run should remember of its machine and software, gathered now, as flat primitives.

    Who ran it and the machine's name are left out.
    """
    return {
        "run_id": f"{_now():%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}",
        "run_started": _now().isoformat(),
        "cpu": _cpu_model(),
        "cores": available_cores(),
        "ram_gb": _ram_gb(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "os": platform.platform(),
        "python": platform.python_version(),
        **{f"{name.replace('-', '_')}_version": version(name) for name in (*NUMERICAL, "polars", "npbench")},
        **_blas(),
        **_git(),
    }


def available_cores() -> int:
    """Return how many cores this process may use; a container, ``taskset`` or Slurm may grant fewer than there are."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    granted = os.environ.get("SLURM_CPUS_PER_TASK", "")  # not every cluster binds a job to its cores
    return min(cores, int(granted)) if granted.isdecimal() else cores


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _ram_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):  # no sysconf, or not these names, on this system
        return None


def _blas() -> dict[str, Primitive]:
    import numpy  # noqa: F401 -- threadpoolctl sees only libraries that are loaded
    from threadpoolctl import threadpool_info

    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    library = found[0] if found else {}
    return {"blas": library.get("internal_api"), "blas_version": library.get("version")}


def _git() -> dict[str, Primitive]:
    root = Path(__file__).parent.parent
    if not (root / ".git").exists():
        return {"git_commit": None, "git_dirty": None}
    commit, status = (
        _output("git", "-C", str(root), *arguments)
        for arguments in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
    )
    return {"git_commit": commit, "git_dirty": None if status is None else bool(status)}


def _output(*command: str) -> str | None:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
