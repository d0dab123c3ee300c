"""Proximal block descent for the partial AUC over any range (AGD-SBCD: Yao, Lin and Yang 2022)."""

from npbench.estimators.grids import PAUC_COSTS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="pauc_sbcd",
    estimator="npbench_pauc_sbcd.estimator:PAUCSBCD",
    solves=("pauc",),
    search={"C": PAUC_COSTS},
    title="Block descent of proximal steps for the partial AUC (AGD-SBCD)",
    reference="Yao, Lin, Yang (2022), NeurIPS, arXiv:2203.01505",
    tags=frozenset({"linear", "kernel", "sparse"}),
)
