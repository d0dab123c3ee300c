"""Gradient boosting of trees for the partial AUC, by LightGBM."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="pauc_gbdt",
        estimator="npbench_pauc_gbdt.estimator:PAUCGBDT",
        solves=("pauc",),
        title="Boosting of trees for the partial AUC",
        reference="npbench; trees by LightGBM (Ke et al. 2017, NIPS)",
        tags=frozenset({"sparse"}),
    )
    return [solver]
