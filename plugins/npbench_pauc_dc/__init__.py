"""The difference-of-convex SVM for the partial AUC (Narasimhan and Agarwal 2016)."""

from npbench.estimators.grids import PAUC_COSTS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="pauc_dc",
    estimator="npbench_pauc_dc.estimator:PAUCDC",
    solves=("pauc",),
    search={"C": PAUC_COSTS},  # decades
    grid_search="npbench.estimators.warm_start_selection:select",
    title="DC programming for the partial AUC",
    reference="Narasimhan, Agarwal (2016), arXiv:1605.04337, section 6",
    tags=frozenset({"linear", "kernel", "sparse"}),
    expected_failures={"honest_flags": "where fpr_range starts at 0, n_iter_ counts the planes of one problem"},
)
