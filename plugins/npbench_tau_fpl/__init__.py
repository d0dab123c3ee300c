"""Learning below a false-positive rate (tau-FPL: Zhang et al. 2018), and TopPush (Li, Jin and Zhou 2014)."""

from npbench.estimators.grids import PAUC_COSTS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="tau_fpl",
    estimator="npbench_tau_fpl.estimator:TauFPL",
    solves=("np",),
    search={"C": PAUC_COSTS},  # decades; planes are shared along them
    grid_search="npbench.estimators.warm_start_selection:select",
    title="mean of the top negatives (tau-FPL)",
    reference="Zhang, Li, Pu, Wang, Yan, Zha (2018), AAAI, arXiv:1801.04701",
    tags=frozenset({"linear", "kernel", "sparse", "convex"}),
)
