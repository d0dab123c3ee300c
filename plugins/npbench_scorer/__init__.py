"""Any classifier or solver, thresholded for the Neyman-Pearson problem or by q-values."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
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
    return [solver]
