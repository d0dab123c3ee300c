"""Gradient boosting of trees for the partial AUC, by LightGBM."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="pauc_gbdt",
    estimator="npbench_pauc_gbdt.estimator:PAUCGBDT",
    solves=("pauc",),
    title="Boosting of trees for the partial AUC",
    reference="npbench; trees by LightGBM (Ke et al. 2017, NIPS)",
    tags=frozenset({"sparse"}),
)
