"""Boosting for the partial AUC (Komori and Eguchi 2010)."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="pauc_boost",
    estimator="npbench_pauc_boost.estimator:PAUCBoost",
    solves=("pauc",),
    title="Boosting of stumps for the partial AUC",
    reference="Komori, Eguchi (2010), BMC Bioinformatics 11:314",
    tags=frozenset({"sparse"}),
)
