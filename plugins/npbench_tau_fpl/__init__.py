"""Learning below a false-positive rate (tau-FPL: Zhang et al. 2018), and TopPush (Li, Jin and Zhou 2014)."""

from npbench import hookimpl
from npbench.contracts import Solver
from npbench.estimators.grids import PAUC_COSTS


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="tau_fpl",
        estimator="npbench_tau_fpl.estimator:TauFPL",
        solves=("np",),
        # decades; planes are shared along them
        search={"C": PAUC_COSTS},
        grid_search="npbench.estimators.warm_start_selection:select",
        title="mean of the top negatives (tau-FPL)",
        reference="Zhang, Li, Pu, Wang, Yan, Zha (2018), AAAI, arXiv:1801.04701",
        tags=frozenset({"linear", "kernel", "sparse", "convex"}),
    )
    return [solver]
