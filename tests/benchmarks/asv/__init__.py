"""Benchmarks over the history of the repository: `asv run`, `asv continuous main HEAD`."""

import scipy.linalg  # noqa: F401 -- its BLAS and NumPy's must be loaded to be limited
from threadpoolctl import threadpool_limits

# One thread, as npbench's workers have: on a busy machine the threads of BLAS wait for each other.
threadpool_limits(1)
