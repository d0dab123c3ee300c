"""Logistic regression for the Neyman-Pearson problem."""

from npbench import hookimpl
from npbench.contracts import Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver. Every command imports this module, so it imports no numerics."""
    return [
        Solver(
            name="logit",
            estimator="npbench_logit.estimator:Logit",
            solves=("np",),
            search={"C": ["geomspace", 0.001, 10, 5]},
            title="Logistic regression, threshold on approximate leave-one-out scores",
            reference="Rad and Maleki (2020), JRSS-B 82(4): leave-one-out scores",
            tags=frozenset({"linear", "sparse", "convex"}),
        )
    ]
