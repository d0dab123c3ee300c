"""Uzawa's algorithm for the nonconvex NP-SVM (Gasso, Pappaioannou, Spivak and Bottou 2011, Algorithms 1 and 2)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    return [
        Solver(
            name="uzawa",
            estimator="npbench_uzawa.estimator:UzawaSVM",
            solves=("np",),
            grid_search="npbench.estimators.ramp_selection:select",
            title="Nonconvex NP-SVM by Uzawa's algorithm",
            reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Algorithms 1 and 2",
            tags=frozenset({"kernel", "sparse"}),
        )
    ]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/solver/uzawa.yaml."""
    return ["npbench_uzawa.conf"]
