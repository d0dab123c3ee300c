"""Small neural networks trained for the top of the ranking, with PyTorch: SOPA-s and DeepTopPush."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solvers."""
    sopa_s = Solver(
        name="sopa_s",
        estimator="npbench_torch.sopa_s:SOPAS",
        solves=("pauc",),
        title="Network for the partial AUC (SOPA-s)",
        reference="Zhu, Li, Wang, Wu, Yang (2022), ICML, arXiv:2203.00176",
        tags=frozenset({"stochastic"}),
    )
    deep_top_push = Solver(
        name="deep_top_push",
        estimator="npbench_torch.deep_top_push:DeepTopPush",
        solves=("np",),
        title="Network above the largest negative (DeepTopPush)",
        reference="Mácha, Adam, Šmídl (2020), arXiv:2006.12293",
        tags=frozenset({"stochastic"}),
    )
    return [sopa_s, deep_top_push]
