"""AC-SVM: the support vector machine with a cost for each class, the convex baseline of Gasso et al. (2011)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="ac_svm",
        estimator="npbench_ac_svm.estimator:ACSVM",
        solves=("np",),
        search={
            "C_pos": ["geomspace", 0.01, 100, 10],  # with gamma the 1000 candidates of section 5.4
            "C_neg": ["geomspace", 0.01, 100, 10],
            # 1 / (2 sigma^2) for the paper's bandwidths sigma from 100 to 0.01
            "gamma": ["geomspace", 5e-5, 5000, 10],
        },
        grid_search="npbench_ac_svm.selection:select",
        title="SVM with asymmetric costs (SMO, LIBLINEAR)",
        reference="Davenport, Baraniuk, Scott (2010), IEEE TPAMI 32(10); Gasso et al. (2011), sections 5.4 and 5.5",
        tags=frozenset({"kernel", "linear", "sparse", "convex"}),
    )
    return [solver]
