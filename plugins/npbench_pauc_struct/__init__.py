"""The structural SVM for the partial AUC (Narasimhan and Agarwal 2016)."""

from npbench.estimators.grids import PAUC_COSTS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="pauc_struct",
    estimator="npbench_pauc_struct.estimator:PAUCStruct",
    solves=("pauc",),
    search={"C": PAUC_COSTS},  # decades; planes are shared along them
    grid_search="npbench.estimators.warm_start_selection:select",
    title="structural SVM for the partial AUC",
    reference="Narasimhan, Agarwal (2016), arXiv:1605.04337, sections 4 and 5",
    tags=frozenset({"linear", "kernel", "sparse", "convex"}),
)
