"""Annealed nonconvex NP-SVM (Gasso, Pappaioannou, Spivak and Bottou 2011, Algorithm 3)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    return [
        Solver(
            name="np_svm",
            estimator="npbench_np_svm.estimator:NPSVM",
            solves=("np",),
            grid_search="npbench.estimators.ramp_selection:select",
            title="Annealed nonconvex NP-SVM",
            reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Algorithm 3",
            tags=frozenset({"kernel", "sparse"}),
        )
    ]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/solver/np_svm.yaml."""
    return ["npbench_np_svm.conf"]
