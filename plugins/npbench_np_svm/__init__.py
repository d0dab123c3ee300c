"""Annealed nonconvex NP-SVM (Gasso, Pappaioannou, Spivak and Bottou 2011, Algorithm 3)."""

from npbench.estimators.grids import RAMP_SEARCH
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="np_svm",
    estimator="npbench_np_svm.estimator:NPSVM",
    solves=("np",),
    search=RAMP_SEARCH,
    grid_search="npbench.estimators.ramp_selection:select",
    title="Annealed nonconvex NP-SVM",
    reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Algorithm 3",
    tags=frozenset({"kernel", "sparse"}),
)
