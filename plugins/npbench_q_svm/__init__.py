"""Annealed q-value SVM (Gasso, Pappaioannou, Spivak and Bottou 2011, section 4)."""

from npbench.estimators.grids import RAMP_SEARCH
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="q_svm",
    estimator="npbench_q_svm.estimator:QSVM",
    solves=("qvalue",),
    search=RAMP_SEARCH,
    grid_search="npbench.estimators.ramp_selection:select",
    title="Annealed q-value SVM",
    reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), section 4",
    tags=frozenset({"kernel", "sparse"}),
)
