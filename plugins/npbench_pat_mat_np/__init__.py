"""Accuracy at a surrogate of the NP quantile (Pat&Mat-NP: Adam, Macha, Smidl and Pevny 2020)."""

from npbench.estimators.grids import PAUC_COSTS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="pat_mat_np",
    estimator="npbench_pat_mat_np.estimator:PatMatNP",
    solves=("np",),
    search={"C": PAUC_COSTS, "beta": [0.1, 1.0, 10.0]},  # decades; planes are shared along the costs
    grid_search="npbench.estimators.warm_start_selection:select",
    title="surrogate of the NP quantile (Pat&Mat-NP)",
    reference="Adam, Macha, Smidl, Pevny (2020), arXiv:2002.10923",
    tags=frozenset({"linear", "kernel", "sparse", "convex"}),
)
