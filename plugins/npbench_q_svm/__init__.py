"""Annealed q-value SVM (Gasso, Pappaioannou, Spivak and Bottou 2011, section 4)."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    solver = Solver(
        name="q_svm",
        estimator="npbench_q_svm.estimator:QSVM",
        solves=("qvalue",),
        search={
            "C": ["geomspace", 0.01, 100, 10],  # ten values, evenly on a log scale (sections 5.2 and 5.4)
            # 1 / (2 sigma^2) for the paper's bandwidths sigma from 100 to 0.01
            "gamma": ["geomspace", 5e-5, 5000, 10],
        },
        grid_search="npbench.estimators.ramp_selection:select",
        title="Annealed q-value SVM",
        reference="Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), section 4",
        tags=frozenset({"kernel", "sparse"}),
    )
    return [solver]
