"""The SVM path over cost asymmetry, with classifiers chosen along it (Bach, Heckerman and Horvitz 2006)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="svm_path",
        estimator="npbench_svm_path.estimator:SVMPath",
        solves=("cost", "np"),
        select="npbench_svm_path.selection:select",
        title="SVM path over cost asymmetry, with asymmetry and intercept chosen on held-out samples",
        reference="Bach, Heckerman, Horvitz (2006), JMLR 7",
        tags=frozenset({"kernel", "linear", "convex", "sparse", "stochastic"}),
    )
    return [solver]
