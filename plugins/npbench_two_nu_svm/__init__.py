"""The 2nu-SVM with its parameters searched for Neyman-Pearson classification (Davenport, Baraniuk and Scott 2006)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="two_nu_svm",
        estimator="npbench_two_nu_svm.estimator:TwoNuSVM",
        solves=("np",),
        search={
            "nu_pos": ["linspace", 0.05, 1, 20],  # twenty values, evenly spaced; the paper has fifty
            "nu_neg": ["linspace", 0.05, 1, 20],
            # 1 / (2 sigma^2) for bandwidths sigma from 100 to 0.01; the paper has fifty
            "gamma": ["geomspace", 5e-5, 5000, 10],
        },
        grid_search="npbench_two_nu_svm.grid:grid_search",
        select="npbench_two_nu_svm.selection:select",
        title="2nu-SVM, searched along lines, over the grid, or by bias shifting",
        reference="Davenport, Baraniuk, Scott (2006), ICASSP",
        tags=frozenset({"kernel", "sparse", "convex"}),
    )
    return [solver]
