"""The SVM for the full AUC (Joachims 2005), as a baseline for the partial one."""

from npbench import hookimpl
from npbench.contracts import Solver
from npbench.estimators.grids import PAUC_COSTS


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="auc_svm",
        estimator="npbench_auc_svm.estimator:AUCSVM",
        solves=("pauc",),
        # decades; planes are shared along them
        search={"C": PAUC_COSTS},
        grid_search="npbench.estimators.warm_start_selection:select",
        title="SVM for the full AUC",
        reference="Joachims (2005), ICML",
        tags=frozenset({"linear", "kernel", "sparse", "convex"}),
    )
    return [solver]
