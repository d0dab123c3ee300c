"""GEN: a classifier from class means and covariances, the generative baseline of Gasso et al. (2011)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    return [
        Solver(
            name="gen",
            estimator="npbench_gen.estimator:GenerativeNP",
            solves=("np",),
            title="Generative classifier from class means and covariances",
            reference="Huang, Yang, King, Lyu (2006), IEEE TSMC-B 36(4); Kim, Magnani, Samar, Boyd, Lim (2006), ICML",
            tags=frozenset({"kernel", "linear", "sparse"}),
        )
    ]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/solver/gen.yaml."""
    return ["npbench_gen.conf"]
