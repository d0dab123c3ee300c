"""Many jobs: planning them, running them in worker processes or on Dask, storing each record as it ends."""
