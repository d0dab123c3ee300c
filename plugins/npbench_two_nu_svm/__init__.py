"""The 2nu-SVM with its parameters searched for Neyman-Pearson classification (Davenport, Baraniuk and Scott 2006)."""

from npbench.estimators.grids import GAMMAS
from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="two_nu_svm",
    estimator="npbench_two_nu_svm.estimator:TwoNuSVM",
    solves=("np",),
    search={
        "nu_pos": ["linspace", 0.05, 1, 20],  # twenty values, evenly spaced; the paper has fifty
        "nu_neg": ["linspace", 0.05, 1, 20],
        "gamma": GAMMAS,  # the paper has fifty
    },
    grid_search="npbench_two_nu_svm.selection:grid_search",
    select="npbench_two_nu_svm.selection:select",
    title="2nu-SVM, searched along lines, over the grid, or by bias shifting",
    reference="Davenport, Baraniuk, Scott (2006), ICASSP",
    tags=frozenset({"kernel", "sparse", "convex"}),
)
