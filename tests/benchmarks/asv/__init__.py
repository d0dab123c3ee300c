"""Benchmarks over the history of the repository: `asv run`, `asv continuous main HEAD`."""

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # tests

from kernel_cache import kernel_cache

# Numba reads it once, when it is first imported.
os.environ["NUMBA_CACHE_DIR"] = str(kernel_cache())

import scipy.linalg  # noqa: F401 -- its BLAS and NumPy's must be loaded to be limited
from threadpoolctl import threadpool_limits

# One thread, as npbench's workers have: on a busy machine the threads of BLAS wait for each other.
threadpool_limits(1)
