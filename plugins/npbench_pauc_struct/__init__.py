"""The structural SVM for the partial AUC (Narasimhan and Agarwal 2016)."""

from npbench import hookimpl
from npbench.contracts import Solver
from npbench.estimators.grids import PAUC_COSTS


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="pauc_struct",
        estimator="npbench_pauc_struct.estimator:PAUCStruct",
        solves=("pauc",),
        # decades; planes are shared along them
        search={"C": PAUC_COSTS},
        grid_search="npbench.estimators.warm_start_selection:select",
        title="structural SVM for the partial AUC",
        reference="Narasimhan, Agarwal (2016), arXiv:1605.04337, sections 4 and 5",
        tags=frozenset({"linear", "kernel", "sparse", "convex"}),
    )
    return [solver]
