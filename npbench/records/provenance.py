"""Source hashes and package versions, which identify jobs, and facts of the machine, gathered once per run."""

import ast
import contextlib
import datetime
import functools
import hashlib
import os
import platform
import re
import subprocess
import sys
import uuid
from collections.abc import Iterable, Mapping, Set
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from npbench.records.record import Primitive
from npbench.user_cache import cached, python_files

ROOT = Path(__file__).parents[1]  # folder of npbench

# Packages that can change the answer of every job.
NUMERICAL = ("numpy", "scipy", "numba", "scikit-learn")

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

# Rooms of which a job uses some modules; evaluation/ and problem.py can change every answer.
SHARED = ("npbench.estimators", "npbench.numerics", "npbench.thresholding")


@functools.cache
def version(distribution: str) -> str:
    """Return the installed version of a distribution, or "absent"."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "absent"


def versions(distributions: Iterable[str], packages: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of distributions, of their direct requirements, and of the numerical libraries, by name.

    Packages, such as lightgbm, count as the distribution of their name, if there is one.
    """
    shipped = set(distributions)
    # A third party requires npbench, whose sources are hashed; its own requirements only plan, store and print.
    required = (_direct_requirements(distribution) - {"npbench"} for distribution in shipped - {"npbench"})
    libraries = {name for name in packages if version(name) != "absent"}
    names = shipped.union(NUMERICAL, libraries, *required)
    return {name: version(name) for name in sorted(names)}


@functools.cache
def _direct_requirements(distribution: str) -> frozenset[str]:
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return frozenset()
    wanted = (Requirement(line) for line in lines)
    # Extras are not followed: a solver does not depend on what only an extra installs.
    chosen = (r for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""}))
    return frozenset(re.sub(r"[-_.]+", "-", r.name).lower() for r in chosen)


def code(targets: Iterable[str]) -> dict[str, str]:
    """Return the hashes of the sources behind ``"module:attribute"`` targets, by top-level package.

    For npbench, that is the hash of ``evaluation/``, ``problem.py``, the targets, and all they import anywhere from the
    shared rooms; for others, of all their sources. Comments and docstrings count only in libraries without npbench.
    """
    return _code(frozenset(target.partition(":")[0] for target in targets))


@functools.cache
def _code(modules: frozenset[str]) -> dict[str, str]:
    plugins, using, shared = _used(modules)
    evaluation = {f"npbench.evaluation.{path.stem}" for path in (ROOT / "evaluation").glob("*.py")}
    answering = _closure({"npbench.problem", *evaluation, *shared})
    hashes = {"npbench": _sha256({module: _path(module) for module in answering})}
    return hashes | {package: _sha256(files, is_library=package not in using) for package, files in plugins.items()}


def sources(targets: Iterable[str]) -> list[Path]:
    """Return the files of the targets' packages, and those that they import from the shared rooms."""
    plugins, _, shared = _used({target.partition(":")[0] for target in targets})
    return [*(path for files in plugins.values() for path in files.values()), *map(_path, sorted(_closure(shared)))]


def _used(modules: Set[str]) -> tuple[dict[str, dict[str, Path]], set[str], set[str]]:
    """Return the files of modules' packages, the packages that use npbench, and what is used of the shared rooms."""
    packages = {module.partition(".")[0] for module in modules} - {"npbench"}
    plugins = {package: python_files(package) for package in sorted(packages)}
    # Large libraries take ten seconds to parse, and import nothing from npbench.
    using = {name for name, files in plugins.items() if any(b"npbench" in one.read_bytes() for one in files.values())}
    imported = {module for package in using for path in plugins[package].values() for module in _imported(path)}
    return plugins, using, {module for module in modules | imported if module.startswith(SHARED)}


def _sha256(files: Mapping[str, Path], is_library: bool = False) -> str:
    """Return the hash of named files: of what they do in plugins, of their bytes in (large) libraries."""
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest() if is_library else source_sha256(path)
        digest.update(f"{name}\0{sha256}\n".encode())
    return digest.hexdigest()


def source_sha256(path: Path) -> str:
    """Return the SHA-256 of what a Python file does: its syntax tree without comments and docstrings."""
    return _parsed(path)[0]


@functools.cache
def _parsed(path: Path) -> tuple[str, frozenset[str]]:
    """Return the hash of what a Python file does, and the names that it imports, cached for the same bytes."""
    source = path.read_bytes()
    # The syntax tree depends on the version of Python, what is taken from it on this file.
    identity = sys.version.encode() + Path(__file__).read_bytes() + source
    sha256, names = cached("sources", identity, lambda: _parse(source))
    return sha256, frozenset(names)


def _parse(source: bytes) -> tuple[str, list[str]]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # for another version of Python, or not to be imported
        return hashlib.sha256(source).hexdigest(), []
    names = sorted(_named(tree))
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), names


def _closure(modules: Iterable[str]) -> set[str]:
    """Return modules of npbench, and all that they import from the shared rooms."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += [one for one in _imported(_path(module)) if one.startswith(SHARED)]
    return found


@functools.cache
def _imported(path: Path) -> frozenset[str]:
    """Return the modules of npbench that a file imports anywhere, packages along the way included."""
    prefixes = {name.rsplit(".", n)[0] for name in _parsed(path)[1] for n in range(name.count("."))}
    return frozenset(name for name in prefixes if _path(name).is_file())


def _named(tree: ast.Module) -> set[str]:
    """Return the names that a file imports from npbench anywhere."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.startswith("npbench.")}


def _path(module: str) -> Path:
    """Return the file of a module of npbench; one that does not exist if there is no such module."""
    place = ROOT.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def facts() -> dict[str, Primitive]:
    """Return facts of this run, machine and software, as primitives, without the names of user and machine."""
    now = datetime.datetime.now(datetime.UTC)
    return {
        "run_id": f"{now:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}",
        "run_started": now.isoformat(),
        "cpu": _cpu_model(),
        "cores": available_cores(),
        "ram_gb": round(physical_memory() / 2**30, 1),
        "load_average": os.getloadavg()[0],
        "os": platform.platform(),
        "python": platform.python_version(),
        **{f"{name.replace('-', '_')}_version": version(name) for name in (*NUMERICAL, "polars", "npbench")},
        **_blas(),
        **_git(),
    }


def available_cores() -> int:
    """Return the number of cores that the system grants this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    granted = os.environ.get("SLURM_CPUS_PER_TASK", "")  # some clusters do not bind a job to its cores
    return min(cores, int(granted)) if granted.isdecimal() else cores


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def physical_memory() -> int:
    """Return the bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _blas() -> dict[str, Primitive]:
    import numpy  # noqa: F401 -- threadpoolctl sees only libraries that are loaded
    from threadpoolctl import threadpool_info

    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    # Wheels of NumPy and SciPy bring a BLAS each; products with X use NumPy's.
    library: dict[str, Any] = min(found, key=lambda one: "numpy" not in one["filepath"], default={})
    return {"blas": library.get("internal_api"), "blas_version": library.get("version")}


def _git() -> dict[str, Primitive]:
    """Return the commit of the checkout, if there is one, and whether its tracked files were changed since."""
    described = ""
    if (ROOT.parent / ".git").exists():
        command = ("git", "-C", str(ROOT.parent), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            described = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    commit, dash, _ = described.partition("-")
    return {"git_commit": commit or None, "git_dirty": bool(dash) if commit else None}
