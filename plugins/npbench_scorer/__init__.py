"""Any classifier or solver, thresholded for the Neyman-Pearson problem or by q-values."""

from npbench.hookspecs import one_solver

npbench_solvers = one_solver(
    name="scorer",
    estimator="npbench_scorer.estimator:Scorer",
    solves=("np", "qvalue", "pauc"),
    grid_search="npbench_scorer.selection:select",
    imports=("estimator",),
    of_threshold=("threshold", "delta", "randomized", "calibration_size", "cv"),
    title="Any classifier or solver, thresholded on held-out samples",
    reference="Tong, Feng, Li (2018), Science Advances 4(2): the umbrella threshold",
    tags=frozenset({"sparse", "stochastic"}),
)
