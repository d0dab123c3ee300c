"""A linear combination of features built greedily for the partial AUC (Ricamato and Tortorella 2011)."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="greedy_pauc",
    estimator="npbench_greedy_pauc.estimator:GreedyPAUC",
    solves=("pauc",),
    title="Greedy linear combination of features",
    reference="Ricamato, Tortorella (2011), Pattern Recognition 44(10-11)",
    tags=frozenset({"linear", "sparse"}),
)
