"""Executor that runs jobs on a Dask cluster, ``execution=dask``."""

from npbench import hookimpl


@hookimpl
def npbench_executors() -> dict[str, str]:
    """Return the executor."""
    return {"dask": "npbench_dask.cluster:records"}
