"""Shipped metrics, described in ``metrics.csv``; without a problem, a metric applies to all.

Decisions are the signs of the scores. All metrics of decisions count a score of exactly 0 as an error of either class.
"""

import csv
from importlib import resources

from npbench import hookimpl
from npbench.contracts import Metric

TAGS = {"decisions": frozenset({"decisions"}), "rankings": frozenset({"ranks"}), "models": frozenset[str]()}


@hookimpl
def npbench_metrics() -> list[Metric]:
    """Describe the metrics."""
    table = resources.files(__name__).joinpath("metrics.csv").read_text(encoding="utf-8")
    return [_metric(**row) for row in csv.DictReader(table.splitlines())]


def _metric(module: str, problem: str, name: str, **described: str) -> Metric:
    problems = (problem,) if problem else None
    compute = f"npbench_metrics.{module}:{name}"
    return Metric(name=name, compute=compute, problems=problems, tags=TAGS[module], **described)  # type: ignore[arg-type]
