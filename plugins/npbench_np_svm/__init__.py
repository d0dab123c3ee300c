"""Annealed nonconvex NP-SVM (Gasso, Pappaioannou, Spivak and Bottou 2011, Algorithm 3)."""

from npbench import hookimpl
from npbench.contracts import Solver
from npbench.estimators.grids import RAMP_SEARCH


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="np_svm",
        estimator="npbench_np_svm.estimator:NPSVM",
        solves=("np",),
        search=RAMP_SEARCH,
        grid_search="npbench.estimators.ramp_selection:select",
        title="Annealed nonconvex NP-SVM",
        reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Algorithm 3",
        tags=frozenset({"kernel", "sparse"}),
    )
    return [solver]
