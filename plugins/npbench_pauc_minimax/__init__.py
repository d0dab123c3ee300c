"""Instance-wise minimax training for the one-way and two-way partial AUC (Shao et al. 2022)."""

from npbench import hookimpl
from npbench.contracts import Solver
from npbench.estimators.grids import PAUC_COSTS


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="pauc_minimax",
        estimator="npbench_pauc_minimax.estimator:PAUCMinimax",
        solves=("pauc",),
        search={"C": PAUC_COSTS},
        title="Instance-wise minimax for the partial AUC",
        reference="Shao, Xu, Yang, Bao, Huang (2022), NeurIPS",
        tags=frozenset({"linear", "kernel", "sparse"}),
    )
    return [solver]
