from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers():
    estimator = "npbench_nearest_mean.estimator:NearestMean"
    return [Solver(name="nearest_mean", estimator=estimator, solves=("np",), search={"shrinkage": [0.0, 0.2, 0.4]})]
