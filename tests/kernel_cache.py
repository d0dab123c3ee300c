"""Where the tests and the benchmarks keep compiled kernels."""

from __future__ import annotations

import hashlib
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from npbench.records.provenance import source_sha256


def kernel_cache() -> Path:
    """Return a Numba cache folder named by a hash of all numerics and plugins, without comments and docstrings.

    Numba stamps a cached kernel with the source of its own module only: after a change in another module that the
    kernel calls, it would go on running the old code.
    """
    digest = hashlib.sha256()
    plugins = {point.module.partition(".")[0] for point in entry_points(group="npbench")}
    for name in ("npbench", *sorted(plugins)):
        found = find_spec(name)
        for folder in (found and found.submodule_search_locations) or ():
            sources = Path(folder, "numerics") if name == "npbench" else Path(folder)
            for source in sorted(sources.rglob("*.py")):
                digest.update(f"{name}/{source.relative_to(folder)}\0{source_sha256(source)}\n".encode())
    return platformdirs.user_cache_path("npbench-tests", appauthor=False) / "numba" / digest.hexdigest()[:16]
