"""The 2nu-SVM with its parameters searched for Neyman-Pearson classification (Davenport, Baraniuk and Scott 2006)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    return [
        Solver(
            name="two_nu_svm",
            estimator="npbench_two_nu_svm.estimator:TwoNuSVM",
            solves=("np",),
            grid_search="npbench_two_nu_svm.grid:grid_search",
            select="npbench_two_nu_svm.selection:select",
            title="2nu-SVM, searched along lines, over the grid, or by bias shifting",
            reference="Davenport, Baraniuk, Scott (2006), ICASSP",
            tags=frozenset({"kernel", "sparse", "convex"}),
        )
    ]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/solver/two_nu_svm.yaml."""
    return ["npbench_two_nu_svm.conf"]
