"""Fisher's linear discriminant for the Neyman-Pearson problem, with a data set and a metric."""

from npbench import hookimpl
from npbench.contracts import Dataset, Metric, Solver


@hookimpl
def npbench_solvers() -> list[Solver]:
    """Describe the solver."""
    return [
        Solver(
            name="fisher",
            estimator="npbench_fisher.estimator:FisherNP",
            solves=("np",),
            title="Fisher's discriminant, thresholded at an order statistic of the negatives",
            reference="Fisher (1936), Annals of Eugenics 7(2)",
            tags=frozenset({"linear"}),
        )
    ]


@hookimpl
def npbench_datasets() -> list[Dataset]:
    """Describe the data set."""
    return [
        Dataset(
            name="ellipses",
            load="npbench_fisher.ellipses:load",
            title="Two elongated normal classes",
            positive="the upper ellipse",
            source="drawn by npbench-fisher",
            licence="none needed",
            citation="npbench-fisher",
            n_features=2,
        )
    ]


@hookimpl
def npbench_metrics() -> list[Metric]:
    """Describe the metric."""
    return [
        Metric(
            name="least_p_nd",
            compute="npbench_fisher.ranking:least_p_nd",
            direction="lower",
            problems=("np",),
            title="miss rate at the best threshold that keeps the bound on the test set",
            tags=frozenset({"ranks"}),
        )
    ]
