"""Jobs to records, in processes of this machine or on a Dask cluster."""
