"""SVMperf: the structural support vector machine for precision or recall at k (Joachims 2005)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    return [
        Solver(
            name="svm_perf",
            estimator="npbench_svm_perf.estimator:SVMPerf",
            solves=("np",),
            grid_search="npbench.estimators.warm_start_selection:select",
            title="SVMperf, precision at k",
            reference="Joachims (2005), A support vector method for multivariate performance measures, ICML",
            tags=frozenset({"linear", "sparse", "convex"}),
        )
    ]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/solver/svm_perf.yaml."""
    return ["npbench_svm_perf.conf"]
