"""Where the tests and the benchmarks keep compiled kernels. Imports nothing of npbench: asv measures old commits."""

from __future__ import annotations

import ast
import hashlib
import os
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import platformdirs


def kernel_cache() -> Path:
    """Return a Numba cache folder named by a hash of all numerics and plugins, without comments.

    Numba stamps a cached kernel with the source of its own module only: after a change in another module that the
    kernel calls, it would go on running the old code. ``NPBENCH_FRESH_KERNELS`` can name a folder that is known to hold
    kernels of these sources only.
    """
    if fresh := os.environ.get("NPBENCH_FRESH_KERNELS"):
        return Path(fresh)
    digest = hashlib.sha256()
    plugins = {point.module.partition(".")[0] for point in entry_points(group="npbench")}
    for name in ("npbench", *sorted(plugins)):
        found = find_spec(name)
        for folder in (found and found.submodule_search_locations) or ():
            sources = Path(folder, "numerics") if name == "npbench" else Path(folder)
            for source in sorted(sources.rglob("*.py")):
                code = ast.dump(ast.parse(source.read_bytes()))
                digest.update(f"{name}/{source.relative_to(folder)}\0{code}\n".encode())
    return platformdirs.user_cache_path("npbench-tests", appauthor=False) / "numba" / digest.hexdigest()[:16]
