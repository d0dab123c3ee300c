"""Instance-wise minimax training for the one-way and two-way partial AUC (Shao et al. 2022)."""

from npbench.estimators.grids import PAUC_COSTS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="pauc_minimax",
    estimator="npbench_pauc_minimax.estimator:PAUCMinimax",
    solves=("pauc",),
    search={"C": PAUC_COSTS},
    title="Instance-wise minimax for the partial AUC",
    reference="Shao, Xu, Yang, Bao, Huang (2022), NeurIPS",
    tags=frozenset({"linear", "kernel", "sparse"}),
)
