"""The SVM for the full AUC (Joachims 2005), as a baseline for the partial one."""

from npbench.estimators.grids import PAUC_COSTS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="auc_svm",
    estimator="npbench_auc_svm.estimator:AUCSVM",
    solves=("pauc",),
    search={"C": PAUC_COSTS},  # decades; planes are shared along them
    grid_search="npbench.estimators.warm_start_selection:select",
    title="SVM for the full AUC",
    reference="Joachims (2005), ICML",
    tags=frozenset({"linear", "kernel", "sparse", "convex"}),
)
