"""Stochastic Neyman-Pearson classification (Gasso, Pappaioannou, Spivak and Bottou 2011, Algorithm 4), linear."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    return [
        Solver(
            name="sgd",
            estimator="npbench_sgd.estimator:StochasticNP",
            solves=("np",),
            title="Stochastic NP, linear",
            reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Algorithm 4",
            tags=frozenset({"linear", "sparse", "stochastic"}),
        )
    ]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/solver/sgd.yaml."""
    return ["npbench_sgd.conf"]
