"""AC-SVM: the support vector machine with a cost for each class, the convex baseline of Gasso et al. (2011)."""

from npbench.estimators.grids import COSTS, GAMMAS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="ac_svm",
    estimator="npbench_ac_svm.estimator:ACSVM",
    solves=("np",),
    search={
        "C_pos": COSTS,  # with gamma the 1000 candidates of section 5.4
        "C_neg": COSTS,
        "gamma": GAMMAS,
    },
    grid_search="npbench_ac_svm.selection:select",
    of_threshold=("rho",),  # which chooses among fits
    title="SVM with asymmetric costs (SMO, LIBLINEAR)",
    reference="Davenport, Baraniuk, Scott (2010), IEEE TPAMI 32(10); Gasso et al. (2011), sections 5.4 and 5.5",
    tags=frozenset({"kernel", "linear", "sparse", "convex"}),
)
