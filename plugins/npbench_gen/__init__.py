"""GEN: a classifier from class means and covariances, the generative baseline of Gasso et al. (2011)."""

from npbench.estimators.grids import GAMMAS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="gen",
    estimator="npbench_gen.estimator:GenerativeNP",
    solves=("np",),
    search={"gamma": GAMMAS},
    grid_search="npbench.estimators.nystroem:select",
    title="Generative classifier from class means and covariances",
    reference="Huang, Yang, King, Lyu (2006), IEEE TSMC-B 36(4); Kim, Magnani, Samar, Boyd, Lim (2006), ICML",
    tags=frozenset({"kernel", "linear", "sparse"}),
)
