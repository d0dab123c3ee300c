"""Stochastic Neyman-Pearson for a small network (Gasso, Pappaioannou, Spivak and Bottou 2011, Algorithm 4)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    return [
        Solver(
            name="sgd_nn",
            estimator="npbench_sgd_nn.estimator:StochasticNPNetwork",
            solves=("np",),
            title="Stochastic NP, one hidden layer",
            reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Algorithm 4",
            tags=frozenset({"stochastic"}),
        )
    ]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/solver/sgd_nn.yaml."""
    return ["npbench_sgd_nn.conf"]
