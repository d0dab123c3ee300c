"""Uzawa's algorithm for the nonconvex NP-SVM (Gasso, Pappaioannou, Spivak and Bottou 2011, Algorithms 1 and 2)."""

from npbench.estimators.grids import RAMP_SEARCH
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="uzawa",
    estimator="npbench_uzawa.estimator:UzawaSVM",
    solves=("np",),
    search=RAMP_SEARCH,
    grid_search="npbench.estimators.ramp_selection:select",
    title="Nonconvex NP-SVM by Uzawa's algorithm",
    reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Algorithms 1 and 2",
    tags=frozenset({"kernel", "sparse"}),
)
