"""SVMperf: the structural support vector machine for precision or recall at k, or the error rate (Joachims 2005)."""

from npbench.estimators.grids import COSTS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="svm_perf",
    estimator="npbench_svm_perf.estimator:SVMPerf",
    solves=("np",),
    search={
        "C": COSTS,  # as for np_svm_linear
        # ten values, linearly spaced (section 5.5)
        "k_share": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
    },
    grid_search="npbench.estimators.warm_start_selection:select",
    title="SVMperf, precision at k",
    reference="Joachims (2005), A support vector method for multivariate performance measures, ICML",
    tags=frozenset({"linear", "sparse", "convex"}),
)
