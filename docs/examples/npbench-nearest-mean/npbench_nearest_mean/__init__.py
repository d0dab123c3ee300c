from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers():
    return [
        Solver(
            name="nearest_mean",
            estimator="npbench_nearest_mean.estimator:NearestMean",
            solves=("np",),
            search={"shrinkage": [0.0, 0.2, 0.4]},
            title="Nearest mean",
            tags=frozenset({"linear", "sparse"}),
        )
    ]
