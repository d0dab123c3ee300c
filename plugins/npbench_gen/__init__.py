"""GEN: a classifier from class means and covariances, the generative baseline of Gasso et al. (2011)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="gen",
        estimator="npbench_gen.estimator:GenerativeNP",
        solves=("np",),
        # 1 / (2 sigma^2) for the paper's bandwidths sigma from 100 to 0.01 (section 5.4)
        search={"gamma": ["geomspace", 5e-5, 5000, 10]},
        title="Generative classifier from class means and covariances",
        reference="Huang, Yang, King, Lyu (2006), IEEE TSMC-B 36(4); Kim, Magnani, Samar, Boyd, Lim (2006), ICML",
        tags=frozenset({"kernel", "linear", "sparse"}),
    )
    return [solver]
