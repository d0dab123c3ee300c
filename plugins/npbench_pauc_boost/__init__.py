"""Boosting for the partial AUC (Komori and Eguchi 2010)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="pauc_boost",
        estimator="npbench_pauc_boost.estimator:PAUCBoost",
        solves=("pauc",),
        title="Boosting of stumps for the partial AUC",
        reference="Komori, Eguchi (2010), BMC Bioinformatics 11:314",
        tags=frozenset({"sparse"}),
    )
    return [solver]
