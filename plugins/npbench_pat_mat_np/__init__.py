"""Accuracy at a surrogate of the NP quantile (Pat&Mat-NP: Adam, Macha, Smidl and Pevny 2020)."""

from npbench import hookimpl
from npbench.contracts import Solver
from npbench.estimators.grids import PAUC_COSTS


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="pat_mat_np",
        estimator="npbench_pat_mat_np.estimator:PatMatNP",
        solves=("np",),
        # decades; planes are shared along the costs
        search={"C": PAUC_COSTS, "beta": [0.1, 1.0, 10.0]},
        grid_search="npbench.estimators.warm_start_selection:select",
        title="surrogate of the NP quantile (Pat&Mat-NP)",
        reference="Adam, Macha, Smidl, Pevny (2020), arXiv:2002.10923",
        tags=frozenset({"linear", "kernel", "sparse", "convex"}),
    )
    return [solver]
