"""A plugin as someone else would write it: without YAML, and light to import."""

from npbench import hookimpl
from npbench.contracts import Dataset, Solver


@hookimpl
def npbench_solvers():
    return [
        Solver(
            name="centroid",
            estimator="npbench_stranger_code:Centroid",
            solves=("np",),
            search={"shrinkage": [0.0, 0.5]},
            title="Nearest centroid",
        )
    ]


@hookimpl
def npbench_datasets():
    return [Dataset(name="blobs", load="npbench_stranger_code:blobs", title="Two blobs")]
